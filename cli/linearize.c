// `alphastep linearize`: A, B, C and D of a machine about a state, with names and units.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/response.h"
#include "folder.h"
#include "json.h"
#include "linear.h"
#include "linear_system.h"
#include "mat.h"
#include "npz.h"

// ---- the system

static const char **make_names(int n, char (*text)[LINEAR_NAME]) {
  const char **name = calloc((size_t)n + 1, sizeof *name);
  for (int i = 0; name && i < n; i++) name[i] = text[i];
  return name;
}

/// `name [unit]`
static void title(char to[LINEAR_NAME], const char *name, const char *unit) {
  snprintf(to, LINEAR_NAME, "%.200s [%.40s]", name, unit);
}

static bool take(linear_system *s) {
  const size_t n = (size_t)s->n, m = (size_t)s->m, p = (size_t)s->p;
  s->c = calloc(p * n + 1, sizeof *s->c);
  s->d = calloc(p * m + 1, sizeof *s->d);
  s->y0 = calloc(p + 1, sizeof *s->y0);
  s->text = calloc(n + m + p + 1, sizeof *s->text);
  s->zero_re = calloc(n + 1, sizeof *s->zero_re);
  s->zero_im = calloc(n + 1, sizeof *s->zero_im);
  return s->c && s->d && s->y0 && s->text && s->zero_re && s->zero_im;
}

/// C of the states becomes C of the unknowns that they are among.
static void spread(linear_system *s) {
  const size_t p = (size_t)s->p;
  for (int i = s->l->n_states - 1; i >= 0; i--) {
    const int at = s->descriptor->place[i]; // >= i, and they increase
    for (size_t k = 0; k < p; k++) {
      const double x = s->c[(size_t)i * p + k];
      s->c[(size_t)i * p + k] = 0.0;
      s->c[(size_t)at * p + k] = x;
    }
  }
}

static as_status find_outputs(linear_system *s, as_error *error) {
  const as_view view = {.state = as_linearization_state(s->l)};
  as_status status = as_channels_linearize(s->channels, s->l, s->c, s->d, error);
  const as_linear_system system = {s->l->n_states, s->m, s->p, s->l->a, s->l->b, s->c, s->d};
  if (status == AS_OK)
    status = as_transmission_zeros(&system, s->zero_re, s->zero_im, &s->n_zeros, error);
  if (status == AS_OK && s->descriptor) spread(s);
  if (status == AS_OK) status = as_channels_evaluate(s->channels, &view, s->y0, error);
  return status;
}

/// Channels that were chosen; without a choice there are none.
static as_status choose(const linear_request *r, linear_system *s, as_error *error) {
  if (r->n_outputs == 0) return AS_OK;
  const as_status status =
      as_channels_create(s->place.machine->model, r->outputs, r->n_outputs, &s->channels, error);
  if (status == AS_OK) s->p = as_channels_count(s->channels);
  return status;
}

cli_exit linear_system_find(const linear_request *r, linear_system *s) {
  *s = (linear_system){0};
  cli_exit result = linear_find(r, NULL, &s->place);
  if (result != CLI_DONE) return result;
  as_error error;
  as_status status = choose(r, s, &error);
  if (status != AS_OK) return linear_fail(r, status, &error);
  result = linear_make(r, &s->place, &s->l);
  if (result != CLI_DONE) return result;
  s->n = s->l->n_states;
  s->m = s->l->n_inputs;
  s->a = s->l->a;
  s->b = s->l->b;
  if (r->descriptor) {
    status = as_descriptor_create(s->l, &s->descriptor, &error);
    if (status != AS_OK) return linear_fail(r, status, &error);
    s->n = s->descriptor->n;
    s->e = s->descriptor->e;
    s->a = s->descriptor->a;
    s->b = s->descriptor->b;
  }
  if (!take(s)) return cli_complain_memory();
  if (s->p > 0) status = find_outputs(s, &error);
  if (status != AS_OK) return linear_fail(r, status, &error);
  const as_model *model = s->place.machine->model;
  for (int i = 0; i < s->n; i++) {
    char name[LINEAR_NAME];
    const as_linear_state state = s->descriptor ? s->descriptor->unknown[i] : s->l->state[i];
    as_linear_name(model, s->l, state, name, sizeof name);
    if (state.kind == AS_LINEAR_INPUT)
      snprintf(name, sizeof name, "%.200s", r->inputs[state.index]);
    if (state.kind == AS_LINEAR_RATE)
      snprintf(name, sizeof name, "%.200s, rate", r->inputs[state.index]);
    title(s->text[i], name, as_linear_unit(model, s->l, state));
  }
  for (int i = 0; i < s->m; i++)
    title(s->text[s->n + i], r->inputs[i], linear_input_unit(r, &s->place, i));
  for (int i = 0; i < s->p; i++) {
    const as_channel channel = as_channels_get(s->channels, i);
    title(s->text[s->n + s->m + i], channel.name, channel.unit);
  }
  s->state = make_names(s->n, s->text);
  s->input = make_names(s->m, s->text + s->n);
  s->output = make_names(s->p, s->text + s->n + s->m);
  linear_describe(r, s->l, s->about, sizeof s->about);
  return s->state && s->input && s->output ? CLI_DONE : cli_complain_memory();
}

void linear_system_free(linear_system *s) {
  free(s->c);
  free(s->d);
  free(s->y0);
  free(s->zero_re);
  free(s->zero_im);
  free(s->text);
  free((void *)s->state);
  free((void *)s->input);
  free((void *)s->output);
  as_channels_destroy(s->channels);
  as_descriptor_destroy(s->descriptor);
  as_linearization_destroy(s->l);
  linear_place_free(&s->place);
}

// ---- files

typedef struct output {
  const linear_request *request;
  const linear_system *system;
} output;

static void add_names(json_object *o, const char *key, const char *const *name, int n) {
  json_key(o, key);
  putc('[', o->out);
  for (int i = 0; i < n; i++) {
    if (i > 0) fputs(", ", o->out);
    asi_json_text(o->out, name[i]);
  }
  putc(']', o->out);
}

static void add_matrix(json_object *o, const char *key, const double *m, int rows, int columns) {
  json_key(o, key);
  linear_json_matrix(o->out, m, rows, columns);
}

static void write_json(FILE *out, const void *user) {
  const output *x = user;
  const linear_system *s = x->system;
  json_object o = json_begin(out, 0);
  json_add_string(&o, "model", x->request->machine.model);
  json_add_string(&o, "about", s->about);
  json_add_number(&o, "t", as_linearization_state(s->l)->t);
  json_add_number(&o, "unsteady", s->l->unsteady);
  add_names(&o, "states", s->state, s->n);
  add_names(&o, "inputs", s->input, s->m);
  add_names(&o, "outputs", s->output, s->p);
  if (s->e) add_matrix(&o, "E", s->e, s->n, s->n);
  add_matrix(&o, "A", s->a, s->n, s->n);
  add_matrix(&o, "B", s->b, s->n, s->m);
  add_matrix(&o, "C", s->c, s->p, s->n);
  add_matrix(&o, "D", s->d, s->p, s->m);
  json_key(&o, "y0");
  putc('[', out);
  for (int i = 0; i < s->p; i++) {
    if (i > 0) fputs(", ", out);
    asi_json_number(out, s->y0[i]);
  }
  putc(']', out);
  json_key(&o, "zeros");
  putc('[', out);
  for (int i = 0; i < s->n_zeros; i++) {
    fputs(i > 0 ? ", [" : "[", out);
    asi_json_number(out, s->zero_re[i]);
    fputs(", ", out);
    asi_json_number(out, s->zero_im[i]);
    putc(']', out);
  }
  putc(']', out);
  json_end(&o);
  putc('\n', out);
}

static void write_title(FILE *out, const char *text) {
  const bool quoted = strpbrk(text, ",\"") != NULL;
  if (quoted) putc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"') putc('"', out);
    putc(*text, out);
  }
  if (quoted) putc('"', out);
}

/// [A B; C D] with a column of names: rates of states, then outputs; with E before that, where there is one.
static void write_csv(FILE *out, const void *user) {
  const linear_system *s = ((const output *)user)->system;
  fputs("row", out);
  for (int j = 0; s->e && j < s->n; j++) {
    char column[LINEAR_NAME + 16];
    snprintf(column, sizeof column, "d/dt %s", s->state[j]);
    putc(',', out);
    write_title(out, column);
  }
  for (int j = 0; j < s->n + s->m; j++) {
    putc(',', out);
    write_title(out, j < s->n ? s->state[j] : s->input[j - s->n]);
  }
  putc('\n', out);
  for (int i = 0; i < s->n + s->p; i++) {
    char row[LINEAR_NAME + 16];
    if (i < s->n && s->e)
      snprintf(row, sizeof row, "equation %d", i + 1);
    else
      snprintf(row, sizeof row, i < s->n ? "d/dt %s" : "%s",
               i < s->n ? s->state[i] : s->output[i - s->n]);
    write_title(out, row);
    for (int j = 0; s->e && j < s->n; j++) {
      putc(',', out);
      if (i < s->n) fprintf(out, "%.17g", s->e[(size_t)j * (size_t)s->n + (size_t)i]);
    }
    for (int j = 0; j < s->n + s->m; j++) {
      const double *m = i < s->n ? (j < s->n ? s->a : s->b) : (j < s->n ? s->c : s->d);
      const size_t rows = (size_t)(i < s->n ? s->n : s->p);
      const size_t row_i = (size_t)(i < s->n ? i : i - s->n);
      const size_t column = (size_t)(j < s->n ? j : j - s->n);
      fprintf(out, ",%.17g", m[column * rows + row_i]);
    }
    putc('\n', out);
  }
}

static void write_mat(FILE *out, const void *user) {
  const output *x = user;
  const linear_system *s = x->system;
  if (s->e) mat_matrix(out, "E", s->e, s->n, s->n);
  mat_matrix(out, "A", s->a, s->n, s->n);
  mat_matrix(out, "B", s->b, s->n, s->m);
  mat_matrix(out, "C", s->c, s->p, s->n);
  mat_matrix(out, "D", s->d, s->p, s->m);
  mat_matrix(out, "y0", s->y0, s->p, 1);
  mat_matrix(out, "zeros_re", s->zero_re, s->n_zeros, 1);
  mat_matrix(out, "zeros_im", s->zero_im, s->n_zeros, 1);
  mat_lines(out, "states", s->state, s->n);
  mat_lines(out, "inputs", s->input, s->m);
  mat_lines(out, "outputs", s->output, s->p);
}

static void write_npz(FILE *out, const void *user) {
  const output *x = user;
  const linear_system *s = x->system;
  const npz_array array[] = {{"A", s->a, s->n, s->n, NULL},
                             {"B", s->b, s->n, s->m, NULL},
                             {"C", s->c, s->p, s->n, NULL},
                             {"D", s->d, s->p, s->m, NULL},
                             {"y0", s->y0, s->p, 1, NULL},
                             {"states", NULL, s->n, 0, s->state},
                             {"inputs", NULL, s->m, 0, s->input},
                             {"outputs", NULL, s->p, 0, s->output},
                             {"zeros_re", s->zero_re, s->n_zeros, 1, NULL},
                             {"zeros_im", s->zero_im, s->n_zeros, 1, NULL},
                             {"E", s->e, s->n, s->n, NULL}};
  if (!npz_write(out, array, s->e ? 11 : 10)) cli_note_incomplete();
}

// ---- as text

static void print_list(const char *what, const char *const *name, int n) {
  for (int i = 0; i < n; i++) printf("%-8s %2d  %s\n", i == 0 ? what : "", i + 1, name[i]);
}

static void print_matrix(const char *name, const double *m, int rows, int columns) {
  if (rows == 0 || columns == 0) return;
  printf("%s\n", name);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) printf(" %12.6g", m[(size_t)j * (size_t)rows + (size_t)i]);
    putchar('\n');
  }
}

static void print_text(const linear_system *s) {
  printf("%s\n", s->about);
  print_list("states", s->state, s->n);
  print_list("inputs", s->input, s->m);
  print_list("outputs", s->output, s->p);
  if (s->e) print_matrix("E", s->e, s->n, s->n);
  print_matrix("A", s->a, s->n, s->n);
  print_matrix("B", s->b, s->n, s->m);
  print_matrix("C", s->c, s->p, s->n);
  print_matrix("D", s->d, s->p, s->m);
  if (s->p > 0 && s->m > 0) printf("transmission zeros [1/s]%s\n", s->n_zeros == 0 ? ": none" : "");
  for (int i = 0; i < s->n_zeros; i++) {
    if (s->zero_im[i] < 0.0) continue; // of a pair one is enough
    printf(" %12.6g%s", s->zero_re[i], s->zero_im[i] > 0.0 ? "" : "\n");
    if (s->zero_im[i] > 0.0) printf(" +- %.6g i\n", s->zero_im[i]);
  }
}

// ---- the command

static cli_exit write_system(const linear_request *r, const linear_system *s) {
  void (*const write[])(FILE *, const void *) = {NULL, write_json, write_csv, write_mat, write_npz};
  const output x = {r, s};
  linear_format format = r->format;
  cli_exit status = CLI_DONE;
  if (r->output != NULL && format == LINEAR_TEXT) format = LINEAR_JSON;
  if (r->output != NULL)
    status = folder_write(r->output, write[format], &x);
  else if (format == LINEAR_TEXT)
    print_text(s);
  else
    write[format](stdout, &x);
  return status;
}

static void print_help(void) {
  fputs(
      "Usage: alphastep linearize MODEL|DIR [--equilibrium | --at T] [--inputs NAMES]\n"
      "                           [--outputs CHANNELS] [--format text|json|csv|mat|npz]\n"
      "                           [--descriptor] [--axes AXES] [--set PATH=VALUE]... [-o FILE]\n"
      "\n"
      "Linearizes the machine about a state: x' = A x + B u, y = C x + D u, all of them "
      "increments;\n"
      "with the transmission zeros of all inputs to all outputs.\n"
      "\n"
      "DIR               a run's folder: about the run's last moment, or --at T\n"
      "--equilibrium     about where it comes to rest from its start\n"
      "--at T            about where a run is at T [s]; without either: about the start, which "
      "has\n"
      "                  to be an equilibrium or a steady motion\n"
      "--inputs NAMES    with commas between: parameters that formulas read (parameters.torque),\n"
      "                  forces and torques on bodies in world axes (bodies.arm.force.x,\n"
      "                  bodies.arm.torque.z), and along the first coordinate of joints\n"
      "                  (joints.hinge.drive); forces once more (forces.wind); laws of motions\n"
      "                  (joints.motor.law: its second derivative is the input);\n"
      "                  what is added to a signal, or to the rate of a state (blocks.demand)\n"
      "--outputs CHANNELS  as in `output:` of a model file, accelerations and reactions too\n"
      "--format FORMAT   text (default), json, csv ([A B; C D] with names), mat (version 4), npz\n"
      "--descriptor      E x' = A x + B u with all components and multipliers as unknowns, the "
      "mass\n"
      "                  matrix in E, and constraints as rows\n"
      "--axes AXES       own, world or turning=X,Y,Z; see `alphastep help modes`\n"
      "-o FILE           where to; default: standard output\n"
      "--set PATH=VALUE  replaces a value of the file\n" MACHINE_PLUGIN_HELP
      "--help            this text\n"
      "\n"
      "Exit status: 0 done; 2 bad usage or input, an input or output that is not there; 3 there "
      "is\n"
      "no such state, or it cannot be linearized; 4 a file could not be read or written.\n",
      stdout);
}

cli_exit linearize_command(int argc, char **argv) {
  linear_request *r = calloc(1, sizeof *r);
  linear_system s = {0};
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "linearize", "id", r);
  if (status == CLI_DONE && r->machine.help) {
    print_help();
  } else if (status == CLI_DONE) {
    status = linear_system_find(r, &s);
    if (status == CLI_DONE) status = write_system(r, &s);
    linear_system_free(&s);
  }
  linear_arguments_free(r);
  free(r);
  return status;
}

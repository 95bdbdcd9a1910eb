// `alphastep response`: Bode, Nyquist, step and impulse responses of a machine about a state, as a table and a page.
#include "alphastep/response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/plot.h"
#include "folder.h"
#include "json.h"
#include "linear_system.h"
#include "page.h"

static const double two_pi = 6.28318530717958647692;

typedef struct answer {
  const linear_request *request;
  const linear_system *system;
  bool in_frequency;
  int points;
  double *x;     ///< frequencies [Hz], or times [s]
  double *value; ///< points times: p x m real parts (or outputs), then as many imaginary parts
  size_t stride;
} answer;

// ---- computing

/// The range of what A does: eigenvalues that are not zero.
static void choose_range(const linear_request *r, const linear_system *s, answer *a, double *from,
                         double *to) {
  double slow = (double)INFINITY, fast = 0.0, decay = (double)INFINITY;
  as_modes *m = NULL;
  as_error error;
  if (as_modes_create(s->l, &m, &error) == AS_OK)
    for (int i = 0; i < m->n; i++) {
      const double size = hypot(m->mode[i].re, m->mode[i].im);
      if (m->mode[i].free) continue;
      slow = fmin(slow, size);
      fast = fmax(fast, size);
      if (isfinite(m->mode[i].time)) decay = fmin(decay, fabs(m->mode[i].re));
    }
  as_modes_destroy(m);
  if (!(fast > 0.0)) slow = fast = 1.0;
  *from = a->in_frequency ? 0.1 * slow / two_pi : 0.0;
  *to = a->in_frequency ? 10.0 * fast / two_pi : 5.0 * two_pi / slow;
  if (!a->in_frequency && isfinite(decay)) *to = fmin(*to, 8.0 / decay);
  if (isnan(r->to)) return;
  *from = r->from;
  *to = r->to;
}

static as_status compute(const linear_request *r, const linear_system *s, answer *a,
                         as_error *error) {
  const as_linear_system system = {s->n, s->m, s->p, s->a, s->b, s->c, s->d};
  double from, to;
  choose_range(r, s, a, &from, &to);
  if (!a->in_frequency) {
    const double h = to / (a->points - 1);
    for (int i = 0; i < a->points; i++) a->x[i] = i * h;
    return as_time_response(&system,
                            strcmp(r->kind, "step") == 0 ? AS_INPUT_STEP : AS_INPUT_IMPULSE, h,
                            a->points, a->value, error);
  }
  double *omega = calloc((size_t)a->points, sizeof *omega);
  if (omega == NULL) return AS_ERR_MEMORY;
  if (!(from > 0.0)) from = 1e-4 * to;
  for (int i = 0; i < a->points; i++) {
    a->x[i] = from * pow(to / from, (double)i / (a->points - 1));
    omega[i] = two_pi * a->x[i];
  }
  const as_status status = as_frequency_response(&system, omega, a->points, a->value, error);
  free(omega);
  return status;
}

static double part(const answer *a, int point, int output, int input, bool imaginary) {
  const linear_system *s = a->system;
  const size_t at = (size_t)input * (size_t)s->p + (size_t)output;
  return a->value[(size_t)point * a->stride + (imaginary ? (size_t)(s->p * s->m) : 0) + at];
}

/// Degrees, without jumps from point to point.
static void find_phase(const answer *a, int output, int input, double *out) {
  for (int i = 0; i < a->points; i++) {
    out[i] =
        atan2(part(a, i, output, input, true), part(a, i, output, input, false)) * 360.0 / two_pi;
    if (i > 0) out[i] -= 360.0 * round((out[i] - out[i - 1]) / 360.0);
  }
}

// ---- tables

static void write_title(FILE *out, const answer *a, int output, int input, const char *what) {
  const linear_system *s = a->system;
  fprintf(out, ",\"%s%s%s by %s\"", what, *what ? " of " : "", s->output[output], s->input[input]);
}

static void write_csv(FILE *out, const void *user) {
  const answer *a = user;
  const linear_system *s = a->system;
  double *phase = calloc((size_t)a->points * (size_t)(s->p * s->m) + 1, sizeof *phase);
  if (phase == NULL) cli_note_incomplete();
  fputs(a->in_frequency ? "frequency [Hz]" : "time [s]", out);
  for (int j = 0; j < s->m; j++)
    for (int i = 0; i < s->p; i++) {
      if (phase && a->in_frequency)
        find_phase(a, i, j, phase + (size_t)(j * s->p + i) * (size_t)a->points);
      if (!a->in_frequency) {
        write_title(out, a, i, j, "");
        continue;
      }
      write_title(out, a, i, j, "real part");
      write_title(out, a, i, j, "imaginary part");
      write_title(out, a, i, j, "magnitude");
      write_title(out, a, i, j, "phase [deg]");
    }
  putc('\n', out);
  for (int k = 0; k < a->points; k++) {
    fprintf(out, "%.17g", a->x[k]);
    for (int j = 0; j < s->m; j++)
      for (int i = 0; i < s->p; i++) {
        const double re = part(a, k, i, j, false);
        fprintf(out, ",%.17g", re);
        if (!a->in_frequency) continue;
        const double im = part(a, k, i, j, true);
        fprintf(out, ",%.17g,%.17g,%.17g", im, hypot(re, im),
                phase ? phase[(size_t)(j * s->p + i) * (size_t)a->points + (size_t)k] : 0.0);
      }
    putc('\n', out);
  }
  free(phase);
}

static void write_json(FILE *out, const void *user) {
  const answer *a = user;
  const linear_system *s = a->system;
  json_object o = json_begin(out, 0);
  json_add_string(&o, "model", a->request->machine.model);
  json_add_string(&o, "about", s->about);
  json_add_string(&o, "kind", a->request->kind);
  json_key(&o, a->in_frequency ? "frequency" : "time");
  linear_json_matrix(out, a->x, 1, a->points);
  json_key(&o, "responses");
  putc('[', out);
  for (int j = 0; j < s->m; j++)
    for (int i = 0; i < s->p; i++) {
      if (i + j > 0) fputs(", ", out);
      json_object inner = json_begin(out, o.indent);
      json_add_string(&inner, "output", s->output[i]);
      json_add_string(&inner, "input", s->input[j]);
      for (int im = 0; im < (a->in_frequency ? 2 : 1); im++) {
        json_key(&inner, a->in_frequency ? (im ? "imaginary" : "real") : "value");
        for (int k = 0; k < a->points; k++) {
          fputs(k == 0 ? "[" : ", ", out);
          asi_json_number(out, part(a, k, i, j, im));
        }
        putc(']', out);
      }
      json_end(&inner);
    }
  putc(']', out);
  json_end(&o);
  putc('\n', out);
}

// ---- the page

static void write_plot(FILE *out, const as_plot *plot) {
  fputs("<div class=\"panels\">", out);
  for (int i = 0; i < plot->n_panels; i++) as_plot_write_panel(out, plot, i);
  fputs("</div>\n", out);
}

static void write_bode(FILE *out, const answer *a, const double *magnitude, const double *phase,
                       const double *log_x) {
  as_plot plot = {
      .kind = AS_PLOT_TRACES, .smooth = true, .bare = true, .n_curves = 1, .n_panels = 2};
  plot.panel[0] = (as_plot_panel){.title = "magnitude",
                                  .x_label = "log_{10} of the frequency [Hz]",
                                  .y_label = "magnitude [dB]",
                                  .curve = {{log_x, magnitude, a->points, NULL}}};
  plot.panel[1] = (as_plot_panel){.title = "phase",
                                  .x_label = "log_{10} of the frequency [Hz]",
                                  .y_label = "phase [deg]",
                                  .curve = {{log_x, phase, a->points, NULL}}};
  write_plot(out, &plot);
}

static void write_one(FILE *out, const answer *a, int i, int j, double *work) {
  const size_t n = (size_t)a->points;
  double *magnitude = work, *phase = work + n, *log_x = work + 2 * n;
  page_point *point = calloc(n + 1, sizeof *point);
  if (point == NULL) cli_note_incomplete();
  fputs("<section class=\"claim\"><figure><figcaption>", out);
  asi_html_text(out, a->system->output[i]);
  fputs(" by ", out);
  asi_html_text(out, a->system->input[j]);
  fputs("</figcaption>\n", out);
  for (size_t k = 0; k < n; k++) {
    const double re = part(a, (int)k, i, j, false);
    const double im = a->in_frequency ? part(a, (int)k, i, j, true) : 0.0;
    magnitude[k] = a->in_frequency ? 20.0 * log10(hypot(re, im)) : re;
    log_x[k] = a->x[k] > 0.0 ? log10(a->x[k]) : 0.0;
    if (point) point[k] = (page_point){re, im, (double)k / (double)n};
  }
  if (a->in_frequency) find_phase(a, i, j, phase);
  if (strcmp(a->request->kind, "nyquist") == 0) {
    if (point) page_points(out, point, a->points, "real part", "imaginary part");
  } else if (a->in_frequency) {
    write_bode(out, a, magnitude, phase, log_x);
  } else {
    as_plot plot = {
        .kind = AS_PLOT_TRACES, .smooth = true, .bare = true, .n_curves = 1, .n_panels = 1};
    plot.panel[0] = (as_plot_panel){.title = a->request->kind,
                                    .x_label = "time [s]",
                                    .y_label = "response",
                                    .curve = {{a->x, magnitude, a->points, NULL}}};
    write_plot(out, &plot);
  }
  fputs("</figure></section>\n", out);
  free(point);
}

static void write_page(FILE *out, const void *user) {
  const answer *a = user;
  const linear_system *s = a->system;
  char title[320];
  double *work = calloc(3 * (size_t)a->points + 1, sizeof *work);
  if (work == NULL) cli_note_incomplete();
  snprintf(title, sizeof title, "%.200s: %s",
           s->place.machine->title ? s->place.machine->title : a->request->machine.model,
           strcmp(a->request->kind, "bode") == 0      ? "frequency response"
           : strcmp(a->request->kind, "nyquist") == 0 ? "Nyquist plot"
           : strcmp(a->request->kind, "step") == 0    ? "step response"
                                                      : "impulse response");
  page_begin(out, title);
  fputs("<p class=\"soft\">", out);
  asi_html_text(out, s->about);
  fputs("</p></header>\n<main>\n", out);
  for (int j = 0; j < s->m && work; j++)
    for (int i = 0; i < s->p; i++) write_one(out, a, i, j, work);
  page_end(out);
  free(work);
}

// ---- the command

static const char *const names[] = {"response.csv", "response.json", "response.html", NULL};

static cli_exit write_answer(const linear_request *r, const answer *a) {
  if (r->output != NULL) {
    bool made;
    cli_exit status = folder_make(r->output, &made);
    void (*const write[])(FILE *, const void *) = {write_csv, write_json, write_page};
    for (int i = 0; i < 3 && status == CLI_DONE; i++) {
      char *path = folder_path(r->output, r->names[i]);
      status = path ? folder_write(path, write[i], a) : cli_complain_memory();
      free(path);
    }
    return status;
  }
  if (r->format == LINEAR_JSON)
    write_json(stdout, a);
  else
    write_csv(stdout, a);
  return CLI_DONE;
}

static cli_exit respond(const linear_request *r) {
  linear_system s = {0};
  answer a = {.request = r, .system = &s, .points = r->points > 0 ? r->points : 400};
  a.in_frequency = strcmp(r->kind, "bode") == 0 || strcmp(r->kind, "nyquist") == 0;
  if (r->n_inputs == 0 || r->n_outputs == 0) {
    cli_complain("A response is that of outputs to inputs: give both `--inputs` and `--outputs`.");
    return CLI_USAGE;
  }
  cli_exit status = linear_system_find(r, &s);
  if (status == CLI_DONE) {
    as_error error;
    a.stride = (size_t)(s.p * s.m) * (a.in_frequency ? 2 : 1);
    a.x = calloc((size_t)a.points, sizeof *a.x);
    a.value = calloc((size_t)a.points * a.stride + 1, sizeof *a.value);
    as_status found = a.x && a.value ? compute(r, &s, &a, &error) : AS_ERR_MEMORY;
    if (found == AS_ERR_MEMORY)
      status = cli_complain_memory();
    else if (found != AS_OK)
      status = linear_fail(r, found, &error);
    else
      status = write_answer(r, &a);
  }
  free(a.x);
  free(a.value);
  linear_system_free(&s);
  return status;
}

static void print_help(void) {
  fputs(
      "Usage: alphastep response MODEL|DIR --inputs NAMES --outputs CHANNELS\n"
      "                          [--kind bode|nyquist|step|impulse] [--range FROM:TO]\n"
      "                          [--points N] [--equilibrium | --at T] [--axes AXES]\n"
      "                          [--set PATH=VALUE]... [--json] [-o DIR]\n"
      "\n"
      "How outputs follow inputs in small motions about a state, from the linear system of\n"
      "`alphastep linearize`, whose inputs, outputs and states it takes, of a model file or a "
      "run's\n"
      "folder.\n"
      "\n"
      "--kind KIND       bode (default) or nyquist: over frequencies; step or impulse: over time\n"
      "--range FROM:TO   frequencies [Hz], or times [s] (from 0); default: what the modes suggest\n"
      "--points N        rows; default 400\n"
      "--json            instead of CSV\n"
      "-o DIR            writes response.csv, response.json and the page response.html "
      "there\n" MACHINE_PLUGIN_HELP "--help            this text\n"
      "\n"
      "Exit status: as `alphastep linearize`.\n",
      stdout);
}

cli_exit response_command(int argc, char **argv) {
  linear_request *r = calloc(1, sizeof *r);
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "response", "ir", r);
  r->names = names;
  if (status == CLI_DONE && r->machine.help)
    print_help();
  else if (status == CLI_DONE && (r->format == LINEAR_MAT || r->format == LINEAR_NPZ)) {
    cli_complain("`response` writes CSV, JSON and a page; `linearize` writes MAT and NumPy files.");
    status = CLI_USAGE;
  } else if (status == CLI_DONE)
    status = respond(r);
  linear_arguments_free(r);
  free(r);
  return status;
}

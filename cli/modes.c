// `alphastep modes`: eigenvalues, damping and shapes of a machine's small motions about a state.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/flexible_body.h"
#include "alphastep/quantities.h"
#include "folder.h"
#include "json.h"
#include "linear.h"
#include "modes_page.h"

enum { MOST_PARTS = 4 };
static const double SMALLEST_SHARE = 0.03; // that is told

// Machines with more velocity components than these are not made dense.
enum { DENSE_LIMIT = 700, DEFAULT_COUNT = 20 };

// ---- participation

/// The body of component j of v: elastic coordinates belong to the frame of their flexible body.
static int body_of(const as_model *model, int j) {
  int body = -1;
  for (int i = 0; i < as_model_flexibles(model); i++) {
    const as_flexible_id id = {i};
    const int v = as_model_flexible_v(model, id);
    if (j >= v && j < v + as_model_flexible_data(model, id)->coordinate_count)
      return as_model_flexible_node(model, id, 0).index;
  }
  for (int b = 0; b < as_model_bodies(model); b++) {
    const int v = as_model_body_v(model, (as_body_id){b});
    if (v >= 0 && v <= j && (body < 0 || v > as_model_body_v(model, (as_body_id){body}))) body = b;
  }
  return body;
}

/// The share of each body in the kinetic energy of a mode's shape.
static bool find_shares(const as_model *model, const as_mode *mode, const as_matrix *mass,
                        double *share) {
  const int n = mass->cols, bodies = as_model_bodies(model);
  double sum = 0.0;
  memset(share, 0, (size_t)bodies * sizeof *share);
  for (int j = 0; j < n; j++) {
    const int body = body_of(model, j);
    for (int k = mass->col_start[j]; k < mass->col_start[j + 1]; k++) {
      const int i = mass->row[k];
      const double e = mass->value[k] *
                       (mode->shape[i] * mode->shape[j] + mode->shape[n + i] * mode->shape[n + j]);
      if (body >= 0) share[body] += e;
      sum += e;
    }
  }
  for (int b = 0; b < bodies && sum > 0.0; b++) share[b] /= sum;
  return sum > 0.0;
}

/// How much the coordinates of each joint move in a mode, in its largest component; relative to the largest of all angles (or of
/// all displacements, where nothing turns).
static as_status find_moves(const as_model *model, const as_state *state, const as_mode *mode,
                            double *move, as_error *error) {
  const as_sizes n = as_problem_sizes(as_model_problem(model));
  const int joints = as_model_joints(model);
  double *q = calloc((size_t)n.q + (size_t)n.v + 1, sizeof *q), *xi = q ? q + n.q : NULL;
  double largest = 0.0;
  const double e = 1e-4;
  as_status status = q ? AS_OK : AS_ERR_MEMORY;
  memset(move, 0, (size_t)joints * sizeof *move);
  for (int j = 0; j < joints && status == AS_OK; j++) {
    enum { MOST = 6 };
    const int m = as_model_joint_coordinates(model, (as_joint_id){j});
    if (m < 1 || m > MOST) continue;
    double still[MOST], at[2][2][MOST];
    status = as_model_coordinates(model, state, (as_joint_id){j}, NULL, still, NULL, error);
    for (int part = 0; part < 2; part++)
      for (int side = 0; side < 2 && status == AS_OK; side++) {
        as_state moved = *state;
        for (int i = 0; i < n.v; i++) xi[i] = (side ? -e : e) * mode->shape[part * n.v + i];
        as_space_move(as_problem_space(as_model_problem(model)), state->q, xi, q);
        moved.q = q;
        status = as_model_coordinates(model, &moved, (as_joint_id){j}, still, at[part][side], NULL,
                                      error);
      }
    for (int i = 0; i < m && status == AS_OK; i++)
      move[j] =
          fmax(move[j], hypot(at[0][0][i] - at[0][1][i], at[1][0][i] - at[1][1][i]) / (2.0 * e));
    largest = fmax(largest, move[j]);
  }
  for (int j = 0; j < joints && largest > 0.0; j++) move[j] /= largest;
  free(q);
  return status;
}

/// `arm 80 %, hand 20 %`: the largest of some shares.
static void list_shares(const as_model *model, const char *(*name)(const as_model *, int),
                        const double *share, int n, char *text, size_t size) {
  size_t used = 0;
  double limit = (double)INFINITY;
  int last = -1;
  text[0] = '\0';
  for (int k = 0; k < MOST_PARTS; k++) {
    int best = -1;
    for (int i = 0; i < n; i++) {
      const bool later = share[i] < limit || (share[i] == limit && i > last);
      if (later && share[i] >= SMALLEST_SHARE && (best < 0 || share[i] > share[best])) best = i;
    }
    if (best < 0 && k == 0 && n > 1.0 / SMALLEST_SHARE)
      snprintf(text, size, "spread over all %d", n);
    if (best < 0 || used >= size) break;
    used += (size_t)snprintf(text + used, size - used, "%s%s %.0f %%", used > 0 ? ", " : "",
                             name(model, best), 100.0 * share[best]);
    limit = share[best];
    last = best;
  }
}

static const char *body_name(const as_model *m, int b) {
  return as_model_body_name(m, (as_body_id){b});
}
static const char *joint_name(const as_model *m, int j) {
  return as_model_joint_name(m, (as_joint_id){j});
}

static cli_exit describe_modes(const linear_request *r, const linear_place *place,
                               const as_state *state, modes_set *set) {
  const as_model *model = place->machine->model;
  const int bodies = as_model_bodies(model), joints = as_model_joints(model);
  as_matrix block[AS_BLOCK_COUNT];
  as_error error;
  as_status status =
      as_problem_blocks(as_model_problem(model), state, AS_BLOCK_BIT(AS_BLOCK_M), block, &error);
  if (status != AS_OK) return linear_fail(r, status, &error);
  double *share = calloc((size_t)(bodies + joints) + 1, sizeof *share);
  set->text = calloc((size_t)set->modes->n + 1, sizeof *set->text);
  if (share == NULL || set->text == NULL) status = AS_ERR_MEMORY;
  for (int i = 0; i < set->modes->n && status == AS_OK; i++) {
    const as_mode *mode = &set->modes->mode[i];
    const bool moves = find_shares(model, mode, &block[AS_BLOCK_M], share);
    if (moves)
      list_shares(model, body_name, share, bodies, set->text[i].bodies, sizeof set->text[i].bodies);
    else
      snprintf(set->text[i].bodies, sizeof set->text[i].bodies, "velocities or states only");
    status = find_moves(model, state, mode, share, &error);
    if (status == AS_OK && moves)
      list_shares(model, joint_name, share, joints, set->text[i].joints,
                  sizeof set->text[i].joints);
  }
  as_blocks_free(block);
  free(share);
  if (status == AS_ERR_MEMORY) return cli_complain_memory();
  return status == AS_OK ? CLI_DONE : linear_fail(r, status, &error);
}

// ---- one state

static void free_set(modes_set *set) {
  as_modes_destroy(set->modes);
  as_linearization_destroy(set->linear);
  free(set->text);
  linear_place_free(&set->place);
  *set = (modes_set){0};
}

/// Large machines: only the slowest modes.
static cli_exit find_slowest(const linear_request *r, modes_set *set) {
  as_error error;
  const as_linearization_def def = linear_def(r);
  const as_status status =
      as_modes_slowest(as_model_problem(set->place.machine->model), &set->place.initial, &def,
                       r->count > 0 ? r->count : DEFAULT_COUNT, &set->modes, &error);
  if (status != AS_OK) return linear_fail(r, status, &error);
  const int wanted = r->count > 0 ? r->count : DEFAULT_COUNT;
  int found = 0;
  for (int i = 0; i < set->modes->n; i++) found += !set->modes->mode[i].free;
  if (found < wanted)
    cli_complain("%s: warning: only the %d slowest modes have converged, of %d asked for; those "
                 "that follow are much faster or too many of about the same frequency.",
                 r->machine.model, found, wanted);
  char axes[160];
  linear_describe_axes(set->modes->axes, set->modes->turning, axes, sizeof axes);
  snprintf(set->about, sizeof set->about, "%s at t = %.9g s, in %s; the slowest modes only%s",
           r->equilibrium ? "equilibrium" : "state", set->place.initial.t, axes,
           linear_held(set->modes->n_samplers));
  return CLI_DONE;
}

/// `branch`: of a sweep of equilibria, else NULL.
static cli_exit find_set(const linear_request *r, const char *extra, double value,
                         linear_branch *branch, modes_set *set) {
  *set = (modes_set){0};
  cli_exit status = branch ? linear_branch_find(r, branch, value, &set->place)
                           : linear_find(r, extra, &set->place);
  if (status != CLI_DONE) return status;
  const as_problem *p = as_model_problem(set->place.machine->model);
  if (as_problem_sizes(p).v > DENSE_LIMIT) {
    status = find_slowest(r, set);
    const as_initial *i = &set->place.initial;
    const as_state state = {.t = i->t, .q = i->q, .v = i->v, .x = i->x, .u = i->u};
    if (status == CLI_DONE) status = describe_modes(r, &set->place, &state, set);
    return status;
  }
  status = linear_make(r, &set->place, &set->linear);
  if (status != CLI_DONE) return status;
  as_error error;
  const as_status found = as_modes_create(set->linear, &set->modes, &error);
  if (found != AS_OK) return linear_fail(r, found, &error);
  linear_describe(r, set->linear, set->about, sizeof set->about);
  return describe_modes(r, &set->place, as_linearization_state(set->linear), set);
}

const char *modes_verdict(const as_modes *m) {
  if (m->n_unstable > 0) return "unstable";
  for (int i = 0; i < m->n; i++)
    if (!m->mode[i].free && !isfinite(m->mode[i].time)) return "neither grows nor decays";
  return m->n_free > 0 ? "stable but for free motions" : "stable";
}

// ---- as text

static void print_number(double x) {
  if (isnan(x))
    printf("  %11s", "-");
  else if (isinf(x))
    printf("  %11s", "never");
  else
    printf("  %11.6g", x);
}

static void print_text(const modes_set *set) {
  const as_modes *m = set->modes;
  printf("%s\n", set->about);
  printf("%s: %d eigenvalues, %d of them grow, %d are free motions\n", modes_verdict(m),
         m->n_states, m->n_unstable, m->n_free);
  printf("%4s  %11s  %11s  %11s  %11s  %11s  %s\n", "mode", "real [1/s]", "imag [1/s]", "freq [Hz]",
         "damping [-]", "1/|real| [s]", "bodies (kinetic energy); joints (largest 100 %)");
  for (int i = 0; i < m->n; i++) {
    const as_mode *mode = &m->mode[i];
    printf("%4d", i + 1);
    const bool neutral = !isfinite(mode->time); // what is left is round-off
    print_number(neutral ? 0.0 : mode->re);
    print_number(mode->im);
    print_number(mode->frequency);
    print_number(neutral && !mode->free ? 0.0 : mode->damping);
    print_number(mode->time);
    const bool free_motion = mode->free;
    printf("  %s%s%s%s%s\n", free_motion ? "free motion: " : "",
           isfinite(mode->time) && mode->re > 0.0 ? "grows: " : "", set->text[i].bodies,
           set->text[i].joints[0] ? "; " : "", set->text[i].joints);
  }
}

// ---- as JSON

static void write_shape(FILE *out, const modes_set *set, const as_mode *mode) {
  const as_model *model = set->place.machine->model;
  const int n = as_problem_sizes(as_model_problem(model)).v;
  putc('{', out);
  for (int b = 0, first = 1; b < as_model_bodies(model); b++) {
    const int v = as_model_body_v(model, (as_body_id){b});
    if (v < 0) continue;
    if (!first) fputs(", ", out);
    first = 0;
    asi_json_text(out, as_model_body_name(model, (as_body_id){b}));
    fputs(": [", out);
    for (int part = 0; part < 2; part++) {
      fputs(part ? ", [" : "[", out);
      for (int i = 0; i < 6 && v + i < n; i++) {
        if (i > 0) fputs(", ", out);
        asi_json_number(out, mode->shape[part * n + v + i]);
      }
      putc(']', out);
    }
    putc(']', out);
  }
  putc('}', out);
}

static void write_modes(json_object *o, const modes_set *set) {
  const as_modes *m = set->modes;
  FILE *out = o->out;
  json_add_string(o, "about", set->about);
  json_add_string(o, "stability", modes_verdict(m));
  json_add_number(o, "eigenvalues", m->n_states);
  json_add_number(o, "unstable", m->n_unstable);
  json_add_number(o, "free", m->n_free);
  json_key(o, "modes");
  putc('[', out);
  for (int i = 0; i < m->n; i++) {
    const as_mode *mode = &m->mode[i];
    if (i > 0) fputs(", ", out);
    json_object inner = json_begin(out, o->indent);
    json_add_number(&inner, "real", mode->re);
    json_add_number(&inner, "imaginary", mode->im);
    json_add_number(&inner, "frequency", mode->frequency);
    json_add_number(&inner, "damping", mode->damping);
    json_add_number(&inner, "time", mode->time);
    json_key(&inner, "free");
    fputs(mode->free ? "true" : "false", out);
    json_add_string(&inner, "bodies", set->text[i].bodies);
    json_add_string(&inner, "joints", set->text[i].joints);
    json_key(&inner, "shape");
    write_shape(out, set, mode);
    json_end(&inner);
  }
  putc(']', out);
}

static void write_json(FILE *out, const void *user) {
  const modes_result *x = user;
  json_object o = json_begin(out, 0);
  json_add_string(&o, "model", x->request->machine.model);
  if (x->request->sweep == NULL) {
    write_modes(&o, &x->set[0]);
  } else {
    json_add_string(&o, "sweep", x->request->sweep);
    json_key(&o, "values");
    putc('[', out);
    for (int i = 0; i < x->n; i++) {
      if (i > 0) fputs(", ", out);
      json_object inner = json_begin(out, o.indent);
      json_add_number(&inner, "value", x->request->value[i]);
      write_modes(&inner, &x->set[i]);
      json_end(&inner);
    }
    putc(']', out);
  }
  json_end(&o);
  putc('\n', out);
}

// ---- as CSV

static void write_csv(FILE *out, const void *user) {
  const modes_result *x = user;
  const bool swept = x->request->sweep != NULL;
  if (swept) fprintf(out, "%s,", x->request->sweep);
  fputs("mode,real [1/s],imaginary [1/s],frequency [Hz],damping [-],time [s]\n", out);
  for (int k = 0; k < x->n; k++)
    for (int i = 0; i < x->set[k].modes->n; i++) {
      const as_mode *mode = &x->set[k].modes->mode[i];
      if (swept) fprintf(out, "%.17g,", x->request->value[k]);
      fprintf(out, "%d,%.17g,%.17g,%.17g,%.17g,%.17g\n", i + 1, mode->re, mode->im, mode->frequency,
              mode->damping, mode->time);
    }
}

static void print_sweep(const modes_result *x) {
  printf("%s: %d values of %s\n", x->request->machine.model, x->n, x->request->sweep);
  for (int k = 0; k < x->n; k++) {
    const as_modes *m = x->set[k].modes;
    double most = -(double)INFINITY, im = 0.0;
    for (int i = 0; i < m->n; i++)
      if (!m->mode[i].free && m->mode[i].re > most) {
        most = m->mode[i].re;
        im = m->mode[i].im;
      }
    printf("%14.9g  %-28s", x->request->value[k], modes_verdict(m));
    if (isfinite(most)) printf("  largest real part %.9g, imaginary %.9g 1/s", most, im);
    putchar('\n');
  }
}

// ---- the command

static const char *const names[] = {"modes.json", "modes.csv", "modes.html", NULL};

static cli_exit write_result(const linear_request *r, const modes_result *x) {
  if (r->output != NULL) {
    bool made;
    cli_exit status = folder_make(r->output, &made);
    void (*const write[])(FILE *, const void *) = {write_json, write_csv, modes_page_write};
    for (int i = 0; i < 3 && status == CLI_DONE; i++) {
      char *path = folder_path(r->output, r->names[i]);
      status = path ? folder_write(path, write[i], x) : cli_complain_memory();
      free(path);
    }
    if (status != CLI_DONE) return status;
  }
  if (r->format == LINEAR_JSON)
    write_json(stdout, x);
  else if (r->format == LINEAR_CSV)
    write_csv(stdout, x);
  else if (r->sweep != NULL)
    print_sweep(x);
  else
    print_text(&x->set[0]);
  return CLI_DONE;
}

static cli_exit modes_run(const linear_request *r) {
  const int n = r->sweep ? r->n_values : 1;
  modes_result x = {.request = r, .set = calloc((size_t)n, sizeof *x.set)};
  if (x.set == NULL) return cli_complain_memory();
  cli_exit status = CLI_DONE;
  linear_branch branch = {0};
  for (int i = 0; i < n && status == CLI_DONE; i++) {
    char extra[512];
    if (r->sweep) snprintf(extra, sizeof extra, "%s=%.17g", r->sweep, r->value[i]);
    status = find_set(r, r->sweep ? extra : NULL, r->sweep ? r->value[i] : 0.0,
                      r->sweep && r->equilibrium ? &branch : NULL, &x.set[i]);
    x.n = i + 1;
  }
  linear_branch_free(&branch);
  if (status == CLI_DONE) status = write_result(r, &x);
  for (int i = 0; i < x.n; i++) free_set(&x.set[i]);
  free(x.set);
  return status;
}

static void print_help(void) {
  fputs(
      "Usage: alphastep modes MODEL|DIR [--equilibrium | --at T] [--set PATH=VALUE]...\n"
      "                       [--sweep PATH=FROM:TO:STEP] [--axes AXES] [--count N]\n"
      "                       [--json | --csv] [-o DIR]\n"
      "\n"
      "Linearizes the machine about a state and tells its modes: eigenvalues, frequencies, "
      "damping\n"
      "ratios, time constants, whether they grow, and which bodies and joints move in them.\n"
      "\n"
      "DIR               a run's folder: about the run's last moment, or --at T\n"
      "--equilibrium     about where it comes to rest from its start\n"
      "--at T            about where a run is at T [s]; without either: about the start, which "
      "has\n"
      "                  to be an equilibrium or a steady motion\n"
      "--sweep PATH=FROM:TO:STEP  the same for several values: `--sweep parameters.v=4:8:0.1`\n"
      "--axes AXES       that increments are seen in: own (of the bodies), world, or\n"
      "                  turning=X,Y,Z (world axes that turn with X,Y,Z rad/s). Default: those in\n"
      "                  which the linear system is constant\n"
      "--count N         how many modes of a large machine: the slowest; default 20\n"
      "--json, --csv     instead of text\n"
      "-o DIR            also writes modes.json, modes.csv and the page modes.html\n"
      "--set PATH=VALUE  replaces a value of the file\n" MACHINE_PLUGIN_HELP
      "--help            this text\n"
      "\n"
      "Exit status: 0 done, stable or not; 2 bad usage or input; 3 there is no such state, or it\n"
      "cannot be linearized; 4 a file could not be read or written.\n",
      stdout);
}

cli_exit modes_command(int argc, char **argv) {
  linear_request *r = calloc(1, sizeof *r);
  if (r == NULL) return cli_complain_memory();
  cli_exit status = linear_arguments(argc, argv, "modes", "s", r);
  r->names = names;
  if (status == CLI_DONE && r->machine.help)
    print_help();
  else if (status == CLI_DONE && (r->format == LINEAR_MAT || r->format == LINEAR_NPZ)) {
    cli_complain("`modes` writes text, JSON and CSV; `linearize` writes MAT and NumPy files.");
    status = CLI_USAGE;
  } else if (status == CLI_DONE)
    status = modes_run(r);
  linear_arguments_free(r);
  free(r);
  return status;
}

// The arguments of `alphastep study`, see study.h. What it has in common with `run` is taken by machine_arguments().
#define _POSIX_C_SOURCE 200809L // strdup

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"

static char *copy(study_request *r, const char *text, size_t length) {
  char *out = strndup(text, length);
  if (out != NULL) r->copied[r->n_copied++] = out;
  return out;
}

static bool take_numbers(const char *text, double *x, int n) {
  for (int i = 0; i < n; i++) {
    char *end;
    x[i] = strtod(text, &end);
    if (end == text || !isfinite(x[i]) || *end != (i + 1 < n ? ':' : '\0')) return false;
    text = end + 1;
  }
  return true;
}

// ---- one option

/// Splits `1,2,5` at its commas.
static bool take_list(study_request *r, const char *text, as_study_parameter *out) {
  int n = 1;
  for (const char *c = text; *c != '\0'; c++) n += *c == ',';
  char *words = copy(r, text, strlen(text));
  const char **list = calloc((size_t)n, sizeof *list);
  if (words == NULL || list == NULL) {
    free(list);
    return false;
  }
  int i = 0;
  for (char *word = words, *end; word != NULL; word = end) {
    end = strchr(word, ',');
    if (end != NULL) *end++ = '\0';
    list[i++] = word;
  }
  out->list = list;
  out->count = n;
  return true;
}

/// `parameters.k=1:5:0.5` or `parameters.k=1,2,5`
static bool take_sweep(study_request *r, const char *text) {
  const char *equal = strchr(text, '=');
  double x[3];
  if (equal == NULL || equal == text || equal[1] == '\0') return false;
  as_study_parameter *p = &r->sweep[r->n_sweeps];
  p->path = copy(r, text, (size_t)(equal - text));
  if (p->path == NULL) return false;
  if (take_numbers(equal + 1, x, 3)) {
    p->spread = AS_STUDY_STEP;
    p->from = x[0], p->to = x[1], p->step = x[2];
  } else if (!take_list(r, equal + 1, p)) {
    return false;
  }
  r->n_sweeps++;
  return true;
}

/// `parameters.m=normal:300:10` or `parameters.m=uniform:280:320`
static bool take_draw(study_request *r, const char *text) {
  const char *equal = strchr(text, '=');
  double x[2];
  if (equal == NULL || equal == text) return false;
  const bool normal = strncmp(equal + 1, "normal:", 7) == 0;
  if ((!normal && strncmp(equal + 1, "uniform:", 8) != 0) ||
      !take_numbers(equal + (normal ? 8 : 9), x, 2))
    return false;
  as_study_parameter *p = &r->sweep[r->n_sweeps];
  p->path = copy(r, text, (size_t)(equal - text));
  if (p->path == NULL) return false;
  p->spread = normal ? AS_STUDY_NORMAL : AS_STUDY_UNIFORM;
  if (normal)
    p->mean = x[0], p->deviation = x[1];
  else
    p->from = x[0], p->to = x[1];
  r->n_sweeps++;
  return true;
}

static bool find_measure(const char *word, size_t n, as_study_measure *out) {
  for (int m = AS_STUDY_MAX; m <= AS_STUDY_LAST; m++) {
    const char *name = as_study_measure_name((as_study_measure)m);
    if (strlen(name) != n || strncmp(name, word, n) != 0) continue;
    *out = (as_study_measure)m;
    return true;
  }
  return false;
}

/// `1:10`, `1:` or `:10`
static bool take_window(const char *text, double *from, double *to) {
  char *end;
  *from = *to = (double)NAN;
  if (strcmp(text, ":") == 0) return false;
  if (*text != ':') {
    *from = strtod(text, &end);
    if (end == text || *end != ':' || !isfinite(*from)) return false;
    text = end;
  }
  if (*++text == '\0') return true;
  *to = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*to);
}

/// `comfort=rms:bodies.body.acceleration.z@1:10`
static bool take_result(study_request *r, const char *text) {
  as_study_result *out = &r->result[r->n_results];
  const char *colon = strchr(text, ':'), *equal = strchr(text, '='), *measure = text;
  if (colon == NULL || colon[1] == '\0') return false;
  if (equal != NULL && equal < colon) {
    if (equal == text) return false;
    measure = equal + 1;
    out->name = copy(r, text, (size_t)(equal - text));
    if (out->name == NULL) return false;
  }
  if (!find_measure(measure, (size_t)(colon - measure), &out->measure)) return false;
  const char *at = strrchr(colon, '@');
  const bool window = at != NULL && at > colon + 1 && take_window(at + 1, &out->from, &out->to);
  if (!window) out->from = out->to = (double)NAN;
  out->channel = copy(r, colon + 1, window ? (size_t)(at - colon - 1) : strlen(colon + 1));
  if (out->channel == NULL) return false;
  r->n_results++;
  return true;
}

/// Takes an option of its own; CLI_FELL_SHORT: it is none.
static cli_exit take_option(int argc, char **argv, int *i, study_request *r) {
  const char *value = NULL, *like = NULL, *option = argv[*i];
  bool good = true;
  if (cli_option(argc, argv, i, "--sweep", &value)) {
    like = "--sweep parameters.k=1:5:0.5` or `--sweep parameters.k=1,2,5";
    good = value == NULL || take_sweep(r, value);
  } else if (cli_option(argc, argv, i, "--draw", &value)) {
    like = "--draw parameters.k=uniform:1:5` or `--draw parameters.k=normal:3:0.5";
    good = value == NULL || take_draw(r, value);
  } else if (cli_option(argc, argv, i, "--result", &value)) {
    like = "--result rms:bodies.body.acceleration.z` or `--result comfort=rms:bodies.body."
           "acceleration.z@1:10`, with max, min, max_abs, rms, mean or `last";
    good = value == NULL || take_result(r, value);
  } else if (cli_option(argc, argv, i, "--runs", &value)) {
    r->runs = value;
  } else if (cli_option(argc, argv, i, "--seed", &value)) {
    r->seed = value;
  } else if (cli_option(argc, argv, i, "--interval", &value)) {
    r->interval = value;
  } else if (cli_option(argc, argv, i, "--threads", &value)) {
    r->threads = value;
  } else if (cli_option(argc, argv, i, "--run", &value)) {
    r->run = value;
  } else if (strcmp(option, "--no-mpi") == 0) {
    r->no_mpi = true;
    return CLI_DONE;
  } else if (strcmp(option, "--accuracy") == 0) {
    cli_complain("`--accuracy`: errors are estimated of one run; see `alphastep study --run`.");
    return CLI_USAGE;
  } else {
    return CLI_FELL_SHORT;
  }
  if (value == NULL) return CLI_USAGE;
  if (!good) cli_complain("`%s %s` is not like `%s`.", option, value, like);
  return good ? CLI_DONE : CLI_USAGE;
}

// ---- all of them

static cli_exit check_resumed(const study_request *r) {
  const machine_request *m = &r->machine;
  if (m->resume == NULL && r->run == NULL) return CLI_DONE;
  if (r->n_sweeps == 0 && r->n_results == 0 && !r->runs && !r->seed && !r->interval &&
      m->n_settings == 0 && (m->resume == NULL || r->run == NULL))
    return CLI_DONE;
  if (m->resume != NULL && r->run != NULL)
    cli_complain("`--resume` and `--run`: one after the other.");
  else
    cli_complain("`%s`: the study in that folder has its own parameters, settings and results; "
                 "leave such options away.",
                 m->resume != NULL ? "--resume" : "--run");
  return CLI_USAGE;
}

cli_exit study_arguments(int argc, char **argv, study_request *r) {
  const size_t n = (size_t)argc + 1;
  *r = (study_request){.sweep = calloc(n, sizeof *r->sweep),
                       .result = calloc(n, sizeof *r->result),
                       .copied = calloc(2 * n, sizeof *r->copied)};
  char **rest = calloc(n, sizeof *rest); // what is not its own
  int n_rest = 0;
  cli_exit status = CLI_DONE;
  if (!r->sweep || !r->result || !r->copied || !rest) {
    free(rest);
    return cli_complain_memory();
  }
  bool options = true;
  for (int i = 0; i < argc && status == CLI_DONE; i++) {
    options = options && strcmp(argv[i], "--") != 0;
    status = options && argv[i][0] == '-' ? take_option(argc, argv, &i, r) : CLI_FELL_SHORT;
    if (status != CLI_FELL_SHORT) continue;
    status = CLI_DONE;
    rest[n_rest++] = argv[i];
  }
  if (status == CLI_DONE) status = machine_arguments(n_rest, rest, "study", true, &r->machine);
  free(rest);
  const machine_request *m = &r->machine;
  r->policy = machine_policy(m);
  return status == CLI_DONE && !r->machine.help ? check_resumed(r) : status;
}

void study_arguments_free(study_request *r) {
  machine_arguments_free(&r->machine);
  for (int i = 0; i < r->n_sweeps; i++) {
    const void *list = (const void *)r->sweep[i].list;
    void *own;
    memcpy(&own, &list, sizeof own); // it was taken here
    free(own);
  }
  for (int i = 0; i < r->n_copied; i++) free(r->copied[i]);
  free(r->sweep);
  free(r->result);
  free(r->copied);
}

// ---- the study

/// A number of an option; complains if it is none.
static bool take_number(const char *option, const char *text, bool whole, double least, double most,
                        double *out) {
  char *end;
  *out = strtod(text, &end);
  if (end != text && *end == '\0' && *out >= least && *out <= most &&
      (!whole || *out == floor(*out)))
    return true;
  cli_complain("`%s %s` is not like `%s %s`.", option, text, option, whole ? "200" : "0.01");
  return false;
}

static bool take_plain(const study_request *r, as_study_def *def) {
  double x;
  if (r->runs) {
    if (!take_number("--runs", r->runs, true, 1.0, AS_STUDY_RUNS, &x)) return false;
    def->draws = (int)x;
  }
  if (r->seed) {
    if (!take_number("--seed", r->seed, true, 0.0, 0x1p53, &x)) return false;
    def->seed = (unsigned long long)x;
  }
  if (r->interval) {
    if (!take_number("--interval", r->interval, false, 1e-300, 1e300, &x)) return false;
    def->interval = x;
  }
  return true;
}

/// Parameters of the file and of the command line. What the command line says of one that the file has holds.
static int join_parameters(const as_study_def *file, const study_request *r,
                           as_study_parameter *out) {
  int n = 0;
  for (int i = 0; i < file->n_parameters; i++) {
    bool replaced = false;
    for (int k = 0; k < r->n_sweeps; k++)
      replaced = replaced || strcmp(r->sweep[k].path, file->parameters[i].path) == 0;
    if (!replaced) out[n++] = file->parameters[i];
  }
  for (int k = 0; k < r->n_sweeps; k++) out[n++] = r->sweep[k];
  return n;
}

static void tell(const study_request *r, const char *path, const as_messages *messages) {
  for (int i = 0; i < messages->n; i++) fprintf(stderr, "%s\n", messages->message[i].text);
  if (messages->more) cli_complain("There are more errors than these.");
  machine_request m = r->machine;
  m.model = path;
  if (m.json) machine_tell(&m, messages);
}

static cli_exit create(const study_request *r, const as_study_def *file, const char *path,
                       const char *model, const as_study_def *base, as_study **out,
                       as_messages *messages) {
  const machine_request *m = &r->machine;
  const size_t parameters = (size_t)(file->n_parameters + r->n_sweeps) + 1;
  const size_t results = (size_t)(file->n_results + r->n_results) + 1;
  const size_t settings = (size_t)(file->n_settings + m->n_settings) + 1;
  as_study_def def = *file;
  as_study_parameter *all = calloc(parameters, sizeof *all);
  as_study_result *kept = calloc(results, sizeof *kept);
  const char **set = calloc(settings, sizeof *set);
  cli_exit status = CLI_DONE;
  if (!all || !kept || !set) {
    status = cli_complain_memory();
  } else if (!take_plain(r, &def)) {
    status = CLI_USAGE;
    machine_refuse(m);
  } else {
    def.n_parameters = join_parameters(file, r, all);
    for (int i = 0; i < file->n_results; i++) kept[i] = file->results[i];
    for (int i = 0; i < r->n_results; i++) kept[file->n_results + i] = r->result[i];
    for (int i = 0; i < file->n_settings; i++) set[i] = file->settings[i];
    for (int i = 0; i < m->n_settings; i++) set[file->n_settings + i] = m->settings[i];
    if (model != NULL) def.model = model;
    def.parameters = all;
    def.results = kept;
    def.n_results = (int)results - 1;
    def.settings = set;
    def.n_settings = (int)settings - 1;
    def.plugins = &r->policy;
    def.progress = base->progress;
    def.progress_user = base->progress_user;
    def.interrupt = base->interrupt;
    const as_status created = as_study_create(&def, out, messages);
    if (created != AS_OK) tell(r, path, messages);
    status = cli_judge(created);
  }
  free(all);
  free(kept);
  free(set);
  return status;
}

cli_exit study_open(const study_request *r, const char *path, const char *model,
                    const as_study_def *base, as_study **out) {
  as_messages *messages = calloc(1, sizeof *messages);
  as_study_file *file = NULL;
  if (messages == NULL) return cli_complain_memory();
  const as_status loaded = as_study_file_load(path, &file, messages);
  cli_exit status = cli_judge(loaded);
  if (loaded != AS_OK) {
    tell(r, path, messages);
  } else {
    const as_study_def def = as_study_file_def(file);
    if (def.n_results + r->n_results == 0) {
      cli_complain("%s: a model file makes a study with `--result`, such as `--result "
                   "rms:bodies.body.acceleration.z`; see `alphastep help study`.",
                   path);
      machine_refuse(&r->machine);
      status = CLI_USAGE;
    } else {
      status = create(r, &def, path, model, base, out, messages);
    }
  }
  as_study_file_destroy(file);
  free(messages);
  return status;
}

/// Studies are made: the definition is copied and checked, and names are looked up in the model with the values of one of the runs.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/results.h"
#include "base/decimal.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/number.h"
#include "base/printable.h"
#include "base/text.h"
#include "study/study.h"

static const unsigned long long MOST_SEED = 1ull << 53; // that files can hold

static const char *const measures[] = {
    [AS_STUDY_MAX] = "max", [AS_STUDY_MIN] = "min",   [AS_STUDY_MAX_ABS] = "max_abs",
    [AS_STUDY_RMS] = "rms", [AS_STUDY_MEAN] = "mean", [AS_STUDY_LAST] = "last"};

const char *as_study_measure_name(as_study_measure measure) {
  const bool known = measure >= AS_STUDY_MAX && measure <= AS_STUDY_LAST;
  return known ? measures[measure] : "";
}

const char *as_study_outcome_name(as_study_outcome outcome) {
  static const char *const names[] = {[AS_STUDY_WAITING] = "waiting",
                                      [AS_STUDY_DONE] = "done",
                                      [AS_STUDY_STOPPED] = "stopped",
                                      [AS_STUDY_FAILED] = "failed"};
  return names[outcome];
}

as_study_def as_default_study_def(void) {
  return (as_study_def){.cookie = ASI_COOKIE(as_study_def), .seed = 1, .interval = (double)NAN};
}

// ---- sentences --------------------------------------------------------------------------------------

as_status asi_study_complain(as_messages *messages, const char *what, const char *format, ...) {
  messages->n = 1;
  messages->more = false;
  as_message *m = &messages->message[0];
  *m = (as_message){.line = 0};
  asi_text text = asi_text_begin(m->text, sizeof m->text);
  if (what) asi_text_add(&text, "%.400s: ", what);
  asi_text_add(&text, "error: ");
  char sentence[1100];
  va_list arguments;
  va_start(arguments, format);
  asi_format(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  asi_text_add(&text, "%s", sentence);
  asi_make_printable(m->text);
  return AS_ERR_ARGUMENT;
}

as_status asi_study_complain_memory(as_messages *messages) {
  (void)asi_study_complain(messages, NULL, "out of memory");
  return AS_ERR_MEMORY;
}

// ---- the copy ---------------------------------------------------------------------------------------

static const char *copy_text(as_study *s, const char *text) {
  return text ? asi_arena_text(&s->arena, text, strlen(text)) : NULL;
}

static const char *const *copy_texts(as_study *s, const char *const *texts, int n) {
  const char **copy = asi_arena_take(&s->arena, ((size_t)n + 1) * sizeof *copy);
  for (int i = 0; i < n && copy; ++i) copy[i] = copy_text(s, texts[i]);
  return copy;
}

/// What values in a list are as numbers; NAN: one is none.
static const double *read_numbers(as_study *s, const as_study_parameter *p) {
  double *out = asi_arena_take(&s->arena, (size_t)p->count * sizeof *out);
  for (int i = 0; i < p->count && out; ++i) {
    const char *text = p->list[i];
    const bool minus = text[0] == '-', sign = minus || text[0] == '+';
    const size_t n = asi_scan_number(text + sign, &out[i]);
    if (n == 0 || text[sign + n] != '\0') out[i] = (double)NAN;
    if (minus) out[i] = -out[i];
  }
  return out;
}

static as_study_parameter *copy_parameters(as_study *s, const as_study_def *def) {
  const size_t n = (size_t)def->n_parameters;
  as_study_parameter *copy = asi_arena_take(&s->arena, (n + 1) * sizeof *copy);
  for (size_t i = 0; i < n && copy; ++i) {
    copy[i] = def->parameters[i];
    copy[i].path = copy_text(s, copy[i].path);
    const bool listed = copy[i].spread == AS_STUDY_LIST && copy[i].count > 0;
    copy[i].list = listed ? copy_texts(s, copy[i].list, copy[i].count) : NULL;
    if (listed && !s->arena.failed) s->number[i] = read_numbers(s, &copy[i]);
  }
  return copy;
}

/// `rms:bodies.body.acceleration.z@1:10`
static const char *make_name(as_study *s, const as_study_result *r) {
  char window[80] = "", from[ASI_DECIMAL + 1] = "", to[ASI_DECIMAL + 1] = "";
  if (!isnan(r->from)) from[asi_decimal(from, r->from)] = '\0';
  if (!isnan(r->to)) to[asi_decimal(to, r->to)] = '\0';
  if (from[0] || to[0]) snprintf(window, sizeof window, "@%s:%s", from, to);
  const size_t size = strlen(r->channel) + sizeof window + 16;
  char *name = asi_arena_take(&s->arena, size);
  if (name) snprintf(name, size, "%s:%s%s", as_study_measure_name(r->measure), r->channel, window);
  return name;
}

static as_study_result *copy_results(as_study *s, const as_study_def *def) {
  const size_t n = (size_t)def->n_results;
  as_study_result *copy = asi_arena_take(&s->arena, (n + 1) * sizeof *copy);
  for (size_t i = 0; i < n && copy; ++i) {
    copy[i] = def->results[i];
    copy[i].channel = copy_text(s, copy[i].channel);
    if (s->arena.failed) return NULL;
    copy[i].name = copy[i].name ? copy_text(s, copy[i].name) : make_name(s, &copy[i]);
  }
  return copy;
}

/// All that the study needs but records, which are taken when the number of runs is known.
static bool copy_def(as_study *s, const as_study_def *def) {
  const size_t n = (size_t)def->n_parameters + 1, results = (size_t)def->n_results + 1;
  s->def = *def;
  s->def.title = copy_text(s, def->title);
  s->def.model = copy_text(s, def->model);
  if (def->text) s->def.text = asi_arena_text(&s->arena, def->text, def->text_size);
  s->def.settings = copy_texts(s, def->settings, def->n_settings);
  s->number = asi_arena_take(&s->arena, n * sizeof *s->number);
  if (s->arena.failed) return false;
  s->def.parameters = copy_parameters(s, def);
  s->def.results = copy_results(s, def);
  s->count = asi_arena_take(&s->arena, n * sizeof *s->count);
  s->stride = asi_arena_take(&s->arena, n * sizeof *s->stride);
  s->channel = asi_arena_take(&s->arena, results * sizeof *s->channel);
  s->unit = asi_arena_take(&s->arena, results * sizeof *s->unit);
  s->column = asi_arena_take(&s->arena, results * sizeof *s->column);
  s->column_name = asi_arena_take(&s->arena, results * sizeof *s->column_name);
  if (s->arena.failed) return false;
  const char *slash = strrchr(s->def.model, '/');
  s->folder =
      asi_arena_text(&s->arena, s->def.model, slash ? (size_t)(slash - s->def.model) + 1 : 0);
  return s->folder != NULL;
}

// ---- checks -----------------------------------------------------------------------------------------

/// Before anything is copied: what is required is there.
static as_status check_given(const as_study_def *def, as_messages *messages) {
  as_error error;
  if (ASI_CHECK_DEFINITION(as_study_def, def, &error))
    return asi_study_complain(messages, NULL, "%s", error.message);
  if (def->model == NULL) return asi_study_complain(messages, NULL, "a study needs a model file");
  if (def->n_results < 1 || def->n_parameters < 0 || def->n_settings < 0)
    return asi_study_complain(messages, def->model,
                              "a study needs a result, such as `rms` of a channel");
  for (int i = 0; i < def->n_parameters; ++i)
    if (def->parameters[i].path == NULL || def->parameters[i].path[0] == '\0' ||
        strchr(def->parameters[i].path, '='))
      return asi_study_complain(messages, def->model,
                                "parameter number %d has no path like `parameters.k`", i + 1);
  for (int i = 0; i < def->n_results; ++i)
    if (def->results[i].channel == NULL ||
        as_study_measure_name(def->results[i].measure)[0] == '\0')
      return asi_study_complain(messages, def->model,
                                "result number %d has no measure or no channel", i + 1);
  if (def->seed > MOST_SEED)
    return asi_study_complain(messages, def->model, "the seed %llu is above 2^53", def->seed);
  if (!isnan(def->interval) && !(def->interval > 0.0))
    return asi_study_complain(messages, def->model, "the interval of %g s is not positive",
                              def->interval);
  return AS_OK;
}

static bool is_printable(const char *text) {
  size_t length;
  for (; *text; text += length)
    if (!asi_printable(text, &length)) return false;
  return true;
}

static as_status check_names(const as_study *s, as_messages *messages) {
  const as_study_def *d = &s->def;
  for (int i = 0; i < d->n_parameters; ++i)
    for (int k = 0; k < i; ++k)
      if (strcmp(d->parameters[i].path, d->parameters[k].path) == 0)
        return asi_study_complain(messages, d->parameters[i].path, "the parameter is there twice");
  for (int i = 0; i < d->n_results; ++i) {
    const as_study_result *r = &d->results[i];
    if (r->name[0] == '\0' || !is_printable(r->name))
      return asi_study_complain(messages, r->name,
                                "a result's name must be text that can be printed");
    for (int k = 0; k < i; ++k)
      if (strcmp(r->name, d->results[k].name) == 0)
        return asi_study_complain(messages, r->name, "two results have this name");
    if (r->from >= r->to)
      return asi_study_complain(messages, r->name, "the window from %g s to %g s is empty", r->from,
                                r->to);
  }
  return AS_OK;
}

// ---- the model --------------------------------------------------------------------------------------

as_status asi_study_load(const as_study *s, const char *const *settings, as_machine **out,
                         as_messages *messages) {
  const as_study_def *d = &s->def;
  const int n = d->n_settings + d->n_parameters;
  return d->text ? as_machine_parse_with(d->text, d->text_size, d->model, settings, n, d->plugins,
                                         out, messages)
                 : as_machine_load_with(d->model, settings, n, d->plugins, out, messages);
}

static as_status load(const as_study *s, long run, as_machine **out, as_messages *messages) {
  asi_arena arena = {0};
  const char *const *settings = asi_study_settings(s, run, &arena);
  const as_status status =
      settings ? asi_study_load(s, settings, out, messages) : asi_study_complain_memory(messages);
  asi_arena_free(&arena);
  return status;
}

/// With the values of the first run or, if they cannot be, of the one in the middle, or of the last. If none can be, what is wrong with the
/// first is told.
static as_status load_any(const as_study *s, as_machine **out, as_messages *messages) {
  as_status status = load(s, 0, out, messages);
  if (status != AS_ERR_ARGUMENT || s->runs == 1) return status;
  as_messages *others = malloc(sizeof *others);
  if (others == NULL) return asi_study_complain_memory(messages);
  const long run[2] = {s->runs / 2, s->runs - 1};
  for (int i = 0; i < 2 && status == AS_ERR_ARGUMENT; ++i) status = load(s, run[i], out, others);
  if (status && status != AS_ERR_ARGUMENT) *messages = *others;
  free(others);
  return status;
}

/// The channel of a result: there is one.
static as_status find_channel(as_study *s, const as_machine *machine, int result,
                              as_messages *messages) {
  const as_study_result *r = &s->def.results[result];
  as_channels *channels = NULL;
  as_error error;
  const as_status status =
      as_channels_create_with(machine->model, machine->rules, &r->channel, 1, &channels, &error);
  if (status == AS_ERR_MEMORY) return asi_study_complain_memory(messages);
  if (status) return asi_study_complain(messages, r->name, "%s", error.message);
  as_status told = AS_OK;
  const as_channel channel = as_channels_get(channels, 0);
  if (as_channels_count(channels) > 1) {
    told =
        asi_study_complain(messages, r->name,
                           "\"%.200s\" selects %d channels, such as %.200s, but a result is made "
                           "of one",
                           r->channel, as_channels_count(channels), channel.name);
  } else {
    s->channel[result] = asi_arena_text(&s->arena, channel.name, strlen(channel.name));
    s->unit[result] = asi_arena_text(&s->arena, channel.unit, strlen(channel.unit));
    if (s->arena.failed) told = asi_study_complain_memory(messages);
  }
  as_channels_destroy(channels);
  return told;
}

/// Results of the same channel share it.
static void share_columns(as_study *s) {
  for (int i = 0; i < s->def.n_results; ++i) {
    int c = 0;
    while (c < s->n_columns && strcmp(s->column_name[c], s->channel[i]) != 0) ++c;
    s->column[i] = c;
    if (c == s->n_columns) s->column_name[s->n_columns++] = s->channel[i];
  }
}

static as_status keep_files(as_study *s, const as_machine *machine, as_messages *messages) {
  s->n_files = machine->n_files;
  s->files = asi_arena_take(&s->arena, ((size_t)s->n_files + 1) * sizeof *s->files);
  for (int i = 0; i < s->n_files && s->files; ++i) {
    s->files[i] = machine->files[i];
    s->files[i].path = copy_text(s, machine->files[i].path);
  }
  return s->arena.failed ? asi_study_complain_memory(messages) : AS_OK;
}

static as_status keep_warnings(as_study *s, const as_machine *machine, as_messages *messages) {
  s->warnings = asi_arena_take(&s->arena, ((size_t)machine->n_warnings + 1) * sizeof *s->warnings);
  for (int i = 0; i < machine->n_warnings && s->warnings; ++i)
    s->warnings[s->n_warnings++] = copy_text(s, machine->warnings[i]);
  return s->arena.failed ? asi_study_complain_memory(messages) : AS_OK;
}

static as_status look_up(as_study *s, const as_machine *machine, as_messages *messages) {
  const double t_end = machine->simulation.t_end;
  as_status status = AS_OK;
  if (isnan(t_end))
    return asi_study_complain(messages, s->def.model,
                              "there is no `simulate:` with a `t_end`, so there is nothing to run");
  for (int i = 0; i < s->def.n_results && status == AS_OK; ++i) {
    status = find_channel(s, machine, i, messages);
    if (status == AS_OK && s->def.results[i].from >= t_end)
      status = asi_study_complain(messages, s->def.results[i].name,
                                  "the window begins at %g s, but the run ends at %g s",
                                  s->def.results[i].from, t_end);
  }
  if (status == AS_OK) share_columns(s);
  if (status == AS_OK) status = keep_warnings(s, machine, messages);
  return status ? status : keep_files(s, machine, messages);
}

// ---- create -----------------------------------------------------------------------------------------

static as_status prepare(as_study *s, as_messages *messages) {
  as_machine *machine = NULL;
  as_status status = check_names(s, messages);
  if (status == AS_OK) status = asi_study_count_values(s, messages);
  if (status) return status;
  s->record = asi_calloc((size_t)s->runs, sizeof *s->record);
  s->value = asi_calloc((size_t)s->runs * (size_t)s->def.n_results, sizeof *s->value);
  if (s->record == NULL || s->value == NULL) return asi_study_complain_memory(messages);
  for (long i = 0; i < s->runs; ++i) s->record[i].t = (double)NAN;
  for (long i = 0; i < s->runs * s->def.n_results; ++i) s->value[i] = (double)NAN;
  s->count_of[AS_STUDY_WAITING] = s->runs;
  status = load_any(s, &machine, messages);
  if (status == AS_OK) status = look_up(s, machine, messages);
  as_machine_destroy(machine);
  return status;
}

static as_status create(const as_study_def *def, as_study **out, as_messages *messages) {
  as_status status = check_given(def, messages);
  if (status) return status;
  as_study *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_study_complain_memory(messages);
  s->file = -1;
  if (pthread_mutex_init(&s->mutex, NULL) != 0) {
    free(s);
    return asi_study_complain_memory(messages);
  }
  status = copy_def(s, def) ? prepare(s, messages) : asi_study_complain_memory(messages);
  if (status) {
    as_study_destroy(s);
    return status;
  }
  *out = s;
  return AS_OK;
}

as_status as_study_create(const as_study_def *def, as_study **out, as_messages *messages) {
  *out = NULL;
  messages->n = 0;
  messages->more = false;
  asi_locale locale;
  if (!asi_locale_set_plain(&locale)) return asi_study_complain_memory(messages);
  const as_status status = create(def, out, messages);
  asi_locale_restore(&locale);
  return status;
}

void as_study_destroy(as_study *s) {
  if (s == NULL) return;
  if (s->file >= 0) close(s->file);
  for (long i = 0; i < s->runs && s->record; ++i) free(s->record[i].message);
  free(s->record);
  free(s->value);
  free(s->file_path);
  asi_arena_free(&s->arena);
  pthread_mutex_destroy(&s->mutex);
  free(s);
}

// ---- what it is -------------------------------------------------------------------------------------

long as_study_runs(const as_study *s) { return s->runs; }
const char *as_study_title(const as_study *s) { return s->def.title; }
const char *as_study_model(const as_study *s) { return s->def.model; }

const as_file_digest *as_study_files(const as_study *s, int *n) {
  *n = s->n_files;
  return s->files;
}

const char *const *as_study_warnings(const as_study *s, int *n) {
  *n = s->n_warnings;
  return s->warnings;
}

int as_study_parameters(const as_study *s) { return s->def.n_parameters; }
int as_study_results(const as_study *s) { return s->def.n_results; }
long as_study_count(const as_study *s, as_study_outcome outcome) { return s->count_of[outcome]; }

as_study_parameter as_study_parameter_get(const as_study *s, int parameter) {
  return s->def.parameters[parameter];
}

as_study_result as_study_result_get(const as_study *s, int result) {
  return s->def.results[result];
}

const char *as_study_result_unit(const as_study *s, int result) { return s->unit[result]; }

as_study_run as_study_run_get(const as_study *s, long run) {
  const asi_study_record *r = &s->record[run];
  return (as_study_run){r->outcome, r->t, s->value + run * s->def.n_results,
                        r->message ? r->message : ""};
}

bool asi_study_note(as_study *s, long run, as_study_outcome outcome, double t, const double *value,
                    const char *message) {
  asi_study_record *r = &s->record[run];
  if (message[0]) {
    r->message = asi_calloc(ASI_STUDY_MESSAGE, 1);
    if (r->message == NULL) return false;
    asi_text text = asi_text_begin(r->message, ASI_STUDY_MESSAGE);
    asi_text_add(&text, "%s", message);
  }
  --s->count_of[r->outcome];
  ++s->count_of[outcome];
  r->outcome = outcome;
  r->t = t;
  memcpy(s->value + run * s->def.n_results, value, (size_t)s->def.n_results * sizeof *value);
  return true;
}

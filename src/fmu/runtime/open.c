#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "core/driver/integrator.h"
#include "file/compile.h"
#include "fmu/runtime/instance.h"
#include "results/channels.h"

const char *const asi_exported_category_name[ASI_EXPORTED_CATEGORIES] = {
    "logStatusError", "logStatusDiscard", "logStatusWarning", "logEvents", "logInfo"};

void asi_exported_tell(asi_exported *f, asi_exported_category category, const char *format, ...) {
  char text[1600];
  if (f->log == NULL || !f->wants[category]) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  f->log(category, text, f->log_user);
}

static bool is_category(const char *text, int k) {
  return text && (strcmp(text, asi_exported_category_name[k]) == 0 || strcmp(text, "logAll") == 0);
}

// Without a list all are meant, but remarks have to be asked for.
bool asi_exported_listen(asi_exported *f, bool on, size_t n, const char *const *categories) {
  bool all = true;
  for (size_t i = 0; i < n; ++i) {
    bool known = false;
    for (int k = 0; k < ASI_EXPORTED_CATEGORIES; ++k)
      known = known || is_category(categories[i], k);
    all = all && known;
  }
  for (int k = 0; all && k < ASI_EXPORTED_CATEGORIES; ++k) {
    bool named = n == 0 && (k != ASI_EXPORTED_LOG_INFO || !on);
    for (size_t i = 0; i < n; ++i) named = named || is_category(categories[i], k);
    if (named) f->wants[k] = on;
  }
  if (!all)
    asi_exported_tell(f, ASI_EXPORTED_LOG_ERROR,
                      "There is no such category of messages: see modelDescription.xml.");
  return all;
}

void asi_exported_listen_first(asi_exported *f, asi_exported_log_fn *log, void *user, bool on) {
  f->log = log;
  f->log_user = user;
  f->wants[ASI_EXPORTED_LOG_ERROR] = f->wants[ASI_EXPORTED_LOG_DISCARD] = true;
  if (on) asi_exported_listen(f, true, 0, NULL);
}

asi_exported_category asi_exported_judge(as_status status) {
  const bool hopeless = status == AS_ERR_ARGUMENT || status == AS_ERR_MEMORY ||
                        status == AS_ERR_FILE || status == AS_ERR_UNSUPPORTED;
  return hopeless ? ASI_EXPORTED_LOG_ERROR : ASI_EXPORTED_LOG_DISCARD;
}

as_status asi_exported_set_up(asi_exported *f, double start, double stop, double tolerance,
                              as_error *error) {
  if (!isfinite(start) || stop <= start || tolerance <= 0.0 || tolerance >= 1.0)
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, NULL,
                    "An experiment from t = %g s to %g s with the tolerance %g is none: the start "
                    "must be finite, the stop after it, and the tolerance between 0 and 1.",
                    start, stop, tolerance);
  f->start_time = f->t = f->since = start;
  f->stop_time = stop;
  f->tolerance = tolerance;
  f->new_start = true;
  return AS_OK;
}

static void hear(as_log_level level, const char *message, void *user) {
  asi_exported_tell(user,
                    level == AS_LOG_WARNING ? ASI_EXPORTED_LOG_WARNING : ASI_EXPORTED_LOG_INFO,
                    "%s", message);
}

// ---- the interface ----------------------------------------------------------------------------------

static char *join(const char *a, const char *b, const char *c) {
  const size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = malloc(size);
  if (text) snprintf(text, size, "%s%s%s", a, b, c);
  return text;
}

static as_status read_interface(asi_exported *f, as_error *error) {
  const char *why = NULL;
  size_t size = 0;
  char *path = join(f->folder, "interface.bin", "");
  unsigned char *bytes = path ? asi_file_bytes(path, &size, &why) : NULL;
  as_status status = AS_OK;
  if (bytes == NULL && why == NULL) {
    status = asi_fail_memory(error);
  } else if (bytes == NULL) {
    status = asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                      "%.600s cannot be opened: %s. It is where the importer says that the FMU's "
                      "resources are.",
                      path, why);
  } else {
    asi_archive a = {.mode = ASI_ARCHIVE_READ, .data = bytes, .size = size};
    if (!asi_exported_interface_archive(&a, &f->face, &f->arena) || a.used != size)
      status = f->arena.failed ? asi_fail_memory(error)
                               : asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                                          "%.600s is damaged, or of another version.", path);
  }
  free(bytes);
  free(path);
  return status;
}

static as_status take_memory(asi_exported *f, as_error *error) {
  const size_t n = (size_t)f->face.n;
  f->value = asi_calloc(n, sizeof(double));
  f->slope = asi_calloc(n, sizeof(double));
  f->place = asi_calloc(n, sizeof(int));
  f->built = asi_calloc(n, sizeof(double));
  return f->value && f->slope && f->place && f->built ? AS_OK : asi_fail_memory(error);
}

asi_exported *asi_exported_open(const char *resources, const char *token, as_error *error) {
  asi_exported *f = asi_calloc(1, sizeof *f);
  as_status status = f ? AS_OK : asi_fail_memory(error);
  if (f) {
    const size_t length = strlen(resources);
    f->folder = join(resources, length > 0 && resources[length - 1] == '/' ? "" : "/", "");
    status = f->folder ? read_interface(f, error) : asi_fail_memory(error);
  }
  if (status == AS_OK && strcmp(token, f->face.token) != 0)
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The importer's GUID or token \"%.80s\" is not that of the resources, "
                      "\"%.80s\": description and resources are of different FMUs.",
                      token, f->face.token);
  if (status == AS_OK) status = take_memory(f, error);
  if (status) {
    asi_exported_close(f);
    return NULL;
  }
  asi_exported_reset(f);
  return f;
}

// ---- the machine ------------------------------------------------------------------------------------

static void destroy_integrator(asi_exported *f) {
  as_integrator_destroy(f->integrator);
  as_channels_destroy(f->channels);
  asi_watch_destroy(f->watch);
  free(f->row);
  free(f->u);
  free(f->v);
  f->integrator = NULL;
  f->channels = NULL;
  f->watch = NULL;
  f->row = f->u = f->v = NULL;
}

static void destroy_machine(asi_exported *f) {
  destroy_integrator(f);
  as_machine_destroy(f->machine);
  f->machine = NULL;
}

void asi_exported_close(asi_exported *f) {
  if (f == NULL) return;
  destroy_machine(f);
  asi_arena_free(&f->arena);
  free(f->folder);
  free(f->value);
  free(f->slope);
  free(f->place);
  free(f->built);
  free(f->scratch);
  free(f);
}

void asi_exported_reset(asi_exported *f) {
  f->phase = ASI_EXPORTED_INSTANTIATED;
  f->start_time = f->t = f->since = 0.0;
  f->stop_time = f->tolerance = (double)NAN;
  f->steps = 0;
  f->stopped = f->event = false;
  f->new_start = f->stale = true;
  f->new_signals = false;
  for (int i = 0; i < f->face.n; ++i) {
    f->value[i] = f->face.variable[i].start;
    f->slope[i] = 0.0;
  }
}

static bool is_setting(const asi_exported_variable *v) {
  return v->kind == ASI_EXPORTED_PARAMETER || v->kind == ASI_EXPORTED_TUNABLE;
}

static bool is_live(const asi_exported_variable *v) {
  return v->kind == ASI_EXPORTED_DRIVEN || v->kind == ASI_EXPORTED_TUNABLE;
}

/// Whether the machine that there is has been built with these parameters; a state that is loaded brings those that are tunable.
static bool is_built(const asi_exported *f, bool from_start) {
  bool same = f->machine != NULL;
  for (int i = 0; i < f->face.n && same; ++i) {
    const asi_exported_kind kind = f->face.variable[i].kind;
    if (kind == ASI_EXPORTED_PARAMETER || (from_start && kind == ASI_EXPORTED_TUNABLE))
      same = f->value[i] == f->built[i];
  }
  return same;
}

/// What was wrong with a file, without its place: there are no lines.
static as_status refuse_model(const as_messages *messages, as_status status, as_error *error) {
  const char *text = messages->n > 0 ? messages->message[0].text : "";
  const char *sentence = strstr(text, "error: ");
  return asi_fail(error, status, (double)NAN, NULL,
                  "The machine cannot be built with these parameters: %.900s",
                  sentence ? sentence + 7 : text);
}

/// Reads the model with the parameters that differ from their starts.
static as_status build_machine(asi_exported *f, as_error *error) {
  enum { ROOM = 128 };
  const size_t n = (size_t)f->face.n;
  const char **live = asi_calloc(n, sizeof *live), **setting = asi_calloc(n, sizeof *setting);
  char(*text)[ROOM] = asi_calloc(n, ROOM);
  as_messages *messages = asi_calloc(1, sizeof *messages);
  char *path = join(f->folder, "model/", f->face.model);
  asi_compile compile = {.live = live, .extrapolates = f->face.extrapolates};
  as_status status = AS_ERR_MEMORY;
  int settings = 0;
  destroy_machine(f);
  if (live && setting && text && messages && path) {
    for (int i = 0; i < f->face.n; ++i) {
      const asi_exported_variable *v = &f->face.variable[i];
      if (is_live(v)) live[compile.n_live++] = v->target;
      f->built[i] = f->value[i];
      if (!is_setting(v) || f->value[i] == v->start) continue;
      snprintf(text[settings], ROOM, "parameters.%.60s=%.17g", v->target, f->value[i]);
      setting[settings] = text[settings];
      ++settings;
    }
    status = asi_machine_load(path, setting, settings, &compile, &f->machine, messages);
    if (status) refuse_model(messages, status, error);
  } else {
    asi_fail_memory(error);
  }
  free(live);
  free(setting);
  free(text);
  free(messages);
  free(path);
  return status;
}

/// Finds held signals by what the variables are called.
static as_status find_signals(asi_exported *f, as_error *error) {
  const as_model *m = f->machine->model;
  for (int i = 0; i < f->face.n; ++i) {
    const asi_exported_variable *v = &f->face.variable[i];
    int place = -1;
    if (v->kind == ASI_EXPORTED_INPUT) {
      const as_signal_id id =
          as_model_find_signal(m, v->target, f->face.extrapolates ? "given" : NULL);
      place = id.index < 0 ? -1 : as_model_signal_place(m, id);
    } else if (is_live(v)) {
      place = as_model_find_parameter(m, v->target).index;
    } else {
      continue;
    }
    if (place < 0)
      return asi_fail(error, AS_ERR_FILE, (double)NAN, v->name,
                      "The machine has no \"%.80s\": description and resources are of different "
                      "FMUs.",
                      v->target);
    f->place[i] = place;
  }
  return AS_OK;
}

static as_status create_channels(asi_exported *f, as_error *error) {
  const size_t n = (size_t)f->face.n;
  const char **name = asi_calloc(n, sizeof *name);
  int count = 0;
  if (name == NULL) return asi_fail_memory(error);
  for (int i = 0; i < f->face.n; ++i)
    if (f->face.variable[i].kind == ASI_EXPORTED_OUTPUT) {
      f->place[i] = count;
      name[count++] = f->face.variable[i].target;
    }
  as_status status = AS_OK;
  if (count > 0)
    status = as_channels_create_with(f->machine->model, f->machine->rules, name, count,
                                     &f->channels, error);
  free(name);
  if (status == AS_OK && count > 0 && as_channels_count(f->channels) != count)
    status = asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                      "The machine has other channels than the FMU's description.");
  f->reads_rates = false;
  for (int i = 0; status == AS_OK && f->channels && i < f->channels->n_sources; ++i)
    f->reads_rates =
        f->reads_rates || asi_source_reads_rates(f->machine->model, f->channels->source[i]);
  return status;
}

static bool has_inputs(const asi_exported *f) {
  bool has = false;
  for (int i = 0; i < f->face.n; ++i) has = has || asi_exported_is_input(f->face.variable[i].kind);
  return has;
}

static as_status create_integrator(asi_exported *f, as_error *error) {
  const as_machine *m = f->machine;
  const as_sizes n = as_problem_sizes(as_model_problem(m->model));
  as_integrator_def how = m->simulation.integrator;
  destroy_integrator(f);
  f->made[0] = f->tolerance;
  f->made[1] = f->start_time;
  f->made[2] = f->stop_time;
  if (isnan(how.step) && !isnan(f->tolerance)) how.tolerance.rtol = f->tolerance;
  if (isnan(how.tolerance.span))
    how.tolerance.span = isnan(f->stop_time) ? m->simulation.t_end : f->stop_time - f->start_time;
  how.tolerance.land = how.tolerance.land || has_inputs(f);
  how.log = hear;
  how.log_user = f;
  as_status status =
      asi_watched_integrator(m->model, m->rules, &how, &f->watch, &f->integrator, error);
  if (status == AS_OK) f->integrator->late_reactions = true; // they are asked for
  if (status == AS_OK) status = create_channels(f, error);
  if (status) return status;
  f->index3 = how.method == AS_METHOD_INDEX3;
  f->row = asi_calloc(f->channels ? (size_t)as_channels_count(f->channels) : 0, sizeof(double));
  f->u = asi_calloc((size_t)n.u, sizeof(double));
  f->v = asi_calloc((size_t)n.v, sizeof(double));
  return f->row && f->u && f->v ? AS_OK : asi_fail_memory(error);
}

/// Builds the machine anew if its parameters have changed, and its integrator.
static as_status build(asi_exported *f, bool from_start, as_error *error) {
  as_status status = AS_OK;
  if (!is_built(f, from_start)) status = build_machine(f, error);
  if (status == AS_OK) status = find_signals(f, error);
  if (status == AS_OK) status = create_integrator(f, error);
  if (status) destroy_machine(f);
  return status;
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

as_status asi_exported_prepare(asi_exported *f, as_error *error) {
  const bool made = f->integrator && is_built(f, false) && same(f->made[0], f->tolerance) &&
                    same(f->made[1], f->start_time) && same(f->made[2], f->stop_time);
  return made ? AS_OK : build(f, false, error);
}

as_status asi_exported_ready(asi_exported *f, as_error *error) {
  if (!f->new_start && f->integrator && is_built(f, true)) return AS_OK;
  as_status status = build(f, true, error);
  if (status) return status;
  as_initial from = *as_model_initial(f->machine->model);
  const as_sizes n = as_problem_sizes(as_model_problem(f->machine->model));
  if (from.u && n.u > 0) memcpy(f->u, from.u, (size_t)n.u * sizeof(double));
  f->since = f->start_time;
  asi_exported_place_signals(f);
  from.u = f->u;
  from.t = f->start_time;
  status = as_integrator_start(f->integrator, &from, NULL, error);
  const as_state *state = as_integrator_state(f->integrator);
  if (status == AS_OK && f->channels) status = as_channels_follow(f->channels, state, error);
  if (status == AS_OK && f->watch) status = asi_watch_follow(f->watch, state, error);
  if (status) {
    if (f->watch) asi_watch_fail(f->watch, status, error);
    return status;
  }
  if (f->watch) asi_watch_commit(f->watch, NULL, NULL);
  f->t = f->start_time;
  f->steps = 0;
  f->new_start = f->new_signals = false;
  f->stale = true;
  return AS_OK;
}

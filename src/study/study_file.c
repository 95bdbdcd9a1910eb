/// Study files: keys by tables as in model files, values by the same reader.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/locale.h"
#include "file/reader.h"
#include "study/study.h"

struct as_study_file {
  asi_arena arena;
  as_study_def def;
  as_study_parameter *parameter;
  as_study_result *result;
  bool is_model;
};

// ---- keys -------------------------------------------------------------------------------------------

typedef struct random_thing {
  int runs;
  double seed;
} random_thing;

typedef struct root_thing {
  int version;
  const char *title, *description, *model;
  const asi_value *set, *parameters, *results;
  random_thing random;
  double interval;
} root_thing;

typedef struct spread_thing {
  double from, to, step;
  int count, scale;
  double uniform[2], normal[2];
} spread_thing;

typedef struct result_thing {
  const char *channel[AS_STUDY_LAST + 1];
  double from, to;
} result_thing;

#define AT(field) offsetof(random_thing, field)
static const asi_key random_keys[] = {
    {"runs", ASI_KEY_INTEGER, AT(runs), .required = true, .range = ASI_POSITIVE,
     .text = "how often random parameters are drawn"},
    {"seed", ASI_KEY_NUMBER, AT(seed), .range = ASI_NOT_NEGATIVE, .otherwise = "1",
     .text = "a whole number: others give other draws"},
};
#undef AT
static const asi_table random_table = {"random", NULL, random_keys, ASI_COUNT(random_keys)};

#define AT(field) offsetof(root_thing, field)
static const asi_key root_keys[] = {
    {"alphastep-study", ASI_KEY_INTEGER, AT(version), .required = true, .least = 1, .most = 1,
     .text = "version of the format: 1"},
    {"title", ASI_KEY_TEXT, AT(title), .text = "the study's name"},
    {"description", ASI_KEY_TEXT, AT(description), .text = "a few words about it"},
    {"model", ASI_KEY_TEXT, AT(model), .required = true, .text = "the model file"},
    {"set", ASI_KEY_PARAMETERS, AT(set), .text = "values that all runs have"},
    {"parameters", ASI_KEY_PARAMETERS, AT(parameters), .text = "values that differ"},
    {"random", ASI_KEY_OBJECT, AT(random), .table = &random_table, .text = "random draws"},
    {"results", ASI_KEY_PARAMETERS, AT(results), .required = true, .text = "what is kept of a run"},
    {"interval", ASI_KEY_NUMBER, AT(interval), .range = ASI_POSITIVE, .unit = "s",
     .otherwise = "that of the model file", .text = "between the rows that results are made of"},
};
#undef AT
static const asi_table root_table = {"study", NULL, root_keys, ASI_COUNT(root_keys)};

static const char *const scales[] = {"linear", "log", NULL};

#define AT(field) offsetof(spread_thing, field)
static const asi_key spread_keys[] = {
    {"from", ASI_KEY_NUMBER, AT(from), .required = true, .text = "first value"},
    {"to", ASI_KEY_NUMBER, AT(to), .with = "from", .required = true, .text = "last value"},
    {"count", ASI_KEY_INTEGER, AT(count), .with = "from", .required = true, .range = ASI_POSITIVE,
     .text = "how many"},
    {"step", ASI_KEY_NUMBER, AT(step), .instead_of = "count", .text = "from one to the next"},
    {"scale", ASI_KEY_CHOICE, AT(scale), .choices = scales, .with = "count", .otherwise = "linear",
     .text = "with equal differences, or equal ratios"},
    {"uniform", ASI_KEY_VECTOR, AT(uniform), .least = 2, .most = 2, .instead_of = "from",
     .text = "random: lower and upper bound"},
    {"normal", ASI_KEY_VECTOR, AT(normal), .least = 2, .most = 2, .instead_of = "from",
     .text = "random: mean and standard deviation"},
};
#undef AT
static const asi_table spread_table = {"spread", NULL, spread_keys, ASI_COUNT(spread_keys)};

#define AT(field) offsetof(result_thing, field)
static const asi_key result_keys[] = {
    {"max", ASI_KEY_TEXT, AT(channel[AS_STUDY_MAX]), .required = true, .text = "the largest value"},
    {"min", ASI_KEY_TEXT, AT(channel[AS_STUDY_MIN]), .instead_of = "max",
     .text = "the smallest value"},
    {"max_abs", ASI_KEY_TEXT, AT(channel[AS_STUDY_MAX_ABS]), .instead_of = "max",
     .text = "the largest absolute value"},
    {"rms", ASI_KEY_TEXT, AT(channel[AS_STUDY_RMS]), .instead_of = "max",
     .text = "root mean square over time"},
    {"mean", ASI_KEY_TEXT, AT(channel[AS_STUDY_MEAN]), .instead_of = "max",
     .text = "mean over time"},
    {"last", ASI_KEY_TEXT, AT(channel[AS_STUDY_LAST]), .instead_of = "max",
     .text = "the last value"},
    {"from", ASI_KEY_NUMBER, AT(from), .unit = "s", .text = "what is earlier does not count"},
    {"to", ASI_KEY_NUMBER, AT(to), .unit = "s", .text = "what is later does not count"},
};
#undef AT
static const asi_table result_table = {"result", NULL, result_keys, ASI_COUNT(result_keys)};

// ---- reading ----------------------------------------------------------------------------------------

static const char *keep(as_study_file *f, const char *text) {
  return text ? asi_arena_text(&f->arena, text, strlen(text)) : NULL;
}

/// The text of a scalar, which is YAML when it is set.
static const char *scalar(asi_reader *r, const asi_value *v) {
  if (v->type == ASI_NULL) return "null";
  if (v->type != ASI_LIST && v->type != ASI_MAP && v->text) return v->text;
  asi_complain(
      r, v, "must be a number or a text, not %s; in quotes it may be any YAML, such as \"[1, 2]\"",
      asi_value_what(v));
  return NULL;
}

static bool is_map(asi_reader *r, const asi_value *v, const char *what) {
  if (v->type == ASI_MAP) return true;
  asi_complain(r, v, "must be a mapping of %s, not %s", what, asi_value_what(v));
  return false;
}

/// `path: value`, or a list of `path=value`.
static void read_settings(asi_reader *r, as_study_file *f, const asi_value *v) {
  if (v == NULL) return;
  if (v->type != ASI_LIST && !is_map(r, v, "paths to values")) return;
  const char **all = asi_arena_take(&f->arena, ((size_t)v->count + 1) * sizeof *all);
  for (int i = 0; i < v->count && all; ++i) {
    const bool map = v->type == ASI_MAP;
    const asi_value *at = v->item[map ? 2 * i + 1 : i];
    const char *text = scalar(r, at), *path = map ? v->item[2 * i]->text : "";
    if (text == NULL) continue;
    if (!map && (strchr(text, '=') == NULL || text[0] == '='))
      asi_complain(r, at, "must be like `path.to.value=1.5`, not \"%.60s\"", text);
    const size_t size = strlen(path) + strlen(text) + 2;
    char *setting = asi_arena_take(&f->arena, size);
    if (setting == NULL) return;
    snprintf(setting, size, "%s%s%s", path, map ? "=" : "", text);
    all[f->def.n_settings++] = setting;
  }
  f->def.settings = all;
}

static void read_list(asi_reader *r, as_study_file *f, const asi_value *v,
                      as_study_parameter *out) {
  const char **list = asi_arena_take(&f->arena, ((size_t)v->count + 1) * sizeof *list);
  if (v->count == 0) asi_complain(r, v, "must have a value at least");
  for (int i = 0; i < v->count && list; ++i) {
    const char *text = scalar(r, v->item[i]);
    list[i] = text ? keep(f, text) : "";
  }
  *out = (as_study_parameter){.path = out->path, .list = list, .count = v->count};
}

static void read_spread(asi_reader *r, const asi_value *v, as_study_parameter *out) {
  const double nothing = (double)NAN;
  spread_thing x = {.from = nothing, .to = nothing, .step = nothing};
  asi_read_object(r, v, v, &spread_table, &x);
  if (asi_value_get(v, "uniform")) {
    out->spread = AS_STUDY_UNIFORM;
    x.from = x.uniform[0];
    x.to = x.uniform[1];
  } else if (asi_value_get(v, "normal")) {
    out->spread = AS_STUDY_NORMAL;
    out->mean = x.normal[0];
    out->deviation = x.normal[1];
  } else {
    out->spread = asi_value_get(v, "step") ? AS_STUDY_STEP : AS_STUDY_COUNT;
  }
  out->from = x.from;
  out->to = x.to;
  out->step = x.step;
  out->count = x.count;
  out->logarithmic = x.scale == 1;
}

static void read_parameters(asi_reader *r, as_study_file *f, const asi_value *v) {
  const asi_path outer = {"parameters", 0, NULL};
  if (v == NULL || !is_map(r, v, "paths to values")) return;
  f->parameter = asi_arena_take(&f->arena, ((size_t)v->count + 1) * sizeof *f->parameter);
  for (int i = 0; i < v->count && f->parameter; ++i) {
    const asi_value *at = v->item[2 * i + 1];
    as_study_parameter *p = &f->parameter[i];
    const asi_path path = {v->item[2 * i]->text, 0, &outer};
    r->path = &path;
    p->path = keep(f, v->item[2 * i]->text);
    if (at->type == ASI_LIST)
      read_list(r, f, at, p);
    else if (at->type == ASI_MAP)
      read_spread(r, at, p);
    else
      asi_complain(
          r, at,
          "must be a list of values, or a mapping such as {from: 1, to: 5, count: 5}, "
          "{uniform: [1, 5]} or {normal: [3, 0.5]}; one value for all runs is given by `set`");
    r->path = NULL;
  }
  f->def.parameters = f->parameter;
  f->def.n_parameters = v->count;
}

static void read_results(asi_reader *r, as_study_file *f, const asi_value *v) {
  const asi_path outer = {"results", 0, NULL};
  if (v == NULL || !is_map(r, v, "names to results")) return;
  f->result = asi_arena_take(&f->arena, ((size_t)v->count + 1) * sizeof *f->result);
  for (int i = 0; i < v->count && f->result; ++i) {
    const asi_value *at = v->item[2 * i + 1];
    result_thing x = {.from = (double)NAN, .to = (double)NAN};
    const asi_path path = {v->item[2 * i]->text, 0, &outer};
    r->path = &path;
    asi_read_object(r, at, v->item[2 * i], &result_table, &x);
    r->path = NULL;
    as_study_result *out = &f->result[i];
    *out = (as_study_result){
        .name = keep(f, v->item[2 * i]->text), .channel = "", .from = x.from, .to = x.to};
    for (int k = AS_STUDY_MAX; k <= AS_STUDY_LAST; ++k) {
      if (x.channel[k] == NULL) continue;
      out->measure = (as_study_measure)k;
      out->channel = keep(f, x.channel[k]);
    }
  }
  f->def.results = f->result;
  f->def.n_results = v->count;
}

/// A path as seen from the folder of the study file.
static const char *beside(as_study_file *f, const char *from, const char *path) {
  const char *slash = strrchr(from, '/');
  const int folder = slash && path[0] != '/' ? (int)(slash - from) + 1 : 0;
  const size_t size = (size_t)folder + strlen(path) + 1;
  char *out = asi_arena_take(&f->arena, size);
  if (out) snprintf(out, size, "%.*s%s", folder, from, path);
  return out;
}

static void read_study(asi_reader *r, as_study_file *f, const char *path, const asi_value *root) {
  root_thing x = {.random = {.seed = 1.0}, .interval = (double)NAN};
  asi_read_object(r, root, root, &root_table, &x);
  const asi_value *version = asi_value_get(root, "alphastep-study");
  const asi_value *random = asi_value_get(root, "random"), *seed = asi_value_get(random, "seed");
  if (version && version->type == ASI_NUMBER && x.version != 1)
    asi_complain(r, version, "this program reads version 1 of the format, not %d", x.version);
  if (seed && (x.random.seed != floor(x.random.seed) || x.random.seed > 0x1p53))
    asi_complain(r, seed, "must be a whole number up to 2^53");
  f->def.title = keep(f, x.title);
  f->def.model = x.model ? beside(f, path, x.model) : NULL;
  f->def.draws = x.random.runs;
  if (x.random.seed >= 0.0 && x.random.seed <= 0x1p53)
    f->def.seed = (unsigned long long)x.random.seed;
  f->def.interval = x.interval;
  read_settings(r, f, x.set);
  read_parameters(r, f, x.parameters);
  read_results(r, f, x.results);
}

/// Reads the text of a file into a tree.
static as_status open_tree(asi_reader *r, const char *path) {
  size_t size = 0;
  const char *why;
  const char *copy = asi_arena_text(r->arena, path, strlen(path));
  if (copy == NULL || asi_add_file(r, (asi_file){.path = copy}) < 0) return AS_ERR_MEMORY;
  char *text = asi_read_whole(r, &r->file[0], &size, &why);
  if (text == NULL) {
    asi_complain_file(r, 0, "the file cannot be read: %s", why);
    return r->no_memory ? AS_ERR_MEMORY : AS_ERR_FILE;
  }
  const char *kept = size <= ASI_MOST_BYTES ? asi_arena_text(r->arena, text, size) : NULL;
  if (size > ASI_MOST_BYTES)
    asi_complain_file(r, 0, "the file has more than %d MiB", ASI_MOST_BYTES >> 20);
  free(text);
  if (kept == NULL) return r->arena->failed ? AS_ERR_MEMORY : AS_ERR_ARGUMENT;
  r->file[0].text = kept;
  r->file[0].root = asi_value_parse(kept, size, 0, r->arena, asi_complain_fault, r);
  return r->arena->failed ? AS_ERR_MEMORY : r->wrong ? AS_ERR_ARGUMENT : AS_OK;
}

static as_status load(as_study_file *f, const char *path, as_messages *messages) {
  as_machine machine = {.n_files = 0}; // where the reader notes what it has read
  asi_reader r = {.messages = messages, .machine = &machine, .arena = &f->arena};
  as_status status = open_tree(&r, path);
  const asi_value *root = status == AS_OK ? r.file[0].root : NULL;
  f->is_model = asi_value_get(root, "alphastep") && !asi_value_get(root, "alphastep-study");
  if (f->is_model)
    f->def.model = keep(f, path);
  else if (root)
    read_study(&r, f, path, root);
  if (status == AS_OK && r.wrong) status = AS_ERR_ARGUMENT;
  if (status == AS_ERR_MEMORY || asi_out_of_memory(&r))
    status = asi_study_complain_memory(messages);
  asi_arena_free(&r.scratch);
  free(r.file);
  return status;
}

as_status as_study_file_load(const char *path, as_study_file **out, as_messages *messages) {
  *out = NULL;
  messages->n = 0;
  messages->more = false;
  asi_locale locale;
  const bool is_plain = asi_locale_set_plain(&locale);
  as_study_file *f = asi_calloc(1, sizeof *f);
  as_status status = AS_ERR_MEMORY;
  if (is_plain && f) {
    f->def = as_default_study_def();
    status = load(f, path, messages);
  } else {
    (void)asi_study_complain_memory(messages);
  }
  if (is_plain) asi_locale_restore(&locale);
  if (status == AS_OK)
    *out = f;
  else
    as_study_file_destroy(f);
  return status;
}

void as_study_file_destroy(as_study_file *f) {
  if (f == NULL) return;
  asi_arena_free(&f->arena);
  free(f);
}

as_study_def as_study_file_def(const as_study_file *f) { return f->def; }
bool as_study_file_is_model(const as_study_file *f) { return f->is_model; }

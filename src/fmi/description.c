/// Reads modelDescription.xml with expat, see description.h. A document type is refused, so there are no entities but XML's own.
#include "fmi/description.h"

#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/printable.h"

/// A type that is declared, for its unit.
typedef struct declared {
  char *name, *unit;
} declared;

typedef struct reading {
  asi_fmu_description *out;
  XML_Parser parser;
  char *why;
  int depth;
  char section[40]; ///< the element below the root that is read
  char entry[40];   ///< and the element below that
  declared *type;
  int n_types, room_types;
  char *type_name; ///< of the SimpleType that is read (FMI 2.0)
  bool failed;
} reading;

static void fail(reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(reading *r, const char *format, ...) {
  va_list arguments;
  if (r->failed) return;
  const int used = snprintf(r->why, ASI_FMU_WHY, "modelDescription.xml, line %lu: ",
                            (unsigned long)XML_GetCurrentLineNumber(r->parser));
  va_start(arguments, format);
  vsnprintf(r->why + used, ASI_FMU_WHY - (size_t)used, format, arguments);
  va_end(arguments);
  asi_make_printable(r->why);
  r->failed = true;
  (void)XML_StopParser(r->parser, XML_FALSE);
}

// ---- attributes -------------------------------------------------------------------------------------

static const char *get(const char **list, const char *name) {
  for (; list[0]; list += 2)
    if (strcmp(list[0], name) == 0) return list[1];
  return NULL;
}

char *asi_fmu_copy(const char *text) {
  char *out = malloc(strlen(text) + 1);
  return out ? strcpy(out, text) : NULL;
}

static char *keep(reading *r, const char *text) {
  char *out = text ? asi_fmu_copy(text) : NULL;
  if (text && out == NULL) fail(r, ASI_FMU_NO_MEMORY);
  return out;
}

static bool is_false(const char **list, const char *name) {
  const char *text = get(list, name);
  return text && (strcmp(text, "false") == 0 || strcmp(text, "0") == 0);
}

static bool is_true(const char **list, const char *name) {
  const char *text = get(list, name);
  return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

/// A whole number from 0 to most; `otherwise` if it is not given.
static uint32_t whole(reading *r, const char **list, const char *name, uint32_t most,
                      uint32_t otherwise) {
  const char *text = get(list, name);
  if (text == NULL) return otherwise;
  char *end;
  const unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end || text[0] == '-' || value > most) {
    fail(r, "%s=\"%.40s\" is no whole number from 0 to %lu", name, text, (unsigned long)most);
    return 0;
  }
  return (uint32_t)value;
}

/// One more in an array.
static bool grow(reading *r, void **list, int n, int *room, size_t size) {
  if (n < *room) return true;
  const int more = *room ? 2 * *room : 32;
  void *grown = realloc(*list, (size_t)more * size);
  if (grown == NULL) {
    fail(r, ASI_FMU_NO_MEMORY);
    return false;
  }
  *list = grown;
  *room = more;
  return true;
}

// ---- kinds ------------------------------------------------------------------------------------------

static void read_root(reading *r, const char **list) {
  asi_fmu_description *d = r->out;
  const char *version = get(list, "fmiVersion");
  if (version && strncmp(version, "2.", 2) == 0)
    d->version = 2;
  else if (version && strncmp(version, "3.", 2) == 0)
    d->version = 3;
  else if (version)
    fail(r, "it is of FMI %.20s: 2.0 and 3.0 are read", version);
  else
    fail(r, "it says no fmiVersion");
  if (r->failed) return;
  d->name = keep(r, get(list, "modelName"));
  const char *token = get(list, d->version == 2 ? "guid" : "instantiationToken");
  if (token == NULL) fail(r, "%s is missing", d->version == 2 ? "guid" : "instantiationToken");
  d->token = keep(r, token);
  if (d->version == 2) d->n_indicators = (int)whole(r, list, "numberOfEventIndicators", 100000, 0);
}

static void read_kind(reading *r, const char **list, asi_fmu_kind *out) {
  const bool two = r->out->version == 2;
  const char *identifier = get(list, "modelIdentifier");
  if (identifier == NULL || identifier[0] == '\0' || out->identifier) {
    fail(r, "modelIdentifier is missing, or there twice");
    return;
  }
  for (const char *c = identifier; *c; ++c)
    if (*c == '/' || *c == '\\' || strlen(identifier) > 200) {
      fail(r, "modelIdentifier=\"%.60s\" is no name of a file", identifier);
      return;
    }
  *out =
      (asi_fmu_kind){.identifier = keep(r, identifier),
                     .state = is_true(list, two ? "canGetAndSetFMUstate" : "canGetAndSetFMUState"),
                     .serial = is_true(list, two ? "canSerializeFMUstate" : "canSerializeFMUState"),
                     .derivatives = is_true(list, two ? "providesDirectionalDerivative"
                                                      : "providesDirectionalDerivatives"),
                     .once = is_true(list, "canBeInstantiatedOnlyOncePerProcess"),
                     .tool = is_true(list, "needsExecutionTool"),
                     .interpolates = is_true(list, "canInterpolateInputs"),
                     .any_step = is_true(list, "canHandleVariableCommunicationStepSize"),
                     .each_step = two ? !is_true(list, "completedIntegratorStepNotNeeded")
                                      : !is_false(list, "needsCompletedIntegratorStep")};
}

// ---- variables --------------------------------------------------------------------------------------

static bool find_type(int version, const char *name, asi_fmu_type *out) {
  static const struct {
    const char *name;
    asi_fmu_type type;
    int version;
  } types[] = {
      {"Real", ASI_FMU_FLOAT64, 2},      {"Integer", ASI_FMU_INT32, 2},
      {"Boolean", ASI_FMU_BOOLEAN, 2},   {"String", ASI_FMU_STRING, 2},
      {"Enumeration", ASI_FMU_INT32, 2}, {"Float32", ASI_FMU_FLOAT32, 3},
      {"Float64", ASI_FMU_FLOAT64, 3},   {"Int8", ASI_FMU_INT8, 3},
      {"UInt8", ASI_FMU_UINT8, 3},       {"Int16", ASI_FMU_INT16, 3},
      {"UInt16", ASI_FMU_UINT16, 3},     {"Int32", ASI_FMU_INT32, 3},
      {"UInt32", ASI_FMU_UINT32, 3},     {"Int64", ASI_FMU_INT64, 3},
      {"UInt64", ASI_FMU_UINT64, 3},     {"Boolean", ASI_FMU_BOOLEAN, 3},
      {"String", ASI_FMU_STRING, 3},     {"Binary", ASI_FMU_BINARY, 3},
      {"Clock", ASI_FMU_CLOCK, 3},       {"Enumeration", ASI_FMU_INT64, 3},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i)
    if (types[i].version == version && strcmp(types[i].name, name) == 0) {
      *out = types[i].type;
      return true;
    }
  return false;
}

static asi_fmu_causality read_causality(reading *r, const char **list) {
  static const char *const name[] = {
      "local", "parameter", "calculatedParameter", "structuralParameter",
      "input", "output",    "independent"};
  const char *text = get(list, "causality");
  for (int i = 0; text && i < 7; ++i)
    if (strcmp(text, name[i]) == 0) return (asi_fmu_causality)i;
  if (text) fail(r, "causality=\"%.40s\" is none", text);
  return ASI_FMU_LOCAL;
}

/// What both versions write at the variable itself.
static asi_fmu_variable *begin_variable(reading *r, const char **list) {
  asi_fmu_description *d = r->out;
  const char *name = get(list, "name"), *variability = get(list, "variability"),
             *initial = get(list, "initial");
  if (name == NULL || get(list, "valueReference") == NULL) {
    fail(r, "a variable without name or valueReference");
    return NULL;
  }
  if (d->n_variables >= ASI_FMU_VARIABLES) {
    fail(r, "more than %d variables", ASI_FMU_VARIABLES);
    return NULL;
  }
  void *array = d->variable;
  if (!grow(r, &array, d->n_variables, &d->room_variables, sizeof *d->variable)) return NULL;
  d->variable = array;
  asi_fmu_variable *v = &d->variable[d->n_variables++];
  *v = (asi_fmu_variable){.name = keep(r, name),
                          .reference = whole(r, list, "valueReference", UINT32_MAX, 0),
                          .causality = read_causality(r, list),
                          .discrete = variability && strcmp(variability, "discrete") == 0,
                          .constant = variability && strcmp(variability, "constant") == 0,
                          .calculated = initial && strcmp(initial, "calculated") == 0,
                          .n = 1};
  return v;
}

/// What FMI 2.0 writes in the element of the type, and 3.0 at the variable.
static void finish_variable(reading *r, asi_fmu_variable *v, asi_fmu_type type, const char **list) {
  v->type = type;
  v->unit = keep(r, get(list, "unit"));
  v->declared = keep(r, get(list, "declaredType"));
  v->is_derivative = get(list, "derivative") != NULL;
  v->derivative = whole(r, list, "derivative", UINT32_MAX, 0);
  if (!asi_fmu_is_real(type)) v->discrete = true;
  const char *start = get(list, "start");
  double number = (double)NAN;
  if (start && asi_scan_number(start, &number) == strlen(start) && number >= 1.0 &&
      number <= ASI_FMU_ELEMENTS)
    v->first_size = (int)number;
}

static void read_dimension(reading *r, const char **list) {
  asi_fmu_description *d = r->out;
  asi_fmu_variable *v = d->n_variables ? &d->variable[d->n_variables - 1] : NULL;
  if (v == NULL) return;
  if (v->n_dimensions >= ASI_FMU_DIMENSIONS) {
    fail(r, "the variable \"%.60s\" has more than %d dimensions", v->name, ASI_FMU_DIMENSIONS);
    return;
  }
  const uint32_t size = whole(r, list, "start", ASI_FMU_ELEMENTS, 0);
  if (size == 0 && get(list, "valueReference") == NULL)
    fail(r, "a dimension of the variable \"%.60s\" is empty", v->name);
  v->dimension[v->n_dimensions].size = (int)size;
  v->dimension[v->n_dimensions++].reference = whole(r, list, "valueReference", UINT32_MAX, 0);
}

static void read_variable(reading *r, const char *name, const char **list) {
  asi_fmu_type type = ASI_FMU_FLOAT64;
  const bool two = r->out->version == 2;
  if (r->depth == 2) {
    if (two ? strcmp(name, "ScalarVariable") != 0 : !find_type(3, name, &type)) {
      fail(r, "\"%.40s\" is no variable", name);
      return;
    }
    asi_fmu_variable *v = begin_variable(r, list);
    if (v && !two) finish_variable(r, v, type, list);
  } else if (r->depth == 3 && two && find_type(2, name, &type)) {
    finish_variable(r, &r->out->variable[r->out->n_variables - 1], type, list);
  } else if (r->depth == 3 && !two && strcmp(name, "Dimension") == 0) {
    read_dimension(r, list);
  }
}

// ---- types and structure ----------------------------------------------------------------------------

static void add_type(reading *r, const char *name, const char *unit) {
  if (name == NULL || unit == NULL) return;
  void *array = r->type;
  if (!grow(r, &array, r->n_types, &r->room_types, sizeof *r->type)) return;
  r->type = array;
  r->type[r->n_types++] = (declared){keep(r, name), keep(r, unit)};
}

static void read_type(reading *r, const char **list) {
  if (r->out->version == 3 && r->depth == 2) add_type(r, get(list, "name"), get(list, "unit"));
  if (r->out->version == 2 && r->depth == 2) {
    free(r->type_name);
    r->type_name = keep(r, get(list, "name"));
  }
  if (r->out->version == 2 && r->depth == 3) add_type(r, r->type_name, get(list, "unit"));
}

static void read_structure(reading *r, const char *name, const char **list) {
  asi_fmu_description *d = r->out;
  const bool two = d->version == 2;
  const bool rate = two ? r->depth == 3 && strcmp(r->entry, "Derivatives") == 0
                        : r->depth == 2 && strcmp(name, "ContinuousStateDerivative") == 0;
  if (!two && r->depth == 2 && strcmp(name, "EventIndicator") == 0) ++d->n_indicators;
  if (!rate) return;
  if (get(list, two ? "index" : "valueReference") == NULL) {
    fail(r, "a derivative of a state is not named");
    return;
  }
  void *array = d->rate;
  if (!grow(r, &array, d->n_rates, &d->room_rates, sizeof *d->rate)) return;
  d->rate = array;
  d->rate[d->n_rates++] = whole(r, list, two ? "index" : "valueReference", UINT32_MAX, 0);
}

static void read_experiment(reading *r, const char **list) {
  const char *text = get(list, "stepSize");
  double number;
  if (text && asi_scan_number(text, &number) == strlen(text) && number > 0.0 && isfinite(number))
    r->out->step = number;
}

// ---- elements ---------------------------------------------------------------------------------------

static void begin(void *user, const char *name, const char **list) {
  reading *r = user;
  if (r->failed) return;
  if (r->depth >= ASI_FMU_DEPTH) {
    fail(r, "elements more than %d deep", ASI_FMU_DEPTH);
    return;
  }
  if (r->depth == 0) {
    if (strcmp(name, "fmiModelDescription") != 0)
      fail(r, "the root is \"%.40s\", not fmiModelDescription", name);
    else
      read_root(r, list);
  } else if (r->depth == 1) {
    snprintf(r->section, sizeof r->section, "%s", name);
    if (strcmp(name, "ModelExchange") == 0) read_kind(r, list, &r->out->exchange);
    if (strcmp(name, "CoSimulation") == 0) read_kind(r, list, &r->out->simulation);
    if (strcmp(name, "DefaultExperiment") == 0) read_experiment(r, list);
  } else {
    if (r->depth == 2) snprintf(r->entry, sizeof r->entry, "%s", name);
    if (strcmp(r->section, "ModelVariables") == 0) read_variable(r, name, list);
    if (strcmp(r->section, "TypeDefinitions") == 0) read_type(r, list);
    if (strcmp(r->section, "ModelStructure") == 0) read_structure(r, name, list);
  }
  ++r->depth;
}

static void end(void *user, const char *name) {
  (void)name;
  --((reading *)user)->depth;
}

static void refuse_type(void *user, const char *name, const char *system, const char *public_id,
                        int internal) {
  (void)name, (void)system, (void)public_id, (void)internal;
  fail(user, "a document type (DOCTYPE), which no FMU needs and which is refused");
}

// ---- what it all means ------------------------------------------------------------------------------

/// Units of declared types, and how many elements arrays have.
static void complete(reading *r) {
  asi_fmu_description *d = r->out;
  for (int i = 0; i < d->n_variables && !r->failed; ++i) {
    asi_fmu_variable *v = &d->variable[i];
    for (int k = 0; v->declared && v->unit == NULL && k < r->n_types; ++k)
      if (strcmp(r->type[k].name, v->declared) == 0) v->unit = keep(r, r->type[k].unit);
    for (int k = 0; k < v->n_dimensions; ++k) {
      int size = v->dimension[k].size;
      const int s = size ? -1 : asi_fmu_find_reference(d, v->dimension[k].reference);
      if (s >= 0) size = d->variable[s].first_size;
      if (size < 1 || v->n > ASI_FMU_ELEMENTS / size) {
        fail(r, "the array \"%.60s\" has a size that is not known, or more than %d elements",
             v->name, ASI_FMU_ELEMENTS);
        return;
      }
      v->dimension[k].size = size;
      v->n *= size;
    }
  }
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_names(reading *r) {
  const asi_fmu_description *d = r->out;
  char **name = malloc(((size_t)d->n_variables + 1) * sizeof *name);
  if (name == NULL) {
    fail(r, ASI_FMU_NO_MEMORY);
    return;
  }
  for (int i = 0; i < d->n_variables; ++i) name[i] = d->variable[i].name;
  qsort(name, (size_t)d->n_variables, sizeof *name, compare_names);
  for (int i = 1; i < d->n_variables && !r->failed; ++i)
    if (strcmp(name[i - 1], name[i]) == 0)
      fail(r, "two variables have the name \"%.80s\"", name[i]);
  free(name);
}

static void check(reading *r) {
  const asi_fmu_description *d = r->out;
  if (d->exchange.identifier == NULL && d->simulation.identifier == NULL)
    fail(r, "it is neither for model exchange nor for co-simulation (scheduled execution is not "
            "offered)");
  for (int i = 0; i < d->n_rates && !r->failed; ++i) {
    const uint32_t k = d->rate[i];
    const int at = d->version == 2 ? (k >= 1 && k <= (uint32_t)d->n_variables ? (int)k - 1 : -1)
                                   : asi_fmu_find_reference(d, k);
    const asi_fmu_variable *v = at >= 0 ? &d->variable[at] : NULL;
    const int state = v == NULL || !v->is_derivative ? -1
                      : d->version == 3              ? asi_fmu_find_reference(d, v->derivative)
                      : v->derivative >= 1 && v->derivative <= (uint32_t)d->n_variables
                          ? (int)v->derivative - 1
                          : -1;
    if (v == NULL)
      fail(r, "the derivative %lu of its structure is no variable", (unsigned long)k);
    else if (state < 0 || v->type != ASI_FMU_FLOAT64 ||
             d->variable[state].type != ASI_FMU_FLOAT64 || d->variable[state].n != v->n)
      fail(r,
           "the variable \"%.60s\" is listed as derivative of a state, but of none that there is",
           v->name);
  }
  if (!r->failed) check_names(r);
}

bool asi_fmu_description_read(asi_fmu_description *d, const char *text, size_t size,
                              char why[ASI_FMU_WHY]) {
  *d = (asi_fmu_description){.step = (double)NAN};
  reading r = {.out = d, .why = why, .parser = XML_ParserCreate(NULL)};
  if (r.parser == NULL || size > INT_MAX) {
    snprintf(why, ASI_FMU_WHY, "modelDescription.xml is too large, or " ASI_FMU_NO_MEMORY);
    if (r.parser) XML_ParserFree(r.parser);
    return false;
  }
  XML_SetUserData(r.parser, &r);
  XML_SetElementHandler(r.parser, begin, end);
  XML_SetStartDoctypeDeclHandler(r.parser, refuse_type);
  if (XML_Parse(r.parser, text, (int)size, 1) == XML_STATUS_ERROR && !r.failed)
    fail(&r, "%s", XML_ErrorString(XML_GetErrorCode(r.parser)));
  if (!r.failed) complete(&r);
  if (!r.failed) check(&r);
  XML_ParserFree(r.parser);
  for (int i = 0; i < r.n_types; ++i) {
    free(r.type[i].name);
    free(r.type[i].unit);
  }
  free(r.type);
  free(r.type_name);
  if (r.failed) asi_fmu_description_free(d);
  return !r.failed;
}

static void free_kind(asi_fmu_kind *kind) { free(kind->identifier); }

void asi_fmu_description_free(asi_fmu_description *d) {
  for (int i = 0; i < d->n_variables; ++i) {
    free(d->variable[i].name);
    free(d->variable[i].unit);
    free(d->variable[i].declared);
  }
  free(d->variable);
  free(d->rate);
  free(d->name);
  free(d->token);
  free_kind(&d->exchange);
  free_kind(&d->simulation);
  *d = (asi_fmu_description){.step = (double)NAN};
}

int asi_fmu_find(const asi_fmu_description *d, const char *name) {
  for (int i = 0; i < d->n_variables; ++i)
    if (strcmp(d->variable[i].name, name) == 0) return i;
  return -1;
}

int asi_fmu_find_reference(const asi_fmu_description *d, uint32_t reference) {
  for (int i = 0; i < d->n_variables; ++i)
    if (d->variable[i].reference == reference) return i;
  return -1;
}

/// The values of parameters in each run: a grid, and random draws at each of its points.
///
/// Run number i is draw i mod D at point i/D of the grid, whose last parameter varies fastest. A draw is a function of the seed, the
/// parameter's path and the number of the draw, so neither the order of runs, nor other parameters, nor how many draws there are change it:
///
/// [SD.3] u_j = (floor(s(seed, path, 2 k + j)/2^11) + 1/2) 2^-53, in (0, 1), for draw k and j = 0, 1
/// [SD.4] uniform: from + u_0 (to - from);  normal: mean + deviation sqrt(-2 ln u_0) cos(2 pi u_1)
///
/// s is three rounds of splitmix64 (Steele, Lea and Flood 2014), the second by Box and Muller.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/decimal.h"
#include "study/study.h"

static const double two_pi = 6.28318530717958647692;
static const double ROUND_OFF =
    1e-9; // of a step: a range that ends there by round-off has its last value

static bool is_random(const as_study_parameter *p) {
  return p->spread == AS_STUDY_UNIFORM || p->spread == AS_STUDY_NORMAL;
}

// ---- random numbers ---------------------------------------------------------------------------------

static uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static double random_number(const as_study *s, const as_study_parameter *p, long draw) {
  const uint64_t name = asi_checksum((const unsigned char *)p->path, strlen(p->path));
  const uint64_t key = scramble(scramble(s->def.seed) ^ name);
  double u[2];
  for (int j = 0; j < 2; ++j) // [SD.3]
    u[j] = ((double)(scramble(key ^ (2 * (uint64_t)draw + (uint64_t)j)) >> 11) + 0.5) * 0x1p-53;
  if (p->spread == AS_STUDY_UNIFORM) return p->from + u[0] * (p->to - p->from); // [SD.4]
  return p->mean + p->deviation * sqrt(-2.0 * log(u[0])) * cos(two_pi * u[1]);
}

// ---- values -----------------------------------------------------------------------------------------

static double value_in_range(const as_study_parameter *p, long i) {
  if (p->spread == AS_STUDY_STEP) return p->from + (double)i * p->step;
  if (i == 0) return p->from;
  if (i == p->count - 1) return p->to;
  const double share = (double)i / (double)(p->count - 1);
  return p->logarithmic ? p->from * pow(p->to / p->from, share)
                        : p->from + share * (p->to - p->from);
}

/// Which value of its own a parameter has in a run.
static long place_of(const as_study *s, long run, int parameter) {
  return run / s->stride[parameter] % s->count[parameter];
}

static double number_of(const as_study *s, long run, int parameter) {
  const as_study_parameter *p = &s->def.parameters[parameter];
  if (is_random(p)) return random_number(s, p, run % s->def.draws);
  return value_in_range(p, place_of(s, run, parameter));
}

int as_study_setting(const as_study *s, long run, int parameter, char *text, size_t size) {
  const as_study_parameter *p = &s->def.parameters[parameter];
  if (p->spread == AS_STUDY_LIST)
    return snprintf(text, size, "%s", p->list[place_of(s, run, parameter)]);
  char number[ASI_DECIMAL + 1];
  number[asi_decimal(number, number_of(s, run, parameter))] = '\0';
  return snprintf(text, size, "%s", number);
}

double as_study_number(const as_study *s, long run, int parameter) {
  const as_study_parameter *p = &s->def.parameters[parameter];
  return p->spread == AS_STUDY_LIST ? s->number[parameter][place_of(s, run, parameter)]
                                    : number_of(s, run, parameter);
}

long as_study_values(const as_study *s, int parameter) { return s->count[parameter]; }

const char *const *asi_study_settings(const as_study *s, long run, asi_arena *arena) {
  const int fixed = s->def.n_settings, n = s->def.n_parameters;
  const char **all = asi_arena_take(arena, (size_t)(fixed + n + 1) * sizeof *all);
  for (int i = 0; i < fixed && all; ++i) all[i] = s->def.settings[i];
  for (int i = 0; i < n && all; ++i) {
    const char *path = s->def.parameters[i].path;
    char begin[1];
    const int value = as_study_setting(s, run, i, begin, sizeof begin);
    const size_t size = strlen(path) + (size_t)value + 2;
    char *text = asi_arena_take(arena, size);
    if (text == NULL) return NULL;
    const int used = snprintf(text, size, "%s=", path);
    (void)as_study_setting(s, run, i, text + used, size - (size_t)used);
    all[fixed + i] = text;
  }
  return all;
}

// ---- how many ---------------------------------------------------------------------------------------

/// What is wrong with a range or a distribution; NULL: nothing.
static const char *find_fault(const as_study_parameter *p) {
  const bool ends = isfinite(p->from) && isfinite(p->to);
  switch (p->spread) {
  case AS_STUDY_LIST: return p->count > 0 ? NULL : "the list has no values";
  case AS_STUDY_COUNT:
    if (!ends) return "its ends must be finite numbers";
    if (p->count < 1 || (p->count == 1 && p->from != p->to))
      return "from one end to the other there are two values at least";
    if (p->logarithmic && !(p->from * p->to > 0.0))
      return "on a logarithmic scale both ends must be positive, or both negative";
    return NULL;
  case AS_STUDY_STEP:
    return ends && (p->to - p->from) / p->step >= 0.0 && isfinite((p->to - p->from) / p->step)
               ? NULL
               : "its steps do not lead from one end to the other";
  case AS_STUDY_UNIFORM:
    return ends && p->from < p->to ? NULL : "the lower bound must be below the upper one";
  case AS_STUDY_NORMAL:
    return isfinite(p->mean) && p->deviation > 0.0 && isfinite(p->deviation)
               ? NULL
               : "the standard deviation must be positive";
  }
  return "its kind is unknown";
}

static double values_of(const as_study_parameter *p) {
  if (p->spread == AS_STUDY_STEP) return floor((p->to - p->from) / p->step + ROUND_OFF) + 1.0;
  return is_random(p) ? 1.0 : (double)p->count;
}

as_status asi_study_count_values(as_study *s, as_messages *messages) {
  double runs = 1.0;
  bool random = false;
  for (int i = 0; i < s->def.n_parameters; ++i) {
    const as_study_parameter *p = &s->def.parameters[i];
    const char *fault = find_fault(p);
    if (fault) return asi_study_complain(messages, p->path, "%s", fault);
    random = random || is_random(p);
    runs *= values_of(p);
  }
  if (random && s->def.draws < 1)
    return asi_study_complain(
        messages, s->def.model,
        "parameters are random, but how often they are to be drawn is not said");
  if (!random && s->def.draws > 0)
    return asi_study_complain(messages, s->def.model, "%d draws, but no parameter is random",
                              s->def.draws);
  runs *= random ? s->def.draws : 1;
  if (runs > AS_STUDY_RUNS)
    return asi_study_complain(messages, s->def.model, "%.0f runs are more than %d", runs,
                              AS_STUDY_RUNS);
  s->runs = (long)runs;
  long stride = random ? s->def.draws : 1;
  for (int i = s->def.n_parameters; i-- > 0;) {
    const as_study_parameter *p = &s->def.parameters[i];
    s->count[i] = is_random(p) ? 0 : (long)values_of(p);
    s->stride[i] = stride;
    if (!is_random(p)) stride *= s->count[i];
  }
  return AS_OK;
}

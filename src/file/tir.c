/// Reads .tir files: lines `KEY = VALUE` in sections, comments behind $ and !, tables below {...} lines, which are passed over. Nothing is
/// kept of a text but the numbers of the tyre: memory does not grow with it.
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/tyre_file.h"
#include "base/error.h"
#include "base/file.h"
#include "file/fe_text.h"

enum { MOST_BYTES = 1 << 20, LONGEST_KEY = 40 };

/// What a number is measured in: exponents of length, force and time.
typedef enum unit { PURE, LENGTH, FORCE, STIFFNESS, DAMPING, SPEED } unit;
/// Which values a key may have.
typedef enum demand { ANY, POSITIVE, NOT_NEGATIVE, NOT_ZERO } demand;

typedef struct key {
  const char *name;
  size_t offset;
  unit unit;
  demand demand;
  bool required;
} key;

#define AT(name) #name, offsetof(as_tyre, name)
#define PLAIN(name)                                                                                \
  { AT(name), PURE, ANY, false }
#define SCALE(name)                                                                                \
  { AT(name), PURE, NOT_ZERO, false }
#define CORE(name)                                                                                 \
  { AT(name), PURE, NOT_ZERO, true }
static const key keys[] = {{AT(UNLOADED_RADIUS), LENGTH, POSITIVE, true},
                           {AT(VERTICAL_STIFFNESS), STIFFNESS, POSITIVE, true},
                           {AT(VERTICAL_DAMPING), DAMPING, NOT_NEGATIVE, false},
                           {AT(FNOMIN), FORCE, POSITIVE, true},
                           {AT(FZMAX), FORCE, POSITIVE, false},
                           {AT(LONGVL), SPEED, POSITIVE, false},
                           {AT(VXLOW), SPEED, POSITIVE, false},
                           {AT(LFZO), PURE, POSITIVE, false},
                           PLAIN(BREFF),
                           PLAIN(DREFF),
                           PLAIN(FREFF),
                           SCALE(LCX),
                           SCALE(LMUX),
                           PLAIN(LEX),
                           SCALE(LKX),
                           PLAIN(LHX),
                           PLAIN(LVX),
                           PLAIN(LGAX),
                           SCALE(LCY),
                           SCALE(LMUY),
                           PLAIN(LEY),
                           SCALE(LKY),
                           PLAIN(LHY),
                           PLAIN(LVY),
                           PLAIN(LGAY),
                           PLAIN(LTR),
                           PLAIN(LRES),
                           PLAIN(LGAZ),
                           PLAIN(LXAL),
                           PLAIN(LYKA),
                           PLAIN(LVYKA),
                           PLAIN(LS),
                           PLAIN(LSGKP),
                           PLAIN(LSGAL),
                           PLAIN(LMX),
                           PLAIN(LVMX),
                           PLAIN(LMY),
                           CORE(PCX1),
                           CORE(PDX1),
                           PLAIN(PDX2),
                           PLAIN(PDX3),
                           PLAIN(PEX1),
                           PLAIN(PEX2),
                           PLAIN(PEX3),
                           PLAIN(PEX4),
                           CORE(PKX1),
                           PLAIN(PKX2),
                           PLAIN(PKX3),
                           PLAIN(PHX1),
                           PLAIN(PHX2),
                           PLAIN(PVX1),
                           PLAIN(PVX2),
                           PLAIN(RBX1),
                           PLAIN(RBX2),
                           PLAIN(RCX1),
                           PLAIN(REX1),
                           PLAIN(REX2),
                           PLAIN(RHX1),
                           PLAIN(PTX1),
                           PLAIN(PTX2),
                           PLAIN(PTX3),
                           PLAIN(QSX1),
                           PLAIN(QSX2),
                           PLAIN(QSX3),
                           CORE(PCY1),
                           CORE(PDY1),
                           PLAIN(PDY2),
                           PLAIN(PDY3),
                           PLAIN(PEY1),
                           PLAIN(PEY2),
                           PLAIN(PEY3),
                           PLAIN(PEY4),
                           CORE(PKY1),
                           CORE(PKY2),
                           PLAIN(PKY3),
                           PLAIN(PHY1),
                           PLAIN(PHY2),
                           PLAIN(PHY3),
                           PLAIN(PVY1),
                           PLAIN(PVY2),
                           PLAIN(PVY3),
                           PLAIN(PVY4),
                           PLAIN(RBY1),
                           PLAIN(RBY2),
                           PLAIN(RBY3),
                           PLAIN(RCY1),
                           PLAIN(REY1),
                           PLAIN(REY2),
                           PLAIN(RHY1),
                           PLAIN(RHY2),
                           PLAIN(RVY1),
                           PLAIN(RVY2),
                           PLAIN(RVY3),
                           PLAIN(RVY4),
                           PLAIN(RVY5),
                           PLAIN(RVY6),
                           PLAIN(PTY1),
                           SCALE(PTY2),
                           PLAIN(QSY1),
                           PLAIN(QSY2),
                           PLAIN(QSY3),
                           PLAIN(QSY4),
                           PLAIN(QBZ1),
                           PLAIN(QBZ2),
                           PLAIN(QBZ3),
                           PLAIN(QBZ4),
                           PLAIN(QBZ5),
                           PLAIN(QBZ9),
                           PLAIN(QBZ10),
                           PLAIN(QCZ1),
                           PLAIN(QDZ1),
                           PLAIN(QDZ2),
                           PLAIN(QDZ3),
                           PLAIN(QDZ4),
                           PLAIN(QDZ6),
                           PLAIN(QDZ7),
                           PLAIN(QDZ8),
                           PLAIN(QDZ9),
                           PLAIN(QEZ1),
                           PLAIN(QEZ2),
                           PLAIN(QEZ3),
                           PLAIN(QEZ4),
                           PLAIN(QEZ5),
                           PLAIN(QHZ1),
                           PLAIN(QHZ2),
                           PLAIN(QHZ3),
                           PLAIN(QHZ4),
                           PLAIN(SSZ1),
                           PLAIN(SSZ2),
                           PLAIN(SSZ3),
                           PLAIN(SSZ4)};
#undef AT
enum { KEYS = sizeof keys / sizeof keys[0] };

/// Keys of such files that are not computed with: passed over without a word. A * at the end stands for any characters.
static const char *const passed_over[] = {"FILE_TYPE",
                                          "FILE_VERSION",
                                          "FILE_FORMAT",
                                          "COMMENT*",
                                          "N_TIRE_STATES",
                                          "TYPE",
                                          "TIRE_VERSION",
                                          "USER_SUB_ID",
                                          "FUNCTION_NAME",
                                          "PLUS",
                                          "MFSAFE*",
                                          "ROAD_*",
                                          "TURNSLIP",
                                          "ISWITCH",
                                          "VERSION",
                                          "MODEL",
                                          "DATE",
                                          "USER",
                                          "WIDTH",
                                          "ASPECT_RATIO",
                                          "RIM_*",
                                          "NOMWIDTH",
                                          "SECTION_WIDTH",
                                          "MASS*",
                                          "MOMENT*",
                                          "INERTIA*",
                                          "IXX",
                                          "IYY",
                                          "BELT_*",
                                          "BOTTOM*",
                                          "GRAVITY",
                                          "TIRE_*",
                                          "TYRE_*",
                                          "LONGITUDINAL_*",
                                          "LATERAL_*",
                                          "YAW_*",
                                          "PITCH_*",
                                          "ROLL_*",
                                          "VERT*",
                                          "Q_*",
                                          "QV*",
                                          "QFZ*",
                                          "QFC*",
                                          "PFZ*",
                                          "PCF*",
                                          "IP",
                                          "IP_NOM",
                                          "INFLPRES",
                                          "NOMPRES",
                                          "PRES*",
                                          "KPUMIN",
                                          "KPUMAX",
                                          "ALPMIN",
                                          "ALPMAX",
                                          "CAMMIN",
                                          "CAMMAX",
                                          "FZMIN",
                                          "VXMIN",
                                          "VXMAX",
                                          "LOADMIN",
                                          "LOADMAX",
                                          "LONG_SLIP_RANGE",
                                          "SLIP_ANGLE_RANGE",
                                          "INCLINATION_ANGLE_RANGE",
                                          "VERTICAL_FORCE_RANGE",
                                          "ENV_*",
                                          "ELLIPS_*",
                                          "LEADLAG*",
                                          "LEADCAM*",
                                          "HYSTERESIS*",
                                          "N_*",
                                          "DISCR*",
                                          "LMV*",
                                          "LCZ",
                                          "LKYC",
                                          "LKZC",
                                          "LMP*",
                                          "LGYR",
                                          "LKC",
                                          "LHYK",
                                          "LIP",
                                          "LMUV",
                                          "PDXP*",
                                          "PKYP*",
                                          "PDYP*",
                                          "PHYP*",
                                          "PECP*",
                                          "QDTP*",
                                          "QCRP*",
                                          "QBRP*",
                                          "QDRP*",
                                          "PTX*",
                                          "PTY*",
                                          "PKX*",
                                          "PKY*",
                                          "PEY*",
                                          "PHY*",
                                          "PVY*",
                                          "PDX*",
                                          "PDY*",
                                          "QBZ*",
                                          "QDZ*",
                                          "QEZ*",
                                          "QHZ*",
                                          "QSX*",
                                          "QSY*",
                                          "QTZ*",
                                          "MBELT",
                                          "MC_*",
                                          "MF*",
                                          "EP*",
                                          "AY*",
                                          "REX*",
                                          "RBX*",
                                          "RCX*",
                                          "RBY*",
                                          "RVY*",
                                          "SSZ*",
                                          "PA1",
                                          "PA2",
                                          "PMX*",
                                          "QIC*",
                                          "QI*",
                                          "QC*"};
/// Pressure, which is not computed with: told of where it would matter.
static const char *const pressure[] = {"PPX*", "PPY*", "PPZ*", "QPZ*", "PPMX*"};

/// A text that is read, and where the result goes.
typedef struct reading {
  asi_fe_text text;
  as_tyre *tyre;
  as_tyre_warning_fn *warn;
  void *user;
  bool units;           ///< in [UNITS]
  bool table;           ///< below {...}
  double length, force; ///< units
  bool seen[KEYS];
  bool seen_units[5], seen_mode, seen_side, seen_format, seen_type;
  bool format;    ///< it is one that is known
  char named[40]; ///< one that is not
} reading;

static as_status warn(const reading *r, const char *sentence, asi_fe_word name) {
  char text[400];
  if (r->warn == NULL) return AS_OK;
  int n = snprintf(text, sizeof text, "%.200s:%d: ", r->text.name, r->text.number);
  snprintf(text + n, sizeof text - (size_t)n, sentence, asi_fe_shown(name), name.at);
  for (char *c = text; *c; ++c)
    if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) *c = '?';
  r->warn(text, r->user);
  return AS_OK;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static asi_fe_word trim(const char *from, const char *to) {
  while (from < to && is_blank(*from)) ++from;
  while (to > from && is_blank(to[-1])) --to;
  return (asi_fe_word){from, (size_t)(to - from)};
}

/// The line without its comment, which begins outside of quotes.
static asi_fe_word without_comment(const asi_fe_text *t) {
  char quote = 0;
  const char *c = t->line;
  for (; c < t->line_end; ++c) {
    if (quote == 0 && (*c == '$' || *c == '!')) break;
    if (*c == '\'' || *c == '"') quote = quote == 0 ? *c : quote == *c ? 0 : quote;
  }
  return trim(t->line, c);
}

static asi_fe_word unquoted(asi_fe_word w) {
  if (w.n >= 2 && (w.at[0] == '\'' || w.at[0] == '"') && w.at[w.n - 1] == w.at[0])
    return trim(w.at + 1, w.at + w.n - 1);
  return w;
}

/// Whether a key is a pattern's, whatever its capitals.
static bool matches(const char *pattern, asi_fe_word w) {
  size_t i = 0;
  for (; pattern[i]; ++i) {
    if (pattern[i] == '*') return true;
    if (i >= w.n || toupper((unsigned char)w.at[i]) != pattern[i]) return false;
  }
  return i == w.n;
}

static bool in_list(const char *const *list, size_t n, asi_fe_word w) {
  for (size_t i = 0; i < n; ++i)
    if (matches(list[i], w)) return true;
  return false;
}

static as_status twice(const reading *r, asi_fe_word name) {
  return asi_fe_refuse(&r->text, "%.*s is given twice.", asi_fe_shown(name), name.at);
}

// ---- units ------------------------------------------------------------------------------------------

static as_status read_unit(reading *r, asi_fe_word name, asi_fe_word value) {
  static const char *const quantity[5] = {"LENGTH", "FORCE", "ANGLE", "MASS", "TIME"};
  static const struct {
    const char *name;
    double size;
  } known[5][5] = {{{"meter", 1.0}, {"mm", 1e-3}},
                   {{"newton", 1.0}, {"kn", 1e3}},
                   {{"radian", 1.0}, {"radians", 1.0}, {"degree", 1.0}, {"degrees", 1.0}},
                   {{"kg", 1.0}},
                   {{"second", 1.0}}};
  static const char *const all[5] = {"meter, mm", "newton, kN", "radian, degree", "kg", "second"};
  for (int q = 0; q < 5; ++q) {
    if (!asi_fe_is(name, quantity[q])) continue;
    if (r->seen_units[q]) return twice(r, name);
    r->seen_units[q] = true;
    for (int i = 0; i < 5 && known[q][i].name; ++i)
      if (asi_fe_is(value, known[q][i].name)) {
        if (q == 0) r->length = known[q][i].size;
        if (q == 1) r->force = known[q][i].size;
        return AS_OK;
      }
    return asi_fe_refuse(&r->text, "the unit \"%.*s\" of %s is not known; there are: %s.",
                         asi_fe_shown(value), value.at, quantity[q], all[q]);
  }
  return warn(r, "the unit of %.*s is passed over.", name);
}

/// Numbers come as they are written; their units may stand behind them.
static double size_of(const reading *r, unit u) {
  switch (u) {
  case LENGTH:
  case SPEED: return r->length;
  case FORCE: return r->force;
  case STIFFNESS:
  case DAMPING: return r->force / r->length;
  case PURE: break;
  }
  return 1.0;
}

// ---- keys -------------------------------------------------------------------------------------------

static const char *what_is_wrong(demand d, double x) {
  if (d == POSITIVE && !(x > 0.0)) return "must be positive";
  if (d == NOT_NEGATIVE && !(x >= 0.0)) return "must not be negative";
  if (d == NOT_ZERO && x == 0.0) return "must not be zero";
  return NULL;
}

static as_status read_number(reading *r, asi_fe_word name, asi_fe_word value, double *out) {
  if (value.n == 0)
    return asi_fe_refuse(&r->text, "%.*s has no value.", asi_fe_shown(name), name.at);
  if (asi_fe_number(value, out)) return AS_OK;
  return asi_fe_refuse(&r->text, "\"%.*s\", the value of %.*s, is no number.", asi_fe_shown(value),
                       value.at, asi_fe_shown(name), name.at);
}

static as_status read_coefficient(reading *r, int i, asi_fe_word name, asi_fe_word value) {
  double x;
  if (r->seen[i]) return twice(r, name);
  r->seen[i] = true;
  const as_status status = read_number(r, name, value, &x);
  if (status) return status;
  const char *wrong = what_is_wrong(keys[i].demand, x);
  if (wrong) return asi_fe_refuse(&r->text, "%s is %g; it %s.", keys[i].name, x, wrong);
  memcpy((char *)r->tyre + keys[i].offset, &x, sizeof x);
  return AS_OK;
}

static as_status read_mode(reading *r, asi_fe_word name, asi_fe_word value) {
  double x;
  if (r->seen_mode) return twice(r, name);
  r->seen_mode = true;
  const as_status status = read_number(r, name, value, &x);
  if (status) return status;
  const int mode = x >= 0.0 && x < 100.0 && x == floor(x) ? (int)x : -1;
  if (mode < 0 || mode % 10 > 4 || mode / 10 > 2)
    return asi_fe_refuse(&r->text,
                         "USE_MODE is %g; it must be 0 to 4, with 10 or 20 added for transient "
                         "slip.",
                         x);
  r->tyre->mode = mode % 10;
  r->tyre->steady = mode < 10;
  return AS_OK;
}

static as_status read_side(reading *r, asi_fe_word name, asi_fe_word value) {
  if (r->seen_side) return twice(r, name);
  r->seen_side = true;
  r->tyre->measured_right = asi_fe_is(value, "RIGHT");
  if (r->tyre->measured_right || asi_fe_is(value, "LEFT")) return AS_OK;
  return asi_fe_refuse(&r->text, "TYRESIDE is \"%.*s\"; it must be LEFT or RIGHT.",
                       asi_fe_shown(value), value.at);
}

static as_status read_format(reading *r, asi_fe_word name, asi_fe_word value, bool type) {
  bool *seen = type ? &r->seen_type : &r->seen_format;
  if (*seen) return twice(r, name);
  *seen = true;
  const bool known = type ? asi_fe_is(value, "5") || asi_fe_is(value, "6") || asi_fe_is(value, "21")
                          : asi_fe_is(value, "PAC2002") || asi_fe_is(value, "MF_05");
  if (type && !known)
    return asi_fe_refuse(&r->text,
                         "the format of this tyre is FITTYP %.*s; PAC2002 and MF 5.2 (FITTYP 5, 6 "
                         "or 21) can be read.",
                         asi_fe_shown(value), value.at);
  r->format = r->format || known;
  if (!known) snprintf(r->named, sizeof r->named, "%.*s", asi_fe_shown(value), value.at);
  return AS_OK;
}

static as_status pass_over(const reading *r, asi_fe_word name, asi_fe_word value) {
  double x;
  if (in_list(pressure, sizeof pressure / sizeof pressure[0], name)) {
    if (!asi_fe_number(value, &x) || x != 0.0)
      return warn(r, "%.*s depends on the pressure, which is not computed with.", name);
    return AS_OK;
  }
  if (in_list(passed_over, sizeof passed_over / sizeof passed_over[0], name)) return AS_OK;
  return warn(r, "the key %.*s is not known and passed over.", name);
}

static as_status read_key(reading *r, asi_fe_word name, asi_fe_word value) {
  value = unquoted(value);
  if (r->units) return read_unit(r, name, value);
  for (int i = 0; i < KEYS; ++i)
    if (asi_fe_is(name, keys[i].name)) return read_coefficient(r, i, name, value);
  if (asi_fe_is(name, "USE_MODE")) return read_mode(r, name, value);
  if (asi_fe_is(name, "TYRESIDE")) return read_side(r, name, value);
  if (asi_fe_is(name, "PROPERTY_FILE_FORMAT")) return read_format(r, name, value, false);
  if (asi_fe_is(name, "FITTYP")) return read_format(r, name, value, true);
  return pass_over(r, name, value);
}

static as_status read_line(reading *r) {
  const asi_fe_word line = without_comment(&r->text);
  if (line.n == 0) return AS_OK;
  if (line.at[0] == '[') {
    if (line.at[line.n - 1] != ']')
      return asi_fe_refuse(&r->text, "a section's name ends with ], not like \"%.*s\".",
                           asi_fe_shown(line), line.at);
    r->units = asi_fe_is(trim(line.at + 1, line.at + line.n - 1), "UNITS");
    r->table = false;
    return AS_OK;
  }
  if (line.at[0] == '{') r->table = true;
  if (line.at[0] == '{' || line.at[0] == '(') return AS_OK;
  const char *equals = memchr(line.at, '=', line.n);
  if (equals == NULL && r->table) return AS_OK;
  if (equals == NULL)
    return asi_fe_refuse(&r->text, "\"%.*s\" is neither a section nor KEY = VALUE.",
                         asi_fe_shown(line), line.at);
  const asi_fe_word name = trim(line.at, equals);
  if (name.n == 0) return asi_fe_refuse(&r->text, "there is no key before \"=\".");
  return read_key(r, name, trim(equals + 1, line.at + line.n));
}

/// What has to be there, and numbers in SI units.
static as_status finish(reading *r) {
  if (!r->format) {
    if (r->named[0])
      return asi_fe_refuse(
          &r->text, "the format of this tyre is \"%s\"; PAC2002 and MF_05 can be read.", r->named);
    return asi_fe_refuse(&r->text, "the file ends without PROPERTY_FILE_FORMAT (or FITTYP).");
  }
  for (int i = 0; i < KEYS; ++i) {
    if (keys[i].required && !r->seen[i])
      return asi_fe_refuse(&r->text, "the file ends without %s.", keys[i].name);
    if (!r->seen[i] || keys[i].unit == PURE) continue;
    double x;
    memcpy(&x, (char *)r->tyre + keys[i].offset, sizeof x);
    x *= size_of(r, keys[i].unit);
    memcpy((char *)r->tyre + keys[i].offset, &x, sizeof x);
  }
  return AS_OK;
}

as_status as_tyre_parse(const char *text, size_t size, const char *name,
                        as_tyre_warning_fn *warn_fn, void *user, as_tyre *out, as_error *error) {
  as_tyre tyre = as_default_tyre();
  reading r = {.text = asi_fe_text_begin(text, size, name, error),
               .tyre = &tyre,
               .warn = warn_fn,
               .user = user,
               .length = 1.0,
               .force = 1.0};
  as_status status = AS_OK;
  if (memchr(text, '\0', size))
    return asi_fe_refuse(&r.text, "a zero byte is in it: this is no text.");
  while (status == AS_OK && asi_fe_next_line(&r.text)) status = read_line(&r);
  if (status == AS_OK) status = finish(&r);
  if (status == AS_OK) *out = tyre;
  return status;
}

as_status as_tyre_read(const char *path, as_tyre_warning_fn *warn_fn, void *user, as_tyre *out,
                       as_error *error) {
  const char *why;
  FILE *file = asi_file_open(path, &why);
  if (file == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be opened: %s.", path,
                    why);
  char *text = malloc(MOST_BYTES + 1);
  const size_t size = text ? fread(text, 1, MOST_BYTES + 1, file) : 0;
  const bool failed = ferror(file) != 0;
  fclose(file);
  as_status status;
  if (text == NULL)
    status = asi_fail_memory(error);
  else if (failed)
    status = asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be read.", path);
  else if (size > MOST_BYTES)
    status = asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                      "%.200s is longer than a megabyte: that is no tyre.", path);
  else
    status = as_tyre_parse(text, size, path, warn_fn, user, out, error);
  free(text);
  return status;
}

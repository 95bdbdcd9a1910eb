/// Blocks in files: signals, states, samples and linear systems. Templates, which are made of these, stand in templates.c.
#include "file/blocks.h"
#include "file/compile.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/sparse.h"
#include "base/error.h"
#include "file/kinds.h"
#include "file/matrix.h"
#include "file/plugins.h"
#include "file/templates.h"

// ---- formulas ---------------------------------------------------------------------------------------

// The conditions of a state or of what is held.
#define SWITCH_KEYS(more)                                                                          \
  {"when", ASI_KEY_FORMULA_LIST, AT(when), .required = more,                                       \
   .text = "conditions, as `x > 1`, or formulas that are positive where they hold: where one "     \
           "begins to hold, or holds at the start, the block is set"},                             \
  {                                                                                                \
    "to", ASI_KEY_FORMULA_LIST, AT(to), .required = more, .with = more ? NULL : "when",            \
                                        .text = "to what, for each of `when`"                      \
  }
#define signal_thing asi_signal_thing

#define AT(field) offsetof(signal_thing, field)
static const asi_key signal_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"formula", ASI_KEY_FORMULA, AT(def.formula), .required = true,
     .text = "what it is at every time: of t, parameters, tables, quantities of the machine "
             "(accelerations and reactions too) and blocks"},
    {"unit", ASI_KEY_TEXT, AT(def.unit), .otherwise = "-", .text = "of its channel"},
};
static const asi_key state_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"rate", ASI_KEY_FORMULA, AT(def.formula), .required = true,
     .text = "its derivative by the time; as the formula of a signal"},
    {"start", ASI_KEY_NUMBER, AT(def.start), .otherwise = "0", .text = "its value at the start"},
    SWITCH_KEYS(false),
    {"unit", ASI_KEY_TEXT, AT(def.unit), .otherwise = "-", .text = "of its channel"},
};
static const asi_key held_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    SWITCH_KEYS(true),
    {"start", ASI_KEY_NUMBER, AT(def.start), .otherwise = "0", .text = "its value until then"},
    {"unit", ASI_KEY_TEXT, AT(def.unit), .otherwise = "-", .text = "of its channel"},
};
static const asi_key input_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"start", ASI_KEY_NUMBER, AT(def.start), .otherwise = "0",
     .text = "its value until it is set from outside"},
    {"unit", ASI_KEY_TEXT, AT(def.unit), .otherwise = "-", .text = "of its channel"},
};
static const char *const samplings[] = {"held", "continuous", NULL};
static const asi_key sampled_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"formula", ASI_KEY_FORMULA, AT(def.formula), .required = true,
     .text = "what it is set to at its samples; as the formula of a signal, but its own name is "
             "what it was before"},
    {"period", ASI_KEY_NUMBER, AT(def.period), .required = true, .range = ASI_POSITIVE, .unit = "s",
     .text = "time between samples"},
    {"offset", ASI_KEY_NUMBER, AT(def.offset), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .otherwise = "0", .text = "time of the first sample"},
    {"delay", ASI_KEY_NUMBER, AT(def.delay), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .otherwise = "0",
     .text = "from a sample to when it takes effect; may be longer than the period"},
    {"state", ASI_KEY_BOOLEAN, AT(def.after), .otherwise = "false",
     .text = "samples of other blocks at the same time still read what it was before"},
    {"start", ASI_KEY_NUMBER, AT(def.start), .otherwise = "0",
     .text = "its value until the first sample takes effect"},
    {"sampling", ASI_KEY_CHOICE, AT(sampling), .choices = samplings, .otherwise = "held",
     .text = "continuous: at every time, as a signal, to see what sampling does; such a block has "
             "no delay and does not read what it was before"},
    {"unit", ASI_KEY_TEXT, AT(def.unit), .otherwise = "-", .text = "of its channel"},
};
#undef AT
static const asi_table signal_table = {"signal", NULL, signal_keys, ASI_COUNT(signal_keys)};
static const asi_table state_table = {"state", NULL, state_keys, ASI_COUNT(state_keys)};
static const asi_table held_table = {"held", NULL, held_keys, ASI_COUNT(held_keys)};
static const asi_table input_table = {"input", NULL, input_keys, ASI_COUNT(input_keys)};
static const asi_table sampled_table = {"sampled", NULL, sampled_keys, ASI_COUNT(sampled_keys)};

static void prepare_signal(void *out) { ((signal_thing *)out)->def = as_default_signal_def(); }

/// Complains about the value of a key of the block that is read, or about the block.
#define COMPLAIN(r, key, ...)                                                                      \
  asi_complain(r, asi_value_get((r)->thing, key) ? asi_value_get((r)->thing, key) : (r)->at,       \
               __VA_ARGS__)

/// Whether a formula has the name in it.
static bool mentions(const char *formula, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(formula, "blocks."); at; at = strstr(at + 1, "blocks."))
    if (strncmp(at + 7, name, n) == 0 && !isalnum((unsigned char)at[7 + n]) && at[7 + n] != '_')
      return true;
  return false;
}

/// A sampled block that is to be a signal. It has neither a delay nor a memory.
static void make_continuous(asi_reader *r, signal_thing *thing) {
  const as_signal_def *def = &thing->def;
  const as_signal_def left = as_default_signal_def();
  const char *why = def->delay > 0.0 ? "it has a delay"
                    : def->after     ? "it is a state"
                    : def->formula && mentions(def->formula, def->block)
                        ? "it reads what it was before"
                        : NULL;
  if (why) COMPLAIN(r, "sampling", "it cannot be continuous: %s", why);
  thing->def.kind = AS_SIGNAL_OUTPUT;
  thing->def.period = left.period;
  thing->def.offset = left.offset;
  thing->def.start = left.start;
}

/// What importers of a machine give with its derivative: three held signals, and the block is a formula of them.
static as_status add_extrapolated(asi_reader *r, signal_thing *thing, as_error *error) {
  static const char *const parts[] = {"given", "slope", "since"};
  const char *name = thing->def.block;
  const size_t size = 3 * strlen(name) + 80;
  char *formula = asi_arena_take(&r->scratch, size);
  if (formula == NULL) return AS_ERR_MEMORY;
  snprintf(formula, size, "'blocks.%s.given' + 'blocks.%s.slope'*(t - 'blocks.%s.since')", name,
           name, name);
  as_status status = AS_OK;
  for (int i = 0; i < 3 && status == AS_OK; ++i) {
    as_signal_def part = thing->def;
    part.output = parts[i];
    part.start = i == 0 ? thing->def.start : 0.0;
    part.unit = i == 0 ? thing->def.unit : NULL;
    status = as_builder_declare_signal(r->builder, name, parts[i], error);
    if (status == AS_OK) status = as_builder_add_signal(r->builder, &part, NULL, error);
  }
  thing->def.kind = AS_SIGNAL_OUTPUT;
  thing->def.formula = formula;
  return status;
}

static as_status add_signal(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                            as_error *error) {
  signal_thing *thing = read;
  thing->def.block = name;
  thing->def.kind = (as_signal_kind)kind->code;
  asi_check_period(r, thing->def.period);
  if (thing->sampling == 1) make_continuous(r, thing);
  const bool compiled = kind == &asi_input_kind && r->compile;
  if (compiled && r->compile->extrapolates) {
    const as_status status = add_extrapolated(r, thing, error);
    if (status) return status;
  }
  as_signal_id id;
  const as_status status = as_builder_add_signal(r->builder, &thing->def, &id, error);
  if (status == AS_OK && compiled && r->compile->input) r->compile->input(id, r->compile->user);
  return status ? status : asi_add_switches(r, thing, error);
}

as_status asi_add_switches(asi_reader *r, const asi_signal_thing *thing, as_error *error) {
  as_status status = AS_OK;
  if (thing->when.n != thing->to.n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, thing->def.block,
                    "There are %d conditions in `when`, but %d formulas in `to`.", thing->when.n,
                    thing->to.n);
  for (int i = 0; i < thing->when.n && status == AS_OK; ++i) {
    const as_setting set = {thing->def.output, thing->to.text[i]};
    as_switch_def def = as_default_switch_def();
    def.block = thing->def.block;
    def.when = thing->when.text[i];
    def.set = &set;
    def.n_set = 1;
    status = as_builder_add_switch(r->builder, &def, error);
  }
  return status;
}

// ---- linear systems ---------------------------------------------------------------------------------

enum { A, B, C, D, N_MATRICES };

static const char *const matrix_letter[N_MATRICES] = {"A", "B", "C", "D"};

typedef struct linear_thing {
  as_linear_def def;
  asi_rows matrix[N_MATRICES];
  const char *file[N_MATRICES]; ///< NULL: none
  const char *system;           ///< a MAT file with all of them; likewise
  asi_texts inputs, outputs;
  asi_rows start;
  const char *unit;
} linear_thing;

#define AT(field) offsetof(linear_thing, field)
#define FILE_KEY(name, number, of)                                                                 \
  {                                                                                                \
    name, ASI_KEY_PATH, AT(file[number]), .instead_of = of,                                        \
                                          .text = "the same from a file: Matrix Market, .csv, "    \
                                                  "or a variable of a .mat of version 4"           \
  }
static const asi_key linear_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"A", ASI_KEY_ROWS, AT(matrix[A]), .least = 1, .otherwise = "no states",
     .text = "x' = A x + B w, or at samples x+ = A x + B w: a list of rows"},
    FILE_KEY("A_file", A, "A"),
    {"B", ASI_KEY_ROWS, AT(matrix[B]), .least = 1, .otherwise = "zeros", .text = "likewise"},
    FILE_KEY("B_file", B, "B"),
    {"C", ASI_KEY_ROWS, AT(matrix[C]), .least = 1, .otherwise = "zeros", .text = "y = C x + D w"},
    FILE_KEY("C_file", C, "C"),
    {"D", ASI_KEY_ROWS, AT(matrix[D]), .least = 1, .otherwise = "zeros", .text = "likewise"},
    FILE_KEY("D_file", D, "D"),
    {"file", ASI_KEY_PATH, AT(system),
     .text = "a .mat file of version 4 with those of A, B, C and D that are not given, as "
             "`alphastep linearize --format mat` writes them"},
    {"inputs", ASI_KEY_FORMULA_LIST, AT(inputs), .text = "w: formulas, as that of a signal"},
    {"outputs", ASI_KEY_TEXTS, AT(outputs), .otherwise = "y1, y2, ...; of a single one none",
     .text = "names of y: blocks.NAME.OUTPUT"},
    {"start", ASI_KEY_NUMBERS, AT(start), .least = 1, .otherwise = "zeros",
     .text = "x at the start"},
    {"period", ASI_KEY_NUMBER, AT(def.period), .range = ASI_POSITIVE, .unit = "s",
     .otherwise = "it is continuous", .text = "time between samples"},
    {"offset", ASI_KEY_NUMBER, AT(def.offset), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .with = "period", .otherwise = "0", .text = "time of the first sample"},
    {"delay", ASI_KEY_NUMBER, AT(def.delay), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .with = "period", .otherwise = "0",
     .text = "from a sample to when it takes effect, less than the period"},
    {"unit", ASI_KEY_TEXT, AT(unit), .otherwise = "-", .text = "of the outputs' channels"},
};
#undef FILE_KEY
#undef AT
static const asi_table linear_table = {"linear system", NULL, linear_keys, ASI_COUNT(linear_keys)};

static void prepare_linear(void *out) { ((linear_thing *)out)->def = as_default_linear_def(); }

static bool ends_with(const char *path, const char *end) {
  const size_t n = strlen(path), m = strlen(end);
  return n > m && strcmp(path + n - m, end) == 0;
}

/// A matrix from comma-separated values or a MAT file as rows; out->number stays NULL where a MAT file has no such variable.
static as_status read_bytes(asi_reader *r, const char *path, const char *letter, asi_rows *out,
                            as_error *error) {
  const char *why;
  size_t size;
  asi_file file = {.path = path};
  char *bytes = asi_read_whole(r, &file, &size, &why);
  if (bytes == NULL) {
    r->unreadable = true;
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be read: %s.", path, why);
  }
  const as_machine *noted = r->machine; // once, though several matrices are in it
  if (noted->n_files == 0 || strcmp(noted->files[noted->n_files - 1].path, path) != 0)
    asi_note_bytes(r, path, bytes, size);
  asi_matrix m = ends_with(path, ".mat") ? asi_matrix_of_mat(bytes, size, letter)
                                         : asi_matrix_of_csv(bytes, size);
  free(bytes);
  as_status status = m.no_memory ? asi_fail_memory(error) : AS_OK;
  if (m.sentence[0] && m.line > 0)
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%.200s, line %d: %s.", path,
                      m.line, m.sentence);
  else if (m.sentence[0])
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%.200s: %s.", path, m.sentence);
  if (m.number) {
    const size_t count = (size_t)m.rows * (size_t)m.columns * sizeof(double);
    *out = (asi_rows){asi_arena_take(&r->scratch, count), m.rows, m.columns};
    if (out->number) memcpy(out->number, m.number, count);
    if (out->number == NULL) status = asi_fail_memory(error);
  }
  free(m.number);
  return status;
}

/// A matrix from a file as rows, `letter` in a MAT file.
static as_status read_matrix(asi_reader *r, const char *path, const char *letter, asi_rows *out,
                             as_error *error) {
  as_sparse *m = NULL;
  if (ends_with(path, ".csv") || ends_with(path, ".mat"))
    return read_bytes(r, path, letter, out, error);
  as_status status = as_sparse_read(path, &m, error);
  if (status) return status;
  asi_note_file(r, path);
  if ((double)m->rows * (double)m->cols > 1e8) {
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s: %d x %d is too large.", path,
                      m->rows, m->cols);
  } else {
    out->n = m->rows;
    out->columns = m->cols;
    out->number = asi_arena_take(&r->scratch, (size_t)m->rows * (size_t)m->cols * sizeof(double));
    for (int j = 0; j < m->cols && out->number; ++j)
      for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
        out->number[(ptrdiff_t)m->row[k] * m->cols + j] = m->value[k];
  }
  as_sparse_destroy(m);
  return status;
}

/// "1 state", "2 states"
static const char *count(char out[32], int n, const char *one) {
  snprintf(out, 32, "%d %.16s%s", n, one, n == 1 ? "" : "s");
  return out;
}

/// Where the columns of a matrix and what they belong to differ: one is left open, or there is one too many.
static void check_matrix(asi_reader *r, const linear_thing *thing, int k) {
  static const char *const key[N_MATRICES][2] = {
      {"A", "A_file"}, {"B", "B_file"}, {"C", "C_file"}, {"D", "D_file"}};
  const as_linear_def *def = &thing->def;
  const asi_rows *m = &thing->matrix[k];
  const int n = m->n, columns = m->columns;
  const int rows = k == A || k == B ? def->n_states : def->n_outputs;
  const int cols = k == A || k == C ? def->n_states : def->n_inputs;
  const char *at = key[k][thing->file[k] != NULL];
  char states[32], inputs[32], outputs[32];
  if (m->number == NULL || (n == rows && columns == cols)) return;
  if (k == A)
    COMPLAIN(r, at, "the matrix A is %d x %d; it must be square", n, columns);
  else if ((k == B || k == D) && n == rows && columns > cols)
    COMPLAIN(r, at, "the matrix %c has %s, but `inputs` lists %s: an input is left open", "ABCD"[k],
             count(states, columns, "column"), count(inputs, cols, "formula"));
  else
    COMPLAIN(r, at, "the matrix %c is %d x %d; with %s, %s and %s it must be %d x %d", "ABCD"[k], n,
             columns, count(states, def->n_states, "state"), count(inputs, def->n_inputs, "input"),
             count(outputs, def->n_outputs, "output"), rows, cols);
}

/// Names of outputs that are no names, or taken.
static void check_outputs(asi_reader *r, const linear_thing *thing) {
  for (int i = 0; i < thing->outputs.n; ++i) {
    const char *name = thing->outputs.text[i];
    const bool continuous = isnan(thing->def.period);
    int number = 0, taken = -1;
    char letter = 0, rest = 0;
    for (int k = 0; k < i && taken < 0; ++k)
      if (strcmp(name, thing->outputs.text[k]) == 0) taken = k;
    if (!asi_is_parameter_name(name) || strcmp(name, "value") == 0)
      r->broken = true; // that has been said when it was declared
    else if (taken >= 0)
      asi_complain(r, thing->outputs.value[i], "two outputs have the name \"%.60s\"", name);
    else if (sscanf(name, "%c%d%c", &letter, &number, &rest) == 2 && number >= 1 &&
             name[1] >= '1' && name[1] <= '9' &&
             ((letter == 'x' && number <= thing->def.n_states) ||
              (letter == 'u' && continuous && number <= thing->def.n_inputs)))
      asi_complain(r, thing->outputs.value[i], "\"%.60s\" is the name of %s already", name,
                   letter == 'x' ? "a state" : "an input");
  }
}

/// Whether what was read fits together.
static void check_sizes(asi_reader *r, const linear_thing *thing) {
  const as_linear_def *def = &thing->def;
  if (def->n_outputs == 0) {
    asi_complain(r, r->at, "it has no outputs: neither C nor D is given");
    return;
  }
  for (int k = 0; k < N_MATRICES; ++k) check_matrix(r, thing, k);
  char outputs[32], states[32];
  if (thing->outputs.n > 0 && thing->outputs.n != def->n_outputs)
    COMPLAIN(r, "outputs", "there are %d names of outputs, but %s", thing->outputs.n,
             count(outputs, def->n_outputs, "output"));
  if (thing->start.n > 0 && thing->start.n != def->n_states)
    COMPLAIN(r, "start", "there are %d numbers in start, but %s", thing->start.n,
             count(states, def->n_states, "state"));
  check_outputs(r, thing);
}

void asi_check_period(asi_reader *r, double period) {
  const double t_end = r->machine->simulation.t_end;
  if (t_end / period > 1e9)
    COMPLAIN(r, "period", "a period of %g s would give more than 1e9 samples up to t_end = %g s",
             period, t_end);
}

static as_status add_linear(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                            as_error *error) {
  linear_thing *thing = read;
  as_linear_def *def = &thing->def;
  const double **const to[N_MATRICES] = {&def->A, &def->B, &def->C, &def->D};
  (void)kind;
  if (thing->system && !ends_with(thing->system, ".mat"))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "%.200s is no .mat file; matrices from other files are `A_file`, `B_file`, "
                    "`C_file` and `D_file`.",
                    thing->system);
  for (int k = 0; k < N_MATRICES; ++k) {
    const bool system = thing->system && !thing->matrix[k].number && !thing->file[k];
    const char *path = system ? thing->system : thing->file[k];
    as_status status =
        path ? read_matrix(r, path, matrix_letter[k], &thing->matrix[k], error) : AS_OK;
    if (status == AS_OK && path && !system && !thing->matrix[k].number)
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "%.200s has no variable %s.",
                        path, matrix_letter[k]);
    if (status) return status;
    *to[k] = thing->matrix[k].number;
  }
  def->block = name;
  def->n_states = thing->matrix[A].number ? thing->matrix[A].n : 0;
  def->n_inputs = thing->inputs.n;
  def->n_outputs = thing->matrix[C].number ? thing->matrix[C].n : thing->matrix[D].n;
  def->input = thing->inputs.text;
  def->output = thing->outputs.n > 0 ? thing->outputs.text : NULL;
  def->start = thing->start.number;
  check_sizes(r, thing);
  asi_check_period(r, def->period);
  if (r->broken) return AS_OK;
  const char **unit = asi_arena_take(&r->scratch, (size_t)def->n_outputs * sizeof *unit);
  if (unit == NULL) return AS_ERR_MEMORY;
  for (int i = 0; i < def->n_outputs; ++i) unit[i] = thing->unit;
  def->unit = unit;
  return as_builder_add_linear(r->builder, def, error);
}

// ---- transfer functions -----------------------------------------------------------------------------

typedef struct transfer_thing {
  as_linear_def def;
  const char *input, *unit;
  asi_rows numerator, denominator;
} transfer_thing;

#define AT(field) offsetof(transfer_thing, field)
static const asi_key transfer_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of block"},
    {"input", ASI_KEY_FORMULA, AT(input), .required = true,
     .text = "a formula, as that of a signal"},
    {"numerator", ASI_KEY_NUMBERS, AT(numerator), .required = true, .least = 1,
     .text = "coefficients of the powers of s, or of z, the highest first"},
    {"denominator", ASI_KEY_NUMBERS, AT(denominator), .required = true, .least = 1,
     .text = "likewise; not of a lower degree"},
    {"period", ASI_KEY_NUMBER, AT(def.period), .range = ASI_POSITIVE, .unit = "s",
     .otherwise = "it is continuous, in s", .text = "time between samples: it is one in z"},
    {"offset", ASI_KEY_NUMBER, AT(def.offset), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .with = "period", .otherwise = "0", .text = "time of the first sample"},
    {"delay", ASI_KEY_NUMBER, AT(def.delay), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .with = "period", .otherwise = "0",
     .text = "from a sample to when it takes effect, less than the period"},
    {"unit", ASI_KEY_TEXT, AT(unit), .otherwise = "-", .text = "of its channel"},
};
#undef AT
static const asi_table transfer_table = {"transfer function", NULL, transfer_keys,
                                         ASI_COUNT(transfer_keys)};

static void prepare_transfer(void *out) { ((transfer_thing *)out)->def = as_default_linear_def(); }

/// Without zeros at the front.
static asi_rows without_zeros(asi_rows p) {
  for (; p.n > 0 && p.number[0] == 0.0; --p.n) ++p.number;
  return p;
}

/// [CT.1] b(s)/a(s) with s = w p, w = |a_0/a_n|^(1/n), so that the coefficients of p are of one size: with alpha_k =
/// a_k w^(k-n)/a_n and beta_k likewise,
///
///     x_k' = w x_(k+1)     x_n' = w (w_1 - sum alpha_k x_(k+1))     y = sum (beta_k - beta_n alpha_k) x_(k+1) + beta_n w_1
static as_status add_transfer(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                              as_error *error) {
  transfer_thing *thing = read;
  const asi_rows a = without_zeros(thing->denominator), b = without_zeros(thing->numerator);
  const int n = a.n - 1;
  (void)kind;
  asi_check_period(r, thing->def.period);
  if (a.n == 0)
    COMPLAIN(r, "denominator", "the denominator is zero");
  else if (b.n > a.n)
    COMPLAIN(r, "numerator",
             "the degree of the numerator, %d, is above that of the denominator, %d", b.n - 1, n);
  else if (n > 10000)
    COMPLAIN(r, "denominator", "the degree is above 10000");
  if (r->broken) return AS_OK;
  const double last = n > 0 ? fabs(a.number[n] / a.number[0]) : 0.0;
  const double w = isnan(thing->def.period) && last > 0.0 ? pow(last, 1.0 / n) : 1.0;
  const size_t size = (size_t)n * sizeof(double);
  double *matrix_A = asi_arena_take(&r->scratch, (size_t)n * size);
  double *matrix_B = asi_arena_take(&r->scratch, size),
         *matrix_C = asi_arena_take(&r->scratch, size);
  if (matrix_A == NULL || matrix_B == NULL || matrix_C == NULL) return AS_ERR_MEMORY;
  const double direct = b.n == a.n ? b.number[0] / a.number[0] : 0.0;
  for (int k = 0; k < n; ++k) {
    const double scale = pow(w, k - n) / a.number[0];
    const double alpha = a.number[n - k] * scale;
    const double beta = k < b.n ? b.number[b.n - 1 - k] * scale : 0.0;
    if (k + 1 < n) matrix_A[(ptrdiff_t)k * n + k + 1] = w;
    matrix_A[(ptrdiff_t)(n - 1) * n + k] -= w * alpha;
    matrix_C[k] = beta - direct * alpha;
  }
  if (n > 0) matrix_B[n - 1] = w;
  as_linear_def *def = &thing->def;
  def->block = name;
  def->n_states = n;
  def->n_inputs = def->n_outputs = 1;
  def->A = matrix_A;
  def->B = matrix_B;
  def->C = matrix_C;
  def->D = &direct;
  def->input = &thing->input;
  def->unit = &thing->unit;
  return as_builder_add_linear(r->builder, def, error);
}

// ---- all of them ------------------------------------------------------------------------------------

const asi_kind
    asi_signal_kind = {"signal",
                       AS_SIGNAL_OUTPUT,
                       &signal_table,
                       sizeof(signal_thing),
                       prepare_signal,
                       add_signal,
                       true,
                       .text = "a formula, y = formula, solved for together with the motion"},
    asi_state_kind = {"state",        AS_SIGNAL_STATE, &state_table, sizeof(signal_thing),
                      prepare_signal, add_signal,      true,         .text = "a state, x' = rate"},
    asi_held_kind = {"held",
                     AS_SIGNAL_HELD,
                     &held_table,
                     sizeof(signal_thing),
                     prepare_signal,
                     add_signal,
                     true,
                     .text = "a number that stays as it is until a condition begins to hold"},
    asi_input_kind = {"input",
                      AS_SIGNAL_HELD,
                      &input_table,
                      sizeof(signal_thing),
                      prepare_signal,
                      add_signal,
                      true,
                      .text = "a number that a program sets from outside, and held in between"},
    asi_sampled_kind = {"sampled",
                        AS_SIGNAL_SAMPLED,
                        &sampled_table,
                        sizeof(signal_thing),
                        prepare_signal,
                        add_signal,
                        true,
                        .text = "a number that is set at samples and held in between"},
    asi_linear_kind = {"linear",
                       0,
                       &linear_table,
                       sizeof(linear_thing),
                       prepare_linear,
                       add_linear,
                       true,
                       .text = "a linear system of states x, inputs w and outputs y"},
    asi_transfer_kind = {"transfer_function",
                         0,
                         &transfer_table,
                         sizeof(transfer_thing),
                         prepare_transfer,
                         add_transfer,
                         true,
                         .text = "a transfer function, continuous or sampled"};
// ---- names ------------------------------------------------------------------------------------------

static void declare(asi_reader *r, const asi_value *key, const char *name, const char *output) {
  as_error error;
  const as_status status = as_builder_declare_signal(r->builder, name, output, &error);
  if (status == AS_ERR_MEMORY)
    r->no_memory = true;
  else if (status)
    asi_complain(r, key, "%s", error.message);
}

static void declare_many(asi_reader *r, const asi_value *key, const char *name, char letter,
                         int n) {
  for (int i = 0; i < n && !r->no_memory; ++i) {
    char output[16];
    snprintf(output, sizeof output, "%c%d", letter, i + 1);
    declare(r, key, name, output);
  }
}

/// How many rows a matrix has, in place or in a file that can be read.
static int count_rows(asi_reader *r, const asi_value *v, const char *name, const char *file) {
  const asi_value *rows = asi_value_get(v, name), *path = asi_value_get(v, file);
  if (rows) return rows->type == ASI_LIST ? rows->count : 0;
  if (path == NULL) path = asi_value_get(v, "file");
  if (path == NULL || path->type != ASI_TEXT) return 0;
  const char *beside = asi_beside(r, path);
  const int noted = r->machine->n_files;
  asi_rows matrix = {NULL, 0, 0};
  as_error error;
  if (beside) (void)read_matrix(r, beside, name, &matrix, &error); // what is wrong is said later
  r->machine->n_files = noted;
  return matrix.n;
}

static void declare_linear(asi_reader *r, const asi_value *key, const asi_value *v,
                           const char *name) {
  const asi_value *outputs = asi_value_get(v, "outputs"), *inputs = asi_value_get(v, "inputs");
  const int direct = count_rows(r, v, "D", "D_file"), n = count_rows(r, v, "C", "C_file");
  const int n_outputs = n > 0 ? n : direct;
  declare_many(r, key, name, 'x', count_rows(r, v, "A", "A_file"));
  if (inputs && inputs->type == ASI_LIST && asi_value_get(v, "period") == NULL)
    declare_many(r, key, name, 'u', inputs->count);
  for (int i = 0; outputs && outputs->type == ASI_LIST && i < outputs->count; ++i)
    if (outputs->item[i]->text) declare(r, outputs->item[i], name, outputs->item[i]->text);
  // Of a system that is wrong formulas may name what it would have been: that is not their mistake.
  const bool doubtful =
      n_outputs == 0 || (outputs && (outputs->type != ASI_LIST || outputs->count != n_outputs));
  if (doubtful) declare(r, key, name, NULL);
  if (outputs || doubtful) return;
  if (n_outputs == 1)
    declare(r, key, name, NULL);
  else
    declare_many(r, key, name, 'y', n_outputs);
}

static void declare_transfer(asi_reader *r, const asi_value *key, const asi_value *v,
                             const char *name) {
  const asi_value *a = asi_value_get(v, "denominator");
  int n = a && a->type == ASI_LIST ? a->count - 1 : 0;
  for (int i = 0; n > 0 && a->item[i]->type == ASI_NUMBER && a->item[i]->number == 0.0; ++i) --n;
  declare_many(r, key, name, 'x', n);
  if (asi_value_get(v, "period") == NULL) declare_many(r, key, name, 'u', 1);
  declare(r, key, name, NULL);
}

static void declare_butterworth(asi_reader *r, const asi_value *key, const asi_value *v,
                                const char *name) {
  declare_many(r, key, name, 'x', asi_butterworth_states(v));
  declare_many(r, key, name, 'u', 1);
  declare(r, key, name, NULL);
}

/// What a template makes; of any other block its own signal.
static void declare_template(asi_reader *r, const asi_value *key, const asi_value *v,
                             const char *type, const char *name) {
  bool any = false;
  for (int k = 0; k < asi_block_section.n && !any; ++k) {
    const asi_kind *kind = asi_block_section.kind[k];
    if (strcmp(kind->type, type) != 0) continue;
    const char *output;
    for (int i = 0;
         (output = asi_template_output(kind, i)) || (output = asi_sensor_output(kind, v, i));
         ++i, any = true)
      declare(r, key, name, output);
  }
  if (!any) declare(r, key, name, NULL);
}

void asi_declare_blocks(asi_reader *r, const asi_value *map) {
  if (map == NULL || map->type != ASI_MAP) return; // that is said when they are read
  for (int i = 0; i < map->count && !asi_out_of_memory(r); ++i) {
    const asi_value *key = map->item[2 * i], *v = map->item[2 * i + 1];
    const asi_value *type = v->type == ASI_MAP ? asi_value_get(v, "type") : NULL;
    const char *name = asi_read_key(r, key);
    if (name == NULL) continue;
    const char *kind = type && type->type == ASI_TEXT ? type->text : "";
    const asi_path path = {key->text, 0, r->path};
    r->path = &path;
    if (strcmp(kind, asi_linear_kind.type) == 0)
      declare_linear(r, key, v, name);
    else if (strcmp(kind, asi_own_template_kind.type) == 0)
      asi_declare_own(r, v, name);
    else if (strcmp(kind, asi_plugin_block_kind.type) == 0)
      asi_declare_plugin(r, key, v, name);
    else if (strcmp(kind, asi_transfer_kind.type) == 0)
      declare_transfer(r, key, v, name);
    else if (strcmp(kind, asi_butterworth_kind.type) == 0)
      declare_butterworth(r, key, v, name);
    else
      declare_template(r, key, v, kind, name);
    r->path = path.outer;
    asi_arena_reset(&r->scratch);
  }
}

const asi_value *asi_find_block(const asi_reader *r, const char *name) {
  for (int f = 0; f < r->n_order; ++f) {
    const asi_value *root = r->file[r->order[f]].root;
    const asi_value *map = root ? asi_value_get(root, "blocks") : NULL;
    for (int i = 0; map && map->type == ASI_MAP && i < map->count; ++i)
      if (strcmp(map->item[2 * i]->text, name) == 0) return map->item[2 * i];
  }
  return NULL;
}

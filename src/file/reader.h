/// What the parts of the reader share while a file is read.
#ifndef ALPHASTEP_FILE_READER_H
#define ALPHASTEP_FILE_READER_H

#include "alphastep/file.h"
#include "base/hint.h"
#include "expression/expression.h"
#include "file/arena.h"
#include "file/table.h"
#include "file/value.h"
#include "model/builder.h"

enum {
  ASI_MOST_FILES = 100,      ///< that are read
  ASI_MOST_THINGS = 2000000, ///< of a section, with the turns of `repeat`
  ASI_MOST_FORMULAS = 64,    ///< of a thing
};

/// A file, a setting.
typedef struct asi_file {
  const char *path; ///< `--set ...` of a setting
  const char *text; ///< as written; NULL of a setting
  asi_value *root;  ///< NULL: it could not be read
  bool setting;
  unsigned long long device, number; ///< which file it is
} asi_file;

/// An index of `repeat`, the innermost first.
typedef struct asi_index {
  const char *name;
  int number;
  const char *text; ///< what ${name} is inside a text; NULL: the number
  const struct asi_index *outer;
} asi_index;

/// Where the reader is, for messages: bodies.crank.mass; the innermost first.
typedef struct asi_path {
  const char *key; ///< NULL: `number` counts
  int number;
  const struct asi_path *outer;
} asi_path;

/// A mesh that has been read, the newest first.
typedef struct asi_known_mesh {
  const char *file;
  double scale;
  const float *triangles;
  int n;
  const struct asi_known_mesh *older;
} asi_known_mesh;

typedef enum asi_progress { ASI_WAITING, ASI_BUSY, ASI_READY, ASI_BROKEN } asi_progress;

typedef struct asi_definition {
  const asi_value *value;
  asi_progress progress;
  double number;
  bool used;
  const char
      *set_by; ///< the event that sets it, "": a program: it is live; NULL: it does not change
} asi_definition;

/// A function of `tables:`.
typedef struct asi_named_table {
  const asi_value *value;
  asi_progress progress;
  as_curve def;    ///< for the builder; its points are the machine's
  as_surface grid; ///< instead, of two variables: nx > 0
  asi_curve curve; ///< to be evaluated while the file is read
} asi_named_table;

/// A formula of the thing that is read: where it stands, and its text with ${...} replaced.
typedef struct asi_formula_value {
  const asi_value *value;
  const char *text;
  size_t before; ///< characters of the text that stand before what is written
} asi_formula_value;

/// An event as it was read.
typedef struct asi_event {
  as_rule_def def;
  const asi_value *at; ///< its name
  asi_formula_value *formula;
  int n_formulas;
  bool broken; ///< something of it is wrong, which has been said: only its formulas are looked at
} asi_event;

typedef struct asi_library asi_library;
typedef struct asi_compile asi_compile;
typedef struct asi_open_fmu asi_open_fmu;

/// What `start:` is read into.
typedef struct asi_begin {
  bool equilibrium, rolling;
  asi_texts hold;         ///< names of joints
  const asi_value *value; ///< itself; NULL: not given
} asi_begin;

struct asi_reader {
  as_machine *machine;
  const asi_compile *compile;     ///< NULL: nothing but the machine is wanted
  asi_arena *arena;               ///< of the machine
  const as_plugin_policy *policy; ///< NULL: no plugins
  struct asi_library **libraries; ///< of the machine, see libraries.h
  struct asi_open_fmu **fmus;     ///< likewise, see fmus.h
  asi_arena scratch;              ///< of the thing that is read
  as_messages *messages;
  const char *format[AS_MESSAGES]; ///< what the messages were made with
  int file_of[AS_MESSAGES];
  bool later[AS_MESSAGES]; ///< of messages: they are about no parameter
  bool wrong;              ///< there was a message
  bool broken;             ///< something about the thing that is read is wrong: it cannot be added
  bool no_memory;
  bool no_plugin;  ///< a block's plugin could not be opened: its signals are not known
  bool lost;       ///< things are missing whose names are not known
  bool unreadable; ///< a file that a thing needs cannot be read
  asi_file *file;  ///< as opened, then the settings
  int n_files, room_files;
  int order[ASI_MOST_FILES]; ///< as they count: what is included before what includes it
  int n_order;
  asi_names parameter_names;
  asi_definition *parameters;
  int n_parameters, room_parameters;
  asi_names table_names;
  asi_named_table *named_tables;
  int n_named_tables, room_named_tables;
  int lookups; ///< parameters and tables that wait for others
  int depth;   ///< of the expressions that wait
  int hints;   ///< parameters that were looked for in vain
  int walks;   ///< through a file to a place inside a text
  const asi_index *index;
  unsigned
      mirrored; ///< bits of the directions, x the lowest, that are turned round where things are read now
  const asi_path *path;
  as_builder *builder;
  asi_scope constants; ///< what formulas may use besides the builder's names
  asi_formula_value formula[ASI_MOST_FORMULAS]; ///< of the thing that is read
  int n_formulas;
  asi_names failed[ASI_SORTS]; ///< things that could not be added: others may still name them
  long things;
  int room_shapes;
  const asi_known_mesh *meshes;
  long n_triangles; ///< of all of them
  double gravity[3];
  const asi_value *output; ///< `output:` that counts; NULL: none
  const asi_value *at;     ///< name of the thing that is read, or itself in a list
  const asi_value *thing;  ///< itself
  bool inactive;           ///< the joint that is read does not hold at the start
  asi_event *events;       ///< all, until the model has been built
  int n_events, room_events;
  bool assemble; ///< the file says so
  asi_begin begin;
};

static inline bool asi_out_of_memory(const asi_reader *r) {
  return r->no_memory || r->arena->failed || r->scratch.failed;
}

// ---- messages (message.c) ---------------------------------------------------------------------------

/// Notes that something is wrong at a value, or at a byte of its text.
void asi_complain(asi_reader *r, const asi_value *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void asi_complain_at(asi_reader *r, const asi_value *at, size_t byte, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/// Notes a warning about the thing that is read, for as_machine.warnings.
void asi_warn(asi_reader *r, const char *sentence);
/// Something is wrong with a file as a whole.
void asi_complain_file(asi_reader *r, int file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/// What is wrong with a file's tree (asi_fault_fn; user is the reader).
void asi_complain_fault(int file, int line, int column, const char *sentence, void *user);
/// Would the first message at a place be kept? If not there is no need to look for suggestions.
bool asi_would_keep(const asi_reader *r, const asi_value *at);
as_place asi_place(const asi_reader *r, const asi_value *at);

// ---- files (sources.c), settings (settings.c), parameters (parameters.c) ------------------------------

/// Opens a file (text NULL: from the disk) and what it includes. AS_ERR_FILE: one cannot be read.
as_status asi_read_sources(asi_reader *r, const char *path, const char *text, size_t size);
/// A path that a value gives, as seen from the folder of its file; NULL: it leads out of it.
const char *asi_beside(asi_reader *r, const asi_value *v);
/// Adds a file to the list; its number, or -1 without memory.
int asi_add_file(asi_reader *r, asi_file file);
void asi_apply_settings(asi_reader *r, const char *const *settings, int n);

void asi_collect_parameters(asi_reader *r);
/// Puts them into the machine, after all else has been read.
void asi_publish_parameters(asi_reader *r);
/// What a name means as a number: an index or a parameter. ASI_MEANS_NOTHING if there is none.
asi_meaning asi_find_number(asi_reader *r, const char *name, asi_named *named);
/// The same of a plain number, which cannot change; of tables, too. Names that mean nothing are mistakes. For asi_scope; user is
/// the reader.
asi_meaning asi_find_fixed(const char *name, asi_named *named, void *user);
/// Evaluates an expression of parameters and indices. A slip without a sentence has been told already.
bool asi_evaluate(asi_reader *r, const char *text, size_t length, double *out,
                  asi_parse_error *slip);

/// The text of a file at a path, with which file it is; NULL: `why` says why not. Free with free().
char *asi_read_whole(asi_reader *r, asi_file *at, size_t *size, const char **why);
/// Notes the digest of a file that was read, by its bytes or by reading it once more.
void asi_note_bytes(asi_reader *r, const char *path, const void *bytes, size_t size);
void asi_note_file(asi_reader *r, const char *path);

/// Checks numbers of columns, the key `columns` of v.
bool asi_check_columns(asi_reader *r, const asi_value *v, const double *columns, int n, int *out);
/// Reads two or three columns of a file that the value `at` names; the rows are in the scratch arena.
bool asi_read_csv(asi_reader *r, const asi_value *at, const char *path, const int *column, int n,
                  asi_rows *out);
/// Finds out which tables there are, then reads those that no parameter has asked for.
void asi_collect_tables(asi_reader *r);
void asi_settle_tables(asi_reader *r);
/// What a name before a parenthesis means: a table, ASI_MEANS_NOTHING if there is none.
asi_meaning asi_find_table(asi_reader *r, const char *name, asi_named *named);
/// asi_table_fn; user is the reader.
int asi_evaluate_table(int table, double x, double out[3], void *user);
int asi_evaluate_grid(int table, double x, double y, double out[6], void *user);
/// Adds them to the builder.
as_status asi_give_tables(asi_reader *r, as_error *error);
void asi_free_tables(asi_reader *r);

// ---- values (read.c) --------------------------------------------------------------------------------

/// Is a text nothing but a finite number?
bool asi_read_plain(const char *text, double *out);
/// Each complains and returns false if the value is not what it should be.
bool asi_read_number(asi_reader *r, const asi_value *v, double *out);
bool asi_read_integer(asi_reader *r, const asi_value *v, int *out);
/// With ${...} replaced by numbers; NULL if it is no text.
const char *asi_read_text(asi_reader *r, const asi_value *v);
/// The same of the key of a mapping: any scalar.
const char *asi_read_key(asi_reader *r, const asi_value *key);
/// Numbers that the machine keeps.
const double *asi_keep_numbers(asi_reader *r, const double *number, int n);

/// Fills a struct from a mapping by its table; sets r->broken if something is wrong. `at` is what messages about
/// missing keys point to.
void asi_read_object(asi_reader *r, const asi_value *v, const asi_value *at, const asi_table *table,
                     void *out);
/// The number of a choice; false: it is none, and that has been said.
/// The number of a thing by its name.
bool asi_read_name(asi_reader *r, const asi_value *v, asi_entity_kind sort, int *out);
bool asi_read_choice(asi_reader *r, const asi_value *v, const char *const *choices, int *out);

// ---- things (things.c) ------------------------------------------------------------------------------

/// Reads all things of a section in a mapping; late ones or the others.
void asi_read_things(asi_reader *r, const asi_value *map, const asi_section *section, bool late);
/// Reads the things of a list, which have no names; their adders get NULL.
void asi_read_list(asi_reader *r, const asi_value *list, const asi_section *section);
/// Counts one more thing; true: there are too many, which is told once.
bool asi_too_many(asi_reader *r, const asi_value *at);
/// The kind of a thing, NULL if it has none.
const asi_kind *asi_kind_of(asi_reader *r, const asi_value *v, const asi_value *at,
                            const asi_section *section);

/// Gives the shapes from number `first` on, which are the ground's when they are read, to a body whose centre of
/// mass is given in its frame.
void asi_give_shapes(asi_reader *r, int first, as_body_id body, const double center[3]);

// ---- where a machine starts (begin.c) ----------------------------------------------------------------

extern const asi_table asi_begin_table;

/// Moves a machine that has been built to where it comes to rest, and makes its wheels roll, if the file asks for it; complains if that cannot
/// be. AS_OK, or AS_ERR_MEMORY.
as_status asi_begin_model(asi_reader *r, as_error *error);

// ---- mirror images (mirror.c) -----------------------------------------------------------------------

/// Turns a value that has been read into that of the mirror image; false: there is none, which has been said.
bool asi_mirror_value(asi_reader *r, const asi_value *v, const asi_key *key, void *value);
/// Whether left becomes right where things are read now.
bool asi_mirror_changes_hands(const asi_reader *r);
/// The same of the given motion of a frame, along and about its own axes.
void asi_mirror_frame(asi_reader *r, as_frame_def *def);
/// A curve times -1, in the scratch arena; NULL stays NULL.
const as_curve *asi_negative_curve(asi_reader *r, const as_curve *curve);

// ---- functions (curve.c) ----------------------------------------------------------------------------

/// A number, or a mapping; the curve is in the scratch arena.
bool asi_read_curve(asi_reader *r, const asi_value *v, const as_curve **out);
/// A table of two variables; likewise.
bool asi_read_surface(asi_reader *r, const asi_value *v, const as_surface **out);

// ---- formulas (formula.c) ---------------------------------------------------------------------------

/// Makes parameters known to the builder: before things are read.
as_status asi_begin_formulas(asi_reader *r, as_error *error);
/// A number or a text, which the builder is to compile.
bool asi_read_formula(asi_reader *r, const asi_value *v, const char **out);
/// The same times -1; NULL without memory.
const char *asi_negative_formula(asi_reader *r, const char *text);
/// Says what is wrong with a formula.
void asi_report_parse_error(asi_reader *r, const asi_formula_value *f, const asi_parse_error *slip);
/// Says what is wrong with the formula that the builder has just refused; false: it has refused none.
bool asi_complain_formula(asi_reader *r);

// ---- formulas of one variable (along.c) -------------------------------------------------------------

/// A number or a formula of one variable that is known while the file is read: of a place along a beam, say.
typedef struct asi_along {
  const asi_expression *expression; ///< in the scratch arena; NULL: nothing was given
  const asi_formula_value *at;
} asi_along;

/// Compiles what asi_read_formula() has read; NULL: nothing.
bool asi_along_compile(asi_reader *r, const char *text, const char *variable, asi_along *out);
/// Its value and derivative at x; complains if it is no finite number.
bool asi_along_slope(asi_reader *r, const asi_along *a, double x, double out[2]);
bool asi_along_value(asi_reader *r, const asi_along *a, double x, double *out);

// ---- events (events.c) ------------------------------------------------------------------------------

/// A mapping of parameters to formulas.
bool asi_read_settings(asi_reader *r, const asi_value *v, asi_settings *out);

// ---- rotations (rotation.c) -------------------------------------------------------------------------

/// `rotation: {axis: [0, 0, 1], angle_deg: 30}`
typedef struct asi_turn {
  double axis[3];
  double angle, angle_deg; ///< NAN: not given
} asi_turn;

asi_turn asi_default_turn(void);
/// Sets the quaternion if a turn was given.
as_status asi_turn_apply(const asi_turn *turn, double quaternion[4], as_error *error);

#endif

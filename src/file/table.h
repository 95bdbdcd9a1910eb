/// The table of all keys of a model file. The reader, the JSON Schema and the page of keys are made from it: a new
/// key is a row, a new kind of joint or force is a few rows and one function that adds it.
///
/// Rows stand with the functions that use them: bodies.c, joints.c, forces.c, shapes.c, run.c; root.c puts them
/// together.
#ifndef ALPHASTEP_FILE_TABLE_H
#define ALPHASTEP_FILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/rule.h"
#include "alphastep/status.h"
#include "file/value.h"
#include "model/names.h"

typedef struct asi_reader asi_reader;
typedef struct asi_table asi_table;
typedef struct asi_section asi_section;

/// What a key's value is; and what the reader writes at its offset.
typedef enum asi_key_type {
  ASI_KEY_NUMBER,  ///< double
  ASI_KEY_INTEGER, ///< int
  ASI_KEY_BOOLEAN, ///< bool
  ASI_KEY_TEXT,    ///< const char *
  ASI_KEY_CHOICE,  ///< int: which of `choices`
  ASI_KEY_VECTOR,  ///< `least` to `most` numbers: double[most]
  /// A list of at least `least` lists of `most` numbers each (0: of any number, but all alike): asi_rows.
  ASI_KEY_ROWS,
  ASI_KEY_NUMBERS,       ///< a list of at least `least` numbers: asi_rows with one column
  ASI_KEY_TEXTS,         ///< a list of texts: asi_texts
  ASI_KEY_PATH,          ///< of a file below the folder of this one: const char *
  ASI_KEY_FILES,         ///< a text or a list of texts: asi_texts
  ASI_KEY_NAME,          ///< of a body, frame or joint: int, its id
  ASI_KEY_NAMES,         ///< `most` such names, all different: int[most]
  ASI_KEY_NAME_LIST,     ///< one such name or a list of them: asi_ids
  ASI_KEY_ACTIVE,        ///< whether a joint holds at the start: r->inactive
  ASI_KEY_SETTINGS,      ///< parameters and formulas that they are set to: asi_settings
  ASI_KEY_CURVE,         ///< const as_curve *, good until the thing has been added
  ASI_KEY_SURFACE,       ///< const as_surface *, likewise
  ASI_KEY_FORMULA,       ///< a number or an expression that the builder compiles: const char *
  ASI_KEY_FORMULA_LIST,  ///< one of these or a list of them: asi_texts
  ASI_KEY_FORMULAS,      ///< a list of `most` of these: const char *[most]
  ASI_KEY_OBJECT,        ///< keys of its own: a struct
  ASI_KEY_THINGS,        ///< a mapping of named things: const asi_value *
  ASI_KEY_SHAPES,        ///< a list of shapes, which are read at once: int, the number of the first
  ASI_KEY_GROUND_SHAPES, ///< a list of shapes of the ground, which are read later: const asi_value *
  ASI_KEY_GROUPS,        ///< a list of groups of things to be repeated: const asi_value *
  ASI_KEY_PARAMETERS,    ///< named numbers: const asi_value *
  ASI_KEY_TABLES,        ///< named tables, by keys of their own: const asi_value *
  ASI_KEY_FORMULA_MAP,   ///< names and numbers, formulas or null: const asi_value *
  ASI_KEY_VALUE_MAP,     ///< names of others and numbers, texts or booleans: const asi_value *
  ASI_KEY_CHOSEN,        ///< a thing of one of several kinds: asi_chosen
  ASI_KEY_NUMBERED,      ///< whole numbers and a name for each: asi_numbered
  ASI_KEY_KIND,          ///< which kind of thing it is: nothing
} asi_key_type;

/// Which numbers are allowed.
typedef enum asi_range {
  ASI_ANY,
  ASI_POSITIVE,
  ASI_NOT_NEGATIVE,
  ASI_FRACTION, ///< 0 to 1
} asi_range;

/// What becomes of a value in the mirror image of a group (mirror.c).
typedef enum asi_mirror {
  ASI_MIRROR_NOTHING,
  ASI_MIRROR_ARROW, ///< a place, a velocity, a force: what is across the plane changes its sign
  ASI_MIRROR_TURN,  ///< an axis, an angular velocity, a torque: what is in the plane does
  ASI_MIRROR_QUATERNION, ///< its vector, likewise
  ASI_MIRROR_INERTIA,    ///< products of inertia with the direction across the plane
  ASI_MIRROR_NUMBER,     ///< changes its sign
  ASI_MIRROR_SIDE,       ///< a choice of left and right: the other one
  ASI_MIRROR_REFUSED,    ///< what has such a key has no mirror image
} asi_mirror;

/// One row.
typedef struct asi_key {
  const char *name;
  asi_key_type type;
  size_t offset;
  bool required;
  asi_range range;
  int least, most;
  asi_entity_kind sort;       ///< of what a name is
  const char *const *choices; ///< NULL at the end
  const asi_table *table;     ///< of an object
  const asi_section *section; ///< of things
  const char *instead_of;     ///< the key whose place it takes: never both
  const char *with;           ///< only beside this key; if required: needed beside it
  asi_mirror mirror;
  const char *unit;      ///< NULL: none
  const char *otherwise; ///< what holds without it, for the page; NULL: nothing to say
  const char *text;      ///< what it is
} asi_key;

/// The keys of a mapping: those of `base`, then its own.
struct asi_table {
  const char *name; ///< in the schema and on the page
  const asi_table *base;
  const asi_key *key;
  int n;
};

typedef struct asi_kind asi_kind;

/// Adds what was read to the builder; the sentence of a failure goes to `error`.
typedef as_status asi_add_fn(asi_reader *r, const asi_kind *kind, const char *name, void *thing,
                             as_error *error);

/// A kind of body, joint, force or shape.
struct asi_kind {
  const char *type; ///< the value of its key `type`; NULL: the section has one kind only
  int code;         ///< what the builder calls it
  const asi_table *table;
  size_t size;                  ///< of what is read
  void (*prepare)(void *thing); ///< fills in what holds otherwise; NULL: zeros
  asi_add_fn *add;
  bool late;        ///< it refers to others of its section: after them
  const char *text; ///< what it is
};

/// A sort of things.
struct asi_section {
  const char *what; ///< `joint`
  asi_entity_kind sort;
  const asi_kind *const *kind;
  int n;
  bool first_is_default; ///< without `type` it is of the first kind
};

/// What a list of numbers or of lists is read into; good until the thing has been added.
typedef struct asi_rows {
  double *number; ///< by rows
  int n;          ///< rows
  int columns;
} asi_rows;

typedef struct asi_texts {
  const char **text;
  const asi_value **value;
  int n;
} asi_texts;

/// Joints by their names; and parameters with formulas. Both are good as long as the machine.
typedef struct asi_ids {
  as_joint_id *id;
  int n;
} asi_ids;

typedef struct asi_settings {
  as_rule_setting *setting;
  int n;
} asi_settings;

/// One thing of a section, good until the thing that it is part of has been added; kind NULL: not given.
typedef struct asi_chosen {
  const asi_kind *kind;
  void *thing;
} asi_chosen;

/// Likewise.
typedef struct asi_numbered {
  int *number, *id;
  const asi_value **value; ///< of the name
  int n;
} asi_numbered;

const char *asi_entity_kind_plural(asi_entity_kind sort);

/// Key number `i` of a table, those of its base first; NULL: there are no more.
const asi_key *asi_table_key(const asi_table *table, int i);
const asi_key *asi_table_find(const asi_table *table, const char *name);

extern const asi_table asi_root_table, asi_group_table, asi_curve_table, asi_surface_table,
    asi_turn_table, asi_points_table, asi_any_joint_table, asi_own_template_table;
extern const char *const asi_interpolations[]; ///< by as_interpolation; NULL at the end
extern const asi_section asi_superelements, asi_bodies, asi_frames, asi_joints, asi_forces,
    asi_shapes, asi_block_section, asi_event_section, asi_beam_section_kinds, asi_beam_lines,
    asi_beam_things, asi_flexible_things, asi_roads, asi_fmu_section;

#define ASI_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif

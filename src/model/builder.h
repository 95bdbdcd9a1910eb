/// The builder: descriptions checked and turned into elements, before anything is numbered.
#ifndef ALPHASTEP_MODEL_BUILDER_H
#define ALPHASTEP_MODEL_BUILDER_H

#include "alphastep/model.h"
#include "base/export.h"
#include "control/linear.h"
#include "control/plugin.h"
#include "elements/body.h"
#include "elements/flexible.h"
#include "elements/joint.h"
#include "elements/superelement.h"
#include "expression/expression.h"
#include "model/names.h"

/// Ids inside are their numbers; checked once, where they come in.
enum {
  ASI_GROUND = -1, ///< AS_GROUND
  ASI_NONE = -2,   ///< AS_NO_BODY, ...
  ASI_SELF = -3,   ///< AS_SELF
};

/// A body's start as it was given.
typedef struct asi_given {
  unsigned what; ///< AS_GIVEN_...
  bool fixed;
  double position[3], quaternion[4], velocity[3], angular_velocity[3];
} asi_given;

/// A body with its starting pose.
typedef struct asi_body_start {
  asi_body body;
  asi_given given;
  double quaternion[4];
  as_body_motion at;
  bool is_node; ///< of a superelement:
  int superelement, node;
  int flexible; ///< number of its flexible body, from 1 on; 0: none
} asi_body_start;

/// A frame on a body, perhaps one that moves against it.
typedef struct asi_marker {
  int body;
  asi_frame frame;
  bool moving;
  bool used; ///< by a joint or a force
  asi_frame_motion motion;
} asi_marker;

/// An element: which functions, which data, which bodies.
typedef struct asi_element {
  const as_element_type *type;
  size_t data; ///< where its data begin
  int body[AS_ELEMENT_BODIES];
  int n_bodies;
  int n_rows;
  int n_velocity_rows;
  int n_states;
  int n_read;  ///< multipliers that its force depends on
  int reads;   ///< the joint that they belong to, if there are any
  int pattern; ///< number of its pattern
  bool rheonomic;
  as_element_inertia_fn *inertia; ///< NULL: it has no mass
} asi_element;

/// Which entries of an element's matrices can be nonzero, by rows of 6 n_bodies.
typedef struct asi_element_flags {
  int n_bodies, n_rows, n_velocity_rows;
  int n_states;
  int n_read;  ///< multipliers that it reads
  bool force;  ///< it writes a force
  bool theirs; ///< an element of the user's: it may write where it has no entries
  bool f_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  bool f_v[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  bool g_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  bool gdot_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  bool k_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  bool k_v[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  bool f_lambda[AS_ELEMENT_COLUMNS * AS_ELEMENT_ROWS]; ///< by rows of n_read
  bool M[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  bool Ma_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
} asi_element_flags;

/// What is known of a joint besides its element.
typedef struct asi_joint_info {
  as_joint_kind kind;
  int element;
  bool ours;          ///< its data begin with an asi_joint
  bool moving;        ///< a frame of it moves, or its length
  bool released;      ///< it does not hold at the start
  const char *remark; ///< what was assumed of it, see as_model_joint_remark(); NULL: nothing
  double start
      [AS_JOINT_COORDINATES]; ///< coordinates that it was assembled to: these turns its angles are in
  double
      demand; ///< when the machine was assembled, how much its rates contradicted given velocities
} asi_joint_info;

/// Where in the data a curve is referred to.
typedef struct asi_curve_place {
  size_t offset;
  int curve;
} asi_curve_place;

/// An angle of a joint that is remembered, so that it goes on beyond half a turn.
typedef struct asi_turning {
  int joint, coordinate;
} asi_turning;

/// A number that a block makes: an output y, a state x, or a held signal u.
typedef struct asi_signal {
  as_signal_kind kind;
  bool declared;                ///< only its name is known
  int block;                    ///< number of its block
  int next;                     ///< the next one of its block; -1: none
  char output[ASI_NAME_LENGTH]; ///< "": the block's own
  char unit[24];
  double start;
  double period, offset, delay; ///< of a sampled one [s]
  int wait;                     ///< of a sampled one: periods that its delay has besides `delay`
  bool
      after; ///< of a sampled one: others that are sampled at the same time read what it was before
  int element; ///< its formula; -1: it belongs to a linear system
  int linear;  ///< number of the linear system that it belongs to; -1: none
  char role;   ///< there: x, u or y; of a plugin's also s, its sampled numbers
  int index;   ///< there: among these
  int place;   ///< in y, x or u; in a model
} asi_signal;

enum { ASI_SETTINGS = 4 };

/// A switch of a builder, as_switch_def.
typedef struct asi_switch {
  int block;
  int when; ///< element of its condition
  int n;
  int signal[ASI_SETTINGS],
      value[ASI_SETTINGS]; ///< what is set, and the elements of their formulas
} asi_switch;

/// A linear system between signals of a builder; or a plugin's block, whose system says which derivatives there are.
typedef struct asi_linear_block {
  asi_linear system;
  const as_plugin_block *plugin;   ///< NULL: it is linear
  const asi_plugin_memory *memory; ///< of one with a memory; else NULL
  double *number;                  ///< of a plugin's: parameters, then constants
  int held; ///< of a plugin's: where its sampled numbers begin in u; in a model
  int block;
  bool sampled;                 ///< all of it; never of a plugin's
  double period, offset, delay; ///< of a sampled one, and of samples of a plugin's [s]
  int *element; ///< n_inputs: formulas of the inputs, which are signals only if it is not sampled
  int state, input, output; ///< where they begin: in x, y, y or all in u; in a model
} asi_linear_block;

/// A block: its signals, from the first on.
typedef struct asi_block_signals {
  int first, last; ///< -1: none
} asi_block_signals;

// Elements from which on a beam may turn faster than its first frequency: fewer can be unstable by themselves.
enum { ASI_SPINNING_ELEMENTS = 4 };

/// A beam: its elements and stations follow each other.
typedef struct asi_beam_parts {
  int element;      ///< its first
  int station;      ///< likewise
  int n;            ///< elements
  double most_spin; ///< that its mesh is fine enough for [rad/s]; infinity: any
} asi_beam_parts;

/// A station of a beam.
typedef struct asi_station {
  int beam;
  int body;
  asi_frame frame;       ///< of the section in the body
  double position[3];    ///< unloaded, world
  double axes[9];        ///< likewise, one after the other
  double compliance[36]; ///< strains by forces
  double modulus;        ///< NAN: stresses are not known
  double half[2];        ///< of the outline along 2 and 3
  bool round;
} asi_station;

/// What results show of a flexible body.
typedef struct asi_flexible_part {
  int flexible;
  int coordinate;    ///< -1: a point
  int point, stress; ///< of the mesh, by their places; stress -1: none
} asi_flexible_part;

struct as_builder {
  double gravity[3];
  asi_names names[ASI_SORTS];
  asi_body_start *body;
  int n_bodies, room_bodies;
  asi_marker *frame;
  int n_frames, room_frames;
  asi_joint_info *joint;
  int n_joints, room_joints;
  int *force; ///< elements of forces
  int n_forces, room_forces;
  asi_element *element;
  int n_elements, room_elements;
  asi_element_flags *pattern;
  int n_patterns, room_patterns;
  asi_curve *curve;
  int n_curves, room_curves;
  asi_curve_place *place;
  int n_places, room_places;
  unsigned char *data;
  size_t data_used, data_room;
  as_coordinate_def *wanted; ///< starting values of coordinates
  int n_wanted, room_wanted;
  bool assembled; ///< poses are those that assembly found
  asi_superelement *superelement;
  int n_superelements, room_superelements;
  asi_flexible *flexible;
  int n_flexibles, room_flexibles;
  asi_flexible_part *flexible_part;
  int n_flexible_parts, room_flexible_parts;
  double *parameter; ///< values at the start
  int n_parameters, room_parameters;
  asi_turning *turn; ///< angles that formulas read
  int n_turns, room_turns;
  bool law_reads_blocks;  ///< the law that is being added may use signals
  const asi_scope *outer; ///< names that formulas may use besides those of the model; NULL: none
  const char *slip_text;  ///< the formula that could not be compiled last; NULL: it could
  asi_parse_error slip;   ///< what is wrong with it
  asi_curve *table;       ///< functions that formulas may use
  int n_tables, room_tables;
  asi_block_signals *block;
  int n_blocks, room_blocks;
  asi_signal *signal;
  int n_signals, room_signals;
  asi_linear_block *linear;
  int n_linear, room_linear;
  asi_switch *switch_;
  int n_switches, room_switches;
  int *road; ///< of each road its curve
  int n_roads, room_roads;
  asi_beam_parts *beam;
  int n_beams, room_beams;
  asi_station *station;
  int n_stations, room_stations;
};

/// Copies flexible bodies; false if memory runs out: what there is can be freed.
bool asi_flexibles_copy(const asi_flexible *from, int n, asi_flexible **out, int *n_out);
void asi_flexible_free(asi_flexible *f);
void asi_flexibles_free(asi_flexible *flexible, int n);
/// An interface node of one, from 1 on, as a body sees it. In a builder its places count from the frame's.
asi_view asi_flexible_view(const asi_flexible *f, int node);

/// Copies an array; false if memory runs out: the first *n_out are there.
bool asi_linear_blocks_copy(const asi_linear_block *from, int n, asi_linear_block **out,
                            int *n_out);
void asi_linear_blocks_free(asi_linear_block *linear, int n);

/// Adds the element of a formula of a block, `signal` -1: of none; what a failure leaves is taken back. `margin`: of a condition
/// (asi_expression_margin()).
as_status asi_builder_block_formula(as_builder *b, const char *text, const char *what, int signal,
                                    bool margin, int *element, as_error *error);

/// The number of a block's signal, its own if `output` is "" (or the only output of a linear system); negative: there is none.
ASI_IO int asi_builder_find_signal(const as_builder *b, int block, const char *output);

/// A builder of its own with the same contents; NULL if memory runs out.
as_builder *asi_builder_copy(const as_builder *b);

/// Room for one more in an array that grows; false if memory runs out.
ASI_IO bool asi_grow(void **array, int count, int *room, size_t size);

/// What to go back to if adding fails.
typedef struct asi_mark {
  int n_elements, n_patterns, n_curves, n_places, n_turns;
  size_t data_used;
} asi_mark;

/// Where the data of the next element will begin.
size_t asi_builder_next_data(const as_builder *b);

asi_mark asi_builder_mark(const as_builder *b);
void asi_builder_reset(as_builder *b, asi_mark mark);

/// Makes a formula of a text. `own` are the names of ASI_OWN_SLOTS quantities, NULL where there is none; own = NULL: a
/// formula of time. A smooth one may not use tables with straight pieces.
as_status asi_builder_formula(as_builder *b, const char *text, const char *what,
                              const char *const *own, bool smooth, asi_formula **out,
                              as_error *error);
/// Tells formulas where tables are.
void asi_curves_set_tables(asi_curve *curve, int n, const asi_curve *tables);

/// Takes a curve over, if there is one, and refers to it; `own` as above.
as_status asi_builder_curve(as_builder *b, const as_curve *def, const char *what,
                            const char *const *own, asi_curve_ref *ref, as_error *error);

/// The same for a motion, which may not have kinks.
as_status asi_builder_motion(as_builder *b, const as_curve *def, const char *what,
                             asi_curve_ref *ref, as_error *error);
/// The same for a function of two variables.
as_status asi_builder_surface(as_builder *b, const as_surface *def, const char *what,
                              const char *const *own, asi_curve_ref *ref, as_error *error);

/// The number of the held signal that remembers an angle, behind the parameters; -1 without memory.
int asi_builder_turn(as_builder *b, int joint, int coordinate);

/// Appends an element with a copy of its data; `refs` are the offsets of curve references in them.
as_status asi_builder_element(as_builder *b, const asi_element *element,
                              const asi_element_flags *flags, const void *data, size_t size,
                              const size_t *refs, int n_refs, as_error *error);

/// Appends a joint and its name; `id` may be NULL.
as_status asi_builder_joint(as_builder *b, const char *name, asi_joint_info info, as_joint_id *id,
                            as_error *error);

/// Whether there is such a body, or ASI_GROUND; `what` is the thing that asks.
as_status asi_builder_check_body(const as_builder *b, as_body_id body, asi_entity_kind sort,
                                 const char *what, as_error *error);
/// The body's starting pose, of the ground too.
ASI_IO const as_body_motion *asi_builder_pose(const as_builder *b, int body);

/// A frame by its number, or one on a body at a place in the world with axes x, y, z there (by rows).
typedef struct asi_side_def {
  as_frame_id frame;
  as_body_id body;
  const double *point;
  const double *axes; ///< 9
} asi_side_def;

as_status asi_builder_side(const as_builder *b, const asi_side_def *def, asi_entity_kind sort,
                           const char *name, asi_marker *out, as_error *error);
/// Refuses what is `off` a point mass, in world axes, by more than typed digits leave open.
as_status asi_builder_check_offset(const as_builder *b, int body, const double off[3],
                                   asi_entity_kind sort, const char *name, as_error *error);

/// Axes x, y, z by rows with `main` along axis `k` and `second` near axis `l`; zero vectors: any. False if
/// they are parallel or not finite.
bool asi_triad(const double *main, int k, const double *second, int l, double axes[9]);

/// Refuse numbers that are not finite, and a quaternion that is not of length 1 but for rounding: `of body "name"`.
as_status asi_check_finite(const double *x, int n, const char *what, const char *sort,
                           const char *name, as_error *error);
as_status asi_unit_quaternion(const double *given, const char *sort, const char *name, double *out,
                              as_error *error);
/// Notes what its inertia tensor is like.
void asi_body_note_inertia(asi_body *body);

/// The name that a thing has or will have, for messages.
const char *asi_builder_name(const as_builder *b, asi_entity_kind sort, const char *name,
                             char store[32]);

#endif

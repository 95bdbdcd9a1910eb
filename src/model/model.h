/// A model: bodies and elements, numbered, with everything that an evaluation needs at hand.
#ifndef ALPHASTEP_MODEL_MODEL_H
#define ALPHASTEP_MODEL_MODEL_H

#include "alphastep/model.h"
#include "base/export.h"
#include "elements/ball.h"
#include "elements/descriptor.h"
#include "elements/gauge.h"
#include "linalg/matrix.h"
#include "model/builder.h"

typedef struct asi_control asi_control;

/// The local matrices of an element, and where the force is general, its constraint forces by multipliers.
typedef enum asi_local_block {
  ASI_F_Q,
  ASI_F_V,
  ASI_G_Q,
  ASI_GDOT_Q,
  ASI_K_Q,
  ASI_K_V,
  ASI_F_LAMBDA,
  ASI_REACTION,          ///< -g_q^T, in F_LAMBDA; entries are those of g_q
  ASI_VELOCITY_REACTION, ///< -k_v^T, in F_PSI; entries are those of k_v
  ASI_LOCAL_BLOCKS
} asi_local_block;

as_block asi_global_block(asi_local_block block);

/// How a body enters an element's matrices.
typedef enum asi_body_role {
  ASI_ROLE_GROUND,
  ASI_ROLE_POINT,
  ASI_ROLE_R3SO3,
  ASI_ROLE_SE3,
  ASI_ROLE_NODE,       ///< of a superelement, with rotations or turned axes
  ASI_ROLE_NODE_POINT, ///< another node: like a point, but its coordinates may stand anywhere in v
  ASI_ROLE_VIEW        ///< of a flexible body: its columns are those of z
} asi_body_role;

/// Three columns of an element's matrix, `rows` rows of them, that go to successive rows of the problem's block.
typedef struct asi_strip {
  unsigned short corner; ///< its first entry: row * columns + column
  unsigned short rows;
} asi_strip;

/// What elements have in common that have the same pattern on bodies of the same spaces: the entries of their
/// matrices that go into the problem's blocks.
typedef struct asi_scatter_map {
  int pattern;
  asi_body_role role[AS_ELEMENT_BODIES];
  bool force; ///< it writes a force
  bool se3;   ///< a body is on SE(3): local matrices have to be transformed
  bool node;  ///< a body is a node: likewise
  bool view;  ///< a body is a node of a flexible body: likewise
  signed char frame[AS_ELEMENT_BODIES]; ///< of a view: which of the bodies is its frame
  bool theirs; ///< an element of the user's: it may write where it has no entries
  unsigned char freedom[AS_ELEMENT_BODIES]; ///< bit k: the body can be moved along column k
  unsigned offers;                          ///< what it has something to say to: ASI_WANT_...
  int n_bodies; ///< of the element, and behind them frames of nodes that are not among them
  int n_rows, n_velocity_rows, n_read, n_states;
  int count[ASI_LOCAL_BLOCKS];
  size_t bytes[ASI_LOCAL_BLOCKS];          ///< of the element's matrix
  unsigned short *local[ASI_LOCAL_BLOCKS]; ///< count numbers: row * columns + column
  /// Behind them: entries of bodies that cannot be moved that way, which are written all the same.
  int written[ASI_LOCAL_BLOCKS];
  /// Most of them, the first, are in strips, one after the other, each column by column.
  int n_strips[ASI_LOCAL_BLOCKS];
  asi_strip *strip[ASI_LOCAL_BLOCKS];
  /// Which 3 x 3 blocks the element itself writes, of f_q and of f_v; only where a body is on SE(3).
  bool f_q_block[2 * AS_ELEMENT_BODIES][2 * AS_ELEMENT_BODIES];
  bool f_v_block[2 * AS_ELEMENT_BODIES][2 * AS_ELEMENT_BODIES];
} asi_scatter_map;

/// An element in its place. What the evaluation of ball joints reads comes first.
typedef struct asi_placed {
  const asi_ball *ball; ///< of a ball joint between rigid bodies on the same space
  unsigned first;       ///< bit b: no element before it touches its body b
  int shape;
  asi_element e;
  const void *data;
  const asi_descriptor *descriptor;
  int row;                           ///< of lambda
  int velocity_row;                  ///< of psi
  int read_row;                      ///< of lambda: the first that it reads
  int stateful;                      ///< of an element with states: which of those of m->blocks
  size_t position[ASI_LOCAL_BLOCKS]; ///< where its list of positions begins
} asi_placed;

/// An entry of an element's mass matrix: row * columns + column, and where it goes in the problem's block. Or six rows and three
/// columns from there on.
typedef struct asi_inertia_entry {
  int local, position;
  int step; ///< from column to column in the problem's block; 0: one entry
} asi_inertia_entry;

/// An element that has mass: its entries of M, then of D_q (M v'), in as_model.inertia.
typedef struct asi_massive {
  int element;
  size_t first;
  int n_M, n_Ma_q;
} asi_massive;

struct as_model {
  double gravity[3];
  int n, nq, n_lambda, n_psi;
  bool general; ///< a force depends on multipliers
  int n_blocks; ///< local blocks that there can be: the first so many
  asi_names names[ASI_SORTS];
  int n_bodies, n_frames, n_joints, n_forces, n_elements, n_shapes, n_curves;
  int most_bodies; ///< of an element
  asi_body *body;
  asi_body_place *body_place;
  int *untouched; ///< n_untouched: bodies that no element touches
  int n_untouched;
  asi_marker *frame;
  asi_joint_info *joint;
  int *force;
  asi_placed *element;
  asi_scatter_map *shape;
  int *position; ///< lists of positions in the blocks' values
  asi_ball *ball;
  asi_curve *curve;
  asi_curve *table; ///< functions that formulas use
  int n_tables;
  unsigned char *data;
  double *mass; ///< the values of M, without elements that have mass
  size_t n_mass;
  asi_massive *massive; ///< n_massive: elements that have mass
  int n_massive;
  bool joins_inertia;         ///< all of them are beams, which can have D_q (M v') in f_q
  asi_inertia_entry *inertia; ///< all their lists
  int *row_joint;             ///< n_lambda + n_psi
  bool *active;               ///< likewise: which rows hold at the start
  double *q0, *v0;
  unsigned char *keep; ///< n: as_initial.keep
  asi_given *given;    ///< n_bodies: the starts as they were given, before assembly
  bool assembled;
  int n_parameters; ///< held signals
  int *timed;       ///< n_timed: curves that are known to bend or jump at certain times
  int n_timed;
  int n_turns;     ///< held signals behind them: angles that are remembered
  asi_gauge *turn; ///< n_turns: these angles; bodies are the model's
  int *turn_joint; ///< n_turns: whose
  double *u0;      ///< all of them at the start
  as_problem *problem;
  as_initial initial;
  const double *gap; ///< only while a machine is assembled: rows of g that are allowed to stay
  double gap_factor; ///< how much of them
  int *road;         ///< n_roads: their curves
  int n_roads;
  asi_beam_parts *beam;
  int n_beams;
  asi_station *station;
  int n_stations;
  asi_superelement *superelement;
  int n_superelements;
  asi_node *node; ///< n_bodies; only of bodies that are nodes
  asi_flexible *flexible;
  int n_flexibles;
  asi_flexible_part *flexible_part;
  asi_view *view;      ///< n_bodies; only of nodes of flexible bodies, but their frames
  asi_control *blocks; ///< NULL: none
  int n_parts;         ///< that may be evaluated at the same time, see parts.c; 0: none
  int *part_of_body;   ///< n_bodies
  size_t *part_start;  ///< n_parts + 1: where the list of a part's elements begins
  int *
      part_element; ///< those that touch its bodies; -1 - element: of which others touch bodies of other parts
};

/// Divides bodies into parts for threads, if they are many and nothing speaks against it, see parts.c.
as_status asi_build_parts(as_model *m, as_error *error);
/// The part of an element's rows: that of its first body.
int asi_part_of_rows(const as_model *m, const asi_placed *e);

/// Notes what is given of the start, and what may not be changed, see given.c.
as_status asi_model_note_given(as_model *m, const as_builder *b, as_error *error);

/// Fills the callbacks of a description; with those of blocks, and of elements with mass, if there are any.
void asi_model_callbacks(as_problem_def *def, const as_model *m);

/// Callbacks return this and the number of the element that could not be evaluated, behind those of elements that of a
/// superelement, then of a flexible body; of a fatal failure the negative.
enum { ASI_BLAMED = AS_RETRY + 1 };
/// Names of components and of what is to blame, see as_describe_fn; and why, see as_explain_fn.
void asi_model_describe(as_quantity quantity, int index, char *text, size_t size, void *user);
void asi_model_explain(const as_point *at, int code, char *text, size_t size, void *user);
/// Where the states of an element stand in x; NULL: it has none, or `x` is NULL.
const double *asi_element_states(const as_model *m, const asi_placed *e, const double *x);
/// Where an element stands in a point.
void asi_element_point(const as_point *at, const asi_placed *e, as_element_input *in);
/// Says which joints hold the same directions: as_redundancy_fn.
void asi_describe_redundancy(const as_point *at, const int *redundant, int count, const int *group,
                             char *text, size_t size, void *user);
/// Makes the angles that formulas read; their starting values go to u0.
as_status asi_model_make_turns(as_model *m, const as_builder *b, as_error *error);
/// Lists the curves that have known times.
as_status asi_model_find_times(as_model *m, as_error *error);
/// Says when these are; NULL if there are none.
as_time_fn *asi_model_next_time(const as_model *m);
/// Whether nothing in it depends on the time.
bool asi_model_is_autonomous(const as_model *m);
/// Remembers them after a step; NULL if there are none.
as_vector_fn *asi_model_follow(const as_model *m);
/// The joint of one that has turned so far in a step that it cannot be told how often, or -1.
int asi_model_turns_too_far(const as_model *m, const as_point *from, const as_point *to);
/// The check of steps; NULL if the model has nothing to be checked.
as_step_fn *asi_model_check_step(const as_model *m);

// ---- evaluation of single elements ------------------------------------------------------------------

/// What to evaluate.
enum {
  ASI_WANT_FORCE = 1,
  ASI_WANT_F_Q = 2,
  ASI_WANT_F_V = 4,
  ASI_WANT_G = 8,
  ASI_WANT_G_Q = 16,
  ASI_WANT_RATE = 32,
  ASI_WANT_GDOT_Q = 64,
  ASI_WANT_ACCELERATION = 128,
  ASI_WANT_K = 256,
  ASI_WANT_K_Q = 512,
  ASI_WANT_K_V = 1024,
  ASI_WANT_K_RATE = 2048,
  ASI_WANT_F_LAMBDA = 4096,
  ASI_WANT_STATE_RATE = 8192,
  ASI_WANT_STATE_TANGENTS = 16384 ///< state_q, state_v, state_x, f_x
};

/// What a local block needs.
extern const unsigned asi_block_want[ASI_LOCAL_BLOCKS];

/// Room for what an element writes.
typedef struct asi_local {
  double force[AS_ELEMENT_COLUMNS];
  double g[AS_ELEMENT_ROWS], rate[AS_ELEMENT_ROWS], acceleration[AS_ELEMENT_ROWS];
  double g_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  double gdot_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  double f_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  double f_v[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  // From here on only for models with velocity rows or general forces.
  double k[AS_ELEMENT_ROWS], k_rate[AS_ELEMENT_ROWS];
  double k_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  double k_v[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS];
  double f_lambda[AS_ELEMENT_COLUMNS * AS_ELEMENT_ROWS];
} asi_local;

/// Takes what an element wrote to the spaces of its bodies, see se3_local.c. What `wanted` needs besides is
/// asi_se3_needs().
void asi_se3_transform(const asi_scatter_map *shape, const as_element_input *in, unsigned wanted,
                       asi_local *local);
unsigned asi_se3_needs(const asi_scatter_map *shape, unsigned wanted);

/// The same for nodes of superelements, see node_local.c; after the above, which says what is needed.
void asi_node_transform(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                        const as_element_input *in, const double *q, const double *v,
                        unsigned wanted, asi_local *local);
/// The same for nodes of flexible bodies, see view_local.c; before the others. It widens matrices to the columns of frames.
void asi_view_transform(const as_model *m, const asi_scatter_map *shape, const asi_placed *e,
                        const as_element_input *in, const double *q, const double *v,
                        unsigned wanted, asi_local *local);
void asi_view_spread_flags(const asi_scatter_map *shape, int n_element_bodies,
                           asi_element_flags *f);

/// What it does to patterns.
void asi_node_spread(const asi_scatter_map *shape, asi_element_flags *f);

/// The body of an element, where q and v (may be NULL) say; the ground is at rest.
ASI_IO void asi_model_motion(const as_model *m, int body, const double *q, const double *v,
                             as_body_motion *out);

#endif

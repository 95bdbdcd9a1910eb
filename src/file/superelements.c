/// Superelements in files: their matrices are Matrix Market files beside the model file. A body of type `node` is one
/// of their nodes.
#include <math.h>
#include <stdio.h>

#include "alphastep/superelement.h"
#include "base/error.h"
#include "base/file.h"
#include "file/kinds.h"

// ---- superelements ----------------------------------------------------------------------------------

enum { MASS, STIFFNESS, DAMPING, LOAD, N_MATRICES };
enum { NODE_NUMBERS = 9 }; ///< of a row of `nodes`

typedef struct superelement_thing {
  as_superelement_def def;
  const char *file[N_MATRICES]; ///< NULL: none
  asi_rows nodes, displacement, velocity;
  asi_turn turn;
} superelement_thing;

#define AT(field) offsetof(superelement_thing, field)
static const asi_key keys[] = {
    {"mass", ASI_KEY_PATH, AT(file[MASS]), .required = true, .unit = "kg, kg m^2",
     .mirror = ASI_MIRROR_REFUSED,
     .text = "a Matrix Market file, relative to this file and below its folder: the mass matrix of "
             "n coordinates"},
    {"stiffness", ASI_KEY_PATH, AT(file[STIFFNESS]), .unit = "N/m, N m", .otherwise = "none",
     .text = "likewise the stiffness matrix"},
    {"damping", ASI_KEY_PATH, AT(file[DAMPING]), .unit = "N s/m, N m s", .otherwise = "none",
     .text = "likewise the damping matrix"},
    {"load", ASI_KEY_PATH, AT(file[LOAD]), .unit = "N, N m", .otherwise = "none",
     .text = "likewise the loads, n x 1"},
    {"factor", ASI_KEY_CURVE, AT(def.factor), .with = "load", .otherwise = "1",
     .text = "of the load, a function of time"},
    {"nodes", ASI_KEY_ROWS, AT(nodes), .least = 1, .most = NODE_NUMBERS, .unit = "m",
     .text = "of each node: its position x, y, z in the superelement's frame, then which "
             "coordinates, from 0, are its displacements along and its rotations about x, y, z; "
             "-1: it does not move that way"},
    {"position", ASI_KEY_VECTOR, AT(def.position), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]", .text = "of its frame in the world"},
    {"quaternion", ASI_KEY_VECTOR, AT(def.quaternion), .least = 4, .most = 4,
     .otherwise = "[1, 0, 0, 0]", .text = "its frame to the world: w, x, y, z, of length 1"},
    {"rotation", ASI_KEY_OBJECT, AT(turn), .table = &asi_turn_table, .instead_of = "quaternion",
     .text = "the same, by axis and angle"},
    {"displacement", ASI_KEY_NUMBERS, AT(displacement), .least = 1, .unit = "m, rad",
     .otherwise = "zeros", .text = "of the n coordinates at the start"},
    {"velocity", ASI_KEY_NUMBERS, AT(velocity), .least = 1, .unit = "m/s, rad/s",
     .otherwise = "zeros", .text = "of the n coordinates at the start"},
};
#undef AT
static const asi_table table = {"superelement", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) {
  superelement_thing *thing = out;
  thing->def = as_default_superelement_def();
  thing->turn = asi_default_turn();
}

/// A file that is there has been read wrongly because of what is in it.
static bool is_there(const char *path) {
  const char *why;
  FILE *file = asi_file_open(path, &why);
  if (file) fclose(file);
  return file != NULL;
}

static as_status read_matrices(asi_reader *r, const superelement_thing *thing,
                               as_sparse *matrix[N_MATRICES], as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < N_MATRICES && status == AS_OK; ++i) {
    if (thing->file[i] == NULL) continue;
    status = as_sparse_read(thing->file[i], &matrix[i], error);
    if (status == AS_OK) asi_note_file(r, thing->file[i]);
    if (status == AS_ERR_FILE) r->unreadable = r->unreadable || !is_there(thing->file[i]);
  }
  return status;
}

static as_status take_nodes(asi_reader *r, superelement_thing *thing, const char *name,
                            as_error *error) {
  const asi_rows *rows = &thing->nodes;
  as_superelement_node *node = asi_arena_take(&r->scratch, (size_t)rows->n * sizeof *node);
  if (node == NULL) return AS_ERR_MEMORY;
  for (int i = 0; i < rows->n; ++i) {
    const double *row = rows->number + (ptrdiff_t)i * NODE_NUMBERS;
    for (int k = 0; k < 3; ++k) node[i].position[k] = row[k];
    for (int k = 0; k < 6; ++k) {
      if (row[3 + k] != floor(row[3 + k]) || !(fabs(row[3 + k]) <= AS_SPARSE_ROWS))
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "Node %d of superelement \"%s\" has coordinate %g, which is none.", i, name,
                        row[3 + k]);
      node[i].coordinate[k] = (int)row[3 + k];
    }
  }
  thing->def.node = node;
  thing->def.n_nodes = rows->n;
  return AS_OK;
}

/// The numbers of the start; NULL: none.
static as_status take_start(const asi_rows *rows, int n, const char *what, const char *name,
                            const double **out, as_error *error) {
  if (rows->n > 0 && rows->n != n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The superelement \"%s\" has %d coordinates, but its %s has %d numbers.", name,
                    n, what, rows->n);
  *out = rows->number;
  return AS_OK;
}

static as_status add_read(asi_reader *r, superelement_thing *thing,
                          as_sparse *const matrix[N_MATRICES], as_error *error) {
  as_superelement_def *def = &thing->def;
  def->mass = matrix[MASS];
  def->stiffness = matrix[STIFFNESS];
  def->damping = matrix[DAMPING];
  def->load = matrix[LOAD];
  const int n = def->mass->rows;
  as_status status = asi_turn_apply(&thing->turn, def->quaternion, error);
  if (status == AS_OK) status = take_nodes(r, thing, def->name, error);
  if (status == AS_OK)
    status =
        take_start(&thing->displacement, n, "displacement", def->name, &def->displacement, error);
  if (status == AS_OK)
    status = take_start(&thing->velocity, n, "velocity", def->name, &def->velocity, error);
  return status ? status : as_builder_add_superelement(r->builder, def, NULL, error);
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  superelement_thing *thing = read;
  as_sparse *matrix[N_MATRICES] = {NULL};
  (void)kind;
  thing->def.name = name;
  as_status status = read_matrices(r, thing, matrix, error);
  if (status == AS_OK) status = add_read(r, thing, matrix, error);
  for (int i = 0; i < N_MATRICES; ++i) as_sparse_destroy(matrix[i]);
  return status;
}

static const asi_kind superelement_kind = {
    NULL,
    0,
    &table,
    sizeof(superelement_thing),
    prepare,
    add,
    .text =
        "a linear structure given by its matrices ([superelement.md](elements/superelement.md))"};
static const asi_kind *const kinds[] = {&superelement_kind};
const asi_section asi_superelements = {"superelement", ASI_SORT_SUPERELEMENT, kinds, 1, true};

// ---- nodes ------------------------------------------------------------------------------------------

typedef struct node_thing {
  as_node_def def;
  int first_shape; ///< -1: it has none
} node_thing;

#define AT(field) offsetof(node_thing, field)
static const asi_key node_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`node`"},
    {"superelement", ASI_KEY_NAME, AT(def.superelement), .required = true,
     .sort = ASI_SORT_SUPERELEMENT, .text = "whose node it is"},
    {"node", ASI_KEY_INTEGER, AT(def.node), .required = true, .range = ASI_NOT_NEGATIVE,
     .text = "its number in the list `nodes`, from 0"},
    {"shapes", ASI_KEY_SHAPES, AT(first_shape), .section = &asi_shapes,
     .text = "what is drawn, in the node's frame"},
};
#undef AT
static const asi_table node_table = {"node", NULL, node_keys, ASI_COUNT(node_keys)};

static void prepare_node(void *out) { ((node_thing *)out)->first_shape = -1; }

static as_status add_node(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  as_body_id id;
  node_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  const as_status status = as_builder_add_node(r->builder, &thing->def, &id, error);
  if (status == AS_OK && thing->first_shape >= 0)
    asi_give_shapes(r, thing->first_shape, id, (const double[3]){0.0, 0.0, 0.0});
  return status;
}

const asi_kind asi_node_kind = {
    "node",       0,        &node_table, sizeof(node_thing),
    prepare_node, add_node, false,       "a node of a superelement, to which others may be joined"};

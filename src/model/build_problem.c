/// The problem of a model: its definition, with groups of unknowns and typical sizes.
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/build.h"
#include "model/flexibles.h"
#include "model/superelements.h"

/// An element with rows and the bodies it joins, for numbering joints by what they join.
typedef struct pairing {
  int low, high, element;
} pairing;

static int compare_pairings(const void *a, const void *b) {
  const pairing *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return (x->high > y->high) - (x->high < y->high);
}

/// Joints between the same two bodies count as one when unknowns are ordered: a driven joint is still a leaf.
static as_status group_joints(const as_model *m, int *joint, as_error *error) {
  pairing *list = asi_calloc((size_t)m->n_joints, sizeof *list);
  if (list == NULL) return asi_fail_memory(error);
  int count = 0;
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_element *e = &m->element[i].e;
    if (e->n_rows == 0) continue;
    const int a = e->body[0], b = e->n_bodies == 2 ? e->body[1] : -2 - i;
    list[count++] = (pairing){a < b ? a : b, a < b ? b : a, i};
  }
  if (count > 0) qsort(list, (size_t)count, sizeof *list, compare_pairings);
  int group = -1;
  for (int k = 0; k < count; ++k) {
    if (k == 0 || list[k].low != list[k - 1].low || list[k].high != list[k - 1].high) ++group;
    const asi_placed *p = &m->element[list[k].element];
    for (int r = 0; r < p->e.n_rows; ++r) joint[p->row + r] = group;
  }
  free(list);
  return AS_OK;
}

/// Runs of bodies on the same space, then superelements, then flexible bodies; `parts` has room for one of each.
static int list_parts(const as_model *m, as_space_part *parts) {
  int n = 0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    if (asi_body_is_node(body)) continue;
    const as_space_kind kind = body->n < 6 ? AS_SPACE_RN
                               : body->se3 ? AS_SPACE_SE3
                                           : AS_SPACE_R3SO3;
    const int count = kind == AS_SPACE_RN ? 3 : 1;
    if (n > 0 && parts[n - 1].kind == kind)
      parts[n - 1].count += count;
    else
      parts[n++] = (as_space_part){kind, count};
  }
  for (int i = 0; i < m->n_superelements; ++i)
    parts[n++] = (as_space_part){AS_SPACE_RN, m->superelement[i].n};
  for (int i = 0; i < m->n_flexibles; ++i)
    if (m->flexible[i].data->coordinate_count > 0)
      parts[n++] = (as_space_part){AS_SPACE_RN, m->flexible[i].data->coordinate_count};
  return n;
}

/// Where no joint says how large a machine is: the largest radius of gyration, or how far its points are from the origin, over
/// their number: about a link of a chain.
static double length_of_bodies(const as_model *m) {
  double gyration = 0.0, apart = 0.0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    if (asi_body_is_node(body)) continue;
    for (int k = 0; k < 3 && body->n == 6 && body->mass > 0.0; ++k)
      gyration = fmax(gyration, sqrt(fabs(body->J[4 * k]) / body->mass));
    apart = fmax(apart, asi_norm(m->q0 + body->q));
  }
  const double length = gyration > 0.0 ? gyration : apart / m->n_bodies;
  return isfinite(length) ? length
                          : 0.0; // numbers too large to compute with are told of by the run
}

/// The longest element of a beam.
static double length_of_beams(const as_model *m) {
  double longest = 0.0;
  for (int i = 0; i < m->n_beams; ++i)
    for (int k = 0; k < m->beam[i].n; ++k) {
      const asi_beam *b = m->element[m->beam[i].element + k].data;
      longest = fmax(longest, b->length);
    }
  return longest;
}

// Joints that are this much nearer to the centres of their bodies than the bodies are large are there but for round-off.
#define ROUND_OFF 1e-9

/// A length of the machine: how far its frames and bodies lie from each other, roughly; `far` is the joint that says so.
static double typical_length(const as_model *m, int *far) {
  double largest = length_of_beams(m);
  *far = ASI_NONE;
  for (int i = 0; i < m->n_joints; ++i) {
    const asi_placed *p = &m->element[m->joint[i].element];
    const asi_joint *joint = p->data;
    for (int s = 0; s < 2 && m->joint[i].ours; ++s) {
      if (p->e.body[s] < 0 || asi_norm(joint->frame[s].p) <= largest) continue;
      largest = asi_norm(joint->frame[s].p);
      *far = i;
    }
  }
  const double bodies = length_of_bodies(m);
  if (!(largest > ROUND_OFF * bodies)) largest = bodies;
  return largest > 0.0 ? largest : 1.0;
}

static as_status fail_far(const as_model *m, int joint, double length, as_error *error) {
  const char *name = asi_names_get(&m->names[ASI_SORT_JOINT], joint);
  return asi_fail(
      error, AS_ERR_ARGUMENT, (double)NAN, name,
      "The joint \"%s\" is %g m from the centre of mass of one of its bodies: that is too far.",
      name, length);
}

static void set_block(as_problem_def *def, as_block block, const asi_pattern *pattern) {
  const bool empty = pattern->col_start == NULL || asi_pattern_nnz(pattern) == 0;
  def->block[block].source = empty ? AS_BLOCK_ZERO : AS_BLOCK_GIVEN;
  if (!empty) def->block[block].pattern = (as_pattern){pattern->col_start, pattern->row};
}

as_status asi_build_problem(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                            const asi_pattern *mass, const asi_pattern *mass_q, as_error *error) {
  as_problem_def def = as_default_problem_def();
  as_space_part *parts = asi_calloc(
      (size_t)m->n_bodies + (size_t)m->n_superelements + (size_t)m->n_flexibles, sizeof *parts);
  int *body = asi_calloc((size_t)m->n, sizeof(int));
  int *joint = asi_calloc((size_t)m->n_lambda, sizeof(int));
  double *typical = asi_calloc((size_t)m->n, sizeof(double));
  bool *vector = asi_calloc((size_t)m->n, sizeof(bool));
  asi_pattern of_blocks[AS_BLOCK_COUNT] = {{0}};
  as_status status = AS_OK;
  if (!parts || !body || !joint || !typical || !vector) status = asi_fail_memory(error);
  def.n_u = m->n_parameters + m->n_turns;
  if (status == AS_OK) status = asi_blocks_describe(m, &def, of_blocks, error);
  if (status == AS_OK) status = group_joints(m, joint, error);
  if (status == AS_OK) {
    int far;
    const double length = typical_length(m, &far);
    int n_groups = 0;
    for (int i = 0; i < m->n_bodies; ++i) {
      if (asi_body_is_node(&m->body[i])) continue;
      vector[m->body[i].v] = m->body[i].n == 3;
      for (int k = 0; k < m->body[i].n; ++k) {
        body[m->body[i].v + k] = n_groups;
        typical[m->body[i].v + k] = k < 3 ? length : 1.0;
      }
      ++n_groups;
    }
    asi_flexibles_groups(m, length, body, typical);
    asi_superelements_groups(m, n_groups, length, body, typical);
    def.parts = parts;
    def.n_parts = list_parts(m, parts);
    def.n_lambda = m->n_lambda;
    def.n_psi = m->n_psi;
    def.force_kind = m->general ? AS_FORCE_GENERAL : AS_FORCE_ADDITIVE;
    def.mass_constant = m->n_massive + m->n_flexibles == 0;
    def.joins_inertia = m->joins_inertia;
    def.scleronomic = true;
    for (int i = 0; i < m->n_elements; ++i)
      if (m->element[i].e.rheonomic) def.scleronomic = false;
    asi_model_callbacks(&def, m);
    def.check_step = asi_model_check_step(m);
    def.follow = asi_model_follow(m);
    def.next_time = asi_model_next_time(m);
    def.autonomous = asi_model_is_autonomous(m);
    set_block(&def, AS_BLOCK_M, mass);
    if (!def.mass_constant) set_block(&def, AS_BLOCK_MA_Q, mass_q);
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k)
      if (asi_pattern_of(k) == k)
        set_block(&def, asi_global_block((asi_local_block)k), &pattern[k]);
    for (int k = AS_BLOCK_F_X; k < AS_BLOCK_COUNT && m->blocks; ++k)
      if (k <= AS_BLOCK_F_Y || k >= AS_BLOCK_PHI_Q) set_block(&def, (as_block)k, &of_blocks[k]);
    def.body = body;
    def.joint = joint;
    def.reaction = m->row_joint;
    def.typical = typical;
    def.vector = vector;
    def.user = m;
    status = isfinite(length) ? as_problem_create(&def, &m->problem, error)
                              : fail_far(m, far, length, error);
  }
  for (int k = 0; k < AS_BLOCK_COUNT; ++k) asi_pattern_free(&of_blocks[k]);
  free(parts);
  free(body);
  free(joint);
  free(typical);
  free(vector);
  return status;
}

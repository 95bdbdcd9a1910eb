/// The declared state of an integrator: all that later steps depend on, in one list. Saved states are written and read by it, and a step
/// or a start that fails is undone by it. What is computed before it is used is not in it.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "core/driver/integrator.h"

// Steps for which an automatic size may be held back, or shares of its error may serve: more than control.c and step_error.c ask for.
enum { MOST_PATIENCE = 100 };

static void serialize_values(as_integrator *s, const asi_values *x, asi_archive *a) {
  const as_problem *p = s->kin.problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, nx = (size_t)p->def.n_x;
  asi_archive_doubles(a, x->q, (size_t)p->nq);
  asi_archive_doubles(a, x->v, n);
  asi_archive_doubles(a, x->vdot, n);
  asi_archive_doubles(a, x->a, n);
  asi_archive_doubles(a, x->lambda, m);
  asi_archive_doubles(a, x->psi, (size_t)p->def.n_psi);
  asi_archive_doubles(a, x->eta, m);
  asi_archive_doubles(a, x->x, nx);
  asi_archive_doubles(a, x->xdot, nx);
  asi_archive_doubles(a, x->w, nx);
  asi_archive_doubles(a, x->y, (size_t)p->def.n_y);
}

static void serialize_statistics(as_statistics *x, asi_archive *a) {
  long *const counts[] = {&x->steps,
                          &x->failed_steps,
                          &x->rejected_steps,
                          &x->newton_iterations,
                          &x->factorizations,
                          &x->solves,
                          &x->mass_evaluations,
                          &x->force_evaluations,
                          &x->constraint_evaluations,
                          &x->jacobian_evaluations};
  double *const sizes[] = {&x->last_step,         &x->error,
                           &x->dynamics_residual, &x->position_residual,
                           &x->velocity_residual, &x->contraction};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) asi_archive_count(a, counts[i]);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) asi_archive_double(a, sizes[i]);
}

static void serialize_last_step(as_integrator *s, asi_archive *a) {
  asi_archive_bool(a, &s->stepper.last.known);
  if (!s->stepper.last.known) return;
  asi_archive_double(a, &s->stepper.last.t0);
  asi_archive_double(a, &s->stepper.last.h);
  asi_archive_doubles(a, s->stepper.last.a_offset, 2);
  asi_archive_doubles(a, s->stepper.last.w_offset, 2);
  asi_archive_double(a, &s->stepper.last.factor_h);
  serialize_values(s, &s->stepper.last.from, a);
  asi_archive_doubles(a, s->stepper.last.xi, (size_t)s->kin.problem->n);
  for (int i = 0; i < 2; ++i)
    asi_archive_doubles(a, s->stepper.last.rate[i], (size_t)s->kin.problem->n);
  asi_archive_bool(a, &s->stepper.last.has_middle);
  if (s->def.order == 2 && s->stepper.last.has_middle) a->damaged = true;
  if (s->stepper.last.has_middle && !a->damaged)
    asi_archive_doubles(a, s->stepper.last.middle,
                        2 * (2 * (size_t)s->kin.problem->n + (size_t)s->kin.problem->def.n_x));
  asi_archive_bool(a, &s->stepper.last.jumped);
  if (!s->stepper.last.jumped) return;
  serialize_values(s, &s->stepper.last.to, a);
  asi_archive_doubles(a, s->stepper.last.u, (size_t)s->kin.problem->def.n_u);
  asi_archive_double(a, &s->stepper.last.compliance);
  asi_archive_int(a, &s->stepper.last.n_implied, 0, s->kin.redundancy.rows);
  s->stepper.last.n_inactive = 0;
  for (int i = 0; i < s->kin.redundancy.rows; ++i) {
    asi_archive_bool(a, &s->stepper.last.inactive[i]);
    s->stepper.last.n_inactive += s->stepper.last.inactive[i];
    asi_archive_bool(a, &s->stepper.last.implied[i]);
  }
  asi_archive_doubles(a, s->stepper.last.norm_weight,
                      s->stepper.last.n_implied > 0 ? (size_t)s->kin.redundancy.rows : 0);
}

static void serialize_history(as_integrator *s, asi_archive *a) {
  const size_t n = (size_t)s->kin.problem->n, nx = (size_t)s->kin.problem->def.n_x;
  const size_t soi2 = s->def.method == AS_METHOD_SOI2 ? n : 0;
  asi_predictor *past = &s->stepper.predictor;
  asi_archive_int(a, &past->count, 0, ASI_HISTORY);
  asi_archive_int(a, &past->points, 1, ASI_MOST_POINTS);
  asi_archive_bool(a, &past->extrapolates_parasites);
  asi_archive_doubles(a, past->t, (size_t)past->count);
  for (int i = 0; i < past->count; ++i) asi_archive_doubles(a, past->z[i], (size_t)past->size);
  asi_archive_doubles(a, s->stepper.a_rate, n);
  asi_parasite *parasite = &s->stepper.parasite;
  const size_t watched =
      s->def.method == AS_METHOD_INDEX3 ? (size_t)s->kin.problem->def.n_lambda : 0;
  for (int i = 0; i < 3; ++i) asi_archive_doubles(a, parasite->past[i], watched);
  asi_archive_doubles(a, parasite->swing, watched);
  asi_archive_int(a, &parasite->known, 0, 4);
  asi_archive_int(a, &parasite->count, 0, ASI_PARASITE_STEPS);
  asi_archive_double(a, &parasite->least);
  asi_archive_int(a, &s->stepper.path.count, 0, ASI_PATH);
  for (int i = 0; i < s->stepper.path.count; ++i)
    asi_archive_doubles(a, s->stepper.path.mean[i], n);
  asi_archive_doubles(a, s->stepper.path.h, (size_t)s->stepper.path.count);
  asi_archive_double(a, &s->stepper.path.lag);
  asi_archive_bool(a, &s->stepper.path.stiff);
  asi_archive_bool(a, &s->stepper.path.leads);
  asi_archive_bool(a, &s->stepper.damping.holds);
  asi_archive_bool(a, &s->stepper.path.excited);
  asi_archive_doubles(a, s->stepper.path.extra, n);
  asi_archive_doubles(a, s->stepper.p, soi2);
  asi_archive_doubles(a, s->stepper.a_before, soi2);
  asi_archive_doubles(a, s->stepper.p_before, soi2);
  asi_archive_double(a, &s->stepper.last_h);
  asi_archive_bool(a, &s->stepper.varying);
  asi_archive_double(a, &s->mesh.t0);
  asi_archive_double(a, &s->mesh.h);
  asi_archive_count(a, &s->mesh.count);
  asi_archive_double(a, &s->mesh.jump);
  asi_archive_bool(a, &s->stepper.first);
  asi_archive_bool(a, &s->stepper.forward);
  asi_archive_double(a, &s->control.h);
  asi_archive_double(a, &s->control.error);
  asi_archive_double(a, &s->control.expected);
  asi_archive_int(a, &s->control.patience, 0, MOST_PATIENCE);
  asi_archive_doubles(a, s->control.size, 2 * n + nx);
  for (int i = 1; i < 3; ++i) asi_archive_doubles(a, s->control.mean[i], n + nx);
  asi_archive_doubles(a, s->control.mean_h + 1, 2);
  for (int i = 1; i < 3; ++i) asi_archive_doubles(a, s->control.noise[i], n + nx);
  asi_archive_double(a, &s->control.amplified);
  asi_archive_double(a, &s->control.longest);
  asi_archive_double(a, &s->control.share);
  asi_archive_double(a, &s->control.slow_share);
  asi_archive_double(a, &s->control.share_h);
  asi_archive_int(a, &s->control.by_shares, 0, MOST_PATIENCE);
  asi_archive_int(a, &s->control.most_by_shares, 0, MOST_PATIENCE);
  asi_archive_doubles(a, s->control.slow_h, 3);
  for (int i = 0; i < 3; ++i) asi_archive_doubles(a, s->control.slow[i], n);
  asi_archive_doubles(a, s->control.third, n);
  asi_archive_bool(a, &s->control.third_known);
  asi_archive_double(a, &s->kin.eval.rate);
  if (a->mode == ASI_ARCHIVE_READ) asi_control_sizes(s);
}

/// Which steps are taken, and what is known of their costs.
static void serialize_high(as_integrator *s, asi_archive *a) {
  double *const numbers[] = {&s->high.h,           &s->high.vdot_size, &s->high.until,
                             &s->high.h_settling,  &s->high.t,         &s->high.work,
                             &s->high.work_before, &s->high.cost,      &s->high.cost_of_method};
  if (s->def.order == 2) return;
  asi_archive_bool(a, &s->high.by_method);
  asi_archive_bool(a, &s->high.compares);
  asi_archive_count(a, &s->high.count);
  asi_archive_count(a, &s->high.wait);
  asi_archive_count(a, &s->high.wait_for_method);
  asi_archive_count(a, &s->high.wait_for_high);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) asi_archive_double(a, numbers[i]);
}

static void serialize_track(asi_track *x, asi_archive *a) {
  asi_archive_int(a, &x->count, 0, ASI_RESPONSES);
  asi_archive_double(a, &x->until);
  asi_archive_doubles(a, x->off, 2);
  asi_archive_doubles(a, x->t, (size_t)x->count);
  for (int i = 0; i < x->count; ++i) asi_archive_doubles(a, x->value[i], (size_t)x->size);
}

/// What held signals that change need of the steps before.
static void serialize_jump(as_integrator *s, asi_archive *a) {
  const as_problem *p = s->kin.problem;
  asi_jump_memory *jump = &s->stepper.jump;
  if (!asi_jump_applies(&s->stepper)) return;
  asi_archive_int(a, &jump->count, 0, 2);
  asi_archive_doubles(a, jump->t, 2);
  for (int i = 0; i < jump->count; ++i) asi_archive_doubles(a, jump->kept[i], asi_jump_kept(p));
  asi_archive_double(a, &jump->contraction);
  asi_archive_count(a, &jump->factor_age);
  asi_archive_count(a, &jump->seen_age);
  asi_archive_bool(a, &jump->factored);
  asi_archive_bool(a, &jump->stiff);
  asi_archive_bool(a, &jump->calm);
  if (jump->calm) asi_archive_doubles(a, s->stepper.calm_vdot, (size_t)p->n);
  asi_archive_double(a, &jump->response.t);
  asi_archive_double(a, &jump->response.h);
  asi_archive_double(a, &jump->response.most);
  if (!isnan(jump->response.t)) asi_archive_doubles(a, jump->response.direction, (size_t)p->n);
  serialize_track(&jump->response.change, a);
  serialize_track(&jump->response.slope, a);
}

static void serialize_constraints(as_integrator *s, asi_archive *a) {
  asi_redundancy *r = &s->kin.redundancy;
  const size_t rows = (size_t)r->rows;
  asi_archive_double(a, &s->stepper.base_compliance);
  s->kin.compliance = s->stepper.base_compliance;
  asi_archive_doubles(a, r->inverse_D2, rows);
  asi_archive_doubles(a, r->inverse_d2, rows);
  asi_archive_doubles(a, r->per_row, rows);
  asi_archive_int(a, &r->n_redundant, 0, r->rows);
  asi_archive_int(a, &r->n_implied, 0, r->rows);
  for (size_t i = 0; i < rows && r->n_implied > 0; ++i) asi_archive_bool(a, &r->implied[i]);
  asi_archive_doubles(a, r->column_scale, r->n_implied > 0 ? (size_t)s->kin.problem->n : 0);
  asi_archive_doubles(a, r->norm_weight, r->n_implied > 0 ? rows : 0);
  asi_archive_double(a, &r->length);
  asi_archive_double(a, &r->rounded);
  asi_archive_bool(a, &r->close);
  asi_archive_double(a, &r->response);
  asi_archive_bool(a, &r->doubtful);
  r->norm_known = r->n_implied > 0;
  s->kin.eval.n_inactive = 0;
  for (size_t i = 0; i < rows; ++i) {
    asi_archive_bool(a, &s->kin.eval.inactive[i]);
    s->kin.eval.n_inactive += s->kin.eval.inactive[i];
  }
  asi_rows_update(&s->kin, false);
}

static void serialize_newton(as_integrator *s, asi_archive *a) {
  const as_problem *p = s->kin.problem;
  bool shared = s->stepper.active == &s->stepper.shared;
  asi_archive_bool(a, &shared);
  if (a->mode == ASI_ARCHIVE_READ && shared && s->stepper.shared.size == 0) a->damaged = true;
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged)
    s->stepper.active = shared ? &s->stepper.shared : &s->stepper.step;
  if (s->stepper.eta.solver) { // and T of the last factorization: [GA.14]
    asi_archive_int(a, &s->stepper.coupled_steps, 0, ASI_ALWAYS_COUPLED);
    asi_archive_doubles(a, s->kin.tangent.t.value,
                        (size_t)s->kin.tangent.t.col_start[s->kin.tangent.t.cols]);
  }
  asi_archive_double(a, &s->stepper.factor_h);
  asi_archive_double(a, &s->stepper.factor_gamma);
  asi_archive_double(a, &s->stepper.factor_compliance);
  asi_archive_count(a, &s->stepper.factor_age);
  asi_archive_count(a, &s->stepper.factor_iterations);
  asi_archive_double(a, &s->stepper.history.contraction);
  asi_archive_count(a, &s->stepper.history.contraction_age);
  asi_archive_double(a, &s->stepper.history.contraction_per_age);
  asi_archive_double(a, &s->stepper.history.factor_age_norm);
  asi_archive_int(a, &s->stepper.history.factor_ages_left, 0, ASI_FACTOR_AGES_BELIEVED);
  asi_archive_double(a, &s->stepper.history.fresh_contraction);
  asi_archive_bool(a, &s->stepper.history.fresh_seen);
  asi_archive_double(a, &s->stepper.history.fresh_norm);
  asi_archive_double(a, &s->stepper.history.first_norm);
  asi_archive_doubles(a, s->stepper.metric,
                      s->stepper.metric ? (size_t)s->stepper.b_n.col_start[s->stepper.b_n.cols]
                                        : 0);
  asi_archive_bool(a, &s->stepper.b_lost);
  if (!s->stepper.first && asi_index2_keeps_b(&s->stepper))
    asi_archive_doubles(a, s->stepper.b_n.value,
                        (size_t)s->stepper.b_n.col_start[s->stepper.b_n.cols]);
  asi_archive_double(a, &s->stepper.history.refining);
  asi_archive_count(a, &s->stepper.history.refining_age);
  asi_archive_bool(a, &s->kin.mass_known);
  // Blocks that are not evaluated anew before they are used: M, if constant, and what [NW.7] reads.
  static const as_block kept[] = {AS_BLOCK_M, AS_BLOCK_F_LAMBDA, AS_BLOCK_F_PSI};
  for (int i = 0; i < 3; ++i) {
    const as_matrix *m = &s->kin.block[kept[i]];
    if ((p->present & AS_BLOCK_BIT(kept[i])) && (kept[i] != AS_BLOCK_M || s->kin.mass_known))
      asi_archive_doubles(a, m->value, (size_t)m->col_start[m->cols]);
  }
  const as_matrix *mass = &s->kin.block[AS_BLOCK_M];
  if (s->kin.mass_known) s->kin.mass_size = asi_max_mass(p, mass);
}

/// The matrix of all unknowns, which index-2 may not have needed yet.
static void serialize_coupled(as_integrator *s, asi_archive *a) {
  bool made = s->stepper.step.solver != NULL;
  asi_archive_bool(a, &made);
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged && !made) {
    if (s->stepper.eta.solver == NULL || s->stepper.active == &s->stepper.step) a->damaged = true;
    if (!a->damaged) asi_system_free(&s->stepper.step);
  }
  if (a->damaged || !made) return;
  if (s->stepper.step.solver == NULL && asi_index2_couple(&s->stepper, NULL))
    a->no_memory = a->damaged = true;
  if (!a->damaged) asi_system_serialize(&s->stepper.step, a);
}

/// The multipliers of least norm that are shown in place of those of the run.
static void serialize_reactions(as_integrator *s, asi_archive *a) {
  double *const lambda = s->kin.redundancy.shown;
  bool shown = s->state.lambda == lambda;
  asi_archive_bool(a, &shown);
  if (!shown || a->damaged) return;
  asi_archive_doubles(a, lambda, (size_t)s->kin.redundancy.rows);
  s->state.lambda = lambda;
  s->state.psi = lambda + s->kin.problem->def.n_lambda;
}

/// All but factors.
static void serialize_variables(as_integrator *s, asi_archive *a) {
  const as_problem_def *def = &s->kin.problem->def;
  double shown = s->state.t;
  asi_archive_double(a, &s->stepper.t);
  asi_archive_double(a, &shown);
  asi_archive_double(a, &s->stepper.a_offset);
  asi_archive_double(a, &s->stepper.w_offset);
  asi_archive_double(a, &s->stepper.blow.kinetic[1]);
  asi_archive_double(a, &s->stepper.blow.stored[1]);
  serialize_values(s, &s->stepper.now, a);
  serialize_last_step(s, a);
  serialize_history(s, a);
  serialize_high(s, a);
  serialize_jump(s, a);
  serialize_constraints(s, a);
  serialize_newton(s, a);
  asi_archive_doubles(a, s->kin.eval.u, (size_t)def->n_u);
  asi_zoh_serialize(s, a);
  asi_events_serialize(s, a);
  serialize_statistics(&s->kin.statistics, a);
  if (a->mode == ASI_ARCHIVE_READ) asi_interpolation_show(s, shown);
  // To the last bit, whatever the treatment of denormals was when they were computed.
  if (s->state.q == s->shown.q) serialize_values(s, &s->shown, a);
  serialize_reactions(s, a);
}

void asi_state_serialize(as_integrator *s, asi_archive *a) {
  serialize_variables(s, a);
  serialize_coupled(s, a);
  asi_system *const systems[] = {&s->stepper.shared,    &s->stepper.eta,       &s->kin.kkt,
                                 &s->kin.projection,    &s->kin.consistent,    &s->output.kkt,
                                 &s->output.projection, &s->output.consistent, &s->output.stiff};
  for (int i = 0; i < 9 && !a->damaged; ++i) asi_system_serialize(systems[i], a);
  if (s->stepper.jump.factored && !a->damaged) asi_system_serialize(&s->stepper.jump.system, a);
}

// ---- snapshots ------------------------------------------------------------------------------------

/// Bytes that the list above never exceeds: all arrays of the arena, the blocks that are kept, and single numbers.
static size_t most_bytes(as_integrator *s) {
  size_t numbers = s->arena_size + (size_t)s->kin.problem->def.n_u + 1000;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    numbers += (size_t)asi_pattern_nnz(&s->kin.problem->pattern[block]);
  const asi_pattern *t = &s->kin.tangent.t_pattern;
  numbers += (size_t)asi_pattern_nnz(t) + 16 * (size_t)s->kin.redundancy.rows;
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  asi_zoh_serialize(s, &count);
  asi_events_serialize(s, &count);
  return 8 * numbers + count.used;
}

as_status asi_snapshot_create(as_integrator *s, as_error *error) {
  s->snapshot.size = most_bytes(s);
  s->snapshot.bytes = asi_calloc(s->snapshot.size, 1);
  return s->snapshot.bytes ? AS_OK : asi_fail_memory(error);
}

void asi_snapshot_take(as_integrator *s) {
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = s->snapshot.bytes, .size = s->snapshot.size};
  serialize_variables(s, &a);
  assert(!a.damaged);
}

void asi_snapshot_restore(as_integrator *s) {
  asi_archive a = {.mode = ASI_ARCHIVE_READ,
                   .data = s->snapshot.bytes,
                   .size = s->snapshot.size,
                   .trusted = true};
  serialize_variables(s, &a);
  assert(!a.damaged);
}

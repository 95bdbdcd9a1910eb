/// Linearization: A of random machines against differences of the nonlinear equations, closed forms, steady motions, singular
/// positions, large problems against dense matrices.
///
///     test_linearization              all
///     test_linearization FIRST COUNT  other random machines, with what became of them
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "core/problem.h"
#include "files.h"
#include "random_machine.h"

// ---- differences of starts ----------------------------------------------------------------------------

/// A state near one that is linearized, with its rates.
typedef struct nearby {
  as_integrator *integrator;
  const as_state *state;
} nearby;

static as_integrator *started(const as_problem *p, const as_state *at, as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  const as_initial initial = {.t = at->t,
                              .q = at->q,
                              .v = at->v,
                              .x = at->x,
                              .lambda = at->lambda,
                              .psi = at->psi,
                              .y = at->y,
                              .u = at->u};
  def.method = AS_METHOD_INDEX3;
  if (as_integrator_create(p, &def, &integrator, error)) return NULL;
  if (as_integrator_start(integrator, &initial, NULL, error)) {
    as_integrator_destroy(integrator);
    return NULL;
  }
  return integrator;
}

/// Where a motion is after a time tau by its velocity and acceleration, seen from where the reference is then.
static void seen(const as_problem *p, const as_state *reference, const as_state *state, double tau,
                 double *q, double *xi) {
  const int n = p->n, nq = p->nq;
  for (int k = 0; k < 2; ++k) {
    const as_state *s = k == 0 ? reference : state;
    for (int i = 0; i < n; ++i) xi[i] = tau * s->v[i] + 0.5 * tau * tau * s->vdot[i];
    as_space_move(p->space, s->q, xi, q + k * nq);
  }
  as_space_difference(p->space, q, q + nq, xi);
}

/// Differences of the nonlinear equations along a column: the rates of all states. False: a start failed.
static bool difference(as_linearization *l, int j, double e, double *out) {
  static const double weight[] = {-1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0, 1.0 / 12.0};
  static const double place[] = {2.0, 1.0, -1.0, -2.0};
  const as_problem *p = l->problem;
  as_error error;
  const as_state *moved;
  bool ok = true;
  double *q = calloc(2 * (size_t)p->nq, sizeof *q), *xi = calloc(2 * (size_t)p->n, sizeof *xi);
  as_integrator *reference = started(p, as_linearization_state(l), &error);
  const double tau = 1e-4;
  memset(out, 0, (size_t)l->n_states * sizeof *out);
  for (int k = 0; k < 4 && reference; ++k) {
    assert_int_equal(as_linearization_moved(l, j, place[k] * e, &moved, &error), AS_OK);
    as_integrator *other = started(p, moved, &error);
    ok = ok && other != NULL;
    if (!ok) break;
    const as_state *a = as_integrator_state(reference), *b = as_integrator_state(other);
    seen(p, a, b, tau, q, xi);
    seen(p, a, b, -tau, q, xi + p->n);
    for (int i = 0; i < l->n_states; ++i) {
      const as_linear_state s = l->state[i];
      const double rate = s.kind == AS_LINEAR_POSITION
                              ? (xi[s.index] - xi[p->n + s.index]) / (2.0 * tau)
                          : s.kind == AS_LINEAR_VELOCITY ? b->vdot[s.index] - a->vdot[s.index]
                                                         : b->xdot[s.index] - a->xdot[s.index];
      out[i] += weight[k] / e * rate;
    }
    as_integrator_destroy(other);
  }
  ok = ok && reference != NULL;
  as_integrator_destroy(reference);
  free(q);
  free(xi);
  return ok;
}

/// The largest difference between A and differences, each column relative to its largest entry; -1: no start.
static double compare(as_linearization *l, double factor, int *worst_i, int *worst_j) {
  double *out = calloc((size_t)l->n_states + 1, sizeof *out), worst = 0.0;
  for (int j = 0; j < l->n_states && worst >= 0.0; ++j) {
    double size = 1.0;
    if (!difference(l, j, factor * as_linearization_reach(l, j), out)) worst = -1.0;
    for (int i = 0; i < l->n_states; ++i)
      size = fmax(size, fabs(l->a[(size_t)j * (size_t)l->n_states + (size_t)i]));
    for (int i = 0; i < l->n_states && worst >= 0.0; ++i) {
      const double off = fabs(out[i] - l->a[(size_t)j * (size_t)l->n_states + (size_t)i]) / size;
      if (off > worst || !isfinite(off)) {
        worst = isfinite(off) ? off : 1e300;
        *worst_i = i;
        *worst_j = j;
      }
    }
  }
  free(out);
  return worst;
}

static void say_state(const as_linearization *l, int i, char *text) {
  const as_quantity what = l->state[i].kind == AS_LINEAR_STATE ? AS_QUANTITY_X : AS_QUANTITY_V;
  as_problem_describe(l->problem, what, l->state[i].index, text, 80);
}

/// Outcomes of a random machine.
enum { COMPARED, REFUSED, NO_START, ROUGH };

static int random_one(uint64_t seed, bool tell) {
  random_machine made = random_machine_make(seed);
  as_machine *machine = NULL;
  as_messages *messages = calloc(1, sizeof *messages);
  as_error error = {0};
  int outcome = ROUGH;
  if (made.sort == RANDOM_FREE && !made.rough &&
      as_machine_parse(made.text, strlen(made.text), "random.yaml", NULL, 0, &machine, messages) ==
          AS_OK) {
    const as_problem *p = as_model_problem(machine->model);
    as_integrator_def def = as_default_integrator_def();
    as_integrator *run = NULL;
    as_linearization *l = NULL;
    def.step = made.t_end / 200.0;
    assert_int_equal(as_integrator_create(p, &def, &run, &error), AS_OK);
    outcome = NO_START;
    if (as_integrator_start(run, as_model_initial(machine->model), NULL, &error) == AS_OK &&
        as_integrator_advance(run, made.t_end / 4.0, &error) == AS_OK) {
      const as_state *at = as_integrator_state(run);
      const as_initial initial = {.t = at->t,
                                  .q = at->q,
                                  .v = at->v,
                                  .x = at->x,
                                  .lambda = at->lambda,
                                  .psi = at->psi,
                                  .u = at->u};
      as_linearization_def how = as_default_linearization_def();
      how.axes = AS_AXES_OWN;
      const as_status status = as_linearize(p, &initial, &how, &l, &error);
      outcome = status ? REFUSED : COMPARED;
      int i = 0, j = 0;
      double off = status ? 0.0 : compare(l, 1.0, &i, &j);
      if (off > 1e-7) { // differences of stiff machines want other steps
        const double smaller = compare(l, 0.1, &i, &j);
        off = smaller >= 0.0 ? fmin(off, smaller) : off;
      }
      if (off < 0.0) outcome = NO_START;
      if (tell || off > 1e-6) {
        char a[80] = "", b[80] = "";
        if (l && l->n_states > 0) say_state(l, i, a), say_state(l, j, b);
        print_message("seed %lu: %s, %d states, off by %.2g (%s by %s, %d %d)%s%s\n",
                      (unsigned long)seed, outcome == COMPARED ? "compared" : "not compared",
                      l ? l->n_states : 0, off, a, b, i, j, status ? ": " : "",
                      status ? error.message : "");
      }
      if (!tell) assert_true(off <= 1e-6);
      as_linearization_destroy(l);
    }
    as_integrator_destroy(run);
    as_machine_destroy(machine);
  }
  random_machine_free(&made);
  free(messages);
  return outcome;
}

static void test_random_machines(void **state) {
  (void)state;
  int count[4] = {0};
  for (uint64_t seed = 1; seed <= 150; ++seed) ++count[random_one(seed, false)];
  print_message("%d compared, %d refused, %d without a start, %d rough\n", count[COMPARED],
                count[REFUSED], count[NO_START], count[ROUGH]);
  assert_true(count[COMPARED] > 40);
  assert_true(count[REFUSED] < count[COMPARED] / 4);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    const uint64_t first = strtoull(argv[1], NULL, 10);
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int outcome[4] = {0};
    for (uint64_t seed = first; seed < first + count; ++seed) ++outcome[random_one(seed, true)];
    printf("%d compared, %d refused, %d without a start, %d rough\n", outcome[0], outcome[1],
           outcome[2], outcome[3]);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_machines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

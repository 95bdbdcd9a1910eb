/// One const problem shared by integrators in several threads: each gives bitwise what it gives
/// alone.
#define _POSIX_C_SOURCE 200809L // barriers

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/problems.h"

enum { N_THREADS = 4, N_ROUNDS = 5, MAX_NUMBERS = 128 };

/// One run and what came of it. Threads must not use cmocka: failures are left in `status`.
typedef struct job {
  const as_problem *problem;
  const test_problem *p;
  as_integrator_def def;
  pthread_barrier_t *barrier; ///< NULL: not in a thread
  as_status status;
  as_error error;
  int count;
  double number[MAX_NUMBERS];
  as_statistics statistics;
} job;

static void keep(job *j, const double *x, int n) {
  if (j->count + n > MAX_NUMBERS) {
    j->status = AS_ERR_ARGUMENT;
    return;
  }
  if (x) memcpy(j->number + j->count, x, (size_t)n * sizeof(double));
  j->count += n;
}

static void *run(void *argument) {
  job *j = argument;
  as_integrator *integrator = NULL;
  if (j->barrier) pthread_barrier_wait(j->barrier);
  j->status = as_integrator_create(j->problem, &j->def, &integrator, &j->error);
  if (j->status) return NULL;
  const as_initial initial = {.t = j->p->t0, .q = j->p->q0, .v = j->p->v0};
  j->status = as_integrator_start(integrator, &initial, NULL, &j->error);
  if (j->status == AS_OK)
    j->status = as_integrator_advance(integrator, 0.1 * j->p->t_end, &j->error);
  if (j->status == AS_OK)
    j->status = as_integrator_statistics(integrator, &j->statistics, &j->error);
  if (j->status == AS_OK) {
    const as_state *s = as_integrator_state(integrator);
    const int n = as_space_nv(as_problem_space(j->problem));
    keep(j, &s->t, 1);
    keep(j, s->q, as_space_nq(as_problem_space(j->problem)));
    keep(j, s->v, n);
    keep(j, s->vdot, n);
    keep(j, s->a, n);
    keep(j, s->lambda, j->p->def.n_lambda);
    keep(j, s->eta, j->p->def.n_lambda);
  }
  as_integrator_destroy(integrator);
  return NULL;
}

static job make_job(const test_problem *p, const as_problem *problem, int thread) {
  static const struct {
    as_method method;
    double divide; ///< step: t_end over this
    double rho_inf;
  } kinds[N_THREADS] = {{AS_METHOD_INDEX2, 1000.0, 0.8},
                        {AS_METHOD_INDEX3, 1000.0, 0.8},
                        {AS_METHOD_INDEX2, 1700.0, 0.5},
                        {AS_METHOD_INDEX3, 800.0, 0.9}};
  job j = {.problem = problem, .p = p, .def = as_default_integrator_def()};
  j.def.method = kinds[thread].method;
  j.def.step = p->t_end / kinds[thread].divide;
  j.def.rho_inf = kinds[thread].rho_inf;
  return j;
}

static void check(const job *j) {
  if (j->status) fail_msg("%s: %s: %s", j->p->name, as_status_name(j->status), j->error.message);
  assert_true(j->count > 0);
}

/// `def` is the problem's own or one without formulas.
static void compare(const test_problem *p, const as_problem_def *def) {
  as_problem *problem = NULL;
  as_error error;
  pthread_barrier_t barrier;
  job alone[N_THREADS], together[N_THREADS];
  assert_int_equal(as_problem_create(def, &problem, &error), AS_OK);
  for (int i = 0; i < N_THREADS; ++i) {
    alone[i] = make_job(p, problem, i);
    run(&alone[i]);
    check(&alone[i]);
    // The jobs differ, or a mixture of them would go unnoticed.
    for (int k = 0; k < i; ++k)
      assert_memory_not_equal(alone[i].number, alone[k].number, sizeof alone[i].number);
  }
  for (int round = 0; round < N_ROUNDS; ++round) {
    pthread_t threads[N_THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, N_THREADS), 0);
    for (int i = 0; i < N_THREADS; ++i) {
      together[i] = make_job(p, problem, i);
      together[i].barrier = &barrier;
      assert_int_equal(pthread_create(&threads[i], NULL, run, &together[i]), 0);
    }
    for (int i = 0; i < N_THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&barrier);
    for (int i = 0; i < N_THREADS; ++i) {
      check(&together[i]);
      assert_int_equal(together[i].count, alone[i].count);
      // Bits are what is compared here. NOLINTNEXTLINE
      if (memcmp(together[i].number, alone[i].number, sizeof alone[i].number) != 0)
        fail_msg("%s, round %d: thread %d ends elsewhere than alone", p->name, round, i);
      assert_int_equal(together[i].statistics.newton_iterations,
                       alone[i].statistics.newton_iterations);
    }
  }
  as_problem_destroy(problem);
}

static void test_formulas(void **state) {
  (void)state;
  compare(problem_heavy_top_slow(), &problem_heavy_top_slow()->def);
  compare(problem_two_bodies(), &problem_two_bodies()->def);
  compare(problem_two_bodies_se3(), &problem_two_bodies_se3()->def);
}

static void test_differences(void **state) {
  (void)state;
  const test_problem *const problems[] = {problem_heavy_top_slow(), problem_two_bodies()};
  for (int i = 0; i < 2; ++i) {
    as_problem_def def = problems[i]->def;
    for (int block = 0; block < AS_BLOCK_COUNT; ++block)
      def.block[block].source = AS_BLOCK_DIFFERENCED;
    def.jacobian = NULL;
    def.constraint_rate = def.constraint_acceleration = NULL;
    compare(problems[i], &def);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

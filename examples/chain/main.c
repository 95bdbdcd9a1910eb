/// Drops a chain of rigid links that is held at one end, from horizontal and at rest, for one second.
///
/// usage: chain [LINKS [STEP]]
///
/// The system itself is in chain.c: everything by formula, over sparse patterns, so that the integrator
/// orders its unknowns by bodies and joints and a step costs the same per link, however many there are.
#include <stdio.h>
#include <stdlib.h>

#include "chain.h"

static void report(const chain *c, const as_state *s, const double *v, const as_statistics *work,
                   const double *drift) {
  double tip[3];
  chain_tip(c, s->q, tip);
  // Energy is zero at the start. The motion stays in the plane y = 0.
  const double energy = chain_energy(c, s->q, v);
  const double unit = c->n_links * c->mass * c->gravity * c->length;
  printf("  tip x, z [m]        %13.9f %13.9f\n", tip[0], tip[2]);
  printf("  force of wall [N]   %13.6f %13.6f\n", -s->lambda[0], -s->lambda[2]);
  printf("  energy error        %.1e of what a fall by one link sets free\n", energy / unit);
  printf("  constraint          |g| = %.1e, |g'| = %.1e\n", drift[0], drift[1]);
  printf("  work                %ld steps, %ld Newton iterations, %ld factorizations\n",
         work->steps, work->newton_iterations, work->factorizations);
}

static as_status run(const chain *c, const as_problem *problem, as_method method, double step,
                     as_error *error) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.step = step;
  double *q0 = malloc(7 * (size_t)c->n_links * sizeof(double));
  double *v = malloc(6 * (size_t)c->n_links * sizeof(double));
  if (q0 == NULL || v == NULL) {
    free(q0);
    free(v);
    *error = (as_error){.status = AS_ERR_MEMORY, .message = "Out of memory."};
    return AS_ERR_MEMORY;
  }
  chain_straight(c, q0);
  const as_initial initial = {.t = 0.0, .q = q0}; // v = 0
  as_integrator *integrator = NULL;
  as_statistics statistics;
  double drift[2];
  as_status status = as_integrator_create(problem, &how, &integrator, error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, error);
  if (status == AS_OK) status = as_integrator_advance(integrator, 1.0, error);
  if (status == AS_OK) status = as_integrator_statistics(integrator, &statistics, error);
  if (status == AS_OK) status = as_integrator_drift(integrator, &drift[0], &drift[1], error);
  if (status == AS_OK) status = as_integrator_velocity(integrator, v, error);
  if (status == AS_OK) {
    printf("%s\n", method == AS_METHOD_INDEX3 ? "index-3" : "index-2");
    report(c, as_integrator_state(integrator), v, &statistics, drift);
  }
  as_integrator_destroy(integrator);
  free(q0);
  free(v);
  return status;
}

int main(int argc, char **argv) {
  const long n_links = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
  const double step = argc > 2 ? strtod(argv[2], NULL) : 1e-3; // [s]
  if (argc > 3 || n_links < 1 || n_links > 10000000 || !(step > 0.0)) {
    fprintf(stderr, "usage: chain [LINKS [STEP]]\n");
    return 2;
  }
  chain c;
  as_error error = {.message = "Out of memory."};
  as_problem *problem = NULL;
  as_status status = chain_init(&c, (int)n_links) ? AS_OK : AS_ERR_MEMORY;
  if (status == AS_OK) status = as_problem_create(&c.def, &problem, &error);
  if (status == AS_OK) status = run(&c, problem, AS_METHOD_INDEX3, step, &error);
  if (status == AS_OK) status = run(&c, problem, AS_METHOD_INDEX2, step, &error);
  if (status) fprintf(stderr, "%s\n", error.message);
  as_problem_destroy(problem);
  chain_free(&c);
  return status ? 1 : 0;
}

/// The chain of links: how far the tip is off after a second, against processor time. alphastep with equal steps, IDA with its tolerances;
/// both with what is best for them (methods, Newton's tolerance; orders of the unknowns).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain_model.h"
#include "peers.h"
#ifdef HAVE_IDA
#include "ida_chain.h"
#endif

enum { ROUNDS = 3 };
static const double LONG = 1.0;  // once is enough [s]
static const double GOAL = 1e-5; // of the tip [m]

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "peers: %s\n", error->message);
  exit(1);
}

/// A second in equal steps; the start counts. The least time of some rounds.
static peers_row run(const as_model *m, const as_integrator_def *def, int steps) {
  as_integrator *integrator = NULL;
  as_error error;
  double tip[3];
  peers_row row = {
      .solver = PEERS_OURS, .steps = steps, .cpu = (double)INFINITY, .per_step = (double)NAN};
  stop_if(as_integrator_create(as_model_problem(m), def, &integrator, &error), &error);
  for (int i = 0; i < ROUNDS && !(i > 0 && row.cpu > LONG); ++i) {
    const double start = peers_cpu_seconds();
    as_status status = as_integrator_start(integrator, as_model_initial(m), NULL, &error);
    for (int k = 0; k < steps && status == AS_OK; ++k)
      status = as_integrator_step(integrator, 1.0 / steps, &error);
    row.cpu = fmin(row.cpu, peers_cpu_seconds() - start);
    chain_tip(m, as_integrator_state(integrator), tip);
    row.error = status == AS_OK ? chain_tip_error(as_model_bodies(m), tip) : (double)NAN;
  }
  as_integrator_destroy(integrator);
  return row;
}

static void run_ours(peers_table *t, const as_model *m, const char *problem) {
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  static const char *const names[] = {"index-3", "index-2"};
  static const double newton[] = {0.0, 1e-4};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < (t->quick ? 6 : 12); ++i) {
      as_integrator_def def = as_default_integrator_def();
      def.method = methods[k / 2];
      if (newton[k % 2] > 0.0) def.newton.rtol = def.newton.atol = newton[k % 2];
      const int steps = (int)lround(50.0 * pow(2.0, i * (t->quick ? 1.0 : 0.5)));
      peers_row row = run(m, &def, steps);
      snprintf(row.problem, sizeof row.problem, "%s", problem);
      snprintf(row.setting, sizeof row.setting, "%s%s, h = 1/%d s", names[k / 2],
               k % 2 ? ", Newton 1e-4" : "", steps);
      peers_add(t, row);
    }
}

#ifdef HAVE_IDA
static void run_ida(peers_table *t, const as_model *m, const char *problem) {
  static const char *const orders[] = {"AMD", "COLAMD", "along the chain"};
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  stop_if(as_integrator_create(as_model_problem(m), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  const as_state *s = as_integrator_state(integrator);
  for (int order = 0; order < 3; order += 2)
    for (int i = 0; i < (t->quick ? 6 : 12); ++i) {
      const double rtol = 1e-3 * pow(10.0, -i * (t->quick ? 1.0 : 0.5));
      const ida_options o = {as_model_bodies(m), 1.0, rtol, order, 0, s->vdot, s->lambda};
      peers_row row = {.solver = "IDA", .cpu = (double)INFINITY, .per_step = (double)NAN};
      for (int k = 0; k < ROUNDS && !(k > 0 && row.cpu > LONG); ++k) {
        const ida_result r = ida_chain_run(&o);
        row.cpu = fmin(row.cpu, r.seconds);
        row.steps = r.steps;
        row.error = r.status == 0 ? chain_tip_error(o.n_links, r.tip) : (double)NAN;
      }
      snprintf(row.problem, sizeof row.problem, "%s", problem);
      snprintf(row.setting, sizeof row.setting, "rtol %.0e, KLU, %s", rtol, orders[order]);
      peers_add(t, row);
    }
  as_integrator_destroy(integrator);
}
#endif

void peers_chain(peers_table *t) {
  static const int links[] = {10, 100, 1000};
  for (int i = 0; i < (t->quick ? 2 : 3); ++i) {
    char problem[PEERS_TEXT];
    as_model *m = chain_model(links[i], AS_JOINT_SPHERICAL, AS_SPACE_R3SO3);
    snprintf(problem, sizeof problem, "chain of %d links", links[i]);
    run_ours(t, m, problem);
#ifdef HAVE_IDA
    run_ida(t, m, problem);
#endif
    peers_expect(t, problem, "IDA", GOAL, 0.1);
    as_model_destroy(m);
  }
}

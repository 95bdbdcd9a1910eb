/// A force of a plugin between two frames: with the coordinates z of B against A, as those of a bushing, and S(t, z, z') and its
/// derivatives K = S_z and C = S_z' from the plugin
///
///     f = -z_q^T S,    f_q = -z_q^T (K z_q + C D_q z') - sum_i S_i D_q z_i,q^T,    f_v = -z_q^T C z_q
///
/// What it stores and what it turns to heat is not known: all its power counts as brought in from outside.
#include "elements/plugin_force.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alphastep/problem.h"
#include "control/plugin.h"
#include "elements/descriptor.h"

enum { N = ASI_BUSHING };

as_plugin_force_point asi_plugin_force_point(const asi_plugin_force_data *d, double t,
                                             const asi_bend *x) {
  as_plugin_force_point at = {.t = d->force->reads_time ? t : (double)NAN,
                              .parameter = d->number,
                              .constant = d->number + d->force->n_parameters};
  for (int i = 0; i < N && x; ++i) {
    at.z[i] = x->z[i].value;
    at.rate[i] = x->z[i].rate;
  }
  return at;
}

/// out -= z_q^T (K z_q + C D_q z'), or z_q^T C z_q where K is NULL
static void add_stiffness(const asi_bend *x, const double *K, const double *C, double *out) {
  for (int i = 0; i < N; ++i) {
    double line[ASI_PAIR] = {0};
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < ASI_PAIR; ++j)
        line[j] += K ? K[N * i + k] * x->z[k].q[j] + C[N * i + k] * x->z[k].rate_q[j]
                     : C[N * i + k] * x->z[k].q[j];
    for (int j = 0; j < ASI_PAIR; ++j)
      for (int l = 0; l < ASI_PAIR; ++l) out[j * ASI_PAIR + l] -= x->z[i].q[j] * line[l];
  }
}

static int fail(const as_element_input *in, int code, const char *why) {
  if (in->why) snprintf(in->why, AS_ELEMENT_WHY, "%s", why);
  return code;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_plugin_force_data *d = data;
  char why[AS_PLUGIN_WHY];
  asi_bend x;
  int code = asi_bend_measure(&d->ends, in, ASI_SUM_TANGENTS, &x);
  if (code) return code;
  const as_plugin_force_point at = asi_plugin_force_point(d, in->t, &x);
  code = asi_plugin_force(d->force, &at, x.S, why);
  if (code) return fail(in, code, why);
  if (out->force) asi_bend_force(&x, out->force);
  if (out->f_q == NULL && out->f_v == NULL) return AS_DONE;
  double K[ASI_FORCE_ENTRIES], C[ASI_FORCE_ENTRIES];
  code = asi_plugin_force_jacobian(d->force, &at, false, K, C, why);
  if (code) return fail(in, code, why);
  if (out->f_q) {
    add_stiffness(&x, K, C, out->f_q);
    asi_bend_curvature(&x, in, out->f_q);
  }
  if (out->f_v) add_stiffness(&x, NULL, C, out->f_v);
  return AS_DONE;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  double f[ASI_PAIR] = {0};
  const as_element_output to = {.force = f};
  out->dissipated = 0.0;
  out->supplied = evaluate(in, &to, data) ? (double)NAN : asi_pair_power(in, f);
}

const as_element_type asi_plugin_force_type = {"plugin", evaluate, NULL, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("bushing", ((const asi_plugin_force_data *)data)->ends.frame, out);
}

/// The rotation vector of B against A; false where there is none.
static bool find_turn(const asi_plugin_force_data *d, const as_element_input *in, double r[3]) {
  asi_bend x;
  if (asi_bend_measure(&d->ends, in, ASI_SUM_TANGENTS, &x)) return false;
  for (int i = 0; i < 3; ++i) r[i] = x.z[3 + i].value;
  return true;
}

static bool jumps(const void *data, const as_element_input *from, const as_element_input *to) {
  double r[2][3];
  return find_turn(data, from, r[0]) && find_turn(data, to, r[1]) && asi_turns_round(r[0], r[1]);
}

const asi_descriptor asi_plugin_force_descriptor = {
    .type = &asi_plugin_force_type, .jumps = jumps, .jump = ASI_TURNS_ROUND, .draw = draw};

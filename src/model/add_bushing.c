/// Adds bushings to a builder.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/bushing.h"
#include "elements/vector.h"
#include "model/add_force.h"

enum { N = ASI_BUSHING };

as_bushing_def as_default_bushing_def(void) {
  return (as_bushing_def){.cookie = ASI_COOKIE(as_bushing_def),
                          .frame = {AS_NO_FRAME, AS_NO_FRAME},
                          .body = {AS_NO_BODY, AS_NO_BODY}};
}

/// Elimination without exchanges: what is left on the diagonal must not be negative, and where it is zero so must
/// be its row; both but for rounding.
static bool has_negative_eigenvalue(const double *matrix) {
  double m[N * N], least[N];
  memcpy(m, matrix, sizeof m);
  for (int i = 0; i < N; ++i) least[i] = 1e-12 * fabs(m[N * i + i]);
  for (int k = 0; k < N; ++k) {
    if (m[N * k + k] < -least[k]) return true;
    for (int i = k + 1; i < N; ++i) {
      if (m[N * k + k] <= least[k]) {
        if (fabs(m[N * i + k]) > sqrt(least[k] * least[i])) return true;
        continue;
      }
      const double factor = m[N * i + k] / m[N * k + k];
      for (int j = k + 1; j < N; ++j) m[N * i + j] -= factor * m[N * k + j];
    }
  }
  return false;
}

static as_status take_matrix(const double *diagonal, const double *full, const char *what,
                             const char *name, double *out, as_error *error) {
  for (int i = 0; i < N * N; ++i)
    out[i] = full ? full[i] : i % (N + 1) == 0 ? diagonal[i / (N + 1)] : 0.0;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const double x = out[N * i + j], y = out[N * j + i];
      if (!isfinite(x) || (i == j && x < 0.0))
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The %s of bushing \"%s\" has %g in row %d, column %d.", what, name, x,
                        i + 1, j + 1);
      if (fabs(x - y) > 1e-12 * fmax(fabs(x), fabs(y)))
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The %s of bushing \"%s\" is not symmetric: %g in row %d, column %d, but "
                        "%g across the diagonal.",
                        what, name, x, i + 1, j + 1, y);
    }
  if (has_negative_eigenvalue(out))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The %s of bushing \"%s\" has a negative eigenvalue.", what, name);
  return AS_OK;
}

static as_status take_laws(as_builder *b, const as_bushing_def *def, const char *name,
                           asi_bushing *out, as_error *error) {
  static const char *const along[ASI_OWN_SLOTS] = {"displacement", "displacement_rate"},
                           *const about[ASI_OWN_SLOTS] = {"angle", "angle_rate"};
  as_status status = AS_OK;
  b->law_reads_blocks = true;
  for (int i = 0; i < N && status == AS_OK; ++i) {
    char what[96];
    snprintf(what, sizeof what, "The law of bushing \"%.40s\" %s %c", name,
             i < 3 ? "along" : "about", "xyz"[i % 3]);
    status =
        asi_builder_surface(b, def->law[i], what, i < 3 ? along : about, &out->law[i].both, error);
  }
  b->law_reads_blocks = false;
  return status;
}

as_status as_builder_add_bushing(as_builder *b, const as_bushing_def *def, as_force_id *id,
                                 as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_bushing_def, def, error);
  if (made) return made;
  static const size_t refs[] = {
      offsetof(asi_bushing, law[0].both), offsetof(asi_bushing, law[1].both),
      offsetof(asi_bushing, law[2].both), offsetof(asi_bushing, law[3].both),
      offsetof(asi_bushing, law[4].both), offsetof(asi_bushing, law[5].both)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_bushing data = {0};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_bushing_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = sizeof refs / sizeof refs[0],
                         .motions = offsetof(asi_bushing, ends.motion),
                         .n_motions = 2,
                         .mark = asi_builder_mark(b)};
  double axes[9];
  if (!asi_triad(def->axis, 2, def->second_axis, 0, axes))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The axes of the bushing \"%s\" are parallel or not finite.", name);
  const asi_side_def side[2] = {{def->frame[0], def->body[0], def->point, axes},
                                {def->frame[1], def->body[1], def->point, axes}};
  as_status status = asi_builder_ends(b, side, name, &data.ends, force.element.body, error);
  for (int s = 0; s < 2 && status == AS_OK; ++s)
    status = asi_check_axes(b, force.element.body[s], name, error);
  if (status == AS_OK)
    status = take_matrix(def->stiffness, def->stiffness_matrix, "stiffness", name, data.K, error);
  if (status == AS_OK)
    status = take_matrix(def->damping, def->damping_matrix, "damping", name, data.C, error);
  if (status == AS_OK) status = take_laws(b, def, name, &data, error);
  if (status) {
    asi_builder_reset(b, force.mark);
    return status;
  }
  bool damped = false;
  for (int i = 0; i < N * N; ++i) damped = damped || data.C[i] != 0.0;
  for (int i = 0; i < N; ++i) damped = damped || def->law[i];
  asi_flag_pair(force.flags.f_q);
  if (damped) asi_flag_pair(force.flags.f_v);
  return asi_builder_force(b, &force, id, error);
}

/// [GA.18] Parasitic modes of index-3: errors of multipliers that alternate from step to step, with the method's roots at infinite
/// frequency, and grow where the motion feeds them.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

void asi_parasite_forget(asi_stepper *s) {
  asi_parasite *seen = &s->parasite;
  const size_t size = (size_t)s->kin->problem->def.n_lambda * sizeof(double);
  if (s->def->method != AS_METHOD_INDEX3) return;
  for (int i = 0; i < 3; ++i) memset(seen->past[i], 0, size);
  memset(seen->swing, 0, size);
  seen->known = seen->count = 0;
  seen->least = 0.0;
}

bool asi_parasite_grows(asi_stepper *s) {
  asi_parasite *seen = &s->parasite;
  double **past = seen->past, *const oldest = past[2];
  double now = 0.0, before = 0.0, product = 0.0, size = 0.0;
  for (int i = 0; i < s->kin->problem->def.n_lambda; ++i) {
    const double lambda = s->next.lambda[i] / s->kin->redundancy.per_row[i]; // in typical sizes
    const double swing = (lambda - 3.0 * (past[0][i] - past[1][i]) - past[2][i]) / 8.0;
    now += swing * swing;
    before += seen->swing[i] * seen->swing[i];
    product += swing * seen->swing[i];
    size += lambda * lambda;
    seen->swing[i] = swing;
    oldest[i] = lambda;
  }
  past[2] = past[1];
  past[1] = past[0];
  past[0] = oldest;
  const double share = sqrt(now / fmax(size, DBL_MIN));
  const bool swings = seen->known == 4 && share > s->expert.parasite_least &&
                      product < s->expert.parasite_opposite * sqrt(now) * sqrt(before);
  if (seen->known < 4) ++seen->known;
  seen->least = swings && seen->count > 0 ? fmin(seen->least, share) : share;
  seen->count = !swings ? 0 : seen->count < ASI_PARASITE_STEPS ? seen->count + 1 : seen->count;
  return seen->count == ASI_PARASITE_STEPS &&
         (share > s->expert.parasite_grown * seen->least || share > s->expert.parasite_most);
}

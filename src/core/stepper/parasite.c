/// [GA.18] Parasitic modes of index-3: errors of multipliers that alternate from step to step, with the method's roots at infinite
/// frequency, and grow where the motion feeds them.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

// [GA.18] lambda alternates where its third difference points against the one before by this cosine, and is no less than this
// share of it. A parasitic mode grows where that lasts for ASI_PARASITE_STEPS steps, and has grown by this factor meanwhile, or is
// this large. A chain of 1000 links shows -1.000 and 0.02 where its reactions are off by 2 %.
#define OPPOSITE -0.9
#define LEAST_SWING 0.02
#define GROWN 1.5
#define MOST_SWING 0.1

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
  const bool swings =
      seen->known == 4 && share > LEAST_SWING && product < OPPOSITE * sqrt(now) * sqrt(before);
  if (seen->known < 4) ++seen->known;
  seen->least = swings && seen->count > 0 ? fmin(seen->least, share) : share;
  seen->count = !swings ? 0 : seen->count < ASI_PARASITE_STEPS ? seen->count + 1 : seen->count;
  return seen->count == ASI_PARASITE_STEPS && (share > GROWN * seen->least || share > MOST_SWING);
}

/// Roads. A rough one is a sum of waves in two tracks, z = s(x) (z_c + z_r y/b) with half the distance b of the tracks. The spectral
/// density of ISO 8608, G_d(n) = G_d(n0) (n/n0)^-w with n0 = 0.1/m, is cut into bands of equal ratio from 0.011/m to 1.5/m;
/// each gives, with n at its middle and dn its width, the amplitude A = sqrt(2 G_d(n) dn), shared by the middle and the rolling of the
/// road as the coherence g = exp(-3 m n) of the tracks says:
///
///     z_c = sum A sqrt((1 + g)/2) sin(2 pi n X + phi_c)     z_r = sum A sqrt((1 - g)/2) sin(2 pi n X + phi_r)
///
/// X = x - start. Phases are those of a linear congruential generator. s(x) rises from 0 to 1 over the ramp, twice
/// differentiable. A bump is height (1 - cos(2 pi (x - start)/length))/2.
#include "elements/road.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/problem.h"
#include "base/error.h"
#include "elements/surface.h"
#include "elements/vector.h"

static const double pi = 3.14159265358979323846;

/// The generator of Numerical Recipes, as a phase.
static double next_phase(uint32_t *s) {
  *s = *s * UINT32_C(1664525) + UINT32_C(1013904223);
  return 2.0 * pi * (double)*s / 4294967296.0;
}

static void make_waves(asi_road *r, const as_road_def *def) {
  const double first = 0.011, last = 1.5, n0 = 0.1, coherence = 3.0;
  uint32_t seed = def->seed;
  for (int j = 0; j < ASI_ROAD_BANDS; ++j) {
    const double low = first * pow(last / first, (double)j / ASI_ROAD_BANDS);
    const double high = first * pow(last / first, (double)(j + 1) / ASI_ROAD_BANDS);
    const double n = sqrt(low * high);
    const double A = sqrt(2.0 * def->roughness * pow(n / n0, -def->waviness) * (high - low));
    const double g = exp(-coherence * n), c = A * sqrt((1.0 + g) / 2.0),
                 a = A * sqrt((1.0 - g) / 2.0);
    const double phi_c = next_phase(&seed), phi_r = next_phase(&seed);
    r->wave[j] = (asi_wave){.k = 2.0 * pi * n,
                            .middle = {c * cos(phi_c), c * sin(phi_c)},
                            .across = {a * cos(phi_r), a * sin(phi_r)}};
  }
}

static size_t size_of(int n_waves) { return sizeof(asi_road) + (size_t)n_waves * sizeof(asi_wave); }

asi_road *asi_road_make(const as_road_def *def) {
  const int n = def->kind == AS_ROAD_ROUGH ? ASI_ROAD_BANDS : 0;
  asi_road *r = asi_calloc(1, size_of(n));
  if (r == NULL) return NULL;
  *r = (asi_road){.kind = def->kind,
                  .level = def->point[2],
                  .start = def->start,
                  .ramp = def->ramp,
                  .half_track = def->track / 2.0,
                  .height = def->height,
                  .length = def->length,
                  .n_waves = n};
  if (def->kind == AS_ROAD_PLANE) {
    r->slope[0] = -def->normal[0] / def->normal[2];
    r->slope[1] = -def->normal[1] / def->normal[2];
    r->level -= r->slope[0] * def->point[0] + r->slope[1] * def->point[1];
  }
  if (n > 0) make_waves(r, def);
  return r;
}

asi_road *asi_road_copy(const asi_road *from) {
  asi_road *r = asi_calloc(1, size_of(from->n_waves));
  if (r) memcpy(r, from, size_of(from->n_waves));
  return r;
}

bool asi_road_is_plane(const asi_curve *road) {
  return road == NULL || (road->road && road->road->kind == AS_ROAD_PLANE);
}

/// s^3 (10 - 15 s + 6 s^2) over the ramp, with two derivatives by x.
static void rise(const asi_road *r, double x, double out[3]) {
  const double s = r->ramp > 0.0 ? (x - r->start) / r->ramp : x < r->start ? 0.0 : 1.0;
  out[0] = s >= 1.0 ? 1.0 : 0.0;
  out[1] = out[2] = 0.0;
  if (!(s > 0.0 && s < 1.0)) return;
  const double w = 1.0 - s;
  out[0] = s * s * s * (10.0 + s * (6.0 * s - 15.0));
  out[1] = 30.0 * s * s * w * w / r->ramp;
  out[2] = 60.0 * s * w * (1.0 - 2.0 * s) / (r->ramp * r->ramp);
}

static void rough(const asi_road *r, double x, double y, double out[6]) {
  double s[3], c[3] = {0}, a[3] = {0};
  rise(r, x, s);
  if (s[0] == 0.0 && s[1] == 0.0) return;
  const double X = x - r->start, across = y / r->half_track;
  for (int j = 0; j < r->n_waves; ++j) {
    const asi_wave *w = &r->wave[j];
    const double sine = sin(w->k * X), cosine = cos(w->k * X);
    const double zc = w->middle[0] * sine + w->middle[1] * cosine,
                 za = w->across[0] * sine + w->across[1] * cosine;
    c[0] += zc;
    c[1] += w->k * (w->middle[0] * cosine - w->middle[1] * sine);
    c[2] -= w->k * w->k * zc;
    a[0] += za;
    a[1] += w->k * (w->across[0] * cosine - w->across[1] * sine);
    a[2] -= w->k * w->k * za;
  }
  const double z[3] = {c[0] + a[0] * across, c[1] + a[1] * across, c[2] + a[2] * across};
  out[0] += s[0] * z[0];
  out[1] = s[1] * z[0] + s[0] * z[1];
  out[2] = s[0] * a[0] / r->half_track;
  out[3] = s[2] * z[0] + 2.0 * s[1] * z[1] + s[0] * z[2];
  out[4] = (s[1] * a[0] + s[0] * a[1]) / r->half_track;
}

static void bump(const asi_road *r, double x, double out[6]) {
  const double along = x - r->start, k = 2.0 * pi / r->length;
  if (!(along > 0.0 && along < r->length)) return;
  out[0] += r->height * (1.0 - cos(k * along)) / 2.0;
  out[1] = r->height * k * sin(k * along) / 2.0;
  out[3] = r->height * k * k * cos(k * along) / 2.0;
}

static int no_road(const as_element_input *in, double x, double y, const asi_surface *s) {
  const double *grid = s->number;
  if (in->why)
    snprintf(in->why, AS_ELEMENT_WHY,
             "its road has no height at x = %.6g m, y = %.6g m: the table covers %.6g to %.6g m by "
             "%.6g to %.6g m",
             x, y, grid[0], grid[s->given.nx - 1], grid[s->given.nx],
             grid[s->given.nx + s->given.ny - 1]);
  return AS_RETRY;
}

static int table(const asi_surface *s, const as_element_input *in, double x, double y,
                 double out[6]) {
  const double *gx = s->number, *gy = gx + s->given.nx;
  const bool there =
      x >= gx[0] && x <= gx[s->given.nx - 1] && y >= gy[0] && y <= gy[s->given.ny - 1];
  if (!there) return no_road(in, x, y, s);
  asi_surface_all(s, x, y, out);
  return AS_DONE;
}

int asi_road_height(const asi_curve *road, const as_element_input *in, double x, double y,
                    bool curved, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  if (road == NULL) return AS_DONE;
  if (road->formula) return asi_formula_height(road->formula, in, x, y, curved, out);
  if (road->surface) return table(road->surface, in, x, y, out);
  const asi_road *r = road->road;
  out[0] = r->level;
  if (r->kind == AS_ROAD_ROUGH) {
    rough(r, x, y, out);
  } else if (r->kind == AS_ROAD_BUMP) {
    bump(r, x, out);
  } else {
    out[0] += r->slope[0] * x + r->slope[1] * y;
    out[1] = r->slope[0];
    out[2] = r->slope[1];
  }
  return AS_DONE;
}

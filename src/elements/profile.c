/// Sections of known outline: area, second moments, torsion constant, shear factors; and a few materials.
///
/// Width b along y, height h along z, wall t, flange f; lower case d: the hole's size. Exact are areas, second moments, and the
/// torsion of rectangle, circle and tube; for a b x h rectangle with h >= b by the series
///
///     J = h b^3/3 (1 - (192/pi^5) (b/h) sum_{n odd} tanh(n pi h/(2 b))/n^5)
///
/// whose tail is that of (31/32) zeta(5). Others are near, by parts of Prandtl's stress function. Of a box, whose hole is b_i x h_i, it
/// is c on the hole's edge; a corner conducts as 0.559 of a wall as long as it is thick:
///
///     J = 4 A^2/S + 2 (b_i + h_i) t^3/3,   S = 2 (b_i + h_i)/t + 4 0.559,   A = b_i h_i + (b_i + h_i) t + 0.66 t^2
///
/// which is right to 0.1 % for walls of a tenth of the width, and to 1.3 % for a fifth. Of an I: its flanges as rectangles, its web, and
/// what they gain where they meet (El Darwish and Johnston 1965), right to 0.6 %:
///
///     J = 2 J(b x f) + (h - 2 f) t^3/3 + 2 a D^4,   D = f + t^2/(4 f),   a = -0.042 + 0.2204 t/f - 0.0725 (t/f)^2
///
/// Shear factors are those of the energy of shear when Poisson's ratio is 0: 5/6 of a rectangle, 6/7 of a circle,
/// 6 (1 + m^2)^2/(7 + 34 m^2 + 7 m^4) of a tube with m = d/width; of thin walls with the flow q = V S/I,
///
///     1/k = A/I^2 int S^2/t ds
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "alphastep/beam.h"
#include "base/error.h"

#define PI 3.14159265358979323846
#define ZETA5 1.03692775514336992633

// ---- shapes -----------------------------------------------------------------------------------------

static double torsion_of_rectangle(double b, double h) {
  if (b > h) {
    const double other = b;
    b = h;
    h = other;
  }
  double sum = 31.0 / 32.0 * ZETA5;
  for (int n = 1; n < 40; n += 2) sum -= (1.0 - tanh(n * PI * h / (2.0 * b))) / pow(n, 5.0);
  return h * pow(b, 3.0) / 3.0 * (1.0 - 192.0 / pow(PI, 5.0) * b / h * sum);
}

static void rectangle(const as_profile *p, as_profile_properties *out) {
  const double b = p->width, h = p->height;
  *out = (as_profile_properties){.area = b * h,
                                 .Iy = b * h * h * h / 12.0,
                                 .Iz = h * b * b * b / 12.0,
                                 .J = torsion_of_rectangle(b, h),
                                 .shear_y = 5.0 / 6.0,
                                 .shear_z = 5.0 / 6.0};
}

/// A circle with a hole of the diameter d.
static void ring(double width, double d, as_profile_properties *out) {
  const double m = d / width, r = width / 2.0, A = PI * r * r * (1.0 - m) * (1.0 + m);
  const double I = A * r * r * (1.0 + m * m) / 4.0;
  const double k = 6.0 * pow(1.0 + m * m, 2.0) / (7.0 + m * m * (34.0 + 7.0 * m * m));
  *out = (as_profile_properties){
      .area = A, .Iy = I, .Iz = I, .J = 2.0 * I, .shear_y = k, .shear_z = k};
}

/// Thin walls of a box for a force across its walls `across`, which are apart by `apart`: along the walls `apart` long.
static double shear_of_box(double across, double apart, double t) { // thin
  const double half = across / 2.0, a = apart / 2.0;
  const double A = 2.0 * t * (across + apart);
  const double I = 2.0 * across * t * a * a + 2.0 * t * apart * apart * apart / 12.0;
  // S/t = u a of a wall across; (half + a) a - ... of the others: c + (a^2 - z^2)/2 with c = half a.
  const double c = half * a;
  const double flat = a * a * half * half * half / 3.0;
  const double upright = c * c * a + c * 2.0 * a * a * a / 3.0 + 2.0 * pow(a, 5.0) / 15.0;
  return I * I / (A * 4.0 * t * (flat + upright));
}

static void box(const as_profile *p, as_profile_properties *out) {
  const double b = p->width, h = p->height, t = p->wall;
  const double bi = b - 2.0 * t, hi = h - 2.0 * t, bm = b - t, hm = h - t;
  const double S = 2.0 * (bi + hi) / t + 4.0 * 0.559, A = bi * hi + (bi + hi) * t + 0.66 * t * t;
  *out = (as_profile_properties){.area = b * h - bi * hi,
                                 .Iy = (b * h * h * h - bi * hi * hi * hi) / 12.0,
                                 .Iz = (h * b * b * b - hi * bi * bi * bi) / 12.0,
                                 .J = 4.0 * A * A / S + 2.0 * (bi + hi) * t * t * t / 3.0,
                                 .shear_y = shear_of_box(hm, bm, t),
                                 .shear_z = shear_of_box(bm, hm, t)};
}

static void i_beam(const as_profile *p, as_profile_properties *out) {
  const double b = p->width, h = p->height, t = p->wall, f = p->flange;
  const double hi = h - 2.0 * f, H = h - f, A = 2.0 * b * f + hi * t, thin = 2.0 * b * f + H * t;
  // Along z: a half flange S = f u H/2, the web S = f b H/2 + t (H^2/4 - z^2)/2.
  const double I = b * f * H * H / 2.0 + t * H * H * H / 12.0, c = f * b * H / 2.0, a = H / 2.0;
  const double flanges = 4.0 * f * H * H / 4.0 * pow(b / 2.0, 3.0) / 3.0;
  const double web =
      2.0 * (c * c * a / t + c * 2.0 * a * a * a / 3.0 + t * 2.0 * pow(a, 5.0) / 15.0);
  const double D = f + t * t / (4.0 * f), gain = -0.042 + t / f * (0.2204 - 0.0725 * t / f);
  *out = (as_profile_properties){.area = A,
                                 .Iy = (b * h * h * h - (b - t) * hi * hi * hi) / 12.0,
                                 .Iz = (2.0 * f * b * b * b + hi * t * t * t) / 12.0,
                                 .J = 2.0 * torsion_of_rectangle(b, f) + hi * t * t * t / 3.0 +
                                      2.0 * gain * pow(D, 4.0),
                                 .shear_y = 5.0 / 6.0 * 2.0 * b * f / A,
                                 .shear_z = I * I / (thin * (flanges + web))};
}

// ---- checks -----------------------------------------------------------------------------------------

static as_status check_size(const char *what, double size, as_error *error) {
  if (size > 0.0 && isfinite(size)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                  "A section has the %s %g m; it must be a positive number.", what, size);
}

static as_status check_room(const as_profile *p, as_error *error) {
  const bool tall = p->kind == AS_PROFILE_BOX || p->kind == AS_PROFILE_I;
  const bool thick = p->kind == AS_PROFILE_I
                         ? !(p->wall <= p->width)
                         : !(2.0 * p->wall < p->width) || (tall && !(2.0 * p->wall < p->height));
  if (thick)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A section has walls of %g m, which do not go into its width of %g m%s.",
                    p->wall, p->width, tall ? " and its height" : "");
  if (p->kind == AS_PROFILE_I && !(2.0 * p->flange < p->height))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A section has flanges of %g m, which do not go into its height of %g m.",
                    p->flange, p->height);
  return AS_OK;
}

as_status as_profile_compute(const as_profile *p, as_profile_properties *out, as_error *error) {
  const bool tall = p->kind != AS_PROFILE_CIRCLE && p->kind != AS_PROFILE_TUBE;
  const bool hollow = p->kind != AS_PROFILE_CIRCLE && p->kind != AS_PROFILE_RECTANGLE;
  as_status status = check_size(tall ? "width" : "diameter", p->width, error);
  if (status == AS_OK && tall) status = check_size("height", p->height, error);
  if (status == AS_OK && hollow) status = check_size("wall", p->wall, error);
  if (status == AS_OK && p->kind == AS_PROFILE_I) status = check_size("flange", p->flange, error);
  if (status == AS_OK && hollow) status = check_room(p, error);
  if (status) return status;
  switch (p->kind) {
  case AS_PROFILE_RECTANGLE: rectangle(p, out); break;
  case AS_PROFILE_CIRCLE: ring(p->width, 0.0, out); break;
  case AS_PROFILE_TUBE: ring(p->width, p->width - 2.0 * p->wall, out); break;
  case AS_PROFILE_BOX: box(p, out); break;
  case AS_PROFILE_I: i_beam(p, out); break;
  default:
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no profile of kind %d.",
                    (int)p->kind);
  }
  return AS_OK;
}

// ---- sections ---------------------------------------------------------------------------------------

as_beam_section as_beam_section_of(const as_profile_properties *s, const as_material *m) {
  as_beam_section out = as_default_beam_section();
  const double K[6] = {m->E * s->area,
                       s->shear_y * m->G * s->area,
                       s->shear_z * m->G * s->area,
                       m->G * s->J,
                       m->E * s->Iy,
                       m->E * s->Iz};
  for (int k = 0; k < 6; ++k) out.stiffness[7 * k] = K[k];
  out.mass = m->density * s->area;
  out.inertia[0] = m->density * (s->Iy + s->Iz);
  out.inertia[1] = m->density * s->Iy;
  out.inertia[2] = m->density * s->Iz;
  return out;
}

as_status as_beam_section_of_profile(const as_profile *p, const as_material *m,
                                     as_beam_section *out, as_error *error) {
  as_profile_properties shape;
  const as_status status = as_profile_compute(p, &shape, error);
  if (status) return status;
  *out = as_beam_section_of(&shape, m);
  out->modulus = m->E;
  out->round = p->kind == AS_PROFILE_CIRCLE || p->kind == AS_PROFILE_TUBE;
  out->height[0] = p->width;
  out->height[1] = out->round ? p->width : p->height;
  return AS_OK;
}

// ---- materials --------------------------------------------------------------------------------------

static const struct {
  const char *name;
  double E, nu, density;
} materials[] = {
    {"steel", 210e9, 0.3, 7850.0},     {"stainless steel", 195e9, 0.3, 7900.0},
    {"aluminium", 70e9, 0.33, 2700.0}, {"titanium", 114e9, 0.34, 4430.0},
    {"brass", 105e9, 0.35, 8500.0},    {"copper", 120e9, 0.34, 8960.0},
    {"nylon", 2.8e9, 0.4, 1140.0},     {"acrylic", 3.2e9, 0.37, 1190.0},
};
enum { MATERIALS = sizeof materials / sizeof materials[0] };

const char *as_material_name(int i) {
  return i >= 0 && i < (int)MATERIALS ? materials[i].name : NULL;
}

bool as_material_find(const char *name, as_material *out) {
  for (size_t i = 0; i < MATERIALS; ++i)
    if (name && strcmp(materials[i].name, name) == 0) {
      const double E = materials[i].E;
      *out = (as_material){E, E / (2.0 * (1.0 + materials[i].nu)), materials[i].density};
      return true;
    }
  return false;
}

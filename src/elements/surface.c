/// Surfaces: tables over a grid, by values and slopes at its points.
///
/// In a cell, with u = (x - x_i)/h and v = (y - y_j)/k,
///
///     z = sum over its corners of  X_a(u) Y_b(v) z + X'_a Y_b z_x + X_a Y'_b z_y + X'_a Y'_b z_xy
///
/// where X, X' are the functions of Hermite's cubic interpolation that belong to value and slope. Linear tables take
/// X = 1 - u or u and no slopes. Monotone tables take slopes along the grid's lines from the curves' rule
/// (asi_monotone_slope), but at most 3/2 of the smaller difference quotient beside the point. Then, without a twist,
/// the 16 control values of Bernstein's form
///
///     z,   z + h/3 z_x,   z + k/3 z_y,   z + h/3 z_x + k/3 z_y + h k/9 z_xy     at each corner, with its signs
///
/// lie between the corners' values: with half the way to each neighbour at most, the last is at most the mean of two
/// of them. A polynomial lies in the hull of its control values: there is no overshoot. The twist z_xy is the mean of
/// the cells' mixed differences, brought to where these values still lie between the corners'; so a product x y is
/// met exactly.
///
/// Beyond the ends, from the nearest point of the grid's rectangle, e and f away: z + z_x e + z_y f + z_xy e f.
#include "elements/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/curve.h"
#include "elements/gauss.h"

/// What is stored of a point of the grid.
enum { Z, Z_X, Z_Y, Z_XY, NUMBERS };

static double *xs(asi_surface *s) { return s->number; }
static double *ys(asi_surface *s) { return s->number + s->given.nx; }

static size_t offset(const asi_surface *s, int i, int j) {
  const size_t nx = (size_t)s->given.nx, ny = (size_t)s->given.ny;
  return nx + ny + NUMBERS * ((size_t)i * ny + (size_t)j);
}
static double *point(asi_surface *s, int i, int j) { return s->number + offset(s, i, j); }
static const double *corner(const asi_surface *s, int i, int j) {
  return s->number + offset(s, i, j);
}

// ---- making -----------------------------------------------------------------------------------------

static as_status check_axis(const double *x, int n, char axis, const char *what, as_error *error) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s has %c = %g in its table.",
                      what, axis, x[i]);
    if (i > 0 && !(x[i] > x[i - 1]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "%s has a table whose %c does not increase from %g to %g.", what, axis,
                      x[i - 1], x[i]);
  }
  return AS_OK;
}

static as_status check(const as_surface *def, const char *what, as_error *error) {
  if (def->function) return AS_OK;
  if (def->nx < 2 || def->ny < 2 || !def->x || !def->y || !def->z)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s has a table of %d by %d points: it needs two by two at least, x, y and z.",
                    what, def->nx, def->ny);
  if (def->interpolation != AS_LINEAR && def->interpolation != AS_MONOTONE)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s has the interpolation %d: a table of two variables is linear or monotone.",
                    what, (int)def->interpolation);
  as_status status = check_axis(def->x, def->nx, 'x', what, error);
  if (status == AS_OK) status = check_axis(def->y, def->ny, 'y', what, error);
  for (int i = 0; i < def->nx && status == AS_OK; ++i)
    for (int j = 0; j < def->ny; ++j) {
      const double z = def->z[(size_t)i * (size_t)def->ny + (size_t)j];
      if (!isfinite(z))
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                        "%s has z = %g at (%g, %g) in its table.", what, z, def->x[i], def->y[j]);
    }
  return status;
}

/// The slope at the middle of three points (two at an end), no more than 3/2 of the smaller quotient.
static double limited_slope(const double *x, int i, int n, double before, double here,
                            double after) {
  const bool first = i == 0, last = i + 1 == n;
  const double h0 = first ? 1.0 : x[i] - x[i - 1], h1 = last ? 1.0 : x[i + 1] - x[i];
  const double d0 = (here - before) / h0, d1 = (after - here) / h1;
  if (first || last) return first ? d1 : d0;
  const double most = 1.5 * fmin(fabs(d0), fabs(d1));
  return fmax(-most, fmin(most, asi_monotone_slope(h0, d0, h1, d1)));
}

static void set_slopes(asi_surface *s) {
  const int nx = s->given.nx, ny = s->given.ny;
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j) {
      double *p = point(s, i, j);
      p[Z_X] = limited_slope(xs(s), i, nx, point(s, i > 0 ? i - 1 : i, j)[Z], p[Z],
                             point(s, i + 1 < nx ? i + 1 : i, j)[Z]);
      p[Z_Y] = limited_slope(ys(s), j, ny, point(s, i, j > 0 ? j - 1 : j)[Z], p[Z],
                             point(s, i, j + 1 < ny ? j + 1 : j)[Z]);
    }
}

/// A cell beside a point, seen from there: its sides with their signs, its mixed difference quotient, and the least
/// and the largest twist that keep the inner control value between its corners.
typedef struct cell {
  double mixed, least, most;
} cell;

static cell look_at(asi_surface *s, int i, int j, int a, int b) {
  const double *p = point(s, i, j), h = xs(s)[i + a] - xs(s)[i], k = ys(s)[j + b] - ys(s)[j];
  const double za = point(s, i + a, j)[Z], zb = point(s, i, j + b)[Z],
               zab = point(s, i + a, j + b)[Z];
  const double low = fmin(fmin(p[Z], za), fmin(zb, zab)),
               high = fmax(fmax(p[Z], za), fmax(zb, zab));
  const double flat = p[Z] + h / 3.0 * p[Z_X] + k / 3.0 * p[Z_Y], factor = h * k / 9.0;
  const double one = (low - flat) / factor, other = (high - flat) / factor;
  return (cell){(zab - za - zb + p[Z]) / (h * k), fmin(one, other), fmax(one, other)};
}

static void set_twists(asi_surface *s) {
  const int nx = s->given.nx, ny = s->given.ny;
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j) {
      double sum = 0.0, least = (double)-INFINITY, most = (double)INFINITY;
      int count = 0;
      for (int a = -1; a < 2; a += 2)
        for (int b = -1; b < 2; b += 2) {
          if (i + a < 0 || i + a >= nx || j + b < 0 || j + b >= ny) continue;
          const cell c = look_at(s, i, j, a, b);
          sum += c.mixed;
          ++count;
          least = fmax(least, fmin(c.least, 0.0)); // zero is allowed, but for rounding
          most = fmin(most, fmax(c.most, 0.0));
        }
      point(s, i, j)[Z_XY] = fmax(least, fmin(most, sum / count));
    }
}

static size_t size_of(const as_surface *given) {
  const size_t nx = (size_t)given->nx, ny = (size_t)given->ny;
  return sizeof(asi_surface) + (nx + ny + NUMBERS * nx * ny) * sizeof(double);
}

as_status asi_surface_make(const as_surface *def, const char *what, asi_surface **out,
                           as_error *error) {
  const as_status status = check(def, what, error);
  if (status) return status;
  as_surface given = *def;
  given.x = given.y = given.z = NULL;
  if (def->function) given.nx = given.ny = 0;
  asi_surface *s = asi_calloc(1, size_of(&given));
  if (s == NULL) return asi_fail_memory(error);
  s->given = given;
  *out = s;
  if (given.function) return AS_OK;
  memcpy(xs(s), def->x, (size_t)given.nx * sizeof(double));
  memcpy(ys(s), def->y, (size_t)given.ny * sizeof(double));
  for (int i = 0; i < given.nx; ++i)
    for (int j = 0; j < given.ny; ++j)
      point(s, i, j)[Z] = def->z[(size_t)i * (size_t)given.ny + (size_t)j];
  if (given.interpolation == AS_MONOTONE) {
    set_slopes(s);
    set_twists(s);
  }
  return AS_OK;
}

asi_surface *asi_surface_copy(const asi_surface *from) {
  const size_t size = size_of(&from->given);
  asi_surface *s = asi_calloc(1, size);
  if (s) memcpy(s, from, size);
  return s;
}

// ---- evaluation -------------------------------------------------------------------------------------

/// One direction: the interval, the weights of values and slopes at its ends and their derivatives, and how far x lies
/// beyond the grid.
typedef struct direction {
  int low;
  double weight[2][2], rate[2][2]; ///< [end][value or slope]
  double beyond;
} direction;

static direction look_along(const double *grid, int n, double x, bool linear) {
  const double inside = fmax(grid[0], fmin(grid[n - 1], x));
  direction d = {.low = asi_find_piece(grid, n, inside), .beyond = x - inside};
  const double h = grid[d.low + 1] - grid[d.low], u = (inside - grid[d.low]) / h, w = 1.0 - u;
  if (linear) {
    d.weight[0][0] = w;
    d.weight[1][0] = u;
    d.rate[0][0] = -1.0 / h;
    d.rate[1][0] = 1.0 / h;
    return d;
  }
  d.weight[0][0] = w * w * (1.0 + 2.0 * u);
  d.weight[0][1] = h * u * w * w;
  d.weight[1][0] = u * u * (1.0 + 2.0 * w);
  d.weight[1][1] = -h * u * u * w;
  d.rate[0][0] = -6.0 * u * w / h;
  d.rate[0][1] = w * (w - 2.0 * u);
  d.rate[1][0] = 6.0 * u * w / h;
  d.rate[1][1] = u * (u - 2.0 * w);
  return d;
}

static void table(const asi_surface *s, double x, double y, double out[3]) {
  const bool linear = s->given.interpolation == AS_LINEAR;
  const direction X = look_along(s->number, s->given.nx, x, linear);
  const direction Y = look_along(s->number + s->given.nx, s->given.ny, y, linear);
  double at[NUMBERS] = {0};
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      const double *p = corner(s, X.low + a, Y.low + b);
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 2; ++l) {
          const double z = p[k + 2 * l];
          at[Z] += X.weight[a][k] * Y.weight[b][l] * z;
          at[Z_X] += X.rate[a][k] * Y.weight[b][l] * z;
          at[Z_Y] += X.weight[a][k] * Y.rate[b][l] * z;
          at[Z_XY] += X.rate[a][k] * Y.rate[b][l] * z;
        }
    }
  const double e = X.beyond, f = Y.beyond;
  out[0] = at[Z] + at[Z_X] * e + at[Z_Y] * f + at[Z_XY] * e * f;
  out[1] = at[Z_X] + at[Z_XY] * f;
  out[2] = at[Z_Y] + at[Z_XY] * e;
}

int asi_surface_evaluate(const asi_surface *s, double x, double y, double out[3]) {
  if (s->given.function) return s->given.function(x, y, out, s->given.user);
  table(s, x, y, out);
  return AS_DONE;
}

/// The weights of a direction with their first and second derivatives, beyond the ends too.
static void weigh(const direction *d, const double *grid, double x, bool linear,
                  double out[2][2][3]) {
  const double h = grid[d->low + 1] - grid[d->low], u = (x - d->beyond - grid[d->low]) / h;
  const bool bends = !linear && d->beyond == 0.0;
  const double second[2][2] = {{-6.0 * (1.0 - 2.0 * u) / (h * h), (6.0 * u - 4.0) / h},
                               {6.0 * (1.0 - 2.0 * u) / (h * h), (6.0 * u - 2.0) / h}};
  for (int a = 0; a < 2; ++a)
    for (int k = 0; k < 2; ++k) {
      out[a][k][0] = d->weight[a][k] + d->rate[a][k] * d->beyond;
      out[a][k][1] = d->rate[a][k];
      out[a][k][2] = bends ? second[a][k] : 0.0;
    }
}

void asi_surface_all(const asi_surface *s, double x, double y, double out[6]) {
  static const int order[6][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 0}, {1, 1}, {0, 2}};
  const bool linear = s->given.interpolation == AS_LINEAR;
  const double *const ys_at = s->number + s->given.nx;
  const direction X = look_along(s->number, s->given.nx, x, linear);
  const direction Y = look_along(ys_at, s->given.ny, y, linear);
  double wx[2][2][3], wy[2][2][3];
  weigh(&X, s->number, x, linear, wx);
  weigh(&Y, ys_at, y, linear, wy);
  memset(out, 0, 6 * sizeof *out);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      const double *p = corner(s, X.low + a, Y.low + b);
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 2; ++l)
          for (int i = 0; i < 6; ++i)
            out[i] += wx[a][k][order[i][0]] * wy[b][l][order[i][1]] * p[k + 2 * l];
    }
}

static double at_rest(double x, const void *data) {
  double out[3] = {(double)NAN};
  return asi_surface_evaluate(data, x, 0.0, out) ? (double)NAN : out[0];
}

bool asi_surface_pushes(const asi_surface *s) {
  const int nx = s->given.nx, ny = s->given.ny;
  if (s->given.function || s->number[nx] > 0.0 || s->number[nx + ny - 1] < 0.0) return false;
  for (int i = 0; i < nx; ++i)
    for (int j = 0; j < ny; ++j)
      if (corner(s, i, j)[Z] < 0.0) return false;
  double end[3];
  table(s, s->number[nx - 1], 0.0, end);
  return end[1] >= 0.0 && at_rest(0.0, s) >= 0.0;
}

double asi_surface_integral(const asi_surface *s, double x) {
  enum { PIECES = 64 };
  if (s->given.function) return asi_gauss(at_rest, s, 0.0, x, PIECES);
  const double low = fmin(0.0, x), high = fmax(0.0, x);
  double sum = 0.0, from = low; // piece by piece: a cubic each
  for (int i = 0; i < s->given.nx; ++i) {
    const double to = s->number[i];
    if (to <= from || to >= high) continue;
    sum += asi_gauss(at_rest, s, from, to, 1);
    from = to;
  }
  sum += asi_gauss(at_rest, s, from, high, 1);
  return x < 0.0 ? -sum : sum;
}

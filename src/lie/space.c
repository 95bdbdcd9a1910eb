// A product space works on its factors one by one: a part R^n is one factor of dimension n, any
// other part is `count` equal factors.
//
// A factor starts in q at or behind the place where it starts in v. So exp and move run from the
// last factor to the first, log and difference from the first to the last: then none overwrites
// what it has yet to read where output and input are the same array.
#include "lie/space.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"
#include "lie/rotation.h"
#include "lie/se3.h"

// Numbers per factor, and per dimension of R^n.
static const struct {
  int nq, nv, tangent_nnz;
} sizes[] = {
    [AS_SPACE_RN] = {1, 1, 1},
    [AS_SPACE_SO3] = {4, 3, 9},
    [AS_SPACE_R3SO3] = {7, 6, 12},
    [AS_SPACE_SE3] = {7, 6, 27},
};

static bool is_kind(as_space_kind kind) {
  return kind == AS_SPACE_RN || kind == AS_SPACE_SO3 || kind == AS_SPACE_R3SO3 ||
         kind == AS_SPACE_SE3;
}

as_status as_space_create(const as_space_part *parts, int n_parts, as_space **out,
                          as_error *error) {
  const double t = (double)NAN;
  if (out == NULL) {
    return asi_fail(error, AS_ERR_ARGUMENT, t, NULL, "as_space_create: out is NULL.");
  }
  *out = NULL;
  if (parts == NULL) {
    return asi_fail(error, AS_ERR_ARGUMENT, t, NULL, "as_space_create: parts is NULL.");
  }
  if (n_parts < 1) {
    return asi_fail(error, AS_ERR_ARGUMENT, t, NULL,
                    "as_space_create: a space needs at least 1 part, but n_parts = %d.", n_parts);
  }
  long long nq = 0, nv = 0, nnz = 0;
  for (int i = 0; i < n_parts; i++) {
    const as_space_part part = parts[i];
    if (!is_kind(part.kind)) {
      return asi_fail(error, AS_ERR_ARGUMENT, t, NULL,
                      "as_space_create: parts[%d].kind = %d is none of the kinds of space.", i,
                      (int)part.kind);
    }
    if (part.count < 1) {
      return asi_fail(error, AS_ERR_ARGUMENT, t, NULL,
                      "as_space_create: parts[%d].count = %d must be at least 1.", i, part.count);
    }
    nq += (long long)part.count * sizes[part.kind].nq;
    nv += (long long)part.count * sizes[part.kind].nv;
    nnz += (long long)part.count * sizes[part.kind].tangent_nnz;
    if (nnz > INT_MAX) { // the largest of the three
      return asi_fail(error, AS_ERR_ARGUMENT, t, NULL,
                      "as_space_create: with parts[%d] the space has %lld numbers in q and %lld "
                      "entries in its tangent operator; at most %d are possible.",
                      i, nq, nnz, INT_MAX);
    }
  }
  const size_t parts_size = (size_t)n_parts * sizeof *parts;
  as_space *space = asi_calloc(1, sizeof *space + parts_size);
  if (space == NULL) return asi_fail_memory(error);
  space->nq = (int)nq;
  space->nv = (int)nv;
  space->tangent_nnz = (int)nnz;
  space->n_parts = n_parts;
  memcpy(space->parts, parts, parts_size);
  *out = space;
  return AS_OK;
}

void as_space_destroy(as_space *space) { free(space); }

int as_space_nq(const as_space *space) { return space->nq; }

int as_space_nv(const as_space *space) { return space->nv; }

bool asi_space_is_linear(const as_space *space) {
  for (int i = 0; i < space->n_parts; i++) {
    if (space->parts[i].kind != AS_SPACE_RN) return false;
  }
  return true;
}

// Where the loop over the factors stands.
typedef struct factor {
  int part;
  int copy;
  as_space_kind kind;
  int nq; // of this factor
  int nv;
  int q; // where it starts in q
  int v; // where it starts in v
} factor;

// Looks up f->part; leaves kind and sizes alone outside of the space.
static void enter_part(const as_space *space, factor *f) {
  if (f->part < 0 || f->part >= space->n_parts) return;
  const as_space_part part = space->parts[f->part];
  const int repeat = part.kind == AS_SPACE_RN ? part.count : 1;
  f->kind = part.kind;
  f->nq = repeat * sizes[part.kind].nq;
  f->nv = repeat * sizes[part.kind].nv;
}

static int copies(const as_space *space, int part) {
  return space->parts[part].kind == AS_SPACE_RN ? 1 : space->parts[part].count;
}

static factor first_factor(const as_space *space) {
  factor f = {0};
  enter_part(space, &f);
  return f;
}

static bool is_factor(const as_space *space, const factor *f) {
  return f->part >= 0 && f->part < space->n_parts;
}

static void next_factor(const as_space *space, factor *f) {
  f->q += f->nq;
  f->v += f->nv;
  if (++f->copy < copies(space, f->part)) return;
  f->copy = 0;
  f->part++;
  enter_part(space, f);
}

static factor last_factor(const as_space *space) {
  factor f = {.part = space->n_parts - 1};
  enter_part(space, &f);
  f.copy = copies(space, f.part) - 1;
  f.q = space->nq - f.nq;
  f.v = space->nv - f.nv;
  return f;
}

static void previous_factor(const as_space *space, factor *f) {
  if (--f->copy < 0) {
    f->part--;
    enter_part(space, f);
    if (f->part >= 0) f->copy = copies(space, f->part) - 1;
  }
  f->q -= f->nq;
  f->v -= f->nv;
}

static void copy(int n, const double *from, double *to) {
  memmove(to, from, (size_t)n * sizeof *to);
}

static void add(int n, const double *a, const double *b, double *out) {
  for (int i = 0; i < n; i++) out[i] = a[i] + b[i];
}

void as_space_identity(const as_space *space, double *q) {
  for (int i = 0; i < space->nq; i++) q[i] = 0.0;
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    if (f.kind != AS_SPACE_RN) q[f.q + f.nq - 4] = 1.0; // the quaternion stands last
  }
}

// [LG.9]
void as_space_compose(const as_space *space, const double *q1, const double *q2, double *out) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *a = q1 + f.q, *b = q2 + f.q;
    double *o = out + f.q;
    switch (f.kind) {
    case AS_SPACE_RN: add(f.nq, a, b, o); break;
    case AS_SPACE_SO3: asi_so3_compose(a, b, o); break;
    case AS_SPACE_R3SO3:
      add(3, a, b, o);
      asi_so3_compose(a + 3, b + 3, o + 3);
      break;
    case AS_SPACE_SE3: asi_se3_compose(a, b, o); break;
    }
  }
}

// [LG.9]
void as_space_inverse(const as_space *space, const double *q, double *out) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *a = q + f.q;
    double *o = out + f.q;
    switch (f.kind) {
    case AS_SPACE_RN:
      for (int i = 0; i < f.nq; i++) o[i] = -a[i];
      break;
    case AS_SPACE_SO3: asi_so3_inverse(a, o); break;
    case AS_SPACE_R3SO3:
      for (int i = 0; i < 3; i++) o[i] = -a[i];
      asi_so3_inverse(a + 3, o + 3);
      break;
    case AS_SPACE_SE3: asi_se3_inverse(a, o); break;
    }
  }
}

// exp of one factor other than R^n
static void exp_factor(as_space_kind kind, const double *xi, double *q) {
  switch (kind) {
  case AS_SPACE_RN: break;
  case AS_SPACE_SO3: asi_so3_exp(xi, q); break;
  case AS_SPACE_R3SO3:
    copy(3, xi, q);
    asi_so3_exp(xi + 3, q + 3);
    break;
  case AS_SPACE_SE3: asi_se3_exp(xi, q); break;
  }
}

// log of one factor other than R^n
static void log_factor(as_space_kind kind, const double *q, double *xi) {
  switch (kind) {
  case AS_SPACE_RN: break;
  case AS_SPACE_SO3: asi_so3_log(q, xi); break;
  case AS_SPACE_R3SO3:
    copy(3, q, xi);
    asi_so3_log(q + 3, xi + 3);
    break;
  case AS_SPACE_SE3: asi_se3_log(q, xi); break;
  }
}

// [LG.3] [LG.10]
void as_space_exp(const as_space *space, const double *xi, double *q) {
  for (factor f = last_factor(space); is_factor(space, &f); previous_factor(space, &f)) {
    if (f.kind == AS_SPACE_RN) {
      copy(f.nv, xi + f.v, q + f.q);
      continue;
    }
    double e[7];
    exp_factor(f.kind, xi + f.v, e);
    copy(f.nq, e, q + f.q);
  }
}

// [LG.4] [LG.10]
void as_space_log(const as_space *space, const double *q, double *xi) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    if (f.kind == AS_SPACE_RN) {
      copy(f.nv, q + f.q, xi + f.v);
      continue;
    }
    double x[6];
    log_factor(f.kind, q + f.q, x);
    copy(f.nv, x, xi + f.v);
  }
}

// One factor R^3 x SO(3), and the one before it, too, if `two`; all is read before anything is written.
static void move_rigid(bool two, const double *q, const double *xi, double *out) {
  const asi_three x = asi_plus_three(asi_load_three(q), asi_load_three(xi));
  if (two) {
    const asi_three before = asi_plus_three(asi_load_three(q - 7), asi_load_three(xi - 6));
    asi_so3_move_two(q + 3, xi + 3, q - 4, xi - 3, out + 3, out - 4);
    asi_store_three(out - 7, before);
  } else {
    asi_so3_move(q + 3, xi + 3, out + 3);
  }
  asi_store_three(out, x);
}

// [LG.14] q o exp(xi), and each quaternion divided by its length
void as_space_move(const as_space *space, const double *q, const double *xi, double *out) {
  for (factor f = last_factor(space); is_factor(space, &f); previous_factor(space, &f)) {
    const double *a = q + f.q, *x = xi + f.v;
    double *o = out + f.q;
    switch (f.kind) {
    case AS_SPACE_RN:
      for (int i = f.nq - 1; i >= 0; i--) o[i] = a[i] + x[i]; // backwards, as the factors
      break;
    case AS_SPACE_SO3: asi_so3_move(a, x, o); break;
    case AS_SPACE_R3SO3:
      move_rigid(f.copy > 0, a, x, o);
      if (f.copy > 0) previous_factor(space, &f);
      break;
    case AS_SPACE_SE3: asi_se3_move(a, x, o); break;
    }
  }
}

// [LG.14] log(q0^-1 o q1)
void as_space_difference(const as_space *space, const double *q0, const double *q1, double *xi) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *a = q0 + f.q, *b = q1 + f.q;
    double d[7], x[6];
    switch (f.kind) {
    case AS_SPACE_RN:
      for (int i = 0; i < f.nv; i++) xi[f.v + i] = b[i] - a[i];
      continue;
    case AS_SPACE_SO3:
      asi_so3_inverse(a, d);
      asi_so3_compose(d, b, d);
      break;
    case AS_SPACE_R3SO3:
      for (int i = 0; i < 3; i++) d[i] = b[i] - a[i];
      asi_so3_inverse(a + 3, d + 3);
      asi_so3_compose(d + 3, b + 3, d + 3);
      break;
    case AS_SPACE_SE3: asi_se3_between(a, b, d); break;
    }
    log_factor(f.kind, d, x);
    copy(f.nv, x, xi + f.v);
  }
}

// [LG.5] [LG.11]
void as_space_tangent(const as_space *space, const double *xi, const double *v, double *out) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *x = xi + f.v, *a = v + f.v;
    double *o = out + f.v;
    switch (f.kind) {
    case AS_SPACE_RN: copy(f.nv, a, o); break;
    case AS_SPACE_SO3: asi_so3_tangent_times(x, a, o); break;
    case AS_SPACE_R3SO3:
      copy(3, a, o);
      asi_so3_tangent_times(x + 3, a + 3, o + 3);
      break;
    case AS_SPACE_SE3: asi_se3_tangent_times(x, a, o); break;
    }
  }
}

// [LG.8] [LG.12]
void as_space_tangent_inverse(const as_space *space, const double *xi, const double *v,
                              double *out) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *x = xi + f.v, *a = v + f.v;
    double *o = out + f.v;
    switch (f.kind) {
    case AS_SPACE_RN: copy(f.nv, a, o); break;
    case AS_SPACE_SO3: asi_so3_tangent_solve(x, a, o); break;
    case AS_SPACE_R3SO3:
      copy(3, a, o);
      asi_so3_tangent_solve(x + 3, a + 3, o + 3);
      break;
    case AS_SPACE_SE3: asi_se3_tangent_solve(x, a, o); break;
    }
  }
}

// [LG.13]
void as_space_bracket(const as_space *space, const double *a, const double *b, double *out) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    double *o = out + f.v;
    switch (f.kind) {
    case AS_SPACE_RN:
      for (int i = 0; i < f.nv; i++) o[i] = 0.0;
      break;
    case AS_SPACE_SO3: asi_cross3(a + f.v, b + f.v, o); break;
    case AS_SPACE_R3SO3:
      for (int i = 0; i < 3; i++) o[i] = 0.0;
      asi_cross3(a + f.v + 3, b + f.v + 3, o + 3);
      break;
    case AS_SPACE_SE3: asi_se3_bracket(a + f.v, b + f.v, o); break;
    }
  }
}

as_status as_space_check(const as_space *space, const double *q, as_error *error) {
  const double t = (double)NAN, limit = 1e-6;
  for (int i = 0; i < space->nq; i++) {
    if (!isfinite(q[i])) {
      return asi_fail(error, AS_ERR_ARGUMENT, t, NULL, "q[%d] = %g is not finite.", i, q[i]);
    }
  }
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    if (f.kind == AS_SPACE_RN) continue;
    const int i = f.q + f.nq - 4;
    const double length = sqrt(q[i] * q[i] + asi_dot3(q + i + 1, q + i + 1));
    if (!(fabs(length - 1.0) <= limit)) {
      return asi_fail(error, AS_ERR_ARGUMENT, t, NULL,
                      "The quaternion q[%d..%d] has length %.10g, further than %g from 1.", i,
                      i + 3, length, limit);
    }
  }
  return AS_OK;
}

void as_space_normalize(const as_space *space, double *q) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    if (f.kind != AS_SPACE_RN) asi_so3_normalize(q + f.q + f.nq - 4);
  }
}

static double norm3(const double *a) { return sqrt(asi_dot3(a, a)); }

static void fill3(double *out, double value) { out[0] = out[1] = out[2] = value; }

void asi_space_sizes(const as_space *space, const double *q, const double *v, double *q_size,
                     double *v_size) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *x = q + f.q, *w = v + f.v;
    double *size = q_size + f.v, *rate = v_size + f.v;
    const int turn = f.nv - 3; // where the rotation is
    for (int i = 0; i < f.nv && f.kind == AS_SPACE_RN; i++) {
      size[i] = fabs(x[i]);
      rate[i] = fabs(w[i]);
    }
    if (f.kind == AS_SPACE_RN) continue;
    fill3(size + turn, 1.0);
    fill3(rate + turn, norm3(w + turn));
    if (f.kind == AS_SPACE_SO3) continue;
    fill3(size, norm3(x));
    fill3(rate, norm3(w));
  }
}

void asi_space_spread(const as_space *space, double position, double rotation, double *out) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f))
    for (int i = 0; i < f.nv; i++)
      out[f.v + i] = f.kind == AS_SPACE_RN || i < f.nv - 3 ? position : rotation;
}

void asi_space_each_number(const as_space *space, const double *of_v, double *of_q) {
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f))
    for (int i = 0; i < f.nq; i++)
      of_q[f.q + i] = f.kind != AS_SPACE_RN && i >= f.nq - 4 ? 1.0 : of_v[f.v + i];
}

int asi_space_tangent_nnz(const as_space *space) { return space->tangent_nnz; }

void asi_space_tangent_pattern(const as_space *space, int *col_start, int *row) {
  int n = 0;
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    for (int j = 0; j < f.nv; j++) {
      const bool diagonal = f.kind == AS_SPACE_RN || (f.kind == AS_SPACE_R3SO3 && j < 3);
      const bool from_top = f.kind == AS_SPACE_SO3 || f.kind == AS_SPACE_SE3;
      const int begin = diagonal ? j : from_top ? 0 : 3;
      const int end = diagonal ? j + 1 : j < 3 ? 3 : 6;
      col_start[f.v + j] = n;
      for (int i = begin; i < end; i++) row[n++] = f.v + i;
    }
  }
  col_start[space->nv] = n;
}

// [LG.5] T by columns is T(-w) by rows.
static double *fill_rotation(const double *w, double *out) {
  const double back[3] = {-w[0], -w[1], -w[2]};
  asi_so3_tangent(back, out);
  return out + 9;
}

// [LG.11] the columns of [T U; 0 T]
static double *fill_motion(const double *xi, double *out) {
  double t[9], u[9];
  asi_se3_tangent(xi, t, u);
  for (int j = 0; j < 3; j++, out += 3)
    for (int i = 0; i < 3; i++) out[i] = t[3 * i + j];
  for (int j = 0; j < 3; j++, out += 6)
    for (int i = 0; i < 3; i++) {
      out[i] = u[3 * i + j];
      out[3 + i] = t[3 * i + j];
    }
  return out;
}

void asi_space_tangent_fill(const as_space *space, const double *xi, double *value) {
  double *out = value;
  for (factor f = first_factor(space); is_factor(space, &f); next_factor(space, &f)) {
    const double *x = xi + f.v;
    switch (f.kind) {
    case AS_SPACE_RN:
      for (int i = 0; i < f.nv; i++) *out++ = 1.0;
      break;
    case AS_SPACE_SO3: out = fill_rotation(x, out); break;
    case AS_SPACE_R3SO3:
      fill3(out, 1.0);
      out = fill_rotation(x + 3, out + 3);
      break;
    case AS_SPACE_SE3: out = fill_motion(x, out); break;
    }
  }
}

/// The chain as IDA likes it best: stabilized index-2 (Gear, Gupta, Leimkuhler), analytic sparse Jacobian, KLU,
/// unknowns interleaved along the chain.
///
/// Link i has x, a quaternion p = (w, u), v, omega, and the multipliers lambda, mu of the joint at its left end,
/// 19 numbers in this order. With s = (length/2) e_x, sums over its own joint and the next one:
///
///     x' = v - (mu_i - mu_{i+1})                             p' = p o (0, omega + s x R^T (mu_i + mu_{i+1}))/2
///     m v' = m g - (lambda_i - lambda_{i+1})                 J omega' = -omega x J omega + s x R^T (lambda_i + lambda_{i+1})
///     0 = x_i - R_i s - x_{i-1} - R_{i-1} s                  0 = its time derivative
///
/// R a = (w^2 - u.u) a + 2 (u.a) u + 2 w u x a, so D(R a) = [2 w a + 2 u x a, 2 u a^T - 2 a u^T + 2 (u.a) I - 2 w a~].
#define _POSIX_C_SOURCE 200809L
#include "ida_chain.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ida/ida.h>
#include <klu.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include "elements/vector.h"

enum { X = 0, P = 3, V = 7, W = 10, LAMBDA = 13, MU = 16, SIZE = 19 };

static const double half = 0.5, mass = 1.0, gravity = 9.81;
static const double inertia[3] = {0.00125, 0.0839583333333333333, 0.0839583333333333333};

/// The matrix: entries are added in the same order every time; where each goes is found once.
typedef struct matrix {
  sunindextype *col_start, *row;
  int *position; ///< of each addition
  int n_added, n_entries, room;
  int *added_row, *added_col; ///< only while the pattern is found
  double *value;
} matrix;

typedef struct chain {
  int n;
  matrix m;
} chain;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// ---- equations ------------------------------------------------------------------------------------------

/// conjugate = 1: R a, -1: R^T a
static void turn(const double *p, double conjugate, const double *a, double *out) {
  const double w = conjugate * p[0], *u = p + 1;
  const double uu = asi_dot(u, u), ua = asi_dot(u, a);
  asi_cross(u, a, out);
  for (int k = 0; k < 3; ++k) out[k] = (w * w - uu) * a[k] + 2.0 * ua * u[k] + 2.0 * w * out[k];
}

/// s x a for s = half e_x
static void across(const double *a, double *out) { asi_set(0.0, -half * a[2], half * a[1], out); }

static int residual(double t, N_Vector yy, N_Vector yp, N_Vector rr, void *user) {
  const chain *c = user;
  const double *y = N_VGetArrayPointer(yy), *d = N_VGetArrayPointer(yp);
  double *r = N_VGetArrayPointer(rr);
  const double s[3] = {half, 0, 0};
  double end[3] = {0}, end_rate[3] = {0}; // of the link before
  (void)t;
  for (int i = 0; i < c->n; ++i, y += SIZE, d += SIZE, r += SIZE) {
    const bool last = i + 1 == c->n;
    double mu[3], lambda[3], back[3], omega[3], torque[3], arm[3], arm_rate[3], spin[3];
    for (int k = 0; k < 3; ++k) {
      const double next_mu = last ? 0.0 : y[SIZE + MU + k];
      const double next_lambda = last ? 0.0 : y[SIZE + LAMBDA + k];
      mu[k] = y[MU + k] + next_mu;
      lambda[k] = y[LAMBDA + k] + next_lambda;
      r[X + k] = d[X + k] - y[V + k] + y[MU + k] - next_mu;
      r[V + k] = mass * (d[V + k] + (k == 2 ? gravity : 0.0)) + y[LAMBDA + k] - next_lambda;
    }
    turn(y + P, -1.0, mu, back);
    across(back, omega);
    asi_add(1.0, y + W, omega);
    const double *u = y + P + 1;
    r[P] = d[P] + 0.5 * asi_dot(u, omega);
    asi_cross(u, omega, spin);
    for (int k = 0; k < 3; ++k) r[P + 1 + k] = d[P + 1 + k] - 0.5 * (y[P] * omega[k] + spin[k]);
    turn(y + P, -1.0, lambda, back);
    across(back, torque);
    const double Jw[3] = {inertia[0] * y[W], inertia[1] * y[W + 1], inertia[2] * y[W + 2]};
    asi_cross(y + W, Jw, spin);
    for (int k = 0; k < 3; ++k) r[W + k] = inertia[k] * d[W + k] + spin[k] - torque[k];
    turn(y + P, 1.0, s, arm);
    asi_cross(y + W, s, spin);
    turn(y + P, 1.0, spin, arm_rate);
    for (int k = 0; k < 3; ++k) {
      r[LAMBDA + k] = y[X + k] - arm[k] - end[k];
      r[MU + k] = y[V + k] - arm_rate[k] - end_rate[k];
      end[k] = y[X + k] + arm[k];
      end_rate[k] = y[V + k] + arm_rate[k];
    }
  }
  return 0;
}

// ---- Jacobian -------------------------------------------------------------------------------------------

static void add(matrix *m, int row, int col, double x) {
  if (m->value) {
    m->value[m->position[m->n_added++]] += x;
    return;
  }
  if (m->n_added == m->room) {
    m->room = 2 * m->room + 1024;
    m->added_row = realloc(m->added_row, (size_t)m->room * sizeof(int));
    m->added_col = realloc(m->added_col, (size_t)m->room * sizeof(int));
    if (m->added_row == NULL || m->added_col == NULL) abort();
  }
  m->added_row[m->n_added] = row;
  m->added_col[m->n_added++] = col;
}

static void add_identity(matrix *m, int row, int col, int n, double x) {
  for (int k = 0; k < n; ++k) add(m, row + k, col + k, x);
}

static void add_block(matrix *m, int row, int col, int rows, int cols, const double *x,
                      double factor) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) add(m, row + i, col + j, factor * x[i * cols + j]);
}

/// D(R a) or, with conjugate = -1, D(R^T a): 3 x 4.
static void turn_gradient(const double *p, double conjugate, const double *a, double *out) {
  const double w = p[0], *u = p + 1, ua = asi_dot(u, a);
  double spin[3];
  asi_cross(u, a, spin);
  for (int i = 0; i < 3; ++i) {
    out[4 * i] = 2.0 * w * a[i] + conjugate * 2.0 * spin[i];
    for (int j = 0; j < 3; ++j)
      out[4 * i + 1 + j] = 2.0 * (u[i] * a[j] - a[i] * u[j] + (i == j ? ua : 0.0));
  }
  asi_add_skew(-2.0 * conjugate * w, a, out + 1, 4);
}

/// s~ A for a matrix of 3 rows: rows 0, -half A_2, half A_1
static void cross_rows(const double *A, int cols, double *out) {
  for (int j = 0; j < cols; ++j) {
    out[j] = 0.0;
    out[cols + j] = -half * A[2 * cols + j];
    out[2 * cols + j] = half * A[cols + j];
  }
}

static void rotation(const double *p, double *R) {
  for (int j = 0; j < 3; ++j) {
    const double e[3] = {j == 0, j == 1, j == 2};
    double column[3];
    turn(p, 1.0, e, column);
    for (int i = 0; i < 3; ++i) R[3 * i + j] = column[i];
  }
}

static void add_link(matrix *m, const double *y, int i, int n, double cj) {
  const int at = i * SIZE, next = at + SIZE;
  const bool last = i + 1 == n;
  const double *p = y + P, *u = p + 1, s[3] = {half, 0, 0};
  double mu[3], lambda[3], back[3], omega[3], R[9], Rt[9] = {0}, sRt[9];
  for (int k = 0; k < 3; ++k) {
    mu[k] = y[MU + k] + (last ? 0.0 : y[SIZE + MU + k]);
    lambda[k] = y[LAMBDA + k] + (last ? 0.0 : y[SIZE + LAMBDA + k]);
  }
  turn(p, -1.0, mu, back);
  across(back, omega);
  asi_add(1.0, y + W, omega);
  rotation(p, R);
  asi_add_transposed(1.0, R, Rt, 3);
  cross_rows(Rt, 3, sRt);
  // x
  add_identity(m, at + X, at + X, 3, cj);
  add_identity(m, at + X, at + V, 3, -1.0);
  add_identity(m, at + X, at + MU, 3, 1.0);
  if (!last) add_identity(m, at + X, next + MU, 3, -1.0);
  // p
  double Q[12] = {-u[0], -u[1], -u[2], p[0], 0, 0, 0, p[0], 0, 0, 0, p[0]}; // p o (0, .)
  asi_add_skew(1.0, u, Q + 3, 3);
  double G[12], sG[12], p_p[16] = {0}, QsRt[12];
  turn_gradient(p, -1.0, mu, G);
  cross_rows(G, 4, sG);
  for (int k = 0; k < 3; ++k) {
    p_p[1 + k] = -omega[k];
    p_p[4 * (1 + k)] = omega[k];
  }
  asi_add_skew(-1.0, omega, p_p + 5, 4);
  for (int r = 0; r < 4; ++r) {
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 3; ++k) p_p[4 * r + j] += Q[3 * r + k] * sG[4 * k + j];
    for (int j = 0; j < 3; ++j) {
      QsRt[3 * r + j] = 0.0;
      for (int k = 0; k < 3; ++k) QsRt[3 * r + j] += Q[3 * r + k] * sRt[3 * k + j];
    }
  }
  add_identity(m, at + P, at + P, 4, cj);
  add_block(m, at + P, at + P, 4, 4, p_p, -0.5);
  add_block(m, at + P, at + W, 4, 3, Q, -0.5);
  add_block(m, at + P, at + MU, 4, 3, QsRt, -0.5);
  if (!last) add_block(m, at + P, next + MU, 4, 3, QsRt, -0.5);
  // v
  add_identity(m, at + V, at + V, 3, mass * cj);
  add_identity(m, at + V, at + LAMBDA, 3, 1.0);
  if (!last) add_identity(m, at + V, next + LAMBDA, 3, -1.0);
  // omega
  const double Jw[3] = {inertia[0] * y[W], inertia[1] * y[W + 1], inertia[2] * y[W + 2]};
  const double J[9] = {inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]};
  double w_w[9] = {0};
  asi_add_matrix(cj, J, w_w, 3);
  asi_add_skew_times(1.0, y + W, J, w_w, 3);
  asi_add_skew(-1.0, Jw, w_w, 3);
  turn_gradient(p, -1.0, lambda, G);
  cross_rows(G, 4, sG);
  add_block(m, at + W, at + W, 3, 3, w_w, 1.0);
  add_block(m, at + W, at + P, 3, 4, sG, -1.0);
  add_block(m, at + W, at + LAMBDA, 3, 3, sRt, -1.0);
  if (!last) add_block(m, at + W, next + LAMBDA, 3, 3, sRt, -1.0);
  // g and its rate: of its own joint, and of the next one
  double arm[12], spin[3], rate[12], Rs[9] = {0};
  asi_cross(y + W, s, spin);
  turn_gradient(p, 1.0, s, arm);
  turn_gradient(p, 1.0, spin, rate);
  asi_add_times_skew(1.0, R, s, Rs, 3); // R (omega x s) = -R s~ omega
  for (int k = 0; k < (last ? 1 : 2); ++k) {
    const int row = at + k * SIZE;
    const double sign = k == 0 ? 1.0 : -1.0;
    add_identity(m, row + LAMBDA, at + X, 3, sign);
    add_block(m, row + LAMBDA, at + P, 3, 4, arm, -1.0);
    add_identity(m, row + MU, at + V, 3, sign);
    add_block(m, row + MU, at + P, 3, 4, rate, -1.0);
    add_block(m, row + MU, at + W, 3, 3, Rs, 1.0);
  }
}

static int jacobian(double t, double cj, N_Vector yy, N_Vector yp, N_Vector rr, SUNMatrix out,
                    void *user, N_Vector a, N_Vector b, N_Vector e) {
  chain *c = user;
  matrix *m = &c->m;
  const double *y = N_VGetArrayPointer(yy);
  (void)t, (void)yp, (void)rr, (void)a, (void)b, (void)e;
  memcpy(SUNSparseMatrix_IndexPointers(out), m->col_start,
         ((size_t)c->n * SIZE + 1) * sizeof *m->col_start);
  memcpy(SUNSparseMatrix_IndexValues(out), m->row, (size_t)m->n_entries * sizeof *m->row);
  m->value = SUNSparseMatrix_Data(out);
  memset(m->value, 0, (size_t)m->n_entries * sizeof(double));
  m->n_added = 0;
  for (int i = 0; i < c->n; ++i) add_link(m, y + i * SIZE, i, c->n, cj);
  return 0;
}

static int compare(const void *a, const void *b) {
  const long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

/// Records all additions once and finds where they go.
static void find_pattern(chain *c, const double *y) {
  matrix *m = &c->m;
  const int size = c->n * SIZE;
  for (int i = 0; i < c->n; ++i) add_link(m, y + i * SIZE, i, c->n, 1.0);
  long long *key = malloc(((size_t)m->n_added + 1) * sizeof *key);
  m->position = malloc(((size_t)m->n_added + 1) * sizeof *m->position);
  m->col_start = calloc((size_t)size + 1, sizeof *m->col_start);
  m->row = malloc(((size_t)m->n_added + 1) * sizeof *m->row);
  if (!key || !m->position || !m->col_start || !m->row) abort();
  for (int k = 0; k < m->n_added; ++k) key[k] = (long long)m->added_col[k] * size + m->added_row[k];
  qsort(key, (size_t)m->n_added, sizeof *key, compare);
  for (int k = 0; k < m->n_added; ++k)
    if (k == 0 || key[k] != key[k - 1]) key[m->n_entries++] = key[k];
  for (int k = 0; k < m->n_entries; ++k) {
    m->row[k] = (sunindextype)(key[k] % size);
    ++m->col_start[key[k] / size + 1];
  }
  for (int j = 0; j < size; ++j) m->col_start[j + 1] += m->col_start[j];
  for (int k = 0; k < m->n_added; ++k) {
    const long long wanted = (long long)m->added_col[k] * size + m->added_row[k];
    const long long *found = bsearch(&wanted, key, (size_t)m->n_entries, sizeof *key, compare);
    m->position[k] = (int)(found - key);
  }
  free(key);
}

// ---- a run ----------------------------------------------------------------------------------------------

static void fill_start(const ida_options *o, double *y, double *d, double *id) {
  for (int i = 0; i < o->n_links; ++i, y += SIZE, d += SIZE, id += SIZE) {
    y[X] = i + half;
    y[P] = 1.0;
    for (int k = 0; k < 3; ++k) {
      d[V + k] = o->acceleration[6 * i + k];
      d[W + k] = o->acceleration[6 * i + 3 + k];
      y[LAMBDA + k] = o->lambda[3 * i + k];
    }
    for (int k = 0; k < SIZE; ++k) id[k] = k < LAMBDA;
  }
}

ida_result ida_chain_run(const ida_options *o) {
  ida_result out = {0};
  chain c = {.n = o->n_links};
  SUNContext context;
  SUNContext_Create(NULL, &context);
  const sunindextype size = (sunindextype)o->n_links * SIZE;
  N_Vector y = N_VNew_Serial(size, context), d = N_VClone(y), id = N_VClone(y);
  N_VConst(0.0, y);
  N_VConst(0.0, d);
  fill_start(o, N_VGetArrayPointer(y), N_VGetArrayPointer(d), N_VGetArrayPointer(id));
  find_pattern(&c, N_VGetArrayPointer(y));
  void *ida = IDACreate(context);
  SUNMatrix A = SUNSparseMatrix(size, size, c.m.n_entries, CSC_MAT, context);
  SUNLinearSolver solver = SUNLinSol_KLU(y, A, context);
  SUNLinSol_KLUSetOrdering(solver, o->ordering);
  SUNLinSol_KLUGetCommon(solver)->btf = o->btf;
  int status = IDAInit(ida, residual, 0.0, y, d);
  if (status == 0) status = IDASStolerances(ida, o->rtol, o->rtol);
  if (status == 0) status = IDASetUserData(ida, &c);
  if (status == 0) status = IDASetId(ida, id);
  if (status == 0) status = IDASetSuppressAlg(ida, SUNTRUE);
  if (status == 0) status = IDASetMaxNumSteps(ida, 1000000);
  if (status == 0) status = IDASetLinearSolver(ida, solver, A);
  if (status == 0) status = IDASetJacFn(ida, jacobian);
  double t;
  if (status == 0) status = IDASetStopTime(ida, o->t_end);
  const double start = cpu_seconds();
  if (status == 0) status = IDASolve(ida, o->t_end, &t, y, d, IDA_NORMAL);
  out.seconds = cpu_seconds() - start;
  out.status = status < 0;
  IDAGetNumSteps(ida, &out.steps);
  IDAGetNumJacEvals(ida, &out.jacobians);
  IDAGetNumNonlinSolvIters(ida, &out.iterations);
  const double *end = N_VGetArrayPointer(y) + (size_t)(o->n_links - 1) * SIZE;
  const double s[3] = {half, 0, 0};
  turn(end + P, 1.0, s, out.tip);
  asi_add(1.0, end + X, out.tip);
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(A);
  N_VDestroy(y);
  N_VDestroy(d);
  N_VDestroy(id);
  SUNContext_Free(&context);
  free(c.m.position);
  free(c.m.col_start);
  free(c.m.row);
  free(c.m.added_row);
  free(c.m.added_col);
  return out;
}

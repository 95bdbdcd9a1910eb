#include "structures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static as_sparse *make(int rows, int cols, const as_entry *entries, size_t n) {
  as_error error;
  as_sparse *m = NULL;
  if (as_sparse_create(rows, cols, entries, n, &m, &error)) fail_msg("%s", error.message);
  return m;
}

static as_superelement_node *make_nodes(int n, double length) {
  as_superelement_node *node = calloc((size_t)n, sizeof *node);
  assert_non_null(node);
  for (int i = 0; i < n; ++i) {
    node[i].position[0] = length * i / (n - 1);
    for (int k = 0; k < 6; ++k) node[i].coordinate[k] = -1;
  }
  return node;
}

/// Adds an element's matrix, by rows, at coordinates `at`; those below 0 are left out.
static void add_element(as_entry *entries, size_t *n, const double *matrix, const int *at,
                        int size) {
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      if (at[i] >= 0 && at[j] >= 0 && matrix[i * size + j] != 0.0)
        entries[(*n)++] = (as_entry){at[i], at[j], matrix[i * size + j]};
}

structure structure_bar(int elements, double length, double stiffness, double mass_per_length,
                        bool lumped, bool clamped) {
  const double h = length / elements, k = stiffness / h, m = mass_per_length * h / 6.0;
  const double K[4] = {k, -k, -k, k};
  const double M[4] = {lumped ? 3 * m : 2 * m, lumped ? 0 : m, lumped ? 0 : m,
                       lumped ? 3 * m : 2 * m};
  structure s = {.n = elements + !clamped, .n_nodes = elements + 1};
  as_entry *mass = calloc(4 * (size_t)elements, sizeof *mass);
  as_entry *stiff = calloc(4 * (size_t)elements, sizeof *stiff);
  size_t n_mass = 0, n_stiff = 0;
  s.node = make_nodes(s.n_nodes, length);
  for (int i = 0; i < s.n_nodes; ++i) s.node[i].coordinate[0] = i - clamped;
  for (int i = 0; i < elements; ++i) {
    const int at[2] = {i - clamped, i + 1 - clamped};
    add_element(mass, &n_mass, M, at, 2);
    add_element(stiff, &n_stiff, K, at, 2);
  }
  s.mass = make(s.n, s.n, mass, n_mass);
  s.stiffness = make(s.n, s.n, stiff, n_stiff);
  free(mass);
  free(stiff);
  return s;
}

/// One element: displacement across and slope at both ends, at rows `at` of a 12 x 12 matrix.
static void add_bending(double *K, double *M, const int at[4], double sign, double EI, double mass,
                        double h) {
  const double s = sign * h, k = EI / (h * h * h), m = mass * h / 420.0;
  const double bend[16] = {12,    6 * s,     -12,    6 * s,                              //
                           6 * s, 4 * h * h, -6 * s, 2 * h * h, -12, -6 * s, 12, -6 * s, //
                           6 * s, 2 * h * h, -6 * s, 4 * h * h};
  const double inert[16] = {156,     22 * s,     54,      -13 * s,                              //
                            22 * s,  4 * h * h,  13 * s,  -3 * h * h, 54, 13 * s, 156, -22 * s, //
                            -13 * s, -3 * h * h, -22 * s, 4 * h * h};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      K[12 * at[i] + at[j]] += k * bend[4 * i + j];
      M[12 * at[i] + at[j]] += m * inert[4 * i + j];
    }
}

/// One element: a coordinate that varies linearly.
static void add_linear(double *K, double *M, int first, double stiffness, double mass, double h) {
  const int at[2] = {first, first + 6};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      K[12 * at[i] + at[j]] += (i == j ? 1.0 : -1.0) * stiffness / h;
      M[12 * at[i] + at[j]] += (i == j ? 2.0 : 1.0) * mass * h / 6.0;
    }
}

structure structure_beam(int elements, double length, const beam_section *section) {
  const double h = length / elements;
  double K[144] = {0}, M[144] = {0};
  add_linear(K, M, 0, section->EA, section->mass, h);
  add_linear(K, M, 3, section->GJ, section->polar, h);
  add_bending(K, M, (const int[4]){1, 5, 7, 11}, 1.0, section->EIz, section->mass, h);
  add_bending(K, M, (const int[4]){2, 4, 8, 10}, -1.0, section->EIy, section->mass, h);
  structure s = {.n = 6 * (elements + 1), .n_nodes = elements + 1};
  as_entry *mass = calloc(144 * (size_t)elements, sizeof *mass);
  as_entry *stiff = calloc(144 * (size_t)elements, sizeof *stiff);
  size_t n_mass = 0, n_stiff = 0;
  s.node = make_nodes(s.n_nodes, length);
  for (int i = 0; i < s.n_nodes; ++i)
    for (int k = 0; k < 6; ++k) s.node[i].coordinate[k] = 6 * i + k;
  for (int i = 0; i < elements; ++i) {
    int at[12];
    for (int k = 0; k < 12; ++k) at[k] = 6 * i + k;
    add_element(mass, &n_mass, M, at, 12);
    add_element(stiff, &n_stiff, K, at, 12);
  }
  s.mass = make(s.n, s.n, mass, n_mass);
  s.stiffness = make(s.n, s.n, stiff, n_stiff);
  free(mass);
  free(stiff);
  return s;
}

static size_t list_entries(double factor, const as_sparse *m, as_entry *out) {
  size_t n = 0;
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      out[n++] = (as_entry){m->row[k], j, factor * m->value[k]};
  return n;
}

as_sparse *sparse_sum(double a, const as_sparse *A, double b, const as_sparse *B) {
  as_entry *entries =
      calloc((size_t)A->col_start[A->cols] + (size_t)B->col_start[B->cols], sizeof *entries);
  size_t n = list_entries(a, A, entries);
  n += list_entries(b, B, entries + n);
  as_sparse *sum = make(A->rows, A->cols, entries, n);
  free(entries);
  return sum;
}

void sparse_multiply_add(const as_sparse *A, double factor, const double *x, double *y) {
  for (int j = 0; j < A->cols; ++j)
    for (int k = A->col_start[j]; k < A->col_start[j + 1]; ++k)
      y[A->row[k]] += factor * A->value[k] * x[j];
}

as_sparse *sparse_column(const double *x, int n) {
  as_entry *entries = calloc((size_t)n, sizeof *entries);
  for (int i = 0; i < n; ++i) entries[i] = (as_entry){i, 0, x[i]};
  as_sparse *column = make(n, 1, entries, (size_t)n);
  free(entries);
  return column;
}

as_superelement_def structure_def(const structure *s) {
  as_superelement_def def = as_default_superelement_def();
  def.mass = s->mass;
  def.stiffness = s->stiffness;
  def.node = s->node;
  def.n_nodes = s->n_nodes;
  return def;
}

void structure_free(structure *s) {
  as_sparse_destroy(s->mass);
  as_sparse_destroy(s->stiffness);
  free(s->node);
  *s = (structure){0};
}

/// Files of finite-element programs: each format gives the mesh and the matrices that were written, and mistakes are told by line.
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "brick_mesh.h"

// ---- writing ----------------------------------------------------------------------------------------

typedef struct text {
  char *at;
  size_t n, room;
} text;

static void add(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(text *t, const char *format, ...) {
  if (t->n + 256 > t->room) {
    t->room = 2 * t->room + 4096;
    t->at = realloc(t->at, t->room);
  }
  va_list arguments;
  va_start(arguments, format);
  t->n += (size_t)vsnprintf(t->at + t->n, t->room - t->n, format,
                            arguments); // NOLINT(clang-analyzer-valist.*)
  va_end(arguments);
}

typedef enum form { CALCULIX, ABAQUS, MARKET, PUNCH, FORMS } form;

/// A number as Nastran does, with a D, in 16 characters less two digits than it has.
static void add_punched(text *t, double x) {
  char number[32];
  snprintf(number, sizeof number, "%16.9E", x);
  for (char *c = number; *c; ++c)
    if (*c == 'E') *c = 'D';
  add(t, "%16s\n", number);
}

static void add_label(const brick_mesh *m, text *t, int unknown, const char *between) {
  add(t, "%ld%s%d", m->mesh.ids[unknown / 3], between, unknown % 3 + 1);
}

/// One triangle of a matrix.
static text write_matrix(const brick_mesh *m, const as_sparse *a, form how, const char *name) {
  text t = {0};
  if (how == MARKET) {
    int n = 0;
    for (int j = 0; j < a->cols; ++j)
      for (int k = a->col_start[j]; k < a->col_start[j + 1]; ++k) n += a->row[k] >= j;
    add(&t, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", a->rows, a->cols, n);
  }
  if (how == ABAQUS) add(&t, "** a matrix\n");
  if (how == PUNCH) add(&t, "$ a punch file\nDMIG    %-8s       0       6       1       0\n", name);
  for (int j = 0; j < a->cols; ++j) {
    if (how == PUNCH) add(&t, "DMIG*   %-16s%16ld%16d\n", name, m->mesh.ids[j / 3], j % 3 + 1);
    for (int k = a->col_start[j]; k < a->col_start[j + 1]; ++k) {
      const int i = a->row[k];
      if (i < j) continue;
      switch (how) {
      case CALCULIX: add(&t, "%d %d  %.16e\n", j + 1, i + 1, a->value[k]); break;
      case MARKET: add(&t, "%d %d %.17g\n", i + 1, j + 1, a->value[k]); break;
      case ABAQUS:
        add_label(m, &t, i, ",");
        add(&t, ", ");
        add_label(m, &t, j, " ,");
        add(&t, ", %.17e\n", a->value[k]);
        break;
      default:
        add(&t, "*       %16ld%16d", m->mesh.ids[i / 3], i % 3 + 1);
        add_punched(&t, a->value[k]);
      }
    }
  }
  return t;
}

static text write_table(const brick_mesh *m, bool unknowns) {
  text t = {0};
  add(&t, "number, x, y, z\n");
  for (int i = 0; i < m->mesh.node_count; ++i) {
    const double *X = m->mesh.positions[i];
    add(&t, "%ld, %.17g, %.17g, %.17g", m->mesh.ids[i], X[0], X[1], X[2]);
    for (int d = 0; d < 3 && unknowns; ++d) add(&t, ", %d", m->mesh.unknowns[i][d] + 1);
    add(&t, "\n");
  }
  return t;
}

static text write_dofs(const brick_mesh *m) {
  text t = {0};
  for (int u = 0; u < m->K->rows; ++u) {
    add_label(m, &t, u, ".");
    add(&t, "\n");
  }
  return t;
}

// ---- reading ----------------------------------------------------------------------------------------

static void parse_matrix(as_mesh_files *f, as_matrix_role role, text t) {
  as_error error = {0};
  if (as_mesh_files_parse_matrix(f, role, t.at, t.n, "matrix", NULL, &error))
    fail_msg("%s", error.message);
  free(t.at);
}

static as_mesh_files *read_all(const brick_mesh *m, form how) {
  as_mesh_files *f = NULL;
  as_error error = {0};
  text nodes = write_table(m, how == MARKET);
  assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
  assert_int_equal(as_mesh_files_parse_nodes(f, nodes.at, nodes.n, "nodes.csv", &error), AS_OK);
  free(nodes.at);
  if (how == CALCULIX) {
    text dofs = write_dofs(m);
    assert_int_equal(as_mesh_files_parse_unknowns(f, dofs.at, dofs.n, "x.dof", &error), AS_OK);
    free(dofs.at);
  }
  parse_matrix(f, AS_STIFFNESS, write_matrix(m, m->K, how, "KAAX"));
  parse_matrix(f, AS_MASS, write_matrix(m, m->M, how, "MAAX"));
  if (as_mesh_files_finish(f, &error)) fail_msg("%s", error.message);
  return f;
}

static void same_matrix(const as_sparse *a, const as_sparse *b, double tolerance) {
  double largest = 0.0;
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->cols, b->cols);
  for (int k = 0; k < b->col_start[b->cols]; ++k) largest = fmax(largest, fabs(b->value[k]));
  for (int j = 0; j < a->cols; ++j) {
    int p = a->col_start[j], q = b->col_start[j];
    while (p < a->col_start[j + 1] || q < b->col_start[j + 1]) { // zeros may be left out
      const int i = p < a->col_start[j + 1] ? a->row[p] : a->rows;
      const int r = q < b->col_start[j + 1] ? b->row[q] : a->rows;
      const double x = i <= r ? a->value[p++] : 0.0, y = r <= i ? b->value[q++] : 0.0;
      if (!(fabs(x - y) <= tolerance * largest)) fail_msg("%.17g is not %.17g", x, y);
    }
  }
}

static void formats_give_the_same(void **state) {
  (void)state;
  brick_mesh m = brick_mesh_make(2, 1, 1, 0.3, 0.05, 0.06, false);
  for (form how = 0; how < FORMS; ++how) {
    as_mesh_files *f = read_all(&m, how);
    const as_mesh *mesh = as_mesh_files_mesh(f);
    const double tolerance = how == PUNCH ? 1e-9 : 1e-15; // ten digits
    assert_int_equal(mesh->node_count, m.mesh.node_count);
    assert_memory_equal(mesh->ids, m.mesh.ids, (size_t)mesh->node_count * sizeof(long));
    assert_memory_equal(mesh->unknowns, m.mesh.unknowns,
                        (size_t)mesh->node_count * sizeof m.mesh.unknowns[0]);
    assert_memory_equal(mesh->positions, m.mesh.positions,
                        (size_t)mesh->node_count * sizeof m.mesh.positions[0]);
    same_matrix(as_mesh_files_stiffness(f), m.K, tolerance);
    same_matrix(as_mesh_files_mass(f), m.M, tolerance);
    as_mesh_files_destroy(f);
  }
  as_mesh_files_destroy(NULL);
  brick_mesh_free(&m);
}

/// Both triangles of a matrix by lines are read as they are.
static void both_triangles_are_not_doubled(void **state) {
  (void)state;
  as_mesh_files *f = NULL;
  as_error error = {0};
  const char both[] = "1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n3 3 5\n", one[] = "1 1 1\n3 3 1\n2 2 1.0\n";
  const char nodes[] = "7 0 0 0 1 2 3\n";
  assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
  assert_int_equal(as_mesh_files_parse_nodes(f, nodes, strlen(nodes), "n.csv", &error), AS_OK);
  assert_int_equal(
      as_mesh_files_parse_matrix(f, AS_STIFFNESS, both, strlen(both), "K", NULL, &error), AS_OK);
  assert_int_equal(as_mesh_files_parse_matrix(f, AS_MASS, one, strlen(one), "M", NULL, &error),
                   AS_OK);
  assert_int_equal(as_mesh_files_finish(f, &error), AS_OK);
  const as_sparse *K = as_mesh_files_stiffness(f);
  assert_int_equal(K->col_start[3], 5);
  assert_true(K->value[0] == 2.0 && K->value[1] == -1.0 && K->value[2] == -1.0);
  as_mesh_files_destroy(f);
}

// ---- input files ------------------------------------------------------------------------------------

static const char *const types[] = {"C3D4", "C3D10", "C3D6", "C3D15", "C3D8R", "C3D20"};

/// Places of an element's nodes in the unit cube, in halves, as the programs number them.
static const int corners[][8][3] = {
    {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}},
    {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}},
    {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {0, 2, 2}},
    {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {0, 2, 2}},
    {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}},
    {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}},
};
static const int edges[][12][2] = {
    {{0}},
    {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}},
    {{0}},
    {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}},
    {{0}},
    {{0, 1},
     {1, 2},
     {2, 3},
     {3, 0},
     {4, 5},
     {5, 6},
     {6, 7},
     {7, 4},
     {0, 4},
     {1, 5},
     {2, 6},
     {3, 7}},
};
static const int n_corners[] = {4, 4, 6, 6, 8, 8}, n_edges[] = {0, 6, 0, 9, 0, 12};

/// An input file with one element and, to be read, some matrices of one node.
static as_mesh_files *read_element(int kind) {
  as_mesh_files *f = NULL;
  as_error error = {0};
  text t = {0};
  const int n = n_corners[kind] + n_edges[kind];
  add(&t, "** a comment\n*HEADING\nfree text, 1, 2\n*Node, nset=All\n");
  for (int i = 0; i < n; ++i) {
    double X[3];
    for (int c = 0; c < 3; ++c)
      X[c] = i < n_corners[kind] ? corners[kind][i][c] / 2.0
                                 : (corners[kind][edges[kind][i - n_corners[kind]][0]][c] +
                                    corners[kind][edges[kind][i - n_corners[kind]][1]][c]) /
                                       4.0;
    add(&t, "%d, %g, %g, %g\n", 10 * i + 10, X[0], X[1], X[2]);
  }
  add(&t, "*ELEMENT, ELSET=E, TYPE = %s\n7,", types[kind]);
  for (int i = 0; i < n; ++i)
    add(&t, "%s %d%s", i == 9 ? "\n" : "", 10 * i + 10, i < n - 1 ? "," : "\n");
  add(&t, "*NSET, NSET=bottom\n10, 20,\n30, 30\n*NSET, NSET=range, GENERATE\n10, 40, 10\n*NSET, "
          "NSET=more\nBottom, 40\n*STEP\n");
  assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
  if (as_mesh_files_parse_nodes(f, t.at, t.n, "x.INP", &error)) fail_msg("%s", error.message);
  const char one[] = "10 1 10 1 1.0\n";
  for (int i = 0; i < 2; ++i)
    assert_int_equal(as_mesh_files_parse_matrix(f, i ? AS_MASS : AS_STIFFNESS, one, strlen(one),
                                                "m", NULL, &error),
                     AS_OK);
  if (as_mesh_files_finish(f, &error)) fail_msg("%s", error.message);
  free(t.at);
  return f;
}

/// The surface is closed and seen from outside: it has the element's volume.
static void surfaces_are_found(void **state) {
  (void)state;
  const double expected[] = {1.0 / 6.0, 1.0 / 6.0, 0.5, 0.5, 1.0, 1.0};
  const int triangles[] = {4, 16, 8, 26, 12, 36};
  for (int kind = 0; kind < 6; ++kind) {
    as_mesh_files *f = read_element(kind);
    const as_mesh *m = as_mesh_files_mesh(f);
    double volume = 0.0;
    assert_int_equal(m->triangle_count, triangles[kind]);
    for (int i = 0; i < m->triangle_count; ++i) {
      const double *p[3];
      for (int c = 0; c < 3; ++c) p[c] = m->positions[m->triangles[i][c] / 10 - 1];
      for (int c = 0; c < 3; ++c) {
        const int b = (c + 1) % 3, a = (c + 2) % 3;
        volume += p[0][c] * (p[1][b] * p[2][a] - p[1][a] * p[2][b]) / 6.0;
      }
    }
    if (!(fabs(volume - expected[kind]) <= 1e-14)) fail_msg("%s has %g", types[kind], volume);
    as_mesh_files_destroy(f);
  }
}

static void sets_have_their_nodes(void **state) {
  (void)state;
  as_mesh_files *f = read_element(4);
  const long *nodes;
  const double *areas;
  int n;
  as_error error = {0};
  assert_int_equal(as_mesh_files_set(f, "BOTTOM", &nodes, &n, &areas, &error), AS_OK);
  assert_int_equal(n, 3);
  assert_true(nodes[0] == 10 && nodes[1] == 20 && nodes[2] == 30);
  assert_non_null(areas); // one triangle of the bottom has all of them
  for (int i = 0; i < 3; ++i) assert_true(fabs(areas[i] - 1.0 / 6.0) < 1e-15);
  assert_int_equal(as_mesh_files_set(f, "range", &nodes, &n, &areas, &error), AS_OK);
  assert_int_equal(n, 4);
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) sum += areas[i];
  assert_true(fabs(sum - 1.0) < 1e-15);
  assert_int_equal(as_mesh_files_set(f, "more", &nodes, &n, &areas, &error), AS_OK);
  assert_int_equal(n, 4);
  assert_int_equal(as_mesh_files_set(f, "all", &nodes, &n, &areas, &error), AS_OK);
  assert_int_equal(n, 8);
  assert_int_equal(as_mesh_files_set(f, "none", &nodes, &n, &areas, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "\"none\""));
  const long two[] = {80, 10};
  double own[2];
  bool any = true;
  assert_int_equal(as_mesh_files_areas(f, two, 2, own, &any, &error), AS_OK);
  assert_false(any);
  as_mesh_files_destroy(f);
}

// ---- what is refused --------------------------------------------------------------------------------

typedef struct mistake {
  const char *text, *says;
} mistake;

static void refused_by(const mistake *m, as_status status, const as_error *error) {
  if (status == AS_OK) fail_msg("\"%s\" is read", m->text);
  if (strstr(error->message, m->says) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error->message, m->says);
}

static void mistakes_are_told_by_line(void **state) {
  (void)state;
  static const mistake tables[] = {
      {"1 2 3\n", "t.csv:1: A row has 3 numbers"},
      {"id x y z\n1 0 0 0\n\n2 0 x 0\n", "t.csv:4: \"x\" in column 3 is no number"},
      {"1 0 0 0\n2 0 0 0 1 2 3\n", "t.csv:2: A row has 7 numbers, but rows before have 4"},
      {"0 0 0 0\n", "The number of a node is 0"},
      {"1.5 0 0 0\n", "The number of a node is 1.5"},
      {"1 0 0 0 1 2 -3\n", "An unknown is -3"},
      {"1 0 0 1e999\n", "t.csv:1: a number is too large"},
      {"# nothing\n", "There are no nodes"},
  };
  static const mistake inputs[] = {
      {"*NODE\nx, 1, 2, 3\n", "t.inp:2: A node begins with its number"},
      {"*NODE\n1, 1, y, 3\n", "t.inp:2: \"y\" is not a number"},
      {"*NODE\n-1, 1, 2, 3\n", "t.inp:2: The number of a node is -1"},
      {"*NODE\n1,\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3\n", "too few nodes"},
      {"*NODE\n1,\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3\n*STEP\n", "t.inp:5: The element before has"},
      {"*NODE\n1,\n*ELEMENT, TYPE=C3D4\n1, a, 2, 3\n", "t.inp:4: \"a\" is no number of a node"},
      {"*NSET\n1\n", "t.inp:1: *NSET has no name"},
      {"*NODE\n1,\n*NSET, NSET=a\nb\n", "t.inp:4: \"b\" is neither a node nor a set"},
      {"*NODE\n1,\n*NSET, NSET=a, GENERATE\n1, 1000000\n", "more nodes than have been read"},
      {"*NODE\n1,\n*NSET, NSET=a, GENERATE\n5, 1\n", "t.inp:4: A range is"},
      {"*STEP\n", "There is no *NODE"},
  };
  static const mistake matrices[] = {
      {"1 1 1\n2 2\n", "t.mtx:2: A line must be `row column value`"},
      {"1 1 1\n0 2 1\n", "t.mtx:2: The row is 0"},
      {"1 1 1\n1 99999999 1\n", "t.mtx:2: The column is 99999999"},
      {"1 1 1\n1 2 1 7\n", "t.mtx:2: A line must be"},
      {"1 1 1e999\n", "t.mtx:1: A line must be"},
      {"1,1,1,1,1.\n1,7,1,1,1.\n", "t.mtx:2: The direction is 7"},
      {"1,1,1,1,1.\n-5,1,1,1,1.\n", "t.mtx:2: The node is -5: internal"},
      {"1 2 3 4\n", "t.mtx:1: A matrix has lines of three fields"},
      {"** nothing\n", "There are no entries"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "t.mtx:3: The row is 3"},
      {"DMIG    KAAX           0       2       1       0\n",
       "neither symmetric (form 6) nor square"},
      {"DMIG    KAAX           0       6       3       0\n", "is not real (type 1 or 2)"},
      {"DMIG*   KAAX                           1               1\n", "The head of KAAX is missing"},
      {"DMIG    MAAX           0       6       1       0\n", "no DMIG* whose name begins with K"},
      {"DMIG    KAAX           0       6       1       0\nDMIG*   KAAX                           1"
       "               0\n",
       "t.mtx:2: 1 is a scalar point"},
      {"DMIG    KAAX           0       6       1       0\nDMIG*   KAAX                           1"
       "               1\n*                      1               1 1.2.3\n",
       "t.mtx:3: \"1.2.3\" is not a number"},
      {"DMIG    KAAX           0       6       1       0\nDMIG    KBBX           0       6       1"
       "       0\n",
       "There are two matrices that begin with K"},
      {"DMIG    KAAX    1       1               1       1       2.0\n", "punch it in 16"},
  };
  static const mistake dofs[] = {
      {"1.1\n2\n", "t.dof:2: \"2\" is not like 12.3"},
      {"1.7\n", "t.dof:1: \"1.7\" is not like"},
      {"0.1\n", "t.dof:1: \"0.1\" is not like"},
      {"\n", "There are no unknowns"},
  };
  as_mesh_files *f = NULL;
  as_error error = {0};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i) {
    assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
    refused_by(
        &tables[i],
        as_mesh_files_parse_nodes(f, tables[i].text, strlen(tables[i].text), "t.csv", &error),
        &error);
    as_mesh_files_destroy(f);
  }
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; ++i) {
    assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
    refused_by(
        &inputs[i],
        as_mesh_files_parse_nodes(f, inputs[i].text, strlen(inputs[i].text), "t.inp", &error),
        &error);
    as_mesh_files_destroy(f);
  }
  for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; ++i) {
    assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
    refused_by(&matrices[i],
               as_mesh_files_parse_matrix(f, AS_STIFFNESS, matrices[i].text,
                                          strlen(matrices[i].text), "t.mtx", NULL, &error),
               &error);
    as_mesh_files_destroy(f);
  }
  for (size_t i = 0; i < sizeof dofs / sizeof dofs[0]; ++i) {
    assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
    refused_by(&dofs[i],
               as_mesh_files_parse_unknowns(f, dofs[i].text, strlen(dofs[i].text), "t.dof", &error),
               &error);
    as_mesh_files_destroy(f);
  }
}

/// What does not fit together: nodes, dofs, K, M; NULL: not given.
static void refused_together(const char *nodes, const char *dofs, const char *K, const char *M,
                             const char *says) {
  as_mesh_files *f = NULL;
  as_error error = {0};
  const mistake m = {K ? K : "", says};
  assert_int_equal(as_mesh_files_create(&f, &error), AS_OK);
  if (nodes)
    assert_int_equal(as_mesh_files_parse_nodes(f, nodes, strlen(nodes), "n", &error), AS_OK);
  if (dofs)
    assert_int_equal(as_mesh_files_parse_unknowns(f, dofs, strlen(dofs), "d", &error), AS_OK);
  if (K)
    assert_int_equal(
        as_mesh_files_parse_matrix(f, AS_STIFFNESS, K, strlen(K), "k.mtx", NULL, &error), AS_OK);
  if (M)
    assert_int_equal(as_mesh_files_parse_matrix(f, AS_MASS, M, strlen(M), "m.mtx", NULL, &error),
                     AS_OK);
  refused_by(&m, as_mesh_files_finish(f, &error), &error);
  as_mesh_files_destroy(f);
}

static void what_does_not_fit_together_is_refused(void **state) {
  (void)state;
  const char *one = "1 1 1\n", *labelled = "1 1 1 1 1.0\n", *node = "1 0 0 0\n";
  refused_together(node, NULL, NULL, one, "The stiffness matrix is missing");
  refused_together(node, NULL, one, NULL, "The mass matrix is missing");
  refused_together(NULL, NULL, one, one, "K and M alone do not make a body that travels");
  refused_together(node, NULL, one, one, "Which unknowns belong to which nodes is not known");
  refused_together(node, NULL, labelled, one, "One matrix calls its rows by nodes");
  refused_together("2 0 0 0\n", NULL, labelled, labelled, "The matrices have node 1, but no file");
  refused_together(node, "1.1\n1.1\n", one, one, "Node 1 has two unknowns in direction 1");
  refused_together("1 0 0 0 1 2 3\n", "1.1\n", one, one, "by the table of the nodes and by a file");
  refused_together("1 0 0 0 1 2 3\n", NULL, labelled, labelled, "unknowns need no numbers");
  refused_together("1 0 0 0 1 2 3\n", NULL, "1 1 1\n9999999 9999999 1\n", one,
                   "The matrices have 9999999 rows, but the nodes have 3 unknowns");
  refused_together("1 0 0 0 1 2 3\n", NULL, "1 2 1\n2 1 1\n1 3 1\n", one,
                   "k.mtx has entries in both triangles, but (1, 3) is in one only");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats_give_the_same),
      cmocka_unit_test(both_triangles_are_not_doubled),
      cmocka_unit_test(surfaces_are_found),
      cmocka_unit_test(sets_have_their_nodes),
      cmocka_unit_test(mistakes_are_told_by_line),
      cmocka_unit_test(what_does_not_fit_together_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/// Files of finite-element programs put together (alphastep/mesh_file.h).
#include "file/mesh_files.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "file/csv.h"

enum { MOST = 100000000 }; ///< nodes, unknowns

as_status asi_fe_grow(void *array, int n, int *room, size_t size, as_error *error) {
  void *old;
  if (n < *room) return AS_OK;
  if (n >= MOST)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                    "There are more than 100 million items.");
  const int more = *room + *room / 2 + 256;
  memcpy(&old, array, sizeof old);
  void *grown = realloc(old, (size_t)more * size);
  if (grown == NULL) return asi_fail_memory(error);
  memcpy(array, &grown, sizeof grown);
  *room = more;
  return AS_OK; // cppcheck-suppress memleak ; it is in *array
}

as_status asi_fe_add_node(as_mesh_files *f, const asi_fe_text *t, long id, const double x[3],
                          const int unknowns[6]) {
  if (id < 1) return asi_fe_refuse(t, "The number of a node is %ld; it must be 1 or more.", id);
  as_status status = asi_fe_grow(&f->ids, f->n_nodes, &f->room_nodes, sizeof *f->ids, t->error);
  if (status == AS_OK)
    status =
        asi_fe_grow(&f->positions, f->n_nodes, &f->room_positions, sizeof *f->positions, t->error);
  if (status == AS_OK)
    status =
        asi_fe_grow(&f->unknowns, f->n_nodes, &f->room_unknowns, sizeof *f->unknowns, t->error);
  if (status) return status;
  f->ids[f->n_nodes] = id;
  memcpy(f->positions[f->n_nodes], x, 3 * sizeof *x);
  memcpy(f->unknowns[f->n_nodes++], unknowns, 6 * sizeof *unknowns);
  return AS_OK;
}

asi_fe_set *asi_fe_find_set(as_mesh_files *f, asi_fe_word name, bool make) {
  for (int i = 0; i < f->n_sets; ++i)
    if (asi_fe_is(name, f->set[i].name)) return &f->set[i];
  if (!make || name.n >= sizeof f->set->name ||
      asi_fe_grow(&f->set, f->n_sets, &f->room_sets, sizeof *f->set, NULL))
    return NULL;
  asi_fe_set *s = &f->set[f->n_sets++];
  *s = (asi_fe_set){.n = 0};
  memcpy(s->name, name.at, name.n);
  return s;
}

as_status asi_fe_set_add(asi_fe_set *s, long node, as_error *error) {
  const as_status status = asi_fe_grow(&s->nodes, s->n, &s->room, sizeof *s->nodes, error);
  if (status == AS_OK) s->nodes[s->n++] = node;
  return status;
}

as_status as_mesh_files_create(as_mesh_files **out, as_error *error) {
  *out = asi_calloc(1, sizeof **out);
  return *out ? AS_OK : asi_fail_memory(error);
}

static void matrix_free(asi_fe_matrix *m) {
  as_sparse_destroy(m->whole);
  free(m->entry);
  free(m->by_label);
  *m = (asi_fe_matrix){0};
}

void as_mesh_files_destroy(as_mesh_files *f) {
  if (f == NULL) return;
  for (int i = 0; i < f->n_sets; ++i) {
    free(f->set[i].nodes);
    free(f->set[i].areas);
  }
  for (int i = 0; i < 2; ++i) {
    matrix_free(&f->matrix[i]);
    as_sparse_destroy(f->done[i]);
  }
  free(f->ids);
  free(f->positions);
  free(f->unknowns);
  free(f->label);
  free(f->set);
  free(f->triangle);
  free(f->face);
  free(f);
}

// ---- nodes ------------------------------------------------------------------------------------------

typedef struct table {
  as_mesh_files *f;
  asi_fe_text *t;
  int columns;
  bool failed;
} table;

static bool is_whole(double x, double least, double most) {
  return x == floor(x) && x >= least && x <= most;
}

/// An asi_csv_fn.
static bool take_row(const double *number, int n, void *user) {
  table *c = user;
  int unknowns[6] = {-1, -1, -1, -1, -1, -1};
  ++c->t->number; // of rows; lines are told by the caller
  c->failed = true;
  if (n != 4 && n != 7 && n != 10) {
    asi_fe_refuse(c->t, "A row has %d numbers; it must have 4 (number, x, y, z), 7 or 10.", n);
    return false;
  }
  if (c->columns != 0 && n != c->columns) {
    asi_fe_refuse(c->t, "A row has %d numbers, but rows before have %d.", n, c->columns);
    return false;
  }
  if (!is_whole(number[0], 1.0, fmin((double)LONG_MAX, 1e15))) {
    asi_fe_refuse(c->t, "The number of a node is %.9g; it must be whole, 1 or more.", number[0]);
    return false;
  }
  for (int d = 0; d < n - 4; ++d) {
    if (!is_whole(number[4 + d], -1.0, MOST)) {
      asi_fe_refuse(c->t, "An unknown is %.9g; it must be the number of a row, or 0 or -1.",
                    number[4 + d]);
      return false;
    }
    unknowns[d] = number[4 + d] > 0.0 ? (int)number[4 + d] - 1 : -1;
  }
  c->columns = n;
  c->failed = asi_fe_add_node(c->f, c->t, (long)number[0], number + 1, unknowns) != AS_OK;
  return !c->failed;
}

static as_status parse_table(as_mesh_files *f, const char *text, size_t size, asi_fe_text *t) {
  as_error error = {0};
  asi_fe_text inner = *t;
  inner.error = &error;
  table c = {.f = f, .t = &inner};
  const int before = f->n_nodes;
  const asi_csv csv = asi_csv_rows(text, size, take_row, &c);
  t->number = csv.line;
  if (csv.no_memory || error.status == AS_ERR_MEMORY) return asi_fail_memory(t->error);
  if (csv.sentence[0]) return asi_fe_refuse(t, "%s.", csv.sentence);
  if (c.failed) { // the sentence, with the line instead of the row
    const char *colon = strstr(error.message, ": ");
    return asi_fe_refuse(t, "%s", colon ? colon + 2 : error.message);
  }
  if (f->n_nodes == before) return asi_fe_refuse(t, "There are no nodes.");
  f->numbered = f->numbered || c.columns > 4;
  return AS_OK;
}

static bool ends_in(const char *name, const char *suffix) {
  const size_t n = strlen(name), m = strlen(suffix);
  return n >= m && strcasecmp(name + n - m, suffix) == 0;
}

as_status as_mesh_files_parse_nodes(as_mesh_files *f, const char *text, size_t size,
                                    const char *name, as_error *error) {
  asi_fe_text t = asi_fe_text_begin(text, size, name, error);
  if (!ends_in(name, ".inp")) return parse_table(f, text, size, &t);
  const int before = f->n_nodes;
  const as_status status = asi_fe_parse_inp(f, &t);
  if (status || f->n_nodes > before || f->n_sets > 0) return status;
  return asi_fe_refuse(&t, "There is no *NODE.");
}

as_status as_mesh_files_parse_unknowns(as_mesh_files *f, const char *text, size_t size,
                                       const char *name, as_error *error) {
  asi_fe_text t = asi_fe_text_begin(text, size, name, error);
  while (asi_fe_next_line(&t)) {
    asi_fe_word w = {t.line, 0}, more;
    long node = 0, direction = 0;
    (void)asi_fe_next_word(&t, true, &w);
    const char *point = memchr(w.at, '.', w.n);
    const size_t n = point ? (size_t)(point - w.at) : 0;
    if (point == NULL || !asi_fe_whole((asi_fe_word){w.at, n}, &node) ||
        !asi_fe_whole((asi_fe_word){point + 1, w.n - n - 1}, &direction) || node < 1 ||
        direction < 1 || direction > 6 || asi_fe_next_word(&t, true, &more))
      return asi_fe_refuse(&t, "\"%.*s\" is not like 12.3: a node and its direction, 1 to 6.",
                           asi_fe_shown(w), w.at);
    const as_status status =
        asi_fe_grow(&f->label, f->n_labels, &f->room_labels, sizeof *f->label, error);
    if (status) return status;
    f->label[f->n_labels++] = (asi_fe_label){node, (int)direction};
  }
  return f->n_labels > 0 ? AS_OK : asi_fe_refuse(&t, "There are no unknowns.");
}

// ---- matrices ---------------------------------------------------------------------------------------

/// Room for one more entry of a matrix.
static as_status grow_matrix(asi_fe_matrix *m, void *array, size_t size, as_error *error) {
  void *old;
  if (m->n < m->room) return AS_OK;
  if (m->n >= INT_MAX / 4)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.190s has too many entries.", m->name);
  const size_t more = m->room + m->room / 2 + 1024;
  memcpy(&old, array, sizeof old);
  void *grown = realloc(old, more * size);
  if (grown == NULL) return asi_fail_memory(error);
  memcpy(array, &grown, sizeof grown);
  m->room = more;
  return AS_OK; // cppcheck-suppress memleak ; it is in *array
}

as_status asi_fe_add_labelled(asi_fe_matrix *m, const asi_fe_text *t, asi_fe_entry entry) {
  const as_status status = grow_matrix(m, &m->by_label, sizeof *m->by_label, t->error);
  if (status == AS_OK) m->by_label[m->n++] = entry;
  return status;
}

/// Whole numbers of a line, then its value. False: it is not so.
static bool take_fields(asi_fe_text *t, int whole, long *index, double *value) {
  asi_fe_word w;
  for (int i = 0; i < whole; ++i)
    if (!asi_fe_next_word(t, true, &w) || !asi_fe_whole(w, &index[i])) return false;
  return asi_fe_next_word(t, true, &w) && asi_fe_number(w, value) && !asi_fe_next_word(t, true, &w);
}

static as_status take_numbered(asi_fe_matrix *m, asi_fe_text *t) {
  long at[2];
  double value;
  if (!take_fields(t, 2, at, &value)) return asi_fe_refuse(t, "A line must be `row column value`.");
  for (int i = 0; i < 2; ++i)
    if (at[i] < 1 || at[i] > AS_SPARSE_ROWS)
      return asi_fe_refuse(t, "The %s is %ld; it must be from 1 to %d.", i ? "column" : "row",
                           at[i], (int)AS_SPARSE_ROWS);
  const as_status status = grow_matrix(m, &m->entry, sizeof *m->entry, t->error);
  if (status == AS_OK) m->entry[m->n++] = (as_entry){(int)at[0] - 1, (int)at[1] - 1, value};
  return status;
}

static as_status take_labelled(asi_fe_matrix *m, asi_fe_text *t) {
  long at[4];
  double value;
  if (!take_fields(t, 4, at, &value))
    return asi_fe_refuse(t, "A line must be `node, direction, node, direction, value`.");
  for (int i = 0; i < 2; ++i) {
    if (at[2 * i] < 1)
      return asi_fe_refuse(t, "The node is %ld: internal ones of the program have no place.",
                           at[2 * i]);
    if (at[2 * i + 1] < 1 || at[2 * i + 1] > 6)
      return asi_fe_refuse(t, "The direction is %ld; it must be from 1 to 6.", at[2 * i + 1]);
  }
  return asi_fe_add_labelled(m, t, (asi_fe_entry){{at[0], (int)at[1]}, {at[2], (int)at[3]}, value});
}

/// How many fields a line has.
static int count_fields(asi_fe_text t) {
  asi_fe_word w;
  int n = 0;
  while (n < 10 && asi_fe_next_word(&t, true, &w)) ++n;
  return n;
}

static bool is_comment(const asi_fe_text *t) {
  const asi_fe_word w = asi_fe_columns(t, 0, (size_t)(t->line_end - t->line));
  return w.n > 0 && (w.at[0] == '*' || w.at[0] == '#');
}

/// Lines of three or of five fields.
static as_status parse_lines(asi_fe_matrix *m, asi_fe_text *t) {
  int fields = 0;
  as_status status = AS_OK;
  while (status == AS_OK && asi_fe_next_line(t)) {
    if (is_comment(t)) continue;
    if (fields == 0) fields = count_fields(*t);
    if (fields != 3 && fields != 5)
      return asi_fe_refuse(
          t,
          "A matrix has lines of three fields (row column value) or of five (node, "
          "direction, node, direction, value), not of %d.",
          fields);
    status = fields == 3 ? take_numbered(m, t) : take_labelled(m, t);
  }
  m->labelled = fields == 5;
  if (status || m->n > 0) return status;
  return asi_fe_refuse(t, "There are no entries.");
}

static bool is_punched(const char *text, size_t size, const char *name) {
  asi_fe_text t = asi_fe_text_begin(text, size, name, NULL);
  while (asi_fe_next_line(&t)) {
    const asi_fe_word card = asi_fe_columns(&t, 0, 8);
    if (asi_fe_is(card, "DMIG") || asi_fe_is(card, "DMIG*")) return true;
  }
  return false;
}

as_status as_mesh_files_parse_matrix(as_mesh_files *f, as_matrix_role role, const char *text,
                                     size_t size, const char *name_of_file, const char *name,
                                     as_error *error) {
  static const char head[] = "%%MatrixMarket";
  asi_fe_matrix *m = &f->matrix[role == AS_MASS];
  asi_fe_text t = asi_fe_text_begin(text, size, name_of_file, error);
  if (m->given)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There are two %s matrices.",
                    role == AS_MASS ? "mass" : "stiffness");
  const bool punched = is_punched(text, size, name_of_file);
  if (name && !punched)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "%.190s holds no DMIG, of which \"%.60s\" could be taken.", name_of_file, name);
  m->given = true;
  snprintf(m->name, sizeof m->name, "%s", name_of_file);
  if (size >= sizeof head - 1 && strncasecmp(text, head, sizeof head - 1) == 0)
    return as_sparse_parse(text, size, name_of_file, &m->whole, error);
  if (punched) return asi_fe_parse_dmig(m, role, name, &t);
  return parse_lines(m, &t);
}

// ---- from files -------------------------------------------------------------------------------------

as_status as_mesh_files_nodes(as_mesh_files *f, const char *path, as_error *error) {
  char *text;
  size_t size;
  as_status status = asi_fe_read_file(path, &text, &size, error);
  if (status == AS_OK) status = as_mesh_files_parse_nodes(f, text, size, path, error);
  free(text);
  return status;
}

as_status as_mesh_files_unknowns(as_mesh_files *f, const char *path, as_error *error) {
  char *text;
  size_t size;
  as_status status = asi_fe_read_file(path, &text, &size, error);
  if (status == AS_OK) status = as_mesh_files_parse_unknowns(f, text, size, path, error);
  free(text);
  return status;
}

as_status as_mesh_files_matrix(as_mesh_files *f, as_matrix_role role, const char *path,
                               const char *name, as_error *error) {
  char *text;
  size_t size;
  as_status status = asi_fe_read_file(path, &text, &size, error);
  if (status == AS_OK) status = as_mesh_files_parse_matrix(f, role, text, size, path, name, error);
  free(text);
  return status;
}

// ---- together ---------------------------------------------------------------------------------------

static as_status refuse(as_error *error, const char *sentence) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%s", sentence);
}

typedef struct place {
  long id;
  int node;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

static int find_node(const place *sorted, int n, long id) {
  const place key = {.id = id};
  const place *found = n > 0 ? bsearch(&key, sorted, (size_t)n, sizeof key, compare_places) : NULL;
  return found ? found->node : -1;
}

static int compare_labels(const void *a, const void *b) {
  const asi_fe_label *x = a, *y = b;
  if (x->node != y->node) return (x->node > y->node) - (x->node < y->node);
  return x->direction - y->direction;
}

/// The labels of both matrices, each once, in order: they become the unknowns.
static as_status list_labels(as_mesh_files *f, as_error *error) {
  size_t all = 0, n = 0;
  for (int i = 0; i < 2; ++i) all += f->matrix[i].labelled ? 2 * f->matrix[i].n : 0;
  asi_fe_label *list = asi_calloc(all, sizeof *list);
  if (list == NULL) return asi_fail_memory(error);
  for (int i = 0; i < 2; ++i)
    for (size_t k = 0; f->matrix[i].labelled && k < f->matrix[i].n; ++k) {
      list[n++] = f->matrix[i].by_label[k].row;
      list[n++] = f->matrix[i].by_label[k].column;
    }
  qsort(list, n, sizeof *list, compare_labels);
  size_t kept = 0;
  for (size_t k = 0; k < n; ++k)
    if (kept == 0 || compare_labels(&list[kept - 1], &list[k]) != 0) list[kept++] = list[k];
  free(f->label);
  f->label = list;
  f->n_labels = (int)kept;
  if (kept <= AS_SPARSE_ROWS) return AS_OK;
  return refuse(error, "The matrices have more than 10 million unknowns.");
}

/// Gives labelled unknowns to their nodes.
static as_status number_unknowns(as_mesh_files *f, const place *sorted, as_error *error) {
  for (int u = 0; u < f->n_labels; ++u) {
    const int node = find_node(sorted, f->n_nodes, f->label[u].node);
    if (node < 0)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The matrices have node %ld, but no file says where it is.",
                      f->label[u].node);
    int *to = &f->unknowns[node][f->label[u].direction - 1];
    if (*to >= 0)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "Node %ld has two unknowns in direction %d.", f->label[u].node,
                      f->label[u].direction);
    *to = u;
  }
  f->numbered = f->numbered || f->n_labels > 0;
  return AS_OK;
}

static int number_of(const as_mesh_files *f, asi_fe_label label) {
  const asi_fe_label *found =
      bsearch(&label, f->label, (size_t)f->n_labels, sizeof label, compare_labels);
  return (int)(found - f->label);
}

static int compare_entries(const void *a, const void *b) {
  const as_entry *x = a, *y = b;
  return x->col != y->col ? x->col - y->col : x->row - y->row;
}

/// Whether entries are of one triangle by place: none off the diagonal has its mirror image. Some with, some without: refused.
static as_status find_triangles(as_entry *entry, size_t n, const char *name, bool *one,
                                as_error *error) {
  size_t without = 0, with = 0;
  as_entry odd = {0};
  qsort(entry, n, sizeof *entry, compare_entries);
  for (size_t k = 0; k < n; ++k) {
    if (entry[k].row == entry[k].col || entry[k].value == 0.0) continue;
    const as_entry mirror = {entry[k].col, entry[k].row, 0.0};
    if (bsearch(&mirror, entry, n, sizeof *entry, compare_entries) != NULL) {
      ++with;
    } else {
      ++without;
      odd = entry[k];
    }
  }
  *one = with == 0;
  if (with == 0 || without == 0) return AS_OK;
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                  "%.190s has entries in both triangles, but (%d, %d) is in one only.", name,
                  odd.row + 1, odd.col + 1);
}

static as_status finish_matrix(as_mesh_files *f, asi_fe_matrix *m, int size, as_sparse **out,
                               as_error *error) {
  if (m->whole) {
    *out = m->whole;
    m->whole = NULL;
    return AS_OK;
  }
  if (m->labelled) {
    m->entry = asi_calloc(m->n, sizeof *m->entry);
    if (m->entry == NULL) return asi_fail_memory(error);
    for (size_t k = 0; k < m->n; ++k)
      m->entry[k] = (as_entry){number_of(f, m->by_label[k].row),
                               number_of(f, m->by_label[k].column), m->by_label[k].value};
  }
  bool one = true;
  as_status status = find_triangles(m->entry, m->n, m->name, &one, error);
  if (status) return status;
  as_entry *all = asi_calloc(2 * m->n, sizeof *all);
  size_t n = 0;
  if (all == NULL) return asi_fail_memory(error);
  for (size_t k = 0; k < m->n; ++k) {
    const as_entry e = m->entry[k];
    if (e.value == 0.0 && e.row != e.col) continue;
    all[n++] = e;
    if (one && e.row != e.col) all[n++] = (as_entry){e.col, e.row, e.value};
  }
  status = as_sparse_create(size, size, all, n, out, error);
  free(all);
  matrix_free(m);
  return status;
}

/// How many rows the matrices have.
static int count_rows(const as_mesh_files *f) {
  int most = f->n_labels;
  for (int i = 0; i < 2; ++i) {
    const asi_fe_matrix *m = &f->matrix[i];
    if (m->whole && m->whole->rows > most) most = m->whole->rows;
    for (size_t k = 0; k < m->n && !m->labelled; ++k) {
      if (m->entry[k].row >= most) most = m->entry[k].row + 1;
      if (m->entry[k].col >= most) most = m->entry[k].col + 1;
    }
  }
  for (int i = 0; i < f->n_nodes; ++i)
    for (int d = 0; d < 6; ++d)
      if (f->unknowns[i][d] >= most && f->unknowns[i][d] < AS_SPARSE_ROWS)
        most = f->unknowns[i][d] + 1;
  return most;
}

/// Before memory is taken for them: no more rows than nodes have unknowns.
static as_status check_rows(const as_mesh_files *f, int rows, as_error *error) {
  long long known = 0;
  for (int i = 0; i < f->n_nodes; ++i)
    for (int d = 0; d < 6; ++d) known += f->unknowns[i][d] >= 0;
  if (rows <= known) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                  "The matrices have %d rows, but the nodes have %lld unknowns.", rows, known);
}

static int compare_longs(const void *a, const void *b) {
  const long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

static void sort_sets(as_mesh_files *f) {
  for (int i = 0; i < f->n_sets; ++i) {
    asi_fe_set *s = &f->set[i];
    int kept = 0;
    if (s->n > 1) qsort(s->nodes, (size_t)s->n, sizeof *s->nodes, compare_longs);
    for (int k = 0; k < s->n; ++k)
      if (kept == 0 || s->nodes[kept - 1] != s->nodes[k]) s->nodes[kept++] = s->nodes[k];
    s->n = kept;
  }
}

static as_status check_given(const as_mesh_files *f, as_error *error) {
  if (!f->matrix[0].given) return refuse(error, "The stiffness matrix is missing.");
  if (!f->matrix[1].given) return refuse(error, "The mass matrix is missing.");
  if (f->n_nodes == 0)
    return refuse(error,
                  "K and M alone do not make a body that travels: the inertia of its deformed "
                  "shape follows from where the unknowns are. Give the nodes, as a table or an "
                  "input file.");
  if (f->matrix[0].labelled != f->matrix[1].labelled)
    return refuse(error, "One matrix calls its rows by nodes, the other by numbers.");
  if (f->matrix[0].labelled && (f->numbered || f->n_labels > 0))
    return refuse(error, "The matrices call their rows by nodes: unknowns need no numbers.");
  if (f->numbered && f->n_labels > 0)
    return refuse(error,
                  "Unknowns are given by the table of the nodes and by a file of their own.");
  return AS_OK;
}

as_status as_mesh_files_finish(as_mesh_files *f, as_error *error) {
  as_status status = check_given(f, error);
  if (status) return status;
  place *sorted = asi_calloc((size_t)f->n_nodes, sizeof *sorted);
  if (sorted == NULL) return asi_fail_memory(error);
  for (int i = 0; i < f->n_nodes; ++i) sorted[i] = (place){f->ids[i], i};
  qsort(sorted, (size_t)f->n_nodes, sizeof *sorted, compare_places);
  if (f->matrix[0].labelled) status = list_labels(f, error);
  if (status == AS_OK) status = number_unknowns(f, sorted, error);
  free(sorted);
  if (status == AS_OK && !f->numbered)
    status = refuse(error,
                    "Which unknowns belong to which nodes is not known: give a table of the nodes "
                    "with the rows of the matrices, or CalculiX' .dof file.");
  const int rows = count_rows(f);
  if (status == AS_OK) status = check_rows(f, rows, error);
  for (int i = 0; i < 2 && status == AS_OK; ++i)
    status = finish_matrix(f, &f->matrix[i], rows, &f->done[i], error);
  if (status == AS_OK) status = asi_fe_find_surface(f, error);
  if (status) return status;
  sort_sets(f);
  f->mesh = (as_mesh){.node_count = f->n_nodes,
                      .ids = f->ids,
                      .positions = (const double(*)[3])f->positions,
                      .unknowns = (const int(*)[6])f->unknowns,
                      .triangle_count = f->n_triangles,
                      .triangles = (const long(*)[3])f->triangle};
  return AS_OK;
}

const as_mesh *as_mesh_files_mesh(const as_mesh_files *f) { return &f->mesh; }
const as_sparse *as_mesh_files_stiffness(const as_mesh_files *f) { return f->done[0]; }
const as_sparse *as_mesh_files_mass(const as_mesh_files *f) { return f->done[1]; }

// ---- sets -------------------------------------------------------------------------------------------

static double area_of(const double *a, const double *b, const double *c) {
  double u[3], v[3], sum = 0.0;
  for (int i = 0; i < 3; ++i) {
    u[i] = b[i] - a[i];
    v[i] = c[i] - a[i];
  }
  for (int i = 0; i < 3; ++i) {
    const double n = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    sum += n * n;
  }
  return 0.5 * sqrt(sum);
}

/// Nodes with what is asked of each.
typedef struct share {
  long id;
  int at; ///< in the caller's list
} share;

static int compare_shares(const void *a, const void *b) {
  const share *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

as_status as_mesh_files_areas(const as_mesh_files *f, const long *nodes, int count, double *areas,
                              bool *any, as_error *error) {
  share *list = asi_calloc((size_t)count, sizeof *list);
  place *sorted = asi_calloc((size_t)f->n_nodes, sizeof *sorted);
  *any = false;
  if (list == NULL || sorted == NULL) {
    free(list);
    free(sorted);
    return asi_fail_memory(error);
  }
  for (int i = 0; i < count; ++i) {
    areas[i] = 0.0;
    list[i] = (share){nodes[i], i};
  }
  for (int i = 0; i < f->n_nodes; ++i) sorted[i] = (place){f->ids[i], i};
  if (count > 0) qsort(list, (size_t)count, sizeof *list, compare_shares);
  if (f->n_nodes > 0) qsort(sorted, (size_t)f->n_nodes, sizeof *sorted, compare_places);
  for (int i = 0; i < f->n_triangles && count > 0; ++i) {
    const share *corner[3];
    int node[3];
    bool whole = true;
    for (int c = 0; c < 3 && whole; ++c) {
      const share key = {.id = f->triangle[i][c]};
      corner[c] = bsearch(&key, list, (size_t)count, sizeof key, compare_shares);
      whole = corner[c] != NULL && (node[c] = find_node(sorted, f->n_nodes, key.id)) >= 0;
    }
    if (!whole) continue;
    const double third =
        area_of(f->positions[node[0]], f->positions[node[1]], f->positions[node[2]]) / 3.0;
    for (int c = 0; c < 3; ++c) areas[corner[c]->at] += third;
    *any = *any || third > 0.0;
  }
  free(list);
  free(sorted);
  return AS_OK;
}

as_status as_mesh_files_set(as_mesh_files *f, const char *name, const long **nodes, int *count,
                            const double **areas, as_error *error) {
  *nodes = NULL;
  *areas = NULL;
  *count = 0;
  asi_fe_set *s = asi_fe_find_set(f, (asi_fe_word){name, strlen(name)}, false);
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "There is no set \"%.80s\" among the nodes%s%.80s%s", name,
                    f->n_sets > 0 ? "; there is \"" : ".", f->n_sets > 0 ? f->set[0].name : "",
                    f->n_sets == 0  ? ""
                    : f->n_sets > 1 ? "\" and others."
                                    : "\".");
  if (s->areas == NULL) {
    s->areas = asi_calloc((size_t)s->n, sizeof *s->areas);
    if (s->areas == NULL) return asi_fail_memory(error);
    bool any = false;
    const as_status status = as_mesh_files_areas(f, s->nodes, s->n, s->areas, &any, error);
    if (status) {
      free(s->areas);
      s->areas = NULL;
      return status;
    }
    for (int i = 0; i < s->n && !any; ++i) s->areas[i] = -1.0; // none
  }
  *nodes = s->nodes;
  *count = s->n;
  *areas = s->n > 0 && s->areas[0] >= 0.0 ? s->areas : NULL;
  return AS_OK;
}

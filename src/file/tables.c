/// `tables:` functions of one or two variables with names, by points, a grid or a CSV file. A table may be used in every expression,
/// also in those of parameters; its points may be expressions themselves: each is read when it is asked for first.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/surface.h"
#include "file/csv.h"
#include "file/matrix.h"
#include "file/reader.h"

enum {
  MOST_TABLES = 10000,
  MOST_WAITING = 100, ///< tables and parameters that wait for one another
};

typedef struct table_thing {
  asi_rows points;
  const char *file;
  int column[2]; ///< 0: not given
  double columns[2];
  asi_rows grid;
  const char *grid_file;
  int interpolation; ///< NOT_GIVEN
} table_thing;

enum { NOT_GIVEN = -1 };

#define AT(field) offsetof(table_thing, field)
static const asi_key keys[] = {
    {"points", ASI_KEY_ROWS, AT(points), .required = true, .least = 2, .most = 2,
     .text = "pairs [x, y] with increasing x; beyond its ends the function goes on straight"},
    {"file", ASI_KEY_PATH, AT(file), .instead_of = "points",
     .text = "a file of comma-separated values: a row of numbers for each point, perhaps titles "
             "before them"},
    {"columns", ASI_KEY_VECTOR, AT(columns), .range = ASI_POSITIVE, .least = 2, .most = 2,
     .with = "file", .otherwise = "[1, 2]", .text = "which columns x and y are, from 1"},
    {"grid", ASI_KEY_ROWS, AT(grid), .least = 3, .instead_of = "points",
     .text = "of two variables, name(x, y): a row [0, y1, y2, ...], then for each x a row [x, z1, "
             "z2, ...]; x and y increase, beyond the ends it goes on straight"},
    {"grid_file", ASI_KEY_PATH, AT(grid_file), .instead_of = "points",
     .text = "the same from a file of comma-separated values"},
    {"interpolation", ASI_KEY_CHOICE, AT(interpolation), .choices = asi_interpolations,
     .otherwise = "spline; of a grid monotone",
     .text = "between the points: spline is cubic with two continuous derivatives (for motions), "
             "monotone is cubic without overshoot, linear is straight (both for characteristics)"},
};
#undef AT
const asi_table asi_points_table = {"table", NULL, keys, ASI_COUNT(keys)};

static bool check_name(asi_reader *r, const asi_value *key) {
  if (!asi_is_parameter_name(key->text) || strcmp(key->text, "t") == 0)
    asi_complain(r, key,
                 "\"%.60s\" cannot name a table: letters, digits and _, no digit first, fewer than "
                 "%d, and neither t nor pi nor a function",
                 key->text, ASI_NAME_LENGTH);
  else if (r->n_named_tables >= MOST_TABLES)
    asi_complain(r, key, "more than %d tables", MOST_TABLES);
  else
    return true;
  return false;
}

static void define(asi_reader *r, const asi_value *key, const asi_value *value) {
  if (!check_name(r, key)) return;
  int number = asi_names_find(&r->table_names, key->text);
  if (number < 0) {
    void *array = r->named_tables;
    const bool room =
        asi_grow(&array, r->n_named_tables, &r->room_named_tables, sizeof *r->named_tables);
    r->named_tables = array;
    if (!room || asi_names_add(&r->table_names, ASI_SORT_TABLE, key->text, NULL)) {
      r->no_memory = true;
      return;
    }
    number = r->n_named_tables++;
  }
  r->named_tables[number] = (asi_named_table){.value = value};
}

// ---- points -----------------------------------------------------------------------------------------

bool asi_check_columns(asi_reader *r, const asi_value *v, const double *columns, int n, int *out) {
  for (int k = 0; k < n; ++k) {
    out[k] = (int)fmin(fmax(columns[k], 0.0), 1001.0);
    if (out[k] >= 1 && out[k] <= 1000 && columns[k] == out[k]) continue;
    asi_complain(r, asi_value_get(v, "columns"),
                 "columns have whole numbers from 1 to 1000, not %g", columns[k]);
    return false;
  }
  return true;
}

bool asi_read_csv(asi_reader *r, const asi_value *at, const char *path, const int *column, int n,
                  asi_rows *out) {
  const char *why;
  size_t size;
  asi_file file = {.path = path};
  char *text = asi_read_whole(r, &file, &size, &why);
  if (text == NULL) {
    asi_complain(r, at, "\"%.200s\" cannot be read: %s", path, why);
    r->unreadable = true;
    return false;
  }
  if (size > ASI_MOST_BYTES) {
    asi_complain(r, at, "\"%.200s\" has more than %d MiB", path, ASI_MOST_BYTES >> 20);
    free(text);
    return false;
  }
  asi_note_bytes(r, path, text, size);
  const asi_csv csv =
      n == 3 ? asi_csv_parse_points(text, size, column) : asi_csv_parse(text, size, column);
  free(text);
  if (csv.no_memory) r->no_memory = true;
  if (csv.sentence[0] && csv.line > 0)
    asi_complain(r, at, "\"%.200s\", line %d: %s", path, csv.line, csv.sentence);
  else if (csv.sentence[0])
    asi_complain(r, at, "\"%.200s\": %s", path, csv.sentence);
  if (csv.number == NULL) return false;
  const size_t bytes = (size_t)n * (size_t)csv.n * sizeof(double);
  *out = (asi_rows){asi_arena_take(&r->scratch, bytes), csv.n, n};
  if (out->number) memcpy(out->number, csv.number, bytes);
  free(csv.number);
  return out->number != NULL;
}

/// Reads a file's columns into points.
static bool read_csv(asi_reader *r, const asi_value *v, table_thing *thing) {
  return asi_check_columns(r, v, thing->columns, 2, thing->column) &&
         asi_read_csv(r, asi_value_get(v, "file"), thing->file, thing->column, 2, &thing->points);
}

static bool increases(asi_reader *r, const asi_value *v, const asi_rows *points) {
  const asi_value *rows = asi_value_get(v, "points");
  for (int i = 1; rows && i < points->n; ++i)
    if (!(points->number[2 * i] > points->number[2 * i - 2])) {
      asi_complain(r, rows->item[i], "x must increase, but %g follows %g", points->number[2 * i],
                   points->number[2 * i - 2]);
      return false;
    }
  return true;
}

/// The table as the builder takes it, in the machine's memory, and one that can be evaluated.
static bool make(asi_reader *r, asi_named_table *table, const table_thing *thing) {
  const int n = thing->points.n;
  as_error error;
  double *x = asi_arena_take(r->arena, 2 * (size_t)n * sizeof(double));
  if (x == NULL) return false;
  for (int i = 0; i < n; ++i) {
    x[i] = thing->points.number[2 * i];
    x[n + i] = thing->points.number[2 * i + 1];
  }
  const int how = thing->interpolation == NOT_GIVEN ? (int)AS_SPLINE : thing->interpolation;
  table->def = (as_curve){.x = x, .y = x + n, .n = n, .interpolation = (as_interpolation)how};
  const as_status status = asi_curve_init(&table->curve, &table->def, "The table", &error);
  if (status == AS_ERR_MEMORY)
    r->no_memory = true;
  else if (status)
    asi_complain(r, table->value, "%s", error.message);
  return status == AS_OK;
}

/// Reads a grid's file into its rows.
static bool read_grid_file(asi_reader *r, const asi_value *v, table_thing *thing) {
  const asi_value *at = asi_value_get(v, "grid_file");
  const char *why;
  size_t size;
  asi_file file = {.path = thing->grid_file};
  char *text = asi_read_whole(r, &file, &size, &why);
  if (text == NULL) {
    asi_complain(r, at, "\"%.200s\" cannot be read: %s", thing->grid_file, why);
    r->unreadable = true;
    return false;
  }
  asi_note_bytes(r, thing->grid_file, text, size);
  asi_matrix m = asi_matrix_of_csv(text, size);
  free(text);
  r->no_memory = r->no_memory || m.no_memory;
  if (m.sentence[0] && m.line > 0)
    asi_complain(r, at, "\"%.200s\", line %d: %s", thing->grid_file, m.line, m.sentence);
  else if (m.sentence[0])
    asi_complain(r, at, "\"%.200s\": %s", thing->grid_file, m.sentence);
  if (m.number == NULL) return false;
  const size_t count = (size_t)m.rows * (size_t)m.columns * sizeof(double);
  thing->grid = (asi_rows){asi_arena_take(&r->scratch, count), m.rows, m.columns};
  if (thing->grid.number) memcpy(thing->grid.number, m.number, count);
  free(m.number);
  return thing->grid.number != NULL;
}

/// The same as make(), of two variables.
static bool make_grid(asi_reader *r, asi_named_table *table, const table_thing *thing) {
  const int nx = thing->grid.n - 1, ny = thing->grid.columns - 1;
  as_error error;
  if (nx < 2 || ny < 2) {
    asi_complain(r, table->value, "a grid has two rows and two columns of values at least");
    return false;
  }
  const size_t columns = (size_t)ny + 1;
  double *x = asi_arena_take(r->arena,
                             ((size_t)nx + (size_t)ny + (size_t)nx * (size_t)ny) * sizeof(double));
  if (x == NULL) return false;
  double *y = x + nx, *z = y + ny;
  memcpy(y, thing->grid.number + 1, (size_t)ny * sizeof(double));
  for (int i = 0; i < nx; ++i) {
    const double *row = thing->grid.number + ((size_t)i + 1) * columns;
    x[i] = row[0];
    memcpy(z + (size_t)i * (size_t)ny, row + 1, (size_t)ny * sizeof(double));
  }
  const int how = thing->interpolation == NOT_GIVEN ? (int)AS_MONOTONE : thing->interpolation;
  table->grid = (as_surface){
      .x = x, .y = y, .z = z, .nx = nx, .ny = ny, .interpolation = (as_interpolation)how};
  table->curve = (asi_curve){.surface = NULL};
  const as_status status =
      asi_surface_make(&table->grid, "The table", &table->curve.surface, &error);
  if (status == AS_ERR_MEMORY)
    r->no_memory = true;
  else if (status)
    asi_complain(r, table->value, "%s", error.message);
  return status == AS_OK;
}

static bool read_table(asi_reader *r, asi_named_table *table) {
  table_thing thing = {.columns = {1.0, 2.0}, .interpolation = NOT_GIVEN};
  r->broken = false;
  asi_read_object(r, table->value, table->value, &asi_points_table, &thing);
  if (r->broken || asi_out_of_memory(r)) return false;
  if (thing.grid_file && !read_grid_file(r, table->value, &thing)) return false;
  if (thing.grid.number) return make_grid(r, table, &thing);
  if (thing.file && !read_csv(r, table->value, &thing)) return false;
  return increases(r, table->value, &thing.points) && make(r, table, &thing);
}

/// Reads a table, if that has not been done. No sentence: what is wrong has been said.
static bool settle(asi_reader *r, int number, int depth, char sentence[ASI_SENTENCE_LENGTH]) {
  asi_named_table *table = &r->named_tables[number];
  const char *name = asi_names_get(&r->table_names, number);
  if (table->progress == ASI_READY) return true;
  if (table->progress == ASI_BROKEN) return false; // it has been said why
  if (table->progress == ASI_BUSY || r->lookups >= MOST_WAITING) {
    snprintf(sentence, ASI_SENTENCE_LENGTH,
             table->progress == ASI_BUSY ? "the table %s depends on itself"
                                         : "too many tables and parameters depend on one another",
             name);
    return false;
  }
  const asi_path section = {"tables", 0, NULL}, path = {name, 0, &section}, *back = r->path;
  const asi_index *index = r->index;
  const bool broken = r->broken;
  const int depth_before = r->depth;
  r->path = &path;
  r->index = NULL;
  table->progress = ASI_BUSY;
  ++r->lookups;
  r->depth = depth;
  const bool good = read_table(r, table);
  --r->lookups;
  r->depth = depth_before;
  table->progress = good ? ASI_READY : ASI_BROKEN;
  r->path = back;
  r->index = index;
  r->broken = broken;
  return good;
}

// ---- use --------------------------------------------------------------------------------------------

asi_meaning asi_find_table(asi_reader *r, const char *name, asi_named *named) {
  const int found = asi_names_find(&r->table_names, name);
  if (found < 0) return ASI_MEANS_NOTHING;
  named->index = found;
  named->sentence[0] = '\0';
  if (!settle(r, found, named->depth, named->sentence)) return ASI_MEANS_MISTAKE;
  named->arguments = r->named_tables[found].grid.nx > 0 ? 2 : 1;
  return ASI_MEANS_TABLE;
}

int asi_evaluate_table(int table, double x, double out[3], void *user) {
  const asi_reader *r = user;
  return asi_curve_evaluate(&r->named_tables[table].curve, x, out);
}

int asi_evaluate_grid(int table, double x, double y, double out[6], void *user) {
  const asi_reader *r = user;
  asi_surface_all(r->named_tables[table].curve.surface, x, y, out);
  return AS_DONE;
}

void asi_collect_tables(asi_reader *r) {
  const asi_path path = {"tables", 0, NULL};
  for (int f = 0; f < r->n_order; ++f) {
    const asi_value *map = asi_value_get(r->file[r->order[f]].root, "tables");
    if (map == NULL) continue;
    r->path = &path;
    if (map->type != ASI_MAP)
      asi_complain(r, map, "must be a mapping of names to tables, not %s", asi_value_what(map));
    else
      for (int i = 0; i < map->count; ++i) define(r, map->item[2 * i], map->item[2 * i + 1]);
    r->path = NULL;
  }
}

void asi_settle_tables(asi_reader *r) {
  char sentence[ASI_SENTENCE_LENGTH];
  for (int i = 0; i < r->n_named_tables && !asi_out_of_memory(r); ++i)
    (void)settle(r, i, 0, sentence);
  asi_arena_reset(&r->scratch);
}

as_status asi_give_tables(asi_reader *r, as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < r->n_named_tables && status == AS_OK; ++i) {
    const asi_named_table *table = &r->named_tables[i];
    const char *name = asi_names_get(&r->table_names, i);
    if (table->progress != ASI_READY) continue;
    status = table->grid.nx > 0 ? as_builder_add_surface(r->builder, name, &table->grid, error)
                                : as_builder_add_table(r->builder, name, &table->def, error);
  }
  return status;
}

void asi_free_tables(asi_reader *r) {
  for (int i = 0; i < r->n_named_tables; ++i) asi_curve_free(&r->named_tables[i].curve);
  free(r->named_tables);
  asi_names_free(&r->table_names);
}

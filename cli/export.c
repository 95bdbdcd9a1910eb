// `alphastep export`: chosen channels and times of a run as CSV or as a MAT file that MATLAB and Octave load.
#define _POSIX_C_SOURCE 200809L // strdup

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/results_file.h"
#include "folder.h"
#include "mat.h"
#include "resume.h"

typedef enum export_format { EXPORT_CSV, EXPORT_MAT } export_format;

typedef struct request {
  const char *folder;
  const char **selections;
  int n_selections;
  double from, to, step; // step NAN: every row
  export_format format;
  const char *output; // NULL: stdout
  bool help;
} request;

// What is written.
typedef struct table {
  as_results_reader *reader;
  int *channel; // n of them
  int n;
  long *row; // rows of them
  long rows;
  double *time;   // of the chosen rows
  double *values; // rows x n, column by column
} table;

// ---- arguments

/// `A:B` or `A:B:STEP`; A and B may be left away.
static bool take_times(const char *text, request *r) {
  const char *rest = text;
  char *end = NULL;
  r->from = -(double)INFINITY;
  r->to = (double)INFINITY;
  if (*rest != ':') {
    r->from = strtod(rest, &end);
    if (end == rest || *end != ':') return false;
    rest = end;
  }
  rest++;
  if (*rest != ':' && *rest != '\0') {
    r->to = strtod(rest, &end);
    if (end == rest) return false;
    rest = end;
  }
  if (*rest == '\0') return r->from <= r->to;
  if (*rest++ != ':') return false;
  r->step = strtod(rest, &end);
  return end != rest && *end == '\0' && r->step > 0.0 && isfinite(r->step) && r->from <= r->to;
}

static bool take_format(const char *text, request *r) {
  if (strcmp(text, "csv") != 0 && strcmp(text, "mat") != 0) return false;
  r->format = strcmp(text, "mat") == 0 ? EXPORT_MAT : EXPORT_CSV;
  return true;
}

static cli_exit refuse_value(const char *option, const char *value, const char *like) {
  cli_complain("`%s %s` is not like %s.", option, value, like);
  return CLI_USAGE;
}

static cli_exit take_option(int argc, char **argv, int *i, request *r) {
  const char *word = argv[*i], *value = NULL;
  if (cli_option(argc, argv, i, "--channels", &value)) {
    if (value != NULL) r->selections[r->n_selections++] = value;
  } else if (cli_option(argc, argv, i, "--times", &value)) {
    if (value != NULL && !take_times(value, r)) {
      return refuse_value("--times", value, "`0.5:2` or `0:10:0.1`");
    }
  } else if (cli_option(argc, argv, i, "--format", &value)) {
    if (value != NULL && !take_format(value, r)) {
      return refuse_value("--format", value, "`csv` or `mat`");
    }
  } else if (cli_option(argc, argv, i, "-o", &value) ||
             cli_option(argc, argv, i, "--output", &value)) {
    if (value != NULL) r->output = value;
  } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    r->help = true;
    return CLI_DONE;
  } else {
    cli_complain("Unknown option `%s`; see `alphastep help export`.", word);
    return CLI_USAGE;
  }
  return value != NULL ? CLI_DONE : CLI_USAGE;
}

static cli_exit take_arguments(int argc, char **argv, request *r) {
  for (int i = 0; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] != '\0') {
      cli_exit status = take_option(argc, argv, &i, r);
      if (status != CLI_DONE) return status;
    } else if (r->folder != NULL) {
      cli_complain("One folder at a time: `%s` follows `%s`.", argv[i], r->folder);
      return CLI_USAGE;
    } else {
      r->folder = argv[i];
    }
  }
  if (r->folder != NULL || r->help) return CLI_DONE;
  cli_complain("Which folder? See `alphastep help export`.");
  return CLI_USAGE;
}

// ---- choosing

static cli_exit choose_channels(const request *r, table *t) {
  int all = as_results_reader_count(t->reader);
  bool *chosen = calloc((size_t)all + 1, sizeof *chosen);
  t->channel = calloc((size_t)all + 1, sizeof *t->channel);
  if (chosen == NULL || t->channel == NULL) {
    free(chosen);
    return cli_complain_memory();
  }
  cli_exit status = CLI_DONE;
  for (int i = 0; i < r->n_selections; i++) {
    as_error error;
    if (as_results_reader_select(t->reader, r->selections[i], chosen, &error) == AS_OK) continue;
    cli_complain("%s", error.message);
    status = CLI_USAGE;
  }
  for (int i = 0; i < all; i++) {
    if (chosen[i] || r->n_selections == 0) t->channel[t->n++] = i;
  }
  free(chosen);
  return status;
}

/// Rows from `from` to `to`; with a step, of each of its multiples the nearest one that is not before it.
static cli_exit choose_rows(const request *r, table *t) {
  long all = as_results_reader_rows(t->reader);
  double *time = calloc((size_t)all + 1, sizeof *time);
  t->row = calloc((size_t)all + 1, sizeof *t->row);
  if (time == NULL || t->row == NULL) {
    free(time);
    return cli_complain_memory();
  }
  t->time = time;
  as_error error;
  as_status read = as_results_reader_time(t->reader, time, &error);
  if (read != AS_OK) {
    cli_complain("%s", error.message);
    return cli_judge(read);
  }
  double first = isfinite(r->from) ? r->from : all > 0 ? time[0] : 0.0, next = 0.0;
  for (long i = 0; i < all; i++) {
    if (!(time[i] >= r->from && time[i] <= r->to)) continue;
    double due = (time[i] - first) / r->step; // in steps
    if (!isnan(r->step) && due < next - 1e-9) continue;
    if (!isnan(r->step)) next = floor(due + 1e-9) + 1.0;
    t->row[t->rows] = i;
    time[t->rows++] = time[i];
  }
  return CLI_DONE;
}

static cli_exit read_values(table *t) {
  long all = as_results_reader_rows(t->reader);
  double *column = calloc((size_t)all + 1, sizeof *column);
  t->values = calloc((size_t)t->rows * (size_t)t->n + 1, sizeof *t->values);
  if (column == NULL || t->values == NULL) {
    free(column);
    return cli_complain_memory();
  }
  for (int c = 0; c < t->n; c++) {
    as_error error;
    as_status read = as_results_reader_read(t->reader, t->channel[c], column, &error);
    if (read != AS_OK) {
      free(column);
      cli_complain("%s", error.message);
      return cli_judge(read);
    }
    for (long i = 0; i < t->rows; i++)
      t->values[(size_t)c * (size_t)t->rows + (size_t)i] = column[t->row[i]];
  }
  free(column);
  return CLI_DONE;
}

// ---- CSV, as in results.csv

static void write_title(FILE *out, const char *name, const char *unit) {
  bool quoted = strpbrk(name, ",\"") != NULL;
  if (quoted) putc('"', out);
  for (const char *c = name; *c != '\0'; c++) {
    if (*c == '"') putc('"', out);
    putc(*c, out);
  }
  fprintf(out, " [%s]", unit);
  if (quoted) putc('"', out);
}

static void write_csv(FILE *out, const void *user) {
  const table *t = user;
  write_title(out, "time", "s");
  for (int c = 0; c < t->n; c++) {
    as_channel channel = as_results_reader_channel(t->reader, t->channel[c]);
    putc(',', out);
    write_title(out, channel.name, channel.unit);
  }
  putc('\n', out);
  for (long i = 0; i < t->rows; i++) {
    fprintf(out, "%.17g", t->time[i]);
    for (int c = 0; c < t->n; c++)
      fprintf(out, ",%.17g", t->values[(size_t)c * (size_t)t->rows + (size_t)i]);
    putc('\n', out);
  }
}

// ---- MAT

enum { MAT_NAME = 64, MAT_LONGEST = 63 };

/// A name that MATLAB takes: what is no letter or digit becomes `_`, and it begins with a letter.
static void make_name(char to[MAT_NAME], const char *name) {
  size_t n = 0;
  if (!isalpha((unsigned char)name[0])) to[n++] = 'x';
  for (const char *c = name; *c != '\0' && n < MAT_LONGEST; c++) {
    bool inside = ((unsigned char)*c & 0xc0) == 0x80; // of a character of several bytes
    if (!inside) to[n++] = (char)(isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? *c : '_');
  }
  to[n] = '\0';
}

/// Makes names differ: the second one that would be the same gets `_2` at its end, and so on.
static char (*make_names(const table *t))[MAT_NAME] {
  char(*name)[MAT_NAME] = calloc((size_t)t->n + 1, sizeof *name);
  for (int c = 0; name != NULL && c < t->n; c++) {
    make_name(name[c], as_results_reader_channel(t->reader, t->channel[c]).name);
  }
  return name;
}

typedef struct named {
  char (*name)[MAT_NAME];
  int index;
} named;

static int compare_named(const void *a, const void *b) {
  const named *x = a, *y = b;
  int order = strcmp(x->name[x->index], y->name[y->index]);
  return order != 0 ? order : x->index - y->index;
}

static bool is_reserved(const char *name) {
  return strcmp(name, "time") == 0 || strcmp(name, "channels") == 0;
}

/// Gives numbers from `number` on to all but the first of those that are the same; false: there are none.
static bool put_numbers(char (*name)[MAT_NAME], named *list, int n, int number) {
  bool changed = false;
  qsort(list, (size_t)n, sizeof *list, compare_named);
  for (int i = 0, end; i < n; i = end) {
    char same[MAT_NAME];
    memcpy(same, name[list[i].index], sizeof same);
    for (end = i; end < n && strcmp(name[list[end].index], same) == 0; end++) continue;
    for (int k = is_reserved(same) ? i : i + 1; k < end; k++) {
      char tail[16];
      snprintf(tail, sizeof tail, "_%d", number + k - i - 1);
      size_t room = MAT_LONGEST - strlen(tail), length = strlen(same);
      char *to = name[list[k].index];
      memcpy(to + (length < room ? length : room), tail, strlen(tail) + 1);
      changed = true;
    }
  }
  return changed;
}

static bool tell_apart(char (*name)[MAT_NAME], int n) {
  named *list = calloc((size_t)n + 1, sizeof *list);
  if (list == NULL) return false;
  for (int i = 0; i < n; i++) list[i] = (named){name, i};
  for (int number = 2; put_numbers(name, list, n, number); number++) continue; // may meet others
  free(list);
  return true;
}

typedef struct mat {
  const table *table;
  char (*name)[MAT_NAME];
} mat;

/// `channels`: a line for each matrix, its name here, that of the channel and its unit.
static void write_channels(FILE *out, const mat *m) {
  const table *t = m->table;
  size_t width = 0;
  char **line = calloc((size_t)t->n + 1, sizeof *line);
  if (line == NULL) {
    cli_note_incomplete();
    return;
  }
  for (int c = 0; c < t->n; c++) {
    as_channel channel = as_results_reader_channel(t->reader, t->channel[c]);
    size_t size = strlen(m->name[c]) + strlen(channel.name) + strlen(channel.unit) + 8;
    line[c] = malloc(size);
    if (line[c] == NULL) {
      cli_note_incomplete();
      continue;
    }
    snprintf(line[c], size, "%s = %s [%s]", m->name[c], channel.name, channel.unit);
    if (strlen(line[c]) > width) width = strlen(line[c]);
  }
  mat_head(out, "channels", MAT_TEXT, t->n, (long)width);
  for (size_t k = 0; k < width; k++) { // column by column
    for (int c = 0; c < t->n; c++) {
      putc(line[c] != NULL && k < strlen(line[c]) ? (unsigned char)line[c][k] : ' ', out);
    }
  }
  for (int c = 0; c < t->n; c++) free(line[c]);
  free(line);
}

static void write_mat(FILE *out, const void *user) {
  const mat *m = user;
  const table *t = m->table;
  mat_matrix(out, "time", t->time, t->rows, 1);
  for (int c = 0; c < t->n; c++) {
    mat_matrix(out, m->name[c], t->values + (size_t)c * (size_t)t->rows, t->rows, 1);
  }
  write_channels(out, m);
}

// ---- the whole

static cli_exit write_output(const request *r, void (*write)(FILE *, const void *),
                             const void *user) {
  if (r->output != NULL) return folder_write(r->output, write, user);
  write(stdout, user);
  return CLI_DONE; // main looks whether stdout could be written
}

static cli_exit write_table(const request *r, const table *t) {
  if (r->format == EXPORT_CSV) return write_output(r, write_csv, t);
  mat m = {t, make_names(t)};
  cli_exit status = CLI_DONE;
  if (m.name == NULL || !tell_apart(m.name, t->n)) {
    status = cli_complain_memory();
  } else {
    status = write_output(r, write_mat, &m);
  }
  free(m.name);
  return status;
}

static cli_exit export_run(const request *r) {
  table t = {.reader = NULL};
  cli_exit status = r->output != NULL ? folder_spare(r->folder, r->output, NULL) : CLI_DONE;
  if (status == CLI_DONE && r->output != NULL) status = resume_spare(r->folder, r->output);
  if (status != CLI_DONE) return status;
  char *path = folder_path(r->folder, "results.h5");
  if (path == NULL) return cli_complain_memory();
  as_error error;
  as_status opened = as_results_reader_open(path, &t.reader, &error);
  if (opened != AS_OK) cli_complain("%s", error.message);
  status = cli_judge(opened);
  free(path);
  if (status == CLI_DONE) status = choose_channels(r, &t);
  if (status == CLI_DONE) status = choose_rows(r, &t);
  if (status == CLI_DONE) status = read_values(&t);
  if (status == CLI_DONE) status = write_table(r, &t);
  as_results_reader_close(t.reader);
  free(t.channel);
  free(t.row);
  free(t.time);
  free(t.values);
  return status;
}

static void print_help(void) {
  fputs("Usage: alphastep export DIR [--channels SELECTION]... [--times FROM:TO[:STEP]]\n"
        "                         [--format csv|mat] [-o FILE]\n"
        "\n"
        "Writes channels of the run in the folder DIR, from its results.h5, as a table.\n"
        "\n"
        "--channels SELECTION  which: `joints.crank.angle`, `bodies.*.position`; may be given "
        "several\n"
        "                      times. Default: all, with the poses of all bodies\n"
        "--times FROM:TO:STEP  rows from FROM to TO [s], each of which may be left away; with a "
        "STEP\n"
        "                      one row per STEP: the first that is not before it\n"
        "--format FORMAT       csv (default), as in results.csv; or mat: a MAT file of version 4 "
        "for\n"
        "                      MATLAB and Octave, one vector per channel\n"
        "-o FILE               where to; default: standard output\n"
        "--help                this text\n"
        "\n"
        "Exit status: 0 done; 2 bad usage, or a channel that is not there; 4 a file could not be "
        "read\n"
        "or written.\n",
        stdout);
}

cli_exit export_command(int argc, char **argv) {
  request r = {.step = (double)NAN, .from = -(double)INFINITY, .to = (double)INFINITY};
  r.selections = calloc((size_t)argc + 1, sizeof *r.selections);
  if (r.selections == NULL) return cli_complain_memory();
  cli_exit status = take_arguments(argc, argv, &r);
  if (status == CLI_DONE && r.help) {
    print_help();
  } else if (status == CLI_DONE) {
    status = export_run(&r);
  }
  free((void *)r.selections);
  return status;
}

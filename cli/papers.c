// `alphastep papers`: repeats the papers' experiments (validation/) and compares what comes out with the
// numbers that are expected.
//
// Rows are chosen by name, their runs made once each, and the rows printed as a table or as JSON, figures
// that show chosen rows drawn; papers_page.c writes the page about the claims that they bear on.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/words.h"
#include "cli.h"
#include "folder.h"
#include "json.h"
#include "papers_page.h"

typedef struct request {
  bool json;
  bool help;
  const char *plot;   ///< where figures go; NULL: none are drawn
  const char *report; ///< where the page goes; NULL: none is written
  char **names;       ///< the names among the arguments, moved to the front of argv
  int n_names;
} request;

static void print_help(void) {
  fputs(
      "Usage: alphastep papers [NAME...] [--json] [--plot DIR] [--report FILE]\n"
      "\n"
      "Repeats numerical experiments of the papers that the methods come from. Each row shows the\n"
      "number printed in the paper (where it prints one), the expected one, recomputed\n"
      "independently, the one measured now, and the observed order. A row is ok if it is within\n"
      "1 % of what is expected (and of second order, where that is the point), or below it where "
      "a\n"
      "limit `<=` is given. What depends on more than the method is shown, not judged.\n"
      "\n"
      "NAME        an id or its first words, such as `abc-top`; default: every row\n"
      "--json      write an array of objects {id, paper, what, published, expected, limit,\n"
      "            measured, order, ok}\n"
      "--plot DIR  also draw the figures that show these rows, as DIR/FIGURE.svg; DIR is made if\n"
      "            needed\n"
      "--report FILE\n"
      "            also write FILE, an HTML page with what the papers claim: for each claim that "
      "these\n"
      "            rows bear on a verdict, the figures drawn from this run, and the numbers\n"
      "--help      this text\n"
      "\n"
      "Papers:\n",
      stdout);
  for (int p = 0; p < N_PAPERS; p++)
    printf("  %s: %s\n", all_papers[p]->citation, all_papers[p]->title);
  fputs("\nFigures:\n", stdout);
  for (int p = 0; p < N_PAPERS; p++) {
    for (int i = 0; i < all_papers[p]->n_figures; i++)
      printf("  %s\n", all_papers[p]->figures[i].name);
  }
  fputs("\n"
        "Exit status: 0 every chosen row is ok; 1 a row falls short; 2 bad usage; 3 a simulation\n"
        "failed; 4 the output could not be written.\n",
        stdout);
}

// ---- choosing rows

static bool is_known(const char *name) {
  for (int p = 0; p < N_PAPERS; p++) {
    for (int i = 0; i < all_papers[p]->n_rows; i++) {
      if (paper_names(name, all_papers[p]->rows[i].id)) return true;
    }
  }
  return false;
}

/// Says that `name` is unknown and which id, or first words of an id, is nearest to it.
static void complain_unknown(const char *name) {
  char nearest[80] = "";
  int least = -1;
  for (int p = 0; p < N_PAPERS; p++) {
    for (int i = 0; i < all_papers[p]->n_rows; i++) {
      const char *id = all_papers[p]->rows[i].id;
      for (size_t n = 1; n <= strlen(id) && n < sizeof nearest; n++) {
        if (id[n] != '\0' && id[n] != '-') continue;
        char words[sizeof nearest];
        memcpy(words, id, n);
        words[n] = '\0';
        int distance = as_word_distance(name, words);
        if (least >= 0 && distance >= least) continue;
        least = distance;
        memcpy(nearest, words, n + 1);
      }
    }
  }
  if (least >= 0 && as_word_is_close(name, least)) {
    cli_complain("No experiment is named `%s`; did you mean `%s`?", name, nearest);
  } else {
    cli_complain("No experiment is named `%s`; `alphastep papers` lists all.", name);
  }
}

static bool is_chosen(const request *r, const char *id) {
  if (r->n_names == 0) return true;
  for (int i = 0; i < r->n_names; i++) {
    if (paper_names(r->names[i], id)) return true;
  }
  return false;
}

/// Does the figure show a chosen row?
static bool is_figure_chosen(const request *r, const paper *source, const paper_figure *figure) {
  for (int i = 0; i < source->n_rows; i++) {
    const char *id = source->rows[i].id;
    if (paper_names(figure->name, id) && is_chosen(r, id)) return true;
  }
  return false;
}

static bool has_figure(const request *r) {
  for (int p = 0; p < N_PAPERS; p++) {
    for (int i = 0; i < all_papers[p]->n_figures; i++) {
      if (is_figure_chosen(r, all_papers[p], &all_papers[p]->figures[i])) return true;
    }
  }
  return false;
}

static cli_exit read_arguments(int argc, char **argv, request *r) {
  *r = (request){.names = argv};
  bool options = true; // until `--`
  for (int i = 0; i < argc; i++) {
    char *word = argv[i];
    if (!options || word[0] != '-') {
      r->names[r->n_names++] = word;
    } else if (strcmp(word, "--") == 0) {
      options = false;
    } else if (strcmp(word, "--json") == 0) {
      r->json = true;
    } else if (strcmp(word, "--plot") == 0) {
      if (i + 1 == argc || argv[i + 1][0] == '-') {
        cli_complain("`--plot` needs a directory: `--plot DIR`.");
        return CLI_USAGE;
      }
      r->plot = argv[++i];
    } else if (strncmp(word, "--plot=", strlen("--plot=")) == 0) {
      r->plot = word + strlen("--plot=");
    } else if (cli_option(argc, argv, &i, "--report", &r->report)) {
      if (r->report == NULL) return CLI_USAGE;
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      r->help = true;
    } else {
      cli_complain("Unknown option `%s`; see `alphastep papers --help`.", word);
      return CLI_USAGE;
    }
  }
  if (r->help) return CLI_DONE;
  for (int i = 0; i < r->n_names; i++) {
    if (!is_known(r->names[i])) {
      complain_unknown(r->names[i]);
      return CLI_USAGE;
    }
  }
  if (r->plot != NULL && !has_figure(r)) {
    cli_complain("No figure shows these rows; `alphastep papers --help` lists the figures.");
    return CLI_USAGE;
  }
  return CLI_DONE;
}

// ---- printing

static void print_cell(double x, const char *format, int width) {
  char text[32];
  snprintf(text, sizeof text, format, x);
  printf("  %*s", width, isfinite(x) ? text : "-");
}

static void print_table(const paper_entry *entries, int n) {
  int id_width = (int)strlen("id");
  int what_width = (int)strlen("what");
  for (int i = 0; i < n; i++) {
    int id_length = (int)strlen(entries[i].row->id);
    int what_length = (int)strlen(entries[i].row->what);
    if (id_length > id_width) id_width = id_length;
    if (what_length > what_width) what_width = what_length;
  }
  const paper *source = NULL;
  int n_ok = 0;
  for (int i = 0; i < n; i++) {
    const paper_entry *e = &entries[i];
    if (e->source != source) {
      source = e->source;
      printf("%s%s: %s\n", i > 0 ? "\n" : "", source->citation, source->title);
      printf("%-*s  %-*s  %9s  %10s  %10s  %5s\n", id_width, "id", what_width, "what", "published",
             "expected", "measured", "order");
    }
    printf("%-*s  %-*s", id_width, e->row->id, what_width, e->row->what);
    print_cell(e->row->published, "%.3g", 9);
    print_cell(e->row->expected, e->row->judge == PAPER_AT_MOST ? "<= %.4g" : "%.4g", 10);
    print_cell(e->measured, "%.4g", 10);
    print_cell(e->order, "%.2f", 5);
    printf("  %s\n", !e->ok ? "NO" : e->row->judge == PAPER_SHOWN ? "shown" : "ok");
    n_ok += e->ok;
  }
  printf("\n%d of %d rows are as expected.\n", n_ok, n);
}

static void print_json(const paper_entry *entries, int n) {
  putchar('[');
  for (int i = 0; i < n; i++) {
    fputs(i > 0 ? ",\n {\"id\": " : "\n {\"id\": ", stdout);
    asi_json_text(stdout, entries[i].row->id);
    fputs(", \"paper\": ", stdout);
    asi_json_text(stdout, entries[i].source->citation);
    fputs(", \"what\": ", stdout);
    asi_json_text(stdout, entries[i].row->what);
    fputs(", \"published\": ", stdout);
    asi_json_number(stdout, entries[i].row->published);
    fputs(", \"expected\": ", stdout);
    asi_json_number(stdout, entries[i].row->expected);
    printf(", \"limit\": %s", entries[i].row->judge == PAPER_AT_MOST ? "true" : "false");
    fputs(", \"measured\": ", stdout);
    asi_json_number(stdout, entries[i].measured);
    fputs(", \"order\": ", stdout);
    asi_json_number(stdout, entries[i].order);
    printf(", \"ok\": %s}", entries[i].ok ? "true" : "false");
  }
  fputs("\n]\n", stdout);
}

/// Names on stderr each row that falls short. (A failed run has been named already.)
static void complain_short(const paper_entry *e) {
  if (e->ok || isnan(e->measured)) return;
  if (e->row->judge == PAPER_AT_MOST) {
    cli_complain("%s: measured %.6g, which is above the limit %.6g.", e->row->id, e->measured,
                 e->row->expected);
  } else if (e->row->judge == PAPER_VALUE) {
    cli_complain("%s: measured %.12g, which is more than 1e-6 (relative) from the expected %.12g.",
                 e->row->id, e->measured, e->row->expected);
  } else if (e->row->judge != PAPER_ORDER && !(fabs(e->measured - e->row->expected) <=
                                               PAPER_WITHIN_SHARE * fabs(e->row->expected))) {
    cli_complain("%s: measured %.6g, which is more than 1 %% from the expected %.6g.", e->row->id,
                 e->measured, e->row->expected);
  } else {
    cli_complain("%s: observed order %.3g, which is below %.3g.", e->row->id, e->order,
                 PAPER_LEAST_ORDER);
  }
}

static cli_exit worse(cli_exit a, cli_exit b) { return a > b ? a : b; }

// ---- figures

static void write_plot(FILE *out, const void *user) {
  const as_plot *plot = user;
  as_plot_write(out, plot);
}

static cli_exit write_figure(const as_plot *plot, const char *directory, const char *name) {
  size_t size = strlen(directory) + strlen(name) + sizeof "/.svg";
  char *path = malloc(size);
  if (path == NULL) return cli_complain_memory();
  snprintf(path, size, "%s/%s.svg", directory, name);
  cli_exit status = folder_write(path, write_plot, plot);
  free(path);
  return status;
}

/// Makes the runs that a figure needs and writes it to DIRECTORY/NAME.svg.
static cli_exit draw_figure(const paper *source, const paper_figure *figure, const char *directory,
                            run_result *results) {
  paper_drawing *drawing = malloc(sizeof *drawing);
  if (drawing == NULL) return cli_complain_memory();
  cli_exit status = papers_prepare_figure(source, figure, results, drawing);
  if (status == CLI_DONE) status = write_figure(&drawing->plot, directory, figure->name);
  free(drawing);
  return status;
}

cli_exit papers_prepare_figure(const paper *source, const paper_figure *figure, run_result *results,
                               paper_drawing *drawing) {
  as_error error = {.message = ""};
  as_status status = paper_figure_prepare(source, figure, results, drawing, &error);
  if (status == AS_OK) return CLI_DONE;
  cli_complain("%s: %s: %s", figure->name, as_status_name(status), error.message);
  return CLI_SIMULATION;
}

// ---- everything

/// Measures the chosen rows of one paper, appends them to `entries` and draws its figures.
static cli_exit measure_paper(const paper *source, const request *r, run_result *results,
                              paper_entry *entries, int *n) {
  cli_exit status = CLI_DONE;
  for (int i = 0; i < source->n_rows; i++) {
    if (!is_chosen(r, source->rows[i].id)) continue;
    paper_entry e = paper_measure(source, &source->rows[i], results);
    if (!e.ok) status = CLI_FELL_SHORT;
    entries[(*n)++] = e;
  }
  for (int i = 0; r->plot != NULL && i < source->n_figures; i++) {
    const paper_figure *figure = &source->figures[i];
    if (!is_figure_chosen(r, source, figure)) continue;
    status = worse(status, draw_figure(source, figure, r->plot, results));
  }
  return status;
}

/// Complains about each run that failed, in the name of a row that it belongs to.
static cli_exit complain_failures(const paper *source, const run_result *results) {
  cli_exit status = CLI_DONE;
  for (int i = 0; i < source->n_runs; i++) {
    if (!results[i].made || results[i].status == AS_OK) continue;
    int row = 0;
    while (row + 1 < source->n_rows && source->rows[row].run != i) row++;
    bool found = source->rows[row].run == i;
    cli_complain("%s: %s: %s", found ? source->rows[row].id : source->name,
                 as_status_name(results[i].status), results[i].error.message);
    status = CLI_SIMULATION;
  }
  return status;
}

/// Everything that is asked for; `results` and `entries` have places for all of it.
static cli_exit answer(const request *r, run_result *const *results, paper_entry *entries) {
  cli_exit status = CLI_DONE;
  int n = 0;
  for (int p = 0; p < N_PAPERS; p++) {
    status = worse(status, measure_paper(all_papers[p], r, results[p], entries, &n));
  }
  if (r->report != NULL) {
    papers_page page = {results, entries, n, r->n_names == 0};
    status = worse(status, papers_page_write(&page, r->report));
  }
  for (int p = 0; p < N_PAPERS; p++) {
    status = worse(status, complain_failures(all_papers[p], results[p]));
  }
  if (r->json) {
    print_json(entries, n);
  } else {
    print_table(entries, n);
    if (r->plot != NULL && status <= CLI_FELL_SHORT) printf("The figures are in %s.\n", r->plot);
    if (r->report != NULL && status <= CLI_FELL_SHORT) printf("The page is %s.\n", r->report);
  }
  for (int i = 0; i < n; i++) complain_short(&entries[i]);
  return status;
}

cli_exit papers_command(int argc, char **argv) {
  request r;
  cli_exit status = read_arguments(argc, argv, &r);
  if (status != CLI_DONE) return status;
  if (r.help) {
    print_help();
    return CLI_DONE;
  }
  if (r.plot != NULL) {
    bool made;
    status = folder_make(r.plot, &made);
    if (status != CLI_DONE) return status;
  }

  size_t n_rows = 0;
  run_result *results[N_PAPERS];
  bool have = true;
  for (int p = 0; p < N_PAPERS; p++) {
    n_rows += (size_t)all_papers[p]->n_rows;
    results[p] = calloc((size_t)all_papers[p]->n_runs, sizeof *results[p]);
    have = have && results[p] != NULL;
  }
  paper_entry *entries = calloc(n_rows, sizeof *entries);
  status = have && entries != NULL ? answer(&r, results, entries) : cli_complain_memory();
  free(entries);
  for (int p = 0; p < N_PAPERS; p++) free(results[p]);
  return status;
}

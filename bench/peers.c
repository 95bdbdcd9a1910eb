/// alphastep beside other programs, see peers.h. Everything is run side by side, each run some times, of which the least counts: ratios mean
/// something where the machine does other work, too, times do not.
///
/// usage: peers [--quick] [--csv FILE] [--page FILE]
///
/// Writes to stdout all rows and, for each goal, whether it is reached. Exit status: 0 also if one is missed.
#define _POSIX_C_SOURCE 200809L
#include "peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/plot.h"
#include "page.h"

enum { MOST_POINTS = 64 };
static const char *const peers[] = {PEERS_OURS, "IDA", "TSALPHA2"};
enum { N_SOLVERS = sizeof peers / sizeof peers[0] };

double peers_cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *more(void *block, int n, size_t size) {
  void *grown = realloc(block, ((size_t)n + 1) * size);
  if (grown) return grown;
  fprintf(stderr, "peers: out of memory\n");
  exit(1);
}

void peers_add(peers_table *t, peers_row row) {
  t->row = more(t->row, t->n, sizeof *t->row);
  t->row[t->n++] = row;
  printf("%-22s %-10s %-40s %9.2e %10.4f s %7ld", row.problem, row.solver, row.setting, row.error,
         row.cpu, row.steps);
  if (!isnan(row.per_step)) printf("  %.1f ns per unknown and step", 1e9 * row.per_step);
  putchar('\n');
  fflush(stdout);
}

void peers_expect(peers_table *t, const char *problem, const char *peer, double error,
                  double ratio) {
  t->goal = more(t->goal, t->n_goals, sizeof *t->goal);
  peers_goal *g = &t->goal[t->n_goals++];
  *g = (peers_goal){.error = error, .ratio = ratio};
  snprintf(g->problem, sizeof g->problem, "%s", problem);
  snprintf(g->peer, sizeof g->peer, "%s", peer);
}

/// The least time, per step where that is what is compared, of a solver with an error of at most `error`; NULL: there is none.
static const peers_row *find_best(const peers_table *t, const char *problem, const char *solver,
                                  double error) {
  const peers_row *best = NULL;
  for (int i = 0; i < t->n; ++i) {
    const peers_row *r = &t->row[i];
    if (strcmp(r->problem, problem) != 0 || strcmp(r->solver, solver) != 0 || !(r->error <= error))
      continue;
    if (best == NULL || r->cpu < best->cpu) best = r;
  }
  return best;
}

/// Our time over the peer's; NAN: the peer is not there, or does not get so far.
static double find_ratio(const peers_table *t, const peers_goal *g) {
  const peers_row *ours = find_best(t, g->problem, PEERS_OURS, g->error);
  const peers_row *other = find_best(t, g->problem, g->peer, g->error);
  if (other == NULL) return (double)NAN;
  if (ours == NULL) return (double)INFINITY;
  return isnan(ours->per_step) ? ours->cpu / other->cpu : ours->per_step / other->per_step;
}

static const char *judge(const peers_goal *g, double ratio) {
  return isnan(ratio) ? "not measured" : ratio <= g->ratio ? "reached" : "missed";
}

// ---- the page ---------------------------------------------------------------------------------------

static int by_x(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/// Runs of a solver that no other one of it beats in both error and time, by their errors; how many.
static int find_front(const peers_table *t, const char *problem, const char *solver, double *x,
                      double *y) {
  int n = 0;
  for (int i = 0; i < t->n && n < MOST_POINTS; ++i) {
    const peers_row *r = &t->row[i];
    if (strcmp(r->problem, problem) != 0 || strcmp(r->solver, solver) != 0 || !(r->error > 0.0))
      continue;
    const peers_row *best = find_best(t, problem, solver, r->error);
    if (best == r) x[n++] = r->error;
  }
  qsort(x, (size_t)n, sizeof *x, by_x);
  for (int i = 0; i < n; ++i) y[i] = find_best(t, problem, solver, x[i])->cpu;
  return n;
}

/// What a chain costs at an error of 1e-5 m, by its links.
static int find_scaling(const peers_table *t, const char *solver, double *x, double *y) {
  int n = 0;
  for (int i = 0; i < t->n_goals; ++i) {
    int links;
    const peers_goal *g = &t->goal[i];
    if (sscanf(g->problem, "chain of %d", &links) != 1) continue;
    const peers_row *r = find_best(t, g->problem, solver, g->error);
    if (r == NULL) continue;
    x[n] = links;
    y[n++] = r->cpu;
  }
  return n;
}

/// A figure with a curve for each solver: of a problem, or, for NULL, of the chains by their links.
static void write_figure(FILE *out, const peers_table *t, const char *problem) {
  static double x[N_SOLVERS][MOST_POINTS], y[N_SOLVERS][MOST_POINTS];
  as_plot p = {.kind = AS_PLOT_ORDERS, .n_panels = 1, .bare = true};
  p.panel[0] = (as_plot_panel){.title = problem ? problem : "chains, tip within 1e-5 m",
                               .x_label = problem ? "error" : "links",
                               .y_label = "processor time [s]",
                               .decades = true};
  int points = 0;
  for (int s = 0; s < N_SOLVERS; ++s) {
    const int n = problem ? find_front(t, problem, peers[s], x[s], y[s])
                          : find_scaling(t, peers[s], x[s], y[s]);
    if (n == 0) continue;
    p.label[p.n_curves] = peers[s];
    p.panel[0].curve[p.n_curves++] = (as_plot_curve){.x = x[s], .y = y[s], .n = n};
    points += n;
  }
  if (points < 2 * p.n_curves || p.n_curves == 0) return; // one run each: the table says it
  fputs("<figure><ul class=\"legend\">", out);
  for (int c = 0; c < p.n_curves; ++c) {
    fputs("<li>", out);
    as_plot_write_sample(out, &p, c);
    fprintf(out, "%s</li>", p.label[c]);
  }
  fputs("</ul><div class=\"panels\">", out);
  as_plot_write_panel(out, &p, 0);
  fputs("</div></figure>\n", out);
}

static void write_goals(FILE *out, const peers_table *t) {
  fputs("<h2>Goals</h2><table "
        "class=\"numbers\"><thead><tr><th>problem</th><th>beside</th><th>error</th>"
        "<th>time over the peer's</th><th>goal</th><th>verdict</th></tr></thead><tbody>\n",
        out);
  for (int i = 0; i < t->n_goals; ++i) {
    const peers_goal *g = &t->goal[i];
    const double ratio = find_ratio(t, g);
    fprintf(out, "<tr><td>%s</td><td data-is=\"beside\">%s</td><td data-is=\"error\">%.0e</td>",
            g->problem, g->peer, g->error);
    fprintf(out, "<td data-is=\"time over the peer's\">");
    if (isnan(ratio))
      fputs("-", out);
    else
      fprintf(out, "%.3f", ratio);
    fprintf(out,
            "</td><td data-is=\"goal\">%.2g</td><td data-is=\"verdict\"><span class=\"verdict "
            "%s\">%s</span></td></tr>\n",
            g->ratio,
            isnan(ratio)        ? "unchecked"
            : ratio <= g->ratio ? "holds"
                                : "fails",
            judge(g, ratio));
  }
  fputs("</tbody></table>\n", out);
}

static void write_rows(FILE *out, const peers_table *t, const char *problem) {
  fputs("<details><summary>All runs</summary><table class=\"numbers\"><thead><tr><th>solver and "
        "setting</th>"
        "<th>error</th><th>time [s]</th><th>steps</th><th>per unknown and step "
        "[ns]</th></tr></thead><tbody>\n",
        out);
  for (int i = 0; i < t->n; ++i) {
    const peers_row *r = &t->row[i];
    if (strcmp(r->problem, problem) != 0) continue;
    fprintf(out,
            "<tr><td>%s, %s</td><td data-is=\"error\">%.2e</td><td data-is=\"time [s]\">%.4g</td>"
            "<td data-is=\"steps\">%ld</td>",
            r->solver, r->setting, r->error, r->cpu, r->steps);
    fputs("<td data-is=\"per unknown and step [ns]\">", out);
    if (!isnan(r->per_step)) fprintf(out, "%.1f", 1e9 * r->per_step);
    fputs("</td></tr>\n", out);
  }
  fputs("</tbody></table></details>\n", out);
}

static void write_page(const peers_table *t, const char *path) {
  FILE *out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    exit(4);
  }
  page_begin(out, "alphastep beside other programs");
  fputs("<p>All runs were made side by side; of each the least processor time of three counts. "
        "Curves have the runs that no other "
        "one of the same program beats in both error and time.</p>\n",
        out);
  write_goals(out, t);
  write_figure(out, t, NULL);
  for (int i = 0; i < t->n_goals; ++i) {
    fprintf(out, "<h2>%s</h2>\n", t->goal[i].problem);
    write_figure(out, t, t->goal[i].problem);
    write_rows(out, t, t->goal[i].problem);
  }
  page_end(out);
  if (fclose(out) != 0) {
    perror(path);
    exit(4);
  }
}

static void write_csv(const peers_table *t, const char *path) {
  FILE *out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    exit(4);
  }
  fputs("problem,solver,setting,error,cpu [s],steps,per unknown and step [s]\n", out);
  for (int i = 0; i < t->n; ++i) {
    const peers_row *r = &t->row[i];
    fprintf(out, "%s,%s,\"%s\",%.6e,%.6e,%ld,%.6e\n", r->problem, r->solver, r->setting, r->error,
            r->cpu, r->steps, r->per_step);
  }
  if (fclose(out) != 0) {
    perror(path);
    exit(4);
  }
}

int main(int argc, char **argv) {
  const char *page = NULL, *csv = NULL;
  peers_table t = {0};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--quick") == 0) {
      t.quick = true;
    } else if (strcmp(argv[i], "--page") == 0 && i + 1 < argc) {
      page = argv[++i];
    } else if (strcmp(argv[i], "--csv") == 0 && i + 1 < argc) {
      csv = argv[++i];
    } else {
      fprintf(stderr, "usage: peers [--quick] [--csv FILE] [--page FILE]\n");
      return 2;
    }
  }
  peers_bar(&t);
  peers_chain(&t);
  for (int i = 0; i < t.n_goals; ++i) {
    const double ratio = find_ratio(&t, &t.goal[i]);
    printf("%-22s error %.0e: %.3f of %s; at most %.2g is wanted: %s\n", t.goal[i].problem,
           t.goal[i].error, ratio, t.goal[i].peer, t.goal[i].ratio, judge(&t.goal[i], ratio));
  }
  if (csv) write_csv(&t, csv);
  if (page) write_page(&t, page);
  free(t.row);
  free(t.goal);
  return 0;
}

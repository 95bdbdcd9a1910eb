/// Measures automatic steps: errors against the tolerance, what they cost, and what the best fixed step costs
/// for the same error. See docs/automatic-steps.md.
///
/// usage: accuracy [--csv FILE] [--fixed-csv FILE] [--plot DIR] [PROBLEM ...]
///        accuracy --markdown [PROBLEM ...]
///
/// Writes to stdout: for each problem and method the errors and the work for rtol = 1e-3 ... 1e-7; fitted
/// slopes and what they miss; and the comparison with fixed steps where the time scale varies. Errors are
/// relative to the sizes of components, a root mean square over them and over 30 times (thirds of the time for Andrews); "at end" is the
/// last time alone and the worst variable. Exit status: 0 also if a goal is missed; 1 if a run fails.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/plot.h"
#include "problems/automatic.h"

enum { METHODS = 3, TOLERANCES = 5, VARIABLES = AUTOMATIC_VARIABLES };
enum { INDEX2 = 1 }; ///< the default method's place

static const as_method methods[METHODS] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[METHODS] = {"index-3", "index-2", "SOI2"};
static const double tolerances[TOLERANCES] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
/// Those at which fixed steps are looked for: steps of which one adds 1e-3 ... 1e-7 of its size, [SC.12].
static const double compared[TOLERANCES] = {3e-2, 6.5e-3, 1.4e-3, 3e-4, 6.5e-5};

/// The runs of one problem and method; `offered` is false if the method does not take the problem.
typedef struct series {
  bool offered;
  automatic_run run[TOLERANCES];
} series;

/// All runs of one problem.
typedef struct subject {
  automatic_problem *p;
  series of[METHODS];
} subject;

static void stop_if(const automatic_run *r, const char *problem, const char *method) {
  if (r->status == AS_OK) return;
  fprintf(stderr, "accuracy: %s, %s: %s: %s\n", problem, method, as_status_name(r->status),
          r->error.message);
  exit(1);
}

static series make_series(const automatic_problem *p, int method, const double *rtol) {
  series s = {.offered = true};
  for (int i = 0; i < TOLERANCES && s.offered; ++i) {
    as_integrator_def def = as_default_integrator_def();
    def.method = methods[method];
    def.tolerance.rtol = rtol[i];
    s.run[i] = automatic_integrate(p, &def, AUTOMATIC_TIMES);
    if (s.run[i].status == AS_ERR_UNSUPPORTED)
      s.offered = false;
    else
      stop_if(&s.run[i], p->name, method_names[method]);
  }
  return s;
}

// ---- the table ------------------------------------------------------------------------------------------

static void print_error(double e, bool known) {
  if (known)
    printf(" %8.1e", e);
  else
    printf(" %8s", "-");
}

static void print_header(void) {
  printf("%-18s %-8s %6s", "problem", "method", "rtol");
  for (int k = 0; k < VARIABLES; ++k) printf(" %8s", automatic_variable_name(k));
  printf(" %8s %6s %5s %4s %7s %7s %6s %6s\n", "at end", "steps", "rej", "fail", "newton", "force",
         "jacob", "factor");
}

static double worst(const double *off) {
  double most = 0.0;
  for (int k = 0; k < VARIABLES; ++k) most = fmax(most, off[k]);
  return most;
}

static void print_series(const automatic_problem *p, int method, const series *s) {
  for (int i = 0; i < TOLERANCES; ++i) {
    const automatic_run *r = &s->run[i];
    const as_statistics *w = &r->work;
    printf("%-18s %-8s %6.0e", p->name, method_names[method], tolerances[i]);
    for (int k = 0; k < VARIABLES; ++k) print_error(r->overall[k], p->count[k] > 0);
    printf(" %8.1e %6ld %5ld %4ld %7ld %7ld %6ld %6ld\n", worst(r->at_end), w->steps,
           w->rejected_steps, w->failed_steps, w->newton_iterations, w->force_evaluations,
           w->jacobian_evaluations, w->factorizations);
  }
}

static void write_series(FILE *csv, const automatic_problem *p, int method, const series *s) {
  for (int i = 0; i < TOLERANCES; ++i) {
    const automatic_run *r = &s->run[i];
    const as_statistics *w = &r->work;
    fprintf(csv, "%s,%s,%.0e", p->name, method_names[method], tolerances[i]);
    for (int at_end = 0; at_end < 2; ++at_end)
      for (int k = 0; k < VARIABLES; ++k) {
        if (p->count[k] > 0)
          fprintf(csv, ",%.4e", at_end ? r->at_end[k] : r->overall[k]);
        else
          fprintf(csv, ",");
      }
    fprintf(csv, ",%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld\n", w->steps, w->rejected_steps, w->failed_steps,
            w->newton_iterations, w->force_evaluations, w->jacobian_evaluations, w->factorizations,
            w->solves);
  }
}

static void write_csv_header(FILE *csv) {
  fprintf(csv, "problem,method,rtol");
  for (int at_end = 0; at_end < 2; ++at_end)
    for (int k = 0; k < VARIABLES; ++k)
      fprintf(csv, ",%s_error%s", automatic_variable_name(k), at_end ? "_at_end" : "");
  fprintf(csv, ",steps,rejected_steps,failed_steps,newton_iterations,force_evaluations,"
               "jacobian_evaluations,factorizations,solves\n");
}

// ---- slopes and goals -----------------------------------------------------------------------------------

/// Goals: error of each variable against steps, slope 2 (1.8 counts: fitted over few points; at one time alone
/// an error may pass through zero, so none for the end error); error of the worst variable against rtol, slope 1 to 0.1, of each
/// and at the end to 0.15; ten times less rtol never makes the error more than twice as large.
static const double LEAST_ORDER = 1.8, SLOPE_OFF = 0.1, EACH_SLOPE_OFF = 0.15, MOST_GROWTH = 2.0;

typedef struct verdict {
  int checked, missed;
} verdict;

/// Fits a series of errors against steps (all, and without the coarsest) and against rtol, prints the slopes
/// and the worst growth from one rtol to the next, and what of that misses a goal.
static void judge(const char *problem, int method, const char *what, const series *s,
                  const double *error, double least_order, double slope_off, verdict *v) {
  double steps[TOLERANCES], growth = 0.0;
  for (int i = 0; i < TOLERANCES; ++i) {
    steps[i] = (double)s->run[i].work.steps;
    if (i > 0) growth = fmax(growth, error[i] / error[i - 1]);
  }
  const double order = -automatic_slope(steps, error, TOLERANCES);
  const double fine = -automatic_slope(steps + 1, error + 1, TOLERANCES - 1);
  const double by_rtol = automatic_slope(tolerances, error, TOLERANCES);
  const bool met[] = {order >= least_order, fabs(by_rtol - 1.0) <= slope_off,
                      growth <= MOST_GROWTH};
  printf("%-18s %-8s %-7s %7.2f %7.2f %7.2f %7.2f", problem, method_names[method], what, order,
         fine, by_rtol, growth);
  ++v->checked;
  if (!(met[0] && met[1] && met[2])) {
    ++v->missed;
    printf("  MISSED:%s%s%s", met[0] ? "" : " steps", met[1] ? "" : " rtol",
           met[2] ? "" : " growth");
  }
  printf("\n");
}

static void judge_all(const automatic_problem *p, int method, const series *s, verdict *v) {
  double error[TOLERANCES];
  for (int k = 0; k < VARIABLES; ++k) {
    if (p->count[k] == 0) continue;
    for (int i = 0; i < TOLERANCES; ++i) error[i] = s->run[i].overall[k];
    judge(p->name, method, automatic_variable_name(k), s, error, LEAST_ORDER, EACH_SLOPE_OFF, v);
  }
  for (int i = 0; i < TOLERANCES; ++i) error[i] = worst(s->run[i].at_end);
  judge(p->name, method, "at end", s, error, 0.0, EACH_SLOPE_OFF, v);
  for (int i = 0; i < TOLERANCES; ++i) error[i] = worst(s->run[i].overall);
  judge(p->name, method, "worst", s, error, 0.0, SLOPE_OFF, v);
}

static void print_slopes(const subject *all, int n) {
  verdict v = {0};
  printf("\n== slopes of the error: against steps (all; without rtol = 1e-3) and rtol; its worst "
         "growth "
         "from one rtol to the next\n");
  printf("%-18s %-8s %-7s %7s %7s %7s %7s\n", "problem", "method", "error", "steps", "fine", "rtol",
         "growth");
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < METHODS; ++m)
      if (all[i].of[m].offered) judge_all(all[i].p, m, &all[i].of[m], &v);
  printf(
      "goals: slope against steps at least %.1f, against rtol 1 within %g (worst) or %g, growth at "
      "most %.0f: %d of %d series meet them\n",
      LEAST_ORDER, SLOPE_OFF, EACH_SLOPE_OFF, MOST_GROWTH, v.checked - v.missed, v.checked);
}

/// The end error over rtol, the largest and the smallest over the tolerances: what to expect.
static void print_constants(const subject *all, int n) {
  printf("\n== end error of the worst variable over rtol, least and most over all rtol\n");
  printf("%-18s", "problem");
  for (int m = 0; m < METHODS; ++m) printf(" %15s", method_names[m]);
  printf("\n");
  for (int i = 0; i < n; ++i) {
    printf("%-18s", all[i].p->name);
    for (int m = 0; m < METHODS; ++m) {
      double least = (double)INFINITY, most = 0.0;
      for (int j = 0; j < TOLERANCES && all[i].of[m].offered; ++j) {
        const double c = worst(all[i].of[m].run[j].at_end) / tolerances[j];
        least = fmin(least, c);
        most = fmax(most, c);
      }
      if (all[i].of[m].offered)
        printf(" %6.2f .. %5.2f", least, most);
      else
        printf(" %15s", "-");
    }
    printf("\n");
  }
}

// ---- fixed steps ----------------------------------------------------------------------------------------

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// The fastest of a few repetitions [s].
static double time_of(const automatic_problem *p, const as_integrator_def *def) {
  double least = (double)INFINITY;
  for (int i = 0; i < 5; ++i) {
    const double start = seconds();
    (void)automatic_integrate(p, def, AUTOMATIC_THIRDS);
    least = fmin(least, seconds() - start);
  }
  return least;
}

/// Counted work, in Newton iterations: a factorization with its Jacobian costs about three of them
/// (docs/performance.md).
static double work_of(const as_statistics *w) {
  return (double)w->newton_iterations + 3.0 * (double)w->factorizations;
}

typedef struct fixed {
  bool found;
  automatic_run run;
  as_integrator_def def;
} fixed;

/// The largest fixed step whose error, that of the worst variable, does not exceed `error`: the first that is
/// found on the way from coarse to fine in steps of five percent.
static fixed find_fixed(const automatic_problem *p, int method, double newton_rtol, double error) {
  enum { MOST_STEPS = 3000000 };
  fixed f = {.def = as_default_integrator_def()};
  f.def.method = methods[method];
  f.def.newton.rtol = newton_rtol;
  for (double n = 10.0; AUTOMATIC_THIRDS * n < MOST_STEPS && !f.found;
       n = fmax(n + 1.0, 1.05 * n)) {
    f.def.step = (p->t_end - p->t0) / (AUTOMATIC_THIRDS * floor(n));
    f.run = automatic_integrate(p, &f.def, AUTOMATIC_THIRDS);
    f.found = f.run.status == AS_OK && worst(f.run.at_thirds) <= error;
  }
  return f;
}

typedef struct ratios {
  double iterations, factorizations, work, time;
} ratios;

static ratios compare(const automatic_problem *p, const as_integrator_def *def,
                      const automatic_run *r, const fixed *f) {
  const as_statistics *a = &r->work, *b = &f->run.work;
  return (ratios){(double)a->newton_iterations / (double)b->newton_iterations,
                  (double)a->factorizations / (double)b->factorizations, work_of(a) / work_of(b),
                  time_of(p, def) / time_of(p, &f->def)};
}

static void compare_with_fixed(const automatic_problem *p, int method, FILE *csv) {
  const series at_these = make_series(p, method, compared), *s = &at_these;
  double mean[2][3] = {{0.0}}; // of logarithms
  for (int i = 0; i < TOLERANCES; ++i) {
    const automatic_run *r = &s->run[i];
    as_integrator_def def = as_default_integrator_def();
    def.method = methods[method];
    def.tolerance.rtol = compared[i];
    const double newton[2] = {0.1 * pow(compared[i] / 3.0, 1.5), 1e-8};
    for (int k = 0; k < 2; ++k) {
      const fixed f = find_fixed(p, method, newton[k], worst(r->at_thirds));
      if (!f.found) {
        printf("%-18s %-8s %6.0e: no fixed step reaches %.1e\n", p->name, method_names[method],
               compared[i], worst(r->at_thirds));
        continue;
      }
      const ratios q = compare(p, &def, r, &f);
      const as_statistics *a = &r->work, *b = &f.run.work;
      printf("%-18s %-8s %6.1e %8.1e %6.0e %6ld %6ld %7ld %7ld %6ld %6ld %6.2f %6.2f %6.2f %6.2f\n",
             p->name, method_names[method], compared[i], worst(r->at_thirds), newton[k], a->steps,
             b->steps, a->newton_iterations, b->newton_iterations, a->factorizations,
             b->factorizations, q.iterations, q.factorizations, q.work, q.time);
      fflush(stdout);
      if (csv)
        fprintf(csv, "%s,%s,%.0e,%.4e,%.0e,%ld,%ld,%ld,%ld,%ld,%ld,%.4f,%.4f,%.4f,%.3f\n", p->name,
                method_names[method], compared[i], worst(r->at_thirds), newton[k], a->steps,
                b->steps, a->newton_iterations, b->newton_iterations, a->factorizations,
                b->factorizations, q.iterations, q.factorizations, q.work, q.time);
      mean[k][0] += log(q.iterations) / TOLERANCES;
      mean[k][1] += log(q.factorizations) / TOLERANCES;
      mean[k][2] += log(q.work) / TOLERANCES;
    }
  }
  for (int k = 0; k < 2; ++k)
    printf(
        "%-18s %-8s mean ratios, fixed steps with newton.rtol %s: iterations %.2f, factorizations "
        "%.2f, work %.2f (goal: below 1, aim 0.6)\n",
        p->name, method_names[method], k ? "1e-8" : "a tenth of a step's tolerance",
        exp(mean[k][0]), exp(mean[k][1]), exp(mean[k][2]));
}

// ---- for the documentation ------------------------------------------------------------------------------

/// The slope of the error of the worst variable, over all times, against rtol.
static double slope_of(const series *s) {
  double error[TOLERANCES];
  for (int i = 0; i < TOLERANCES; ++i) error[i] = worst(s->run[i].overall);
  return automatic_slope(tolerances, error, TOLERANCES);
}

/// The table of docs/automatic-steps.md: the end error over rtol, and the steps.
static void print_markdown(const subject *all, int n) {
  printf("| problem | method |");
  for (int i = 0; i < TOLERANCES; ++i) printf(" rtol %.0e |", tolerances[i]);
  printf(" slope |\n|---|---|");
  for (int i = 0; i <= TOLERANCES; ++i) printf("---|");
  printf("\n");
  for (int k = 0; k < n; ++k)
    for (int m = 0; m < METHODS; ++m) {
      const series *s = &all[k].of[m];
      if (!s->offered) continue;
      printf("| %s | %s |", all[k].p->name, method_names[m]);
      for (int i = 0; i < TOLERANCES; ++i)
        printf(" %.2g, %ld |", worst(s->run[i].at_end) / tolerances[i], s->run[i].work.steps);
      printf(" %.2f |\n", slope_of(s));
    }
}

// ---- pictures -------------------------------------------------------------------------------------------

/// Error against steps and against rtol, of the default method.
static bool draw(const automatic_problem *p, const series *s, const char *directory) {
  double steps[TOLERANCES], error[VARIABLES][TOLERANCES];
  as_plot picture = {.kind = AS_PLOT_ORDERS,
                     .title = p->name,
                     .note =
                         "index-2, automatic steps, rtol = 10^{\u22123} to 10^{\u22127}; errors "
                         "relative to the size of a variable, over 30 times",
                     .same_scale = true,
                     .n_panels = 2};
  picture.panel[0] = (as_plot_panel){.title = "error against steps",
                                     .x_label = "steps",
                                     .y_label = "error",
                                     .guides = {-2.0, 0.0},
                                     .decades = true};
  picture.panel[1] = (as_plot_panel){.title = "error against tolerance",
                                     .x_label = "rtol",
                                     .y_label = "error",
                                     .guides = {1.0, 0.0},
                                     .decades = true};
  for (int i = 0; i < TOLERANCES; ++i) steps[i] = (double)s->run[i].work.steps;
  for (int k = 0; k < VARIABLES; ++k) {
    if (p->count[k] == 0) continue;
    for (int i = 0; i < TOLERANCES; ++i) error[k][i] = s->run[i].overall[k];
    const int c = picture.n_curves++;
    picture.label[c] = automatic_variable_name(k);
    picture.panel[0].curve[c] = (as_plot_curve){.x = steps, .y = error[k], .n = TOLERANCES};
    picture.panel[1].curve[c] = (as_plot_curve){.x = tolerances, .y = error[k], .n = TOLERANCES};
  }
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.svg", directory, p->name);
  FILE *out = fopen(path, "w");
  if (out) as_plot_write(out, &picture);
  if (out && fclose(out) == 0) return true;
  perror(path);
  return false;
}

// ---- arguments ------------------------------------------------------------------------------------------

static FILE *open_csv(const char *path) {
  if (path == NULL) return NULL;
  FILE *file = fopen(path, "w");
  if (file) return file;
  perror(path);
  exit(4);
}

static bool close_csv(FILE *file, const char *path) {
  if (file == NULL || fclose(file) == 0) return true;
  perror(path);
  return false;
}

static int usage(void) {
  fprintf(stderr, "usage: accuracy [--csv FILE] [--fixed-csv FILE] [--plot DIR] [PROBLEM ...]\n"
                  "       accuracy --markdown\n"
                  "problems:");
  for (int i = 0; i < automatic_count(); ++i) fprintf(stderr, " %s", automatic_name(i));
  fprintf(stderr, "\n");
  return 2;
}

static void print_comparison(const subject *all, int n, FILE *csv) {
  if (csv)
    fprintf(csv, "problem,method,rtol,error,fixed_newton_rtol,steps,fixed_steps,newton_iterations,"
                 "fixed_newton_iterations,factorizations,fixed_factorizations,iterations_ratio,"
                 "factorizations_ratio,work_ratio,time_ratio\n");
  printf("\n== automatic against fixed steps, for the same error of the worst variable\n");
  printf("%-18s %-8s %6s %8s %6s %13s %15s %13s %27s\n", "", "", "", "", "newton", "steps",
         "newton", "factor", "ratios");
  printf("%-18s %-8s %6s %8s %6s %6s %6s %7s %7s %6s %6s %6s %6s %6s %6s\n", "problem", "method",
         "rtol", "error", "fixed", "auto", "fixed", "auto", "fixed", "auto", "fixed", "newton",
         "factor", "work", "time");
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < METHODS && all[i].p->varies; ++m)
      if (all[i].of[m].offered) compare_with_fixed(all[i].p, m, csv);
}

int main(int argc, char **argv) {
  enum { MOST = 32 };
  static subject all[MOST];
  const char *csv_path = NULL, *fixed_path = NULL, *directory = NULL;
  const bool markdown = argc > 1 && strcmp(argv[1], "--markdown") == 0;
  int first = markdown ? 2 : 1, n = 0;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    const char **where = strcmp(argv[first], "--csv") == 0         ? &csv_path
                         : strcmp(argv[first], "--fixed-csv") == 0 ? &fixed_path
                         : strcmp(argv[first], "--plot") == 0      ? &directory
                                                                   : NULL;
    if (where == NULL) return usage();
    *where = argv[first + 1];
  }
  for (int i = 0; i < automatic_count() && n < MOST; ++i) {
    bool wanted = first == argc;
    for (int a = first; a < argc; ++a) wanted = wanted || strcmp(argv[a], automatic_name(i)) == 0;
    if (wanted) all[n++].p = automatic_open(i);
  }
  if (n == 0) return usage();
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < METHODS; ++m) all[i].of[m] = make_series(all[i].p, m, tolerances);

  bool written = true;
  if (markdown) {
    print_markdown(all, n);
  } else {
    FILE *csv = open_csv(csv_path), *fixed_csv = open_csv(fixed_path);
    if (csv) write_csv_header(csv);
    print_header();
    for (int i = 0; i < n; ++i) {
      for (int m = 0; m < METHODS; ++m) {
        if (!all[i].of[m].offered) continue;
        print_series(all[i].p, m, &all[i].of[m]);
        if (csv) write_series(csv, all[i].p, m, &all[i].of[m]);
      }
      if (directory) written = draw(all[i].p, &all[i].of[INDEX2], directory) && written;
    }
    print_slopes(all, n);
    print_constants(all, n);
    print_comparison(all, n, fixed_csv);
    written = close_csv(csv, csv_path) && written;
    written = close_csv(fixed_csv, fixed_path) && written;
  }
  for (int i = 0; i < n; ++i) automatic_close(all[i].p);
  return written ? 0 : 4;
}

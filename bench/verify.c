/// All problems with known solutions, by each method that takes them: observed orders of given steps in every variable, and errors against the
/// tolerance of automatic steps. One page with a verdict for each.
///
/// usage: verify [--page FILE] [--csv FILE] [PROBLEM ...]
///
/// Errors are the largest over components and over eight times, each relative to the largest of its component on the way (not below a hundredth of
/// the largest of its kind). Given steps: halved until the error of the best variable reaches round-off or the work its limit; the order is that
/// of the last pair of steps whose errors are above round-off, the digits are those of the best step. Exit status: 1 if a row falls short.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "page.h"
#include "problems/mechatronic.h"
#include "problems/nonholonomic.h"
#include "problems/problems.h"

enum { Q, V, VDOT, LAMBDA, PSI, X, Y, VARIABLES };
enum { TIMES = 8, HALVINGS = 12, TOLERANCES = 4, METHODS = 3 };
static const char *const names[VARIABLES] = {"q", "v", "v'", "lambda", "psi", "x", "y"};
static const as_method methods[METHODS] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[METHODS] = {"index-3", "index-2", "SOI2"};
static const double tolerances[TOLERANCES] = {1e-3, 1e-4, 1e-5, 1e-6};

/// Goals. Order of given steps; the end error over rtol, at most; from one rtol to the next, where it is above rtol, it grows by this at most.
static const double LEAST_ORDER = 1.85, MOST_CONSTANT = 60.0, MOST_GROWTH = 0.7;
/// Errors that count for the order, in least errors: of order 2 with round-off of their size beside them, these are off by a tenth at most.
static const double ABOVE = 10.0;
/// Round-off of each variable, and what references are good for.
static const double FLOOR[VARIABLES] = {1e-10, 1e-9, 1e-7, 1e-7, 1e-7, 1e-9, 1e-7};
enum { MOST_STEPS = 200000 };

typedef struct subject {
  const char *name;
  as_problem_def def;
  double t0, t_end;
  const double *q0, *v0, *x0;
  const test_problem *plain;
  const nonholonomic_problem *rolling;
  const mechatronic_problem *controlled;
  as_problem *problem;
  const as_space *space;
  int count[VARIABLES], offset[VARIABLES + 1];
  double *exact[TIMES]; ///< all variables at the times, NAN: not known
  double *size;         ///< of each component
} subject;

static _Noreturn void stop(const char *name, const as_error *error) {
  fprintf(stderr, "verify: %s: %s\n", name, error->message);
  exit(3);
}

static void *take(size_t n) {
  double *x = calloc(n + 1, sizeof *x);
  if (x == NULL) abort();
  return x;
}

static double time_of(const subject *s, int i) {
  return s->t0 + (s->t_end - s->t0) * (i + 1) / TIMES;
}

static void solve(const subject *s, int i) {
  double *at[VARIABLES];
  for (int k = 0; k < VARIABLES; ++k) at[k] = s->exact[i] + s->offset[k];
  const double t = time_of(s, i);
  for (int j = 0; j < s->offset[VARIABLES]; ++j) s->exact[i][j] = (double)NAN;
  if (s->plain) s->plain->exact(s->plain, t, at[Q], at[V], at[VDOT], at[LAMBDA]);
  if (s->rolling) s->rolling->exact(s->rolling, t, at[Q], at[V], at[VDOT], at[LAMBDA], at[PSI]);
  if (s->controlled)
    s->controlled->exact(s->controlled, t, at[Q], at[V], at[VDOT], at[LAMBDA], at[X], at[Y]);
}

static void open_subject(subject *s) {
  as_error error;
  if (as_problem_create(&s->def, &s->problem, &error)) stop(s->name, &error);
  s->space = as_problem_space(s->problem);
  const as_sizes n = as_problem_sizes(s->problem);
  const int count[VARIABLES] = {n.q, n.v, n.v, n.lambda, n.psi, n.x, n.y};
  for (int k = 0; k < VARIABLES; ++k) {
    s->count[k] = count[k];
    s->offset[k + 1] = s->offset[k] + count[k];
  }
  const size_t all = (size_t)s->offset[VARIABLES];
  s->size = take(all);
  for (int i = 0; i < TIMES; ++i) {
    s->exact[i] = take(all);
    solve(s, i);
  }
  for (int k = 0; k < VARIABLES; ++k) {
    double most = 0.0;
    for (int j = s->offset[k]; j < s->offset[k + 1]; ++j)
      for (int i = 0; i < TIMES; ++i) {
        if (fabs(s->exact[i][j]) > s->size[j]) s->size[j] = fabs(s->exact[i][j]);
        most = fmax(most, s->size[j]);
      }
    for (int j = s->offset[k]; j < s->offset[k + 1]; ++j)
      s->size[j] = fmax(s->size[j], most > 0.0 ? 0.01 * most : 1.0);
  }
}

static void close_subject(subject *s) {
  for (int i = 0; i < TIMES; ++i) free(s->exact[i]);
  free(s->size);
  as_problem_destroy(s->problem);
}

typedef struct errors {
  double of[VARIABLES]; ///< NAN: not known
  as_status status;
  double h; ///< of given steps [s]
} errors;

static void compare(const subject *s, int i, const as_state *state, errors *e) {
  const double *found[VARIABLES] = {state->q,   state->v, state->vdot, state->lambda,
                                    state->psi, state->x, state->y};
  double *d = take((size_t)s->offset[VARIABLES] + (size_t)s->count[V]);
  const double *q = s->exact[i];
  as_space_difference(s->space, q, found[Q],
                      d); // increments have the sizes of what they move, or 1 rad
  for (int j = 0; j < s->count[V]; ++j) {
    const bool flat = s->count[Q] == s->count[V];
    e->of[Q] = fmax(e->of[Q], fabs(d[j]) / (flat ? s->size[j] : fmax(1.0, s->size[0])));
    if (isnan(d[j])) e->of[Q] = (double)NAN;
  }
  for (int k = V; k < VARIABLES; ++k)
    for (int j = 0; j < s->count[k]; ++j) {
      const double off = fabs(found[k][j] - s->exact[i][s->offset[k] + j]);
      if (!(off / s->size[s->offset[k] + j] <= e->of[k]))
        e->of[k] = off / s->size[s->offset[k] + j];
      if (isnan(off)) e->of[k] = (double)NAN;
    }
  free(d);
}

/// A run; with `rtol` NAN by n steps between two of the times.
static errors run(const subject *s, int method, int n, double rtol) {
  errors e = {.status = AS_OK};
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = methods[method];
  if (isnan(rtol))
    def.step = e.h = (s->t_end - s->t0) / (TIMES * (double)n);
  else
    def.tolerance.rtol = rtol;
  const as_initial initial = {.t = s->t0, .q = s->q0, .v = s->v0, .x = s->x0};
  e.status = as_integrator_create(s->problem, &def, &integrator, &error);
  if (e.status == AS_OK) e.status = as_integrator_start(integrator, &initial, NULL, &error);
  for (int i = 0; i < TIMES && e.status == AS_OK; ++i) {
    e.status = as_integrator_advance(integrator, time_of(s, i), &error);
    if (e.status == AS_OK) compare(s, i, as_integrator_state(integrator), &e);
  }
  as_integrator_destroy(integrator);
  return e;
}

// ---- what comes out -------------------------------------------------------------------------------

typedef struct row {
  const char *problem, *method, *variable;
  double error, order; ///< given steps: of the finest one; order NAN: below round-off throughout
  double h;            ///< the finest step [s]
  double constant[2];  ///< error over rtol at 1e-3 and 1e-6
  double growth;       ///< the largest ratio of errors from one rtol to the next
  bool ok;
} row;

typedef struct table {
  row *row;
  int n, most, short_of;
  FILE *csv;
} table;

static void add(table *t, row r) {
  if (t->n == t->most) {
    t->most = 2 * t->most + 64;
    t->row = realloc(t->row, (size_t)t->most * sizeof *t->row);
    if (t->row == NULL) abort();
  }
  t->row[t->n++] = r;
  t->short_of += !r.ok;
  printf("%-26s %-8s %-7s %9.1e %6.2f %9.1e %9.1e %7.2f  %s\n", r.problem, r.method, r.variable,
         r.error, r.order, r.constant[0], r.constant[1], r.growth, r.ok ? "holds" : "FALLS SHORT");
  fflush(stdout);
  if (t->csv)
    fprintf(t->csv, "%s,%s,%s,%.3e,%.4e,%.3f,%.3e,%.3e,%.3f,%d\n", r.problem, r.method, r.variable,
            r.h, r.error, r.order, r.constant[0], r.constant[1], r.growth, r.ok);
}

/// The run with the least error: finer ones have more round-off.
static int best_of(const errors *e, int n, int k) {
  int best = 0;
  for (int i = 1; i < n; ++i)
    if (e[i].of[k] < e[best].of[k]) best = i;
  return best;
}

/// The order of the last pair of steps before that whose errors are well above round-off; NAN: there is none.
static double order_of(const errors *e, int best, int k) {
  for (int i = best; i > 0; --i)
    if (e[i].of[k] > fmax(FLOOR[k], ABOVE * e[best].of[k]) && e[i - 1].of[k] < 0.1)
      return log2(e[i - 1].of[k] / e[i].of[k]);
  return (double)NAN;
}

static bool is_fine(const subject *s, const errors *e) {
  for (int k = 0; k < VARIABLES; ++k)
    if (s->count[k] > 0 && e->of[k] > 1e3 * FLOOR[k]) return false;
  return true;
}

static void verify(const subject *s, int method, table *t) {
  errors fixed[HALVINGS], automatic[TOLERANCES];
  int n = 0, steps = 4;
  for (int i = 0; i < HALVINGS && TIMES * steps <= MOST_STEPS; ++i, steps *= 2) {
    errors e = run(s, method, steps, (double)NAN);
    if (e.status == AS_ERR_UNSUPPORTED) return;
    if (e.status != AS_OK && n == 0) continue; // too coarse to begin with
    fixed[n++] = e;
    if (e.status != AS_OK || (n > 3 && is_fine(s, &e))) break;
  }
  for (int i = 0; i < TOLERANCES; ++i) automatic[i] = run(s, method, 0, tolerances[i]);
  for (int k = 0; k < VARIABLES; ++k) {
    if (s->count[k] == 0 || n == 0 || isnan(fixed[n - 1].of[k])) continue;
    row r = {.problem = s->name, .method = method_names[method], .variable = names[k]};
    const int best = best_of(fixed, n, k);
    r.error = fixed[best].of[k];
    r.h = fixed[best].h;
    r.order = order_of(fixed, best, k);
    bool ran = fixed[n - 1].status == AS_OK;
    for (int i = 0; i < TOLERANCES; ++i) {
      ran = ran && automatic[i].status == AS_OK;
      const double c = automatic[i].of[k];
      if (i == 0) r.constant[0] = c / tolerances[i];
      if (i == TOLERANCES - 1) r.constant[1] = c / tolerances[i];
      if (i > 0 && c > fmax(30.0 * FLOOR[k], tolerances[i]))
        r.growth = fmax(r.growth, c / automatic[i - 1].of[k]);
    }
    r.ok = ran && (isnan(r.order) ? r.error < 100.0 * FLOOR[k] : r.order >= LEAST_ORDER) &&
           (k == VDOT || k == Y || (r.constant[1] <= MOST_CONSTANT && r.growth <= MOST_GROWTH));
    add(t, r);
  }
}

static void write_page(const table *t, const char *path) {
  FILE *out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    exit(4);
  }
  page_begin(out, "Verification");
  fprintf(out,
          "<p>%d rows: every problem with a known solution, every method that takes it, every "
          "variable. %d hold, %d fall short.</p><p>Order and error: given steps, halved until "
          "round-off is near. Error over rtol: automatic steps. Errors are the largest over all "
          "components and eight times, relative to the largest value of the component.</p>"
          "<table class=\"numbers\"><thead><tr><th>problem, method, variable</th><th>step [s]</th>"
          "<th>error</th><th>digits</th><th>order</th><th>error/rtol, 1e-3</th><th>1e-6</th>"
          "<th>verdict</th></tr></thead><tbody>\n",
          t->n, t->n - t->short_of, t->short_of);
  for (int i = 0; i < t->n; ++i) {
    const row *r = &t->row[i];
    fprintf(out, "<tr><td>%s, %s, %s</td><td data-is=\"step [s]\">%.2g</td>", r->problem, r->method,
            r->variable, r->h);
    fprintf(out, "<td data-is=\"error\">%.1e</td><td data-is=\"digits\">%.1f</td>", r->error,
            -log10(fmax(r->error, 1e-16)));
    if (isnan(r->order))
      fprintf(out, "<td data-is=\"order\">round-off</td>");
    else
      fprintf(out, "<td data-is=\"order\">%.2f</td>", r->order);
    fprintf(out,
            "<td data-is=\"error/rtol, 1e-3\">%.2g</td><td data-is=\"1e-6\">%.2g</td>"
            "<td data-is=\"verdict\"><span class=\"verdict %s\">%s</span></td></tr>\n",
            r->constant[0], r->constant[1], r->ok ? "holds" : "fails",
            r->ok ? "holds" : "falls short");
  }
  fprintf(out, "</tbody></table>\n");
  page_end(out);
  if (fclose(out) != 0) {
    perror(path);
    exit(4);
  }
}

static bool is_wanted(const char *name, char **wanted, int n) {
  for (int i = 0; i < n; ++i)
    if (strcmp(wanted[i], name) == 0) return true;
  return n == 0;
}

static void take_subject(subject *s, char **wanted, int n, table *t) {
  if (!is_wanted(s->name, wanted, n)) return;
  open_subject(s);
  for (int m = 0; m < METHODS; ++m) verify(s, m, t);
  close_subject(s);
}

#define SUBJECT(from)                                                                              \
  .name = (from)->name, .def = (from)->def, .t0 = (from)->t0, .t_end = (from)->t_end,              \
  .q0 = (from)->q0, .v0 = (from)->v0

int main(int argc, char **argv) {
  const char *page = NULL, *csv = NULL;
  int first = 1;
  for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
    if (strcmp(argv[first], "--page") == 0)
      page = argv[first + 1];
    else if (strcmp(argv[first], "--csv") == 0)
      csv = argv[first + 1];
    else
      break;
  }
  if (first < argc && argv[first][0] == '-') {
    fprintf(stderr, "usage: verify [--page FILE] [--csv FILE] [PROBLEM ...]\n");
    return 2;
  }
  table t = {0};
  char **wanted = argv + first;
  const int n = argc - first;
  if (csv && (t.csv = fopen(csv, "w")) == NULL) {
    perror(csv);
    return 4;
  }
  if (t.csv)
    fprintf(t.csv,
            "problem,method,variable,step,error,order,error_over_1e-3,error_over_1e-6,growth,"
            "ok\n");
  printf("%-26s %-8s %-7s %9s %6s %9s %9s %7s\n", "problem", "method", "of", "error", "order",
         "/1e-3", "/1e-6", "growth");
  for (int i = 0; i < problem_count(); ++i)
    take_subject(&(subject){SUBJECT(problem_get(i)), .plain = problem_get(i)}, wanted, n, &t);
  take_subject(&(subject){SUBJECT(problem_stiff_pendulum()), .plain = problem_stiff_pendulum()},
               wanted, n, &t);
  for (int i = 0; i < nonholonomic_count(); ++i)
    take_subject(&(subject){SUBJECT(nonholonomic_get(i)), .rolling = nonholonomic_get(i)}, wanted,
                 n, &t);
  for (int i = 0; i < mechatronic_count(); ++i)
    take_subject(&(subject){SUBJECT(mechatronic_get(i)), .x0 = mechatronic_get(i)->x0,
                            .controlled = mechatronic_get(i)},
                 wanted, n, &t);
  printf("%d rows, %d fall short\n", t.n, t.short_of);
  if (page) write_page(&t, page);
  if (t.csv && fclose(t.csv) != 0) {
    perror(csv);
    return 4;
  }
  free(t.row);
  return t.short_of > 0 || t.n == 0 ? 1 : 0;
}

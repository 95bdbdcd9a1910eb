// The page of `alphastep study`: results over all runs, plots, the table.
//
// What is plotted depends on which parameters differ from run to run. One with numbers: a curve of each result. Two on a grid: curves over one of
// them for up to five values of the other, else a map of coloured cells. Random ones, or more: points of each result over each
// parameter.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/plot.h"
#include "base/json.h"
#include "html.h"
#include "page.h"
#include "study.h"

enum {
  MOST_ROWS = 1000,   // of the table
  MOST_PLOTS = 24,    // of points
  MOST_POINTS = 2000, // of a plot
  MOST_CELLS = 10000, // of a map
};

// ---- which parameters

typedef struct varied {
  int parameter[2]; // those that differ, the first two
  int n;            // how many there are
  bool random;      // one of them at least is random
} varied;

static varied find_varied(const as_study *s) {
  varied v = {.n = 0};
  for (int i = 0; i < as_study_parameters(s); i++) {
    const long values = as_study_values(s, i);
    if (values == 1) continue;
    if (v.n < 2) v.parameter[v.n] = i;
    v.n++;
    v.random = v.random || values == 0;
  }
  return v;
}

static bool has_numbers(const as_study *s, int parameter) {
  const long values = as_study_values(s, parameter), runs = as_study_runs(s);
  for (long i = 0, seen = 0; i < runs && seen < values; i++, seen++)
    if (isnan(as_study_number(s, i, parameter))) return false;
  // Values of a grid come in blocks: look at one of each.
  const long block = runs / (values > 0 ? values : 1);
  for (long i = 0; i<runs; i += block> 0 ? block : 1)
    if (isnan(as_study_number(s, i, parameter))) return false;
  return true;
}

static void result_title(const as_study *s, int result, char *text, size_t size) {
  snprintf(text, size, "%.160s [%.40s]", as_study_result_get(s, result).name,
           as_study_result_unit(s, result));
}

static void begin_figure(FILE *out, const as_study *s, int result) {
  fputs("<figure style=\"flex:1 1 420px\"><figcaption>", out);
  asi_html_text(out, as_study_result_get(s, result).name);
  fputs(" [", out);
  asi_html_text(out, as_study_result_unit(s, result));
  fputs("]</figcaption>\n", out);
}

// ---- curves and points

static as_plot begin_plot(const char *label, const char *x_label, const char *y_label) {
  as_plot p = {.kind = AS_PLOT_TRACES, .title = "", .note = "", .bare = true, .n_panels = 1};
  p.panel[0] = (as_plot_panel){.title = "", .x_label = x_label, .y_label = y_label};
  p.label[0] = label;
  return p;
}

/// Sorts pairs x, y by x.
static int by_x(const void *a, const void *b) {
  const double *p = a, *q = b;
  return p[0] < q[0] ? -1 : p[0] > q[0];
}

/// A curve of the runs for which `other` has its value number k (other < 0: of all). NULL: there is no memory.
static double *make_curve(const as_study *s, int result, int over, int other, long first, int *n) {
  const long runs = as_study_runs(s);
  double(*pair)[2] = calloc((size_t)runs, sizeof *pair);
  double *xy = calloc(2 * (size_t)runs, sizeof *xy);
  *n = 0;
  if (pair == NULL || xy == NULL) {
    free(pair);
    free(xy);
    return NULL;
  }
  char wanted[200], there[200];
  if (other >= 0) (void)as_study_setting(s, first, other, wanted, sizeof wanted);
  for (long i = 0; i < runs; i++) {
    if (other >= 0) (void)as_study_setting(s, i, other, there, sizeof there);
    if (other >= 0 && strcmp(wanted, there) != 0) continue;
    pair[*n][0] = as_study_number(s, i, over);
    pair[(*n)++][1] = as_study_run_get(s, i).value[result];
  }
  qsort(pair, (size_t)*n, sizeof *pair, by_x);
  for (int i = 0; i < *n; i++) {
    xy[i] = pair[i][0];
    xy[*n + i] = pair[i][1];
  }
  free(pair);
  return xy;
}

/// Curves over a parameter, one for each value of the other (-1: there is none).
static void write_curves(FILE *out, const as_study *s, int result, int over, int other) {
  char title[240], label[AS_PLOT_CURVES][240];
  double *xy[AS_PLOT_CURVES] = {NULL};
  result_title(s, result, title, sizeof title);
  const char *path = as_study_parameter_get(s, over).path;
  as_plot p = begin_plot("", path, title);
  const long curves = other >= 0 ? as_study_values(s, other) : 1;
  // The other's values are those of the runs at the beginning of its blocks.
  const long stride = other < 0 ? 1 : other > over ? 1 : as_study_runs(s) / curves;
  for (long k = 0; k < curves && k < AS_PLOT_CURVES; k++) {
    as_plot_curve *c = &p.panel[0].curve[k];
    xy[k] = make_curve(s, result, over, other, k * stride, &c->n);
    if (xy[k] == NULL) {
      cli_note_incomplete();
      break;
    }
    c->x = xy[k];
    c->y = xy[k] + c->n;
    if (other >= 0) {
      char value[100];
      (void)as_study_setting(s, k * stride, other, value, sizeof value);
      snprintf(label[k], sizeof label[k], "%.120s = %.100s", as_study_parameter_get(s, other).path,
               value);
      p.label[k] = label[k];
    }
    p.n_curves++;
  }
  begin_figure(out, s, result);
  if (other >= 0) {
    fputs("<ul class=\"legend\">", out);
    for (int k = 0; k < p.n_curves; k++) {
      fputs("<li>", out);
      as_plot_write_sample(out, &p, k);
      asi_html_text(out, p.label[k]);
      fputs("</li>", out);
    }
    fputs("</ul>\n", out);
  }
  as_plot_write_panel(out, &p, 0);
  fputs("</figure>\n", out);
  for (int k = 0; k < AS_PLOT_CURVES; k++) free(xy[k]);
}

/// Points of a result over a parameter: what is no number between two of them parts the line.
static void write_points(FILE *out, const as_study *s, int result, int parameter) {
  const long runs = as_study_runs(s), every = (runs + MOST_POINTS - 1) / MOST_POINTS;
  double *xy = calloc(4 * (size_t)MOST_POINTS, sizeof *xy);
  if (xy == NULL) {
    cli_note_incomplete();
    return;
  }
  int n = 0;
  double *y = xy + 2 * MOST_POINTS;
  for (long i = 0; i < runs; i += every, n += 2) {
    xy[n] = as_study_number(s, i, parameter);
    y[n] = as_study_run_get(s, i).value[result];
    xy[n + 1] = y[n + 1] = (double)NAN;
  }
  char title[240];
  result_title(s, result, title, sizeof title);
  as_plot p = begin_plot("", as_study_parameter_get(s, parameter).path, title);
  p.panel[0].curve[0] = (as_plot_curve){.x = xy, .y = y, .n = n};
  p.n_curves = 1;
  begin_figure(out, s, result);
  as_plot_write_panel(out, &p, 0);
  fputs("</figure>\n", out);
  free(xy);
}

// ---- maps

enum {
  MAP_LEFT = 90,
  MAP_TOP = 12,
  MAP_WIDTH = 420,
  MAP_HEIGHT = 300,
  MAP_BAR = 26,
  MAP_ALL = 640
};

/// From the least (0) to the largest (1): blue over grey to red, as of points of a sweep.
static void write_colour(FILE *out, double share) {
  fprintf(out, "hsl(%.0f 75%% %.0f%%)", 210.0 - 195.0 * share, 38.0 + 34.0 * share);
}

static void write_tick(FILE *out, double x, double y, const char *anchor, const char *text) {
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#666666\">", x, y, anchor);
  asi_html_text(out, text);
  fputs("</text>\n", out);
}

static void short_value(const as_study *s, long run, int parameter, char text[40]) {
  const double x = as_study_number(s, run, parameter);
  if (isnan(x))
    (void)as_study_setting(s, run, parameter, text, 40);
  else
    snprintf(text, 40, "%.5g", x);
}

static void write_cell(FILE *out, const as_study *s, long run, int result,
                       const as_study_summary *all, const double box[4]) {
  const as_study_run r = as_study_run_get(s, run);
  const double x = r.value[result], span = all->largest - all->least;
  fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" ", box[0], box[1],
          box[2], box[3]);
  if (isfinite(x)) {
    fputs("fill=\"", out);
    write_colour(out, span > 0.0 ? (x - all->least) / span : 0.5);
    fputs("\"", out);
  } else {
    fputs("fill=\"none\" stroke=\"#999999\" stroke-dasharray=\"2 2\"", out);
  }
  fprintf(out, "><title>run %ld: ", run + 1);
  for (int i = 0; i < as_study_parameters(s); i++) {
    char value[40];
    short_value(s, run, i, value);
    asi_html_text(out, as_study_parameter_get(s, i).path);
    fputs(" = ", out);
    asi_html_text(out, value);
    fputs(", ", out);
  }
  if (isfinite(x))
    fprintf(out, "%.6g", x);
  else
    asi_html_text(out, as_study_outcome_name(r.outcome));
  fputs("</title></rect>\n", out);
}

static void write_bar(FILE *out, const as_study_summary *all) {
  const double x = MAP_LEFT + MAP_WIDTH + 24.0;
  for (int i = 0; i < 50; i++) {
    fprintf(out, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" fill=\"", x,
            MAP_TOP + MAP_HEIGHT * (49.0 - i) / 50.0, MAP_BAR, MAP_HEIGHT / 50.0 + 0.3);
    write_colour(out, i / 49.0);
    fputs("\"/>\n", out);
  }
  char text[40];
  for (int i = 0; i <= 4; i++) {
    snprintf(text, sizeof text, "%.4g", all->least + (all->largest - all->least) * i / 4.0);
    write_tick(out, x + MAP_BAR + 6.0, MAP_TOP + MAP_HEIGHT * (1.0 - i / 4.0) + 4.0, "start", text);
  }
}

static void write_label(FILE *out, const char *path, const char *place) {
  fprintf(out, "<text %s text-anchor=\"middle\" fill=\"#222222\">", place);
  asi_html_text(out, path);
  fputs("</text>\n", out);
}

/// Cells by the values of two parameters: the first to the right, the second upwards.
static void write_map(FILE *out, const as_study *s, int result, const varied *v) {
  const as_study_summary all = as_study_summarize(s, result);
  const long n = as_study_values(s, v->parameter[0]), m = as_study_values(s, v->parameter[1]);
  const double wide = (double)MAP_WIDTH / (double)n, high = (double)MAP_HEIGHT / (double)m;
  char text[40], place[120];
  begin_figure(out, s, result);
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" font-size=\"13\">\n", MAP_ALL,
          MAP_TOP + MAP_HEIGHT + 52);
  for (long i = 0; i < n * m; i++) {
    // The second one varies fastest.
    const long a = i / m, b = i % m;
    const double box[4] = {MAP_LEFT + wide * (double)a, MAP_TOP + high * (double)(m - 1 - b),
                           wide + 0.2, high + 0.2};
    write_cell(out, s, i, result, &all, box);
  }
  for (long a = 0; a < n; a += 1 + (n - 1) / 8) {
    short_value(s, a * m, v->parameter[0], text);
    write_tick(out, MAP_LEFT + wide * ((double)a + 0.5), MAP_TOP + MAP_HEIGHT + 18.0, "middle",
               text);
  }
  for (long b = 0; b < m; b += 1 + (m - 1) / 12) {
    short_value(s, b, v->parameter[1], text);
    write_tick(out, MAP_LEFT - 8.0, MAP_TOP + high * ((double)(m - 1 - b) + 0.5) + 4.0, "end",
               text);
  }
  snprintf(place, sizeof place, "x=\"%d\" y=\"%d\"", MAP_LEFT + MAP_WIDTH / 2,
           MAP_TOP + MAP_HEIGHT + 42);
  write_label(out, as_study_parameter_get(s, v->parameter[0]).path, place);
  snprintf(place, sizeof place, "transform=\"translate(18 %d) rotate(-90)\"",
           MAP_TOP + MAP_HEIGHT / 2);
  write_label(out, as_study_parameter_get(s, v->parameter[1]).path, place);
  if (all.runs > 0) write_bar(out, &all);
  fputs("</svg></figure>\n", out);
}

// ---- all plots

/// For two parameters: over which one there are curves, 0 or 1; -1: a map.
static int choose_curves(const as_study *s, const varied *v) {
  for (int i = 0; i < 2; i++) {
    const int over = v->parameter[i], other = v->parameter[1 - i];
    if (as_study_values(s, other) <= AS_PLOT_CURVES && has_numbers(s, over) &&
        as_study_values(s, over) > 2)
      return i;
  }
  return -1;
}

static void write_plots(FILE *out, const as_study *s) {
  const varied v = find_varied(s);
  const int results = as_study_results(s);
  if (v.n == 0 || as_study_runs(s) == as_study_count(s, AS_STUDY_WAITING)) return;
  fputs("<section class=\"claim\"><h2 style=\"margin-top:0\">Plots</h2>\n<div class=\"panels\">\n",
        out);
  if (v.n == 2 && !v.random && as_study_runs(s) <= MOST_CELLS) {
    const int i = choose_curves(s, &v);
    for (int k = 0; k < results && k < MOST_PLOTS; k++)
      if (i >= 0)
        write_curves(out, s, k, v.parameter[i], v.parameter[1 - i]);
      else
        write_map(out, s, k, &v);
  } else if (v.n == 1 && !v.random && has_numbers(s, v.parameter[0])) {
    for (int k = 0; k < results && k < MOST_PLOTS; k++) write_curves(out, s, k, v.parameter[0], -1);
  } else {
    int plots = 0;
    for (int k = 0; k < results; k++)
      for (int i = 0; i < as_study_parameters(s) && plots < MOST_PLOTS; i++) {
        if (as_study_values(s, i) == 1 || !has_numbers(s, i)) continue;
        write_points(out, s, k, i);
        plots++;
      }
  }
  fputs("</div></section>\n", out);
}

// ---- tables

static void write_results(FILE *out, const as_study *s) {
  fputs(
      "<section class=\"claim\"><h2 style=\"margin-top:0\">Results over all runs</h2>\n"
      "<table class=\"numbers\"><thead><tr><th>result</th><th>unit</th><th>least</th><th>run</th>"
      "<th>largest</th><th>run</th><th>mean</th><th>standard deviation</th></tr></thead><tbody>\n",
      out);
  for (int i = 0; i < as_study_results(s); i++) {
    const as_study_summary all = as_study_summarize(s, i);
    fputs("<tr><td>", out);
    asi_html_text(out, as_study_result_get(s, i).name);
    fputs("</td><td data-is=\"unit\">", out);
    asi_html_text(out, as_study_result_unit(s, i));
    fputs("</td><td data-is=\"least\">", out);
    html_number(out, all.least, 6);
    fprintf(out, "</td><td data-is=\"run\">%ld</td><td data-is=\"largest\">", all.least_run + 1);
    html_number(out, all.largest, 6);
    fprintf(out, "</td><td data-is=\"run\">%ld</td><td data-is=\"mean\">", all.largest_run + 1);
    html_number(out, all.mean, 6);
    fputs("</td><td data-is=\"standard deviation\">", out);
    html_number(out, all.deviation, 3);
    fputs("</td></tr>\n", out);
  }
  fputs("</tbody></table></section>\n", out);
}

static void write_row(FILE *out, const as_study *s, long run) {
  const as_study_run r = as_study_run_get(s, run);
  fprintf(out, "<tr><td>%ld", run + 1);
  if (r.outcome != AS_STUDY_DONE) {
    fprintf(out, " <strong>%s</strong> <span class=\"soft\">", as_study_outcome_name(r.outcome));
    asi_html_text(out, r.message);
    fputs("</span>", out);
  }
  fputs("</td>", out);
  for (int i = 0; i < as_study_parameters(s); i++) {
    char value[200];
    fputs("<td data-is=\"", out);
    asi_html_text(out, as_study_parameter_get(s, i).path);
    fputs("\">", out);
    const double x = as_study_number(s, run, i);
    (void)as_study_setting(s, run, i, value, sizeof value);
    if (isnan(x))
      asi_html_text(out, value);
    else
      html_number(out, x, 6);
    fputs("</td>", out);
  }
  for (int i = 0; i < as_study_results(s); i++) {
    fputs("<td data-is=\"", out);
    asi_html_text(out, as_study_result_get(s, i).name);
    fputs("\">", out);
    html_number(out, r.value[i], 6);
    fputs("</td>", out);
  }
  fputs("</tr>\n", out);
}

static void write_table(FILE *out, const as_study *s) {
  fputs("<section class=\"claim\"><h2 style=\"margin-top:0\">Runs</h2>\n<div "
        "style=\"overflow-x:auto\"><table class=\"numbers runs\"><thead><tr><th>run</th>",
        out);
  for (int i = 0; i < as_study_parameters(s); i++) {
    fputs("<th>", out);
    asi_html_text(out, as_study_parameter_get(s, i).path);
    fputs("</th>", out);
  }
  for (int i = 0; i < as_study_results(s); i++) {
    char text[240];
    result_title(s, i, text, sizeof text);
    fputs("<th>", out);
    asi_html_text(out, text);
    fputs("</th>", out);
  }
  fputs("</tr></thead><tbody>\n", out);
  long rows = 0, more = 0;
  for (long i = 0; i < as_study_runs(s); i++) {
    if (as_study_run_get(s, i).outcome == AS_STUDY_WAITING) continue;
    if (rows < MOST_ROWS)
      write_row(out, s, i), rows++;
    else
      more++;
  }
  fputs("</tbody></table></div>\n", out);
  if (more > 0) fprintf(out, "<p class=\"soft\">%ld more are in table.csv.</p>\n", more);
  fputs("</section>\n", out);
}

void study_write_page(FILE *out, const void *user) {
  const study_job *j = user;
  const as_study *s = j->study;
  const long failed = as_study_count(s, AS_STUDY_FAILED), runs = as_study_runs(s);
  const long over = runs - as_study_count(s, AS_STUDY_WAITING);
  char title[300];
  snprintf(title, sizeof title, "%.200s: a study",
           as_study_title(s) ? as_study_title(s) : as_study_model(s));
  page_begin(out, title);
  fprintf(out, "<p><span class=\"verdict %s\">%ld of %ld run%s %s over",
          failed > 0 || over < runs ? "fails" : "holds", over, runs, runs == 1 ? "" : "s",
          over == 1 ? "is" : "are");
  if (failed > 0) fprintf(out, ", %ld failed", failed);
  fputs("</span></p>\n<p class=\"soft\">", out);
  asi_html_text(out, as_study_model(s));
  fputs("</p></header>\n<main>\n", out);
  write_results(out, s);
  write_plots(out, s);
  write_table(out, s);
  page_end(out);
}

// Figures of the papers: turns the runs of a figure into a plot.
#include <math.h>
#include <string.h>

#include "alphastep/plot.h"
#include "papers.h"

// ---- points

/// A number of a run and of those with twice, four times, ... its step.
static as_status collect_orders(const paper *source, const paper_figure *figure, paper_curve curve,
                                run_result *results, paper_points *out, as_error *error) {
  double step = figure->step;
  out->n = 0;
  for (int run = curve.run; run != PAPER_NONE && out->n < PAPER_POINTS;
       run = source->runs[run].twice) {
    const run_result *result = paper_make_run(source, run, results);
    if (result->status != AS_OK) {
      *error = result->error;
      return result->status;
    }
    out->x[out->n] = step;
    out->y[out->n] = result->out[curve.output];
    out->n++;
    step *= 2.0;
  }
  return AS_OK;
}

// ---- figures

/// The numbers that the paper prints for a run and those with twice, four times, ... its step.
static void collect_published(const paper *source, const paper_figure *figure, paper_curve curve,
                              paper_points *out) {
  double step = figure->step;
  out->n = 0;
  for (int run = curve.run; run != PAPER_NONE; run = source->runs[run].twice) {
    for (int i = 0; i < source->n_rows; i++) {
      const paper_row *row = &source->rows[i];
      if (row->run != run || row->output != curve.output || isnan(row->published)) continue;
      out->x[out->n] = step;
      out->y[out->n] = row->published;
      out->n++;
    }
    step *= 2.0;
  }
}

static as_status collect(const paper *source, const paper_figure *figure, paper_curve curve,
                         bool published, run_result *results, paper_points *out, as_error *error) {
  if (figure->trace != NULL)
    return figure->trace(source->runs[curve.run].setting, curve.output, out->x, out->y, &out->n,
                         error);
  if (!published) return collect_orders(source, figure, curve, results, out, error);
  collect_published(source, figure, curve, out);
  return AS_OK;
}

as_status paper_figure_prepare(const paper *source, const paper_figure *figure, run_result *results,
                               paper_drawing *out, as_error *error) {
  as_plot *p = &out->plot;
  *p = (as_plot){
      .kind = figure->trace == NULL ? AS_PLOT_ORDERS : AS_PLOT_TRACES,
      .title = figure->title,
      .note = figure->note,
      .smooth = figure->smooth,
      .same_scale = figure->same_scale,
      .n_curves = figure->n_curves,
      .n_panels = figure->n_panels,
  };
  memcpy(p->label, figure->label, sizeof p->label);
  for (int i = 0; i < figure->n_panels; i++) {
    const paper_panel *panel = &figure->panel[i];
    p->panel[i].title = panel->title;
    p->panel[i].x_label = figure->x_label;
    p->panel[i].y_label = panel->y_label;
    p->panel[i].guides[0] = 1.0;
    p->panel[i].guides[1] = 2.0;
    for (int c = 0; c < figure->n_curves; c++) {
      if (panel->curve[c].run == PAPER_NONE) continue;
      paper_points *here = &out->points[i][c];
      as_status status =
          collect(source, figure, panel->curve[c], figure->published[c], results, here, error);
      if (status != AS_OK) return status;
      p->panel[i].curve[c] = (as_plot_curve){.x = here->x, .y = here->y, .n = here->n};
    }
  }
  return AS_OK;
}

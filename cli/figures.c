// Figures of `alphastep papers`: turns the runs of a figure into a plot; for `--plot` writes its file.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/plot.h"
#include "cli.h"
#include "folder.h"
#include "papers.h"

// ---- points

/// A number of a run and of those with twice, four times, ... its step.
static as_status collect_orders(const paper *source, const paper_figure *figure, paper_curve curve,
                                run_result *results, paper_points *out) {
  double step = figure->step;
  out->n = 0;
  for (int run = curve.run; run != PAPER_NONE && out->n < PAPER_POINTS;
       run = source->runs[run].twice) {
    const run_result *result = paper_make_run(source, run, figure->name, results);
    if (result->status != AS_OK) return result->status;
    out->x[out->n] = step;
    out->y[out->n] = result->out[curve.output];
    out->n++;
    step *= 2.0;
  }
  return AS_OK;
}

static as_status collect_trace(const paper *source, const paper_figure *figure, paper_curve curve,
                               paper_points *out) {
  as_error error = {.message = ""};
  as_status status =
      figure->trace(source->runs[curve.run].setting, curve.output, out->x, out->y, &out->n, &error);
  if (status != AS_OK) {
    cli_complain("%s: %s: %s", figure->name, as_status_name(status), error.message);
  }
  return status;
}

// ---- files

static cli_exit write_file(const as_plot *p, const char *directory, const char *name) {
  size_t size = strlen(directory) + strlen(name) + sizeof "/.svg";
  char *path = malloc(size);
  if (path == NULL) {
    cli_complain("Out of memory.");
    return CLI_SIMULATION;
  }
  snprintf(path, size, "%s/%s.svg", directory, name);
  cli_exit status = CLI_DONE;
  FILE *out = fopen(path, "w");
  if (out == NULL) {
    status = cli_complain_path(path);
  } else {
    as_plot_write(out, p);
    int failed = ferror(out);
    if (fclose(out) != 0 || failed) status = cli_complain_path(path);
  }
  free(path);
  return status;
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
                         bool published, run_result *results, paper_points *out) {
  if (figure->trace != NULL) return collect_trace(source, figure, curve, out);
  if (!published) return collect_orders(source, figure, curve, results, out);
  collect_published(source, figure, curve, out);
  return AS_OK;
}

cli_exit figure_prepare(const paper *source, const paper_figure *figure, run_result *results,
                        paper_drawing *out) {
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
          collect(source, figure, panel->curve[c], figure->published[c], results, here);
      if (status != AS_OK) return CLI_SIMULATION;
      p->panel[i].curve[c] = (as_plot_curve){.x = here->x, .y = here->y, .n = here->n};
    }
  }
  return CLI_DONE;
}

cli_exit figure_draw(const paper *source, const paper_figure *figure, const char *directory,
                     run_result *results) {
  paper_drawing *drawing = malloc(sizeof *drawing);
  if (drawing == NULL) return cli_complain_memory();
  cli_exit status = figure_prepare(source, figure, results, drawing);
  if (status == CLI_DONE) status = write_file(&drawing->plot, directory, figure->name);
  free(drawing);
  return status;
}

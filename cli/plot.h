/// A small writer of line plots as SVG: one or two panels side by side under a title, a note and a
/// legend that they share. The file stands alone: no scripts, styles or fonts from elsewhere.
///
/// Texts are UTF-8 with a little markup: `*` begins and ends italics, `_{...}` is an index and
/// `^{...}` an exponent.
#ifndef ALPHASTEP_CLI_PLOT_H
#define ALPHASTEP_CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

enum { PLOT_CURVES = 5, PLOT_PANELS = 2 }; ///< at most

/// Points in the order of x. A point that is not finite, or not positive in a log-log plot, is left
/// out. Without points there is no curve.
typedef struct plot_curve {
  const double *x;
  const double *y;
  int n;
} plot_curve;

typedef struct plot_panel {
  const char *title;
  const char *x_label;
  const char *y_label;
  double guides[2]; ///< log-log: slopes of dotted lines; 0: none
  bool decades;     ///< log-log: ticks of x at powers of ten, not where the first curve has points
  plot_curve curve[PLOT_CURVES];
} plot_panel;

typedef enum plot_kind {
  PLOT_TRACES, ///< linear axes
  PLOT_ORDERS, ///< both axes logarithmic
} plot_kind;

typedef struct plot {
  plot_kind kind;
  const char *title;
  const char *note;
  bool smooth;     ///< traces are lines without dots
  bool same_scale; ///< the panels have the same range of y
  int n_curves;
  const char *label[PLOT_CURVES];
  int n_panels;
  plot_panel panel[PLOT_PANELS];
} plot;

/// Writes the plot. Whether that went well is for the caller to ask `out`.
void plot_write(FILE *out, const plot *p);

#endif

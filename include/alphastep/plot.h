/// A small writer of line plots as SVG: one or two panels side by side under a title, a note and a
/// legend that they share. The file stands alone: no scripts, styles or fonts from elsewhere.
///
/// Texts are UTF-8 with a little markup: `*` begins and ends italics, `_{...}` is an index and
/// `^{...}` an exponent.
#ifndef ALPHASTEP_PLOT_H
#define ALPHASTEP_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "alphastep/export.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AS_PLOT_CURVES = 5, AS_PLOT_PANELS = 2 }; ///< at most

/// Points in the order of x. A point that is not finite, or not positive in a log-log plot, is left
/// out. Without points there is no curve.
typedef struct as_plot_curve {
  const double *x;
  const double *y;
  int n;
  const double *band; ///< half the height of a band about it, NAN: none there; NULL: none
} as_plot_curve;

typedef struct as_plot_panel {
  const char *title;
  const char *x_label;
  const char *y_label;
  double guides[2]; ///< log-log: slopes of dotted lines; 0: none
  bool decades;     ///< log-log: ticks of x at powers of ten, not where the first curve has points
  as_plot_curve curve[AS_PLOT_CURVES];
} as_plot_panel;

typedef enum as_plot_kind {
  AS_PLOT_TRACES, ///< linear axes
  AS_PLOT_ORDERS, ///< both axes logarithmic
} as_plot_kind;

typedef struct as_plot {
  as_plot_kind kind;
  const char *title;
  const char *note;
  bool smooth;     ///< traces are lines without dots
  bool same_scale; ///< the panels have the same range of y
  bool bare;       ///< to stand in a page: no title, note and background; of class `plot`
  int n_curves;
  const char *label[AS_PLOT_CURVES];
  int n_panels;
  as_plot_panel panel[AS_PLOT_PANELS];
} as_plot;

/// Writes the plot. Whether that went well is for the caller to ask `out`.
AS_API void as_plot_write(FILE *out, const as_plot *p);

/// One panel alone as an element `svg` of an HTML page, which has to show title, note and legend itself. It
/// has no background, and its colours are attributes, which the page's style may override.
AS_API void as_plot_write_panel(FILE *out, const as_plot *p, int panel);
/// A piece of a curve's line for the page's legend, likewise.
AS_API void as_plot_write_sample(FILE *out, const as_plot *p, int curve);

#ifdef __cplusplus
}
#endif

#endif

/// Pages that stand alone, in one look: their frame, and plots of points.
#ifndef ALPHASTEP_CLI_PAGE_H
#define ALPHASTEP_CLI_PAGE_H

#include <stdio.h>

/// The style of all pages.
void page_style(FILE *out);
/// Everything up to what stands below the title. The title is text.
void page_begin(FILE *out, const char *title);
void page_end(FILE *out);

/// A point of a plot; `shade` 0 to 1 is its colour, from the first value of a sweep to the last.
typedef struct page_point {
  double x, y, shade;
} page_point;

/// Points in a plane with linear axes, zero among them; as an element `svg`.
void page_points(FILE *out, const page_point *point, int n, const char *x_label,
                 const char *y_label);

#endif

// Line plots as SVG. Lengths are in user units, one CSS pixel each; y points down.
//
// A panel maps a value x to left + (u(x) - low)/(high - low) width with u(x) = x or log10(x), and y
// likewise from its bottom up.

#include <math.h>
#include <string.h>

#include "alphastep/plot.h"
#include "base/locale.h"

// ---- looks

enum {
  HEIGHT = 520,
  PANEL_WIDTH = 410,
  PANEL_TOP = 128,
  PANEL_HEIGHT = 320,
  LEFT = 84,  // left of each panel, for its y axis
  RIGHT = 26, // right of each panel
  TITLE_Y = 34,
  NOTE_Y = 56,
  LEGEND_Y = 83,
  NARROWEST = 640,
};

/// A panel alone, for a page.
enum {
  PAGE_WIDTH = 440,
  PAGE_HEIGHT = 320,
  PAGE_LEFT = 76,
  PAGE_RIGHT = 16,
  PAGE_TOP = 28,
  PAGE_BOTTOM = 54,
};

static const char INK[] = "#222222";
static const char FAINT_INK[] = "#666666";
static const char GRID[] = "#e4e4e4";
static const char FRAME[] = "#999999";

/// How a curve looks. Those that coincide can be told apart: no two lines have the same dashes, and the first, which lies below the
/// others, has none; a dot lies in an open square.
typedef struct look {
  const char *colour;
  const char *dash;   // of the line, "" if it is full
  const char *marker; // a path around (0, 0)
  bool open;          // the marker is an outline
} look;

static const look looks[AS_PLOT_CURVES] = {
    {"#0b62a4", "", "M-5-5H5V5H-5Z", true},
    {"#d9480f", "7 5", "M-3.2 0A3.2 3.2 0 1 1 3.2 0A3.2 3.2 0 1 1-3.2 0Z", false},
    {"#2b8a3e", "2 4", "M0-5.2L4.8 3.4H-4.8Z", false},
    {"#862e9c", "12 4 2 4", "M0-5L5 0L0 5L-5 0Z", false},
    {"#495057", "3 9", "M0 5.2L4.8-3.4H-4.8Z", true},
};

// ---- text

static void write_escaped(FILE *out, char c) {
  switch (c) {
  case '<': fputs("&lt;", out); break;
  case '>': fputs("&gt;", out); break;
  case '&': fputs("&amp;", out); break;
  default: fputc(c, out);
  }
}

/// Writes text without its markup.
static void write_plain(FILE *out, const char *text) {
  for (; *text != '\0'; text++) {
    if (strchr("*_^{}", *text) == NULL) write_escaped(out, *text);
  }
}

/// Writes one run of characters, moved by dy from the baseline of the one before.
static void write_run(FILE *out, const char *text, size_t n, bool italic, int level, double dy) {
  if (n == 0) return;
  fputs("<tspan", out);
  if (italic) fputs(" font-style=\"italic\"", out);
  if (level != 0) fputs(" font-size=\"75%\"", out);
  if (dy != 0.0) fprintf(out, " dy=\"%g\"", dy);
  fputc('>', out);
  for (size_t i = 0; i < n; i++) write_escaped(out, text[i]);
  fputs("</tspan>", out);
}

/// Writes text with markup. The runs between `*`, `_{`, `^{` and `}` become tspans; each is shifted
/// against the last one that was written, whose level was `at`.
static void write_marked(FILE *out, const char *text) {
  const double rise = 4.5;
  bool italic = false;
  int level = 0; // 1: exponent, -1: index
  int at = 0;
  for (;;) {
    size_t n = 0;
    while (text[n] != '\0' && text[n] != '*' && text[n] != '}' &&
           !((text[n] == '_' || text[n] == '^') && text[n + 1] == '{')) {
      n++;
    }
    write_run(out, text, n, italic, level, rise * (at - level));
    if (n > 0) at = level;
    text += n;
    switch (*text) {
    case '*': italic = !italic; break;
    case '}': level = 0; break;
    case '_': level = -1, text++; break;
    case '^': level = 1, text++; break;
    default: return;
    }
    text++;
  }
}

/// `anchor` is start, middle or end.
static void write_text(FILE *out, double x, double y, const char *anchor, int size,
                       const char *colour, const char *text) {
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" fill=\"%s\">", x, y,
          anchor, size, colour);
  write_marked(out, text);
  fputs("</text>\n", out);
}

/// About how wide a text of size 13 is drawn.
static double width_of(const char *text) {
  double width = 0.0;
  for (; *text != '\0'; text++) {
    bool continues = ((unsigned char)*text & 0xC0) == 0x80; // a further byte of a character
    if (!continues && strchr("*_^{}", *text) == NULL) width += 7.2;
  }
  return width;
}

/// A number with a true minus sign.
static void format_number(char *text, size_t size, double x) {
  snprintf(text, size, "%s%g", x < 0.0 ? "\u2212" : "", fabs(x));
}

// ---- axes

/// The range of an axis, in u, and where it lies on the page.
typedef struct axis {
  bool log;
  double low, high; // of u
  double start;     // where u = low is
  double length;    // from there to u = high; negative: upwards
} axis;

static double scale(const axis *a, double x) { return a->log ? log10(x) : x; }

static double place(const axis *a, double x) {
  return a->start + (scale(a, x) - a->low) / (a->high - a->low) * a->length;
}

/// Numbers beyond that are left out, and spans below its inverse are none: distances of ticks must be numbers.
static const double LARGEST = 1e300;

static bool can_show(as_plot_kind kind, double x, double y) {
  if (!(fabs(x) <= LARGEST && fabs(y) <= LARGEST)) return false;
  return kind == AS_PLOT_TRACES || (x > 0.0 && y > 0.0);
}

static bool has_band(const as_plot *p, const as_plot_curve *curve, int i) {
  return curve->band != NULL && curve->band[i] <= LARGEST &&
         can_show(p->kind, curve->x[i], curve->y[i]) &&
         can_show(p->kind, curve->x[i], curve->y[i] - curve->band[i]);
}

/// Widens the range of x and y by the points of a panel.
static void fit(const as_plot *p, const as_plot_panel *panel, axis *x, axis *y) {
  for (int c = 0; c < p->n_curves; c++) {
    const as_plot_curve *curve = &panel->curve[c];
    for (int i = 0; i < curve->n; i++) {
      if (!can_show(p->kind, curve->x[i], curve->y[i])) continue;
      x->low = fmin(x->low, scale(x, curve->x[i]));
      x->high = fmax(x->high, scale(x, curve->x[i]));
      y->low = fmin(y->low, scale(y, curve->y[i]));
      y->high = fmax(y->high, scale(y, curve->y[i]));
      if (!has_band(p, curve, i)) continue;
      y->low = fmin(y->low, scale(y, curve->y[i] - curve->band[i]));
      y->high = fmax(y->high, scale(y, curve->y[i] + curve->band[i]));
    }
  }
}

/// Adds a margin at both ends, and makes a range of a single value or of none. What differs by less than `least`
/// counts as one value.
static void pad(axis *a, double margin, double least) {
  if (!(a->low <= a->high)) a->low = 0.0, a->high = 1.0;
  double span = a->high - a->low;
  if (span <= least + 1e-8 * fabs(a->low)) {
    margin = 0.5;
    span = fmax(1.0, 1e-6 * fabs(a->low));
  }
  a->low -= margin * span;
  a->high += margin * span;
}

static void write_line(FILE *out, double x1, double y1, double x2, double y2, const char *colour) {
  fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2, colour);
}

static void write_x_tick(FILE *out, const axis *x, const axis *y, double value, const char *text) {
  double at = place(x, value);
  write_line(out, at, y->start, at, y->start + y->length, GRID);
  write_text(out, at, y->start + 20.0, "middle", 12, INK, text);
}

static void write_y_tick(FILE *out, const axis *x, const axis *y, double value, const char *text) {
  double at = place(y, value);
  write_line(out, x->start, at, x->start + x->length, at, GRID);
  write_text(out, x->start - 8.0, at + 4.0, "end", 12, INK, text);
}

static void write_tick(FILE *out, const axis *x, const axis *y, bool along_x, double value,
                       const char *text) {
  (along_x ? write_x_tick : write_y_tick)(out, x, y, value, text);
}

/// The distance 1, 2 or 5 times a power of ten that gives about `wanted` ticks.
static double tick_distance(const axis *a, int wanted) {
  double rough = (a->high - a->low) / wanted;
  double power = pow(10.0, floor(log10(rough)));
  double digit = rough / power;
  return power * (digit < 1.5 ? 1.0 : digit < 3.5 ? 2.0 : digit < 7.5 ? 5.0 : 10.0);
}

/// Ticks at multiples of a round distance.
static void write_linear_ticks(FILE *out, const axis *x, const axis *y, bool along_x) {
  const axis *a = along_x ? x : y;
  double distance = tick_distance(a, 6);
  int last = (int)floor(a->high / distance + 1e-9);
  for (int i = (int)ceil(a->low / distance - 1e-9); i <= last; i++) {
    char text[32];
    format_number(text, sizeof text, i * distance);
    write_tick(out, x, y, along_x, i * distance, text);
  }
}

/// How many of some multiples of powers of ten lie on an axis.
static int count_decade_ticks(const axis *a, const int *digits, int n_digits, int every) {
  int count = 0;
  for (int e = (int)floor(a->low); e <= (int)floor(a->high); e++) {
    for (int k = 0; k < n_digits; k++) {
      double u = e + log10(digits[k]);
      if (u >= a->low && u <= a->high && e % every == 0) count++;
    }
  }
  return count;
}

/// Ticks of a logarithmic axis on which there are hardly any multiples of powers of ten: at multiples of a round distance.
static void write_short_ticks(FILE *out, const axis *x, const axis *y, bool along_x) {
  const axis *a = along_x ? x : y;
  const axis plain = {false, pow(10.0, a->low), pow(10.0, a->high), 0.0, 1.0};
  double distance = tick_distance(&plain, 4);
  int last = (int)floor(plain.high / distance + 1e-9);
  for (int i = (int)ceil(plain.low / distance - 1e-9); i <= last; i++) {
    char text[32];
    format_number(text, sizeof text, i * distance);
    write_tick(out, x, y, along_x, i * distance, text);
  }
}

/// Ticks at powers of ten; on a short axis at multiples of them too, so that there are at least three.
static void write_decade_ticks(FILE *out, const axis *x, const axis *y, bool along_x) {
  static const int some[] = {1, 2, 5}, all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const int *digits = some;
  const axis *a = along_x ? x : y;
  int n_digits = a->high - a->low < 3.0 ? 3 : 1;
  if (n_digits == 3 && count_decade_ticks(a, digits, 3, 1) < 3) {
    digits = all;
    n_digits = 9;
    if (count_decade_ticks(a, digits, 9, 1) < 3) {
      write_short_ticks(out, x, y, along_x);
      return;
    }
  }
  int every = 1 + (int)((a->high - a->low) / 9.0);
  bool plain = a->low > -3.0 && a->high < (along_x ? 6.0 : 4.0);
  for (int e = (int)floor(a->low); e <= (int)floor(a->high); e++) {
    for (int k = 0; k < n_digits; k++) {
      double u = e + log10(digits[k]);
      if (u < a->low || u > a->high || e % every != 0) continue;
      char text[48];
      double value = digits[k] * pow(10.0, e);
      if (plain) {
        snprintf(text, sizeof text, "%g", value);
      } else {
        char factor[16] = "";
        if (digits[k] > 1) snprintf(factor, sizeof factor, "%d\u00b7", digits[k]);
        snprintf(text, sizeof text, "%s10^{%s%d}", factor, e < 0 ? "\u2212" : "", e < 0 ? -e : e);
      }
      write_tick(out, x, y, along_x, value, text);
    }
  }
}

/// Ticks where the first curve has points.
static void write_point_ticks(FILE *out, const as_plot_panel *panel, const axis *x, const axis *y) {
  const as_plot_curve *first = &panel->curve[0];
  for (int i = 0; i < first->n; i++) {
    char text[32];
    format_number(text, sizeof text, first->x[i]);
    write_x_tick(out, x, y, first->x[i], text);
  }
}

static void write_axes(FILE *out, const as_plot *p, const as_plot_panel *panel, const axis *x,
                       const axis *y) {
  if (p->kind == AS_PLOT_ORDERS) {
    if (panel->decades) {
      write_decade_ticks(out, x, y, true);
    } else {
      write_point_ticks(out, panel, x, y);
    }
    write_decade_ticks(out, x, y, false);
  } else {
    write_linear_ticks(out, x, y, true);
    write_linear_ticks(out, x, y, false);
    if (y->low < 0.0 && y->high > 0.0) {
      double zero = y->start - y->low / (y->high - y->low) * y->length;
      write_line(out, x->start, zero, x->start + x->length, zero, FRAME);
    }
  }
  fprintf(out,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
          "stroke=\"%s\"/>\n",
          x->start, y->start + y->length, x->length, -y->length, FRAME);
  double middle = x->start + 0.5 * x->length;
  write_text(out, x->start, y->start + y->length - 10.0, "start", 13, INK, panel->title);
  write_text(out, middle, y->start + 46.0, "middle", 13, INK, panel->x_label);
  fprintf(out, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">", x->start - 60.0,
          y->start + 0.5 * y->length);
  write_text(out, 0.0, 0.0, "middle", 13, INK, panel->y_label);
  fputs("</g>\n", out);
}

// ---- curves

/// Dotted lines from a common point at the bottom, where errors seldom are: rising ones to the right, falling
/// ones to the left of it.
static void write_guides(FILE *out, const as_plot_panel *panel, const axis *x, const axis *y) {
  double y1 = y->start + 0.05 * y->length;
  double per_decade = y->length / (y->high - y->low); // of error
  double decades = 0.34 * (x->high - x->low);         // of the step
  for (int i = 0; i < 2; i++) {
    double slope = panel->guides[i];
    if (slope == 0.0) continue;
    double x1 = x->start + (slope > 0.0 ? 0.5 : 0.38) * x->length;
    double x2 = x1 + (slope > 0.0 ? 0.34 : -0.34) * x->length;
    double y2 = y1 + fabs(slope) * decades * per_decade;
    fprintf(out,
            "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"1.2\" "
            "stroke-dasharray=\"2 3\"/>\n",
            x1, y1, x2, y2, FAINT_INK);
    char text[24] = "slope 2/3", number[16];
    if (fabs(slope - 2.0 / 3.0) > 1e-3) {
      format_number(number, sizeof number, slope);
      snprintf(text, sizeof text, "slope %s", number);
    }
    if (slope > 0.0) {
      write_text(out, x2 + 6.0, y2 + 4.0, "start", 12, FAINT_INK, text);
    } else {
      write_text(out, x1 + 6.0, y1 + 4.0, "start", 12, FAINT_INK, text);
    }
  }
}

static void write_marker(FILE *out, const look *l, double x, double y) {
  fprintf(out,
          "<path transform=\"translate(%.2f %.2f)\" d=\"%s\" fill=\"%s\" stroke=\"%s\" "
          "stroke-width=\"1.6\"/>\n",
          x, y, l->marker, l->open ? "none" : l->colour, l->open ? l->colour : "none");
}

/// Are the points of a trace marked, on a thin line?
static bool is_dotted(const as_plot *p) { return p->kind == AS_PLOT_TRACES && !p->smooth; }

/// The band about a curve: each piece of it is followed forth above and back below.
static void write_band(FILE *out, const as_plot *p, const as_plot_curve *curve, const look *l,
                       const axis *x, const axis *y) {
  if (curve->band == NULL) return;
  fprintf(out, "<path class=\"band\" fill=\"%s\" fill-opacity=\"0.25\" d=\"", l->colour);
  for (int first = 0, end; first < curve->n; first = end) {
    for (end = first; end < curve->n && has_band(p, curve, end);) end++;
    for (int i = first; i < end; i++) {
      fprintf(out, "%c%.2f %.2f", i > first ? 'L' : 'M', place(x, curve->x[i]),
              place(y, curve->y[i] + curve->band[i]));
    }
    for (int i = end - 1; i >= first; i--) {
      fprintf(out, "L%.2f %.2f", place(x, curve->x[i]), place(y, curve->y[i] - curve->band[i]));
    }
    if (end > first) putc('Z', out);
    if (end == first) end++;
  }
  fputs("\"/>\n", out);
}

static void write_curve(FILE *out, const as_plot *p, const as_plot_curve *curve, const look *l,
                        const axis *x, const axis *y) {
  if (curve->n == 0) return;
  bool orders = p->kind == AS_PLOT_ORDERS;
  bool dotted = is_dotted(p);
  fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linejoin=\"round\"",
          l->colour, dotted ? "1.2" : "1.8");
  if (!dotted && l->dash[0] != '\0') fprintf(out, " stroke-dasharray=\"%s\"", l->dash);
  fputs(" d=\"", out);
  bool drawing = false; // false: the next point begins a new line
  for (int i = 0; i < curve->n; i++) {
    bool shown = can_show(p->kind, curve->x[i], curve->y[i]);
    if (shown) {
      fprintf(out, "%c%.2f %.2f", drawing ? 'L' : 'M', place(x, curve->x[i]),
              place(y, curve->y[i]));
    }
    drawing = shown;
  }
  fputs("\"/>\n", out);
  for (int i = 0; i < curve->n; i++) {
    if (!can_show(p->kind, curve->x[i], curve->y[i])) continue;
    double px = place(x, curve->x[i]);
    double py = place(y, curve->y[i]);
    if (orders) {
      write_marker(out, l, px, py);
    } else if (dotted) {
      fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"1.8\" fill=\"%s\"/>\n", px, py, l->colour);
    }
  }
}

/// A piece of line, 30 long, for a legend.
static void write_sample(FILE *out, const as_plot *p, const look *l, double x, double y) {
  fprintf(out, "<path d=\"M%.1f %gh30\" stroke=\"%s\" stroke-width=\"1.8\"", x, y, l->colour);
  if (!is_dotted(p) && l->dash[0] != '\0') fprintf(out, " stroke-dasharray=\"%s\"", l->dash);
  fputs("/>\n", out);
  if (p->kind == AS_PLOT_ORDERS) write_marker(out, l, x + 15.0, y);
}

static void write_legend(FILE *out, const as_plot *p) {
  double x = LEFT;
  for (int c = 0; c < p->n_curves; c++) {
    write_sample(out, p, &looks[c], x, LEGEND_Y);
    write_text(out, x + 38.0, LEGEND_Y + 4.5, "start", 13, INK, p->label[c]);
    x += 38.0 + width_of(p->label[c]) + 24.0;
  }
}

// ---- the whole

/// Begins the picture: all of it, or from the legend on.
static void write_head(FILE *out, const as_plot *p, int width) {
  int top = p->bare ? LEGEND_Y - 17 : 0;
  if (!p->bare) fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
  fprintf(out,
          "<svg %sxmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"%d\" "
          "height=\"%d\" viewBox=\"0 %d %d %d\" fill=\"none\" "
          "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n",
          p->bare ? "class=\"plot\" " : "", width, HEIGHT - top, top, width, HEIGHT - top);
  if (p->bare) return;
  fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, HEIGHT);
  write_text(out, LEFT, TITLE_Y, "start", 18, INK, p->title);
  write_text(out, LEFT, NOTE_Y, "start", 13, FAINT_INK, p->note);
}

/// The ranges of the panels' axes; where they lie is left open.
static void find_ranges(const as_plot *p, axis *x, axis *y) {
  bool log = p->kind == AS_PLOT_ORDERS;
  double low = (double)INFINITY;
  for (int i = 0; i < p->n_panels; i++) {
    x[i] = (axis){.log = log, .low = low, .high = -low};
    y[i] = (axis){.log = log, .low = low, .high = -low};
    fit(p, &p->panel[i], &x[i], &y[i]);
  }
  for (int i = 1; i < p->n_panels && p->same_scale; i++) {
    y[0].low = fmin(y[0].low, y[i].low);
    y[0].high = fmax(y[0].high, y[i].high);
  }
  for (int i = 0; i < p->n_panels; i++) {
    if (p->same_scale) y[i].low = y[0].low, y[i].high = y[0].high;
  }
  for (int i = 0; i < p->n_panels; i++) {
    pad(&x[i], log ? 0.06 : 0.0, p->bare ? 1.0 / LARGEST : 1e-9);
    pad(&y[i], 0.08, p->bare ? 1.0 / LARGEST : 1e-9);
  }
}

static void put(axis *a, double start, double length) {
  a->start = start;
  a->length = length;
}

static void write_panel(FILE *out, const as_plot *p, int panel, const axis *x, const axis *y) {
  write_axes(out, p, &p->panel[panel], x, y);
  if (p->kind == AS_PLOT_ORDERS) write_guides(out, &p->panel[panel], x, y);
  for (int c = 0; c < p->n_curves; c++) {
    write_band(out, p, &p->panel[panel].curve[c], &looks[c], x, y);
  }
  for (int c = 0; c < p->n_curves; c++) {
    write_curve(out, p, &p->panel[panel].curve[c], &looks[c], x, y);
  }
}

static void write_plot(FILE *out, const as_plot *p) {
  axis x[AS_PLOT_PANELS];
  axis y[AS_PLOT_PANELS];
  find_ranges(p, x, y);
  for (int i = 0; i < p->n_panels; i++) {
    put(&x[i], LEFT + i * (LEFT + PANEL_WIDTH + RIGHT),
        p->n_panels == 1 ? NARROWEST - LEFT - RIGHT : PANEL_WIDTH);
    put(&y[i], PANEL_TOP + PANEL_HEIGHT, -PANEL_HEIGHT);
  }

  int width = p->n_panels == 1 ? NARROWEST : p->n_panels * (LEFT + PANEL_WIDTH + RIGHT);
  write_head(out, p, width);
  write_legend(out, p);
  for (int i = 0; i < p->n_panels; i++) write_panel(out, p, i, &x[i], &y[i]);
  fputs("</svg>\n", out);
}

void as_plot_write(FILE *out, const as_plot *p) {
  asi_locale locale;
  const bool is_plain = asi_locale_set_plain(&locale);
  write_plot(out, p);
  if (is_plain) asi_locale_restore(&locale);
}

// ---- parts for a page

void as_plot_write_panel(FILE *out, const as_plot *p, int panel) {
  axis x[AS_PLOT_PANELS];
  axis y[AS_PLOT_PANELS];
  find_ranges(p, x, y);
  put(&x[panel], PAGE_LEFT, PAGE_WIDTH - PAGE_LEFT - PAGE_RIGHT);
  put(&y[panel], PAGE_HEIGHT - PAGE_BOTTOM, -(PAGE_HEIGHT - PAGE_BOTTOM - PAGE_TOP));
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" fill=\"none\" role=\"img\"><title>", PAGE_WIDTH,
          PAGE_HEIGHT);
  write_plain(out, p->panel[panel].title);
  fputs("</title>\n", out);
  write_panel(out, p, panel, &x[panel], &y[panel]);
  fputs("</svg>\n", out);
}

void as_plot_write_sample(FILE *out, const as_plot *p, int curve) {
  fputs("<svg viewBox=\"0 0 34 14\" width=\"34\" height=\"14\" fill=\"none\" "
        "aria-hidden=\"true\">",
        out);
  write_sample(out, p, &looks[curve], 2.0, 7.0);
  fputs("</svg>", out);
}

// Pages in one look, see page.h.
#include "page.h"

#include <math.h>

#include "alphastep/version.h"
#include "base/json.h"

/// In pieces, since a string may not be too long.
static const char *const STYLE[] = {
    ":root{color-scheme:light "
    "dark;--page:#fbfaf7;--card:#fff;--ink:#1d2328;--soft:#5d6770;--line:#dedbd3;"
    "--link:#0b5c99;--holds:#1b7a3d;--holds-bg:#e3f3e7;--corrected:#8a5a00;--corrected-bg:#fcefd2;"
    "--fails:#b3261e;--fails-bg:#fbe4e2;--other:#4a5560;--other-bg:#e9ebee}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}\n"
    "body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI','DejaVu "
    "Sans',sans-serif;overflow-wrap:break-word}\n"
    "main,header,footer{max-width:1120px;margin:0 auto;padding:0 20px}\n"
    "header{padding-top:44px}\n"
    "h1{font-size:clamp(1.6rem,4.5vw,2.4rem);line-height:1.15;margin:0 0 "
    "12px;letter-spacing:-.015em}\n"
    "h2{font-size:clamp(1.25rem,3vw,1.6rem);line-height:1.25;margin:64px 0 "
    "4px;letter-spacing:-.01em}\n"
    "h3{font-size:1.12rem;line-height:1.35;margin:0;flex:1 1 16em}\n"
    "p{margin:.5em 0;max-width:76ch}\n"
    ".soft{color:var(--soft)}\n"
    "a{color:var(--link);text-underline-offset:2px;text-decoration-thickness:1px}\n"
    "a:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    ".claim{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:20px "
    "22px;"
    "margin:20px 0}\n"
    ".claim:target{border-color:var(--link)}\n"
    ".head{display:flex;flex-wrap:wrap;gap:6px 14px;align-items:baseline}\n"
    ".verdict{display:inline-block;white-space:nowrap;font-size:.8rem;font-weight:600;line-height:"
    "1;"
    "padding:6px 10px;border-radius:99px}\n"
    ".holds{color:var(--holds);background:var(--holds-bg)}\n"
    ".corrected{color:var(--corrected);background:var(--corrected-bg)}\n"
    ".fails,.differs{color:var(--fails);background:var(--fails-bg)}\n"
    ".unchecked,.own{color:var(--other);background:var(--other-bg)}\n"
    "dl{display:grid;grid-template-columns:6.2em 1fr;gap:6px 12px;margin:12px 0 0}\n"
    "dt{color:var(--soft);font-size:.86rem;padding-top:.12em}\n"
    "dd{margin:0;max-width:76ch}\n"
    "figure{margin:20px 0 0;min-width:0}\n"
    "@media(min-width:960px){.beside{display:grid;grid-template-columns:minmax(0,1fr) "
    "470px;column-gap:30px;"
    "align-items:start}.beside .head,.beside table{grid-column:1/-1}.beside "
    "dl{grid-template-columns:1fr;gap:2px}"
    ".beside dd+dt{margin-top:10px}.beside figure{margin-top:14px}}\n"
    "figcaption{font-weight:600;font-size:.95rem}\n"
    "figcaption small{display:block;font-weight:400;font-size:.84rem;color:var(--soft)}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:2px 20px;font-size:.84rem;margin:8px 0 4px;padding:0;"
    "list-style:none}\n"
    ".legend svg{vertical-align:-2px;margin-right:7px}\n"
    ".panels{display:flex;flex-wrap:wrap;gap:10px 24px}\n"
    ".panels svg{flex:1 1 320px;min-width:0;max-width:520px;width:100%;height:auto;"
    "font-family:inherit;font-variant-numeric:tabular-nums}\n",
    "table{border-collapse:collapse;width:100%;font-size:.88rem;line-height:1.35;"
    "font-variant-numeric:tabular-nums}\n"
    "th{text-align:left;font-weight:600;font-size:.78rem;color:var(--soft);vertical-align:bottom}\n"
    "th,td{padding:6px 10px 6px 0;border-bottom:1px solid var(--line)}\n"
    "tbody tr:last-child td{border-bottom:0}\n"
    ".numbers{margin-top:18px}\n"
    ".numbers td,.numbers th{text-align:right;white-space:nowrap}\n"
    ".numbers td:first-child,.numbers "
    "th:first-child{text-align:left;white-space:normal;width:44%}\n"
    "code{font:.78rem ui-monospace,'DejaVu Sans Mono',monospace;color:var(--soft);display:block}\n"
    "td.no{color:var(--fails);font-weight:600}\n"
    "sup,sub{line-height:0;font-size:.72em}\n"
    "td,dd,p{hanging-punctuation:none}\n"
    ".counts{display:flex;flex-wrap:wrap;gap:8px;margin:16px 0 26px;padding:0;list-style:none}\n"
    ".summary td{vertical-align:baseline}\n"
    ".summary td:first-child{color:var(--soft);white-space:nowrap;width:1%;padding-right:18px}\n"
    ".summary td:last-child{text-align:right;width:1%}\n",
    "footer{color:var(--soft);font-size:.85rem;padding-top:40px;padding-bottom:60px}\n"
    "@media(max-width:700px){main,header,footer{padding-left:16px;padding-right:16px}"
    "header{padding-top:28px}.claim{padding:16px 14px}dl{grid-template-columns:1fr;gap:2px}"
    "dd+dt{margin-top:8px}"
    ".numbers thead{display:none}.numbers tr{display:grid;grid-template-columns:1fr 1fr;gap:2px "
    "14px;"
    "padding:10px 0;border-bottom:1px solid var(--line)}.numbers tbody "
    "tr:last-child{border-bottom:0}"
    ".numbers td,.numbers "
    "td:first-child{display:flex;justify-content:space-between;gap:8px;border:0;"
    "padding:0;width:auto;flex-wrap:wrap}"
    ".numbers td:first-child{grid-column:1/-1;display:block;padding-bottom:4px}"
    ".numbers td[data-is]::before{content:attr(data-is);color:var(--soft)}"
    ".numbers td[data-is]{font-size:.82rem;flex-wrap:nowrap}"
    ".summary td:first-child{display:none}.summary td{vertical-align:middle}"
    ".summary td:last-child{text-align:right;padding-right:0}"
    ".verdict{white-space:normal;text-align:center;font-size:.75rem}}\n",
    "@media(prefers-color-scheme:dark){:root{--page:#14171a;--card:#1b1f23;--ink:#e6e8ea;--soft:#"
    "9ba5ae;"
    "--line:#30363c;--link:#7cb8f2;--holds:#7fd69b;--holds-bg:#173222;--corrected:#f0c368;"
    "--corrected-bg:#372a0e;--fails:#ff9d94;--fails-bg:#3d1a18;--other:#b4bdc6;--other-bg:#2a3036}"
    "\n"
    "svg [fill='#222222']{fill:#e6e8ea}svg [fill='#666666']{fill:#9ba5ae}svg "
    "[stroke='#666666']{stroke:#9ba5ae}"
    "svg [stroke='#e4e4e4']{stroke:#2c3238}svg [stroke='#999999']{stroke:#5d6770}"
    "svg [fill='#0b62a4']{fill:#6cb4f5}svg [stroke='#0b62a4']{stroke:#6cb4f5}"
    "svg [fill='#d9480f']{fill:#ff9866}svg [stroke='#d9480f']{stroke:#ff9866}"
    "svg [fill='#2b8a3e']{fill:#78cf8b}svg [stroke='#2b8a3e']{stroke:#78cf8b}"
    "svg [fill='#862e9c']{fill:#d69bea}svg [stroke='#862e9c']{stroke:#d69bea}"
    "svg [fill='#495057']{fill:#b9c1c9}svg [stroke='#495057']{stroke:#b9c1c9}}\n"
    "@media print{.claim{break-inside:avoid;border-color:#ccc}body{background:#fff}}\n"};
enum { STYLE_PIECES = sizeof STYLE / sizeof STYLE[0] };

void page_style(FILE *out) {
  for (int i = 0; i < STYLE_PIECES; i++) fputs(STYLE[i], out);
}

void page_begin(FILE *out, const char *title) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
        out);
  asi_html_text(out, title);
  fputs("</title>\n<style>\n", out);
  page_style(out);
  fputs(".modes tr[data-mode]{cursor:pointer}.modes tr.on td{background:var(--other-bg)}"
        "canvas{width:100%;height:420px;background:var(--card);border:1px solid "
        "var(--line);border-radius:12px}"
        "figure svg{width:100%;height:auto;max-width:640px}"
        "figure .legend svg{width:34px;height:14px;flex:none}\n</style></head>\n<body><header><h1>",
        out);
  asi_html_text(out, title);
  fputs("</h1>\n", out);
}

void page_end(FILE *out) {
  fprintf(out, "</main>\n<footer>alphastep %s</footer></body></html>\n", as_version());
}

// ---- points

enum { WIDTH = 640, HEIGHT = 440, LEFT = 70, BOTTOM = 48, TOP = 14, RIGHT = 14 };

/// Ticks at multiples of 1, 2 or 5 times a power of ten, about six of them.
static double tick(double range) {
  const double power = pow(10.0, floor(log10(range / 6.0)));
  const double part = range / 6.0 / power;
  return (part <= 1.0 ? 1.0 : part <= 2.0 ? 2.0 : part <= 5.0 ? 5.0 : 10.0) * power;
}

static void widen(double range[2], double x) {
  range[0] = fmin(range[0], x);
  range[1] = fmax(range[1], x);
}

static double place(const double range[2], double x, double from, double to) {
  return from + (x - range[0]) / (range[1] - range[0]) * (to - from);
}

void page_points(FILE *out, const page_point *point, int n, const char *x_label,
                 const char *y_label) {
  double x[2] = {0.0, 0.0}, y[2] = {0.0, 0.0};
  for (int i = 0; i < n; i++) {
    if (isfinite(point[i].x)) widen(x, point[i].x);
    if (isfinite(point[i].y)) widen(y, point[i].y);
  }
  for (int k = 0; k < 2; k++) {
    double *range = k == 0 ? x : y;
    const double margin = range[1] > range[0] ? 0.06 * (range[1] - range[0]) : 1.0;
    range[0] -= margin;
    range[1] += margin;
  }
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" font-size=\"13\">\n", WIDTH, HEIGHT);
  for (int k = 0; k < 2; k++) {
    const double *range = k == 0 ? x : y, step = tick(range[1] - range[0]);
    for (double t = ceil(range[0] / step) * step; t <= range[1]; t += step) {
      const double at =
          k == 0 ? place(x, t, LEFT, WIDTH - RIGHT) : place(y, t, HEIGHT - BOTTOM, TOP);
      const char *colour = fabs(t) < 0.5 * step ? "#666666" : "#e4e4e4";
      const double shown = fabs(t) < 1e-9 * step ? 0.0 : t;
      if (k == 0)
        fprintf(out,
                "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\"/>"
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#666666\">%.6g</text>\n",
                at, at, TOP, HEIGHT - BOTTOM, colour, at, HEIGHT - BOTTOM + 18, shown);
      else
        fprintf(out,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666666\">%.6g</text>\n",
                LEFT, WIDTH - RIGHT, at, at, colour, LEFT - 8, at + 4.0, shown);
    }
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(point[i].x) || !isfinite(point[i].y)) continue;
    fprintf(out, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"hsl(%.0f 75%% 45%%)\"/>\n",
            place(x, point[i].x, LEFT, WIDTH - RIGHT), place(y, point[i].y, HEIGHT - BOTTOM, TOP),
            210.0 - 195.0 * point[i].shade);
  }
  fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#222222\">",
          (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
  asi_html_text(out, x_label);
  fprintf(out,
          "</text>\n<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\" "
          "fill=\"#222222\">",
          (TOP + HEIGHT - BOTTOM) / 2);
  asi_html_text(out, y_label);
  fputs("</text></svg>\n", out);
}

// `alphastep papers --report`: the claims of the papers as one HTML page.
//
// On top a table with a verdict for each claim, below it a section per paper: for each claim what the paper
// says, what is measured, the figures and the rows. Every number comes from this run; an element `data` holds
// it in full. The page has no script and refers to nothing outside. It follows the reader's choice of light or
// dark; the plots' colours are overridden by the style for that.
//
// The page is made in memory, since a figure may still need a run that fails, and written in one piece.
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/plot.h"
#include "alphastep/version.h"
#include "base/json.h"
#include "cli.h"
#include "folder.h"
#include "html.h"
#include "papers_page.h"

// ---- the look of the page

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
    ".unchecked,.open{color:var(--other);background:var(--other-bg)}\n"
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

// ---- verdicts

/// As they are shown; DIFFERS: a row is not as expected.
enum { DIFFERS = PAPER_OPEN + 1, N_VERDICTS };

static const char *const verdict_class[N_VERDICTS] = {"holds",     "corrected", "fails",
                                                      "unchecked", "open",      "differs"};
static const char *const plural_words[N_VERDICTS] = {"hold",          "hold with a correction",
                                                     "do not hold",   "cannot be repeated",
                                                     "not there yet", "differ in this run"};
static const char *const verdict_words[N_VERDICTS] = {"holds",         "holds with a correction",
                                                      "does not hold", "cannot be repeated",
                                                      "not there yet", "differs in this run"};

static bool bears_on(const paper_claim *claim, const char *row) {
  for (int i = 0; i < PAPER_CLAIM_ROWS && claim->rows[i] != NULL; i++) {
    if (paper_names(claim->rows[i], row)) return true;
  }
  return false;
}

static bool is_of(const paper_entry *e, const paper *source, const paper_claim *claim) {
  return e->source == source && bears_on(claim, e->row->id);
}

static bool is_shown(const papers_page *page, const paper *source, const paper_claim *claim) {
  for (int i = 0; i < page->n_entries; i++) {
    if (is_of(&page->entries[i], source, claim)) return true;
  }
  return page->complete;
}

static bool is_paper_shown(const papers_page *page, const paper *source) {
  for (int i = 0; i < source->n_claims; i++) {
    if (is_shown(page, source, &source->claims[i])) return true;
  }
  return false;
}

static int judge(const papers_page *page, const paper *source, const paper_claim *claim) {
  for (int i = 0; i < page->n_entries; i++) {
    if (is_of(&page->entries[i], source, claim) && !page->entries[i].ok) return DIFFERS;
  }
  return (int)claim->verdict;
}

static void write_verdict(FILE *out, int verdict) {
  fprintf(out, "<span class=\"verdict %s\">%s</span>", verdict_class[verdict],
          verdict_words[verdict]);
}

// ---- findings

/// The row that is called `id`, of n characters; NULL: there is none.
static const paper_row *find_row(const paper *source, const char *id, size_t n) {
  for (int i = 0; i < source->n_rows; i++) {
    const paper_row *row = &source->rows[i];
    if (strlen(row->id) == n && strncmp(row->id, id, n) == 0) return row;
  }
  return NULL;
}

static void write_order(FILE *out, double order) {
  if (isfinite(order)) fprintf(out, "%.2f", order);
  if (!isfinite(order)) fputs("\u2013", out);
}

/// Writes the number that `[ID]` or `[ID:order]` stands for; `reference` is what is between the brackets.
static void write_reference(FILE *out, const paper *source, const char *reference, size_t n,
                            run_result *results) {
  static const char order[] = ":order";
  size_t tail = strlen(order);
  bool wants_order = n > tail && strncmp(reference + n - tail, order, tail) == 0;
  const paper_row *row = find_row(source, reference, wants_order ? n - tail : n);
  if (row == NULL) {
    html_number(out, (double)NAN, 0);
    return;
  }
  paper_entry e = paper_measure(source, row, results);
  if (wants_order) write_order(out, e.order);
  if (!wants_order) html_number(out, e.measured, 3);
}

static void write_finding(FILE *out, const paper *source, const char *text, run_result *results) {
  char piece[512];
  for (;;) {
    size_t n = strcspn(text, "[");
    if (n >= sizeof piece) n = sizeof piece - 1;
    memcpy(piece, text, n);
    piece[n] = '\0';
    html_text(out, piece);
    text += n;
    if (*text == '\0') return;
    if (*text != '[') continue;
    n = strcspn(text, "]");
    write_reference(out, source, text + 1, n - 1, results);
    text += text[n] == '\0' ? n : n + 1;
  }
}

// ---- figures and rows

static const paper_figure *find_figure(const paper *source, const char *name) {
  for (int i = 0; i < source->n_figures; i++) {
    if (strcmp(source->figures[i].name, name) == 0) return &source->figures[i];
  }
  return NULL;
}

static void write_figure(FILE *out, const as_plot *p) {
  fputs("<figure><figcaption>", out);
  html_text(out, p->title);
  fputs("<small>", out);
  html_text(out, p->note);
  fputs("</small></figcaption>\n<ul class=\"legend\">", out);
  for (int c = 0; c < p->n_curves; c++) {
    fputs("<li>", out);
    as_plot_write_sample(out, p, c);
    html_text(out, p->label[c]);
    fputs("</li>", out);
  }
  fputs("</ul>\n<div class=\"panels\">\n", out);
  for (int i = 0; i < p->n_panels; i++) as_plot_write_panel(out, p, i);
  fputs("</div></figure>\n", out);
}

static cli_exit write_figures(FILE *out, const paper *source, const paper_claim *claim,
                              run_result *results) {
  paper_drawing *drawing = malloc(sizeof *drawing);
  if (drawing == NULL) return cli_complain_memory();
  cli_exit status = CLI_DONE;
  for (int k = 0; k < PAPER_CLAIM_FIGURES && claim->figures[k] != NULL; k++) {
    const paper_figure *figure = find_figure(source, claim->figures[k]);
    if (figure == NULL) continue;
    cli_exit made = papers_prepare_figure(source, figure, results, drawing);
    if (made == CLI_DONE) write_figure(out, &drawing->plot);
    if (made > status) status = made;
  }
  free(drawing);
  return status;
}

/// The relative distance of a number to another, in percent.
static void write_deviation(FILE *out, const char *name, double x, double from) {
  fprintf(out, "<td data-is=\"%s\">", name);
  double deviation = 100.0 * (x - from) / fabs(from);
  if (isfinite(deviation)) {
    bool none = fabs(deviation) < 5e-3;
    fprintf(out, "%s%.*f %%",
            none              ? ""
            : deviation < 0.0 ? "\u2212"
                              : "+",
            none ? 0 : 2, fabs(deviation));
  } else {
    fputs("\u2013", out);
  }
  fputs("</td>", out);
}

static void write_row(FILE *out, const paper_entry *e) {
  const paper_row *row = e->row;
  bool limit = row->judge == PAPER_AT_MOST;
  int digits = row->judge == PAPER_VALUE ? 10 : 4;
  fprintf(out, "<tr data-row=\"%s\"><td>", row->id);
  asi_html_text(out, row->what);
  fprintf(out, "<code>%s</code></td><td data-is=\"published\">", row->id);
  html_number(out, row->published, 4);
  fprintf(out, "</td><td data-is=\"recomputed\">%s", limit ? "\u2264 " : "");
  html_number(out, row->expected, digits);
  fprintf(out, "</td><td data-is=\"ours\"%s>", e->ok ? "" : " class=\"no\"");
  html_number(out, e->measured, digits);
  fputs("</td>", out);
  write_deviation(out, "off publ.", e->measured, row->published);
  write_deviation(out, "off recomp.", limit ? (double)NAN : e->measured, row->expected);
  fputs("<td data-is=\"order\">", out);
  write_order(out, e->order);
  fputs("</td></tr>\n", out);
}

static void write_rows(FILE *out, const papers_page *page, const paper *source,
                       const paper_claim *claim) {
  if (claim->rows[0] == NULL) return;
  fputs("<table class=\"numbers\"><thead><tr><th>number</th><th>published</th><th>recomputed</th>"
        "<th>ours</th><th>off published</th><th>off "
        "recomputed</th><th>order</th></tr></thead><tbody>\n",
        out);
  for (int i = 0; i < page->n_entries; i++) {
    if (is_of(&page->entries[i], source, claim)) write_row(out, &page->entries[i]);
  }
  fputs("</tbody></table>\n", out);
}

// ---- claims

/// Is there just one panel to show? It finds its place beside the text.
static bool is_beside(const paper *source, const paper_claim *claim) {
  if (claim->figures[0] == NULL || claim->figures[1] != NULL) return false;
  const paper_figure *figure = find_figure(source, claim->figures[0]);
  return figure != NULL && figure->n_panels == 1;
}

static cli_exit write_claim(FILE *out, const papers_page *page, const paper *source,
                            const paper_claim *claim, run_result *results) {
  fprintf(out, "<article class=\"claim%s\" id=\"%s\"><div class=\"head\"><h3>",
          is_beside(source, claim) ? " beside" : "", claim->id);
  html_text(out, claim->title);
  fputs("</h3>", out);
  write_verdict(out, judge(page, source, claim));
  fputs("</div>\n<dl><dt>The paper</dt><dd>", out);
  html_text(out, claim->says);
  fputs(" <span class=\"soft\">\u00b7 ", out);
  html_text(out, claim->where);
  fputs("</span></dd><dt>Measured</dt><dd>", out);
  write_finding(out, source, claim->finding, results);
  fputs("</dd></dl>\n", out);
  cli_exit status = write_figures(out, source, claim, results);
  write_rows(out, page, source, claim);
  fputs("</article>\n", out);
  return status;
}

static cli_exit write_paper(FILE *out, const papers_page *page, int p) {
  const paper *source = all_papers[p];
  cli_exit status = CLI_DONE;
  if (!is_paper_shown(page, source)) return status;
  fprintf(out, "<section id=\"%s\"><h2>", source->name);
  asi_html_text(out, source->citation);
  fputs("</h2>\n<p class=\"soft\">", out);
  asi_html_text(out, source->title);
  fputs("</p>\n<p>", out);
  html_text(out, source->subject);
  fputs("</p>\n", out);
  for (int i = 0; i < source->n_claims; i++) {
    if (!is_shown(page, source, &source->claims[i])) continue;
    cli_exit made = write_claim(out, page, source, &source->claims[i], page->results[p]);
    if (made > status) status = made;
  }
  fputs("</section>\n", out);
  return status;
}

// ---- the whole

static void write_summary(FILE *out, const papers_page *page) {
  int count[N_VERDICTS] = {0};
  for (int p = 0; p < N_PAPERS; p++) {
    const paper *source = all_papers[p];
    for (int i = 0; i < source->n_claims; i++) {
      if (!is_shown(page, source, &source->claims[i])) continue;
      count[judge(page, source, &source->claims[i])]++;
    }
  }
  fputs("<ul class=\"counts\">", out);
  for (int v = 0; v < N_VERDICTS; v++) {
    if (count[v] == 0) continue;
    fprintf(out, "<li class=\"verdict %s\">%d %s</li>", verdict_class[v], count[v],
            (count[v] == 1 ? verdict_words : plural_words)[v]);
  }
  fputs(
      "</ul>\n<table class=\"summary\"><thead><tr><td>paper</td><th>claim</th><td>verdict</td></tr>"
      "</thead><tbody>\n",
      out);
  for (int p = 0; p < N_PAPERS; p++) {
    const paper *source = all_papers[p];
    for (int i = 0; i < source->n_claims; i++) {
      const paper_claim *claim = &source->claims[i];
      if (!is_shown(page, source, claim)) continue;
      fputs("<tr><td>", out);
      asi_html_text(out, source->citation);
      fprintf(out, "</td><td><a href=\"#%s\">", claim->id);
      html_text(out, claim->title);
      fputs("</a></td><td>", out);
      write_verdict(out, judge(page, source, claim));
      fputs("</td></tr>\n", out);
    }
  }
  fputs("</tbody></table>\n", out);
}

static void write_beyond(FILE *out) {
  fputs("<section id=\"beyond\"><h2>Beyond the papers</h2>\n<ul>", out);
  for (int i = 0; i < N_BEYOND; i++) {
    fputs("<li>", out);
    html_text(out, papers_beyond[i]);
    fputs("</li>\n", out);
  }
  fputs("</ul></section>\n", out);
}

static cli_exit write_page(FILE *out, const papers_page *page) {
  cli_exit status = CLI_DONE;
  int n_ok = 0, n_published = 0;
  for (int i = 0; i < page->n_entries; i++) {
    n_ok += page->entries[i].ok;
    n_published += !isnan(page->entries[i].row->published);
  }
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<title>What the papers claim, and what comes out</title>\n<style>\n",
        out);
  for (int i = 0; i < STYLE_PIECES; i++) fputs(STYLE[i], out);
  fputs("</style></head>\n<body><header><h1>What the papers claim, and what comes out</h1>\n<p>",
        out);
  fputs("The methods of alphastep come from these papers. Here their claims are put to the test: "
        "each "
        "experiment is made again with the library, its figure drawn from that run, and its "
        "numbers put beside "
        "those that the paper prints (<i>published</i>) and those of a second, independent "
        "implementation "
        "(<i>recomputed</i>). Dotted lines in the plots are slopes 1 and 2, first and second "
        "order. A figure <i>after</i> one of a paper shows the same quantities, drawn from our "
        "run; a figure <i>to</i> a paper has no model there.</p>\n",
        out);
  fprintf(out,
          "<p class=\"soft\">%d of %d numbers are as expected; %d of them the papers print, the "
          "others they show in figures or not at all. alphastep %s.</p>\n",
          n_ok, page->n_entries, n_published, as_version());
  write_summary(out, page);
  fputs("</header>\n<main>\n", out);
  for (int p = 0; p < N_PAPERS; p++) {
    cli_exit made = write_paper(out, page, p);
    if (made > status) status = made;
  }
  if (page->complete) write_beyond(out);
  fputs(
      "</main>\n<footer><i>D</i> = <i>\u03b1</i><sub>m</sub> \u2212 <i>\u03b1</i><sub>f</sub> (the "
      "papers' <i>\u0394</i><sub>\u03b1</sub> or <i>\u03b1</i>): <i>a</i> belongs to <i>t</i> + "
      "<i>D h</i>. Errors are 2-norms over components; maxima are over mesh points. "
      "<i>Order</i> is log2 of the ratio to the error with twice the step. "
      "<i>Off</i> is the relative distance of our number. Written by <i>alphastep papers "
      "--report</i>.</footer>\n</body></html>\n",
      out);
  return status;
}

typedef struct buffer {
  char *text;
  size_t size;
} buffer;

static void write_buffer(FILE *out, const void *user) {
  const buffer *b = user;
  fwrite(b->text, 1, b->size, out);
}

cli_exit papers_page_write(const papers_page *page, const char *path) {
  buffer b = {NULL, 0};
  FILE *memory = open_memstream(&b.text, &b.size);
  if (memory == NULL) return cli_complain_memory();
  cli_exit status = write_page(memory, page);
  if (fclose(memory) != 0) status = cli_complain_memory();
  if (status == CLI_DONE) status = folder_write(path, write_buffer, &b);
  free(b.text);
  return status;
}

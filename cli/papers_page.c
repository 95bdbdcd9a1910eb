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
#include "page.h"
#include "papers_page.h"

// ---- verdicts

/// As they are shown; DIFFERS: a row is not as expected.
enum { DIFFERS = PAPER_OWN + 1, N_VERDICTS };

static const char *const verdict_class[N_VERDICTS] = {"holds",     "corrected", "fails",
                                                      "unchecked", "own",       "differs"};
static const char *const plural_words[N_VERDICTS] = {"hold",
                                                     "hold with a correction",
                                                     "do not hold",
                                                     "cannot be repeated",
                                                     "repeated with our own data",
                                                     "differ in this run"};
static const char *const verdict_words[N_VERDICTS] = {"holds",
                                                      "holds with a correction",
                                                      "does not hold",
                                                      "cannot be repeated",
                                                      "repeated with our own data",
                                                      "differs in this run"};

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
  page_style(out);
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

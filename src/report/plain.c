/// The plain report: tables and drawings, without a script.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/plot.h"
#include "alphastep/version.h"
#include "base/error.h"
#include "base/json.h"
#include "report/moving.h"
#include "report/report.h"
#include "report/views.h"

enum {
  PLOT_BUCKETS = 300,   ///< pieces of a curve whose extremes are drawn
  PLOT_POINTS = 1000,   ///< rows up to which every one is drawn
  MOST_PLOTS = 12,      ///< of a sort
  MOST_CHANNELS = 3000, ///< in the table
  MOST_DRAWN = 2000,    ///< bodies that are drawn
  SNAPSHOTS = 4,        ///< drawings of each view
  MOST_EVENTS = 1000,   ///< in the table
};

typedef struct plain {
  asi_report *r;
  FILE *out;
  asi_moving *moving; ///< of each channel
} plain;

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c1f24;--paper:#fff;--faint:#5b6370;--line:#d8dce2;"
    "--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7ec;--paper:#15181d;--faint:#9aa3b0;"
    "--line:#343a44;--bad:#ff8a80}\n"
    ".plot [fill='#222222']{fill:#e4e7ec}.plot [fill='#666666']{fill:#9aa3b0}"
    ".plot [stroke='#e4e4e4']{stroke:#2b3038}.plot [stroke='#999999']{stroke:#6b7280}"
    ".plot [stroke='#0b62a4']{stroke:#5aa9e6}.plot [stroke='#d9480f']{stroke:#ff922b}"
    ".plot [stroke='#2b8a3e']{stroke:#69db7c}.plot [stroke='#862e9c']{stroke:#da77f2}"
    ".plot [stroke='#495057']{stroke:#adb5bd}}\n"
    "body{margin:0 auto;max-width:68rem;padding:1rem;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:1.6rem;margin:.3em 0}h2{font-size:1.2rem;margin:2em 0 .5em;"
    "border-bottom:1px solid var(--line)}\n"
    "table{border-collapse:collapse}td,th{padding:.15rem .9rem .15rem 0;text-align:left;"
    "vertical-align:top;border-bottom:1px solid var(--line);overflow-wrap:anywhere}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".wide{overflow-x:auto}.faint{color:var(--faint)}.bad{color:var(--bad);font-weight:600}\n"
    ".row{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0 0 1rem;max-width:100%}"
    "figcaption{font-size:.9rem;overflow-wrap:anywhere}svg{max-width:100%;height:auto}"
    ".plots figure{flex:1 1 26rem}\n"
    ".view{border:1px solid var(--line)}.shape{stroke:var(--ink);stroke-width:.7;fill-opacity:.85}"
    ".line{fill:none;stroke:var(--ink)}.strip{fill:none}.stick{stroke:var(--faint);stroke-width:1."
    "5}"
    ".spring{stroke:#c2571a;stroke-width:1.5;stroke-dasharray:4 2}.center{fill:var(--faint)}"
    ".joint{fill:var(--paper);stroke:var(--ink)}\n"
    "pre{overflow:auto;max-height:40rem;padding:.7rem;border:1px solid var(--line);"
    "font-size:.85rem}\n";

static void put_heading(const plain *p, const char *text) {
  fprintf(p->out, "<h2>%s</h2>\n", text);
}

// ---- the head ---------------------------------------------------------------------------------------

static void put_head(const plain *p, const char *title) {
  fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'\"/>\n<title>",
        p->out);
  asi_html_text(p->out, title);
  fprintf(p->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
  asi_html_text(p->out, title);
  fputs("</h1>\n", p->out);
}

static void put_state(const plain *p, const asi_value *scene) {
  const asi_value *summary = p->r->summary_tree;
  const char *description = asi_summary_text(scene, "description");
  const char *message = asi_summary_text(summary, "message");
  if (description[0]) {
    fputs("<p>", p->out);
    asi_html_text(p->out, description);
    fputs("</p>\n", p->out);
  }
  fprintf(p->out, "<p%s>The run is ", asi_report_is_complete(p->r) ? "" : " class=\"bad\"");
  asi_html_text(p->out, asi_summary_text(summary, "status"));
  if (p->r->rows > 0) fprintf(p->out, "; results go to t = %.6g s", p->r->time[p->r->rows - 1]);
  fputs(". ", p->out);
  asi_html_text(p->out, message);
  fputs("</p>\n", p->out);
}

// ---- summary ----------------------------------------------------------------------------------------

static const char *unit_of(const char *key) {
  static const char *const units[][2] = {{"step", "s"},
                                         {"t_end", "s"},
                                         {"t", "s"},
                                         {"resumed_at", "s"},
                                         {"interval", "s"},
                                         {"min_step", "s"},
                                         {"max_step", "s"},
                                         {"last_step", "s"},
                                         {"seconds", "s"},
                                         {"energy.balance", "J"},
                                         {"drift.position", "m"},
                                         {"drift.velocity", "m/s"},
                                         {"position_drift", "m"},
                                         {"velocity_drift", "m/s"},
                                         {"gap", "m"}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i)
    if (strcmp(units[i][0], key) == 0) return units[i][1];
  return "";
}

/// A name of the summary in words: last_step is last step.
static void put_words(const plain *p, const char *key) {
  char words[80];
  snprintf(words, sizeof words, "%s", key);
  for (char *c = words; *c; ++c)
    if (*c == '_') *c = ' ';
  asi_html_text(p->out, words);
}

static void put_scalar(const plain *p, const char *group, const char *key, const asi_value *v) {
  fputs("<tr><td>", p->out);
  if (group) {
    put_words(p, group);
    fputs(": ", p->out);
  }
  put_words(p, key);
  fputs("</td><td>", p->out);
  if (v->type == ASI_NUMBER)
    fprintf(p->out, "%.8g %s", v->number, unit_of(key));
  else
    asi_html_text(p->out, v->text);
  fputs("</td></tr>\n", p->out);
}

static void put_members(const plain *p, const char *group, const asi_value *map) {
  for (int i = 0; map && map->type == ASI_MAP && i < map->count; ++i) {
    const char *key = map->item[2 * i]->text;
    const asi_value *v = map->item[2 * i + 1];
    if (v->type == ASI_MAP && group == NULL)
      put_members(p, key, v);
    else if (v->type == ASI_NUMBER || v->type == ASI_TEXT || v->type == ASI_BOOLEAN)
      put_scalar(p, group, key, v);
    else if (v->type == ASI_LIST && strcmp(key, "events") != 0)
      for (int k = 0; k < v->count; ++k)
        if (v->item[k]->text) put_scalar(p, group, key, v->item[k]);
  }
}

static void put_summary(const plain *p) {
  const double seconds = asi_summary_number(p->r->summary_tree, "seconds");
  const double t = asi_summary_number(p->r->summary_tree, "t");
  const double resumed = asi_summary_number(p->r->summary_tree, "resumed_at");
  const double simulated = isnan(resumed) ? t : t - resumed; // in these seconds
  put_heading(p, "Summary");
  fputs("<div class=\"wide\"><table>\n", p->out);
  put_members(p, NULL, p->r->summary_tree);
  if (seconds > 0.0 && simulated > 0.0)
    fprintf(p->out, "<tr><td>real-time factor</td><td>%.3g simulated seconds a second</td></tr>\n",
            simulated / seconds);
  fputs("</table></div>\n", p->out);
}

static void put_events(const plain *p) {
  const asi_value *events = asi_value_get(p->r->summary_tree, "events");
  if (events == NULL || events->type != ASI_LIST || events->count == 0) return;
  put_heading(p, "Events");
  fputs("<div class=\"wide\"><table><tr><th>t [s]</th><th>event</th><th></th></tr>\n", p->out);
  for (int i = 0; i < events->count && i < MOST_EVENTS; ++i) {
    fprintf(p->out, "<tr><td class=\"n\">%.9g</td><td>", asi_summary_number(events->item[i], "t"));
    asi_html_text(p->out, asi_summary_text(events->item[i], "name"));
    fputs("</td><td>", p->out);
    asi_html_text(p->out, asi_event_text(events->item[i]));
    fputs("</td></tr>\n", p->out);
  }
  fputs("</table></div>\n", p->out);
  const double all = asi_summary_number(p->r->summary_tree, "number_of_events");
  const int shown = events->count < MOST_EVENTS ? events->count : MOST_EVENTS;
  if (all > shown)
    fprintf(p->out, "<p class=\"faint\">The first %d of %.0f events.</p>\n", shown, all);
}

// ---- drawings ---------------------------------------------------------------------------------------

static void put_drawings(const plain *p, const asi_value *scene, const asi_snapshot *snapshots,
                         int n) {
  asi_drawing *drawing = asi_drawing_create(scene, snapshots, n, p->r->bodies);
  if (drawing == NULL) return;
  put_heading(p, "The machine");
  for (int view = 0; view < ASI_VIEWS; ++view) {
    fprintf(p->out, "<p>From %s</p>\n<div class=\"row\">\n", asi_view_name(view));
    for (int i = 0; i < n; ++i) {
      fputs("<figure>", p->out);
      asi_drawing_write(drawing, p->out, i, view);
      fprintf(p->out, "<figcaption>t = %.6g s</figcaption></figure>\n", snapshots[i].t);
    }
    fputs("</div>\n", p->out);
  }
  asi_drawing_destroy(drawing);
}

static as_status put_machine(const plain *p, const asi_value *scene, as_error *error) {
  const asi_report *r = p->r;
  if (scene == NULL || r->rows == 0 || r->bodies == 0 || r->bodies > MOST_DRAWN) return AS_OK;
  const int n = r->rows < SNAPSHOTS ? (int)r->rows : SNAPSHOTS;
  const size_t one = (size_t)r->bodies * AS_POSE;
  double *all = asi_calloc((size_t)r->rows * AS_POSE, sizeof *all);
  double *kept = asi_calloc((size_t)n * one, sizeof *kept);
  asi_snapshot snapshot[SNAPSHOTS] = {{0.0, NULL}};
  as_status status = all && kept ? AS_OK : asi_fail_memory(error);
  for (int b = 0; b < r->bodies && status == AS_OK; ++b) {
    status = as_results_reader_poses(r->reader, b, all, error);
    for (int i = 0; i < n && status == AS_OK; ++i) {
      const long row = n > 1 ? i * (r->rows - 1) / (n - 1) : 0;
      memcpy(kept + (size_t)i * one + (size_t)b * AS_POSE, all + row * AS_POSE,
             AS_POSE * sizeof *all);
      snapshot[i] = (asi_snapshot){r->time[row], kept + (size_t)i * one};
    }
  }
  if (status == AS_OK) put_drawings(p, scene, snapshot, n);
  free(all);
  free(kept);
  return status;
}

// ---- plots ------------------------------------------------------------------------------------------

/// Channels that are drawn in one plot: neighbours that differ in the last part of their names only.
typedef struct group {
  int first, n;
  size_t stem;      ///< length of what they share
  asi_moving least; ///< those are drawn that move at least as much
} group;

static bool has_curves(const plain *p, const group *g) {
  for (int k = 0; k < g->n; ++k)
    if (p->moving[g->first + k] >= g->least) return true;
  return false;
}

static size_t stem_of(const char *name) {
  const char *point = strrchr(name, '.');
  return point ? (size_t)(point - name) : strlen(name);
}

static group group_from(const asi_report *r, int first) {
  const as_channel a = as_results_reader_channel(r->reader, first);
  group g = {first, 1, stem_of(a.name), ASI_MOVES};
  while (g.n < AS_PLOT_CURVES && first + g.n < r->channels) {
    const as_channel b = as_results_reader_channel(r->reader, first + g.n);
    if (stem_of(b.name) != g.stem || strncmp(a.name, b.name, g.stem) != 0) break;
    if (strcmp(a.unit, b.unit) != 0 || strcmp(b.name, "energy.balance") == 0) break;
    ++g.n;
  }
  return g;
}

/// Points of a curve: every row, or the extremes of pieces of it, with the errors there. Returns how many.
static int collect(const asi_report *r, double *x, double *y, double *band) {
  int n = (int)r->rows;
  if (r->rows > PLOT_POINTS) {
    n = asi_thin_extremes(r->row, r->rows, PLOT_BUCKETS, r->where);
  } else {
    for (int i = 0; i < n; ++i) r->where[i] = i;
  }
  for (int i = 0; i < n; ++i) {
    x[i] = r->time[r->where[i]];
    y[i] = r->row[r->where[i]];
    band[i] = r->error[r->where[i]];
  }
  return n;
}

static as_status put_plot(const plain *p, const group *g, double *room, as_error *error) {
  const as_results_reader *reader = p->r->reader;
  const as_channel first = as_results_reader_channel(reader, g->first);
  const char *title = first.name;
  char label[64];
  snprintf(label, sizeof label, "[%s]", first.unit);
  as_plot plot = {.kind = AS_PLOT_TRACES, .smooth = true, .bare = true, .n_panels = 1};
  plot.panel[0] = (as_plot_panel){.title = "", .x_label = "time [s]", .y_label = label};
  plot.n_curves = 0;
  for (int k = 0; k < g->n; ++k) {
    if (p->moving[g->first + k] < g->least) continue;
    const int i = plot.n_curves++;
    double *x = room + (ptrdiff_t)3 * i * PLOT_POINTS, *y = x + PLOT_POINTS;
    double *band = y + PLOT_POINTS;
    long worst = -1;
    as_status status = as_results_reader_read(p->r->reader, g->first + k, p->r->row, error);
    if (status == AS_OK) status = asi_report_errors(p->r, g->first + k, &worst, error);
    if (status) return status;
    const char *name = as_results_reader_channel(reader, g->first + k).name;
    if (i == 0) title = name;
    plot.label[i] = name[g->stem] ? name + g->stem + 1 : name;
    plot.panel[0].curve[i] = (as_plot_curve){
        .x = x, .y = y, .n = collect(p->r, x, y, band), .band = worst < 0 ? NULL : band};
  }
  fputs("<figure><figcaption>", p->out);
  asi_html_text(p->out, title);
  if (plot.n_curves > 1) fputs(" ...", p->out);
  fputs("</figcaption>", p->out);
  as_plot_write(p->out, &plot);
  fputs("</figure>\n", p->out);
  return AS_OK;
}

static bool is_drawn(const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0 && strstr(name, ".quaternion.") == NULL &&
         strstr(name, "_in_joint.") == NULL;
}

/// The plots of one sort of channels, of those that move at least so much.
static as_status put_sort(const plain *p, const char *heading, const char *prefix, asi_moving least,
                          double *room, as_error *error) {
  int drawn = 0, left = 0, still = 0;
  group g;
  for (int i = 0; i < p->r->channels; i += g.n) {
    g = group_from(p->r, i);
    if (!is_drawn(as_results_reader_channel(p->r->reader, i).name, prefix)) continue;
    g.least = least;
    for (int k = 0; k < g.n; ++k) still += p->moving[i + k] < least;
    if (!has_curves(p, &g)) continue;
    if (drawn == MOST_PLOTS) {
      left += g.n;
      continue;
    }
    if (drawn++ == 0) {
      put_heading(p, heading);
      fputs("<div class=\"row plots\">\n", p->out);
    }
    const as_status status = put_plot(p, &g, room, error);
    if (status) return status;
  }
  if (drawn > 0) fputs("</div>\n", p->out);
  if (left > 0)
    fprintf(p->out, "<p class=\"faint\">%d more channels are not drawn here.</p>\n", left);
  if (still > 0 && drawn > 0)
    fprintf(p->out,
            "<p class=\"faint\">%d channels that do not change by more than round-off are in the "
            "table only.</p>\n",
            still);
  return AS_OK;
}

static as_status put_plots(const plain *p, as_error *error) {
  static const struct {
    const char *heading, *prefix;
    asi_moving least; // what is about errors is round-off at best
  } sorts[] = {{"Energy", "energy.", ASI_TREMBLES},  {"Constraint drift", "drift.", ASI_TREMBLES},
               {"Steps", "solver.", ASI_TREMBLES},   {"Joints", "joints.", ASI_MOVES},
               {"Signals", "blocks.", ASI_MOVES},    {"Forces", "forces.", ASI_MOVES},
               {"Bodies", "bodies.", ASI_MOVES},     {"Frames", "frames.", ASI_MOVES},
               {"Beams", "beams.", ASI_MOVES},       {"Flexible bodies", "flexible.", ASI_MOVES},
               {"Momentum", "momentum.", ASI_MOVES}, {"Events", "events.", ASI_TREMBLES}};
  if (p->r->rows == 0) return AS_OK;
  double *room = asi_calloc((size_t)3 * AS_PLOT_CURVES * PLOT_POINTS, sizeof *room);
  as_status status = room ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = asi_find_moving(p->r, p->moving, error);
  for (size_t i = 0; i < sizeof sorts / sizeof sorts[0] && status == AS_OK; ++i)
    status = put_sort(p, sorts[i].heading, sorts[i].prefix, sorts[i].least, room, error);
  free(room);
  return status;
}

// ---- channels and model -----------------------------------------------------------------------------

static void put_limit(const plain *p, long at) {
  if (at < 0)
    fputs("<td></td><td></td>", p->out);
  else
    fprintf(p->out, "<td class=\"n\">%.9g</td><td class=\"n\">%.6g</td>", p->r->row[at],
            p->r->time[at]);
}

static as_status put_channel(const plain *p, int number, as_error *error) {
  const as_channel channel = as_results_reader_channel(p->r->reader, number);
  const double *x = p->r->row;
  long low = -1, high = -1;
  long worst = -1;
  as_status status = as_results_reader_read(p->r->reader, number, p->r->row, error);
  if (status == AS_OK) status = asi_report_errors(p->r, number, &worst, error);
  if (status) return status;
  for (long i = 0; i < p->r->rows; ++i) {
    if (!isfinite(x[i])) continue;
    if (low < 0 || x[i] < x[low]) low = i;
    if (high < 0 || x[i] > x[high]) high = i;
  }
  fputs("<tr><td>", p->out);
  asi_html_text(p->out, channel.name);
  fputs("</td><td>", p->out);
  asi_html_text(p->out, channel.unit);
  fputs("</td>", p->out);
  put_limit(p, low);
  put_limit(p, high);
  if (worst >= 0)
    fprintf(p->out, "<td class=\"n\">%.2g</td><td class=\"n\">%.6g</td>", p->r->error[worst],
            p->r->time[worst]);
  fputs("</tr>\n", p->out);
  return AS_OK;
}

static as_status put_channels(const plain *p, as_error *error) {
  const int n = p->r->channels < MOST_CHANNELS ? p->r->channels : MOST_CHANNELS;
  if (p->r->rows == 0) return AS_OK;
  put_heading(p, "Channels");
  fputs("<div class=\"wide\"><table><tr><th>channel</th><th>unit</th><th>least</th><th>at t "
        "[s]</th><th>greatest</th><th>at t [s]</th>",
        p->out);
  if (p->r->channels < as_results_reader_count(p->r->reader))
    fputs("<th>estimated error</th><th>at t [s]</th>", p->out);
  fputs("</tr>\n", p->out);
  for (int i = 0; i < n; ++i) {
    const as_status status = put_channel(p, i, error);
    if (status) return status;
  }
  fputs("</table></div>\n", p->out);
  if (n < p->r->channels)
    fprintf(p->out, "<p class=\"faint\">%d more channels are not listed here.</p>\n",
            p->r->channels - n);
  return AS_OK;
}

static void put_model(const plain *p, const asi_value *scene) {
  const asi_value *model = asi_value_get(scene, "model");
  for (int i = 0; model && model->type == ASI_LIST && i < model->count; ++i) {
    if (i == 0) put_heading(p, "Model");
    fputs("<p>", p->out);
    asi_html_text(p->out, asi_summary_text(model->item[i], "path"));
    fputs("</p>\n<pre>", p->out);
    asi_html_text(p->out, asi_summary_text(model->item[i], "text"));
    fputs("</pre>\n", p->out);
  }
}

// ---- the whole --------------------------------------------------------------------------------------

static as_status write_all(asi_report *r, asi_moving *moving, as_error *error) {
  const plain p = {r, r->out, moving};
  const char *title = as_results_reader_title(r->reader);
  const asi_value *scene = asi_report_tree(r, r->scene);
  if (r->arena.failed) return asi_fail_memory(error);
  put_head(&p, title ? title : "alphastep");
  put_state(&p, scene);
  as_status status = put_machine(&p, asi_value_get(scene, "scene"), error);
  if (status) return status;
  put_summary(&p);
  put_events(&p);
  status = put_plots(&p, error);
  if (status == AS_OK) status = put_channels(&p, error);
  if (status) return status;
  put_model(&p, scene);
  fprintf(p.out, "<p class=\"faint\">alphastep %s</p>\n</body>\n</html>\n", as_version());
  return AS_OK;
}

as_status asi_plain_write(asi_report *r, as_error *error) {
  asi_moving *moving = asi_calloc((size_t)r->channels + 1, sizeof *moving);
  const as_status status = moving ? write_all(r, moving, error) : asi_fail_memory(error);
  free(moving);
  return status;
}

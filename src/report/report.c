/// Makes reports: opens what a run has left, writes the page beside its place, and puts it there when it is whole.
#define _POSIX_C_SOURCE 200809L // open_memstream, fileno

#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/locale.h"

as_report_def as_default_report_def(void) {
  return (as_report_def){.cookie = ASI_COOKIE(as_report_def), .plain = false};
}

bool as_report_is_interactive(void) {
  size_t size;
  return asi_template(&size) != NULL;
}

// ---- the summary ------------------------------------------------------------------------------------

const char *asi_summary_text(const asi_value *map, const char *key) {
  const asi_value *v = asi_value_get(map, key);
  return v && v->type == ASI_TEXT ? v->text : "";
}

double asi_summary_number(const asi_value *map, const char *key) {
  const asi_value *v = asi_value_get(map, key);
  return v && v->type == ASI_NUMBER ? v->number : (double)NAN;
}

const char *asi_event_text(const asi_value *event) {
  const char *message = asi_summary_text(event, "message");
  return message[0] ? message : asi_summary_text(event, "direction");
}

bool asi_report_is_complete(const asi_report *r) {
  const char *status = asi_summary_text(r->summary_tree, "status");
  return strcmp(status, "done") == 0 || strcmp(status, "stopped") == 0;
}

static as_status fail_read(const char *path, const char *why, as_error *error) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be read: %s.", path, why);
}

/// Reads a whole text file, whatever its length; NULL: `why` says why not.
static char *read_text(const char *path, size_t *size, const char **why) {
  FILE *file = asi_file_open(path, why);
  struct stat about;
  if (file == NULL && errno == ENOMEM) *why = NULL;
  if (file == NULL) return NULL;
  const size_t most = fstat(fileno(file), &about) == 0 ? (size_t)about.st_size : 0;
  char *text = asi_calloc(most + 1, 1);
  errno = 0;
  *size = text ? fread(text, 1, most, file) : 0;
  *why = text == NULL ? NULL : ferror(file) ? strerror(errno) : "";
  fclose(file);
  return text;
}

static as_status read_summary(asi_report *r, const char *path, as_error *error) {
  const char *why = "";
  size_t size = 2;
  r->summary = path ? read_text(path, &size, &why) : asi_calloc(3, 1);
  if (why == NULL || (path == NULL && r->summary == NULL)) return asi_fail_memory(error);
  if (why[0]) return fail_read(path, why, error);
  if (path == NULL) memcpy(r->summary, "{}", 3);
  if (path && strlen(r->summary) == size && !asi_json_is_whole(r->summary))
    return fail_read(path, "it is damaged: its digest is not that of its text", error);
  if (strlen(r->summary) == size && asi_json_is_object(r->summary)) return AS_OK;
  return fail_read(path ? path : "", "it is not a JSON object, as a run writes it", error);
}

static void ignore_fault(int file, int line, int column, const char *sentence, void *user) {
  (void)file;
  (void)line;
  (void)column;
  (void)sentence;
  (void)user;
}

const asi_value *asi_report_tree(asi_report *r, const char *json) {
  return asi_value_parse(json, strlen(json), 0, &r->arena, ignore_fault, NULL);
}

// ---- the results ------------------------------------------------------------------------------------

/// A scene that has only bodies, of results without one; NULL if memory runs out.
static char *make_scene(as_results_reader *reader) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  const char *title = as_results_reader_title(reader);
  fputs("{\"title\":", out);
  asi_json_text(out, title ? title : "alphastep");
  fputs(
      ",\"description\":null,\"model\":[],\"scene\":{\"size\":1,\"gravity\":[0,0,0],\"shapes\":[],"
      "\"frames\":[],\"joints\":[],\"forces\":[],\"bodies\":[",
      out);
  for (int i = 0; i < as_results_reader_bodies(reader); ++i) {
    fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
    asi_json_text(out, as_results_reader_body_name(reader, i));
    fputs(",\"mass\":0,\"inertia\":[0,0,0,0,0,0],\"point\":true}", out);
  }
  fputs("]}}", out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

static as_status take_scene(asi_report *r, const char *path, as_error *error) {
  r->scene = as_results_reader_text(r->reader, "scene");
  if (r->scene == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (r->scene == NULL) r->scene = r->made_scene = make_scene(r->reader);
  if (r->scene == NULL) return asi_fail_memory(error);
  if (asi_json_is_object(r->scene)) return AS_OK;
  return fail_read(path, "its scene is not a JSON object", error);
}

static as_status open_all(asi_report *r, const as_report_def *def, as_error *error) {
  as_status status = read_summary(r, def->summary, error);
  if (status == AS_OK) status = as_results_reader_open(def->results, &r->reader, error);
  if (status == AS_OK) status = take_scene(r, def->results, error);
  if (status) return status;
  r->summary_tree = asi_report_tree(r, r->summary);
  r->rows = as_results_reader_rows(r->reader);
  r->bodies = as_results_reader_bodies(r->reader);
  r->channels = as_results_reader_values(r->reader);
  r->time = asi_calloc((size_t)r->rows, sizeof *r->time);
  r->row = asi_calloc((size_t)r->rows, sizeof *r->row);
  r->error = asi_calloc((size_t)r->rows, sizeof *r->error);
  r->where = asi_calloc((size_t)r->rows + 1, sizeof *r->where);
  if (r->arena.failed || r->time == NULL || r->row == NULL || r->error == NULL || r->where == NULL)
    return asi_fail_memory(error);
  return r->rows > 0 ? as_results_reader_time(r->reader, r->time, error) : AS_OK;
}

as_status asi_report_errors(asi_report *r, int channel, long *worst, as_error *error) {
  const int from = as_results_reader_error(r->reader, channel);
  *worst = -1;
  if (from < 0) return AS_OK;
  const as_status status = as_results_reader_read(r->reader, from, r->error, error);
  for (long i = 0; i < r->rows && status == AS_OK; ++i) {
    r->error[i] = fabs(r->error[i]);
    if (isfinite(r->error[i]) && (*worst < 0 || r->error[i] > r->error[*worst])) *worst = i;
  }
  return status;
}

// ---- the page ---------------------------------------------------------------------------------------

static as_status write_page(asi_report *r, const as_report_def *def, as_error *error) {
  asi_draft draft;
  as_status status = asi_draft_open(&draft, def->output, error);
  if (status) return status;
  r->out = draft.file;
  const bool plain = def->plain || !as_report_is_interactive();
  status = plain ? asi_plain_write(r, error) : asi_page_write(r, error);
  return asi_draft_close(&draft, status, !def->no_sync, error);
}

static as_status make(const as_report_def *def, as_error *error) {
  asi_report r = {.reader = NULL};
  as_status status = open_all(&r, def, error);
  if (status == AS_OK) status = write_page(&r, def, error);
  as_results_reader_close(r.reader);
  asi_arena_free(&r.arena);
  free(r.summary);
  free(r.made_scene);
  free(r.time);
  free(r.row);
  free(r.error);
  free(r.where);
  return status;
}

as_status as_report_write(const as_report_def *def, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_report_def, def, error);
  if (made) return made;
  if (def->results == NULL || def->output == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A report needs the paths of its results and of its output.");
  asi_locale locale;
  if (!asi_locale_set_plain(&locale)) return asi_fail_memory(error);
  const as_status status = make(def, error);
  asi_locale_restore(&locale);
  return status;
}

/// Makes reports: opens what a run has left, writes the page beside its place, and puts it there when it is whole.
#define _POSIX_C_SOURCE 200809L // uselocale, open_memstream

#include "report/report.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"

enum { MOST_SUMMARY = 16 << 20 }; ///< bytes of a summary

as_report_def as_default_report_def(void) { return (as_report_def){.plain = false}; }

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

static as_status read_summary(asi_report *r, const char *path, as_error *error) {
  r->summary = asi_calloc(MOST_SUMMARY + 1, 1);
  if (r->summary == NULL) return asi_fail_memory(error);
  if (path == NULL) {
    memcpy(r->summary, "{}", 3);
    return AS_OK;
  }
  FILE *file = fopen(path, "rb");
  if (file == NULL) return fail_read(path, strerror(errno), error);
  errno = 0;
  const size_t size = fread(r->summary, 1, MOST_SUMMARY, file);
  const int number = ferror(file) ? errno : 0;
  fclose(file);
  if (number) return fail_read(path, strerror(number), error);
  r->summary[size] = '\0';
  if (strlen(r->summary) == size && asi_json_is_object(r->summary)) return AS_OK;
  return fail_read(path, "it is not a JSON object, as a run writes it", error);
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

// ---- the recording ----------------------------------------------------------------------------------

/// A scene that has only bodies, of a recording without one; NULL if memory runs out.
static char *make_scene(as_recording *recording) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  const char *title = as_recording_title(recording);
  fputs("{\"title\":", out);
  asi_json_text(out, title ? title : "alphastep");
  fputs(
      ",\"description\":null,\"model\":[],\"scene\":{\"size\":1,\"gravity\":[0,0,0],\"shapes\":[],"
      "\"frames\":[],\"joints\":[],\"forces\":[],\"bodies\":[",
      out);
  for (int i = 0; i < as_recording_bodies(recording); ++i) {
    fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
    asi_json_text(out, as_recording_body_name(recording, i));
    fputs(",\"mass\":0,\"inertia\":[0,0,0,0,0,0],\"point\":true}", out);
  }
  fputs("]}}", out);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

static as_status take_scene(asi_report *r, const char *path, as_error *error) {
  r->scene = as_recording_text(r->recording, "scene");
  if (r->scene == NULL) r->scene = r->made_scene = make_scene(r->recording);
  if (r->scene == NULL) return asi_fail_memory(error);
  if (asi_json_is_object(r->scene)) return AS_OK;
  return fail_read(path, "its scene is not a JSON object", error);
}

static as_status open_all(asi_report *r, const as_report_def *def, as_error *error) {
  as_status status = read_summary(r, def->summary, error);
  if (status == AS_OK) status = as_recording_open(def->results, &r->recording, error);
  if (status == AS_OK) status = take_scene(r, def->results, error);
  if (status) return status;
  r->summary_tree = asi_report_tree(r, r->summary);
  r->rows = as_recording_rows(r->recording);
  r->bodies = as_recording_bodies(r->recording);
  r->channels = as_recording_values(r->recording);
  r->time = asi_calloc((size_t)r->rows, sizeof *r->time);
  r->row = asi_calloc((size_t)r->rows, sizeof *r->row);
  r->error = asi_calloc((size_t)r->rows, sizeof *r->error);
  r->where = asi_calloc((size_t)r->rows + 1, sizeof *r->where);
  if (r->arena.failed || r->time == NULL || r->row == NULL || r->error == NULL || r->where == NULL)
    return asi_fail_memory(error);
  return r->rows > 0 ? as_recording_time(r->recording, r->time, error) : AS_OK;
}

as_status asi_report_errors(asi_report *r, int channel, long *worst, as_error *error) {
  const int from = as_recording_error(r->recording, channel);
  *worst = -1;
  if (from < 0) return AS_OK;
  const as_status status = as_recording_read(r->recording, from, r->error, error);
  for (long i = 0; i < r->rows && status == AS_OK; ++i) {
    r->error[i] = fabs(r->error[i]);
    if (isfinite(r->error[i]) && (*worst < 0 || r->error[i] > r->error[*worst])) *worst = i;
  }
  return status;
}

// ---- the page ---------------------------------------------------------------------------------------

static as_status fail_write(const char *path, int number, as_error *error) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be written: %s.", path,
                  strerror(number));
}

/// Is there something that is no file, as a pipe or a terminal? It is written to, not replaced.
static bool is_device(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

/// Writes to `beside` and gives it its name; or at once to where it goes, if `beside` is that.
static as_status write_page(asi_report *r, const as_report_def *def, const char *beside,
                            as_error *error) {
  const bool replaces = strcmp(beside, def->output) != 0;
  r->out = fopen(beside, "w");
  if (r->out == NULL) return fail_write(def->output, errno, error);
  const bool plain = def->plain || !as_report_is_interactive();
  errno = 0;
  as_status status = plain ? asi_plain_write(r, error) : asi_page_write(r, error);
  bool failed = fflush(r->out) != 0 || ferror(r->out);
  int number = errno;
  if (fclose(r->out) != 0 && !failed) {
    failed = true;
    number = errno;
  }
  if (status == AS_OK && !failed && replaces && rename(beside, def->output) != 0) {
    failed = true;
    number = errno;
  }
  if (status == AS_OK && failed) status = fail_write(def->output, number, error);
  if (status && replaces) (void)remove(beside);
  return status;
}

static as_status make(const as_report_def *def, as_error *error) {
  asi_report r = {.recording = NULL};
  const size_t size = strlen(def->output) + sizeof ".new";
  char *beside = malloc(size);
  as_status status = beside ? open_all(&r, def, error) : asi_fail_memory(error);
  if (status == AS_OK) {
    snprintf(beside, size, is_device(def->output) ? "%s" : "%s.new", def->output);
    status = write_page(&r, def, beside, error);
  }
  as_recording_close(r.recording);
  asi_arena_free(&r.arena);
  free(r.summary);
  free(r.made_scene);
  free(r.time);
  free(r.row);
  free(r.error);
  free(r.where);
  free(beside);
  return status;
}

as_status as_report_write(const as_report_def *def, as_error *error) {
  if (def->results == NULL || def->output == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A report needs the paths of its results and of its output.");
  const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (plain == (locale_t)0) return asi_fail_memory(error);
  const locale_t before = uselocale(plain);
  const as_status status = make(def, error);
  uselocale(before);
  freelocale(plain);
  return status;
}

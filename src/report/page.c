/// The page that moves: the template of web/ with the data of a run in it, as JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/version.h"
#include "base/error.h"
#include "base/json.h"
#include "report/array.h"
#include "report/report.h"

enum { MANY_BODIES = 100 }; ///< from here on, channels that repeat the poses are left out

typedef struct page {
  asi_report *r;
  FILE *out;
  asi_thinning thinning;
  float *value;  ///< room for the frames and for the extremes of a channel
  double *place; ///< likewise: times
  double size;   ///< of the machine [m]; NAN: not known
  bool even;     ///< all poses are numbers: they are written as multiples
} page;

// ---- channels ---------------------------------------------------------------------------------------

/// Least and greatest number of a channel, and where; -1: it has none.
typedef struct range {
  long low, high;
  bool constant; ///< every row has the same number
} range;

static range find_range(const double *x, long rows) {
  range found = {-1, -1, true};
  for (long i = 0; i < rows; ++i) {
    found.constant = found.constant && (x[i] == x[0] || (isnan(x[i]) && isnan(x[0])));
    if (!isfinite(x[i])) continue;
    if (found.low < 0 || x[i] < x[found.low]) found.low = i;
    if (found.high < 0 || x[i] > x[found.high]) found.high = i;
  }
  return found;
}

static void put_limit(const page *p, const char *name, long at) {
  fprintf(p->out, ",\"%s\":", name);
  asi_json_number(p->out, at < 0 ? (double)NAN : p->r->row[at]);
  fprintf(p->out, ",\"t%s\":", name);
  asi_json_number(p->out, at < 0 ? (double)NAN : p->r->time[at]);
}

static void put_extremes(const page *p, double offset) {
  const asi_report *r = p->r;
  const int n = asi_thin_extremes(r->row, r->rows, p->thinning.buckets, r->where);
  for (int i = 0; i < n; ++i) {
    p->place[i] = r->time[r->where[i]];
    p->value[i] = (float)(r->row[r->where[i]] - offset);
  }
  fputs(",\"extremes\":{\"t\":", p->out);
  asi_array_doubles(p->out, p->place, (size_t)n);
  fputs(",\"value\":", p->out);
  asi_array_floats(p->out, p->value, (size_t)n, 1, 1);
  putc('}', p->out);
}

/// Numbers that hardly change are written as differences, so that they keep their digits in 32 bits.
static double offset_of(const double *x, range at) {
  if (at.low < 0) return 0.0;
  const double low = x[at.low], high = x[at.high];
  return fmax(fabs(low), fabs(high)) > 8.0 * (high - low) ? 0.5 * low + 0.5 * high : 0.0;
}

/// Whether multiples of a small part of the range stand for all numbers: not where some are none, nor for what is of one sign and of
/// many sizes, which a logarithmic scale shows; motions seldom are looked at in that way.
static bool is_even(const page *p, const char *name, range at) {
  static const char *const motions[] = {"bodies.", "frames.", "joints.", "beams.", "flexible."};
  bool linear = false;
  for (size_t i = 0; i < sizeof motions / sizeof motions[0]; ++i)
    linear = linear || strncmp(name, motions[i], strlen(motions[i])) == 0;
  const double *x = p->r->row, span = x[at.high] - x[at.low];
  const double least = fmin(fabs(x[at.low]), fabs(x[at.high]));
  for (long i = 0; i < p->r->rows; ++i)
    if (!isfinite(x[i])) return false;
  return span > 1e-290 && span < 1e290 &&
         (linear || x[at.low] * x[at.high] < 0.0 || least > 1e-3 * span);
}

static bool put_values(const page *p, const char *name, range at) {
  const double *x = p->r->row, offset = offset_of(x, at);
  const size_t frames = (size_t)p->thinning.frames;
  bool written = true;
  if (offset != 0.0) {
    fputs(",\"offset\":", p->out);
    asi_json_number(p->out, offset);
  }
  fputs(",\"values\":", p->out);
  if (at.low >= 0 && is_even(p, name, at)) {
    const int exponent = asi_array_exponent(
        x[at.high] - x[at.low], fmax(fabs(x[at.low] - offset), fabs(x[at.high] - offset)));
    for (size_t i = 0; i < frames; ++i)
      p->place[i] = x[asi_thin_row(&p->thinning, (int)i)] - offset;
    written = asi_array_multiples(p->out, p->place, frames, 1, &exponent);
  } else {
    for (size_t i = 0; i < frames; ++i)
      p->value[i] = (float)(x[asi_thin_row(&p->thinning, (int)i)] - offset);
    asi_array_floats(p->out, p->value, frames, 1, 1);
  }
  if (p->thinning.buckets > 0) put_extremes(p, offset);
  return written;
}

/// A size with two digits, rounded up: that is all that an estimate says, and it is stored in less room.
static float roughly(double x) {
  int exponent;
  if (!isfinite(x)) return (float)NAN;
  const double part = frexp(x, &exponent);
  return (float)ldexp(ceil(64.0 * part) / 64.0, exponent);
}

/// The largest error of the rows about a frame.
static double error_about(const page *p, int frame) {
  const long here = asi_thin_row(&p->thinning, frame);
  const long from = frame > 0 ? asi_thin_row(&p->thinning, frame - 1) + 1 : here;
  const long end =
      frame + 1 < p->thinning.frames ? asi_thin_row(&p->thinning, frame + 1) : here + 1;
  double most = (double)NAN;
  for (long i = from; i < end; ++i) most = fmax(most, p->r->error[i]);
  return most;
}

static as_status put_errors(const page *p, int number, as_error *error) {
  const asi_report *r = p->r;
  long worst;
  const as_status status = asi_report_errors(p->r, number, &worst, error);
  if (status || worst < 0) return status;
  fputs(",\"error\":{\"max\":", p->out);
  asi_json_number(p->out, r->error[worst]);
  fputs(",\"t\":", p->out);
  asi_json_number(p->out, r->time[worst]);
  fputs(",\"values\":", p->out);
  for (int i = 0; i < p->thinning.frames; ++i) p->value[i] = roughly(error_about(p, i));
  asi_array_floats(p->out, p->value, (size_t)p->thinning.frames, 1, 1);
  putc('}', p->out);
  return AS_OK;
}

/// Whether a channel is one of the numbers of a pose.
static bool is_pose(const char *name) {
  const char *end = strrchr(name, '.');
  if (strncmp(name, "bodies.", 7) != 0 || end == NULL) return false;
  static const char position[] = ".position", quaternion[] = ".quaternion";
  const size_t n = sizeof position - 1, m = sizeof quaternion - 1, length = (size_t)(end - name);
  return (length > n && memcmp(end - n, position, n) == 0) ||
         (length > m && memcmp(end - m, quaternion, m) == 0);
}

/// Whether the poses say what a channel does as well as values of its own would: all rows are there, and it changes by
/// more than a quarter of the size that they are exact to 24 bits of.
static bool in_poses(const page *p, const char *name, range at) {
  const double *x = p->r->row;
  if (!is_pose(name) || at.low < 0 || p->thinning.frames < p->r->rows || !p->even) return false;
  const double size = strstr(name, ".quaternion.") ? 1.0 : p->size;
  return is_even(p, name, at) && x[at.high] - x[at.low] > 0.25 * size &&
         asi_array_exponent(size, fmax(fabs(x[at.low]), fabs(x[at.high]))) <=
             asi_array_exponent(size, size);
}

static as_status put_channel(const page *p, int number, as_error *error) {
  const as_channel channel = as_results_reader_channel(p->r->reader, number);
  const as_status status = as_results_reader_read(p->r->reader, number, p->r->row, error);
  if (status) return status;
  const range at = find_range(p->r->row, p->r->rows);
  fputs("{\"name\":", p->out);
  asi_json_text(p->out, channel.name);
  fputs(",\"unit\":", p->out);
  asi_json_text(p->out, channel.unit);
  put_limit(p, "min", at.low);
  put_limit(p, "max", at.high);
  if (at.constant)
    fputs(",\"constant\":true", p->out);
  else if (!in_poses(p, channel.name, at) && !put_values(p, channel.name, at))
    return asi_fail_memory(error);
  const as_status known = put_errors(p, number, error);
  putc('}', p->out);
  return known;
}

static bool is_left_out(const asi_report *r, int channel) {
  return r->bodies > MANY_BODIES && is_pose(as_results_reader_channel(r->reader, channel).name);
}

static as_status put_channels(const page *p, as_error *error) {
  bool first = true;
  fputs(",\n\"channels\":[", p->out);
  for (int i = 0; i < p->r->channels && p->r->rows > 0; ++i) {
    if (is_left_out(p->r, i)) continue;
    fputs(first ? "\n" : ",\n", p->out);
    first = false;
    const as_status status = put_channel(p, i, error);
    if (status) return status;
  }
  fputs("]", p->out);
  return AS_OK;
}

// ---- poses ------------------------------------------------------------------------------------------

/// The extent of the bodies' centres: the largest at one time, but not much less than that of their ways. NAN if a number of a pose is
/// none.
static double size_of(const double *poses, size_t frames, size_t bodies) {
  const double most = (double)INFINITY;
  double low[3] = {most, most, most}, high[3] = {-most, -most, -most}, size = 0.0;
  for (size_t i = 0; i < frames * bodies * AS_POSE; ++i)
    if (!isfinite(poses[i])) return (double)NAN;
  for (int k = 0; k < 3; ++k) {
    for (size_t i = 0; i < frames; ++i) {
      double least = most, greatest = -most;
      for (size_t b = 0; b < bodies; ++b) {
        const double x = poses[(i * bodies + b) * AS_POSE + (size_t)k];
        least = fmin(least, x);
        greatest = fmax(greatest, x);
      }
      size = fmax(size, greatest - least);
      low[k] = fmin(low[k], least);
      high[k] = fmax(high[k], greatest);
    }
    size = fmax(size, (high[k] - low[k]) / 64.0);
  }
  return size > 0.0 ? size : 1.0;
}

/// Poses as multiples, each column with an exponent of its own; false: memory ran out.
static bool put_even_poses(const page *p, double *all, size_t frames, size_t columns) {
  int *exponents = asi_calloc(columns, sizeof *exponents);
  for (size_t c = 0; exponents && c < columns; ++c) {
    double largest = 0.0;
    for (size_t i = 0; i < frames; ++i) largest = fmax(largest, fabs(all[i * columns + c]));
    exponents[c] = asi_array_exponent(c % AS_POSE < 3 ? p->size : 1.0, largest);
  }
  const bool written = exponents && asi_array_multiples(p->out, all, frames, columns, exponents);
  free(exponents);
  return written;
}

static bool put_float_poses(const page *p, const double *all, size_t n, size_t columns) {
  float *floats = asi_calloc(n, sizeof *floats);
  if (floats == NULL) return false;
  for (size_t i = 0; i < n; ++i) floats[i] = (float)all[i];
  asi_array_floats(p->out, floats, n, AS_POSE, columns);
  free(floats);
  return true;
}

static as_status put_poses(page *p, as_error *error) {
  const asi_report *r = p->r;
  const size_t frames = (size_t)p->thinning.frames, columns = (size_t)r->bodies * AS_POSE;
  double *all = asi_calloc(frames * columns, sizeof *all);
  double *poses = asi_calloc((size_t)r->rows * AS_POSE, sizeof *poses);
  as_status status = all && poses ? AS_OK : asi_fail_memory(error);
  for (int b = 0; b < r->bodies && status == AS_OK; ++b) {
    status = as_results_reader_poses(r->reader, b, poses, error);
    for (size_t i = 0; i < frames && status == AS_OK; ++i)
      memcpy(all + i * columns + (size_t)b * AS_POSE,
             poses + AS_POSE * asi_thin_row(&p->thinning, (int)i), AS_POSE * sizeof *all);
  }
  if (status == AS_OK) {
    fputs(",\n\"poses\":", p->out);
    p->size = size_of(all, frames, (size_t)r->bodies);
    p->even = p->size < 1e100 && r->rows > 0;
    const bool written = p->even ? put_even_poses(p, all, frames, columns)
                                 : put_float_poses(p, all, frames * columns, columns);
    if (!written) status = asi_fail_memory(error);
  }
  free(all);
  free(poses);
  return status;
}

static as_status put_times(const page *p, as_error *error) {
  double *time = asi_calloc((size_t)p->thinning.frames, sizeof *time);
  if (time == NULL) return asi_fail_memory(error);
  for (int i = 0; i < p->thinning.frames; ++i) time[i] = p->r->time[asi_thin_row(&p->thinning, i)];
  fprintf(p->out, ",\n\"rows\":%ld,\"frames\":%d,\n\"time\":", p->r->rows, p->thinning.frames);
  asi_array_doubles(p->out, time, (size_t)p->thinning.frames);
  free(time);
  return AS_OK;
}

// ---- the whole --------------------------------------------------------------------------------------

static void put_events(const page *p) {
  const asi_value *events = asi_value_get(p->r->summary_tree, "events");
  fputs(",\n\"events\":[", p->out);
  for (int i = 0; events && events->type == ASI_LIST && i < events->count; ++i) {
    const asi_value *event = events->item[i];
    fputs(i > 0 ? ",{\"t\":" : "{\"t\":", p->out);
    asi_json_number(p->out, asi_summary_number(event, "t"));
    fputs(",\"name\":", p->out);
    asi_json_text(p->out, asi_summary_text(event, "name"));
    fputs(",\"text\":", p->out);
    asi_json_text(p->out, asi_event_text(event));
    putc('}', p->out);
  }
  fputs("]", p->out);
}

/// The members of the scene's object: title, description, model, scene.
static void put_scene(const page *p) {
  asi_json_copy_part(p->out, strchr(p->r->scene, '{') + 1, strrchr(p->r->scene, '}'));
}

static as_status put_data(page *p, as_error *error) {
  fputs("<script type=\"application/json\" id=\"alphastep-data\">{\"format\":1,\"version\":",
        p->out);
  asi_json_text(p->out, as_version());
  fprintf(p->out,
          ",\"complete\":%s,\n\"summary\":", asi_report_is_complete(p->r) ? "true" : "false");
  asi_json_copy(p->out, p->r->summary);
  fputs(",\n", p->out);
  put_scene(p);
  as_status status = put_times(p, error);
  if (status == AS_OK) status = put_poses(p, error);
  if (status == AS_OK) status = put_channels(p, error);
  if (status) return status;
  put_events(p);
  fputs("}</script>", p->out);
  return AS_OK;
}

/// Writes the template up to a mark; what follows it, NULL if it is not there.
static const char *put_until(FILE *out, const char *from, const char *mark) {
  const char *at = strstr(from, mark);
  if (at == NULL) return NULL;
  fwrite(from, 1, (size_t)(at - from), out);
  return at + strlen(mark);
}

static as_status put_page(page *p, as_error *error) {
  size_t size;
  const char *title = as_results_reader_title(p->r->reader);
  const char *rest = put_until(p->out, asi_template(&size), "<!--alphastep-title-->");
  if (rest) asi_html_text(p->out, title ? title : "alphastep");
  if (rest) rest = put_until(p->out, rest, "<!--alphastep-data-->");
  if (rest == NULL)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
                    "The page that is built in has no place for the data.");
  const as_status status = put_data(p, error);
  if (status == AS_OK) fputs(rest, p->out);
  return status;
}

as_status asi_page_write(asi_report *r, as_error *error) {
  int channels = 0;
  for (int i = 0; i < r->channels; ++i)
    if (!is_left_out(r, i)) channels += as_results_reader_error(r->reader, i) < 0 ? 1 : 2;
  page p = {.r = r, .out = r->out, .thinning = asi_thin(r->rows, r->bodies, channels)};
  const int most =
      p.thinning.frames > 2 * p.thinning.buckets ? p.thinning.frames : 2 * p.thinning.buckets;
  p.value = asi_calloc((size_t)most, sizeof *p.value);
  p.place = asi_calloc((size_t)most, sizeof *p.place);
  const as_status status = p.value && p.place ? put_page(&p, error) : asi_fail_memory(error);
  free(p.value);
  free(p.place);
  return status;
}

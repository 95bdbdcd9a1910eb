/// Runs that are over in a file, one behind the other in the order in which they end: a head that says which study they are of, then a
/// record for each, all in words of 64 bits (base/archive.h):
///
///   head    magic, format, digest of the library's version, number of runs, number of results, digest of all settings and
///           results, digest of the files that the model was read from, digest of the head
///   record  words of it, run, outcome, time, results, characters of the message, message, digest of the record
///
/// Records behind one that is damaged are made again when a study is resumed: they come out as they were.
#define _POSIX_C_SOURCE 200809L // open, ftruncate, clock_gettime
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alphastep/version.h"
#include "base/archive.h"
#include "base/error.h"
#include "base/file.h"
#include "study/study.h"

enum {
  FORMAT = 1, ///< study format 1
  HEAD_WORDS = ASI_STUDY_HEAD / 8,
  RECORD_WORDS = 6, ///< without results and message
};

static const uint64_t MAGIC = 0x7964757473734153u; // "SAsstudy"
static const double PAUSE = 1.0; // between two times that the file is forced to the disk [s]

static double now(void) {
  struct timespec t;
  return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
                                                 : 0.0;
}

// ---- what a study is known by -----------------------------------------------------------------------

static void add_text(asi_digest *d, const char *text) { asi_digest_add(d, text, strlen(text) + 1); }

static void add_number(asi_digest *d, double x) {
  unsigned char byte[8];
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = byte, .size = sizeof byte};
  asi_archive_double(&a, &x);
  asi_digest_add(d, byte, sizeof byte);
}

/// All values of all parameters, settings and results. False: there is no memory.
static bool digest_study(const as_study *s, uint64_t *out) {
  asi_digest d = asi_digest_begin();
  asi_arena arena = {0};
  for (long i = 0; i < s->runs; ++i) {
    asi_arena_reset(&arena);
    const char *const *settings = asi_study_settings(s, i, &arena);
    if (settings == NULL) {
      asi_arena_free(&arena);
      return false;
    }
    // Settings of all runs once.
    const int first = i == 0 ? 0 : s->def.n_settings;
    for (int k = first; k < s->def.n_settings + s->def.n_parameters; ++k) add_text(&d, settings[k]);
  }
  asi_arena_free(&arena);
  for (int i = 0; i < s->def.n_results; ++i) {
    const as_study_result *r = &s->def.results[i];
    add_text(&d, r->name);
    add_text(&d, s->channel[i]);
    add_text(&d, as_study_measure_name(r->measure));
    add_number(&d, isnan(r->from) ? -(double)INFINITY : r->from);
    add_number(&d, isnan(r->to) ? (double)INFINITY : r->to);
  }
  add_number(&d, isnan(s->def.interval) ? 0.0 : s->def.interval);
  *out = asi_digest_end(&d);
  return true;
}

static uint64_t digest_files(const as_study *s) {
  asi_digest d = asi_digest_begin();
  for (int i = 0; i < s->n_files; ++i) {
    const uint64_t part[2] = {s->files[i].size, s->files[i].digest};
    unsigned char bytes[sizeof part];
    asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = bytes, .size = sizeof bytes};
    for (int k = 0; k < 2; ++k) {
      uint64_t word = part[k];
      asi_archive_word(&a, &word);
    }
    asi_digest_add(&d, bytes, sizeof bytes);
  }
  return asi_digest_end(&d);
}

/// The words of the head of this study, but the last one.
static bool find_head(const as_study *s, uint64_t head[HEAD_WORDS]) {
  const char *version = as_version();
  head[0] = MAGIC;
  head[1] = FORMAT;
  head[2] = asi_checksum((const unsigned char *)version, strlen(version));
  head[3] = (uint64_t)s->runs;
  head[4] = (uint64_t)s->def.n_results;
  head[6] = digest_files(s);
  return digest_study(s, &head[5]);
}

bool asi_study_make_head(const as_study *s, unsigned char head[ASI_STUDY_HEAD]) {
  uint64_t words[HEAD_WORDS];
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = head, .size = ASI_STUDY_HEAD};
  if (!find_head(s, words)) return false;
  for (int i = 0; i < HEAD_WORDS - 1; ++i) asi_archive_word(&a, &words[i]);
  uint64_t sum = asi_checksum(head, a.used);
  asi_archive_word(&a, &sum);
  return true;
}

// ---- writing ----------------------------------------------------------------------------------------

/// Appends bytes; what cannot be written whole is cut off again.
static as_status append(as_study *s, const void *bytes, size_t size, as_error *error) {
  const off_t before = lseek(s->file, 0, SEEK_END);
  if (before >= 0 && asi_file_put(s->file, bytes, size)) return AS_OK;
  const int number = errno;
  if (before >= 0 && ftruncate(s->file, before) != 0) errno = number;
  return asi_fail_write(s->file_path, number ? number : EIO, error);
}

as_status asi_study_sync(as_study *s, as_error *error) {
  if (s->file < 0 || s->no_sync) return AS_OK;
  s->synced = now();
  return asi_file_sync(s->file) ? AS_OK : asi_fail_write(s->file_path, errno, error);
}

unsigned char *asi_study_pack(const as_study *s, long run, size_t *out_size) {
  const asi_study_record *r = &s->record[run];
  const size_t results = (size_t)s->def.n_results;
  const size_t letters = r->message ? strlen(r->message) : 0, padded = (letters + 7) / 8 * 8;
  const size_t size = 8 * (RECORD_WORDS + results) + padded;
  unsigned char *bytes = asi_calloc(size, 1);
  if (bytes == NULL) return NULL;
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = bytes, .size = size};
  uint64_t head[3] = {size / 8, (uint64_t)run, (uint64_t)r->outcome}, length = letters;
  double t = r->t;
  for (int i = 0; i < 3; ++i) asi_archive_word(&a, &head[i]);
  asi_archive_double(&a, &t);
  asi_archive_doubles(&a, s->value + (size_t)run * results, results);
  asi_archive_word(&a, &length);
  if (letters > 0) memcpy(bytes + a.used, r->message, letters);
  a.used += padded;
  uint64_t sum = asi_checksum(bytes, a.used);
  asi_archive_word(&a, &sum);
  *out_size = size;
  return bytes;
}

as_status asi_study_keep_run(as_study *s, long run, as_error *error) {
  size_t size;
  if (s->file < 0) return AS_OK;
  unsigned char *bytes = asi_study_pack(s, run, &size);
  if (bytes == NULL) return asi_fail_memory(error);
  as_status status = append(s, bytes, size, error);
  free(bytes);
  if (status == AS_OK && now() - s->synced > PAUSE) status = asi_study_sync(s, error);
  return status;
}

// ---- reading ----------------------------------------------------------------------------------------

static uint64_t read_word(const unsigned char *bytes) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

long asi_study_unpack(as_study *s, const unsigned char *bytes, size_t size, long *run) {
  const size_t results = (size_t)s->def.n_results, least = 8 * (RECORD_WORDS + results);
  if (size < least) return 0;
  const uint64_t words = read_word(bytes);
  if (words > size / 8 || words < least / 8) return 0;
  const size_t whole = 8 * (size_t)words;
  if (asi_checksum(bytes, whole - 8) != read_word(bytes + whole - 8)) return 0;
  unsigned char *copy = asi_calloc(whole, 1); // archives are written to, too
  double *value = asi_calloc(results, sizeof *value);
  bool good = copy && value, noted = good;
  if (good) {
    memcpy(copy, bytes, whole);
    asi_archive a = {.mode = ASI_ARCHIVE_READ, .data = copy, .size = whole};
    uint64_t head[3], letters = 0;
    double t = 0.0;
    for (int i = 0; i < 3; ++i) asi_archive_word(&a, &head[i]);
    asi_archive_double(&a, &t);
    asi_archive_doubles(&a, value, results);
    asi_archive_word(&a, &letters);
    good = !a.damaged && head[1] < (uint64_t)s->runs && head[2] >= AS_STUDY_DONE &&
           head[2] <= AS_STUDY_FAILED && letters < ASI_STUDY_MESSAGE &&
           a.used + (letters + 7) / 8 * 8 + 8 == whole;
    if (good) {
      char message[ASI_STUDY_MESSAGE] = "";
      *run = (long)head[1];
      memcpy(message, copy + a.used, letters);
      if (s->record[*run].outcome == AS_STUDY_WAITING)
        noted = asi_study_note(s, *run, (as_study_outcome)head[2], t, value, message);
    }
  }
  free(copy);
  free(value);
  return !noted ? -1 : good ? (long)whole : 0;
}

static as_status refuse(const as_study *s, as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "`%.300s` cannot be resumed: %s.",
                  s->file_path, why);
}

const char *asi_study_compare_heads(const unsigned char *mine, const unsigned char *there) {
  uint64_t a[HEAD_WORDS], b[HEAD_WORDS];
  for (int i = 0; i < HEAD_WORDS; ++i) {
    a[i] = read_word(mine + (size_t)i * 8);
    b[i] = read_word(there + (size_t)i * 8);
  }
  if (a[1] != b[1] || a[2] != b[2]) return "another version of alphastep began the study";
  if (a[6] != b[6])
    return "the model file, or one that it reads, has changed since the study began";
  if (a[3] != b[3] || a[4] != b[4] || a[5] != b[5])
    return "its parameters, settings or results are others";
  return NULL;
}

static as_status check_head(const as_study *s, const unsigned char *bytes, size_t size,
                            as_error *error) {
  unsigned char mine[ASI_STUDY_HEAD];
  if (size < sizeof mine || read_word(bytes) != MAGIC)
    return refuse(s, error, "it is damaged, or no file of a study");
  const size_t summed = sizeof mine - 8;
  if (asi_checksum(bytes, summed) != read_word(bytes + summed))
    return refuse(s, error, "it is damaged");
  if (!asi_study_make_head(s, mine)) return asi_fail_memory(error);
  const char *why = asi_study_compare_heads(mine, bytes);
  return why ? refuse(s, error, why) : AS_OK;
}

/// Takes up what is in a file; writes how much of it is good.
static as_status take_up(as_study *s, size_t *good, as_error *error) {
  struct stat about;
  const char *why = NULL;
  FILE *in = asi_file_open(s->file_path, &why);
  if (in == NULL || fstat(fileno(in), &about) != 0) {
    if (in) fclose(in);
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "`%.300s` cannot be read: %s.",
                    s->file_path, why ? why : strerror(errno));
  }
  const size_t room = (size_t)about.st_size;
  unsigned char *bytes = asi_calloc(room, 1);
  const size_t size = bytes ? fread(bytes, 1, room, in) : 0;
  fclose(in);
  if (bytes == NULL) return asi_fail_memory(error);
  as_status status = check_head(s, bytes, size, error);
  *good = ASI_STUDY_HEAD;
  for (long n = 1; status == AS_OK && n > 0;) {
    long run;
    n = asi_study_unpack(s, bytes + *good, size - *good, &run);
    if (n < 0) status = asi_fail_memory(error);
    if (n > 0) *good += (size_t)n;
  }
  free(bytes);
  return status;
}

static as_status continue_file(as_study *s, as_error *error) {
  size_t good = 0;
  const as_status status = take_up(s, &good, error);
  if (status) return status;
  s->file = open(s->file_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (s->file < 0 || ftruncate(s->file, (off_t)good) != 0)
    return asi_fail_write(s->file_path, errno, error);
  return AS_OK;
}

static as_status begin_file(as_study *s, as_error *error) {
  unsigned char bytes[ASI_STUDY_HEAD];
  if (!asi_study_make_head(s, bytes)) return asi_fail_memory(error);
  s->file = asi_file_create(s->file_path);
  if (s->file < 0) return asi_fail_write(s->file_path, errno, error);
  return append(s, bytes, sizeof bytes, error);
}

as_status as_study_keep(as_study *s, const char *path, bool resume, bool no_sync, as_error *error) {
  if (s->file >= 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "Runs are kept in `%.300s` already.",
                    s->file_path);
  free(s->file_path);
  s->file_path = asi_file_beside(path, "");
  s->no_sync = no_sync;
  if (s->file_path == NULL) return asi_fail_memory(error);
  const as_status status = resume ? continue_file(s, error) : begin_file(s, error);
  if (status && s->file >= 0) {
    close(s->file);
    s->file = -1;
  }
  return status ? status : asi_study_sync(s, error);
}

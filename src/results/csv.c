/// Comma-separated values. Whole lines are collected and handed over in large pieces; if a piece cannot be written
/// whole, the file is cut back to its last whole line.
#define _POSIX_C_SOURCE 200809L // open, write, ftruncate

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/results.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/file.h"

enum {
  PIECE = 1 << 16,          ///< bytes that are collected
  NUMBER = ASI_DECIMAL + 1, ///< the most that a number and its comma take
};

struct as_csv {
  int file;
  char *path;
  char *text; ///< room bytes
  size_t used, room;
  off_t written;     ///< bytes in the file, whole lines only
  long lines;        ///< in the file
  asi_digest digest; ///< of what is in the file
  bool broken;       ///< a piece could not be written,
  int reason;        ///< because of this error number
  int n;             ///< columns without the time
};

static as_status fail_write(as_csv *csv, int number, as_error *error) {
  csv->broken = true;
  csv->reason = number;
  return asi_fail_write(csv->path, number, error);
}

static void note_written(as_csv *csv, size_t size) {
  csv->written += (off_t)size;
  asi_digest_add(&csv->digest, csv->text, size);
  for (size_t i = 0; i < size; ++i) csv->lines += csv->text[i] == '\n';
}

long as_csv_rows(const as_csv *csv) { return csv->lines > 0 ? csv->lines - 1 : 0; }

as_status as_csv_flush(as_csv *csv, as_error *error) {
  size_t done = 0;
  if (csv->broken) return fail_write(csv, csv->reason, error);
  while (done < csv->used) {
    const ssize_t count = write(csv->file, csv->text + done, csv->used - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int number = count < 0 ? errno : ENOSPC;
      while (done > 0 && csv->text[done - 1] != '\n') --done;
      note_written(csv, done);
      const int cut = ftruncate(csv->file, csv->written);
      (void)cut; // what has no length need not be cut
      return fail_write(csv, number, error);
    }
    done += (size_t)count;
  }
  note_written(csv, done);
  csv->used = 0;
  return AS_OK;
}

as_status as_csv_sync(as_csv *csv, as_error *error) {
  const as_status status = as_csv_flush(csv, error);
  if (status) return status;
  return asi_file_sync(csv->file) ? AS_OK : fail_write(csv, errno, error);
}

as_csv_mark as_csv_marked(const as_csv *csv) {
  return (as_csv_mark){csv->digest.bytes, asi_digest_end(&csv->digest)};
}

static bool put_char(as_csv *csv, char c) {
  if (csv->used == csv->room) {
    char *grown = realloc(csv->text, 2 * csv->room);
    if (grown == NULL) return false;
    csv->text = grown;
    csv->room *= 2;
  }
  csv->text[csv->used++] = c;
  return true;
}

/// `name [unit]`, in quotes if it has commas or quotes, which are doubled.
static bool put_title(as_csv *csv, const char *name, const char *unit) {
  const bool quoted = strpbrk(name, ",\"") != NULL;
  bool ok = !quoted || put_char(csv, '"');
  for (const char *c = name; *c && ok; ++c)
    ok = (*c != '"' || put_char(csv, '"')) && put_char(csv, *c);
  ok = ok && put_char(csv, ' ') && put_char(csv, '[');
  for (const char *c = unit; *c && ok; ++c) ok = put_char(csv, *c);
  return ok && put_char(csv, ']') && (!quoted || put_char(csv, '"'));
}

static bool put_titles(as_csv *csv, const as_channels *channels) {
  bool ok = put_title(csv, "time", "s");
  for (int i = 0; i < csv->n && ok; ++i) {
    const as_channel c = as_channels_get(channels, i);
    ok = put_char(csv, ',') && put_title(csv, c.name, c.unit);
  }
  return ok && put_char(csv, '\n');
}

/// Takes memory and puts the titles there.
static as_status prepare(as_csv *csv, const char *path, const as_channels *channels,
                         as_error *error) {
  csv->n = as_channels_count(channels);
  csv->room = (size_t)PIECE + ((size_t)csv->n + 1) * NUMBER;
  csv->text = asi_calloc(csv->room, 1);
  csv->path = asi_calloc(strlen(path) + 1, 1);
  if (csv->text == NULL || csv->path == NULL) return asi_fail_memory(error);
  memcpy(csv->path, path, strlen(path));
  return put_titles(csv, channels) ? AS_OK : asi_fail_memory(error);
}

static as_status make_file(as_csv *csv, as_error *error) {
  const char *obstacle = asi_file_obstacle(csv->path);
  if (obstacle)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be written: %s.",
                    csv->path, obstacle);
  char *beside = asi_file_beside(csv->path, ".new");
  if (beside == NULL) return asi_fail_memory(error);
  csv->file = asi_file_create(beside);
  as_status status = csv->file < 0 ? fail_write(csv, errno, error) : as_csv_flush(csv, error);
  if (status == AS_OK && !asi_file_rename(beside, csv->path, false))
    status = fail_write(csv, errno, error);
  if (status && csv->file >= 0) (void)remove(beside);
  free(beside);
  return status;
}

/// Reads the first bytes of a file; false: there are fewer.
static bool read_digest(FILE *in, uint64_t bytes, asi_digest *digest) {
  unsigned char piece[1 << 14];
  while (digest->bytes < bytes) {
    const uint64_t left = bytes - digest->bytes;
    const size_t got = fread(piece, 1, left < sizeof piece ? (size_t)left : sizeof piece, in);
    if (got == 0) return false;
    asi_digest_add(digest, piece, got);
  }
  return true;
}

as_status as_csv_verify(const char *path, as_csv_mark mark, as_error *error) {
  const char *why = NULL;
  FILE *in = asi_file_open(path, &why);
  if (in == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (in == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be read: %s.", path, why);
  asi_digest digest = asi_digest_begin();
  const bool whole = read_digest(in, mark.bytes, &digest);
  fclose(in);
  if (whole && asi_digest_end(&digest) == mark.digest) return AS_OK;
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                  "%.300s is damaged or of another run: its first %llu bytes are not those that "
                  "were written%s.",
                  path, mark.bytes, whole ? "" : "; it is shorter");
}

/// Cuts a file off behind its first rows, if its titles are ours.
static as_status cut_file(as_csv *csv, long rows, as_error *error) {
  const char *why = NULL;
  FILE *in = asi_file_open(csv->path, &why);
  if (in == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (in == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be read: %s.", csv->path,
                    why);
  size_t titles = 0;
  csv->written = 0;
  for (int c; csv->lines <= rows && (c = getc(in)) != EOF; ++csv->written) {
    const unsigned char byte = (unsigned char)c;
    if (titles < csv->used && (char)c != csv->text[titles++]) break;
    if (c == '\n') ++csv->lines;
    asi_digest_add(&csv->digest, &byte, 1);
  }
  fclose(in);
  if (titles < csv->used || csv->lines <= rows)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                    "%.300s cannot be continued: it does not hold %ld rows of these channels.",
                    csv->path, rows);
  csv->used = 0;
  csv->file = open(csv->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (csv->file < 0 || ftruncate(csv->file, csv->written) != 0 ||
      lseek(csv->file, 0, SEEK_END) != csv->written)
    return fail_write(csv, errno, error);
  return AS_OK;
}

/// rows < 0: a new file.
static as_status begin(const char *path, const as_channels *channels, long rows, as_csv **out,
                       as_error *error) {
  *out = NULL;
  as_csv *csv = asi_calloc(1, sizeof *csv);
  if (csv == NULL) return asi_fail_memory(error);
  csv->file = -1;
  csv->digest = asi_digest_begin();
  as_status status = prepare(csv, path, channels, error);
  if (status == AS_OK) status = rows < 0 ? make_file(csv, error) : cut_file(csv, rows, error);
  if (status) {
    csv->broken = true; // nothing more to be written
    as_csv_close(csv, NULL);
    return status;
  }
  *out = csv;
  return AS_OK;
}

as_status as_csv_create(const char *path, const as_channels *channels, as_csv **out,
                        as_error *error) {
  return begin(path, channels, -1, out, error);
}

as_status as_csv_continue(const char *path, const as_channels *channels, long rows, as_csv **out,
                          as_error *error) {
  if (rows < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "%ld rows cannot be kept.", rows);
  return begin(path, channels, rows, out, error);
}

as_status as_csv_row(double t, const double *row, int n, void *user, as_error *error) {
  as_csv *csv = user;
  if (n != csv->n)
    return asi_fail(error, AS_ERR_ARGUMENT, t, NULL, "A row of %d numbers for a table of %d.", n,
                    csv->n);
  if (csv->broken || csv->used + ((size_t)n + 1) * NUMBER > csv->room) {
    const as_status status = as_csv_flush(csv, error);
    if (status) return status;
  }
  csv->used += asi_decimal(csv->text + csv->used, t);
  for (int i = 0; i < n; ++i) {
    csv->text[csv->used++] = ',';
    csv->used += asi_decimal(csv->text + csv->used, row[i]);
  }
  csv->text[csv->used++] = '\n';
  return AS_OK;
}

as_status as_csv_close(as_csv *csv, as_error *error) {
  if (csv == NULL) return AS_OK;
  as_status status = csv->broken ? AS_OK : as_csv_flush(csv, error);
  if (csv->file >= 0 && close(csv->file) != 0 && status == AS_OK && !csv->broken)
    status = fail_write(csv, errno, error);
  free(csv->path);
  free(csv->text);
  free(csv);
  return status;
}

#include "base/memory_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

enum { MAGIC = 16, HEAD = 40 };

/// Format, length of the body and its checksum.
static void serialize_head(unsigned char *bytes, asi_archive_mode mode, uint64_t word[3]) {
  asi_archive head = {.mode = mode, .data = bytes + MAGIC, .size = HEAD - MAGIC};
  for (int i = 0; i < 3; ++i) asi_archive_word(&head, &word[i]);
}

as_status asi_memory_file_make(asi_memory_file *file, const char magic[16], int format, size_t size,
                               as_error *error) {
  file->bytes = asi_calloc(HEAD + size, 1);
  if (file->bytes == NULL) return asi_fail_memory(error);
  file->body = (asi_archive){.mode = ASI_ARCHIVE_WRITE, .data = file->bytes + HEAD, .size = size};
  memcpy(file->bytes, magic, MAGIC);
  uint64_t word[3] = {(uint64_t)format, size, 0};
  serialize_head(file->bytes, ASI_ARCHIVE_WRITE, word);
  return AS_OK;
}

static as_status fail(as_error *error, const char *path, const char *why) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be used: %.200s.", path,
                  why);
}

as_status asi_memory_file_write(asi_memory_file *file, const char *path, bool sync,
                                as_error *error) {
  uint64_t word[3];
  serialize_head(file->bytes, ASI_ARCHIVE_READ, word);
  word[2] = asi_checksum(file->body.data, file->body.size);
  serialize_head(file->bytes, ASI_ARCHIVE_WRITE, word);
  asi_draft output;
  const as_status status = asi_draft_open(&output, path, error);
  if (status) return status;
  (void)fwrite(file->bytes, 1, HEAD + file->body.size, output.file); // seen when it is closed
  return asi_draft_close(&output, AS_OK, sync, error);
}

/// Reads the body, whose length is only believed as far as there are bytes.
static as_status read_body(asi_memory_file *file, FILE *in, const char *path, uint64_t length,
                           as_error *error) {
  size_t used = 0, room = 0;
  for (bool more = true; more && used <= length;) {
    if (used == room) {
      room = 2 * room + 65536;
      unsigned char *grown = realloc(file->bytes, room);
      if (grown == NULL) return asi_fail_memory(error);
      file->bytes = grown;
    }
    const size_t got = fread(file->bytes + used, 1, room - used, in);
    used += got;
    more = got > 0;
  }
  if (ferror(in)) return fail(error, path, "it cannot be read");
  if (used < length) return fail(error, path, "it is cut off");
  if (used > length) return fail(error, path, "there is something behind its end");
  file->body = (asi_archive){.mode = ASI_ARCHIVE_READ, .data = file->bytes, .size = used};
  return AS_OK;
}

as_status asi_memory_file_read(asi_memory_file *file, const char *path, const char magic[16],
                               int format, as_error *error) {
  *file = (asi_memory_file){.bytes = NULL};
  const char *why = NULL;
  FILE *in = asi_file_open(path, &why);
  if (in == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (in == NULL) return fail(error, path, why);
  unsigned char head[HEAD] = {0};
  uint64_t word[3] = {0};
  const size_t size = fread(head, 1, HEAD, in);
  serialize_head(head, ASI_ARCHIVE_READ, word);
  as_status status = AS_OK;
  if (size < MAGIC || memcmp(head, magic, MAGIC) != 0)
    status = fail(error, path, "it is something else");
  else if (size < HEAD)
    status = fail(error, path, "it is cut off");
  else if (word[0] != (uint64_t)format)
    status = fail(error, path, "it is of another format than this library's");
  if (status == AS_OK) status = read_body(file, in, path, word[1], error);
  fclose(in);
  if (status == AS_OK && asi_checksum(file->bytes, file->body.size) != word[2])
    status = fail(error, path, "it is damaged (the checksum is wrong)");
  return status;
}

void asi_memory_file_free(asi_memory_file *file) { free(file->bytes); }

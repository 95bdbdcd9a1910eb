/// Reads zip archives, see zip.h. The directory at the end counts; what stands before each entry must agree with it.
#define _POSIX_C_SOURCE 200809L // fileno
#include "fmi/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/file.h"
#include "base/printable.h"
#include "fmi/description.h"

enum { LOCAL = 30, CENTRAL = 46, END = 22, LINK = 0120000, KIND = 0170000, UNIX = 3 };

static unsigned two(const unsigned char *at) { return at[0] | (unsigned)at[1] << 8; }
static uint32_t four(const unsigned char *at) { return two(at) | (uint32_t)two(at + 2) << 16; }

#define REFUSE(...) (snprintf(why, ASI_ZIP_WHY, __VA_ARGS__), false)

/// Where the record at the end begins; NULL: there is none.
static const unsigned char *find_end(const asi_zip *zip) {
  static const unsigned char mark[4] = {'P', 'K', 5, 6};
  if (zip->size < END) return NULL;
  const unsigned char *first =
      zip->size > END + 65535 ? zip->bytes + zip->size - END - 65535 : zip->bytes;
  for (const unsigned char *at = zip->bytes + zip->size - END; at >= first; --at)
    if (memcmp(at, mark, 4) == 0 && at + END + two(at + 20) == zip->bytes + zip->size) return at;
  return NULL;
}

/// Whether a name stays below the folder that it is unpacked into, and can be shown.
static bool check_name(const char *name, size_t length, char *why) {
  char shown[64];
  snprintf(shown, sizeof shown, "%.*s", (int)(length < 60 ? length : 60), name);
  asi_make_printable(shown);
  if (length == 0 || strlen(name) != length)
    return REFUSE("it has an entry whose name is empty or has a zero in it");
  if (name[0] == '/' || (length > 1 && name[1] == ':') || strchr(name, '\\'))
    return REFUSE("its entry \"%s\" is no path below the archive's folder", shown);
  for (const char *c = name; *c;) {
    size_t n = 0;
    if (!asi_printable(c, &n)) return REFUSE("its entry \"%s\" has what cannot be printed", shown);
    c += n;
  }
  for (const char *part = name; part;) {
    const char *slash = strchr(part, '/');
    const size_t n = slash ? (size_t)(slash - part) : strlen(part);
    if ((n == 2 && strncmp(part, "..", 2) == 0) || (n == 1 && part[0] == '.') ||
        (n == 0 && (slash || part == name)))
      return REFUSE("its entry \"%s\" leads out of the archive's folder", shown);
    if (n > 200) return REFUSE("its entry \"%s\" has a name of more than 200 characters", shown);
    part = slash ? slash + 1 : NULL;
  }
  return length <= 1000 ||
         REFUSE("its entry \"%s\" has a path of more than 1000 characters", shown);
}

/// What may be unpacked at all, as the directory has it.
static bool check_entry(const unsigned char *at, const char *name, char *why) {
  const unsigned flags = two(at + 8), method = two(at + 10);
  const uint32_t packed = four(at + 20), size = four(at + 24), offset = four(at + 42);
  if (flags & 1u || flags & 1u << 6) return REFUSE("its entry \"%.60s\" is encrypted", name);
  if (packed == UINT32_MAX || size == UINT32_MAX || offset == UINT32_MAX)
    return REFUSE("its entry \"%.60s\" is of zip64, which no FMU of less than 1 GB needs", name);
  if (two(at + 34) != 0) return REFUSE("it is one of several parts of an archive");
  if (method != 0 && method != 8)
    return REFUSE(
        "its entry \"%.60s\" is compressed by method %u: only `stored` and `deflated` are read",
        name, method);
  if (two(at + 4) >> 8 == UNIX && (four(at + 38) >> 16 & KIND) == LINK)
    return REFUSE("its entry \"%.60s\" is a link", name);
  if (method == 0 && packed != size)
    return REFUSE("its entry \"%.60s\" is stored, but its two sizes differ", name);
  if (size > ASI_ZIP_SMALL && size / ASI_ZIP_RATIO > packed)
    return REFUSE("its entry \"%.60s\" has %lu bytes in %lu: more than %d times, as a zip bomb has",
                  name, (unsigned long)size, (unsigned long)packed, ASI_ZIP_RATIO);
  return true;
}

/// Where an entry's bytes begin, behind what stands before them.
static bool find_bytes(const asi_zip *zip, size_t directory, const unsigned char *at,
                       asi_zip_entry *e, char *why) {
  static const unsigned char mark[4] = {'P', 'K', 3, 4};
  const size_t local = four(at + 42);
  const unsigned char *head = zip->bytes + local;
  if (local > directory || directory - local < LOCAL || memcmp(head, mark, 4) != 0)
    return REFUSE("it is damaged: the entry \"%.60s\" is not where its directory says", e->name);
  const size_t before = LOCAL + two(head + 26) + two(head + 28);
  if (before > directory - local || e->packed > directory - local - before)
    return REFUSE("it is damaged or cut off: the entry \"%.60s\" runs into its directory", e->name);
  if (two(head + 26) != strlen(e->name) || memcmp(head + LOCAL, e->name, strlen(e->name)) != 0 ||
      two(head + 8) != (e->deflated ? 8u : 0u))
    return REFUSE("its entry \"%.60s\" is another one in its directory", e->name);
  e->offset = local + before;
  return true;
}

static int by_place(const void *a, const void *b) {
  const asi_zip_entry *x = *(const asi_zip_entry *const *)a, *y = *(const asi_zip_entry *const *)b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_name(const void *a, const void *b) {
  return strcmp((*(const asi_zip_entry *const *)a)->name, (*(const asi_zip_entry *const *)b)->name);
}

/// No entry twice, none inside another one, not too much in all.
static bool check_all(const asi_zip *zip, char *why) {
  const asi_zip_entry **list = malloc(((size_t)zip->n + 1) * sizeof *list);
  size_t total = 0;
  if (list == NULL) return REFUSE(ASI_FMU_NO_MEMORY);
  for (int i = 0; i < zip->n; ++i) {
    list[i] = &zip->entry[i];
    total += zip->entry[i].size; // less than 20000 times 4 GiB
  }
  bool good =
      total <= ASI_ZIP_MOST || REFUSE("it has %.3g GB unpacked: more than %d MB are refused",
                                      1e-9 * (double)total, ASI_ZIP_MOST >> 20);
  qsort(list, (size_t)zip->n, sizeof *list, by_place);
  for (int i = 1; i < zip->n && good; ++i)
    if (list[i - 1]->offset + list[i - 1]->packed > list[i]->offset)
      good = REFUSE("its entries \"%.60s\" and \"%.60s\" overlap, as in a zip bomb",
                    list[i - 1]->name, list[i]->name);
  qsort(list, (size_t)zip->n, sizeof *list, by_name);
  for (int i = 1; i < zip->n && good; ++i)
    if (strcmp(list[i - 1]->name, list[i]->name) == 0 &&
        (list[i - 1]->crc != list[i]->crc || list[i - 1]->size != list[i]->size))
      good = REFUSE("its entry \"%.60s\" is there twice, and not the same", list[i]->name);
  free(list);
  return good;
}

static bool read_directory(asi_zip *zip, char *why) {
  static const unsigned char mark[4] = {'P', 'K', 1, 2};
  const unsigned char *end = find_end(zip);
  if (end == NULL) return REFUSE("it is no zip archive, or damaged or cut off");
  const unsigned count = two(end + 10);
  const size_t size = four(end + 12), directory = four(end + 16);
  if (count == 0xffff || directory == UINT32_MAX)
    return REFUSE("it is of zip64, which no FMU of less than 1 GB needs");
  if (two(end + 4) != 0 || two(end + 6) != 0 || two(end + 8) != count)
    return REFUSE("it is one of several parts of an archive");
  if (count > ASI_ZIP_ENTRIES)
    return REFUSE("it has %u entries: more than %d are refused", count, ASI_ZIP_ENTRIES);
  if (directory > (size_t)(end - zip->bytes) || size > (size_t)(end - zip->bytes) - directory)
    return REFUSE("it is damaged or cut off: its directory is not where it says");
  zip->entry = calloc((size_t)count + 1, sizeof *zip->entry);
  zip->names = malloc(size + count + 1);
  if (zip->entry == NULL || zip->names == NULL) return REFUSE(ASI_FMU_NO_MEMORY);
  char *name = zip->names;
  size_t at = directory;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned char *head = zip->bytes + at;
    const size_t left = directory + size - at;
    const size_t length = left < CENTRAL ? 0 : two(head + 28);
    if (left < CENTRAL || memcmp(head, mark, 4) != 0 ||
        left < CENTRAL + length + two(head + 30) + two(head + 32))
      return REFUSE("it is damaged: its directory has %u entries, not %u", i, count);
    at += CENTRAL + length + two(head + 30) + two(head + 32);
    memcpy(name, head + CENTRAL, length);
    name[length] = '\0';
    const bool folder = length > 1 && name[length - 1] == '/';
    if (!check_name(name, length, why) || !check_entry(head, name, why)) return false;
    asi_zip_entry *e = &zip->entry[zip->n];
    *e = (asi_zip_entry){.name = name,
                         .packed = four(head + 20),
                         .size = four(head + 24),
                         .crc = four(head + 16),
                         .deflated = two(head + 10) == 8};
    if (folder) continue; // its name's room is used again
    if (!find_bytes(zip, directory, head, e, why)) return false;
    name += length + 1;
    ++zip->n;
  }
  return check_all(zip, why);
}

bool asi_zip_take(asi_zip *zip, unsigned char *bytes, size_t size, char why[ASI_ZIP_WHY]) {
  *zip = (asi_zip){.bytes = bytes, .size = size};
  if (read_directory(zip, why)) return true;
  asi_zip_close(zip);
  return false;
}

bool asi_zip_open(asi_zip *zip, const char *path, char why[ASI_ZIP_WHY]) {
  const char *reason = NULL;
  struct stat about;
  FILE *file = asi_file_open(path, &reason);
  *zip = (asi_zip){0};
  if (file == NULL) return REFUSE("it cannot be read: %.200s", reason);
  if (fstat(fileno(file), &about) != 0 || about.st_size > ASI_ZIP_MOST) {
    fclose(file);
    return REFUSE("it has more than %d MB", ASI_ZIP_MOST >> 20);
  }
  const size_t size = (size_t)about.st_size;
  unsigned char *bytes = malloc(size + 1);
  const bool whole = bytes && fread(bytes, 1, size, file) == size;
  fclose(file);
  if (whole) return asi_zip_take(zip, bytes, size, why);
  const bool memory = bytes == NULL;
  free(bytes);
  return REFUSE("%s", memory ? ASI_FMU_NO_MEMORY : "it cannot be read as a whole");
}

void asi_zip_close(asi_zip *zip) {
  free(zip->bytes);
  free(zip->entry);
  free(zip->names);
  *zip = (asi_zip){0};
}

const asi_zip_entry *asi_zip_find(const asi_zip *zip, const char *name) {
  for (int i = 0; i < zip->n; ++i)
    if (strcmp(zip->entry[i].name, name) == 0) return &zip->entry[i];
  return NULL;
}

/// Inflates to exactly the room that the directory says.
static bool inflate_entry(const asi_zip *zip, const asi_zip_entry *e, unsigned char *out) {
  z_stream stream = {.next_in = zip->bytes + e->offset, .avail_in = (uInt)e->packed};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  stream.next_out = out;
  stream.avail_out = (uInt)e->size + 1; // the room of the zero: one byte too many is seen
  const int code = inflate(&stream, Z_FINISH);
  const bool good = code == Z_STREAM_END && stream.total_out == e->size;
  (void)inflateEnd(&stream);
  return good;
}

unsigned char *asi_zip_unpack(const asi_zip *zip, const asi_zip_entry *e, char why[ASI_ZIP_WHY]) {
  unsigned char *out = malloc(e->size + 1);
  if (out == NULL) {
    (void)REFUSE(ASI_FMU_NO_MEMORY);
    return NULL;
  }
  bool good = true;
  if (e->deflated)
    good = inflate_entry(zip, e, out);
  else
    memcpy(out, zip->bytes + e->offset, e->size);
  good = good && crc32(0, out, (uInt)e->size) == e->crc;
  out[e->size] = '\0';
  if (good) return out;
  free(out);
  (void)REFUSE("its entry \"%.60s\" is damaged: it does not unpack to what the directory says",
               e->name);
  return NULL;
}

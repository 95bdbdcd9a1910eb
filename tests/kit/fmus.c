#define _XOPEN_SOURCE 700 // mkdtemp, nftw
#include "fmus.h"

#include <dlfcn.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static unsigned char *read_all(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s cannot be opened", path);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = calloc(*size + 1, 1);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) fail_msg("%s cannot be read", path);
  fclose(file);
  return bytes;
}

static uint32_t number(const unsigned char *at, int n) {
  uint32_t x = 0;
  for (int i = 0; i < n; ++i) x |= (uint32_t)at[i] << (8 * i);
  return x;
}

/// Makes the folders above a file.
static void make_folders(char *path, size_t from) {
  for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
}

/// Writes the member whose entry in the directory is at `at`.
static void unpack_member(const unsigned char *zip, const unsigned char *at, const char *folder) {
  const uint32_t crc = number(at + 16, 4), packed = number(at + 20, 4), size = number(at + 24, 4);
  const unsigned char *local = zip + number(at + 42, 4);
  char path[1400];
  snprintf(path, sizeof path, "%s/%.*s", folder, (int)number(at + 28, 2), (const char *)at + 46);
  make_folders(path, strlen(folder) + 1);
  unsigned char *bytes = calloc(size + 1, 1), *in = malloc(packed + 1);
  assert_true(bytes && in && number(local, 4) == 0x04034b50);
  memcpy(in, local + 30 + number(local + 26, 2) + number(local + 28, 2), packed);
  z_stream s = {.next_in = in, .avail_in = packed, .next_out = bytes, .avail_out = size};
  assert_int_equal(inflateInit2(&s, -MAX_WBITS), Z_OK);
  assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
  inflateEnd(&s);
  assert_int_equal(crc32(0, bytes, size), crc);
  FILE *out = fopen(path, "wb");
  assert_true(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
  free(bytes);
  free(in);
}

/// The only shared library below a folder.
static char found[1400];
static int find_library(const char *path, const struct stat *about, int type, struct FTW *place) {
  (void)about;
  (void)place;
  const size_t n = strlen(path);
  if (type == FTW_F && n > 3 && strcmp(path + n - 3, ".so") == 0)
    snprintf(found, sizeof found, "%s", path);
  return 0;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place) {
  (void)about;
  (void)type;
  (void)place;
  return remove(path);
}

/// The value of an attribute behind `from`.
static void take_attribute(const char *from, const char *name, char *out, size_t size) {
  const char *at = strstr(from, name);
  assert_non_null(at);
  at += strlen(name);
  snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

void fmus_unpack(const char *fmu, fmus_unpacked *out) {
  size_t size;
  unsigned char *zip = read_all(fmu, &size);
  assert_true(size > 22 && number(zip + size - 22, 4) == 0x06054b50);
  snprintf(out->folder, sizeof out->folder, "%s-XXXXXX", fmu);
  assert_non_null(mkdtemp(out->folder));
  const unsigned char *at = zip + number(zip + size - 6, 4);
  for (uint32_t i = 0; i < number(zip + size - 12, 2); ++i) {
    assert_int_equal(number(at, 4), 0x02014b50);
    unpack_member(zip, at, out->folder);
    at += 46 + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
  }
  free(zip);
  char path[700];
  snprintf(path, sizeof path, "%s/modelDescription.xml", out->folder);
  out->description = (char *)read_all(path, &size);
  take_attribute(out->description, strstr(out->description, "guid=") ? "guid=\"" : "Token=\"",
                 out->token, sizeof out->token);
  found[0] = '\0';
  snprintf(path, sizeof path, "%s/binaries", out->folder);
  nftw(path, find_library, 8, FTW_PHYS);
  out->library = dlopen(found, RTLD_NOW | RTLD_LOCAL);
  if (out->library == NULL) fail_msg("%s", dlerror());
}

void fmus_remove(fmus_unpacked *f) {
  dlclose(f->library);
  free(f->description);
  nftw(f->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

unsigned fmus_reference(const fmus_unpacked *f, const char *name) {
  char wanted[300], text[20];
  snprintf(wanted, sizeof wanted, " name=\"%s\" valueReference=", name);
  const char *at = strstr(f->description, wanted);
  if (at == NULL) fail_msg("there is no variable %s", name);
  take_attribute(at, "valueReference=\"", text, sizeof text);
  return (unsigned)strtoul(text, NULL, 10);
}

void fmus_function(const fmus_unpacked *f, const char *name, void *pointer, size_t size) {
  void *function = dlsym(f->library, name);
  if (function == NULL) fail_msg("there is no function %s", name);
  memcpy(pointer, &function, size);
}

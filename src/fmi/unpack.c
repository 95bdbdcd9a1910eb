/// Unpacks an FMU into a folder of its own that nobody else can enter, and removes it.
#define _XOPEN_SOURCE 700 // mkdtemp, nftw

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fmi/fmu.h"
#include "fmi/zip.h"

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)kind, (void)where;
  (void)remove(path);
  return 0;
}

void asi_fmu_remove(char *folder) {
  if (folder) (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(folder);
}

/// Creates the folders of a path; what is there already may be there.
static bool make_folders(char *path, size_t from) {
  for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return true;
}

static bool write_entry(const asi_zip *zip, const asi_zip_entry *e, const char *folder, char *why) {
  const size_t room = strlen(folder) + strlen(e->name) + 2;
  char *path = malloc(room);
  unsigned char *bytes = asi_zip_unpack(zip, e, why);
  bool good = path && bytes;
  if (path == NULL) snprintf(why, ASI_FMU_WHY, ASI_FMU_NO_MEMORY);
  if (good) {
    snprintf(path, room, "%s/%s", folder, e->name);
    const bool made = make_folders(path, strlen(folder) + 1);
    const int file = made ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    good = file >= 0 && asi_file_put(file, bytes, e->size);
    if (file >= 0 && close(file) != 0) good = false;
    if (!good)
      snprintf(why, ASI_FMU_WHY, "its entry \"%.60s\" cannot be unpacked to %.100s: %s", e->name,
               folder, strerror(errno));
  }
  free(bytes);
  free(path);
  return good;
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

char *asi_fmu_unpack(const char *path, const char *binaries, char why[ASI_FMU_WHY]) {
  const char *parent = getenv("TMPDIR");
  asi_zip zip;
  if (!asi_zip_open(&zip, path, why)) return NULL;
  if (parent == NULL || parent[0] != '/') parent = "/tmp";
  const size_t room = strlen(parent) + 64;
  char *folder = malloc(room), *resources = malloc(room);
  bool good = folder && resources;
  if (good) {
    snprintf(folder, room, "%s/alphastep-fmu-XXXXXX", parent);
    good = mkdtemp(folder) != NULL;
    snprintf(resources, room, "%s/resources", folder);
    if (good) good = mkdir(resources, 0700) == 0;
    if (!good)
      snprintf(why, ASI_FMU_WHY, "no folder to unpack it can be made in %.200s: %s", parent,
               strerror(errno));
  } else {
    snprintf(why, ASI_FMU_WHY, ASI_FMU_NO_MEMORY);
  }
  for (int i = 0; i < zip.n && good; ++i)
    if (asi_zip_find(&zip, zip.entry[i].name) == &zip.entry[i] && // the same again
        (begins(zip.entry[i].name, "resources/") || begins(zip.entry[i].name, binaries)))
      good = write_entry(&zip, &zip.entry[i], folder, why);
  asi_zip_close(&zip);
  free(resources);
  if (good) return folder;
  asi_fmu_remove(folder);
  return NULL;
}

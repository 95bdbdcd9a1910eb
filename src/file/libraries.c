/// Opens shared libraries with plugins. A model file alone never runs code: a library is opened only if the caller's policy says
/// so, and what is looked at before (where it is, what sort of file) does not run it.
#define _GNU_SOURCE // realpath, lstat, ElfW
#include "file/libraries.h"

#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <limits.h>
#ifdef __linux__
#include <link.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "control/plugin.h"

void asi_libraries_close(asi_library *library) {
  for (; library; library = library->older)
    if (library->handle) (void)dlclose(library->handle);
}

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// Whether a path ends with another one.
static bool ends_with(const char *path, const char *tail) {
  const size_t n = strlen(path), m = strlen(tail);
  return m > 0 && m <= n && strcmp(path + n - m, tail) == 0 && (m == n || path[n - m - 1] == '/');
}

static bool is_below(const char *path, const char *folder) {
  const size_t n = strlen(folder);
  return strncmp(path, folder, n) == 0 && (path[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

/// A path without links and `..`; NULL: there is none. To be freed.
static char *resolve(asi_reader *r, const char *path) {
  char *out = realpath(path, NULL);
  r->no_memory = r->no_memory || (out == NULL && errno == ENOMEM);
  return out;
}

/// The folder that may be trusted that a file is in, resolved; NULL: it is in none of them. To be freed.
static char *find_folder(asi_reader *r, const asi_trust *trust, const char *real) {
  for (int i = 0; i < trust->n_folders && !r->no_memory; ++i) {
    char *folder = resolve(r, trust->folders[i]);
    if (folder && is_below(real, folder)) return folder;
    free(folder);
  }
  return NULL;
}

/// Where a file is: beside the model file; one that is not there, under its name in the folders that may be trusted. To be freed.
static char *find_place(asi_reader *r, const asi_trust *trust, const char *path) {
  struct stat about;
  for (int i = -1; i < trust->n_folders; ++i) {
    const char *folder = i < 0 ? "" : trust->folders[i], *tail = i < 0 ? path : name_of(path);
    const size_t size = strlen(folder) + strlen(tail) + 2;
    char *place = malloc(size);
    if (place == NULL) {
      r->no_memory = true;
      return NULL;
    }
    snprintf(place, size, "%s%s%s", folder, i < 0 ? "" : "/", tail);
    if (lstat(place, &about) == 0) return place;
    free(place);
  }
  return NULL;
}

/// Whether it is a file of its own.
static bool is_file(asi_reader *r, const asi_value *at, const asi_trust *trust, const char *place) {
  struct stat about;
  if (lstat(place, &about) == 0 && S_ISREG(about.st_mode)) return true;
  asi_complain(r, at, "the %s \"%.200s\" is no file: %s", trust->what, place,
               S_ISLNK(about.st_mode) ? "it is a link; name what it leads to"
                                      : "a folder, a device or a pipe");
  return false;
}

/// Refuses code that the policy does not let in.
static bool is_allowed(asi_reader *r, const asi_value *at, const asi_trust *trust, const char *real,
                       const char **because) {
  char *folder = find_folder(r, trust, real);
  if (r->no_memory) return false;
  if (folder) *because = asi_arena_text(r->arena, folder, strlen(folder));
  free(folder);
  if (*because || trust->all) return true;
  asi_complain(r, at,
               "the %s \"%.300s\" is code that would run with your rights, and a model file "
               "alone never runs code: if you trust it, add `--allow-%ss` or `--%ss-from "
               "%.*s` (in C: as_plugin_policy)",
               trust->what, real, trust->option, trust->option,
               (int)(name_of(real) - real > 1 ? name_of(real) - real - 1 : 1), real);
  return false;
}

const char *asi_find_trusted(asi_reader *r, const asi_value *at, const asi_trust *trust,
                             const char *path, const char **because) {
  char *place = find_place(r, trust, path), *real = NULL;
  const char *kept = NULL;
  *because = NULL;
  if (place == NULL && !r->no_memory)
    asi_complain(r, at, "the %s \"%.200s\" is not there%s", trust->what, path, trust->hint);
  if (place && is_file(r, at, trust, place)) {
    real = resolve(r, place);
    if (real == NULL && !r->no_memory)
      asi_complain(r, at, "\"%.200s\" cannot be read: %s", place, strerror(errno));
  }
  if (real && is_allowed(r, at, trust, real, because))
    kept = asi_arena_text(r->arena, real, strlen(real));
  if (kept) asi_note_file(r, kept);
  free(place);
  free(real);
  return kept;
}

#ifdef __linux__
/// Whether a file ends before a part of it that would be loaded: dlopen() would end the process where that is touched.
static bool is_cut_off(const char *path) {
  const char *why;
  struct stat about;
  ElfW(Ehdr) head;
  ElfW(Phdr) part;
  bool cut = false;
  FILE *file = asi_file_open(path, &why);
  if (file == NULL || fstat(fileno(file), &about) != 0 || fread(&head, sizeof head, 1, file) != 1 ||
      memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof part) {
    if (file) fclose(file);
    return false; // dlopen() says what it is
  }
  const unsigned long long size = (unsigned long long)about.st_size;
  if (fseeko(file, (off_t)head.e_phoff, SEEK_SET) != 0) cut = true;
  for (int i = 0; i < head.e_phnum && !cut; ++i)
    cut =
        fread(&part, sizeof part, 1, file) != 1 ||
        (part.p_type == PT_LOAD && (part.p_filesz > size || part.p_offset > size - part.p_filesz));
  fclose(file);
  return cut;
}
#else
static bool is_cut_off(const char *path) {
  (void)path;
  return false;
}
#endif

/// dlopen() as if nothing had happened to this thread: a library that was built with -ffast-math sets how it rounds when it is loaded.
static void *load_quietly(const char *path) {
  fenv_t before;
  (void)fegetenv(&before);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  (void)fesetenv(&before);
  return handle;
}

/// Opens it and asks for its description. NULL: it was said why not.
static const as_plugin *open_library(asi_reader *r, const asi_value *at, const char *real,
                                     asi_library *library) {
  as_error error;
  as_plugin_fn *describe = NULL;
  if (is_cut_off(real)) {
    asi_complain(r, at, "the plugin \"%.300s\" is cut off: the file is shorter than it says", real);
    return NULL;
  }
  library->handle = load_quietly(real);
  if (library->handle == NULL) {
    const char *why = dlerror();
    asi_complain(r, at, "the plugin cannot be loaded: %.300s", why ? why : real);
    return NULL;
  }
  void *const symbol = dlsym(library->handle, "alphastep_plugin");
  if (symbol == NULL) {
    asi_complain(r, at,
                 "\"%.300s\" is no plugin: it has no function `alphastep_plugin` (is it marked "
                 "AS_PLUGIN_EXPORT?)",
                 real);
    return NULL;
  }
  memcpy(&describe, &symbol, sizeof describe); // ISO C has no cast for this
  const as_plugin *plugin = describe();
  if (asi_plugin_check(plugin, real, &error) == AS_OK) return plugin;
  asi_complain(r, at, "%s", error.message);
  return NULL;
}

/// Notes a plugin in the machine.
static void note(asi_reader *r, const char *path, const as_plugin *plugin, const char *because) {
  as_machine *m = r->machine;
  as_used_plugin *more =
      asi_arena_take(r->arena, ((size_t)m->n_plugins + 1) * sizeof *more); // there are few
  if (more == NULL) return;
  if (m->n_plugins > 0) memcpy(more, m->plugins, (size_t)m->n_plugins * sizeof *more);
  more[m->n_plugins++] = (as_used_plugin){path, plugin, because};
  m->plugins = more;
}

static const as_plugin *find_linked(const asi_reader *r, const char *path) {
  const as_plugin_policy *policy = r->policy;
  for (int i = 0; policy && i < policy->n_linked; ++i)
    if (ends_with(path, policy->linked[i].file)) return policy->linked[i].plugin;
  return NULL;
}

bool asi_is_linked(const asi_reader *r, const char *path) { return find_linked(r, path) != NULL; }

static const as_plugin *open_linked(asi_reader *r, const asi_value *at, const char *path,
                                    const as_plugin *plugin) {
  as_error error;
  if (asi_plugin_check(plugin, path, &error) == AS_OK) {
    note(r, path, plugin, NULL);
    return plugin;
  }
  asi_complain(r, at, "%s", error.message);
  return NULL;
}

static const as_plugin *open_file(asi_reader *r, const asi_value *at, const char *path,
                                  asi_library *library) {
  const as_plugin_policy none = {0}, *policy = r->policy ? r->policy : &none;
  const asi_trust trust = {.what = "plugin",
                           .option = "plugin",
                           .hint = ": has it been built?",
                           .all = policy->all,
                           .folders = policy->folders,
                           .n_folders = policy->n_folders};
  const char *because;
  const char *kept = asi_find_trusted(r, at, &trust, path, &because);
  const as_plugin *plugin = kept ? open_library(r, at, kept, library) : NULL;
  if (plugin) note(r, kept, plugin, because);
  return plugin;
}

const as_plugin *asi_open_plugin(asi_reader *r, const asi_value *at, const char *path) {
  if (r->compile) {
    asi_complain(r, at, "\"%.200s\" is a plugin, which an FMU cannot have", path);
    return NULL;
  }
  for (asi_library *l = *r->libraries; l; l = l->older)
    if (strcmp(l->path, path) == 0) {
      r->broken = r->broken || l->plugin == NULL; // that has been said
      return l->plugin;
    }
  asi_library *library = asi_arena_take(r->arena, sizeof *library);
  if (library == NULL) return NULL;
  const as_plugin *linked = find_linked(r, path);
  library->path = path;
  library->older = *r->libraries;
  *r->libraries = library;
  library->plugin = linked ? open_linked(r, at, path, linked) : open_file(r, at, path, library);
  return library->plugin;
}

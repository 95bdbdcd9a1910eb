/// Opens FMUs, see fmu.h.

#include "fmi/fmu.h"

#include <dlfcn.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "fmi/zip.h"

#if defined(__linux__) && defined(__x86_64__)
static const char *const platform[4] = {NULL, NULL, "linux64", "x86_64-linux"};
#elif defined(__linux__) && defined(__i386__)
static const char *const platform[4] = {NULL, NULL, "linux32", "x86-linux"};
#elif defined(__linux__) && defined(__aarch64__)
static const char *const platform[4] = {NULL, NULL, "aarch64-linux", "aarch64-linux"};
#else
static const char *const platform[4] = {NULL, NULL, "this machine", "this machine"};
#endif

// ---- messages ---------------------------------------------------------------------------------------

void asi_fmu_note(asi_fmu *f, int status, const char *message) {
  if (status < ASI_FMU_WARNING || status > ASI_FMU_FATAL) return;
  char *out = f->said;
  snprintf(out, sizeof f->said, "%.250s", message);
  asi_make_printable(out);
  for (size_t n = strlen(out);
       n > 0 && (out[n - 1] == '.' || out[n - 1] == ' ' || out[n - 1] == '?');)
    out[--n] = '\0';
  if (status == ASI_FMU_WARNING && f->warned[0] == '\0' && !f->begun)
    memcpy(f->warned, out, sizeof f->warned);
}

void asi_fmu_explain(asi_fmu *f, int status, char why[ASI_FMU_WHY]) {
  f->fatal = f->fatal || status >= ASI_FMU_FATAL;
  static const char *const name[] = {"ok", "a warning", "`discard`", "an error", "a fatal error"};
  snprintf(why, ASI_FMU_WHY, "the FMU \"%.40s\": %s returned %s%s%.200s", f->label, f->doing,
           status >= 0 && status <= 4 ? name[status] : "what is no status", f->said[0] ? ": " : "",
           f->said);
}

// ---- opening ----------------------------------------------------------------------------------------

asi_fmu *asi_fmu_open(const char *path, const char *label, char why[ASI_FMU_WHY]) {
  asi_zip zip;
  asi_fmu *f = calloc(1, sizeof *f);
  if (f) f->label = asi_fmu_copy(label);
  if (f == NULL || f->label == NULL) {
    snprintf(why, ASI_FMU_WHY, ASI_FMU_NO_MEMORY);
    free(f);
    return NULL;
  }
  (void)pthread_mutex_init(&f->lock, NULL);
  bool good = asi_zip_open(&zip, path, why);
  if (good) {
    const asi_zip_entry *e = asi_zip_find(&zip, "modelDescription.xml");
    unsigned char *text = e ? asi_zip_unpack(&zip, e, why) : NULL;
    if (e == NULL) snprintf(why, ASI_FMU_WHY, "it has no modelDescription.xml: it is no FMU");
    good = text && asi_fmu_description_read(&f->about, (const char *)text, e->size, why);
    free(text);
    asi_zip_close(&zip);
  }
  if (good) return f;
  asi_fmu_close(f);
  return NULL;
}

// ---- loading ----------------------------------------------------------------------------------------

bool asi_fmu_symbol(asi_fmu *f, const char *name, void *function, char *why) {
  void *const symbol = dlsym(f->library, name);
  if (symbol == NULL)
    snprintf(why, ASI_FMU_WHY, "its library has no function `%s`", name);
  else
    memcpy(function, &symbol, sizeof symbol); // ISO C has no cast for this
  return symbol != NULL;
}

/// Whether there are binaries for this machine; else names those that there are.
static bool check_platform(const char *path, const char *wanted, char *why) {
  asi_zip zip;
  char seen[160] = "";
  if (!asi_zip_open(&zip, path, why)) return false;
  const asi_zip_entry *e = asi_zip_find(&zip, wanted);
  for (int i = 0; i < zip.n && !e; ++i) {
    char one[40];
    if (sscanf(zip.entry[i].name, "binaries/%30[^/]/", one) != 1 || strstr(seen, one)) continue;
    const size_t used = strlen(seen);
    if (used + 40 < sizeof seen)
      snprintf(seen + used, sizeof seen - used, "%s%s", used ? ", " : "", one);
  }
  if (e == NULL)
    snprintf(why, ASI_FMU_WHY,
             "it has no %.120s%s%s; ask for an FMU with binaries for this platform", wanted,
             seen[0] ? ": its binaries are for " : ", nor any other binaries", seen);
  asi_zip_close(&zip);
  return e != NULL;
}

/// dlopen() as if nothing had happened to this thread's floating-point mode.
static bool open_library(asi_fmu *f, const char *place, char *why) {
  fenv_t before;
  (void)fegetenv(&before);
  f->library = dlopen(place, RTLD_NOW | RTLD_LOCAL);
  (void)fesetenv(&before);
  const char *reason = f->library ? NULL : dlerror();
  if (reason) snprintf(why, ASI_FMU_WHY, "its library cannot be loaded: %.300s", reason);
  return f->library != NULL;
}

/// Room for the elements of its largest variable.
static bool make_room(asi_fmu *f) {
  size_t most = 1;
  for (int i = 0; i < f->about.n_variables; ++i)
    if ((size_t)f->about.variable[i].n > most) most = (size_t)f->about.variable[i].n;
  f->typed = calloc(most, sizeof(double));
  f->elements = calloc(most, sizeof(double));
  return f->typed && f->elements;
}

static int count_states(const asi_fmu_description *d) {
  int n = 0;
  for (int i = 0; i < d->n_rates; ++i) {
    const int k = d->version == 2 ? (int)d->rate[i] - 1 : asi_fmu_find_reference(d, d->rate[i]);
    n += d->variable[k].n;
  }
  return n;
}

bool asi_fmu_load(asi_fmu *f, const char *path, bool exchange, char why[ASI_FMU_WHY]) {
  const asi_fmu_kind *kind = exchange ? &f->about.exchange : &f->about.simulation;
  const int version = f->about.version;
  char binaries[64], entry[300];
  f->kind = kind;
  f->exchange = exchange;
  f->calls = version == 2 ? &asi_fmu_calls2 : &asi_fmu_calls3;
  f->n_states = exchange ? count_states(&f->about) : 0;
  snprintf(binaries, sizeof binaries, "binaries/%s/", platform[version]);
  snprintf(entry, sizeof entry, "%s%.200s.so", binaries, kind->identifier);
  if (kind->tool) {
    snprintf(why, ASI_FMU_WHY,
             "it needs the tool that wrote it (needsExecutionTool); export it without");
    return false;
  }
  if (!make_room(f)) {
    snprintf(why, ASI_FMU_WHY, ASI_FMU_NO_MEMORY);
    return false;
  }
  if (!check_platform(path, entry, why)) return false;
  f->folder = asi_fmu_unpack(path, binaries, why);
  if (f->folder == NULL) return false;
  char place[1400];
  snprintf(place, sizeof place, "%.1000s/%s", f->folder, entry);
  if (!open_library(f, place, why) || !f->calls->bind(f, why)) return false;
  if (f->calls->instantiate(f)) return true;
  snprintf(
      why, ASI_FMU_WHY,
      "%s gives no instance%s%.200s; often the %s of its modelDescription.xml is not that of its "
      "library",
      f->doing, f->said[0] ? ": " : "", f->said, version == 2 ? "guid" : "instantiationToken");
  return false;
}

void asi_fmu_close(asi_fmu *f) {
  if (f == NULL) return;
  if (f->component) {
    if (f->begun && f->failed[0] == '\0') (void)f->calls->terminate(f);
    if (!f->fatal) f->calls->release(f); // nothing may be called any more
  }
  if (f->library) (void)dlclose(f->library);
  asi_fmu_remove(f->folder);
  asi_fmu_description_free(&f->about);
  free(f->typed);
  free(f->elements);
  free(f->label);
  (void)pthread_mutex_destroy(&f->lock);
  free(f);
}

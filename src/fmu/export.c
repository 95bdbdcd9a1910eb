/// The archive of an FMU.
#define _POSIX_C_SOURCE 200809L // open_memstream
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "base/file.h"
#include "base/locale.h"
#include "fmu/icon.h"
#include "fmu/plan.h"
#include "fmu/zip.h"

/// The folder of a binary; NULL: there is none in this version.
static const char *folder_of(const asi_exported_binary *b, int version) {
  return b->platform[version == 2 ? 0 : 1];
}

as_fmu_def as_default_fmu_def(void) {
  return (as_fmu_def){.cookie = ASI_COOKIE(as_fmu_def), .version = 2};
}

static as_status check_def(const as_fmu_def *def, as_error *error) {
  const as_status status = ASI_CHECK_DEFINITION(as_fmu_def, def, error);
  if (status) return status;
  if (def->model == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "model", "Which model file?");
  if (def->version != 2 && def->version != 3)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "version",
                    "FMI has versions 2 and 3, not %d.", def->version);
  int n;
  const asi_exported_binary *binary = asi_exported_binaries(&n);
  for (int i = 0; i < n; ++i)
    if (folder_of(&binary[i], def->version)) return AS_OK;
  return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, "version",
                  "FMI %d.0 has no name for this machine: FMUs are made on Linux, on x86-64 for "
                  "both versions, on AArch64 for FMI 3.0.",
                  def->version);
}

/// What functions of C could be called: from the name of the file.
static void name_fmu(asi_exported_plan *p, const char *path) {
  const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
  const char *dot = strrchr(from, '.');
  size_t n = dot ? (size_t)(dot - from) : strlen(from), used = 0;
  if (n == 0 || isdigit((unsigned char)from[0])) p->name[used++] = '_';
  for (size_t i = 0; i < n && used + 1 < sizeof p->name; ++i)
    p->name[used++] = (char)(isalnum((unsigned char)from[i]) ? from[i] : '_');
  p->name[used] = '\0';
}

// ---- contents ---------------------------------------------------------------------------------------

static unsigned char *pack_interface(asi_exported_plan *p, size_t *size) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  asi_exported_interface_archive(&count, &p->face, NULL);
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = malloc(count.used), .size = count.used};
  if (a.data) asi_exported_interface_archive(&a, &p->face, NULL);
  *size = count.used;
  return a.data;
}

/// A token that is another one wherever something in the FMU is.
static as_status make_token(asi_exported_plan *p) {
  p->face.token = "";
  size_t size = 0;
  uint64_t half[2];
  unsigned char *face = pack_interface(p, &size);
  if (face == NULL) return AS_ERR_MEMORY;
  for (int k = 0; k < 2; ++k) {
    asi_digest d = asi_digest_begin();
    asi_digest_add(&d, k == 0 ? "alphastep FMU 1" : "1 UMF petsahpla", 15);
    asi_digest_add(&d, &p->def->version, sizeof p->def->version);
    asi_digest_add(&d, face, size);
    for (int i = 0; i < p->n_files; ++i) {
      asi_digest_add(&d, p->file[i].name, strlen(p->file[i].name) + 1);
      asi_digest_add(&d, p->file[i].bytes, p->file[i].size);
    }
    int n;
    const asi_exported_binary *binary = asi_exported_binaries(&n);
    for (int i = 0; i < n; ++i)
      asi_digest_add(&d, binary[i].begin, (size_t)(binary[i].end - binary[i].begin));
    half[k] = asi_digest_end(&d);
  }
  free(face);
  snprintf(p->token, sizeof p->token, "{%08lx-%04lx-%04lx-%04lx-%012llx}",
           (unsigned long)(half[0] >> 32), (unsigned long)(half[0] >> 16 & 0xffff),
           (unsigned long)(half[0] & 0xffff), (unsigned long)(half[1] >> 48),
           (unsigned long long)(half[1] & 0xffffffffffff));
  p->face.token = p->token;
  return AS_OK;
}

/// A text that is written by a function.
static as_status add_text(asi_zip_writer *z, const char *name, const asi_exported_plan *p,
                          void (*write)(const asi_exported_plan *p, FILE *out)) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return AS_ERR_MEMORY;
  write(p, out);
  const bool good = !ferror(out);
  const bool closed = fclose(out) == 0;
  if (good && closed) asi_zip_add(z, name, text, size);
  free(text);
  return good && closed ? AS_OK : AS_ERR_MEMORY;
}

static as_status add_resources(asi_zip_writer *z, asi_exported_plan *p) {
  size_t size = 0;
  unsigned char *face = pack_interface(p, &size);
  if (face == NULL) return AS_ERR_MEMORY;
  asi_zip_add(z, "resources/interface.bin", face, size);
  free(face);
  for (int i = 0; i < p->n_files; ++i) {
    static const char folder[] = "resources/model/";
    char *name = malloc(sizeof folder + strlen(p->file[i].name));
    if (name == NULL) return AS_ERR_MEMORY;
    strcpy(name, folder);
    strcat(name, p->file[i].name);
    asi_zip_add(z, name, p->file[i].bytes, p->file[i].size);
    free(name);
  }
  return AS_OK;
}

static void add_binaries(asi_zip_writer *z, const asi_exported_plan *p) {
  int n;
  const asi_exported_binary *b = asi_exported_binaries(&n);
  for (int i = 0; i < n; ++i) {
    const char *folder = folder_of(&b[i], p->def->version);
    char name[160];
    if (folder == NULL) continue;
    snprintf(name, sizeof name, "binaries/%s/%s%s", folder, p->name, b[i].suffix);
    asi_zip_add(z, name, b[i].begin, (size_t)(b[i].end - b[i].begin));
  }
}

static as_status add_all(asi_zip_writer *z, asi_exported_plan *p) {
  const bool two = p->def->version == 2;
  size_t size = 0;
  as_status status = add_text(z, "modelDescription.xml", p, asi_exported_describe);
  if (status == AS_OK) status = add_text(z, "documentation/index.html", p, asi_exported_document);
  unsigned char *icon = status == AS_OK ? asi_exported_icon(&size) : NULL;
  if (icon == NULL) return AS_ERR_MEMORY;
  asi_zip_add(z, two ? "model.png" : "terminalsAndIcons/icon.png", icon, size);
  free(icon);
  const unsigned char *bytes = asi_exported_license(&size);
  asi_zip_add(z, "documentation/licenses/license.txt", bytes, size);
  add_binaries(z, p);
  return add_resources(z, p);
}

static as_status write_archive(asi_exported_plan *p, const char *path, as_error *error) {
  asi_draft draft;
  as_status status = asi_draft_open(&draft, path, error);
  if (status) return status;
  asi_zip_writer *z = asi_zip_begin(draft.file);
  status = z ? add_all(z, p) : AS_ERR_MEMORY;
  if (z) {
    const as_status written = asi_zip_end(z);
    if (status == AS_OK) status = written;
  }
  if (status == AS_ERR_FILE)
    asi_fail_write(path, errno, error);
  else if (status == AS_ERR_UNSUPPORTED)
    asi_fail(error, status, (double)NAN, NULL, "The FMU would be larger than 2 GiB.");
  else if (status)
    asi_fail_memory(error);
  return asi_draft_close(&draft, status, true, error);
}

static as_status export(asi_exported_plan *p, const char *path, as_messages *messages,
                        as_error *error) {
  const char *slash = strrchr(p->def->model, '/');
  name_fmu(p, path);
  as_status status = asi_exported_plan_machine(p, messages, error);
  if (status) return status;
  p->face.model = slash ? slash + 1 : p->def->model;
  p->face.extrapolates = p->def->input_derivatives;
  status = asi_exported_plan_variables(p, error);
  if (status == AS_OK && make_token(p)) status = asi_fail_memory(error);
  return status ? status : write_archive(p, path, error);
}

static void tell(const asi_exported_plan *p, as_fmu_report *report) {
  *report = (as_fmu_report){.files = p->n_files};
  for (int i = 0; i < p->face.n; ++i) {
    const asi_exported_kind kind = p->face.variable[i].kind;
    report->inputs += asi_exported_is_input(kind);
    report->outputs += kind == ASI_EXPORTED_OUTPUT;
    report->tunable += kind == ASI_EXPORTED_TUNABLE;
    report->parameters += kind == ASI_EXPORTED_PARAMETER || kind == ASI_EXPORTED_TUNABLE;
  }
}

as_status as_fmu_export(const as_fmu_def *def, const char *path, as_fmu_report *report,
                        as_messages *messages, as_error *error) {
  messages->n = 0;
  messages->more = false;
  as_status status = check_def(def, error);
  asi_locale locale;
  if (status) return status;
  if (!asi_locale_set_plain(&locale)) return asi_fail_memory(error);
  asi_exported_plan p = {.def = def};
  status = export(&p, path, messages, error);
  if (status == AS_OK && report) tell(&p, report);
  asi_exported_plan_free(&p);
  asi_locale_restore(&locale);
  return status;
}

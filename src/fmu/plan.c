#include "fmu/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/flexible_file.h"
#include "base/error.h"
#include "base/file.h"
#include "file/flexible_archive.h"
#include "file/tree.h"

void asi_exported_plan_free(asi_exported_plan *p) {
  for (int i = 0; i < p->n_files; ++i) free(p->file[i].bytes);
  free(p->file);
  free(p->input);
  as_machine_destroy(p->machine);
  asi_arena_free(&p->arena);
}

void asi_exported_plan_file(asi_exported_plan *p, const char *name, unsigned char *bytes,
                            size_t size) {
  void *array = p->file;
  if (bytes == NULL || !asi_grow(&array, p->n_files, &p->room_files, sizeof *p->file)) {
    p->no_memory = true;
    free(bytes);
    return;
  }
  p->file = array;
  p->file[p->n_files++] =
      (asi_exported_file){asi_arena_text(&p->arena, name, strlen(name)), bytes, size};
}

/// What stands behind the folder of the model file.
static const char *below(const asi_exported_plan *p, const char *path) {
  const char *slash = strrchr(p->def->model, '/');
  return path + (slash ? slash - p->def->model + 1 : 0);
}

// ---- while the machine is read ----------------------------------------------------------------------

static void note_input(as_signal_id id, void *user) {
  asi_exported_plan *p = user;
  void *array = p->input;
  if (!asi_grow(&array, p->n_inputs, &p->room_inputs, sizeof *p->input)) {
    p->no_memory = true;
    return;
  }
  p->input = array;
  p->input[p->n_inputs++] = id;
}

static bool is_setting(int file, void *user) {
  const asi_reader *r = user;
  return r->file[file].setting;
}

static void pack_tree(asi_exported_plan *p, asi_reader *r, const asi_file *file) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  asi_tree_pack(file->root, is_setting, r, &count);
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = malloc(count.used), .size = count.used};
  if (a.data) asi_tree_pack(file->root, is_setting, r, &a);
  asi_exported_plan_file(p, below(p, file->path), a.data, a.used);
}

static void take_files(asi_reader *r, void *user) {
  asi_exported_plan *p = user;
  for (int i = 0; i < r->n_files; ++i)
    if (!r->file[i].setting && r->file[i].root) pack_tree(p, r, &r->file[i]);
  p->n_parameters = r->n_parameters;
  p->parameter = asi_arena_take(&p->arena, (size_t)r->n_parameters * sizeof *p->parameter);
  for (int i = 0; i < r->n_parameters && p->parameter; ++i) {
    const asi_definition *d = &r->parameters[i];
    const char *name = asi_names_get(&r->parameter_names, i);
    p->parameter[i] = (asi_exported_parameter){asi_arena_text(&p->arena, name, strlen(name)),
                                               d->number, d->value->type == ASI_NUMBER, d->used};
  }
}

// ---- other files ------------------------------------------------------------------------------------

static bool is_mesh(const as_machine *m, const char *path) {
  bool mesh = false;
  for (int i = 0; i < m->n_shapes; ++i)
    mesh = mesh || (m->shapes[i].kind == AS_SHAPE_MESH && m->shapes[i].file &&
                    strcmp(m->shapes[i].file, path) == 0);
  return mesh;
}

/// A flexible body without HDF5.
static as_status pack_flexible(asi_exported_plan *p, const char *path, as_error *error) {
  as_flexible_data *d = NULL;
  const as_status status = as_flexible_read(path, &d, error);
  if (status) return status;
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  asi_flexible_archive(&count, d, NULL);
  asi_archive a = {.mode = ASI_ARCHIVE_WRITE, .data = malloc(count.used), .size = count.used};
  if (a.data) asi_flexible_archive(&a, d, NULL);
  as_flexible_destroy(d);
  asi_exported_plan_file(p, below(p, path), a.data, a.used);
  return AS_OK;
}

static as_status pack_file(asi_exported_plan *p, const char *path, as_error *error) {
  static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  const char *name = below(p, path), *why = NULL;
  size_t size = 0;
  for (int i = 0; i < p->n_files; ++i)
    if (strcmp(p->file[i].name, name) == 0) return AS_OK;
  if (is_mesh(p->machine, path)) return AS_OK; // nothing is drawn
  unsigned char *bytes = asi_file_bytes(path, &size, &why);
  if (bytes == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.600s cannot be read: %s.", path,
                    why ? why : "out of memory");
  if (size > sizeof hdf5 && memcmp(bytes, hdf5, sizeof hdf5) == 0) {
    free(bytes);
    return pack_flexible(p, path, error);
  }
  asi_exported_plan_file(p, name, bytes, size);
  return AS_OK;
}

static as_status list_live(asi_exported_plan *p) {
  const as_fmu_def *def = p->def;
  p->live =
      asi_arena_take(&p->arena, ((size_t)def->n_inputs + (size_t)def->n_tunable) * sizeof *p->live);
  if (p->live == NULL) return AS_ERR_MEMORY;
  for (int i = 0; i < def->n_inputs + def->n_tunable; ++i) {
    const char *name = i < def->n_inputs ? def->inputs[i] : def->tunable[i - def->n_inputs];
    const char *parameter = asi_exported_parameter_of(name);
    if (parameter) p->live[p->n_live++] = parameter;
  }
  return AS_OK;
}

as_status asi_exported_plan_machine(asi_exported_plan *p, as_messages *messages, as_error *error) {
  const as_fmu_def *def = p->def;
  if (list_live(p)) return asi_fail_memory(error);
  const asi_compile compile = {.live = p->live,
                               .n_live = p->n_live,
                               .extrapolates = def->input_derivatives,
                               .input = note_input,
                               .read = take_files,
                               .user = p};
  as_status status =
      asi_machine_load(def->model, def->settings, def->n_settings, &compile, &p->machine, messages);
  if (status)
    return asi_fail(error, status, (double)NAN, NULL, "%.900s", messages->message[0].text);
  for (int i = 0; i < p->machine->n_files && status == AS_OK; ++i)
    status = pack_file(p, p->machine->files[i].path, error);
  if (status == AS_OK && (p->no_memory || p->arena.failed)) status = asi_fail_memory(error);
  return status;
}

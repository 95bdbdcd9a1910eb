/// Loads a machine from a file: opens, sets, reads, assembles, builds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/locale.h"
#include "file/blocks.h"
#include "file/compile.h"
#include "file/events.h"
#include "file/fmus.h"
#include "file/libraries.h"
#include "file/root.h"

struct as_machine_store {
  asi_arena arena;
  asi_library *libraries; ///< of plugins
  asi_open_fmu *fmus;
};

static as_machine *new_machine(void) {
  as_machine *m = calloc(1, sizeof *m);
  as_machine_store *store = calloc(1, sizeof *store);
  if (m == NULL || store == NULL) {
    free(m);
    free(store);
    return NULL;
  }
  m->store = store;
  m->simulation = (as_simulation){.t_end = (double)NAN, .integrator = as_default_integrator_def()};
  m->output.interval = (double)NAN;
  return m;
}

void as_machine_destroy(as_machine *machine) {
  if (machine == NULL) return;
  as_rules_destroy(machine->rules);
  as_model_destroy(machine->model);
  as_builder_destroy(machine->builder);
  free(machine->shapes);
  asi_libraries_close(machine->store->libraries);
  asi_fmus_close(machine->store->fmus);
  asi_arena_free(&machine->store->arena);
  free(machine->store);
  free(machine);
}

static void free_reader(asi_reader *r) {
  asi_arena_free(&r->scratch);
  free(r->file);
  free(r->parameters);
  free(r->events);
  asi_names_free(&r->parameter_names);
  asi_free_tables(r);
  if (r->builder) r->builder->outer = NULL;
  for (int s = 0; s < ASI_SORTS; ++s) asi_names_free(&r->failed[s]);
}

/// Names of frames, which the model does not tell.
static bool keep_frames(asi_reader *r) {
  as_machine *m = r->machine;
  const asi_names *names = &r->builder->names[ASI_SORT_FRAME];
  const char **frames = asi_arena_take(r->arena, (size_t)names->count * sizeof *frames);
  if (frames == NULL) return false;
  for (int i = 0; i < names->count; ++i) {
    const char *name = asi_names_get(names, i);
    frames[i] = asi_arena_text(r->arena, name, strlen(name));
  }
  m->frames = frames;
  m->n_frames = names->count;
  return !r->arena->failed;
}

/// SOI2 has no states and outputs: says so at the first block that has some.
static void check_method(asi_reader *r) {
  const as_builder *b = r->builder;
  if (r->machine->simulation.integrator.method != AS_METHOD_SOI2) return;
  for (int i = 0; i < b->n_signals; ++i) {
    const char *name = asi_names_get(&b->names[ASI_SORT_BLOCK], b->signal[i].block);
    const asi_value *at = asi_find_block(r, name);
    if (b->signal[i].kind == AS_SIGNAL_SAMPLED) continue;
    if (at)
      asi_complain(r, at,
                   "the method soi2 takes sampled blocks, but no states and signals, such as "
                   "those of the block \"%.60s\": its accelerations are not those of the time "
                   "that a block sees",
                   name);
    return;
  }
}

static as_status build(asi_reader *r, as_error *error) {
  as_machine *m = r->machine;
  as_status status = AS_OK;
  m->assembled = r->assemble || r->builder->n_wanted > 0;
  if (m->assembled) status = as_builder_assemble(m->builder, &m->assembly, error);
  if (status == AS_OK) status = as_builder_build(m->builder, &m->model, error);
  if (status == AS_OK && !keep_frames(r)) status = AS_ERR_MEMORY;
  if (status == AS_OK) status = asi_build_events(r, error);
  if (status == AS_OK && !r->wrong) status = asi_begin_model(r, error);
  return status;
}

static as_status read_all(asi_reader *r, const char *path, const char *text, size_t size,
                          const char *const *settings, int n_settings) {
  as_error error;
  as_status status = asi_read_sources(r, path, text, size);
  if (status || asi_out_of_memory(r)) return status;
  asi_apply_settings(r, settings, n_settings);
  asi_collect_tables(r);
  asi_collect_parameters(r);
  asi_settle_tables(r);
  if (asi_out_of_memory(r)) return AS_ERR_MEMORY;
  status = asi_read_roots(r, &error);
  if (status || asi_out_of_memory(r)) return status;
  if (!r->wrong) check_method(r);
  if (!r->wrong) status = build(r, &error);
  const asi_value *block = status ? asi_find_block(r, error.component) : NULL;
  if (block)
    asi_complain(r, block, "%s", error.message);
  else if (status && status != AS_ERR_MEMORY)
    asi_complain_file(r, 0, "%s", error.message);
  if (r->wrong && status != AS_ERR_MEMORY) asi_check_rest(r);
  if (r->wrong) return status;
  asi_publish_parameters(r);
  return status;
}

/// The status of everything that went wrong.
static as_status sum_up(asi_reader *r, as_status status) {
  if (status == AS_ERR_MEMORY || asi_out_of_memory(r)) {
    r->messages->n = 1;
    r->messages->message[0] = (as_message){.text = "error: out of memory"};
    return AS_ERR_MEMORY;
  }
  if (status == AS_ERR_FILE || r->unreadable) return AS_ERR_FILE;
  return status || r->wrong ? AS_ERR_ARGUMENT : AS_OK;
}

static as_status load(const char *path, const char *text, size_t size, const char *const *settings,
                      int n_settings, const as_plugin_policy *policy, const asi_compile *compile,
                      as_machine **out, as_messages *messages) {
  asi_reader r = {.messages = messages, .policy = policy, .compile = compile};
  *out = NULL;
  messages->n = 0;
  messages->more = false;
  asi_locale locale;
  const bool is_plain = asi_locale_set_plain(&locale);
  as_machine *machine = is_plain ? new_machine() : NULL;
  as_status status = AS_ERR_MEMORY;
  if (machine) {
    r.machine = machine;
    r.arena = &machine->store->arena;
    r.libraries = &machine->store->libraries;
    r.fmus = &machine->store->fmus;
    status = sum_up(&r, read_all(&r, path, text, size, settings, n_settings));
    if (status == AS_OK && compile && compile->read) compile->read(&r, compile->user);
  } else {
    messages->n = 1;
    messages->message[0] = (as_message){.text = "error: out of memory"};
  }
  if (is_plain) asi_locale_restore(&locale);
  free_reader(&r);
  if (status == AS_OK)
    *out = machine;
  else
    as_machine_destroy(machine);
  return status;
}

as_status as_machine_load(const char *path, const char *const *settings, int n_settings,
                          as_machine **out, as_messages *messages) {
  return load(path, NULL, 0, settings, n_settings, NULL, NULL, out, messages);
}

as_status as_machine_load_with(const char *path, const char *const *settings, int n_settings,
                               const as_plugin_policy *policy, as_machine **out,
                               as_messages *messages) {
  return load(path, NULL, 0, settings, n_settings, policy, NULL, out, messages);
}

as_status as_machine_parse(const char *text, size_t size, const char *path,
                           const char *const *settings, int n_settings, as_machine **out,
                           as_messages *messages) {
  return load(path, text, size, settings, n_settings, NULL, NULL, out, messages);
}

as_status asi_machine_load(const char *path, const char *const *settings, int n_settings,
                           const asi_compile *compile, as_machine **out, as_messages *messages) {
  return load(path, NULL, 0, settings, n_settings, NULL, compile, out, messages);
}

as_status as_machine_parse_with(const char *text, size_t size, const char *path,
                                const char *const *settings, int n_settings,
                                const as_plugin_policy *policy, as_machine **out,
                                as_messages *messages) {
  return load(path, text, size, settings, n_settings, policy, NULL, out, messages);
}

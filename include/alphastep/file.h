/// Machines from model files (YAML or JSON): read, checked and built, with everything else that a file says.
///
///     as_messages messages;
///     as_machine *machine;
///     const char *settings[] = {"parameters.n=100", "simulate.step=1e-3"};
///     if (as_machine_load("model.yaml", settings, 2, &machine, &messages)) {
///       for (int i = 0; i < messages.n; ++i) fprintf(stderr, "%s\n", messages.message[i].text);
///       exit(2);
///     }
///     as_integrator_def def = machine->simulation.integrator;   // set log and interrupt, if wanted
///     as_integrator_create(as_model_problem(machine->model), &def, &integrator, &error);
///     as_integrator_start(integrator, as_model_initial(machine->model), NULL, &error);
///
/// docs/model-file.md says what stands in a file. Numbers are read the same way in every locale.
#ifndef ALPHASTEP_FILE_H
#define ALPHASTEP_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/analysis.h"
#include "alphastep/export.h"
#include "alphastep/integrator.h"
#include "alphastep/model.h"
#include "alphastep/rule.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- messages ---------------------------------------------------------------------------------------

enum { AS_MESSAGES = 20 }; ///< the most that are kept

/// One thing that is wrong, as a compiler would say it: `model.yaml:12:7: error: ...`
typedef struct as_message {
  int line, column; ///< from 1; 0: not in a file, or about a file as a whole
  char text[1536];  ///< the whole line, place included, without a line feed
} as_message;

/// All that is wrong: first with parameters, then all else, by place: files in the order they were opened, lines, columns.
typedef struct as_messages {
  int n;
  bool more; ///< there was more than AS_MESSAGES
  as_message message[AS_MESSAGES];
} as_messages;

/// Where a value was written.
typedef struct as_place {
  const char *file; ///< path; or `--set ...` of a setting, then line and column are 0
  int line, column; ///< from 1
} as_place;

// ---- what a file says besides the model ---------------------------------------------------------------

/// `simulate:`
typedef struct as_simulation {
  double t_end;                 ///< [s]; NAN: the file has no `simulate:`
  long max_steps;               ///< give up after so many steps; 0: never
  as_integrator_def integrator; ///< method, step or tolerance, rho_inf, newton; else the defaults
  bool accuracy;                ///< estimate errors by a second, finer run
} as_simulation;

/// `output:`
typedef struct as_output {
  double interval;     ///< between output times, from 0 [s]; NAN: not given
  const double *times; ///< n_times increasing times >= 0 [s], instead of interval
  int n_times;
  const char *const *channels; ///< n_channels names, as written; not looked up. 0: not given
  const as_place *channel_places;
  int n_channels;
} as_output;

typedef enum as_shape_kind {
  AS_SHAPE_BOX,      ///< size, about the shape's origin
  AS_SHAPE_SPHERE,   ///< radius
  AS_SHAPE_CYLINDER, ///< radius, length along z, about the origin
  AS_SHAPE_CAPSULE,  ///< likewise; length without the caps
  AS_SHAPE_POLYLINE, ///< points; radius of the line, 0: thin
  AS_SHAPE_MESH,     ///< file, scale
  AS_SHAPE_CONE,     ///< radius, top, length along z, about the origin
  AS_SHAPE_WHEEL,    ///< radius, length (its width) along z, about the origin
  AS_SHAPE_STRIP,    ///< points, width, dash: flat, across z
} as_shape_kind;

/// A shape to be drawn; it has no mass.
typedef struct as_shape {
  as_shape_kind kind;
  as_body_id body;      ///< AS_GROUND too
  double position[3];   ///< of its origin, from the body's centre of mass, body axes [m]
  double quaternion[4]; ///< shape to body, w x y z
  double size[3];       ///< of a box along x, y, z [m]
  double radius;        ///< [m]
  double length;        ///< [m]
  double top;           ///< of a cone: radius at its top [m]
  double width;         ///< of a strip [m]
  double dash[2];       ///< of a strip: lengths of pieces and of gaps [m]; 0, 0: none
  const double *points; ///< 3 n_points, in the shape's frame [m]
  int n_points;
  const char *file; ///< of a mesh: path, relative to the working directory as the model file's is
  double scale;     ///< of a mesh: metres per unit of its file
  const float *triangles; ///< of a mesh: 9 n_triangles, corners of each, in the shape's frame [m]
  int n_triangles;
  double color[4]; ///< red green blue opacity, 0..1; NAN: not given
} as_shape;

/// One of `parameters:`
typedef struct as_parameter {
  const char *name;
  double value; ///< after settings
  bool
      used; ///< something depends on it; or its file is included: not every machine needs all of a part
  as_place place; ///< of its value
} as_parameter;

/// A file that was read, the model file first.
typedef struct as_source {
  const char *path;
  const char *text; ///< size bytes of UTF-8, and a zero
  size_t size;
} as_source;

/// One of the files that a machine was read from: the model file, what it includes, tables, matrices, meshes.
typedef struct as_file_digest {
  const char *path;
  unsigned long long size, digest; ///< of its bytes
} as_file_digest;

// ---- plugins ----------------------------------------------------------------------------------------

/// A plugin that is part of the program, in place of a shared library.
typedef struct as_linked_plugin {
  const char *file; ///< as the model file names it, or the end of that: `damper.so`
  const as_plugin *plugin;
} as_linked_plugin;

/// Which plugins and FMUs a model file may use: a file alone never runs code. All zero: none.
typedef struct as_plugin_policy {
  bool all; ///< any shared library that it names
  const char *const
      *folders; ///< n_folders: those in and below them, where they are looked for, too
  int n_folders;
  const as_linked_plugin *linked; ///< n_linked
  int n_linked;
  bool fmus;                      ///< any FMU that it names
  const char *const *fmu_folders; ///< n_fmu_folders: likewise
  int n_fmu_folders;
} as_plugin_policy;

/// A plugin that a machine uses.
typedef struct as_used_plugin {
  const char *path; ///< of the shared library
  const as_plugin *plugin;
  const char *folder; ///< of the policy, that it is in; NULL: none
} as_used_plugin;

/// An FMU that a machine uses: a block of this name.
typedef struct as_used_fmu {
  const char *name;
  const char *path;
  const char *model;  ///< the name in its modelDescription.xml
  int version;        ///< 2 or 3
  bool exchange;      ///< model exchange, not co-simulation
  const char *can;    ///< what it can do of what is used
  const char *folder; ///< of the policy, that it is in; NULL: none
} as_used_fmu;

// ---- machines ---------------------------------------------------------------------------------------

typedef struct as_machine_store as_machine_store;

/// A machine from a file. Read it; what it points to belongs to it.
typedef struct as_machine {
  const char *title;       ///< NULL: none
  const char *description; ///< NULL: none
  as_model *model;         ///< built; after assembly if there was one
  as_builder *builder;     ///< what it was built from
  as_rules *rules;         ///< its events; NULL: none
  /// The bodies were moved by as_builder_assemble(), because the file says `assemble: true` or where a joint
  /// starts. Otherwise as_integrator_start() closes small gaps.
  bool assembled;
  as_assembly_report assembly; ///< of that
  bool rested;                 ///< `start:` asks for the equilibrium: the model starts there
  as_equilibrium rest;         ///< of that
  as_simulation simulation;
  as_output output;
  as_shape *shapes;
  int n_shapes;
  const char *const *frames; ///< names of the n_frames frames, by as_frame_id.index
  int n_frames;
  as_parameter *parameters;
  int n_parameters;
  as_source *sources;
  int n_sources;
  as_file_digest *files; ///< all that were read, in the order of reading
  int n_files;
  as_used_plugin *plugins;
  int n_plugins;
  as_used_fmu *fmus;
  int n_fmus;
  const char *const *warnings; ///< n_warnings sentences about what was read, as `tyre.tir:12: ...`
  int n_warnings;
  as_machine_store *store; ///< the memory of all this
} as_machine;

/// Reads a file and what it includes, sets values from outside (`path.to.value=text`), builds the model.
/// AS_ERR_ARGUMENT: something is wrong with what was read, `messages` says what; AS_ERR_FILE: a file cannot be read;
/// AS_ERR_MEMORY. Then *out is NULL, and there is at least one message.
AS_API as_status as_machine_load(const char *path, const char *const *settings, int n_settings,
                                 as_machine **out, as_messages *messages);
/// The same with plugins, as far as `policy` (NULL: none) lets them in. Their libraries stay open as long as the machine.
AS_API as_status as_machine_load_with(const char *path, const char *const *settings, int n_settings,
                                      const as_plugin_policy *policy, as_machine **out,
                                      as_messages *messages);
/// The same from text in memory, without plugins; `path` is what messages call it, and where includes are looked for.
AS_API as_status as_machine_parse(const char *text, size_t size, const char *path,
                                  const char *const *settings, int n_settings, as_machine **out,
                                  as_messages *messages);
/// The same with plugins, see as_machine_load_with().
AS_API as_status as_machine_parse_with(const char *text, size_t size, const char *path,
                                       const char *const *settings, int n_settings,
                                       const as_plugin_policy *policy, as_machine **out,
                                       as_messages *messages);
AS_API void as_machine_destroy(as_machine *machine);

/// What joint coordinates are called in files: `angle`, `displacement_x`, ...; "" if there is none.
AS_API const char *as_joint_coordinate_name(as_joint_kind kind, int coordinate);

// ---- about files ------------------------------------------------------------------------------------

/// The JSON Schema (draft-07) of model files. Writes at most `room` bytes, the last a zero, as snprintf does, and
/// returns the length of the whole text.
AS_API size_t as_file_schema(char *text, size_t room);
/// The table of all keys in Markdown, as in docs/model-file.md.
AS_API size_t as_file_reference(char *text, size_t room);

#ifdef __cplusplus
}
#endif

#endif

/// What is to be exported: the machine, the variables that the FMU will have, and the files that go into it.
///
/// plan.c         the machine is read, its files are packed
/// variables.c    inputs, parameters, outputs
/// description.c  modelDescription.xml and the page of documentation
/// export.c       the archive
#ifndef ALPHASTEP_FMU_PLAN_H
#define ALPHASTEP_FMU_PLAN_H

#include <stdio.h>

#include "alphastep/fmu.h"
#include "file/compile.h"
#include "fmu/interface.h"
#include "results/channels.h"

/// A file of the FMU.
typedef struct asi_exported_file {
  const char *name; ///< below resources/model/
  unsigned char *bytes;
  size_t size;
} asi_exported_file;

/// A parameter of the model file.
typedef struct asi_exported_parameter {
  const char *name;
  double value;
  bool plain; ///< it is written as a number: others follow from these
  bool used;
} asi_exported_parameter;

typedef struct asi_exported_plan {
  const as_fmu_def *def;
  asi_arena arena;
  as_machine *machine;
  const char **live; ///< n_live parameters that change while it runs
  int n_live;
  as_signal_id *input; ///< blocks of type `input`
  int n_inputs, room_inputs;
  asi_exported_parameter *parameter;
  int n_parameters;
  asi_exported_file *file;
  int n_files, room_files;
  bool no_memory;
  asi_exported_interface face;
  char token[48];
  char name[64]; ///< of the FMU: an identifier of C
} asi_exported_plan;

/// Reads the machine and packs its files.
as_status asi_exported_plan_machine(asi_exported_plan *p, as_messages *messages, as_error *error);
void asi_exported_plan_free(asi_exported_plan *p);
/// Adds a file, whose bytes it owns from now on; NULL: no memory for them.
void asi_exported_plan_file(asi_exported_plan *p, const char *name, unsigned char *bytes,
                            size_t size);

/// Whether a name in --inputs or --tunable is one of a parameter; NULL: it is not, else its name.
const char *asi_exported_parameter_of(const char *name);
/// Chooses the variables.
as_status asi_exported_plan_variables(asi_exported_plan *p, as_error *error);
/// A name as FMI's naming convention `structured` wants it, in the arena.
const char *asi_exported_structured(asi_arena *arena, const char *name);

/// modelDescription.xml; documentation/index.html.
void asi_exported_describe(const asi_exported_plan *p, FILE *out);
void asi_exported_document(const asi_exported_plan *p, FILE *out);

/// A shared library that every FMU has.
typedef struct asi_exported_binary {
  const char
      *platform[2]; ///< of FMI 2.0 and 3.0: its folder; NULL: the standard has no name for it
  const char *suffix;
  const unsigned char *begin, *end;
} asi_exported_binary;

/// Those that there are: of this machine first.
const asi_exported_binary *asi_exported_binaries(int *n);
/// The licence that goes with them.
const unsigned char *asi_exported_license(size_t *size);

#endif

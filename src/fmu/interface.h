/// What an FMU of ours has: its variables, and the names of its files. Written by the exporter into resources/interface.bin, read by the FMU.
///
/// resources/model/ holds the files of the machine under their own names, below the folder of the model file: model files as packed trees
/// (file/tree.h), flexible bodies as archives (file/flexible_archive.h), all others as they are.
#ifndef ALPHASTEP_FMU_INTERFACE_H
#define ALPHASTEP_FMU_INTERFACE_H

#include "base/archive.h"
#include "file/arena.h"

typedef enum asi_exported_kind {
  ASI_EXPORTED_TIME,    ///< the independent variable
  ASI_EXPORTED_INPUT,   ///< a block of type `input`
  ASI_EXPORTED_DRIVEN,  ///< a parameter that is an input
  ASI_EXPORTED_TUNABLE, ///< a parameter that may change while the machine runs
  ASI_EXPORTED_PARAMETER, ///< a parameter that may change before it starts: then the machine is built anew
  ASI_EXPORTED_OUTPUT, ///< a channel
  ASI_EXPORTED_KINDS
} asi_exported_kind;

/// Its value reference is its place in the list.
typedef struct asi_exported_variable {
  asi_exported_kind kind;
  const char *name; ///< as in modelDescription.xml
  const char *
      target; ///< what the machine calls it: `demand` of a block, `mass` of a parameter, `joints.pin.angle` of a channel
  const char *unit;   ///< "-": none
  double start;       ///< of all but time and outputs
  bool feeds_through; ///< of an output: it may change at once with an input
} asi_exported_variable;

enum { ASI_EXPORTED_MOST = 1000000, ASI_EXPORTED_FORMAT = 1 };

typedef struct asi_exported_interface {
  const char *token; ///< GUID, instantiation token: a digest of all that is in the FMU
  const char *model; ///< name of the model file in resources/model/
  bool extrapolates; ///< derivatives of inputs may be given
  asi_exported_variable *variable;
  int n;
} asi_exported_interface;

/// Counts, writes or reads it, then into the arena. False: damaged, of another format, or no memory.
bool asi_exported_interface_archive(asi_archive *a, asi_exported_interface *face, asi_arena *arena);

/// Whether something is set from outside.
static inline bool asi_exported_is_settable(asi_exported_kind kind) {
  return kind != ASI_EXPORTED_TIME && kind != ASI_EXPORTED_OUTPUT;
}
/// Whether it is an input of the FMU.
static inline bool asi_exported_is_input(asi_exported_kind kind) {
  return kind == ASI_EXPORTED_INPUT || kind == ASI_EXPORTED_DRIVEN;
}

#endif

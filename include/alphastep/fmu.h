/// FMUs: machines as co-simulation slaves of FMI 2.0 and 3.0, for other simulation programs.
///
///     as_fmu_def def = as_default_fmu_def();
///     def.model = "crane.yaml";
///     def.version = 3;
///     if (as_fmu_export(&def, "crane.fmu", NULL, &messages, &error)) puts(error.message);
///
/// An FMU holds the machine in a form of its own, with all files that it was read from, and one shared library that needs libc and libm only.
/// docs/fmu-export.md says what importers see.
#ifndef ALPHASTEP_FMU_H
#define ALPHASTEP_FMU_H

#include <stdbool.h>

#include "alphastep/export.h"
#include "alphastep/file.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to export. From as_default_fmu_def().
typedef struct as_fmu_def {
  unsigned cookie;             ///< set by as_default_fmu_def(): leave it as it is
  int version;                 ///< of the standard: 2 or 3
  const char *model;           ///< path of the model file, required
  const char *const *settings; ///< n_settings: `path.to.value=text`
  int n_settings;
  /// n_inputs names: `blocks.demand` of blocks of type `input`, `parameters.load` of parameters that formulas read. 0: all such blocks, no
  /// parameters.
  const char *const *inputs;
  int n_inputs;
  const char *const *
      tunable; ///< n_tunable names of parameters that may change while the machine runs: `parameters.gain`
  int n_tunable;
  /// n_outputs selections of channels. 0: those of the model file and all blocks; without either, the default set.
  const char *const *outputs;
  int n_outputs;
  bool input_derivatives; ///< importers may give the first derivative of inputs that are blocks
} as_fmu_def;

AS_API as_fmu_def as_default_fmu_def(void);

/// What an FMU has.
typedef struct as_fmu_report {
  int inputs, parameters, tunable, outputs;
  int files; ///< in resources/model/
} as_fmu_report;

/// Writes the FMU; a file of that name is replaced in one piece. `report` may be NULL. AS_ERR_ARGUMENT: something is wrong with the model or
/// with the names; `messages`, which begins empty, has what is wrong with the model; otherwise the error says it.
AS_API as_status as_fmu_export(const as_fmu_def *def, const char *path, as_fmu_report *report,
                               as_messages *messages, as_error *error);

#ifdef __cplusplus
}
#endif

#endif

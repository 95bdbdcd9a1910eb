/// The report: one HTML file that shows a run, made from its results.
///
///     as_scene_text(machine, &scene, &error);          // to be stored with the results, named "scene"
///     ...
///     as_report_def def = as_default_report_def();
///     def.results = "results/results.h5";
///     def.summary = "results/summary.json";
///     def.output = "results/report.html";
///     as_report_write(&def, &error);
///
/// The page holds everything that it shows: it needs no network and no other file.
#ifndef ALPHASTEP_REPORT_H
#define ALPHASTEP_REPORT_H

#include <stdbool.h>

#include "alphastep/export.h"
#include "alphastep/file.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What there is to be seen of a machine besides its motion, as JSON: title, description, model files; bodies, shapes,
/// frames, joints, forces. Free with as_scene_free().
AS_API as_status as_scene_text(const as_machine *machine, char **out, as_error *error);
AS_API void as_scene_free(char *text);

/// From as_default_report_def().
typedef struct as_report_def {
  unsigned cookie;     ///< set by as_default_report_def(): leave it as it is
  const char *results; ///< path of results.h5, required
  const char *summary; ///< path of summary.json; NULL: none
  const char *output;  ///< path of the page, required; replaced when the new one is complete
  bool no_sync;        ///< do not force it to the disk: it may be lost with the power
  bool plain;          ///< tables and drawings without a script, also where the other is built in
} as_report_def;

AS_API as_report_def as_default_report_def(void);

/// Writes the page. AS_ERR_FILE: a file cannot be read or written, or is not what it should be; AS_ERR_MEMORY.
AS_API as_status as_report_write(const as_report_def *def, as_error *error);
/// Whether the page that moves is built in; otherwise every report is a plain one.
AS_API bool as_report_is_interactive(void);

#ifdef __cplusplus
}
#endif

#endif

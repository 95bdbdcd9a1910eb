/// What the start of a machine has changed of what was given.
#ifndef ALPHASTEP_CLI_CHANGES_H
#define ALPHASTEP_CLI_CHANGES_H

#include "alphastep/model.h"
#include "json.h"

/// Adds them to an object as `start_changes`.
void changes_write(json_object *object, const as_model *model, const as_start_change *change,
                   int n);

#endif

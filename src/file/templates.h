/// Templates of blocks.
#ifndef ALPHASTEP_FILE_TEMPLATES_H
#define ALPHASTEP_FILE_TEMPLATES_H

#include "file/reader.h"

/// Makes the signals of a block of `type: template` known.
void asi_declare_own(asi_reader *r, const asi_value *v, const char *name);
/// Looks at all of `templates:`, also at those that no block is made of.
void asi_check_templates(asi_reader *r);
/// The i-th signal that one makes, "" is the block's own; NULL: there are no more, or it is no template.
const char *asi_template_output(const asi_kind *kind, int i);
/// The same of a sensor, which depends on its keys.
const char *asi_sensor_output(const asi_kind *kind, const asi_value *v, int i);
/// How many states a Butterworth filter has.
int asi_butterworth_states(const asi_value *v);

#endif

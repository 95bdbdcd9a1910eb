/// Parameters: held signals of the problem that elements read and events set.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/builder.h"

as_status as_builder_add_parameter(as_builder *b, const char *name, double value,
                                   as_parameter_id *id, as_error *error) {
  char store[32];
  const char *what = asi_builder_name(b, ASI_SORT_PARAMETER, name, store);
  if (!isfinite(value))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, what, "The parameter \"%s\" is %g.", what,
                    value);
  if (strcmp(what, "t") == 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, what,
                    "A parameter cannot have the name \"t\": that is the time.");
  void *array = b->parameter;
  if (!asi_grow(&array, b->n_parameters, &b->room_parameters, sizeof *b->parameter))
    return asi_fail_memory(error);
  b->parameter = array;
  const as_status status =
      asi_names_add(&b->names[ASI_SORT_PARAMETER], ASI_SORT_PARAMETER, name, error);
  if (status) return status;
  b->parameter[b->n_parameters] = value;
  if (id) *id = (as_parameter_id){b->n_parameters};
  ++b->n_parameters;
  return AS_OK;
}

// What a start has changed of what was given, as JSON.
#include "changes.h"

#include "alphastep/superelement.h"

static const char *quantity_name(as_start_quantity quantity) {
  switch (quantity) {
  case AS_START_POSITION: return "position";
  case AS_START_QUATERNION: return "quaternion";
  case AS_START_VELOCITY:
  case AS_START_RATE: return "velocity";
  case AS_START_ANGULAR_VELOCITY: return "angular_velocity";
  case AS_START_DISPLACEMENT: break;
  }
  return "displacement";
}

static void write_numbers(FILE *out, const double *x, int n) {
  for (int i = 0; i < n; i++) {
    fputs(i == 0 ? "[" : ", ", out);
    asi_json_number(out, x[i]);
  }
  putc(']', out);
}

static void write_change(FILE *out, const as_model *model, const as_start_change *c) {
  if (c->body.index >= 0) {
    fputs("{\"body\": ", out);
    asi_json_text(out, as_model_body_name(model, c->body));
  } else {
    fputs("{\"superelement\": ", out);
    asi_json_text(out, as_model_superelement_name(model, c->superelement));
    fprintf(out, ", \"coordinate\": %d", c->coordinate);
  }
  fprintf(out, ", \"quantity\": \"%s\", \"given\": ", quantity_name(c->quantity));
  write_numbers(out, c->given, c->n);
  fputs(", \"taken\": ", out);
  write_numbers(out, c->taken, c->n);
  fputs(", \"joints\": [", out);
  for (int i = 0; i < c->n_joints; i++) {
    if (i > 0) fputs(", ", out);
    asi_json_text(out, as_model_joint_name(model, c->joint[i]));
  }
  fprintf(out, "], \"assembled\": %s}", c->assembled ? "true" : "false");
}

void changes_write(json_object *object, const as_model *model, const as_start_change *change,
                   int n) {
  json_key(object, "start_changes");
  putc('[', object->out);
  for (int i = 0; i < n; i++) {
    fprintf(object->out, "%s\n%*s", i > 0 ? "," : "", object->indent + 2, "");
    write_change(object->out, model, &change[i]);
  }
  putc(']', object->out);
}

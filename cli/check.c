// `alphastep check`: looks at a machine without running it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/flexible_body.h"
#include "alphastep/results.h"
#include "alphastep/survey.h"
#include "changes.h"
#include "json.h"
#include "machine.h"

enum { MOST_WARNINGS = 80, MOST_NAMES = 12 };

/// What is known of the machine.
typedef struct findings {
  const machine_request *request;
  const as_machine *machine;
  const as_survey *survey;
  int channels;
  int n_warnings;
  char warning[MOST_WARNINGS][AS_SURVEY_TEXT];
} findings;

// ---- warnings

static void warn(findings *f, const char *text) {
  if (f->n_warnings == MOST_WARNINGS) return;
  snprintf(f->warning[f->n_warnings++], sizeof f->warning[0], "%s", text);
}

/// Whether an output reads a frame, or a distance from it: then it is of use.
static bool is_read(const as_channels *channels, const char *frame) {
  char begin[300];
  int n = snprintf(begin, sizeof begin, "frames.%s.", frame);
  for (int i = 0; i < as_channels_count(channels); i++) {
    const char *name = as_channels_get(channels, i).name;
    if (strncmp(name, begin, (size_t)n) == 0) return true;
    if (strncmp(name, "frames.", 7) != 0 || strstr(name, ".distance") == NULL) continue;
    if (strcmp(strrchr(name, '.') + 1, frame) == 0) return true;
  }
  return false;
}

static void warn_unused(findings *f, const as_channels *channels) {
  const as_machine *machine = f->machine;
  char text[AS_SURVEY_TEXT];
  for (int i = 0; i < machine->n_parameters; i++) {
    const as_parameter *p = &machine->parameters[i];
    if (p->used) continue;
    snprintf(text, sizeof text, "%s:%d:%d: Nothing depends on the parameter `%s`.", p->place.file,
             p->place.line, p->place.column, p->name);
    warn(f, text);
  }
  for (int i = 0; i < as_model_frames(machine->model); i++) {
    const char *name = as_model_frame_name(machine->model, (as_frame_id){i});
    if (as_model_frame_used(machine->model, (as_frame_id){i}) || is_read(channels, name)) continue;
    snprintf(text, sizeof text, "No joint, no force and no output uses the frame \"%s\".", name);
    warn(f, text);
  }
}

// ---- as text

static void print_names(const as_model *model, const as_joint_id *joints, int n) {
  for (int i = 0; i < n && i < MOST_NAMES; i++) {
    printf("%s\"%s\"", i > 0 ? ", " : "", as_model_joint_name(model, joints[i]));
  }
  if (n > MOST_NAMES) printf(" and %d more", n - MOST_NAMES);
}

/// What assembly has moved, as it was asked to. Other changes are warnings.
static void print_assembled(const findings *f) {
  const as_survey *s = f->survey;
  int told = 0, n = 0;
  for (int i = 0; i < s->n_changes; i++) {
    char text[AS_SURVEY_TEXT];
    if (!s->change[i].assembled || n++ >= MOST_NAMES) continue;
    as_start_change_text(f->machine->model, &s->change[i], text, sizeof text);
    printf("                    %s\n", text);
    told++;
  }
  if (n > told) printf("                    %d more values are not as given.\n", n - told);
}

static void print_start(const findings *f) {
  const as_survey *s = f->survey;
  const as_assembly_report *a = &f->machine->assembly;
  const as_model *model = f->machine->model;
  if (f->machine->assembled) {
    printf("assembly            gap %.3g (joint \"%s\"), moved by up to %.3g m", a->gap,
           as_model_joint_name(model, a->gap_joint), a->largest_move);
    if (a->moved_body.index >= 0)
      printf(" (body \"%s\")", as_model_body_name(model, a->moved_body));
    putchar('\n');
  }
  if (f->machine->rested)
    printf("starts at rest      found in %d iterations, %.3g N or N m left unbalanced\n",
           f->machine->rest.iterations, f->machine->rest.unbalanced);
  printf("start               gap %.3g, moved by up to %.3g m", s->gap, s->largest_move);
  if (s->moved_body.index >= 0) printf(" (body \"%s\")", as_model_body_name(model, s->moved_body));
  putchar('\n');
  print_assembled(f);
}

static void print_cost(const findings *f) {
  const as_survey *s = f->survey;
  double step = f->machine->simulation.integrator.step, t_end = f->machine->simulation.t_end;
  if (s->solver == NULL) return;
  printf("matrix of a step    %d unknowns, %.0f entries, %.0f in its factors (%s)\n", s->unknowns,
         s->entries, s->fill, s->solver);
  printf("cost of a step      %.3g operations to factorize, %.3g to solve\n", s->factor_operations,
         s->solve_operations);
  if (isnan(t_end)) {
    printf("run                 the file has no `simulate:`\n");
  } else if (isnan(step)) {
    printf("run                 %.6g s with automatic steps\n", t_end);
  } else {
    printf("run                 %.6g s in %.0f steps of %.6g s\n", t_end, ceil(t_end / step - 1e-9),
           step);
  }
}

static void print_events(const as_rules *rules) {
  int n = as_rules_count(rules);
  printf("events              %d: ", n);
  for (int i = 0; i < n && i < MOST_NAMES; i++) {
    printf("%s\"%s\"", i > 0 ? ", " : "", as_rules_name(rules, i));
  }
  if (n > MOST_NAMES) printf(" and %d more", n - MOST_NAMES);
  putchar('\n');
}

/// Coordinates and the first frequency of each flexible body.
static void print_flexibles(const as_model *model) {
  const as_initial *start = as_model_initial(model);
  const as_state at = {.q = start->q, .v = start->v};
  for (int i = 0; i < as_model_flexibles(model); i++) {
    const as_flexible_id id = {i};
    const as_flexible_data *data = as_model_flexible_data(model, id);
    as_flexible_range range;
    (void)as_model_flexible_range(model, &at, id, &range);
    printf("%-20s\"%s\", %.6g kg, %d node%s, %d mode%s", i == 0 ? "flexible bodies" : "",
           as_model_flexible_name(model, id), data->mass, data->interface_count,
           data->interface_count == 1 ? "" : "s", data->mode_count,
           data->mode_count == 1 ? "" : "s");
    if (data->coordinate_count > 0)
      printf(", first frequency %.4g Hz", range.frequency / 6.283185307179586);
    putchar('\n');
  }
}

/// Blocks, what they are made of, and algebraic loops by names.
static void print_blocks(const as_model *model) {
  static const char *const title[] = {"outputs", "states", "sampled", "held"};
  enum { KINDS = sizeof title / sizeof title[0] };
  int n = as_model_signals(model), count[KINDS] = {0}, loops = 0;
  char name[200];
  for (int i = 0; i < n; i++) {
    count[as_model_signal_kind(model, (as_signal_id){i})]++;
    if (as_model_signal_loop(model, (as_signal_id){i}) >= loops)
      loops = as_model_signal_loop(model, (as_signal_id){i}) + 1;
  }
  printf("blocks              %d output%s, %d state%s, %d sampled", count[AS_SIGNAL_OUTPUT],
         count[AS_SIGNAL_OUTPUT] == 1 ? "" : "s", count[AS_SIGNAL_STATE],
         count[AS_SIGNAL_STATE] == 1 ? "" : "s", count[AS_SIGNAL_SAMPLED]);
  if (count[AS_SIGNAL_HELD] > 0) printf(", %d held", count[AS_SIGNAL_HELD]);
  putchar('\n');
  for (int k = 0; k < KINDS; k++) {
    int shown = 0;
    for (int i = 0; i < n && count[k] > 0; i++) {
      if ((int)as_model_signal_kind(model, (as_signal_id){i}) != k || ++shown > MOST_NAMES)
        continue;
      as_model_signal_name(model, (as_signal_id){i}, name, sizeof name);
      if (shown == 1) printf("  %-18s", title[k]);
      printf("%s%s", shown > 1 ? ", " : "", name);
    }
    if (shown > MOST_NAMES) printf(" and %d more", shown - MOST_NAMES);
    if (count[k] > 0) putchar('\n');
  }
  for (int loop = 0; loop < loops; loop++) {
    int shown = 0;
    printf("algebraic loop      ");
    for (int i = 0; i < n; i++) {
      if (as_model_signal_loop(model, (as_signal_id){i}) != loop || ++shown > MOST_NAMES) continue;
      as_model_signal_name(model, (as_signal_id){i}, name, sizeof name);
      printf("%s%s", shown > 1 ? ", " : "", name);
    }
    printf("%s\n", shown > MOST_NAMES ? ", ..." : "");
  }
}

/// Plugins, and why they may be used.
static void print_plugins(const as_machine *machine) {
  for (int i = 0; i < machine->n_plugins; i++) {
    const as_used_plugin *p = &machine->plugins[i];
    printf("%-18s  %s%s%.60s from %s, allowed as it is in %s\n", i == 0 ? "plugins" : "",
           p->plugin->name, p->plugin->release ? " " : "",
           p->plugin->release ? p->plugin->release : "", p->path,
           p->folder ? p->folder : "any folder");
  }
}

/// FMUs, what they are and can, and why they may be used.
static void print_fmus(const as_machine *machine) {
  for (int i = 0; i < machine->n_fmus; i++) {
    const as_used_fmu *f = &machine->fmus[i];
    printf("%-18s  %.60s: %.60s, FMI %d.0, %s, from %s, allowed as it is in %s; %s\n",
           i == 0 ? "FMUs" : "", f->name, f->model, f->version,
           f->exchange ? "model exchange" : "co-simulation", f->path,
           f->folder ? f->folder : "any folder", f->can);
  }
}

static void print_text(const findings *f) {
  const as_survey *s = f->survey;
  const as_model *model = f->machine->model;
  if (f->machine->title != NULL) printf("%s\n", f->machine->title);
  printf("bodies              %d, %.6g kg, centre of mass (%.6g, %.6g, %.6g) m\n", s->bodies,
         s->mass, s->center_of_mass[0], s->center_of_mass[1], s->center_of_mass[2]);
  printf("joints              %d with %d constraint row%s, %d closed loop%s\n", s->joints, s->rows,
         s->rows == 1 ? "" : "s", s->loops, s->loops == 1 ? "" : "s");
  if (s->inactive_joints > 0) {
    printf("inactive joints     %d, which do not hold at the start\n", s->inactive_joints);
  }
  printf("forces              %d\n", s->forces);
  if (as_model_flexibles(model) > 0) print_flexibles(model);
  if (as_model_signals(model) > 0) print_blocks(model);
  if (f->machine->n_plugins > 0) print_plugins(f->machine);
  if (f->machine->n_fmus > 0) print_fmus(f->machine);
  if (as_rules_count(f->machine->rules) > 0) print_events(f->machine->rules);
  printf("degrees of freedom  %d of %d\n", s->degrees_of_freedom, s->velocities);
  if (s->n_redundant > 0) {
    printf("redundant           %d constraint row%s, of ", s->n_redundant,
           s->n_redundant == 1 ? "" : "s");
    print_names(model, s->redundant, s->n_redundant_joints);
    putchar('\n');
  }
  print_start(f);
  if (s->fastest_force.index >= 0) {
    printf("periods of springs  about %.3g s (\"%s\") to %.3g s (\"%s\")\n", s->fastest_period,
           as_model_force_name(model, s->fastest_force), s->slowest_period,
           as_model_force_name(model, s->slowest_force));
  }
  print_cost(f);
  printf("output              %d channels\n", f->channels);
  for (int i = 0; i < f->n_warnings; i++) printf("warning: %s\n", f->warning[i]);
}

// ---- as JSON

static void write_strings(const findings *f) {
  putchar('[');
  for (int i = 0; i < f->n_warnings; i++) {
    if (i > 0) fputs(", ", stdout);
    asi_json_text(stdout, f->warning[i]);
  }
  putchar(']');
}

static void write_joints(const findings *f) {
  putchar('[');
  for (int i = 0; i < f->survey->n_redundant_joints; i++) {
    if (i > 0) fputs(", ", stdout);
    asi_json_text(stdout, as_model_joint_name(f->machine->model, f->survey->redundant[i]));
  }
  putchar(']');
}

static void write_plugins(const as_machine *machine) {
  putchar('[');
  for (int i = 0; i < machine->n_plugins; i++) {
    if (i > 0) fputs(", ", stdout);
    asi_json_text(stdout, machine->plugins[i].path);
  }
  putchar(']');
}

static void write_fmus(const as_machine *machine) {
  putchar('[');
  for (int i = 0; i < machine->n_fmus; i++) {
    const as_used_fmu *f = &machine->fmus[i];
    printf("%s{\"name\": ", i > 0 ? ", " : "");
    asi_json_text(stdout, f->name);
    fputs(", \"file\": ", stdout);
    asi_json_text(stdout, f->path);
    printf(", \"version\": %d, \"kind\": \"%s\"}", f->version,
           f->exchange ? "model_exchange" : "co_simulation");
  }
  putchar(']');
}

static const char *body_or_null(const as_model *model, as_body_id body) {
  return body.index >= 0 ? as_model_body_name(model, body) : NULL;
}

static const char *force_or_null(const as_model *model, as_force_id force) {
  return force.index >= 0 ? as_model_force_name(model, force) : NULL;
}

static void write_start(json_object *o, const findings *f) {
  const as_survey *s = f->survey;
  const as_assembly_report *a = &f->machine->assembly;
  const as_model *model = f->machine->model;
  json_add_number(o, "gap", s->gap);
  json_add_number(o, "largest_move", s->largest_move);
  json_add_string(o, "moved_body", body_or_null(model, s->moved_body));
  json_add_number(o, "velocity_change", s->velocity_change);
  json_key(o, "assembly");
  if (!f->machine->assembled) {
    fputs("null", stdout);
    return;
  }
  json_object inner = json_begin(stdout, o->indent);
  json_add_number(&inner, "gap", a->gap);
  json_add_number(&inner, "largest_move", a->largest_move);
  json_add_string(&inner, "moved_body", body_or_null(model, a->moved_body));
  json_add_number(&inner, "velocity_change", a->velocity_change);
  json_end(&inner);
}

static void print_json(const findings *f) {
  const as_survey *s = f->survey;
  const as_model *model = f->machine->model;
  json_object o = json_begin(stdout, 0);
  json_add_string(&o, "model", f->request->model);
  json_add_string(&o, "title", f->machine->title);
  json_add_number(&o, "bodies", s->bodies);
  json_add_number(&o, "flexible_bodies", as_model_flexibles(model));
  json_add_number(&o, "joints", s->joints);
  json_add_number(&o, "forces", s->forces);
  json_add_number(&o, "inactive_joints", s->inactive_joints);
  json_add_number(&o, "events", as_rules_count(f->machine->rules));
  json_add_number(&o, "velocities", s->velocities);
  json_add_number(&o, "constraint_rows", s->rows);
  json_add_number(&o, "degrees_of_freedom", s->degrees_of_freedom);
  json_add_number(&o, "redundant_rows", s->n_redundant);
  json_key(&o, "redundant_joints");
  write_joints(f);
  json_add_number(&o, "loops", s->loops);
  json_add_number(&o, "mass", s->mass);
  json_key(&o, "center_of_mass");
  for (int i = 0; i < 3; i++) {
    fputs(i == 0 ? "[" : ", ", stdout);
    asi_json_number(stdout, s->center_of_mass[i]);
  }
  putchar(']');
  json_add_number(&o, "size", s->size);
  write_start(&o, f);
  changes_write(&o, model, s->change, s->n_changes);
  json_add_number(&o, "unknowns", s->unknowns);
  json_add_number(&o, "entries", s->entries);
  json_add_number(&o, "fill", s->fill);
  json_add_number(&o, "factor_operations", s->factor_operations);
  json_add_number(&o, "solve_operations", s->solve_operations);
  json_add_string(&o, "solver", s->solver);
  json_add_number(&o, "fastest_period", s->fastest_period);
  json_add_string(&o, "fastest_force", force_or_null(model, s->fastest_force));
  json_add_number(&o, "slowest_period", s->slowest_period);
  json_add_string(&o, "slowest_force", force_or_null(model, s->slowest_force));
  json_add_number(&o, "t_end", f->machine->simulation.t_end);
  json_add_number(&o, "channels", f->channels);
  json_key(&o, "plugins");
  write_plugins(f->machine);
  json_key(&o, "fmus");
  write_fmus(f->machine);
  json_key(&o, "warnings");
  write_strings(f);
  json_end(&o);
  putchar('\n');
}

// ---- the command

static cli_exit look(findings *f) {
  const as_machine *machine = f->machine;
  const as_simulation *simulation = &machine->simulation;
  as_survey *survey = NULL;
  as_channels *channels = NULL;
  as_error error;
  as_status status =
      as_survey_create(machine->model, &simulation->integrator, simulation->t_end, &survey, &error);
  if (status == AS_OK) {
    status = as_channels_create_with(machine->model, machine->rules, machine->output.channels,
                                     machine->output.n_channels, &channels, &error);
  }
  if (status != AS_OK) {
    cli_complain("%s: %s", f->request->model, error.message);
  } else {
    f->survey = survey;
    f->channels = as_channels_count(channels);
    for (int i = 0; i < machine->n_warnings; i++) warn(f, machine->warnings[i]);
    for (int i = 0; i < survey->n_warnings; i++) warn(f, survey->warning[i]);
    warn_unused(f, channels);
    if (f->request->json) {
      print_json(f);
    } else {
      print_text(f);
    }
  }
  as_channels_destroy(channels);
  as_survey_destroy(survey);
  return status == AS_OK ? CLI_DONE : status == AS_ERR_ARGUMENT ? CLI_USAGE : CLI_SIMULATION;
}

static cli_exit check_machine(const machine_request *r) {
  as_machine *machine = NULL;
  cli_exit status = machine_open(r, &machine);
  if (status != CLI_DONE) return status;
  findings *f = calloc(1, sizeof *f);
  if (f == NULL) {
    status = cli_complain_memory();
  } else {
    f->request = r;
    f->machine = machine;
    status = look(f);
  }
  free(f);
  as_machine_destroy(machine);
  return status;
}

static void print_help(void) {
  fputs(
      "Usage: alphastep check MODEL [--set PATH=VALUE]... [--json]\n"
      "\n"
      "Reads the machine that the file MODEL (YAML or JSON) describes and tells, without running "
      "it:\n"
      "bodies, mass and centre of mass; joints, closed loops, degrees of freedom, redundant\n"
      "constraints by name; how far the bodies have to be moved so that all joints hold; the "
      "matrix\n"
      "of a step and what it costs; and what looks strange: given positions and velocities that a\n"
      "start does not keep, with the joint that demands it; periods that are very different from\n"
      "each other or from the step, tiny masses, units that look wrong, names that nothing uses.\n"
      "\n"
      "--set PATH=VALUE  replaces a value of the file: `--set "
      "parameters.n=100`\n" MACHINE_PLUGIN_HELP "--json            the same as JSON on stdout\n"
      "--help            this text\n"
      "\n"
      "Exit status: 0 it can be run, with warnings or without; 2 bad usage or input; 3 it cannot\n"
      "start; 4 a file could not be read.\n",
      stdout);
}

cli_exit check_command(int argc, char **argv) {
  machine_request r;
  cli_exit status = machine_arguments(argc, argv, "check", false, &r);
  if (status == CLI_DONE && r.help) {
    print_help();
  } else if (status == CLI_DONE) {
    status = check_machine(&r);
  }
  machine_arguments_free(&r);
  return status;
}

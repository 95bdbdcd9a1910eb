/// `simulate:` and `output:`.
#include "file/run.h"

#include <math.h>

// ---- simulate ---------------------------------------------------------------------------------------

static const char *const methods[] = {
    [AS_METHOD_INDEX3] = "index3", [AS_METHOD_INDEX2] = "index2", [AS_METHOD_SOI2] = "soi2", NULL};

#define AT(field) offsetof(asi_simulate, field)
static const asi_key tolerance_keys[] = {
    {"rtol", ASI_KEY_NUMBER, AT(def.tolerance.rtol), .range = ASI_POSITIVE, .otherwise = "2e-5",
     .text = "error at the end, about, relative to the largest size of a component so far"},
    {"atol", ASI_KEY_NUMBER, AT(atol), .range = ASI_NOT_NEGATIVE,
     .otherwise = "rtol/1000 of typical sizes",
     .text = "absolute error that is added to it, in the units of each component"},
    {"atol_position", ASI_KEY_NUMBER, AT(def.tolerance.atol_position), .range = ASI_NOT_NEGATIVE,
     .unit = "m", .otherwise = "atol", .text = "of positions"},
    {"atol_rotation", ASI_KEY_NUMBER, AT(def.tolerance.atol_rotation), .range = ASI_NOT_NEGATIVE,
     .unit = "rad", .otherwise = "atol", .text = "of rotations"},
    {"atol_velocity", ASI_KEY_NUMBER, AT(def.tolerance.atol_velocity), .range = ASI_NOT_NEGATIVE,
     .unit = "m/s, rad/s", .otherwise = "atol", .text = "of velocities"},
    {"atol_state", ASI_KEY_NUMBER, AT(def.tolerance.atol_state), .range = ASI_NOT_NEGATIVE,
     .otherwise = "atol", .text = "of states of blocks"},
    {"first_step", ASI_KEY_NUMBER, AT(def.tolerance.first_step), .range = ASI_POSITIVE, .unit = "s",
     .otherwise = "chosen", .text = "the first step"},
    {"min_step", ASI_KEY_NUMBER, AT(def.tolerance.min_step), .range = ASI_NOT_NEGATIVE, .unit = "s",
     .otherwise = "0", .text = "a step that would have to be smaller is an error"},
    {"max_step", ASI_KEY_NUMBER, AT(def.tolerance.max_step), .range = ASI_POSITIVE, .unit = "s",
     .otherwise = "none", .text = "the largest step"},
};
static const asi_table tolerance_table = {"tolerance", NULL, tolerance_keys,
                                          ASI_COUNT(tolerance_keys)};

static const asi_key newton_keys[] = {
    {"rtol", ASI_KEY_NUMBER, AT(def.newton.rtol), .range = ASI_POSITIVE,
     .otherwise = "1e-8, or 0.01 tol.rtol", .text = "relative tolerance on accelerations"},
    {"atol", ASI_KEY_NUMBER, AT(def.newton.atol), .range = ASI_NOT_NEGATIVE,
     .unit = "m/s^2, rad/s^2", .otherwise = "1e-12 of typical ones",
     .text = "absolute tolerance on accelerations"},
    {"max_iterations", ASI_KEY_INTEGER, AT(def.newton.max_iterations), .range = ASI_POSITIVE,
     .otherwise = "20", .text = "per step and factorization"},
    {"reuse", ASI_KEY_BOOLEAN, AT(def.newton.reuse), .otherwise = "true",
     .text = "keep a factorization over steps while it contracts"},
};
static const asi_table newton_table = {"newton", NULL, newton_keys, ASI_COUNT(newton_keys)};

static const asi_key simulate_keys[] = {
    {"t_end", ASI_KEY_NUMBER, AT(t_end), .required = true, .range = ASI_POSITIVE, .unit = "s",
     .text = "simulate from 0 to this time"},
    {"tol", ASI_KEY_OBJECT, 0, .table = &tolerance_table, .otherwise = "rtol 2e-5",
     .text = "automatic steps, and how accurate they are"},
    {"step", ASI_KEY_NUMBER, AT(def.step), .range = ASI_POSITIVE, .unit = "s", .instead_of = "tol",
     .text = "a constant step"},
    {"method", ASI_KEY_CHOICE, AT(method), .choices = methods, .otherwise = "index2",
     .text =
         "formulation of the constraints: index2 keeps positions and velocities on them, index3 "
         "positions only, soi2 is Jay and Negrut's method"},
    {"order", ASI_KEY_INTEGER, AT(def.order), .range = ASI_POSITIVE, .otherwise = "2",
     .text = "6: automatic steps are extrapolated where that costs less, which pays for rtol of "
             "1e-5 and less; 2: they are the method's"},
    {"rho_inf", ASI_KEY_NUMBER, AT(def.rho_inf), .range = ASI_FRACTION, .otherwise = "0.8",
     .text = "spectral radius at infinite frequency: 1 damps nothing, 0 damps high frequencies at "
             "once"},
    {"hht_alpha", ASI_KEY_NUMBER, AT(hht_alpha), .instead_of = "rho_inf",
     .text = "the method of Hilber, Hughes and Taylor, alpha between -1/3 and 0"},
    {"newmark", ASI_KEY_VECTOR, AT(newmark), .least = 2, .most = 2, .instead_of = "rho_inf",
     .text = "Newmark's method: beta, gamma"},
    {"state_rho_inf", ASI_KEY_NUMBER, AT(def.state_rho_inf), .range = ASI_FRACTION,
     .otherwise = "rho_inf", .text = "the same as rho_inf for the states of blocks"},
    {"coefficients", ASI_KEY_VECTOR, AT(coefficients), .least = 4, .most = 4,
     .instead_of = "rho_inf", .text = "all by hand: alpha_m, alpha_f, beta, gamma"},
    {"state_coefficients", ASI_KEY_VECTOR, AT(state_coefficients), .least = 3, .most = 3,
     .instead_of = "state_rho_inf", .text = "likewise: delta_m, delta_f, theta"},
    {"check_coefficients", ASI_KEY_BOOLEAN, AT(def.check_coefficients), .otherwise = "true",
     .text = "refuse coefficients that are not second order and stable"},
    {"step_corrections", ASI_KEY_BOOLEAN, AT(def.step_corrections), .otherwise = "true",
     .text = "keep second order when steps change; off only to see what happens"},
    {"improved_start", ASI_KEY_BOOLEAN, AT(def.improved_start), .otherwise = "true",
     .text = "start the auxiliary acceleration at its own time instead of at the start"},
    {"perturbed_start", ASI_KEY_BOOLEAN, AT(def.perturbed_start), .otherwise = "true",
     .text =
         "index3: change the first velocities by O(step^2), so that reactions do not oscillate"},
    {"project_start", ASI_KEY_BOOLEAN, AT(def.project_start), .otherwise = "true",
     .text = "bring the start onto the constraints; otherwise refuse one that is off"},
    {"implicit_start", ASI_KEY_BOOLEAN, AT(def.soi2.implicit_start), .otherwise = "false",
     .text = "soi2: the first step solves for its start, too"},
    {"reevaluate_mass", ASI_KEY_BOOLEAN, AT(def.soi2.reevaluate_mass), .otherwise = "false",
     .text = "soi2: evaluate the mass of the momenta again"},
    {"max_steps", ASI_KEY_INTEGER, AT(max_steps), .range = ASI_POSITIVE, .otherwise = "no limit",
     .text = "give up after so many steps"},
    {"accuracy", ASI_KEY_BOOLEAN, AT(accuracy), .otherwise = "false",
     .text = "estimate the error of every channel, by a second, finer run alongside"},
    {"newton", ASI_KEY_OBJECT, 0, .table = &newton_table, .text = "the iteration inside a step"},
};
#undef AT
const asi_table asi_simulate_table = {"simulate", NULL, simulate_keys, ASI_COUNT(simulate_keys)};

asi_simulate asi_default_simulate(void) {
  const as_integrator_def def = as_default_integrator_def();
  return (asi_simulate){.t_end = (double)NAN,
                        .method = (int)def.method,
                        .atol = (double)NAN,
                        .hht_alpha = (double)NAN,
                        .newmark = {(double)NAN, (double)NAN},
                        .coefficients = {(double)NAN},
                        .state_coefficients = {(double)NAN},
                        .def = def};
}

/// Coefficients that are given otherwise than by rho_inf.
static void take_coefficients(asi_reader *r, const asi_value *v, const asi_simulate *read,
                              as_coefficients *out) {
  as_error error;
  const asi_path outer = {"simulate", 0, NULL}, hht = {"hht_alpha", 0, &outer},
                 newmark = {"newmark", 0, &outer};
  as_status status = AS_OK;
  if (!isnan(read->hht_alpha)) status = as_coefficients_hht(read->hht_alpha, out, &error);
  r->path = &hht;
  if (status) asi_complain(r, asi_value_get(v, "hht_alpha"), "%s", error.message);
  status = AS_OK;
  r->path = &newmark;
  if (!isnan(read->newmark[0]))
    status = as_coefficients_newmark(read->newmark[0], read->newmark[1], out, &error);
  if (status) asi_complain(r, asi_value_get(v, "newmark"), "%s", error.message);
  r->path = NULL;
  const double *all = read->coefficients;
  if (!isnan(all[0])) *out = (as_coefficients){all[0], all[1], all[2], all[3]};
}

static void check_order(asi_reader *r, const asi_value *v, const as_integrator_def *def) {
  const asi_path outer = {"simulate", 0, NULL}, path = {"order", 0, &outer};
  const asi_value *place = asi_value_get(v, "order");
  r->path = &path;
  if (def->order != 2 && def->order != 6)
    asi_complain(r, place, "must be 2 or 6, not %d", def->order);
  else if (def->order == 6 && !isnan(def->step))
    asi_complain(r, place, "6 is the order of automatic steps: leave `step` out");
  r->path = NULL;
}

void asi_take_simulate(asi_reader *r, const asi_value *v, const asi_simulate *read) {
  as_simulation *s = &r->machine->simulation;
  *s = (as_simulation){read->t_end, read->max_steps, read->def, read->accuracy};
  s->integrator.method = (as_method)read->method;
  take_coefficients(r, v, read, &s->integrator.coefficients);
  check_order(r, v, &read->def);
  const double *of_states = read->state_coefficients;
  if (!isnan(of_states[0]))
    s->integrator.state_coefficients =
        (as_state_coefficients){of_states[0], of_states[1], of_states[2]};
  as_tolerance *tolerance = &s->integrator.tolerance;
  double *const each[] = {&tolerance->atol_position, &tolerance->atol_rotation,
                          &tolerance->atol_velocity, &tolerance->atol_state};
  for (int i = 0; i < ASI_COUNT(each); ++i)
    if (isnan(*each[i])) *each[i] = read->atol;
}

// ---- output -----------------------------------------------------------------------------------------

#define AT(field) offsetof(asi_output, field)
static const asi_key output_keys[] = {
    {"interval", ASI_KEY_NUMBER, AT(interval), .range = ASI_POSITIVE, .unit = "s",
     .text = "time between outputs, from 0 on"},
    {"times", ASI_KEY_NUMBERS, AT(times), .range = ASI_NOT_NEGATIVE, .least = 1, .unit = "s",
     .instead_of = "interval", .text = "increasing times of output"},
    {"channels", ASI_KEY_TEXTS, AT(channels),
     .text =
         "what is written, e.g. `bodies.top.position.x`, `joints.tip.force.z`, `energy.kinetic`"},
};
#undef AT
const asi_table asi_output_table = {"output", NULL, output_keys, ASI_COUNT(output_keys)};

asi_output asi_default_output(void) { return (asi_output){.interval = (double)NAN}; }

void asi_take_output(asi_reader *r, const asi_value *v, const asi_output *read) {
  const asi_path outer = {"output", 0, NULL}, path = {"times", 0, &outer};
  const asi_value *times = asi_value_get(v, "times");
  as_output *out = &r->machine->output;
  const int n = read->channels.n;
  as_place *places = asi_arena_take(r->arena, (size_t)n * sizeof *places);
  if (places == NULL) return;
  *out = (as_output){.interval = read->interval,
                     .times = asi_keep_numbers(r, read->times.number, read->times.n),
                     .n_times = read->times.n,
                     .channels = read->channels.text,
                     .channel_places = places,
                     .n_channels = n};
  r->output = v;
  for (int i = 0; i < n; ++i) places[i] = asi_place(r, read->channels.value[i]);
  r->path = &path;
  for (int i = 1; i < out->n_times && out->times; ++i)
    if (!(out->times[i] > out->times[i - 1]))
      asi_complain(r, times->item[i], "must increase, but %g follows %g", out->times[i],
                   out->times[i - 1]);
  r->path = NULL;
}

/// Do the output times end with the simulation, and are the rows not too many? Both may stand in different files.
void asi_check_output(asi_reader *r) {
  const as_output *out = &r->machine->output;
  const double t_end = r->machine->simulation.t_end;
  const asi_path outer = {"output", 0, NULL};
  asi_path path = {"times", 0, &outer};
  const asi_value *times = asi_value_get(r->output, "times");
  r->path = &path;
  if (out->n_times > 0 && out->times && out->times[out->n_times - 1] > t_end)
    asi_complain(r, times->item[out->n_times - 1], "%g s is after t_end = %g s",
                 out->times[out->n_times - 1], t_end);
  path.key = "interval";
  if (t_end / out->interval > 1e9)
    asi_complain(r, asi_value_get(r->output, "interval"),
                 "%g s would give more than 1e9 rows up to t_end = %g s", out->interval, t_end);
  r->path = NULL;
}

/// A twin-tube damper with a controlled valve, as its manufacturer would deliver it: a plugin of alphastep with the pressures of
/// two chambers as states. The equations are [CT.2] of docs/control.md, those of the block `semi_active_damper`.
#include <alphastep/plugin.h>

#include <math.h>
#include <stdio.h>

// ---- numbers and their names ------------------------------------------------------------------------

enum { STROKE, SPEED, CURRENT, INPUTS };
enum { REBOUND, COMPRESSION, STATES };
enum { FORCE, DROP, OUTPUTS };

static const as_plugin_quantity input[INPUTS] = {
    {"stroke", "m", 0, 0.1, "length less the design length"},
    {"speed", "m/s", 0, 1, "its rate"},
    {"current", "A", 0, 1, "of the valve"},
};
static const as_plugin_quantity state[STATES] = {
    {"rebound", "Pa", 4e5, 1e5, "pressure of the rebound chamber"},
    {"compression", "Pa", 4e5, 1e5, "pressure of the compression chamber"},
};
static const as_plugin_quantity output[OUTPUTS] = {
    {"", "N", 0, 0, "tension"},
    {"drop", "Pa", 0, 0, "pressure across the valve"},
};

enum {
  AREA_PISTON,
  AREA_ROD,
  VOLUME_REBOUND,
  VOLUME_COMPRESSION,
  GAS_PRESSURE,
  GAS_VOLUME,
  VALVE_MOST,
  FRICTION,
  PARAMETERS
};
static const as_plugin_quantity parameter[PARAMETERS] = {
    {"area_piston", "m^2", 1.018e-3, 0, "of the piston"},
    {"area_rod", "m^2", 3.8e-4, 0, "of its rod"},
    {"volume_rebound", "m^3", 1.6e-4, 0, "of the rebound chamber at no stroke"},
    {"volume_compression", "m^3", 1.6e-4, 0, "of the compression chamber at no stroke"},
    {"gas_pressure", "Pa", 4e5, 0, "of the gas at no stroke"},
    {"gas_volume", "m^3", 1.2e-4, 0, "likewise"},
    {"valve_most", "Pa", 3.9e6, 0, "at which the valve opens with the largest current"},
    {"friction", "N", 30, 0, "of the seals"},
};

// What the manufacturer does not tell the user.
static const double bulk_modulus = 1.4e9, air = 0.005, air_exponent = 1.3, atmosphere = 101325,
                    gas_exponent = 1.3, piston_check = 6e-9, base_check = 1e-8,
                    check_pressure = 5e3, check_width = 1e4, piston_relief = 8e-10,
                    piston_pressure = 6e6, base_relief = 8e-10, base_pressure = 5e6,
                    relief_width = 5e5, valve = 5e-10, valve_pressure = 1.5e5, valve_width = 1e5,
                    current_most = 1.6, orifice = 0.8e-6, density = 860, laminar = 2e4,
                    passive_width = 2e4, friction_speed = 0.01, least_pressure = 1e4,
                    floor_pressure = 2e5;

// ---- valves -----------------------------------------------------------------------------------------

/// A number with its derivative by the one that it is a function of.
typedef struct dual {
  double value, slope;
} dual;

/// Smooth positive part.
static dual positive(double x, double width) {
  const double root = sqrt(x * x + width * width);
  return (dual){(x + root) / 2, (1 + x / root) / 2};
}

/// A check valve: the flow at a pressure drop.
static dual check(double conductance, double drop) {
  const double s = tanh((drop - check_pressure) / check_width);
  return (dual){conductance * drop * (1 + s) / 2,
                conductance * ((1 + s) + drop * (1 - s * s) / check_width) / 2};
}

/// A relief valve that opens at a pressure.
static dual relief(double conductance, double drop, double opens, double width) {
  const dual p = positive(drop - opens, width);
  const double s = tanh(drop / passive_width);
  return (dual){conductance * p.value * s,
                conductance * (p.slope * s + p.value * (1 - s * s) / passive_width)};
}

/// An orifice, laminar at small drops.
static dual throttle(double drop) {
  const double c = orifice * sqrt(2 / density), r = drop * drop + laminar * laminar;
  const double q = pow(r, -0.25);
  return (dual){c * drop * q, c * (q - drop * drop * q / (2 * r))};
}

/// The oil's bulk modulus, softer with air in it.
static dual stiffness(double pressure) {
  const dual smooth = positive(pressure, least_pressure);
  const int floored = !(smooth.value >= floor_pressure);
  const double p = floored ? floor_pressure : smooth.value;
  const double part = air * pow(atmosphere / p, 1 / air_exponent) / (air_exponent * p);
  const double B = 1 / (1 / bulk_modulus + part);
  return (dual){B, floored ? 0 : B * B * part * (1 / air_exponent + 1) / p * smooth.slope};
}

// ---- the damper -------------------------------------------------------------------------------------

/// Everything at a point; what ends with _r, _c, _x and _i is a derivative by the pressures, the stroke, the current.
typedef struct moment {
  double gas, gas_x;       // pressure of the gas
  double piston, d_piston; // flow through the piston, and by c - r
  double base, base_c, base_x;
  double flow, flow_r, flow_x, flow_i; // of the valve
  dual B_r, B_c;
  double V_r, V_c; // volumes
} moment;

static moment look(const as_plugin_point *at) {
  const double *p = at->parameter, r = at->state[REBOUND], c = at->state[COMPRESSION],
               x = at->input[STROKE], i = at->input[CURRENT];
  moment m;
  const double V_gas = p[GAS_VOLUME] + p[AREA_ROD] * x;
  m.gas = p[GAS_PRESSURE] * pow(p[GAS_VOLUME] / V_gas, gas_exponent);
  m.gas_x = -gas_exponent * m.gas * p[AREA_ROD] / V_gas;
  const dual in = check(piston_check, c - r),
             out = relief(piston_relief, r - c, piston_pressure, relief_width);
  m.piston = in.value - out.value;
  m.d_piston = in.slope + out.slope;
  const dual suck = check(base_check, m.gas - c),
             blow = relief(base_relief, c - m.gas, base_pressure, relief_width);
  m.base = suck.value - blow.value;
  m.base_c = -suck.slope - blow.slope;
  m.base_x = (suck.slope + blow.slope) * m.gas_x;
  const double opens = valve_pressure + (p[VALVE_MOST] - valve_pressure) * i / current_most;
  const dual orifice_flow = throttle(r - m.gas),
             valve_flow = relief(valve, r - m.gas, opens, valve_width);
  m.flow = orifice_flow.value + valve_flow.value;
  m.flow_r = orifice_flow.slope + valve_flow.slope;
  m.flow_x = -m.flow_r * m.gas_x;
  m.flow_i = -valve * positive(r - m.gas - opens, valve_width).slope *
             tanh((r - m.gas) / passive_width) * (p[VALVE_MOST] - valve_pressure) / current_most;
  m.B_r = stiffness(r);
  m.B_c = stiffness(c);
  m.V_r = p[VOLUME_REBOUND] - (p[AREA_PISTON] - p[AREA_ROD]) * x;
  m.V_c = p[VOLUME_COMPRESSION] + p[AREA_PISTON] * x;
  return m;
}

static int evaluate(const as_plugin_point *at, double *rate, double *out, char *why) {
  const double *p = at->parameter, r = at->state[REBOUND], c = at->state[COMPRESSION],
               v = at->input[SPEED], ring = p[AREA_PISTON] - p[AREA_ROD];
  const moment m = look(at);
  if (!(m.V_r > 0 && m.V_c > 0 && p[GAS_VOLUME] + p[AREA_ROD] * at->input[STROKE] > 0)) {
    snprintf(why, AS_PLUGIN_WHY, "a stroke of %.4g m is beyond the damper's ends",
             at->input[STROKE]);
    return AS_PLUGIN_RETRY; // a smaller step may not get there
  }
  if (rate) {
    rate[REBOUND] = m.B_r.value / m.V_r * (ring * v + m.piston - m.flow);
    rate[COMPRESSION] = m.B_c.value / m.V_c * (-p[AREA_PISTON] * v - m.piston + m.base);
  }
  if (out) {
    out[FORCE] = (r - atmosphere) * ring - (c - atmosphere) * p[AREA_PISTON] +
                 p[FRICTION] * tanh(v / friction_speed);
    out[DROP] = r - m.gas;
  }
  return AS_PLUGIN_DONE;
}

/// Without it the same would be found by differences.
static int jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why) {
  const double *p = at->parameter, v = at->input[SPEED], ring = p[AREA_PISTON] - p[AREA_ROD];
  const moment m = look(at);
  const double into_r = ring * v + m.piston - m.flow, b_r = m.B_r.value / m.V_r;
  const double into_c = -p[AREA_PISTON] * v - m.piston + m.base, b_c = m.B_c.value / m.V_c;
  const double s = tanh(v / friction_speed);
  (void)why;
  double *r_x = out->rate_by_state, *c_x = r_x + STATES, *r_w = out->rate_by_input,
         *c_w = r_w + INPUTS;
  r_x[REBOUND] = m.B_r.slope / m.V_r * into_r + b_r * (-m.d_piston - m.flow_r);
  r_x[COMPRESSION] = b_r * m.d_piston;
  c_x[REBOUND] = b_c * m.d_piston;
  c_x[COMPRESSION] = m.B_c.slope / m.V_c * into_c + b_c * (-m.d_piston + m.base_c);
  r_w[STROKE] = b_r * (ring / m.V_r * into_r - m.flow_x);
  r_w[SPEED] = b_r * ring;
  r_w[CURRENT] = -b_r * m.flow_i;
  c_w[STROKE] = b_c * (-p[AREA_PISTON] / m.V_c * into_c + m.base_x);
  c_w[SPEED] = -b_c * p[AREA_PISTON];
  double *f_x = out->output_by_state + FORCE * STATES, *d_x = out->output_by_state + DROP * STATES;
  f_x[REBOUND] = ring;
  f_x[COMPRESSION] = -p[AREA_PISTON];
  d_x[REBOUND] = 1;
  out->output_by_input[FORCE * INPUTS + SPEED] = p[FRICTION] * (1 - s * s) / friction_speed;
  out->output_by_input[DROP * INPUTS + STROKE] = -m.gas_x;
  return AS_PLUGIN_DONE;
}

/// Which inputs an output depends on at once.
static const unsigned char direct[OUTPUTS * INPUTS] = {0, 1, 0, /* drop: */ 1, 0, 0};

/// Chambers are filled at the pressure of the gas, unless the model file says otherwise.
static int prepare(const double *p, const as_plugin_start *start, char *why) {
  if (!(p[AREA_PISTON] > p[AREA_ROD] && p[AREA_ROD] > 0)) {
    snprintf(why, AS_PLUGIN_WHY, "the rod (%.4g m^2) must be thinner than the piston (%.4g m^2)",
             p[AREA_ROD], p[AREA_PISTON]);
    return AS_PLUGIN_FAIL;
  }
  start->state[REBOUND] = start->state[COMPRESSION] = p[GAS_PRESSURE];
  return AS_PLUGIN_DONE;
}

static const as_plugin_block twin_tube = {
    .name = "twin_tube",
    .text = "twin-tube damper with a controlled valve: tension",
    .n_parameters = PARAMETERS,
    .parameter = parameter,
    .n_inputs = INPUTS,
    .input = input,
    .n_states = STATES,
    .state = state,
    .n_outputs = OUTPUTS,
    .output = output,
    .direct = direct,
    .prepare = prepare,
    .evaluate = evaluate,
    .jacobian = jacobian,
};

// ---- the plugin -------------------------------------------------------------------------------------

static const as_plugin_block *const blocks[] = {&twin_tube, NULL};
static const as_plugin plugin = {
    AS_PLUGIN_COOKIE, AS_PLUGIN_VERSION, "dampers", "1.0", blocks, NULL};

AS_PLUGIN_EXPORT const as_plugin *alphastep_plugin(void) { return &plugin; }

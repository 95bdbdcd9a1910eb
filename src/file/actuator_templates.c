/// Templates of actuators: a force with a lag, a hydraulic cylinder, a semi-active damper and its inverse (docs/control.md).
#include "file/template_rows.h"

static const asi_key force_keys[] = {TYPE,
                                     NEEDS(0, "command", "N", "what is wanted"),
                                     NEEDS_POSITIVE(1, "time_constant", "s", "T"),
                                     TAKES(2, "lower", "-1e300", "N", "lower limit"),
                                     TAKES(3, "upper", "1e300", "N", "upper limit"),
                                     START,
                                     UNIT};
TEMPLATE(force_actuator, force_keys, "force_actuator", "T x' = command within its limits - x",
         X("", "(max({lower}, min({upper}, {command})) - {})/{time_constant}", 1))

#define PRESSURE(key, number, words)                                                               \
  { key, ASI_KEY_NUMBER, AT(start[number]), .required = true, .unit = "Pa", .text = words }
static const asi_key cylinder_keys[] = {
    TYPE,
    NEEDS(0, "position", "m", "x of the piston, from chamber a to b"),
    NEEDS(1, "speed", "m/s", "v = x'"),
    NEEDS(2, "flow_a", "m^3/s", "Qa: into chamber a"),
    NEEDS(3, "flow_b", "m^3/s", "Qb: into chamber b"),
    NEEDS(4, "area_a", "m^2", "Aa: of the piston in chamber a"),
    NEEDS(5, "area_b", "m^2", "Ab: of the piston in chamber b"),
    NEEDS(6, "volume_a", "m^3", "Va: of chamber a at x = 0, with its pipe"),
    NEEDS(7, "volume_b", "m^3", "Vb: of chamber b at x = 0, with its pipe"),
    TAKES(8, "bulk_modulus", "1.4e9", "Pa", "E: of the oil"),
    TAKES(9, "leakage", "0", "m^3/(s Pa)", "L: from chamber a to b"),
    PRESSURE("pressure_a", 0, "pa at the start"),
    PRESSURE("pressure_b", 1, "pb at the start"),
    UNIT};
TEMPLATE(
    cylinder, cylinder_keys, "hydraulic_cylinder",
    "y = pa Aa - pb Ab, pa' = E/(Va + Aa x) (Qa - Aa v - L (pa - pb)), pb' = E/(Vb - Ab x) (Qb "
    "+ Ab v + L (pa - pb))",
    Y("", "{.pressure_a}*{area_a} - {.pressure_b}*{area_b}"),
    X("pressure_a",
      "{bulk_modulus}/({volume_a} + {area_a}*{position})*({flow_a} - {area_a}*{speed} - "
      "{leakage}*({.pressure_a} - {.pressure_b}))",
      1),
    X("pressure_b",
      "{bulk_modulus}/({volume_b} - {area_b}*{position})*({flow_b} + {area_b}*{speed} + "
      "{leakage}*({.pressure_a} - {.pressure_b}))",
      2))

static const asi_key damper_keys[] = {
    TYPE,
    NEEDS(0, "stroke", "m", "x: length less the design length"),
    NEEDS(1, "speed", "m/s", "v = x'"),
    NEEDS(2, "current", "A", "i: of the valve"),
    TAKES(3, "area_piston", "1.018e-3", "m^2", "Ap"),
    TAKES(4, "area_rod", "3.8e-4", "m^2", "As; Ar = Ap - As"),
    TAKES(5, "volume_rebound", "1.6e-4", "m^3", "Vr at x = 0"),
    TAKES(6, "volume_compression", "1.6e-4", "m^3", "Vc at x = 0"),
    TAKES(7, "bulk_modulus", "1.4e9", "Pa", "E: of the oil"),
    TAKES(8, "air", "0.005", NULL, "part of air in the oil"),
    TAKES(9, "air_exponent", "1.3", NULL, "na"),
    TAKES(10, "atmosphere", "101325", "Pa", "p0"),
    TAKES(11, "gas_pressure", "4e5", "Pa", "pg at x = 0"),
    TAKES(12, "gas_volume", "1.2e-4", "m^3", "Vg at x = 0"),
    TAKES(13, "gas_exponent", "1.3", NULL, "n"),
    TAKES(14, "piston_check", "6e-9", "m^3/(s Pa)", "conductance of the piston's check valve"),
    TAKES(15, "base_check", "1e-8", "m^3/(s Pa)", "conductance of the base's check valve"),
    TAKES(16, "check_pressure", "5e3", "Pa", "at which check valves open"),
    TAKES(17, "check_width", "1e4", "Pa", "over which they open"),
    TAKES(18, "piston_relief", "8e-10", "m^3/(s Pa)", "conductance of the piston's relief valve"),
    TAKES(19, "piston_pressure", "6e6", "Pa", "at which it opens"),
    TAKES(20, "base_relief", "8e-10", "m^3/(s Pa)", "conductance of the base's relief valve"),
    TAKES(21, "base_pressure", "5e6", "Pa", "at which it opens"),
    TAKES(22, "relief_width", "5e5", "Pa", "over which these two open"),
    TAKES(23, "valve", "5e-10", "m^3/(s Pa)", "conductance of the controlled valve"),
    TAKES(24, "valve_pressure", "1.5e5", "Pa", "at which it opens without current"),
    TAKES(25, "valve_most", "3.9e6", "Pa", "at which it opens with the largest current"),
    TAKES(26, "valve_width", "1e5", "Pa", "over which it opens"),
    TAKES(27, "current_most", "1.6", "A", "the largest current"),
    TAKES(28, "orifice", "0.8e-6", "m^2", "coefficient times area of the orifice beside it"),
    TAKES(29, "density", "860", "kg/m^3", "of the oil"),
    TAKES(30, "laminar", "2e4", "Pa", "below which the orifice's flow is laminar"),
    TAKES(31, "passive_width", "2e4", "Pa", "d0: where relief flows change their sign"),
    TAKES(32, "friction", "30", "N", "F"),
    TAKES(33, "friction_speed", "0.01", "m/s", "over which it turns round"),
    TAKES(34, "least_pressure", "1e4", "Pa", "smooth limit of pressures in the oil's stiffness"),
    TAKES(35, "floor_pressure", "2e5", "Pa", "floor of pressures there"),
    PRESSURE("rebound", 0, "pressure pr at the start"),
    PRESSURE("compression", 1, "pressure pc at the start"),
    UNIT};
// Smooth positive part; check and relief valves; pressure of the gas.
#define SP(x, d) "((" x ") + sqrt((" x ")^2 + " d "^2))/2"
#define CHECK(g, x) g "*(" x ")*(1 + tanh((" x " - {check_pressure})/{check_width}))/2"
#define RELIEF(g, x, p, d) g "*(" SP(x " - " p, d) ")*tanh((" x ")/{passive_width})"
#define R "{.rebound}"
#define C "{.compression}"
#define GAS "({gas_pressure}*({gas_volume}/({gas_volume} + {area_rod}*{stroke}))^{gas_exponent})"
#define FLOW_PISTON                                                                                \
  "(" CHECK("{piston_check}", C " - " R) " - " RELIEF("{piston_relief}", R " - " C,                \
                                                      "{piston_pressure}", "{relief_width}") ")"
#define FLOW_BASE                                                                                  \
  "(" CHECK("{base_check}", GAS " - " C) " - " RELIEF("{base_relief}", C " - " GAS,                \
                                                      "{base_pressure}", "{relief_width}") ")"
#define OPENS "({valve_pressure} + ({valve_most} - {valve_pressure})*{current}/{current_most})"
#define FLOW_VALVE                                                                                 \
  "({orifice}*sqrt(2/{density})*(" R " - " GAS ")/((" R " - " GAS                                  \
  ")^2 + {laminar}^2)^0.25 + " RELIEF("{valve}", R " - " GAS, OPENS, "{valve_width}") ")"
#define FLOORED(p) "max(" SP(p, "{least_pressure}") ", {floor_pressure})"
#define STIFFNESS(p)                                                                               \
  "(1/(1/{bulk_modulus} + {air}*({atmosphere}/" FLOORED(                                           \
      p) ")^(1/{air_exponent})/({air_exponent}*" FLOORED(p) ")))"
TEMPLATE(damper, damper_keys, "semi_active_damper",
         "tension of a twin-tube damper with a controlled valve; states are its two pressures",
         Y("", "(" R " - {atmosphere})*({area_piston} - {area_rod}) - (" C " - {atmosphere})*"
               "{area_piston} + {friction}*tanh({speed}/{friction_speed})"),
         X("rebound",
           STIFFNESS(R) "/({volume_rebound} - ({area_piston} - {area_rod})*{stroke})*(("
                        "{area_piston} - {area_rod})*{speed} + " FLOW_PISTON " - " FLOW_VALVE ")",
           1),
         X("compression",
           STIFFNESS(C) "/({volume_compression} + {area_piston}*{stroke})*(-{area_piston}*{speed} "
                        "- " FLOW_PISTON " + " FLOW_BASE ")",
           2))

static const asi_key inverse_keys[] = {
    TYPE,
    NEEDS(0, "force", "N", "T: the tension that is wanted"),
    NEEDS(1, "speed", "m/s", "v = x'"),
    NEEDS(2, "stroke", "m", "x: length less the design length"),
    TAKES(3, "area_piston", "1.018e-3", "m^2", "Ap"),
    TAKES(4, "area_rod", "3.8e-4", "m^2", "As; Ar = Ap - As"),
    TAKES(5, "atmosphere", "101325", "Pa", "p0"),
    TAKES(6, "gas_pressure", "4e5", "Pa", "pg at x = 0"),
    TAKES(7, "gas_volume", "1.2e-4", "m^3", "Vg at x = 0"),
    TAKES(8, "gas_exponent", "1.3", NULL, "n"),
    TAKES(9, "piston_check", "6e-9", "m^3/(s Pa)", "conductance of the piston's check valve"),
    TAKES(10, "base_check", "1e-8", "m^3/(s Pa)", "conductance of the base's check valve"),
    TAKES(11, "valve", "5e-10", "m^3/(s Pa)", "conductance of the controlled valve"),
    TAKES(12, "valve_pressure", "1.5e5", "Pa", "at which it opens without current"),
    TAKES(13, "valve_most", "3.9e6", "Pa", "at which it opens with the largest current"),
    TAKES(14, "valve_width", "1e5", "Pa", "over which it opens"),
    TAKES(15, "current_most", "1.6", "A", "the largest current"),
    TAKES(16, "orifice", "0.8e-6", "m^2", "coefficient times area of the orifice beside it"),
    TAKES(17, "density", "860", "kg/m^3", "of the oil"),
    TAKES(18, "laminar", "2e4", "Pa", "below which the orifice's flow is laminar"),
    TAKES(19, "friction", "30", "N", "F"),
    TAKES(20, "friction_speed", "0.01", "m/s", "over which it turns round"),
    TAKES_POSITIVE(21, "speed_width", "0.02", "m/s", "over which the stroke changes its side"),
    TAKES_POSITIVE(22, "flow_width", "2e-5", "m^3/s", "over which the valve's relief stage opens"),
    TAKES_POSITIVE(23, "limit_width", "0.05", NULL,
                   "over which the current meets its limits, over the largest current"),
    UNIT};
// With R = sqrt(x^2 + q^2), z = (x + R)/(2 k): z - d^2/(4 z) = (x + R)/(2 k) - d^2 k (R - x)/(2 q^2), without cancellation that counts.
// The drop of pressure is a signal over valve_most, a number of the size of the others: outputs are weighed against each other [NW.8].
#define SIDE "((1 + tanh({speed}/{speed_width}))/2)"
#define OIL                                                                                        \
  "({force} - {friction}*tanh({speed}/{friction_speed}) + (" GAS " - {atmosphere})*{area_rod})"
#define LOST "{area_piston}^2*(sqrt({speed}^2 + {speed_width}^2) - {speed_width})"
#define ACROSS "({.drop}*{valve_most})"
#define THROUGH                                                                                    \
  "((" SIDE "*({area_piston} - {area_rod}) - (1 - " SIDE ")*{area_rod})*{speed} - "                \
  "{orifice}*sqrt(2/{density})*" ACROSS "/(" ACROSS "^2 + {laminar}^2)^0.25)"
#define ROOT "sqrt(" THROUGH "^2 + {flow_width}^2)"
#define OPENING                                                                                    \
  "((" ACROSS " - (" THROUGH " + " ROOT ")/(2*{valve}) + {valve}*{valve_width}^2*(" ROOT           \
  " - " THROUGH ")/(2*{flow_width}^2) - {valve_pressure})/({valve_most} - {valve_pressure}))"
TEMPLATE(inverse, inverse_keys, "semi_active_inverse",
         "the current with which a `semi_active_damper` comes closest to a tension",
         Y("", "{current_most}*(sqrt(" OPENING "^2 + {limit_width}^2) - sqrt((" OPENING
               " - 1)^2 + {limit_width}^2) + 1)/2"),
         Y("drop",
           "(" SIDE "*(" OIL " - " LOST "/{base_check})/({area_piston} - {area_rod}) - (1 - " SIDE
           ")*(" OIL " + " LOST "/{piston_check})/{area_rod})/{valve_most}"))

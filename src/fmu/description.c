/// modelDescription.xml of both versions, and a page of documentation.
#include <math.h>
#include <string.h>

#include "alphastep/version.h"
#include "base/json.h"
#include "fmu/plan.h"
#include "fmu/units.h"

/// ` name="text"`
static void attribute(FILE *out, const char *name, const char *text) {
  fprintf(out, " %s=\"", name);
  asi_html_text(out, text);
  fputc('"', out);
}

static void number(FILE *out, const char *name, double x) {
  fprintf(out, " %s=\"", name);
  asi_json_number(out, x);
  fputc('"', out);
}

static const char *title_of(const asi_exported_plan *p) {
  return p->machine->title ? p->machine->title : p->name;
}

// ---- heads ------------------------------------------------------------------------------------------

static void head(const asi_exported_plan *p, FILE *out) {
  const bool two = p->def->version == 2;
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription", out);
  attribute(out, "fmiVersion", two ? "2.0" : "3.0");
  attribute(out, "modelName", title_of(p));
  attribute(out, two ? "guid" : "instantiationToken", p->token);
  if (p->machine->description) attribute(out, "description", p->machine->description);
  attribute(out, "generationTool", "alphastep " AS_VERSION);
  attribute(out, "variableNamingConvention", "structured");
  if (two) fputs(" numberOfEventIndicators=\"0\"", out);
  fputs(">\n  <CoSimulation", out);
  attribute(out, "modelIdentifier", p->name);
  fputs(" canHandleVariableCommunicationStepSize=\"true\" maxOutputDerivativeOrder=\"1\"", out);
  if (two) {
    fprintf(out,
            " canInterpolateInputs=\"%s\" canNotUseMemoryManagementFunctions=\"true\""
            " canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\""
            " providesDirectionalDerivative=\"true\"",
            p->def->input_derivatives ? "true" : "false");
  } else {
    fputs(" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\""
          " providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\""
          " providesIntermediateUpdate=\"true\" mightReturnEarlyFromDoStep=\"true\""
          " canReturnEarlyAfterIntermediateUpdate=\"true\" hasEventMode=\"true\"",
          out);
    const double h = p->machine->simulation.integrator.step;
    if (!isnan(h)) number(out, "fixedInternalStepSize", h);
  }
  fputs("/>\n", out);
}

/// Whether a unit has stood at an earlier variable.
static bool seen_before(const asi_exported_interface *f, int i) {
  for (int k = 0; k < i; ++k)
    if (strcmp(f->variable[k].unit, f->variable[i].unit) == 0) return true;
  return false;
}

static bool has_unit(const asi_exported_variable *v) { return strcmp(v->unit, "-") != 0; }

static void unit_definitions(const asi_exported_interface *f, FILE *out) {
  fputs("  <UnitDefinitions>\n", out);
  for (int i = 0; i < f->n; ++i) {
    int power[ASI_BASE_UNITS];
    const char *unit = f->variable[i].unit;
    if (!has_unit(&f->variable[i]) || seen_before(f, i)) continue;
    fputs("    <Unit", out);
    attribute(out, "name", unit);
    if (asi_unit_exponents(unit, power)) {
      fputs("><BaseUnit", out);
      for (int k = 0; k < ASI_BASE_UNITS; ++k)
        if (power[k] != 0) fprintf(out, " %s=\"%d\"", asi_base_unit_name[k], power[k]);
      fputs("/></Unit>\n", out);
    } else {
      fputs("/>\n", out);
    }
  }
  fputs("  </UnitDefinitions>\n", out);
}

static void log_categories(FILE *out) {
  static const char *const text[][2] = {
      {"logStatusError", "what cannot be done"},
      {"logStatusDiscard", "steps that cannot be taken, values that cannot be set"},
      {"logStatusWarning", "what may be wrong"},
      {"logEvents", "events of the machine"},
      {"logInfo", "remarks of the integrator"},
      {"logAll", "all of them"}};
  fputs("  <LogCategories>\n", out);
  for (size_t i = 0; i < sizeof text / sizeof text[0]; ++i)
    fprintf(out, "    <Category name=\"%s\" description=\"%s\"/>\n", text[i][0], text[i][1]);
  fputs("  </LogCategories>\n", out);
}

static void experiment(const asi_exported_plan *p, FILE *out) {
  const as_simulation *s = &p->machine->simulation;
  fputs("  <DefaultExperiment startTime=\"0\"", out);
  if (!isnan(s->t_end)) {
    const double interval = p->machine->output.interval;
    number(out, "stopTime", s->t_end);
    number(out, "stepSize", isnan(interval) ? s->t_end / 500.0 : interval);
  }
  if (isnan(s->integrator.step)) number(out, "tolerance", s->integrator.tolerance.rtol);
  fputs("/>\n", out);
}

// ---- variables --------------------------------------------------------------------------------------

static void words(const asi_exported_variable *v, FILE *out) {
  static const char *const causality[] = {"independent", "input",     "input",
                                          "parameter",   "parameter", "output"};
  attribute(out, "causality", causality[v->kind]);
  attribute(out, "variability",
            v->kind == ASI_EXPORTED_TUNABLE     ? "tunable"
            : v->kind == ASI_EXPORTED_PARAMETER ? "fixed"
                                                : "continuous");
  if (v->kind == ASI_EXPORTED_OUTPUT) attribute(out, "initial", "calculated");
  if (asi_exported_is_settable(v->kind) && !asi_exported_is_input(v->kind))
    attribute(out, "initial", "exact");
}

static void real(const asi_exported_variable *v, FILE *out) {
  if (has_unit(v)) attribute(out, "unit", v->unit);
  if (asi_exported_is_settable(v->kind)) number(out, "start", v->start);
}

static void variables(const asi_exported_plan *p, FILE *out) {
  const bool two = p->def->version == 2;
  fputs("  <ModelVariables>\n", out);
  for (int i = 0; i < p->face.n; ++i) {
    const asi_exported_variable *v = &p->face.variable[i];
    fputs(two ? "    <ScalarVariable" : "    <Float64", out);
    attribute(out, "name", v->name);
    fprintf(out, " valueReference=\"%d\"", i);
    words(v, out);
    if (two) fputs("><Real", out);
    real(v, out);
    fputs(two ? "/></ScalarVariable>\n" : "/>\n", out);
  }
  fputs("  </ModelVariables>\n", out);
}

// ---- structure --------------------------------------------------------------------------------------

/// Numbers of the inputs that an output depends on at once: from 1 in FMI 2.0, value references in 3.0.
static void dependencies(const asi_exported_plan *p, bool feeds, FILE *out) {
  const bool two = p->def->version == 2;
  bool first = true;
  fputs(" dependencies=\"", out);
  for (int i = 0; i < p->face.n; ++i) {
    const asi_exported_kind kind = p->face.variable[i].kind;
    if (!feeds || !asi_exported_is_input(kind)) continue;
    fprintf(out, first ? "%d" : " %d", two ? i + 1 : i);
    first = false;
  }
  fputc('"', out);
}

static void unknowns(const asi_exported_plan *p, bool initial, FILE *out) {
  const bool two = p->def->version == 2;
  const char *const element = two ? "Unknown" : initial ? "InitialUnknown" : "Output";
  for (int i = 0; i < p->face.n; ++i) {
    if (p->face.variable[i].kind != ASI_EXPORTED_OUTPUT) continue;
    fprintf(out, "    <%s %s=\"%d\"", element, two ? "index" : "valueReference", two ? i + 1 : i);
    if (!initial) dependencies(p, p->face.variable[i].feeds_through, out);
    fputs("/>\n", out); // initial ones depend on all that can be set, which is what no list means
  }
}

static void structure(const asi_exported_plan *p, FILE *out) {
  const bool two = p->def->version == 2;
  bool any = false;
  for (int i = 0; i < p->face.n; ++i) any = any || p->face.variable[i].kind == ASI_EXPORTED_OUTPUT;
  fputs("  <ModelStructure>\n", out);
  if (two && any) fputs("    <Outputs>\n", out);
  unknowns(p, false, out);
  if (two && any) fputs("    </Outputs>\n    <InitialUnknowns>\n", out);
  unknowns(p, true, out);
  if (two && any) fputs("    </InitialUnknowns>\n", out);
  fputs("  </ModelStructure>\n", out);
}

void asi_exported_describe(const asi_exported_plan *p, FILE *out) {
  head(p, out);
  unit_definitions(&p->face, out);
  log_categories(out);
  experiment(p, out);
  variables(p, out);
  structure(p, out);
  fputs("</fmiModelDescription>\n", out);
}

// ---- documentation ----------------------------------------------------------------------------------

void asi_exported_document(const asi_exported_plan *p, FILE *out) {
  static const char *const kinds[] = {"time",      "input", "input", "tunable parameter",
                                      "parameter", "output"};
  const as_simulation *s = &p->machine->simulation;
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", out);
  asi_html_text(out, title_of(p));
  fputs("</title><style>body{font-family:sans-serif;max-width:60em;margin:2em auto}"
        "td,th{padding:.1em 1em .1em 0;text-align:left}</style></head><body>\n<h1>",
        out);
  asi_html_text(out, title_of(p));
  fputs("</h1>\n<p>", out);
  asi_html_text(out, p->machine->description ? p->machine->description : "");
  fprintf(out,
          "</p>\n<p>A machine for co-simulation by FMI %d.0, exported by alphastep " AS_VERSION
          ". It takes its own steps, ",
          p->def->version);
  if (isnan(s->integrator.step))
    fprintf(out, "as large as a relative tolerance of %g allows", s->integrator.tolerance.rtol);
  else
    fprintf(out, "of %g s, the last one stretched or shortened to a communication point",
            s->integrator.step);
  fprintf(out,
          ". Inputs are held from one communication point to the next%s. SI units.</p>\n"
          "<table><tr><th>variable</th><th>what it is</th><th>unit</th><th>start</th></tr>\n",
          p->def->input_derivatives ? ", or go along their first derivatives" : "");
  for (int i = 0; i < p->face.n; ++i) {
    const asi_exported_variable *v = &p->face.variable[i];
    fputs("<tr><td><code>", out);
    asi_html_text(out, v->name);
    fprintf(out, "</code></td><td>%s</td><td>", kinds[v->kind]);
    asi_html_text(out, has_unit(v) ? v->unit : "");
    fputs("</td><td>", out);
    if (asi_exported_is_settable(v->kind)) fprintf(out, "%g", v->start);
    fputs("</td></tr>\n", out);
  }
  fputs("</table>\n</body></html>\n", out);
}

/// Beams in files: their lines and sections, between reading and building.
#ifndef ALPHASTEP_FILE_BEAMS_H
#define ALPHASTEP_FILE_BEAMS_H

#include "alphastep/beam.h"
#include "file/reader.h"

// ---- sections (beam_sections.c) ---------------------------------------------------------------------

/// A section of a file that may vary along the beam.
typedef struct asi_section_shape {
  asi_reader *r;
  asi_chosen first, last; ///< last.kind NULL: it is as the first everywhere
  as_material material;
  double length; ///< of the beam [m]
} asi_section_shape;

/// Whether a section of this kind is made of a material.
bool asi_section_has_material(const asi_kind *kind);
/// Compiles its formulas.
bool asi_section_prepare(asi_reader *r, const asi_chosen *section);
/// Whether one may go over into the other.
bool asi_section_alike(const asi_chosen *first, const asi_chosen *last);
/// as_beam_section_fn; user is an asi_section_shape. What is wrong has been said.
int asi_section_evaluate(double s, as_beam_section *out, void *user);

// ---- lines (beam_lines.c) ---------------------------------------------------------------------------

enum { ASI_LINE_GAUSS = 8 };

/// A line x(u) between `from` and `to`, with the arc length at the ends of its pieces.
typedef struct asi_line_shape {
  asi_reader *r;
  const asi_kind *kind;
  const void *thing;
  asi_curve spline[3]; ///< of points; to be freed
  int n;               ///< pieces
  double *u, *s;       ///< n + 1 numbers each, in the scratch arena
  double up
      [3]; ///< z of the section is near it unless the file says otherwise; zeros: the line says nothing
} asi_line_shape;

/// Measures the line; false: something is wrong with it, which has been said. Free with asi_line_free() in any case.
bool asi_line_prepare(asi_reader *r, const asi_value *at, const asi_chosen *line,
                      asi_line_shape *out);
void asi_line_free(asi_line_shape *line);
/// The place and the unit tangent at an arc length.
bool asi_line_at(const asi_line_shape *line, double s, double x[3], double tangent[3]);

#endif

/// What adding the different forces shares.
#ifndef ALPHASTEP_MODEL_ADD_FORCE_H
#define ALPHASTEP_MODEL_ADD_FORCE_H

#include "elements/coefficient.h"
#include "elements/ends.h"
#include "elements/penalty.h"
#include "elements/spring.h"
#include "model/builder.h"

extern const double asi_world_axes[9];

/// A force element before it is appended.
typedef struct asi_force_def {
  const char *name; ///< as given; NULL: made
  asi_element element;
  asi_element_flags flags;
  const void *data;
  size_t size;
  const size_t *refs; ///< offsets of curve references in the data
  int n_refs;
  size_t motions; ///< offset of the first of n_motions asi_frame_motion in the data
  int n_motions;
  asi_mark mark; ///< what to go back to
} asi_force_def;

/// Appends a force element and its name, or takes everything back to the mark.
as_status asi_builder_force(as_builder *b, const asi_force_def *def, as_force_id *id,
                            as_error *error);

/// A load of which components are formulas; `load` has the others, `pair` flags f_q of its two bodies.
as_status asi_builder_formula_load(as_builder *b, const as_load_def *def, const char *name,
                                   const asi_load *load, const int body[2], const bool *pair,
                                   as_force_id *id, as_error *error);

/// Two frames on different bodies.
as_status asi_builder_ends(const as_builder *b, const asi_side_def def[2], const char *name,
                           asi_ends *ends, int body[2], as_error *error);
/// The same with references to the builder's own curves, for a look at the start.
asi_ends asi_builder_resolve(const as_builder *b, const asi_ends *ends);
/// A motion that is none, and whether one is more than that.
asi_frame_motion asi_no_motion(void);
bool asi_moves(const asi_frame_motion *motion);

/// Refuses a number that is not >= 0 and finite: `The stiffness of force "x" is -1.`
as_status asi_check_not_negative(double x, const char *what, const char *name, as_error *error);

/// Takes the law of a stop or a contact over.
as_status asi_builder_penalty(as_builder *b, const as_penalty *def, const char *name,
                              asi_penalty *out, as_error *error);
/// Takes a coefficient of friction over, a number or a function; *rubs: it is not zero.
as_status asi_builder_coefficient(as_builder *b, double number, const as_curve *law,
                                  const char *name, asi_coefficient *out, bool *rubs,
                                  as_error *error);
/// Refuses a point mass where a frame's axes are needed.
as_status asi_check_axes(const as_builder *b, int body, const char *name, as_error *error);

/// Flags all entries of a pair's matrix.
void asi_flag_pair(bool *m);

#endif

/// Functions of two variables, as characteristics use them.
#ifndef ALPHASTEP_ELEMENTS_SURFACE_H
#define ALPHASTEP_ELEMENTS_SURFACE_H

#include "alphastep/model.h"
#include "base/export.h"

/// A surface of our own: const once made, in one piece of memory.
typedef struct asi_surface {
  as_surface given; ///< sizes, function, user; x, y and z are not to be used
  double number[];  ///< x: nx, y: ny; then z, z_x, z_y, z_xy of each point, rows of equal x
} asi_surface;

/// Copies and checks; `what` begins the sentence of a failure.
ASI_IO as_status asi_surface_make(const as_surface *def, const char *what, asi_surface **out,
                                  as_error *error);
/// NULL if memory runs out. free() ends it.
asi_surface *asi_surface_copy(const asi_surface *from);

/// z, z_x, z_y; AS_DONE or what the C function returns.
int asi_surface_evaluate(const asi_surface *s, double x, double y, double out[3]);
/// z, z_x, z_y, z_xx, z_xy, z_yy of a table, which is no C function.
ASI_IO void asi_surface_all(const asi_surface *s, double x, double y, double out[6]);
/// Whether z(x, 0) >= 0 at every x >= 0 is certain.
bool asi_surface_pushes(const asi_surface *s);
/// The integral of z(x, 0) from 0 to x.
double asi_surface_integral(const asi_surface *s, double x);

#endif

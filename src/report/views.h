/// Drawings of a machine: from the front, from the side and from above.
#ifndef ALPHASTEP_REPORT_VIEWS_H
#define ALPHASTEP_REPORT_VIEWS_H

#include <stdio.h>

#include "file/value.h"

enum { ASI_VIEWS = 3 };

/// Where the bodies are in one drawing: 7 numbers each, as in a results.
typedef struct asi_snapshot {
  double t;
  const double *poses;
} asi_snapshot;

typedef struct asi_drawing asi_drawing;

/// Takes what there is to draw from the scene's JSON tree; all snapshots have to be known, so that all drawings have one
/// scale. NULL: memory ran out. The tree has to outlive it.
asi_drawing *asi_drawing_create(const asi_value *scene, const asi_snapshot *snapshots, int n,
                                int bodies);
void asi_drawing_destroy(asi_drawing *drawing);
const char *asi_view_name(int view);
/// Writes a drawing as SVG.
void asi_drawing_write(const asi_drawing *drawing, FILE *out, int snapshot, int view);

#endif

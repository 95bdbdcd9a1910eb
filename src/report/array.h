/// Arrays of numbers in JSON: {"type":"f32","n":3,"base64":"..."}, the lowest byte first.
#ifndef ALPHASTEP_REPORT_ARRAY_H
#define ALPHASTEP_REPORT_ARRAY_H

#include <stddef.h>
#include <stdio.h>

/// Compressed ("deflate":true, a zlib stream) where that is worth it. The numbers may be spoiled.
void asi_array_floats(FILE *out, float *x, size_t n);
void asi_array_doubles(FILE *out, double *x, size_t n);

#endif

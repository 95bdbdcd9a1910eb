/// Arrays of numbers in JSON: {"type":"f32","n":3,"base64":"..."}, the lowest byte first.
#ifndef ALPHASTEP_REPORT_ARRAY_H
#define ALPHASTEP_REPORT_ARRAY_H

#include <stddef.h>
#include <stdio.h>

/// Where that is worth it ("deflate":true,"planes":true), a zlib stream of planes: the first bytes of all numbers, the second ones
/// and so on. Of floats `columns` belong to an object, `stride` to a row: numbers that resemble each other are that far apart. The
/// numbers may be spoiled.
void asi_array_floats(FILE *out, float *x, size_t n, size_t columns, size_t stride);
void asi_array_doubles(FILE *out, double *x, size_t n);

#endif

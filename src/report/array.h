/// Arrays of numbers in JSON: {"type":"f32","n":3,"base64":"..."}, the lowest byte first.
#ifndef ALPHASTEP_REPORT_ARRAY_H
#define ALPHASTEP_REPORT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/// Where that is worth it ("deflate":true,"planes":true), a zlib stream of planes: the first bytes of all numbers, the second ones
/// and so on. Of floats `columns` belong to an object, `stride` to a row: numbers that resemble each other are that far apart. The
/// numbers may be spoiled.
void asi_array_floats(FILE *out, float *x, size_t n, size_t columns, size_t stride);
void asi_array_doubles(FILE *out, double *x, size_t n);
/// A table of `rows` times `columns` numbers as whole multiples of 2^exponent of their column, {"type":"i32","n":6,"columns":2,
/// "exponents":[-20,-22],"base64":"..."}: one column after the other, of each the differences of the differences of neighbours (the first
/// number's and the second's from 0 and from what a straight line from 0 would give), with the sign in the lowest bit. What moves
/// smoothly needs a byte or two each. The table is spoiled. False: memory ran out.
bool asi_array_multiples(FILE *out, double *x, size_t rows, size_t columns, const int *exponents);
/// The exponent for numbers that lie within `span` of each other and below `largest` in size: 24 bits of the span, if they fit in 32 bits.
int asi_array_exponent(double span, double largest);

#endif

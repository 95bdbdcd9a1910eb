/// Arithmetic in model files: `2*pi*r^2`, `i - 0.5`, `max(a, b)` over named numbers.
#ifndef ALPHASTEP_FILE_ARITHMETIC_H
#define ALPHASTEP_FILE_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>

enum { ASI_NAME_LENGTH = 64 }; ///< of a parameter, with the zero behind it

/// Finds the number of a name; false: there is none, and `sentence` says what is wrong.
typedef bool asi_lookup_fn(const char *name, double *number, char sentence[160], void *user);

/// What is wrong with an expression, and where.
typedef struct asi_slip {
  size_t at; ///< characters from the start of the text
  char sentence[160];
} asi_slip;

/// Evaluates the first `length` characters of a text. False: `slip` says why. The result is finite.
bool asi_arithmetic(const char *text, size_t length, asi_lookup_fn *lookup, void *user,
                    double *result, asi_slip *slip);

/// Is it a letter or _, then letters, digits, _, and no name of a function or pi?
bool asi_is_parameter_name(const char *text);

#endif

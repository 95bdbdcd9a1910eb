/// Model files in tests. Paths are relative to the project's folder.
#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "alphastep/alphastep.h"
#include "alphastep/io.h"

/// A machine from a file; fails the test if it is refused.
as_machine *files_load(const char *path, const char *const *settings, int n);
/// A machine from a text; fails the test if it is refused.
as_machine *files_parse(const char *text);
/// What is said about a file that must be refused as wrong; until the next call.
const as_messages *files_refused(const char *path, const char *const *settings, int n);
/// The whole text of a file, to be freed.
char *files_read(const char *path);
/// The whole path, until the next call.
const char *files_path(const char *path);

/// Two models have the same sizes, the same start, and after each of `steps` steps the same q, v, lambda and psi within
/// a tolerance; to lambda and psi the round-off of their method is added.
void files_same_motion(const as_model *one, const as_model *other, as_method method, double step,
                       int steps, double tolerance);

#endif

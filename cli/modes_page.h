/// The page of `alphastep modes -o`.
#ifndef ALPHASTEP_CLI_MODES_PAGE_H
#define ALPHASTEP_CLI_MODES_PAGE_H

#include "linear.h"

/// Which bodies and joints move in a mode, in words.
typedef struct modes_text {
  char bodies[256], joints[256];
} modes_text;

/// The modes about one state.
typedef struct modes_set {
  linear_place place;
  as_linearization *linear; ///< NULL: a large machine
  as_modes *modes;
  modes_text *text; ///< of each mode
  char about[640];
} modes_set;

/// All that was asked for.
typedef struct modes_result {
  const linear_request *request;
  modes_set *set; ///< n of them, one per value of a sweep
  int n;
} modes_result;

const char *modes_verdict(const as_modes *m);
/// Writes a page that stands alone; user: a modes_result.
void modes_page_write(FILE *out, const void *user);

#endif

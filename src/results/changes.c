/// What a start has changed of what was given, as warnings.
#include <stdio.h>

#include "alphastep/results.h"
#include "results/channels.h"

void asi_tell_start_changes(const as_model *m, const as_start_change *change, int n, as_log_fn *log,
                            void *user) {
  char text[ASI_CHANGE_TEXT];
  int told = 0, untold = 0;
  for (int i = 0; i < n && log; ++i) {
    if (change[i].assembled) continue; // it was asked for
    untold += told == ASI_MOST_CHANGES;
    if (told == ASI_MOST_CHANGES) continue;
    as_start_change_text(m, &change[i], text, sizeof text);
    log(AS_LOG_WARNING, text, user);
    ++told;
  }
  if (untold == 0) return;
  snprintf(text, sizeof text, "%d more value%s of the start %s not as given.", untold,
           untold == 1 ? "" : "s", untold == 1 ? "is" : "are");
  log(AS_LOG_WARNING, text, user);
}

/// Signals that end a command in good order.
#ifndef ALPHASTEP_CLI_SIGNALS_H
#define ALPHASTEP_CLI_SIGNALS_H

#include <stdbool.h>

/// From now on the first SIGINT, SIGTERM or SIGHUP is noted; a second one of the same kind ends the process.
void signals_listen(void);
/// The number of the signal that was noted last; 0: none. Any thread may ask.
int signals_caught(void);
/// The same as an as_interrupt_fn.
bool signals_interrupt(void *user);

#endif

/// A plugin that is part of the tests, `test_plugin.so` of model files.
#ifndef TESTS_PLUGINS_H
#define TESTS_PLUGINS_H

#include "alphastep/alphastep.h"
#include "alphastep/io.h"

/// Blocks: `wild` (inputs p and v; parameter gain; states one and two; sampled s; outputs "" and second), with derivatives
/// `given` or not; `triangle` (events); `wrong` (a wrong derivative); `narrow` (`direct` leaves one out); `failing` (by its parameters). Forces: `bush` and `bush_given`.
const as_plugin *plugins_of_tests(void);
/// The block or force of a name.
const as_plugin_block *plugins_block(const char *name);
const as_plugin_force *plugins_force(const char *name);

/// Loads a machine from a text, with that plugin.
as_status plugins_load(const char *text, as_machine **machine, as_messages *messages);
/// A machine from a text, with that plugin. Fails the test if it is refused.
as_machine *plugins_parse(const char *text);
/// What is said about one that must be refused; until the next call.
const as_messages *plugins_refused(const char *text);

#endif

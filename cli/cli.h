/// What the files of the `alphastep` command share.
#ifndef ALPHASTEP_CLI_H
#define ALPHASTEP_CLI_H

#include <stdbool.h>

#include "alphastep/status.h"

/// The exit status of the command.
typedef enum cli_exit {
  CLI_DONE = 0,
  CLI_FELL_SHORT = 1, ///< a check fell short
  CLI_USAGE = 2,      ///< bad usage or input
  CLI_SIMULATION = 3, ///< a simulation could not go on
  CLI_OUTPUT = 4,     ///< a file could not be read or written
  CLI_SIGNAL = 128,   ///< and the number of the signal that ended it: 130 after Ctrl-C
} cli_exit;

/// The commands: argv holds what follows the command's name.
cli_exit papers_command(int argc, char **argv);
cli_exit run_command(int argc, char **argv);
cli_exit check_command(int argc, char **argv);
cli_exit export_command(int argc, char **argv);
cli_exit fmu_command(int argc, char **argv);
cli_exit report_command(int argc, char **argv);
cli_exit modes_command(int argc, char **argv);
cli_exit response_command(int argc, char **argv);
cli_exit equilibrium_command(int argc, char **argv);
cli_exit inverse_command(int argc, char **argv);
cli_exit linearize_command(int argc, char **argv);
cli_exit reduce_command(int argc, char **argv);
cli_exit study_command(int argc, char **argv);

/// `alphastep schema`: likewise.
cli_exit schema_command(int argc, char **argv);

/// Prints `alphastep: `, the sentence and a line feed on stderr.
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *cli_last_complaint(void); ///< the sentence; "" if there was none
/// Complains that a file could not be written, because of errno.
cli_exit cli_complain_path(const char *path);
cli_exit cli_complain_memory(void);
/// The exit status of a failure: memory and whatever stops a simulation, bad input, files.
cli_exit cli_judge(as_status status);
bool cli_lacks_memory(void); ///< whether that was the reason of a failure
/// Notes that something that is being written lacks a part, for want of memory: a file is not kept, and the command ends as out of memory.
void cli_note_incomplete(void);
bool cli_is_incomplete(void);

/// Whether argv[*i] is the option `name` with a value, `--name VALUE` or `--name=VALUE`; *i goes on to the value. If
/// the value is missing, complains and makes it NULL.
bool cli_option(int argc, char **argv, int *i, const char *name, const char **value);

#endif

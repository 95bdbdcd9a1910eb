/// What the files of the `alphastep` command share.
#ifndef ALPHASTEP_CLI_H
#define ALPHASTEP_CLI_H

/// The exit status of the command.
typedef enum cli_exit {
  CLI_DONE = 0,
  CLI_FELL_SHORT = 1, ///< a check fell short
  CLI_USAGE = 2,      ///< bad usage or input
  CLI_SIMULATION = 3, ///< a simulation could not go on
  CLI_OUTPUT = 4,     ///< the output could not be written
} cli_exit;

/// `alphastep papers`: argv holds what follows the word `papers`.
cli_exit papers_command(int argc, char **argv);

/// `alphastep schema`: likewise.
cli_exit schema_command(int argc, char **argv);

/// Prints `alphastep: `, the sentence and a line feed on stderr.
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

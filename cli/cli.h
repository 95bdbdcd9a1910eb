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

/// Prints `alphastep: `, the sentence and a line feed on stderr.
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// How many characters must be inserted, deleted, replaced or swapped with their neighbour to turn
/// `a` into `b`.
int word_distance(const char *a, const char *b);

/// Is a word at this distance close enough to `typed` to ask "did you mean"?
int word_is_close(const char *typed, int distance);

#endif

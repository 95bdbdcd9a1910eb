/// What the commands that take a model file share: arguments, loading, complaints.
#ifndef ALPHASTEP_CLI_MACHINE_H
#define ALPHASTEP_CLI_MACHINE_H

#include "alphastep/file.h"
#include "cli.h"

typedef struct machine_request {
  const char *model;     ///< path
  const char **settings; ///< `path=value`, n_settings of them
  int n_settings;
  const char **folders; ///< --plugins-from and ALPHASTEP_PLUGINS, n_folders of them
  int n_folders;
  bool plugins;             ///< --allow-plugins
  const char **fmu_folders; ///< --fmus-from and ALPHASTEP_FMUS, n_fmu_folders of them
  int n_fmu_folders;
  bool fmus;            ///< --allow-fmus
  char *environment[2]; ///< what folders of ALPHASTEP_PLUGINS and ALPHASTEP_FMUS point into
  const char *folder;   ///< -o; NULL: not given
  const char *resume;   ///< --resume, or a folder that is looked at; NULL: not given
  bool looks;           ///< the run in it is looked at, not gone on with
  bool force, quiet, json, help;
  bool no_report; ///< --no-report
  bool no_sync;   ///< --no-sync
  bool accuracy;  ///< --accuracy, which is a setting
  int threads;    ///< --threads
} machine_request;

/// Reads the arguments of `alphastep COMMAND`; `writes`: it takes -o, --force and --quiet. Complains.
cli_exit machine_arguments(int argc, char **argv, const char *command, bool writes,
                           machine_request *r);
void machine_arguments_free(machine_request *r);

/// Takes --allow-plugins, --plugins-from, --allow-fmus and --fmus-from; CLI_FELL_SHORT: it is none of these. Complains.
cli_exit machine_plugin_option(int argc, char **argv, int *i, machine_request *r);
/// Which plugins and FMUs a machine may use, as these options say.
as_plugin_policy machine_policy(const machine_request *r);
/// The lines of a command's help about them.
#define MACHINE_PLUGIN_HELP                                                                        \
  "--allow-plugins   lets the file use plugins, code in shared libraries (docs/plugins.md)\n"      \
  "--plugins-from DIR  the same, of those in this folder and below\n"                              \
  "--allow-fmus      lets the file use FMUs, code of other tools (docs/fmu-import.md)\n"           \
  "--fmus-from DIR   the same, of those in this folder and below\n"
/// Makes room for folders of plugins and FMUs, for as many as there are arguments, and takes those of the environment. Complains.
cli_exit machine_plugin_folders(int argc, machine_request *r);

/// Loads the model file and looks for its outputs in the model. Prints what is wrong, each on its line.
cli_exit machine_open(const machine_request *r, as_machine **machine);
/// Refuses to write to `output`, by whatever path, if the machine is read from it. Complains.
cli_exit machine_spare(const as_machine *machine, const char *output);
/// With --json: prints an object like those of wrong model files, with the last complaint.
void machine_refuse(const machine_request *r);
/// Says what is wrong with a file: on stderr, and with --json on stdout.
void machine_tell_messages(const machine_request *r, const as_messages *messages);
/// Says it as one object on stdout.
void machine_tell(const machine_request *r, const as_messages *messages);

#endif

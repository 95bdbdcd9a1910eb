/// Machines that are read for an FMU, and in it: with parameters that its importer sets.
#ifndef ALPHASTEP_FILE_COMPILE_H
#define ALPHASTEP_FILE_COMPILE_H

#include "file/reader.h"

/// What is wanted besides the machine.
struct asi_compile {
  const char *const
      *live; ///< n_live parameters that change while it runs: held signals, as if an event set them
  int n_live;
  bool extrapolates; ///< an input is given + slope (t - since), three held signals of its block
  void (*input)(as_signal_id id, void *user); ///< hears of blocks of type `input`; may be NULL
  void (*read)(asi_reader *r, void *user);    ///< sees the files once all is well; may be NULL
  void *user;
};

/// as_machine_load() without plugins.
as_status asi_machine_load(const char *path, const char *const *settings, int n_settings,
                           const asi_compile *compile, as_machine **out, as_messages *messages);

#endif

/// Files in one piece, and locks of folders. The lock is one of the folder itself (flock), so there is no file for it that
/// could be planted or left behind.
#define _DEFAULT_SOURCE // flock, nanosleep

#include "alphastep/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

struct as_folder_lock {
  int folder;
};

as_status as_file_replace(const char *path, as_write_fn *write, const void *user, bool sync,
                          as_error *error) {
  asi_draft output;
  const as_status status = asi_draft_open(&output, path, error);
  if (status) return status;
  write(output.file, user);
  return asi_draft_close(&output, AS_OK, sync, error);
}

/// Tries for a second: of a process that was killed, a helper may still be ending.
static bool is_locked(int folder) {
  const struct timespec pause = {.tv_nsec = 20000000};
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
    nanosleep(&pause, NULL);
  }
  return false;
}

as_status as_folder_lock_take(const char *folder, as_folder_lock **out, as_error *error) {
  *out = NULL;
  as_folder_lock *lock = asi_calloc(1, sizeof *lock);
  if (lock == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  lock->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock->folder < 0)
    status = asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "`%.300s` cannot be opened: %s.",
                      folder, strerror(errno));
  else if (!is_locked(lock->folder))
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "`%.300s` is in use: another process is writing to it.", folder);
  if (status) {
    as_folder_lock_give(lock);
    return status;
  }
  *out = lock;
  return AS_OK;
}

void as_folder_lock_give(as_folder_lock *lock) {
  if (lock == NULL) return;
  if (lock->folder >= 0) close(lock->folder);
  free(lock);
}

#define _DEFAULT_SOURCE // open, fsync, fdopen, flock

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

// ---- reading ----------------------------------------------------------------------------------------

static const char *const strange = "it is no file, but a folder, a device or a pipe";

FILE *asi_file_open(const char *path, const char **why) {
  struct stat about;
  *why = strange;
  errno = 0;
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) return NULL;
  // It may have become another one since: a pipe is not waited for.
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
    FILE *in = fdopen(file, "rb");
    if (in != NULL) {
      *why = NULL;
      return in;
    }
    *why = strerror(errno);
  } else if (file < 0) {
    *why = strerror(errno);
  }
  const int number = errno;
  if (file >= 0) close(file);
  errno = number;
  return NULL;
}

bool asi_file_identity(FILE *file, unsigned long long *device, unsigned long long *number) {
  struct stat about;
  if (fstat(fileno(file), &about) != 0) return false;
  *device = (unsigned long long)about.st_dev;
  *number = (unsigned long long)about.st_ino;
  return true;
}

// ---- writing ----------------------------------------------------------------------------------------

const char *asi_file_obstacle(const char *path) {
  struct stat about;
  if (lstat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISLNK(about.st_mode)) return NULL;
  return strange;
}

int asi_file_create(const char *path) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (unlink(path) != 0 && errno != ENOENT) return -1; // a folder
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

/// What cannot be forced to the disk, as on some network file systems, is as safe as it gets.
static bool is_synced(int result) {
  return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
}

bool asi_file_sync(int file) { return is_synced(fsync(file)); }

bool asi_folder_sync(const char *path) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  char *folder = asi_calloc(length + 2, 1);
  if (folder == NULL) {
    errno = ENOMEM;
    return false;
  }
  memcpy(folder, slash == NULL ? "." : path, slash == NULL ? 1 : length);
  const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  free(folder);
  if (file < 0) return errno == EACCES; // a folder that may be written to, not read
  const bool ok = is_synced(fsync(file));
  const int number = errno;
  close(file);
  errno = number;
  return ok;
}

bool asi_file_rename(const char *from, const char *to, bool sync) {
  return rename(from, to) == 0 && (!sync || asi_folder_sync(to));
}

bool asi_file_put(int file, const void *data, size_t size) {
  const char *from = data;
  while (size > 0) {
    const ssize_t put = write(file, from, size);
    if (put < 0 && errno == EINTR) continue;
    if (put == 0) errno = ENOSPC;
    if (put <= 0) return false;
    from += put;
    size -= (size_t)put;
  }
  return true;
}

// ---- in one piece -----------------------------------------------------------------------------------

static bool is_locked_by_another(int file) {
  return flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

static bool has_name(int file, const char *path) {
  struct stat mine, there;
  return fstat(file, &mine) == 0 && lstat(path, &there) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

/// Creates a draft and locks it. What stands there is taken away only if nobody has locked it, as a killed process has not. -1: errno says why
/// not; EBUSY: another process is writing it.
static int create_locked(const char *path) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const int old = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const bool busy = old >= 0 && is_locked_by_another(old);
    const int file = busy ? -1 : asi_file_create(path);
    const int number = busy ? EBUSY : errno;
    if (old >= 0) close(old); // until here nobody else takes it away
    errno = number;
    if (file < 0) return -1;
    if (!is_locked_by_another(file) && has_name(file, path)) return file;
    close(file); // another process has been faster
  }
  errno = EBUSY;
  return -1;
}

static as_status fail_draft(const char *path, as_error *error) {
  if (errno != EBUSY) return asi_fail_write(path, errno, error);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                  "%.300s cannot be written: another process is writing it.", path);
}

as_status asi_draft_open(asi_draft *o, const char *path, as_error *error) {
  const char *obstacle = asi_file_obstacle(path);
  *o = (asi_draft){.file = NULL};
  if (obstacle)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be written: %s.", path,
                    obstacle);
  *o = (asi_draft){.path = asi_file_beside(path, ""), .beside = asi_file_beside(path, ".new")};
  as_status status = o->path && o->beside ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) {
    const int file = create_locked(o->beside);
    if (file >= 0) o->file = fdopen(file, "wb");
    if (o->file == NULL) status = fail_draft(path, error);
    if (o->file == NULL && file >= 0) {
      close(file);
      (void)remove(o->beside);
    }
  }
  if (status) {
    free(o->path);
    free(o->beside);
    *o = (asi_draft){.file = NULL};
  }
  return status;
}

/// Why a stream has failed at some time before: what it would write now fails likewise.
static int why_failed(FILE *file) {
  clearerr(file);
  errno = 0;
  return putc(0, file) == EOF || fflush(file) != 0 ? errno : 0;
}

as_status asi_draft_close(asi_draft *o, as_status status, bool sync, as_error *error) {
  if (o->file == NULL) return status;
  errno = 0;
  bool ok = fflush(o->file) == 0 && !ferror(o->file) && (!sync || asi_file_sync(fileno(o->file)));
  int number = errno;
  if (!ok && number == 0) number = why_failed(o->file);
  const int locked = dup(fileno(o->file)); // until it has its name
  if (fclose(o->file) != 0 && ok) {
    ok = false;
    number = errno;
  }
  if (ok && status == AS_OK) {
    ok = asi_file_rename(o->beside, o->path, sync);
    number = errno;
  }
  if (!ok || status) (void)remove(o->beside);
  if (locked >= 0) close(locked);
  if (!ok && status == AS_OK) status = asi_fail_write(o->path, number ? number : EIO, error);
  free(o->path);
  free(o->beside);
  *o = (asi_draft){.file = NULL};
  errno = number;
  return status;
}

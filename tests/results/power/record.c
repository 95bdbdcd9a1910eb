/// Preloaded, it writes down what a process does to files: for power_loss.py, which plays it back as a disk may show it
/// after the power was lost. The clock goes faster, so that there are many flush points.
///
/// POWER_LOG is the file that records go to; each is a line, followed by as many bytes as its last number says:
///
///     create ID PATH 0       a new file; IDs of files that were there before are `i` and the number of their inode
///     write ID OFFSET N      N bytes at OFFSET
///     cut ID LENGTH 0        ftruncate
///     sync ID N              fsync of a file, and all that is in it then
///     folder 0               fsync of a folder
///     rename ID FROM TO N    and all that is in it then: what stdio has written is not seen otherwise
///     remove PATH 0
#define _GNU_SOURCE // RTLD_NEXT

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int open(const char *path, int flags, ...);
int open64(const char *path, int flags, ...);

enum { MOST = 4096 };

static struct {
  ino_t inode;
  pid_t process;
  int number;
} made[MOST]; ///< files that were created, by inode; the last one counts
static int n_made;
static int record = -2; ///< the log; -1: none

static int log_file(void) {
  const char *path = getenv("POWER_LOG");
  NEXT(open);
  if (record == -2)
    record = path ? next(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  return record;
}

/// In one piece: there may be several processes.
static void put(const char *head, const void *data, size_t size) {
  char *copy = malloc(size + 1);
  if (copy == NULL) abort();
  if (size > 0) memcpy(copy, data, size);
  const struct iovec part[2] = {{(void *)(uintptr_t)head, strlen(head)}, {copy, size}};
  if (writev(log_file(), part, 2) != (ssize_t)(strlen(head) + size)) abort();
  free(copy);
}

/// Whether a file is a regular one and logged; gives its name in the log.
static bool find(int file, char id[32]) {
  struct stat about;
  if (log_file() < 0 || file == record || fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return false;
  for (int i = n_made - 1; i >= 0; --i) {
    if (made[i].inode != about.st_ino) continue;
    snprintf(id, 32, "%d-%d", (int)made[i].process, made[i].number);
    return true;
  }
  snprintf(id, 32, "i%lu", (unsigned long)about.st_ino);
  return true;
}

static int open_quietly(const char *path) {
  NEXT(open);
  return next(path, O_RDONLY | O_CLOEXEC);
}

static void put_contents(const char *what, int file) {
  char head[9000], path[64];
  struct stat about;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file); // it may be open for writing only
  const int in = open_quietly(path);
  if (fstat(file, &about) != 0 || in < 0) abort();
  const size_t size = (size_t)about.st_size;
  char *data = malloc(size + 1);
  if (data == NULL || pread(in, data, size, 0) != (ssize_t)size) abort();
  snprintf(head, sizeof head, "%s %zu\n", what, size);
  put(head, data, size);
  free(data);
  close(in);
}

static void note_open(int file, const char *path, int flags, bool there) {
  struct stat about;
  char id[32], head[4400];
  if (file < 0 || (flags & O_ACCMODE) == O_RDONLY || !find(file, id) || fstat(file, &about) != 0)
    return;
  if (there) {
    snprintf(head, sizeof head, "cut %s 0 0\n", id);
    if (flags & O_TRUNC) put(head, NULL, 0);
    return;
  }
  if (n_made == MOST) abort();
  made[n_made].inode = about.st_ino;
  made[n_made].process = getpid();
  made[n_made].number = n_made;
  snprintf(head, sizeof head, "create %d-%d %s 0\n", (int)getpid(), n_made++, path);
  put(head, NULL, 0);
}

#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    NEXT(name);                                                                                    \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;                                      \
    va_end(rest);                                                                                  \
    const bool there = access(path, F_OK) == 0;                                                    \
    const int file = next(path, flags, mode);                                                      \
    note_open(file, path, flags, there);                                                           \
    return file;                                                                                   \
  }
OPEN(open)
OPEN(open64)

static void note_write(int file, off_t at, const void *data, ssize_t size) {
  char id[32], head[100];
  if (size <= 0 || !find(file, id)) return;
  snprintf(head, sizeof head, "write %s %lld %zd\n", id, (long long)at, size);
  put(head, data, (size_t)size);
}

ssize_t write(int file, const void *data, size_t size) {
  NEXT(write);
  const off_t at = lseek(file, 0, SEEK_CUR);
  const ssize_t put_now = next(file, data, size);
  note_write(file, at, data, put_now);
  return put_now;
}

#define PWRITE(name, offset)                                                                       \
  ssize_t name(int file, const void *data, size_t size, offset at) {                               \
    NEXT(name);                                                                                    \
    const ssize_t put_now = next(file, data, size, at);                                            \
    note_write(file, at, data, put_now);                                                           \
    return put_now;                                                                                \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset)                                                                     \
  int name(int file, offset length) {                                                              \
    NEXT(name);                                                                                    \
    char id[32], head[100];                                                                        \
    const int result = next(file, length);                                                         \
    if (result == 0 && find(file, id)) {                                                           \
      snprintf(head, sizeof head, "cut %s %lld 0\n", id, (long long)length);                       \
      put(head, NULL, 0);                                                                          \
    }                                                                                              \
    return result;                                                                                 \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

static void note_sync(int file) {
  struct stat about;
  char id[32], head[100];
  if (log_file() >= 0 && fstat(file, &about) == 0 && S_ISDIR(about.st_mode))
    put("folder 0\n", NULL, 0);
  if (!find(file, id)) return;
  snprintf(head, sizeof head, "sync %s", id);
  put_contents(head, file);
}

// Nothing has to be on the disk here: only the order counts.
int fsync(int file) {
  note_sync(file);
  return 0;
}

int fdatasync(int file) {
  note_sync(file);
  return 0;
}

int rename(const char *from, const char *to) {
  NEXT(rename);
  char id[32], head[8500];
  const int result = next(from, to), file = result == 0 ? open_quietly(to) : -1;
  if (file < 0) return result;
  if (find(file, id)) {
    snprintf(head, sizeof head, "rename %s %s %s", id, from, to);
    put_contents(head, file);
  }
  close(file);
  return result;
}

#define REMOVE(name)                                                                               \
  int name(const char *path) {                                                                     \
    NEXT(name);                                                                                    \
    char head[4400];                                                                               \
    const int result = next(path);                                                                 \
    snprintf(head, sizeof head, "remove %s 0\n", path);                                            \
    if (result == 0 && log_file() >= 0) put(head, NULL, 0);                                        \
    return result;                                                                                 \
  }
REMOVE(remove)
REMOVE(unlink)

int clock_gettime(clockid_t clock, struct timespec *out) {
  static long calls;
  (void)clock;
  ++calls;
  *out = (struct timespec){.tv_sec = calls / 8, .tv_nsec = calls % 8 * 125000000};
  return 0;
}

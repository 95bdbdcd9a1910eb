/// Preloaded, it lets memory run out: allocation number MEMORY_FAILS since the file MEMORY_AFTER was opened fails, and with
/// MEMORY_FOREVER all after it. How many there were is written to the file MEMORY_COUNT.
#define _GNU_SOURCE // SYS_openat

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool begun, forever;
static long count, fails;

static int open_watched(const char *path, int flags, int mode) {
  const char *after = getenv("MEMORY_AFTER"), *number = getenv("MEMORY_FAILS");
  if (!begun && after && number && strcmp(path, after) == 0) {
    begun = true;
    fails = strtol(number, NULL, 10);
    forever = getenv("MEMORY_FOREVER") != NULL;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/// Which of the two is called depends on how the size of an offset was chosen.
#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...);                                                      \
  int name(const char *path, int flags, ...) {                                                     \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;                                      \
    va_end(rest);                                                                                  \
    return open_watched(path, flags, mode);                                                        \
  }
OPEN(open)
OPEN(open64)

static bool runs_out(void) {
  if (!begun) return false;
  ++count;
  const bool out = forever ? count >= fails : count == fails;
  if (out) errno = ENOMEM;
  return out;
}

void *malloc(size_t size) { return runs_out() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return runs_out() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return runs_out() ? NULL : __libc_realloc(old, size); }

__attribute__((destructor)) static void end(void) {
  char text[32];
  const char *path = getenv("MEMORY_COUNT");
  if (!begun || path == NULL) return;
  const int size = snprintf(text, sizeof text, "%ld", count);
  const int file = open_watched(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0 && write(file, text, (size_t)size) == size) close(file);
}

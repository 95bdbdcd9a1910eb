// Folders that results go to, see folder.h.
#define _DEFAULT_SOURCE // mkdir, access, strdup, opendir, sigaction, flock

#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

cli_exit cli_complain_path(const char *path) {
  cli_complain("`%s` could not be written: %s.", path, strerror(errno));
  return CLI_OUTPUT;
}

cli_exit folder_make(const char *folder, bool *made) {
  char *path = strdup(folder);
  if (path == NULL) return cli_complain_memory();
  // What is above it first. A failure there shows when the folder itself is made.
  for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    if (slash == path) continue;
    *slash = '\0';
    (void)mkdir(path, 0777);
    *slash = '/';
  }
  free(path);
  *made = mkdir(folder, 0777) == 0;
  if (!*made && errno != EEXIST) return cli_complain_path(folder);
  struct stat found;
  if (stat(folder, &found) != 0) return cli_complain_path(folder);
  if (!S_ISDIR(found.st_mode)) {
    errno = ENOTDIR;
    return cli_complain_path(folder);
  }
  // Better said before the runs than after them.
  if (access(folder, W_OK | X_OK) != 0) return cli_complain_path(folder);
  return CLI_DONE;
}

bool folder_is_used(const char *folder) {
  DIR *open = opendir(folder);
  bool used = false;
  if (open == NULL) return false;
  for (const struct dirent *entry; !used && (entry = readdir(open)) != NULL;) {
    used = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  }
  closedir(open);
  return used;
}

char *folder_path(const char *folder, const char *name) {
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);
  if (path != NULL) snprintf(path, size, "%s/%s", folder, name);
  return path;
}

char *folder_default(const char *file, const char *tail) {
  const char *slash = strrchr(file, '/');
  const char *name = slash != NULL ? slash + 1 : file;
  const char *point = strrchr(name, '.');
  int length = point != NULL && point != name ? (int)(point - name) : (int)strlen(name);
  const bool plain =
      length == 5 && (strncmp(name, "model", 5) == 0 || strncmp(name, "study", 5) == 0);
  if (plain && slash != NULL) {
    const char *parent = slash;
    while (parent > file && parent[-1] != '/') --parent;
    if (parent < slash && *parent != '.') {
      name = parent;
      length = (int)(slash - parent);
    }
  }
  size_t size = (size_t)length + strlen(tail) + 1;
  char *folder = malloc(size);
  if (folder != NULL) snprintf(folder, size, "%.*s%s", length, name, tail);
  return folder;
}

bool folder_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

cli_exit folder_spare(const char *folder, const char *output, const char *may) {
  static const char *const own[] = {"results.csv", "results.h5", "summary.json", "state.bin",
                                    "report.html"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (may != NULL && strcmp(own[i], may) == 0) continue;
    char *path = folder_path(folder, own[i]);
    if (path == NULL) return cli_complain_memory();
    bool same = folder_same_file(path, output);
    free(path);
    if (!same) continue;
    cli_complain("`%s` belongs to the run in `%s`: choose another file with `-o FILE`.", output,
                 folder);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

/// Writes over a file from its beginning. The old file's place suffices where the disk has no room for a second one.
static bool write_over(const char *path, as_write_fn *write, const void *user) {
  int file = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
  if (out == NULL) return false;
  struct stat about;
  bool written =
      fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1; // no other's
  if (written) write(out, user);
  written = written && fflush(out) == 0 && ftruncate(fileno(out), ftello(out)) == 0;
  return fclose(out) == 0 && written;
}

// ---- signals that end the process while a file is written: its draft goes with it

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
static const char *volatile draft; ///< that is being written; NULL: none

static void leave(int number) {
  if (draft != NULL) (void)unlink(draft);
  (void)raise(number); // once it is unblocked, by the default action
}

/// Only where the default action is, which ends the process: a run takes signals otherwise.
static void watch_signals(void) {
  struct sigaction action = {.sa_handler = leave, .sa_flags = (int)SA_RESETHAND}, old;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (sigaction(endings[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
      (void)sigaction(endings[i], &action, NULL);
}

/// Signals wait: from a whole draft to its name it is short.
static void hold_signals(sigset_t *before) {
  sigset_t some;
  sigemptyset(&some);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) sigaddset(&some, endings[i]);
  (void)sigprocmask(SIG_BLOCK, &some, before);
}

/// A writer, and what it is given.
typedef struct writing {
  as_write_fn *write;
  const void *user;
  const char *beside;    ///< NULL for want of memory
  const sigset_t *usual; ///< signals that are held otherwise
} writing;

/// Called when there is a draft, with signals held. What lacks a part for want of memory has failed: a stream that is read though
/// it is opened for writing alone says so.
static void write_whole(FILE *out, const void *user) {
  const writing *w = user;
  draft = w->beside;
  (void)sigprocmask(SIG_SETMASK, w->usual, NULL);
  w->write(out, w->user);
  if (cli_is_incomplete()) (void)getc(out);
  hold_signals(NULL);
  draft = NULL;
}

static as_status replace(const char *path, bool sync, as_write_fn *write, const void *user,
                         as_error *error) {
  const size_t size = strlen(path) + sizeof ".new";
  char *beside = malloc(size);
  if (beside != NULL) snprintf(beside, size, "%s.new", path);
  sigset_t usual;
  const writing whole = {write, user, beside, &usual};
  watch_signals();
  hold_signals(&usual);
  const as_status status = as_file_replace(path, write_whole, &whole, sync, error);
  const int number = errno; // says whether the disk is full
  (void)sigprocmask(SIG_SETMASK, &usual, NULL);
  free(beside);
  errno = number;
  return status;
}

cli_exit folder_replace(const char *path, bool sync, as_write_fn *write, const void *user) {
  as_error error;
  as_status status = replace(path, sync, write, user, &error);
  if (status == AS_OK) return CLI_DONE;
  if (cli_is_incomplete()) return cli_complain_memory();
  if (errno == ENOSPC && write_over(path, write, user)) return CLI_DONE;
  cli_complain("%s", error.message);
  return cli_judge(status);
}

cli_exit folder_write(const char *path, as_write_fn *write, const void *user) {
  struct stat found;
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
    cli_complain("`%s` could not be written: it is no file, but a folder, a device or a pipe.",
                 path);
    return CLI_OUTPUT;
  }
  return folder_replace(path, true, write, user);
}

void folder_drop_draft(const char *path) {
  const size_t size = strlen(path) + sizeof ".new";
  char *beside = malloc(size);
  if (beside == NULL) return;
  snprintf(beside, size, "%s.new", path);
  int file = open(beside, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) (void)unlink(beside);
  if (file >= 0) close(file);
  free(beside);
}

cli_exit folder_lock(const char *folder, as_folder_lock **lock) {
  as_error error;
  as_status status = as_folder_lock_take(folder, lock, &error);
  if (status != AS_OK) cli_complain("%s", error.message);
  return cli_judge(status);
}

void folder_clear(const char *path) {
  struct stat found;
  if (lstat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
    (void)unlink(path);
  }
}

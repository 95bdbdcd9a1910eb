// The process that writes results.h5, see recorder.h. What it is asked for comes over a socket: a row is its head and its numbers,
// anything else a head alone, which is answered. Rows wait until there are enough of them for a letter, or until something is
// asked. It ends with the process that started it.
#define _GNU_SOURCE // prctl's headers, MSG_NOSIGNAL

#include "recorder.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { LETTER = 1 << 16 }; // bytes that are sent at once, if a row has fewer

typedef enum order { ORDER_ROW, ORDER_ROW_WITH_ERRORS, ORDER_FLUSH, ORDER_CLOSE } order;

typedef struct head {
  order order;
  double t; ///< of a row [s]
} head;

struct recorder {
  pid_t process;
  int socket;
  char *path;
  size_t n, n_poses; ///< numbers of a row
  char *letter;      ///< rows with their heads; in the process: a row
  size_t size, used; ///< bytes of it: at least those of a row with errors
  FILE *from;        ///< in the process: the socket
  as_error failure;  ///< status AS_OK: none
};

/// Sends or receives all of it; false: the other side is gone.
static bool send_all(int socket, const void *data, size_t size) {
  const char *from = data;
  while (size > 0) {
    ssize_t n = send(socket, from, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    from += n;
    size -= (size_t)n;
  }
  return true;
}

static bool receive(int socket, void *data, size_t size) {
  char *to = data;
  while (size > 0) {
    ssize_t n = recv(socket, to, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    to += n;
    size -= (size_t)n;
  }
  return true;
}

// ---- the process

void recorder_settle_down(pid_t starter) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != starter) _exit(1);
}

static as_status take_row(const recorder *r, const head *h, as_results_writer *results,
                          as_error *error) {
  bool errors = h->order == ORDER_ROW_WITH_ERRORS;
  double *row = (double *)(void *)r->letter, *poses = row + r->n;
  double *row_errors = poses + r->n_poses, *pose_errors = row_errors + r->n;
  size_t numbers = (r->n + r->n_poses) * (errors ? 2 : 1);
  if (fread(row, sizeof *row, numbers, r->from) != numbers) _exit(1);
  if (error->status != AS_OK) return error->status; // the first failure is told
  return as_results_writer_row_errors(results, h->t, row, (int)r->n, poses,
                                      errors ? row_errors : NULL, errors ? pose_errors : NULL,
                                      error);
}

static void answer(const recorder *r, const as_error *error) {
  if (!send_all(r->socket, error, sizeof *error)) _exit(1);
}

/// Does what it is asked for until it is closed.
static void serve(recorder *r, const as_results_writer_def *def, long rows) {
  as_results_writer *results = NULL;
  as_error error = {.status = AS_OK};
  as_status status = rows < 0 ? as_results_writer_create(r->path, def, &results, &error)
                              : as_results_writer_continue(r->path, def, rows, &results, &error);
  error.status = status;
  answer(r, &error);
  if (status != AS_OK) _exit(0);
  static char room[LETTER];
  r->from = fdopen(r->socket, "rb");
  if (r->from == NULL || setvbuf(r->from, room, _IOFBF, sizeof room) != 0) _exit(1);
  for (head h; fread(&h, sizeof h, 1, r->from) == 1;) {
    if (h.order == ORDER_ROW || h.order == ORDER_ROW_WITH_ERRORS) {
      status = take_row(r, &h, results, &error);
    } else if (h.order == ORDER_FLUSH) {
      if (status == AS_OK) status = as_results_writer_flush(results, &error);
    } else {
      as_status closed = as_results_writer_close(results, status == AS_OK ? &error : NULL);
      if (status == AS_OK) status = closed;
    }
    error.status = status;
    if (h.order == ORDER_FLUSH || h.order == ORDER_CLOSE) answer(r, &error);
    if (h.order == ORDER_CLOSE) _exit(0);
  }
  _exit(1);
}

// ---- who is served

static as_status fail(recorder *r, const as_error *why, as_error *error) {
  r->failure = *why;
  if (error != NULL) *error = *why;
  return why->status;
}

/// The process is gone: says why, and takes away what it was working on.
static as_status lose(recorder *r, as_error *error) {
  as_error why = {.status = AS_ERR_MEMORY, .t = (double)NAN};
  int end = 0;
  (void)kill(r->process, SIGKILL);
  (void)waitpid(r->process, &end, 0);
  r->process = -1;
  snprintf(why.message, sizeof why.message,
           "%.300s cannot be written: the HDF5 library was ended by %s %d, for want of memory "
           "or by a fault of its own.",
           r->path, WIFSIGNALED(end) ? "signal" : "its own exit status",
           WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end));
  static const char *const tail[] = {".new", ".copy"};
  size_t size = strlen(r->path) + 8;
  char *path = malloc(size);
  for (int i = 0; i < 2 && path != NULL; i++) {
    snprintf(path, size, "%s%s", r->path, tail[i]);
    (void)unlink(path);
  }
  free(path);
  return fail(r, &why, error);
}

static as_status await(recorder *r, as_error *error) {
  as_error told;
  if (!receive(r->socket, &told, sizeof told)) return lose(r, error);
  return told.status == AS_OK ? AS_OK : fail(r, &told, error);
}

static void free_recorder(recorder *r) {
  if (r->socket >= 0) close(r->socket);
  if (r->process > 0) (void)waitpid(r->process, NULL, 0);
  free(r->path);
  free(r->letter);
  free(r);
}

as_status recorder_start(const char *path, const as_results_writer_def *def, long rows,
                         recorder **out, as_error *error) {
  *out = NULL;
  int ends[2] = {-1, -1};
  recorder *r = calloc(1, sizeof *r);
  if (error != NULL) {
    *error = (as_error){.status = AS_ERR_MEMORY, .t = (double)NAN, .message = "Out of memory."};
  }
  if (r == NULL) return AS_ERR_MEMORY;
  r->socket = -1;
  r->n = (size_t)as_channels_count(def->channels);
  r->n_poses = AS_POSE * (size_t)as_model_bodies(def->model);
  r->size = sizeof(head) + 2 * (r->n + r->n_poses) * sizeof(double);
  r->size = r->size > LETTER ? r->size : LETTER;
  r->letter = malloc(r->size);
  r->path = malloc(strlen(path) + 1);
  bool ok = r->letter != NULL && r->path != NULL && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0;
  pid_t starter = getpid();
  if (ok) {
    memcpy(r->path, path, strlen(path) + 1);
    r->process = fork();
    ok = r->process >= 0;
  }
  if (ok) r->socket = ends[r->process == 0];
  if (ok) close(ends[r->process != 0]);
  if (!ok) { // fork may lack memory or processes
    free_recorder(r);
    return AS_ERR_MEMORY;
  }
  if (r->process == 0) {
    recorder_settle_down(starter);
    serve(r, def, rows);
  }
  as_status status = await(r, error);
  if (status != AS_OK) {
    free_recorder(r);
  } else {
    *out = r;
  }
  return status;
}

static as_status send_letter(recorder *r, as_error *error) {
  size_t used = r->used;
  r->used = 0;
  return send_all(r->socket, r->letter, used) ? AS_OK : lose(r, error);
}

static void append(recorder *r, const void *data, size_t size) {
  memcpy(r->letter + r->used, data, size);
  r->used += size;
}

as_status recorder_row(recorder *r, double t, const double *row, const double *poses,
                       const double *errors, const double *pose_errors, as_error *error) {
  if (r->failure.status != AS_OK) return fail(r, &r->failure, error);
  bool with_errors = errors != NULL && pose_errors != NULL;
  head h = {with_errors ? ORDER_ROW_WITH_ERRORS : ORDER_ROW, t};
  size_t numbers = (r->n + r->n_poses) * (with_errors ? 2 : 1);
  if (r->used + sizeof h + numbers * sizeof(double) > r->size) {
    as_status status = send_letter(r, error);
    if (status != AS_OK) return status;
  }
  append(r, &h, sizeof h);
  append(r, row, r->n * sizeof *row);
  append(r, poses, r->n_poses * sizeof *poses);
  if (with_errors) append(r, errors, r->n * sizeof *errors);
  if (with_errors) append(r, pose_errors, r->n_poses * sizeof *pose_errors);
  return AS_OK;
}

/// Something that is answered.
static as_status ask(recorder *r, order what, as_error *error) {
  if (r->failure.status != AS_OK) return fail(r, &r->failure, error);
  head h = {what, 0.0};
  as_status status = r->used + sizeof h > r->size ? send_letter(r, error) : AS_OK;
  if (status != AS_OK) return status;
  append(r, &h, sizeof h);
  status = send_letter(r, error);
  return status == AS_OK ? await(r, error) : status;
}

as_status recorder_flush(recorder *r, as_error *error) { return ask(r, ORDER_FLUSH, error); }

as_status recorder_close(recorder *r, as_error *error) {
  if (r == NULL) return AS_OK;
  // After a failure the process has files to take away; what it says then is known.
  bool failed = r->failure.status != AS_OK;
  as_error ignored;
  if (failed && r->process > 0) r->failure.status = AS_OK;
  as_status status = r->process > 0 ? ask(r, ORDER_CLOSE, failed ? &ignored : error) : AS_OK;
  free_recorder(r);
  return failed ? AS_OK : status;
}

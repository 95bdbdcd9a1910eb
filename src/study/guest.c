/// A process that makes runs of a study which another one deals out. A thread reads what the host says, so that a run ends at once where the
/// host has gone.
#define _GNU_SOURCE // getrandom's neighbours, SOCK_CLOEXEC
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "study/frames.h"
#include "study/study.h"

enum {
  PATIENCE = 5000, ///< for a connection, and for the first word of a host [ms]
  WAIT = 50,       ///< between two looks whether to end, while there is no run [ms]
  QUEUE = 1024,    ///< more runs than threads are never dealt out
};

struct as_study_guest {
  int socket;
  unsigned char head[ASI_STUDY_HEAD]; ///< of the host's study
  pthread_mutex_t mutex;              ///< of all that follows
  pthread_cond_t news;
  asi_frame_reader reader;
  long run[QUEUE];
  int n;
  bool ended; ///< the host has said so
  bool gone;  ///< it is not there any more
};

// ---- the way to the host ----------------------------------------------------------------------------

static bool await(int socket, short events) {
  struct pollfd p = {.fd = socket, .events = events};
  int n;
  while ((n = poll(&p, 1, PATIENCE)) < 0 && errno == EINTR) continue;
  return n == 1;
}

/// A connection to a number; -1: there is none.
static int connect_to(const char *number, int port) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  const bool is_four = inet_pton(AF_INET, number, &four.sin_addr) == 1;
  if (!is_four && inet_pton(AF_INET6, number, &six.sin6_addr) != 1) return -1;
  const int s = socket(is_four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0) return -1;
  const int before = fcntl(s, F_GETFL);
  int failure = 0;
  socklen_t size = sizeof failure;
  (void)fcntl(s, F_SETFL, before | O_NONBLOCK);
  const int n = is_four ? connect(s, (struct sockaddr *)&four, sizeof four)
                        : connect(s, (struct sockaddr *)&six, sizeof six);
  const bool there = (n == 0 || errno == EINPROGRESS) && await(s, POLLOUT) &&
                     getsockopt(s, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0;
  (void)fcntl(s, F_SETFL, before);
  if (there) return s;
  close(s);
  return -1;
}

/// Whether the host at the other end is the one that was looked for.
static bool greet(as_study_guest *g, const unsigned char *secret) {
  asi_frame f;
  return asi_frame_send(g->socket, ASI_FRAME_JOIN, secret, ASI_FRAME_SECRET) &&
         await(g->socket, POLLIN) &&
         asi_frame_next(&g->reader, g->socket, ASI_STUDY_HEAD, &f) == ASI_FRAME_THERE &&
         f.kind == ASI_FRAME_HELLO && f.size == ASI_FRAME_SECRET &&
         memcmp(f.bytes, secret + ASI_FRAME_SECRET, f.size) == 0;
}

static bool read_secret(const char *text, unsigned char secret[2 * ASI_FRAME_SECRET]) {
  for (int i = 0; i < 4 * ASI_FRAME_SECRET; ++i) {
    static const char digits[] = "0123456789abcdef";
    const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
    if (digit == NULL) return false;
    secret[i / 2] = (unsigned char)(secret[i / 2] << 4 | (digit - digits));
  }
  return true;
}

/// Tries one number of the host after the other.
static bool find_host(as_study_guest *g, const char *address) {
  unsigned char secret[2 * ASI_FRAME_SECRET] = {0};
  char number[INET6_ADDRSTRLEN];
  int used = 0, port = 0;
  if (!read_secret(address, secret)) return false;
  address += 4 * ASI_FRAME_SECRET;
  if (sscanf(address, " %d%n", &port, &used) != 1) return false;
  while (sscanf(address += used, " %45s%n", number, &used) == 1) {
    g->socket = connect_to(number, port);
    if (g->socket < 0) continue;
    asi_frame_settle(g->socket);
    if (greet(g, secret)) return true;
    close(g->socket);
    g->reader.used = g->reader.taken = 0;
    g->socket = -1;
  }
  return false;
}

as_status as_study_guest_create(const char *address, as_study_guest **out, as_error *error) {
  *out = NULL;
  as_study_guest *g = asi_calloc(1, sizeof *g);
  if (g == NULL) return asi_fail_memory(error);
  g->socket = -1;
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->news, NULL);
  if (!find_host(g, address)) {
    as_study_guest_destroy(g);
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                    "The process that deals out the runs of the study cannot be reached.");
  }
  asi_frame f;
  if (asi_frame_next(&g->reader, g->socket, ASI_STUDY_HEAD, &f) != ASI_FRAME_THERE ||
      f.kind != ASI_FRAME_WELCOME || f.size != sizeof g->head) {
    as_study_guest_destroy(g);
    return AS_STOPPED;
  }
  memcpy(g->head, f.bytes, f.size);
  *out = g;
  return asi_error_clear(error);
}

void as_study_guest_destroy(as_study_guest *g) {
  if (g == NULL) return;
  if (g->socket >= 0) close(g->socket);
  asi_frame_reader_free(&g->reader);
  pthread_cond_destroy(&g->news);
  pthread_mutex_destroy(&g->mutex);
  free(g);
}

bool as_study_guest_is_alone(const as_study_guest *g) { return g->gone && !g->ended; }

// ---- what the host says -----------------------------------------------------------------------------

static void *listen_to_host(void *user) {
  as_study_guest *g = user;
  asi_frame f;
  for (bool more = true; more;) {
    const bool there = asi_frame_next(&g->reader, g->socket, ASI_STUDY_HEAD, &f) == ASI_FRAME_THERE;
    pthread_mutex_lock(&g->mutex);
    if (there && f.kind == ASI_FRAME_RUN && g->n < QUEUE)
      g->run[g->n++] = (long)asi_frame_number(&f);
    else if (there && f.kind == ASI_FRAME_END)
      g->ended = true;
    else
      g->gone = true;
    more = !g->ended && !g->gone;
    pthread_cond_broadcast(&g->news);
    pthread_mutex_unlock(&g->mutex);
  }
  return NULL;
}

// ---- for go.c ---------------------------------------------------------------------------------------

bool asi_study_guest_is_over(as_study_guest *g) {
  pthread_mutex_lock(&g->mutex);
  const bool over = g->ended || g->gone;
  pthread_mutex_unlock(&g->mutex);
  return over;
}

long asi_study_guest_take(as_study_guest *g, as_interrupt_fn *interrupt, void *user) {
  pthread_mutex_lock(&g->mutex);
  if (!asi_frame_send(g->socket, ASI_FRAME_ASK, NULL, 0)) g->gone = true;
  long run = -1;
  while (run < 0 && !g->ended && !g->gone) {
    if (g->n > 0) {
      run = g->run[--g->n];
      break;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&g->news, &g->mutex, &until);
    pthread_mutex_unlock(&g->mutex);
    const bool ending = interrupt(user);
    pthread_mutex_lock(&g->mutex);
    if (ending) break;
  }
  pthread_mutex_unlock(&g->mutex);
  return run;
}

void asi_study_guest_hand_over(as_study_guest *g, const unsigned char *bytes, size_t size) {
  pthread_mutex_lock(&g->mutex);
  if (!asi_frame_send(g->socket, ASI_FRAME_RECORD, bytes, size)) g->gone = true;
  pthread_mutex_unlock(&g->mutex);
}

as_status as_study_join(as_study *s, int threads, as_study_guest *g, as_error *error) {
  unsigned char mine[ASI_STUDY_HEAD];
  pthread_t listener;
  if (!asi_study_make_head(s, mine)) return asi_fail_memory(error);
  const char *why = asi_study_compare_heads(mine, g->head);
  if (why)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "This process cannot take part in the study: %s.", why);
  if (pthread_create(&listener, NULL, listen_to_host, g) != 0) return asi_fail_memory(error);
  as_status status = asi_study_work_for(s, g, threads, error);
  const bool over = asi_study_guest_is_over(g);
  if (!over) {
    (void)asi_frame_send(g->socket, ASI_FRAME_LEAVE, NULL, 0);
    (void)shutdown(g->socket, SHUT_RDWR);
  }
  pthread_join(listener, NULL);
  if (!over) g->gone = false; // it is this process that leaves
  if (as_status_is_failure(status)) return status;
  if (!over) return AS_INTERRUPTED;
  if (g->ended) return asi_error_clear(error);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                  "The process that deals out the runs of the study is gone.");
}

/// A process that deals out runs to others. One thread of its own listens, from create to destroy; the study's runs are dealt out while
/// as_study_go_with() goes on. Each guest is known by a number, which stands with the runs that it makes: if its connection ends, as it does
/// with its process, these are waiting again.
///
/// Locks: the host's, then the study's.
#define _GNU_SOURCE // pipe2, accept4, getifaddrs
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "study/frames.h"
#include "study/study.h"

enum {
  ADDRESS = 2048,   ///< room for what guests have to know
  WAIT = 50,        ///< how long a thread waits for runs that may come back [ms]
  BACKLOG = 4096,   ///< processes that come at the same time
  STRANGER = 64,    ///< the most bytes of a frame of one that has not shown the secret
  RECORD = 1 << 12, ///< of a guest's, and 8 for each result
};

typedef struct guest {
  int socket, number;
  bool known, welcome, leaving;
  long asking; ///< runs that it waits for
  asi_frame_reader reader;
} guest;

struct as_study_host {
  char address[ADDRESS];
  unsigned char secret[2 * ASI_FRAME_SECRET];
  int listening, wake[2];
  pthread_t thread;
  pthread_mutex_t mutex;   ///< of all that follows
  pthread_cond_t returned; ///< with the study's mutex: runs have come back, or are over
  as_study *study;         ///< that runs are dealt out of; NULL: none
  unsigned char head[ASI_STUDY_HEAD];
  bool ending;
  guest *guests;
  int n, room, came, joined, lost;
};

// ---- guests: the host's mutex is held ---------------------------------------------------------------

/// Gives a guest the runs that it waits for, as far as there are any. The study's mutex is held.
static bool deal(as_study_host *h, guest *g) {
  while (g->asking > 0) {
    const long run = asi_study_take_run(h->study, g->number);
    if (run < 0) return true;
    --g->asking;
    if (!asi_frame_send_number(g->socket, ASI_FRAME_RUN, (uint64_t)run)) return false;
  }
  return true;
}

/// Takes back what a guest was making; how many runs. The study's mutex is held.
static long take_back(as_study *s, const guest *g) {
  long n = 0;
  for (long i = 0; i < s->runs; ++i) {
    asi_study_record *r = &s->record[i];
    if (r->holder != g->number || r->outcome != AS_STUDY_WAITING) continue;
    r->holder = ASI_STUDY_NOBODY;
    if (i < s->next) s->next = i;
    ++n;
  }
  return n;
}

/// A guest is gone. What it was making others make.
static void let_go(as_study_host *h, int index) {
  guest gone = h->guests[index];
  h->guests[index] = h->guests[--h->n];
  close(gone.socket);
  asi_frame_reader_free(&gone.reader);
  if (h->study == NULL || !gone.known) return;
  pthread_mutex_lock(&h->study->mutex);
  if (take_back(h->study, &gone) > 0 && !gone.leaving) ++h->lost;
  pthread_cond_broadcast(&h->returned);
  // Whether it can be sent to shows at the next look.
  for (int i = 0; i < h->n; ++i) (void)deal(h, &h->guests[i]);
  pthread_mutex_unlock(&h->study->mutex);
}

static bool welcome(as_study_host *h, guest *g) {
  if (h->study == NULL || !g->known || g->welcome) return true;
  g->welcome = true;
  return asi_frame_send(g->socket, ASI_FRAME_WELCOME, h->head, sizeof h->head);
}

static bool meet(as_study_host *h, guest *g, const asi_frame *f) {
  if (f->size != ASI_FRAME_SECRET || memcmp(f->bytes, h->secret, f->size) != 0) return false;
  g->known = true;
  ++h->joined;
  return asi_frame_send(g->socket, ASI_FRAME_HELLO, h->secret + ASI_FRAME_SECRET,
                        ASI_FRAME_SECRET) &&
         welcome(h, g);
}

/// Takes over a run. False: it is none.
static bool take_record(as_study_host *h, const asi_frame *f) {
  as_study *s = h->study;
  long run = -1;
  as_error error;
  const long before = s->count_of[AS_STUDY_WAITING];
  const long used = asi_study_unpack(s, f->bytes, f->size, &run);
  if (used < 0) {
    (void)asi_fail_memory(&error);
    asi_study_end(s, AS_ERR_MEMORY, &error);
  } else if (used > 0 && s->count_of[AS_STUDY_WAITING] < before) {
    asi_study_finish_run(s, run);
  }
  if (s->ending || s->count_of[AS_STUDY_WAITING] == 0) pthread_cond_broadcast(&h->returned);
  return used != 0 && (size_t)labs(used) <= f->size;
}

/// What a guest says. False: it is to go.
static bool answer(as_study_host *h, guest *g, const asi_frame *f) {
  if (!g->known) return f->kind == ASI_FRAME_JOIN && meet(h, g, f);
  if (f->kind == ASI_FRAME_LEAVE) g->leaving = true;
  if (f->kind == ASI_FRAME_LEAVE || h->study == NULL || !g->welcome) return false;
  bool good = f->kind == ASI_FRAME_ASK || f->kind == ASI_FRAME_RECORD;
  pthread_mutex_lock(&h->study->mutex);
  if (f->kind == ASI_FRAME_ASK) ++g->asking;
  if (f->kind == ASI_FRAME_RECORD) good = take_record(h, f);
  good = good && deal(h, g);
  pthread_mutex_unlock(&h->study->mutex);
  return good;
}

/// All that a guest has sent. False: it is gone.
static bool attend(as_study_host *h, guest *g) {
  asi_frame frame;
  for (;;) {
    const size_t most = !g->known          ? STRANGER
                        : h->study == NULL ? RECORD
                                           : RECORD + 8 * (size_t)h->study->def.n_results;
    switch (asi_frame_next(&g->reader, g->socket, most, &frame)) {
    case ASI_FRAME_GONE: return false;
    case ASI_FRAME_NONE_YET: return true;
    case ASI_FRAME_THERE:
      if (!answer(h, g, &frame)) return false;
    }
  }
}

static void let_in(as_study_host *h) {
  const int socket = accept4(h->listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) return;
  if (h->n == h->room) {
    const int room = 2 * h->room + 16;
    guest *more = realloc(h->guests, (size_t)room * sizeof *more);
    if (more == NULL) {
      close(socket);
      return;
    }
    h->guests = more;
    h->room = room;
  }
  asi_frame_settle(socket);
  h->guests[h->n++] = (guest){.socket = socket, .number = ++h->came};
}

// ---- the thread -------------------------------------------------------------------------------------

/// Looks after everybody for whom there is something to do.
static void look_around(as_study_host *h, const struct pollfd *p, int n) {
  char byte[64];
  if (p[0].revents) (void)!read(h->wake[0], byte, sizeof byte);
  for (int i = n - 1; i >= 0; --i) // from behind: who goes makes room for the last
    if (p[2 + i].revents && !attend(h, &h->guests[i])) let_go(h, i);
  for (int i = h->n - 1; i >= 0; --i)
    if (!welcome(h, &h->guests[i])) let_go(h, i);
  if (p[1].revents) let_in(h);
}

static void *serve(void *user) {
  as_study_host *h = user;
  pthread_mutex_lock(&h->mutex);
  while (!h->ending) {
    const int n = h->n;
    struct pollfd *p = asi_calloc((size_t)n + 2, sizeof *p);
    if (p == NULL) break; // this process makes the runs alone
    p[0] = (struct pollfd){.fd = h->wake[0], .events = POLLIN};
    p[1] = (struct pollfd){.fd = h->listening, .events = POLLIN};
    for (int i = 0; i < n; ++i)
      p[2 + i] = (struct pollfd){.fd = h->guests[i].socket, .events = POLLIN};
    pthread_mutex_unlock(&h->mutex);
    const int found = poll(p, (nfds_t)n + 2, -1);
    pthread_mutex_lock(&h->mutex);
    if (found > 0) look_around(h, p, n);
    free(p);
  }
  while (h->n > 0) let_go(h, h->n - 1);
  pthread_mutex_unlock(&h->mutex);
  return NULL;
}

static void wake(as_study_host *h) { (void)!write(h->wake[1], "", 1); }

// ---- for go.c ---------------------------------------------------------------------------------------

as_status asi_study_host_open(as_study_host *h, as_study *s, as_error *error) {
  pthread_mutex_lock(&h->mutex);
  const bool ready = asi_study_make_head(s, h->head);
  if (ready) h->study = s;
  wake(h);
  pthread_mutex_unlock(&h->mutex);
  return ready ? AS_OK : asi_fail_memory(error);
}

void asi_study_host_close(as_study_host *h) {
  pthread_mutex_lock(&h->mutex);
  h->study = NULL;
  for (int i = 0; i < h->n; ++i) {
    guest *g = &h->guests[i];
    if (g->welcome) (void)asi_frame_send(g->socket, ASI_FRAME_END, NULL, 0);
    g->welcome = false;
    g->asking = 0;
  }
  pthread_mutex_unlock(&h->mutex);
}

void asi_study_host_await(as_study_host *h) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += WAIT * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000L;
  until.tv_nsec %= 1000000000L;
  (void)pthread_cond_timedwait(&h->returned, &h->study->mutex, &until);
}

// ---- create -----------------------------------------------------------------------------------------

/// A socket that listens at a free port, for IPv6 and IPv4 or, where there is no IPv6, for that alone; its port.
static int listen_somewhere(int *port) {
  const int off = 0, how = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
  socklen_t size = sizeof six;
  int s = socket(AF_INET6, how, 0);
  if (s >= 0) setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (s >= 0 && bind(s, (struct sockaddr *)&six, sizeof six) == 0 && listen(s, BACKLOG) == 0 &&
      getsockname(s, (struct sockaddr *)&six, &size) == 0) {
    *port = ntohs(six.sin6_port);
    return s;
  }
  if (s >= 0) close(s);
  s = socket(AF_INET, how, 0);
  size = sizeof four;
  if (s >= 0 && bind(s, (struct sockaddr *)&four, sizeof four) == 0 && listen(s, BACKLOG) == 0 &&
      getsockname(s, (struct sockaddr *)&four, &size) == 0) {
    *port = ntohs(four.sin_port);
    return s;
  }
  const int number = errno;
  if (s >= 0) close(s);
  errno = number;
  return -1;
}

/// The numbers of this machine, those that only it reaches last.
static void add_numbers(asi_text *text) {
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) != 0) all = NULL;
  for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
    char number[INET6_ADDRSTRLEN] = "";
    if (a->ifa_addr == NULL || !(a->ifa_flags & IFF_UP) || (a->ifa_flags & IFF_LOOPBACK)) continue;
    if (a->ifa_addr->sa_family == AF_INET)
      (void)inet_ntop(AF_INET, &((struct sockaddr_in *)(void *)a->ifa_addr)->sin_addr, number,
                      sizeof number);
    if (a->ifa_addr->sa_family == AF_INET6) {
      const struct in6_addr *six = &((struct sockaddr_in6 *)(void *)a->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(six)) (void)inet_ntop(AF_INET6, six, number, sizeof number);
    }
    if (number[0]) asi_text_add(text, " %s", number);
  }
  freeifaddrs(all);
  asi_text_add(text, " 127.0.0.1");
}

static void write_address(as_study_host *h, int port) {
  asi_text text = asi_text_begin(h->address, sizeof h->address);
  for (size_t i = 0; i < sizeof h->secret; ++i) asi_text_add(&text, "%02x", h->secret[i]);
  asi_text_add(&text, " %d", port);
  add_numbers(&text);
}

static void free_host(as_study_host *h) {
  free(h->guests);
  for (int i = 0; i < 2; ++i)
    if (h->wake[i] >= 0) close(h->wake[i]);
  if (h->listening >= 0) close(h->listening);
  pthread_cond_destroy(&h->returned);
  pthread_mutex_destroy(&h->mutex);
  free(h);
}

as_status as_study_host_create(as_study_host **out, as_error *error) {
  *out = NULL;
  as_study_host *h = asi_calloc(1, sizeof *h);
  if (h == NULL) return asi_fail_memory(error);
  int port = 0;
  h->wake[0] = h->wake[1] = -1;
  pthread_mutex_init(&h->mutex, NULL);
  pthread_cond_init(&h->returned, NULL);
  h->listening = listen_somewhere(&port);
  const bool ready = h->listening >= 0 && pipe2(h->wake, O_CLOEXEC | O_NONBLOCK) == 0 &&
                     getrandom(h->secret, sizeof h->secret, 0) == (ssize_t)sizeof h->secret;
  if (ready) write_address(h, port);
  const int number = !ready ? errno : pthread_create(&h->thread, NULL, serve, h);
  if (number) {
    free_host(h);
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                    "Runs cannot be dealt out to other processes: %s.", strerror(number));
  }
  *out = h;
  return asi_error_clear(error);
}

void as_study_host_destroy(as_study_host *h) {
  if (h == NULL) return;
  pthread_mutex_lock(&h->mutex);
  h->ending = true;
  wake(h);
  pthread_mutex_unlock(&h->mutex);
  pthread_join(h->thread, NULL);
  free_host(h);
}

void as_study_host_wait(as_study_host *h, int guests, double seconds) {
  const struct timespec pause = {.tv_nsec = 10000000};
  for (double waited = 0.0; waited < seconds; waited += 0.01) {
    pthread_mutex_lock(&h->mutex);
    const bool all = h->joined >= guests;
    pthread_mutex_unlock(&h->mutex);
    if (all) return;
    (void)nanosleep(&pause, NULL);
  }
}

const char *as_study_host_address(const as_study_host *h) { return h->address; }
int as_study_host_joined(const as_study_host *h) { return h->joined; }
int as_study_host_lost(const as_study_host *h) { return h->lost; }

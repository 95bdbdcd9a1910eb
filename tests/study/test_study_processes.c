/// Studies whose runs are dealt out: the same numbers whoever makes a run, processes that are killed, strangers, and study.h5.
#define _GNU_SOURCE // fork, kill, usleep, mkdtemp, open_memstream
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "results/hdf5.h"
#include "study/study.h"

enum { RUNS = 24 };
static as_messages messages;

/// Pendulums for different times; one run of them fails.
static as_study *make_study(double last, as_interrupt_fn *interrupt, void *user) {
  static char path[4096];
  static const char *const methods[] = {"index2", "index3", "none"};
  as_study_parameter p[] = {{.path = "simulate.t_end",
                             .spread = AS_STUDY_COUNT,
                             .from = 0.1,
                             .to = last,
                             .count = RUNS / 3},
                            {.path = "simulate.method", .list = methods, .count = 3}};
  as_study_result r = {.measure = AS_STUDY_LAST,
                       .channel = "bodies.bob.position.x",
                       .from = (double)NAN,
                       .to = (double)NAN};
  as_study *s = NULL;
  snprintf(path, sizeof path, "%s", files_path("examples/machines/pendulum/model.yaml"));
  as_study_def def = as_default_study_def();
  def.model = path;
  def.parameters = p;
  def.n_parameters = 2;
  def.results = &r;
  def.n_results = 1;
  def.interrupt = interrupt;
  def.interrupt_user = user;
  assert_int_equal(as_study_create(&def, &s, &messages), AS_OK);
  assert_int_equal(as_study_runs(s), RUNS);
  return s;
}

/// What it gives by itself, once.
static const as_study *alone(void) {
  static as_study *s;
  as_error error;
  if (s == NULL) {
    s = make_study(1.0, NULL, NULL);
    assert_int_equal(as_study_go(s, 1, &error), AS_OK);
  }
  return s;
}

static void check_same(const as_study *s) {
  for (long i = 0; i < RUNS; ++i) {
    const as_study_run a = as_study_run_get(s, i), b = as_study_run_get(alone(), i);
    assert_int_equal(a.outcome, b.outcome);
    assert_int_equal(memcmp(&a.value[0], &b.value[0], sizeof(double)), 0); // NAN, too
    assert_string_equal(a.message, b.message);
  }
  assert_int_equal(as_study_count(s, AS_STUDY_FAILED), RUNS / 3);
}

typedef struct visitor {
  char address[4096];
  double last;
  int threads;
  as_status status;
  as_error error;
  bool alone;
} visitor;

static void *visit(void *user) {
  visitor *v = user;
  as_study_guest *g = NULL;
  v->status = as_study_guest_create(v->address, &g, &v->error);
  if (v->status) return NULL;
  as_study *s = make_study(v->last, NULL, NULL);
  v->status = as_study_join(s, v->threads, g, &v->error);
  v->alone = as_study_guest_is_alone(g);
  as_study_destroy(s);
  as_study_guest_destroy(g);
  return NULL;
}

static visitor announce(const as_study_host *h, double last, int threads) {
  visitor v = {.last = last, .threads = threads, .status = AS_ERR_ARGUMENT};
  snprintf(v.address, sizeof v.address, "%s", as_study_host_address(h));
  return v;
}

/// Guests with several threads beside those of the host; one of them has another study.
static void test_guests(void **unused) {
  (void)unused;
  as_error error;
  as_study_host *h = NULL;
  (void)alone();
  assert_int_equal(as_study_host_create(&h, &error), AS_OK);
  visitor v[] = {announce(h, 1.0, 1), announce(h, 1.0, 3), announce(h, 1.1, 1)};
  pthread_t thread[3];
  as_study *s = make_study(1.0, NULL, NULL);
  for (int i = 0; i < 3; ++i) assert_int_equal(pthread_create(&thread[i], NULL, visit, &v[i]), 0);
  as_study_host_wait(h, 3, 60.0);
  assert_int_equal(as_study_host_joined(h), 3);
  assert_int_equal(as_study_go_with(s, 2, h, &error), AS_OK);
  for (int i = 0; i < 3; ++i) pthread_join(thread[i], NULL);
  check_same(s);
  assert_int_equal(v[0].status, AS_OK);
  assert_int_equal(v[1].status, AS_OK);
  assert_true(v[2].status == AS_ERR_ARGUMENT || v[2].status == AS_STOPPED);
  if (v[2].status == AS_ERR_ARGUMENT)
    assert_non_null(strstr(v[2].error.message, "parameters, settings or results are others"));
  assert_int_equal(as_study_host_lost(h), 0);
  as_study_host_destroy(h);
  as_study_destroy(s);
}

// ---- processes that are killed ----------------------------------------------------------------------

static bool kill_itself(void *user) {
  (void)user;
  (void)kill(getpid(), SIGKILL);
  return false;
}

/// The host's own threads wait until the other process is dead: it has been given runs by then.
static bool await_death(void *user) {
  pid_t *process = user;
  if (*process > 0 && waitpid(*process, NULL, WNOHANG) == *process) *process = 0;
  if (*process > 0) usleep(1000);
  return false;
}

/// The interruption is asked for between steps only: a host that waits makes its first run slowly.
static bool hold_on(void *user) {
  while (*(pid_t *)user > 0) (void)await_death(user);
  return false;
}

static void test_lost_guest(void **unused) {
  (void)unused;
  as_error error;
  as_study_host *h = NULL;
  (void)alone();
  for (int threads = 1; threads <= 3; threads += 2) {
    assert_int_equal(as_study_host_create(&h, &error), AS_OK);
    const visitor v = announce(h, 1.0, threads);
    pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
      as_study_guest *g = NULL;
      if (as_study_guest_create(v.address, &g, &error) == AS_OK)
        (void)as_study_join(make_study(1.0, kill_itself, NULL), threads, g, &error);
      _exit(1);
    }
    as_study *s = make_study(1.0, hold_on, &process);
    assert_int_equal(as_study_go_with(s, 1, h, &error), AS_OK);
    check_same(s);
    assert_int_equal(as_study_host_joined(h), 1);
    assert_int_equal(as_study_host_lost(h), 1);
    as_study_host_destroy(h);
    as_study_destroy(s);
  }
}

/// The host is killed: its guest ends, and says so.
static void test_lost_host(void **unused) {
  (void)unused;
  as_error error;
  as_study_host *h = NULL;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t process = fork();
  assert_true(process >= 0);
  if (process == 0) {
    if (as_study_host_create(&h, &error) == AS_OK) {
      const visitor v = announce(h, 1.0, 1);
      if (write(ends[1], v.address, sizeof v.address) < 0) _exit(1);
      as_study_host_wait(h, 1, 60.0);
      (void)as_study_go_with(make_study(1.0, kill_itself, NULL), 1, h, &error);
    }
    _exit(1);
  }
  visitor v = {.last = 1.0, .threads = 1};
  assert_int_equal(read(ends[0], v.address, sizeof v.address), sizeof v.address);
  (void)visit(&v);
  assert_int_equal(waitpid(process, NULL, 0), process);
  // Killed before it could say which study it is of, it has none.
  assert_true(v.status == AS_STOPPED || (v.status == AS_ERR_FILE && v.alone));
  close(ends[0]);
  close(ends[1]);
}

static bool at_once(void *user) {
  (void)user;
  return true;
}

/// A guest that is asked to end leaves, and is not lost.
static void test_leaving(void **unused) {
  (void)unused;
  as_error error, other;
  as_study_host *h = NULL;
  (void)alone();
  assert_int_equal(as_study_host_create(&h, &error), AS_OK);
  const visitor v = announce(h, 1.0, 1);
  pid_t process = fork();
  if (process == 0) {
    as_study_guest *g = NULL;
    as_status status = as_study_guest_create(v.address, &g, &other);
    if (status == AS_OK) status = as_study_join(make_study(1.0, at_once, NULL), 2, g, &other);
    _exit(status == AS_INTERRUPTED ? 0 : 1);
  }
  as_study *s = make_study(1.0, hold_on, &process);
  assert_int_equal(as_study_go_with(s, 1, h, &error), AS_OK);
  check_same(s);
  assert_int_equal(as_study_host_lost(h), 0);
  as_study_host_destroy(h);
  as_study_destroy(s);
}

// ---- strangers --------------------------------------------------------------------------------------

/// What anybody may send who finds the port.
static void test_strangers(void **unused) {
  (void)unused;
  as_error error;
  as_study_host *h = NULL;
  (void)alone();
  assert_int_equal(as_study_host_create(&h, &error), AS_OK);
  visitor v = announce(h, 1.0, 1);
  int port = 0;
  assert_int_equal(sscanf(v.address + 64, " %d", &port), 1);
  const struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  unsigned char text[4][64] = {
      "GET / HTTP/1.0\r\n\r\n", {1, [8] = 16}, {4}, {1, [8] = 0xff, 0xff, 0xff, 0xff}};
  int stranger[4];
  for (int i = 0; i < 4; ++i) {
    stranger[i] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(stranger[i], (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(send(stranger[i], text[i], sizeof text[i], MSG_NOSIGNAL), sizeof text[i]);
  }
  as_study *s = make_study(1.0, NULL, NULL);
  assert_int_equal(as_study_go_with(s, 1, h, &error), AS_OK);
  check_same(s);
  assert_int_equal(as_study_host_joined(h), 0);
  for (int i = 0; i < 4; ++i) {
    char answer[16];
    assert_true(recv(stranger[i], answer, sizeof answer, 0) <= 0); // shown out
    close(stranger[i]);
  }
  v.address[5] = v.address[5] == '0' ? '1' : '0'; // another secret
  (void)visit(&v);
  assert_int_equal(v.status, AS_ERR_FILE);
  assert_non_null(strstr(v.error.message, "cannot be reached"));
  as_study_host_destroy(h);
  as_study_destroy(s);
  v.address[0] = 'x';
  (void)visit(&v);
  assert_int_equal(v.status, AS_ERR_FILE);
}

/// A host that has nothing to deal out.
static void test_nothing(void **unused) {
  (void)unused;
  as_error error;
  as_study_host *h = NULL;
  pthread_t thread;
  assert_int_equal(as_study_host_create(&h, &error), AS_OK);
  visitor v = announce(h, 1.0, 1);
  assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
  as_study_host_wait(h, 1, 60.0);
  as_study_host_destroy(h);
  pthread_join(thread, NULL);
  assert_int_equal(v.status, AS_STOPPED);
}

// ---- study.h5 ---------------------------------------------------------------------------------------

/// The same bytes each time, with a digest that sees a single bit.
static void test_hdf5(void **unused) {
  (void)unused;
  as_error error;
  char folder[] = "/tmp/study-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/study.h5", folder);
  char *first = NULL;
  size_t size = 0, again = 0;
  for (int i = 0; i < 2; ++i) {
    char *bytes = NULL;
    if (i == 1) sleep(1); // HDF5 may note when something was made
    FILE *out = open_memstream(&bytes, i == 0 ? &size : &again);
    assert_int_equal(as_study_write_hdf5(out, alone(), &error), AS_OK);
    assert_int_equal(fclose(out), 0);
    if (i == 1) assert_true(again == size && memcmp(first, bytes, size) == 0);
    if (i == 1) free(bytes);
    if (i == 0) first = bytes;
  }
  for (size_t at = 0; at < size; at += size / 7) {
    uint64_t used = 0;
    FILE *out = fopen(path, "wb");
    assert_int_equal(fwrite(first, 1, size, out), size);
    fclose(out);
    assert_null(asi_hdf5_verify(path, &used));
    assert_int_equal(used + ASI_HDF5_SEAL_SIZE, size);
    out = fopen(path, "r+b");
    fseek(out, (long)at, SEEK_SET);
    putc(first[at] ^ 1, out);
    fclose(out);
    if (at + ASI_HDF5_SEAL_SIZE < size) assert_non_null(asi_hdf5_verify(path, &used));
  }
  asi_hdf5_forget();
  free(first);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_guests),    cmocka_unit_test(test_lost_guest),
      cmocka_unit_test(test_lost_host), cmocka_unit_test(test_leaving),
      cmocka_unit_test(test_strangers), cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_hdf5),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  as_study_destroy((as_study *)(uintptr_t)alone());
  return failed;
}

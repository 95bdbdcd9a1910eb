// What python.py compares the package with: the same calls in C, on the machine of a file.
// usage: instance MODEL advance N | run T_END     prints the seconds of a call, the least of some; N calls, or the run to T_END, once for valgrind:
//        instance MODEL advance N once
#define _POSIX_C_SOURCE 200809L // clock_gettime

#include "alphastep/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alphastep/io.h"

enum { BODIES = 10, REPEATS = 15 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "instance: %s\n", error->message);
  exit(1);
}

/// n calls of 1 ms each, with new inputs; the seconds of one.
static double advance(const as_machine *m, long n) {
  static const char *const channels[] = {"joints.*.angle", "joints.*.angle_rate"};
  as_instance_def def = as_default_instance_def();
  as_instance *s = NULL;
  as_error error;
  double row[2 * BODIES], u[BODIES];
  def.integrator = m->simulation.integrator;
  def.channels = channels;
  def.n_channels = 2;
  must(as_instance_create(m->model, &def, &s, &error), &error);
  must(as_instance_start(s, NULL, &error), &error);
  const double begin = seconds();
  for (long i = 0; i < n; ++i) {
    for (int k = 0; k < BODIES; ++k) u[k] = 1e-3 * (double)(i % 7 + k);
    must(as_instance_set(s, u, &error), &error);
    must(as_instance_advance(s, 1e-3 * (double)(i + 1), &error), &error);
    must(as_instance_read(s, row, &error), &error);
  }
  const double each = (seconds() - begin) / (double)n;
  as_instance_destroy(s);
  return each;
}

typedef struct table {
  double *at;
  size_t n, room;
} table;

static as_status keep(double t, const double *row, int n, void *user, as_error *error) {
  table *k = user;
  (void)error;
  if (k->n + (size_t)n + 1 > k->room) {
    k->room = 2 * k->room + 1000;
    k->at = realloc(k->at, k->room * sizeof *k->at);
    if (k->at == NULL) return AS_ERR_MEMORY;
  }
  k->at[k->n++] = t;
  memcpy(k->at + k->n, row, (size_t)n * sizeof *row);
  k->n += (size_t)n;
  return AS_OK;
}

/// A run with all of its rows in memory; its seconds.
static double run(const as_machine *m, double t_end) {
  as_run_def def = as_default_run_def();
  as_run *r = NULL;
  as_error error;
  table rows = {NULL, 0, 0};
  def.integrator = m->simulation.integrator;
  def.t_end = t_end;
  def.poses = true;
  const double begin = seconds();
  must(as_run_create(m->model, &def, &r, &error), &error);
  must(as_run_go(r, keep, &rows, NULL, &error), &error);
  const double taken = seconds() - begin;
  as_run_destroy(r);
  free(rows.at);
  return taken;
}

int main(int argc, char **argv) {
  static as_messages messages;
  as_machine *m = NULL;
  if (argc < 4) return 2;
  if (as_machine_load(argv[1], NULL, 0, &m, &messages)) {
    fprintf(stderr, "%s\n", messages.message[0].text);
    return 1;
  }
  const double amount = atof(argv[3]);
  double least = (double)INFINITY;
  for (int i = 0; i < (argc > 4 ? 1 : REPEATS); ++i)
    least = fmin(least, strcmp(argv[2], "run") == 0 ? run(m, amount) : advance(m, (long)amount));
  printf("%.9g\n", least);
  as_machine_destroy(m);
  return 0;
}

/// Fuzzes as_integrator_load() and the steps that follow: no saved state, whatever is in it, may crash or hang
/// anything, and one that is refused leaves everything as it was.
///
/// The first byte of an input says which problem and method; the rest replaces the state in a file of theirs,
/// behind the head and the facts, with the right length and checksum; or, with the highest bit set, is the file.
/// `fuzz_state --seeds=FOLDER` writes the states to begin with.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/seeds.h"
#include "problems/loops.h"
#include "problems/mechatronic.h"
#include "problems/nonholonomic.h"
#include "rig.h"
#include "saved.h"

enum { HEAD = 40, FACTS = 8 * (21 + AS_BLOCK_COUNT), N_CASES = 16, MOST_STEPS = 40 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most); // libFuzzer's own

typedef struct fuzz_case {
  saved_subject subject;
  as_integrator *integrator;
  unsigned char *good; ///< the state that it comes back to
  size_t size;
} fuzz_case;

static fuzz_case cases[N_CASES];
static test_problem *loops[4]; // what they are made of
static int steps_left;

static bool enough(void *user) {
  (void)user;
  return --steps_left < 0;
}

/// Calls of every kind; what they return does not matter.
static void travel(fuzz_case *c, int calls) {
  as_statistics statistics;
  double v[256];
  for (int i = 0; i < calls; ++i) {
    const double t = as_integrator_state(c->integrator)->t, h = c->subject.h;
    static as_error error;
    steps_left = MOST_STEPS;
    switch (i % 4) {
    case 0: (void)as_integrator_advance(c->integrator, t + 1.7 * h, &error); break;
    case 1: (void)as_integrator_step(c->integrator, 0.8 * h, &error); break;
    case 2: (void)as_integrator_next(c->integrator, &error); break;
    default:
      (void)as_integrator_interpolate(c->integrator, t - 0.1 * h, &error);
      (void)as_integrator_velocity(c->integrator, v, &error);
    }
    (void)as_integrator_statistics(c->integrator, &statistics, &error);
  }
}

static void add_case(int index, saved_subject subject, as_method method, bool automatic,
                     int calls) {
  fuzz_case *c = &cases[index];
  as_problem *problem = NULL;
  as_integrator_def how = as_default_integrator_def();
  *c = (fuzz_case){.subject = subject};
  how.method = method;
  if (!automatic) how.step = subject.h;
  how.events = subject.events;
  how.n_events = subject.n_events;
  how.interrupt = enough;
  steps_left = MOST_STEPS;
  must(as_problem_create(&subject.def, &problem, NULL) == AS_OK &&
           as_integrator_create(problem, &how, &c->integrator, NULL) == AS_OK &&
           as_integrator_start(c->integrator, &subject.initial, NULL, NULL) == AS_OK,
       "a problem cannot be started");
  travel(c, calls);
  c->good = saved_bytes(c->integrator, &c->size);
}

static saved_subject of_loops(const test_problem *p) {
  return (saved_subject){.name = p->name,
                         .def = p->def,
                         .initial = {.t = p->t0, .q = p->q0, .v = p->v0},
                         .h = 0.01 * (p->t_end - p->t0)};
}

static void make_cases(void) {
  const nonholonomic_problem *fin = nonholonomic_fin(), *jn8 = nonholonomic_jn8();
  const mechatronic_problem *motor = mechatronic_fourbar();
  const saved_subject rolling = {.def = fin->def,
                                 .initial = {.q = fin->q0, .v = fin->v0},
                                 .h = 0.01},
                      general = {.def = jn8->def,
                                 .initial = {.q = jn8->q0, .v = jn8->v0},
                                 .h = 0.01},
                      driven = {.def = motor->def,
                                .initial = {.q = motor->q0, .v = motor->v0, .x = motor->x0},
                                .h = 0.01};
  int i = 0;
  for (int k = 0; k < 3; ++k) loops[k] = loops_nfourbar(4);
  loops[3] = loops_fourbar();
  for (int m = 0; m < 3; ++m) {
    add_case(i++, saved_stops(), rig_methods[m], true, 7);
    add_case(i++, saved_samplers(), rig_methods[m], m == 1, 5);
    add_case(i++, saved_ball(), rig_methods[m], m != 1, 12);
    add_case(i++, of_loops(loops[m]), rig_methods[m], true, 30);
  }
  add_case(i++, rolling, AS_METHOD_INDEX2, true, 6);
  add_case(i++, general, AS_METHOD_SOI2, true, 6);
  add_case(i++, driven, AS_METHOD_INDEX2, true, 6);
  add_case(i++, of_loops(loops[3]), AS_METHOD_INDEX3, true, 6);
  must(i == N_CASES, "the number of cases is wrong");
}

static void write_seeds(const char *folder) {
  for (int i = 0; i < N_CASES; ++i) {
    char path[512];
    snprintf(path, sizeof path, "%s/%02d", folder, i);
    FILE *file = fopen(path, "wb");
    must(file != NULL, "a seed cannot be written");
    fputc(i, file);
    fwrite(cases[i].good + HEAD + FACTS, 1, cases[i].size - HEAD - FACTS, file);
    must(fclose(file) == 0, "a seed cannot be written");
  }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  make_cases();
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  write_seeds(folder);
  exit(0);
}

/// A file with the facts of the case and a state that is given.
static unsigned char *wrap(const fuzz_case *c, const uint8_t *state, size_t size, size_t *whole) {
  *whole = HEAD + FACTS + size;
  unsigned char *bytes = saved_room(*whole);
  memcpy(bytes, c->good, HEAD + FACTS);
  if (size > 0) memcpy(bytes + HEAD + FACTS, state, size);
  for (int i = 0; i < 8; ++i) bytes[24 + i] = (unsigned char)((uint64_t)(FACTS + size) >> (8 * i));
  saved_seal(bytes, *whole);
  return bytes;
}

/// Most often another number in the place of one: all numbers are eight bytes, and what is shifted is refused.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  static const double numbers[] = {0.0,    1.0,    2.0,  -1.0,   1e300,
                                   -1e300, 1e-300, 1e-9, 0x1p53, 0x1p63};
  static const uint64_t words[] = {0,
                                   1,
                                   2,
                                   4,
                                   UINT64_C(0x7fffffffffffffff),
                                   UINT64_C(0xffffffffffffffff),
                                   UINT64_C(0x7ff0000000000000),  // infinity
                                   UINT64_C(0xfff8000000000001)}; // not a number
  const size_t n_numbers = sizeof numbers / sizeof numbers[0],
               n_words = sizeof words / sizeof words[0];
  if (size < 9 || seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  const size_t count = (size - 1) / 8, choice = seed / 8 % 32;
  uint8_t *place = data + 1 + 8 * (seed / 256 % count);
  if (choice < n_numbers)
    memcpy(place, &numbers[choice], 8);
  else if (choice < n_numbers + n_words)
    memcpy(place, &words[choice - n_numbers], 8);
  else if (choice < 24)
    memmove(place, data + 1 + 8 * (seed / 8192 % count), 8);
  else
    place[seed / 65536 % 8] ^= (uint8_t)(1u << (choice - 24));
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  fuzz_case *c = &cases[data[0] % N_CASES];
  as_error error = {0};
  size_t whole = size - 1;
  unsigned char *bytes = NULL;
  if (data[0] < 128) bytes = wrap(c, data + 1, size - 1, &whole);
  const as_status status =
      as_integrator_load(c->integrator, bytes ? bytes : data + 1, whole, &error);
  free(bytes);
  if (status == AS_OK) {
    travel(c, 4);
    must(as_integrator_load(c->integrator, c->good, c->size, NULL) == AS_OK,
         "the good state is refused");
    return 0;
  }
  must(status == AS_ERR_FILE && error.message[0] != '\0', "it is refused without a sentence");
  size_t now = 0;
  unsigned char *left = saved_bytes(c->integrator, &now);
  must(now == c->size && memcmp(left, c->good, now) == 0,
       "a state that is refused has changed something");
  free(left);
  return 0;
}

/// alphastep beside other programs: the same problems, to the same errors, in one run. One row for each run, whoever made it.
///
/// peers.c        the command, verdicts, the page
/// peers_chain.c  the chain of links: IDA
/// peers_bar.c    linear elastodynamics of a bar: TSALPHA2 of PETSc
/// ida_chain.c, petsc_bar.c   the other programs
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdbool.h>

enum { PEERS_TEXT = 80 };

typedef struct peers_row {
  char problem[PEERS_TEXT], solver[PEERS_TEXT], setting[PEERS_TEXT];
  double error; ///< as the problem says; NAN: it failed
  double cpu;   ///< processor time [s], the least of some runs
  long steps;
  double per_step; ///< processor time per unknown and step [s]; NAN: nobody asks
} peers_row;

/// What is to be reached: our least time with an error of at most `error`, over that of a peer, is at most `ratio`.
typedef struct peers_goal {
  char problem[PEERS_TEXT], peer[PEERS_TEXT];
  double error, ratio;
} peers_goal;

typedef struct peers_table {
  bool quick;
  int n, n_goals;
  peers_row *row;
  peers_goal *goal;
} peers_table;

#define PEERS_OURS "alphastep"

void peers_add(peers_table *t, peers_row row);
void peers_expect(peers_table *t, const char *problem, const char *peer, double error,
                  double ratio);
double peers_cpu_seconds(void);

void peers_chain(peers_table *t);
void peers_bar(peers_table *t);

#endif

// Signals that end a command in good order, see signals.h.
#define _POSIX_C_SOURCE 200809L // sigaction

#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int caught; // number of the signal; 0: none
static atomic_int handed_on, direct;

/// The first signal ends the command; a second one of the same kind ends the process. One that a process sends to all
/// of a group comes twice, from there and handed on by the process that waits for this one (guard.c): that is one.
static void catch_signal(int number, siginfo_t *about, void *context) {
  (void)context;
  atomic_int *from = about->si_code <= 0 && about->si_pid == getppid() ? &handed_on : &direct;
  if (atomic_load(from) == number) {
    signal(number, SIG_DFL);
    (void)raise(number);
  }
  atomic_store(from, number);
  atomic_store(&caught, number);
}

void signals_listen(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_sigaction = catch_signal, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; i++) {
    struct sigaction old;
    // Who started us with `nohup` or in the background wants the signal ignored.
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(numbers[i], &action, NULL);
  }
  // A file that becomes too large is a failed write, not the end of the process.
  signal(SIGXFSZ, SIG_IGN);
}

int signals_caught(void) { return atomic_load(&caught); }

bool signals_interrupt(void *user) {
  (void)user;
  return signals_caught() != 0;
}

// A command in a process of its own, see guard.h. The process that was started waits, and keeps what it is seen by: Ctrl-C of a terminal reaches
// both, a signal sent by a process is handed on, which the second one may have got, too (run.c counts it once), and that does not outlive the first.
#define _GNU_SOURCE // prctl's headers, sigaction

#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "cli.h"
#include "report.h"

/// Whether an argument begins with some words, or, for NULL, is a folder.
static bool has_argument(int argc, char **argv, const char *words) {
  struct stat about;
  for (int i = 2; i < argc; i++)
    if (words ? strncmp(argv[i], words, strlen(words)) == 0
              : stat(argv[i], &about) == 0 && S_ISDIR(about.st_mode))
      return true;
  return false;
}

bool guard_is_needed(int argc, char **argv) {
  static const char *const looking[] = {"modes", "linearize", "response", "equilibrium", "inverse"};
  if (argc < 3) return false;
  if (strcmp(argv[1], "export") == 0 || strcmp(argv[1], "report") == 0) return true;
  if (strcmp(argv[1], "run") == 0) return has_argument(argc, argv, "--resume");
  for (size_t i = 0; i < sizeof looking / sizeof *looking; i++)
    if (strcmp(argv[1], looking[i]) == 0) return has_argument(argc, argv, NULL);
  return false;
}

static volatile pid_t worker;

static void hand_on(int number, siginfo_t *about, void *context) {
  (void)context;
  if (about->si_code <= 0) (void)kill(worker, number); // of a process; a terminal's reaches both
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

static void hold_signals(sigset_t *before) {
  sigset_t some;
  sigemptyset(&some);
  for (int i = 0; i < 3; i++) sigaddset(&some, numbers[i]);
  (void)sigprocmask(SIG_BLOCK, &some, before);
}

static void listen(void) {
  struct sigaction action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; i++) {
    struct sigaction old;
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(numbers[i], &action, NULL);
  }
}

/// A signal that a process raises by a fault, or that the system sends where memory has run out.
static bool is_fault(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGFPE ||
         number == SIGILL || number == SIGKILL;
}

int guard_run(int (*work)(int argc, char **argv), int argc, char **argv) {
  (void)fflush(NULL);
  const pid_t self = getpid();
  sigset_t before;
  hold_signals(&before); // until they can be handed on
  worker = fork();
  if (worker <= 0) (void)sigprocmask(SIG_SETMASK, &before, NULL);
  if (worker < 0) return work(argc, argv);
  if (worker == 0) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != self) _exit(1);
    exit(work(argc, argv));
  }
  listen();
  (void)sigprocmask(SIG_SETMASK, &before, NULL);
  int end = 0;
  pid_t ended;
  while ((ended = waitpid(worker, &end, 0)) < 0 && errno == EINTR) continue;
  if (ended == worker && WIFEXITED(end) && WEXITSTATUS(end) != 255) return WEXITSTATUS(end);
  if (strcmp(argv[1], "report") == 0) report_clean_arguments(argc - 2, argv + 2);
  if (ended == worker && WIFSIGNALED(end) && !is_fault(WTERMSIG(end))) {
    signal(WTERMSIG(end), SIG_DFL);
    raise(WTERMSIG(end));
    return (int)CLI_SIGNAL + WTERMSIG(end);
  }
  // HDF5 may also end a process by a status of its own.
  cli_complain("The results could not be read: the process that read them was ended by %s %d, for "
               "want of memory or by a fault of the HDF5 library or its own.",
               WIFSIGNALED(end) ? "signal" : "the exit status",
               WIFSIGNALED(end) ? WTERMSIG(end) : WEXITSTATUS(end));
  return (int)cli_judge(AS_ERR_MEMORY);
}

// `alphastep study`: runs a machine many times, with other values, and makes a table of results.
//
// The library makes the runs and keeps each that is over in state.bin; here are the folder, signals, and what is written at the end. The
// folder has the study itself in study.json, so it goes on from there. Where mpirun has started it, the first process does all this, and the
// others make runs for it.
#define _GNU_SOURCE // prctl's headers, sigaction

#include "study.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "folder.h"
#include "processes.h"
#include "signals.h"

enum {
  MOST_THREADS = 1000,
  ADDRESS = 4096,
  PATIENCE = 5, // with processes that may be on their way [s]
};

// ---- the folder

static cli_exit prepare_paths(study_job *j) {
  j->table = folder_path(j->folder, "table.csv");
  j->definition = folder_path(j->folder, "study.json");
  j->summary = folder_path(j->folder, "summary.json");
  j->state = folder_path(j->folder, "state.bin");
  j->page = folder_path(j->folder, "report.html");
  j->results = folder_path(j->folder, "study.h5");
  const bool all = j->table && j->definition && j->summary && j->state && j->page && j->results;
  return all ? CLI_DONE : cli_complain_memory();
}

/// Refuses a folder in which a file of the study would take the place of one that it is read from.
static cli_exit spare_inputs(const study_job *j) {
  const char *own[] = {j->table, j->definition, j->summary, j->state, j->page, j->results};
  int n;
  const as_file_digest *files = as_study_files(j->study, &n);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    bool same = folder_same_file(j->file, own[i]);
    for (int k = 0; k < n; k++) same = same || folder_same_file(files[k].path, own[i]);
    if (!same) continue;
    cli_complain("`%s` is a file that the study is read from: choose another place with `-o`.",
                 own[i]);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

static cli_exit refuse_used(const study_job *j) {
  cli_complain("`%s` is not empty: choose another folder with `-o DIR`, go on with the study there "
               "by `--resume`, or let it be replaced with `--force`.",
               j->folder);
  return CLI_USAGE;
}

static cli_exit keep(study_job *j, bool resume) {
  as_error error;
  const as_status status =
      as_study_keep(j->study, j->state, resume, j->request->machine.no_sync, &error);
  if (status != AS_OK) cli_complain("%s", error.message);
  return cli_judge(status);
}

static void write_table(FILE *out, const void *user) {
  as_study_write_table(out, ((const study_job *)user)->study);
}

static void write_results(FILE *out, const void *user) {
  as_error error;
  if (as_study_write_hdf5(out, ((const study_job *)user)->study, &error) != AS_OK)
    cli_note_incomplete();
}

static void write_definition(FILE *out, const void *user) {
  as_study_write_definition(out, ((const study_job *)user)->study);
}

static cli_exit begin(study_job *j) {
  const machine_request *m = &j->request->machine;
  cli_exit status = spare_inputs(j);
  if (status == CLI_DONE && !m->force && folder_is_used(j->folder)) status = refuse_used(j);
  if (status == CLI_DONE) status = folder_make(j->folder, &j->made);
  if (status == CLI_DONE) status = folder_lock(j->folder, &j->lock);
  if (status == CLI_DONE && !m->force && folder_is_used(j->folder)) status = refuse_used(j);
  if (status != CLI_DONE) return status;
  const char *own[] = {j->table, j->definition, j->summary, j->page, j->results};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) folder_clear(own[i]);
  (void)unlink(j->table); // of an earlier study
  (void)unlink(j->page);
  (void)unlink(j->results);
  j->begun = true;
  status = folder_replace(j->definition, !m->no_sync, write_definition, j);
  if (status == CLI_DONE) status = keep(j, false);
  return status == CLI_DONE ? folder_replace(j->summary, !m->no_sync, study_write_summary, j)
                            : status;
}

static cli_exit go_on(study_job *j) {
  cli_exit status = keep(j, true);
  if (status != CLI_DONE) return status;
  j->begun = true;
  j->before = as_study_runs(j->study) - as_study_count(j->study, AS_STUDY_WAITING);
  return folder_replace(j->summary, !j->request->machine.no_sync, study_write_summary, j);
}

// ---- the runs

static void show_progress(long over, long runs, void *user) {
  study_job *j = user;
  (void)runs;
  progress_show_runs(&j->progress, over, as_study_count(j->study, AS_STUDY_FAILED), j->before);
}

static cli_exit judge(const study_job *j, as_status status) {
  if (status == AS_INTERRUPTED) return (cli_exit)(CLI_SIGNAL + signals_caught());
  if (status != AS_OK) return cli_judge(status);
  return as_study_count(j->study, AS_STUDY_FAILED) > 0 ? CLI_SIMULATION : CLI_DONE;
}

/// Complains about what is not as it should be.
static void tell_end(study_job *j, as_status status, const as_error *error) {
  const long failed = as_study_count(j->study, AS_STUDY_FAILED), runs = as_study_runs(j->study);
  const long over = runs - as_study_count(j->study, AS_STUDY_WAITING);
  if (as_status_is_failure(status)) {
    cli_complain("%s: %s", j->file, error->message);
  } else if (status == AS_INTERRUPTED) {
    cli_complain("%s: interrupted; %ld of %ld runs are in `%s`: `alphastep study --resume %s` "
                 "makes the others.",
                 j->file, over, runs, j->folder, j->folder);
  }
  if (failed == 0) return;
  long first = 0;
  while (as_study_run_get(j->study, first).outcome != AS_STUDY_FAILED) first++;
  cli_complain("%s: %ld of %ld runs failed; the first of them, run %ld: %s", j->file, failed, runs,
               first + 1, as_study_run_get(j->study, first).message);
}

/// The table, study.h5, the page and the summary, whatever came of it.
static cli_exit write_files(study_job *j, cli_exit status) {
  const bool sync = !j->request->machine.no_sync;
  cli_exit written = folder_replace(j->table, sync, write_table, j);
  if (written == CLI_DONE) written = folder_replace(j->results, sync, write_results, j);
  if (written == CLI_DONE && !j->request->machine.no_report)
    written = folder_replace(j->page, sync, study_write_page, j);
  if (written != CLI_DONE) {
    j->status = "failed";
    j->message = cli_last_complaint();
    status = written;
  }
  written = folder_replace(j->summary, sync, study_write_summary, j);
  return written != CLI_DONE ? written : status;
}

/// What was passed over in files.
static void tell_warnings(const study_job *j) {
  int n;
  const char *const *warning = as_study_warnings(j->study, &n);
  for (int i = 0; i < n && !j->request->machine.quiet; i++)
    cli_complain("%s: warning: %s", j->file, warning[i]);
}

static cli_exit run_job(study_job *j) {
  const machine_request *m = &j->request->machine;
  as_error error = {.message = ""};
  tell_warnings(j);
  j->progress = progress_begin((double)as_study_runs(j->study), !m->quiet);
  const as_status status = as_study_go_with(j->study, j->threads, j->host, &error);
  if (j->host != NULL) {
    j->processes = 1 + as_study_host_joined(j->host);
    j->lost = as_study_host_lost(j->host);
  }
  j->seconds = progress_clock() - j->progress.began;
  progress_end(&j->progress);
  cli_exit result = judge(j, status);
  j->status = status == AS_OK ? "done" : status == AS_INTERRUPTED ? "interrupted" : "failed";
  j->message = as_status_is_failure(status) ? error.message : "";
  tell_end(j, status, &error);
  if (j->lost > 0)
    cli_complain("%s: %d of %d processes were lost; their runs were made again.", j->file, j->lost,
                 j->processes);
  result = write_files(j, result);
  if (m->json) {
    study_write_summary(stdout, j);
  } else if (!m->quiet && (result == CLI_DONE || result == CLI_SIMULATION)) {
    study_print(j);
  }
  return result;
}

/// With --json: says why there is no study. A summary that says `running` is mended, if that can be.
static void tell_refusal(study_job *j) {
  machine_request m = j->request->machine;
  m.model = j->file;
  machine_refuse(&m);
  if (!j->begun) return;
  j->status = "failed";
  j->message = cli_last_complaint();
  (void)folder_replace(j->summary, !m.no_sync, study_write_summary, j);
}

static void free_job(study_job *j) {
  as_folder_lock_give(j->lock);
  as_study_destroy(j->study);
  free(j->table);
  free(j->definition);
  free(j->summary);
  free(j->state);
  free(j->page);
  free(j->results);
}

static bool take_threads(study_job *j) {
  const char *text = j->request->threads;
  char *end;
  // Of processes as many are started as there are to be.
  const bool alone = j->request->no_mpi || processes_started() == 1;
  j->threads = alone ? as_study_processors() : 1;
  if (text == NULL) return true;
  const long n = strtol(text, &end, 10);
  if (end == text || *end != '\0' || n < 1 || n > MOST_THREADS) {
    cli_complain("`--threads %s` is not like `--threads 4`, and at most %d.", text, MOST_THREADS);
    return false;
  }
  j->threads = (int)n;
  return true;
}

static cli_exit run_study(const study_request *r, as_study_host *host) {
  const machine_request *m = &r->machine;
  const bool resumes = m->resume != NULL;
  study_job j = {.request = r, .status = "running", .message = "", .host = host, .processes = 1};
  char *made = NULL;
  if (!take_threads(&j)) return CLI_USAGE;
  j.folder = resumes ? m->resume : m->folder;
  if (j.folder == NULL) j.folder = made = folder_default(m->model, "-study");
  cli_exit status = j.folder == NULL ? cli_complain_memory() : prepare_paths(&j);
  j.file = resumes ? j.definition : m->model;
  // Nobody else may be writing what is read.
  if (status == CLI_DONE && resumes) status = folder_lock(j.folder, &j.lock);
  const as_study_def base = {
      .progress = show_progress, .progress_user = &j, .interrupt = signals_interrupt};
  bool told = false;
  if (status == CLI_DONE) {
    status = study_open(r, j.file, resumes ? m->model : NULL, &base, &j.study);
    told = status != CLI_DONE;
  }
  signals_listen(); // before there is a summary that says `running`
  if (status == CLI_DONE) status = resumes ? go_on(&j) : begin(&j);
  if (status == CLI_DONE)
    status = run_job(&j);
  else if (!told)
    tell_refusal(&j);
  free_job(&j);
  free(made);
  return status;
}

// ---- processes that mpirun has started

/// Makes runs for the first process until there are no more. What this one cannot is told, and the study goes on without it: mpirun ends all
/// where a process says that it has failed. That the first one is gone is a failure.
static cli_exit work(const study_request *r, const char *address) {
  const machine_request *m = &r->machine;
  study_job j = {.request = r};
  as_study_guest *guest = NULL;
  as_error error;
  if (!take_threads(&j)) return CLI_DONE;
  signals_listen();
  as_status status = as_study_guest_create(address, &guest, &error);
  if (status == AS_STOPPED) return CLI_DONE; // the first process has said why
  char *own = m->resume ? folder_path(m->resume, "study.json") : NULL;
  const as_study_def base = {.interrupt = signals_interrupt};
  study_request plain = *r;
  plain.machine.json = false;
  const char *file = own ? own : m->model, *model = own ? m->model : NULL;
  const bool ready = status == AS_OK && (own || !m->resume) &&
                     study_open(&plain, file, model, &base, &j.study) == CLI_DONE;
  if (ready) status = as_study_join(j.study, j.threads, guest, &error);
  if (as_status_is_failure(status)) cli_complain("%s", error.message);
  const bool lost = guest != NULL && as_study_guest_is_alone(guest);
  as_study_guest_destroy(guest);
  as_study_destroy(j.study);
  free(own);
  return lost ? CLI_OUTPUT : CLI_DONE;
}

static volatile pid_t maker;

static void hand_on(int number) { (void)kill(maker, number); }

/// The same in a process of its own. This one only waits: mpirun ends all where one that it has started is killed, as the system does where
/// memory runs out and a fault of a plugin may.
static cli_exit work_apart(const study_request *r, const char *address) {
  const pid_t self = getpid();
  (void)fflush(NULL);
  maker = fork();
  if (maker < 0) return work(r, address);
  if (maker == 0) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != self) _exit(1);
    exit((int)work(r, address));
  }
  const struct sigaction action = {.sa_handler = hand_on};
  (void)sigaction(SIGTERM, &action, NULL);
  (void)sigaction(SIGINT, &action, NULL);
  int end = 0;
  pid_t ended;
  while ((ended = waitpid(maker, &end, 0)) < 0 && errno == EINTR) continue;
  return ended == maker && WIFEXITED(end) ? (cli_exit)WEXITSTATUS(end) : CLI_DONE;
}

static void make_address(char *text, int size, void *user) {
  as_study_host **host = user;
  as_error error;
  if (as_study_host_create(host, &error) == AS_OK)
    snprintf(text, (size_t)size, "%s", as_study_host_address(*host));
  else
    cli_complain("%s", error.message);
}

/// The first process has the study, the others work for it.
static cli_exit share_study(const study_request *r) {
  as_study_host *host = NULL;
  char address[ADDRESS] = "";
  int rank = 0;
  cli_exit status = processes_share(make_address, &host, address, sizeof address, &rank);
  if (status == CLI_DONE && rank > 0) return address[0] ? work_apart(r, address) : CLI_DONE;
  if (status == CLI_DONE && host == NULL) status = CLI_OUTPUT;
  if (status == CLI_DONE && processes_end_together() && !r->machine.quiet)
    cli_complain("mpirun ends all processes when one is lost: with `mpirun --enable-recovery` the "
                 "others go on. What was made is kept, and `--resume` goes on from there.");
  if (status == CLI_DONE) status = run_study(r, host);
  // Who has not come yet is to hear that there is nothing to do.
  if (host != NULL) as_study_host_wait(host, processes_started() - 1, PATIENCE);
  as_study_host_destroy(host);
  return status;
}

// ---- one run again

/// The arguments of `alphastep run` for a run of the study; NULL: memory has run out.
static char **make_arguments(const study_request *r, const study_job *j, const as_study_def *file,
                             long run, int *n, char *folder) {
  const machine_request *m = &r->machine;
  const int parameters = as_study_parameters(j->study);
  const size_t most =
      2 * (size_t)(file->n_settings + parameters + m->n_folders + m->n_fmu_folders) + 16;
  char **list = calloc(most, sizeof *list);
  if (list == NULL) return NULL;
  int k = 0;
  for (int i = 0; i < file->n_settings + parameters; i++) {
    const bool fixed = i < file->n_settings;
    const int p = i - file->n_settings;
    const char *path = fixed ? "" : as_study_parameter_get(j->study, p).path;
    const int value =
        fixed ? (int)strlen(file->settings[i]) : as_study_setting(j->study, run, p, NULL, 0);
    const size_t size = strlen("--set=") + strlen(path) + (size_t)value + 2;
    char *text = list[k++] = malloc(size);
    if (text == NULL) continue;
    if (fixed) {
      snprintf(text, size, "--set=%s", file->settings[i]);
    } else {
      const int used = snprintf(text, size, "--set=%s=", path);
      (void)as_study_setting(j->study, run, p, text + used, size - (size_t)used);
    }
  }
  for (int i = 0; i < m->n_folders + m->n_fmu_folders; i++) {
    const bool fmu = i >= m->n_folders;
    const char *option = fmu ? "--fmus-from" : "--plugins-from",
               *from = fmu ? m->fmu_folders[i - m->n_folders] : m->folders[i];
    const size_t size = strlen(option) + strlen(from) + 2;
    list[k] = malloc(size);
    if (list[k] != NULL) snprintf(list[k], size, "%s=%s", option, from);
    k++;
  }
  const char *const plain[] = {m->plugins ? "--allow-plugins" : NULL,
                               m->fmus ? "--allow-fmus" : NULL,
                               m->force ? "--force" : NULL,
                               m->quiet ? "--quiet" : NULL,
                               m->json ? "--json" : NULL,
                               m->no_report ? "--no-report" : NULL,
                               m->no_sync ? "--no-sync" : NULL,
                               "-o",
                               folder,
                               "--",
                               as_study_model(j->study)};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (plain[i] != NULL) list[k++] = strdup(plain[i]);
  *n = k;
  for (int i = 0; i < k; i++)
    if (list[i] == NULL) *n = -1;
  return list;
}

static cli_exit run_again(const study_request *r, study_job *j, long run) {
  as_messages *messages = calloc(1, sizeof *messages);
  as_study_file *file = NULL;
  char name[40], **list = NULL;
  int n = -1;
  snprintf(name, sizeof name, "run-%ld", run + 1);
  char *folder = r->machine.folder ? strdup(r->machine.folder) : folder_path(j->folder, name);
  if (messages && folder && as_study_file_load(j->definition, &file, messages) == AS_OK) {
    const as_study_def def = as_study_file_def(file);
    list = make_arguments(r, j, &def, run, &n, folder);
  }
  free_job(j); // the folder may be used by others meanwhile
  *j = (study_job){.request = r};
  const cli_exit status = n > 0 ? run_command(n, list) : cli_complain_memory();
  for (char **text = list; text != NULL && *text != NULL; text++) free(*text);
  free(list);
  free(folder);
  as_study_file_destroy(file);
  free(messages);
  return status;
}

/// `--run N DIR`: makes the folder of a run, with the files and values of the study.
static cli_exit make_run(const study_request *r) {
  study_job j = {.request = r, .folder = r->machine.model};
  cli_exit status = prepare_paths(&j);
  if (status == CLI_DONE) status = folder_lock(j.folder, &j.lock);
  const as_study_def base = {.cookie = 0};
  study_request plain = *r;
  plain.machine.json = false;
  if (status == CLI_DONE) status = study_open(&plain, j.definition, NULL, &base, &j.study);
  if (status == CLI_DONE) status = keep(&j, true);
  char *end;
  const long run = strtol(r->run, &end, 10);
  if (status == CLI_DONE &&
      (end == r->run || *end != '\0' || run < 1 || run > as_study_runs(j.study))) {
    cli_complain("`--run %s`: the study has runs 1 to %ld.", r->run, as_study_runs(j.study));
    status = CLI_USAGE;
  }
  if (status == CLI_DONE) return run_again(r, &j, run - 1);
  free_job(&j);
  return status;
}

static void print_help(void) {
  fputs(
      "Usage: alphastep study FILE [--sweep PATH=FROM:TO:STEP | --sweep PATH=A,B,...]...\n"
      "                       [--draw PATH=uniform:LOW:HIGH | --draw "
      "PATH=normal:MEAN:DEVIATION]...\n"
      "                       [--runs N] [--seed N] [--result "
      "[NAME=]MEASURE:CHANNEL[@FROM:TO]]...\n"
      "                       [--set PATH=VALUE]... [--interval SECONDS] [-o DIR] [--threads N]\n"
      "                       [--no-mpi] [--force] [--no-report] [--no-sync] [--quiet] [--json]\n"
      "       alphastep study --resume DIR [MODEL] [--threads N] [--no-sync] [--quiet] [--json]\n"
      "       alphastep study --run N DIR [-o FOLDER] [--force]\n"
      "\n"
      "Runs a machine with all combinations of values of some parameters, on all processors, and\n"
      "keeps a few numbers of each run. FILE is a study file (see docs/studies.md), or a model\n"
      "file. Options are added to what a study file says. The folder DIR then holds\n"
      "\n"
      "  table.csv     a line per run: values of the parameters, results, status, message\n"
      "  study.h5      the same for programs\n"
      "  report.html   a page with plots and the table\n"
      "  summary.json  how it stands; of each result the least, the largest, mean and deviation\n"
      "  study.json    the study itself, as a study file\n"
      "  state.bin     runs that are over, to go on from\n"
      "\n"
      "--sweep PATH=...  the values of a parameter: `parameters.k=1:5:0.5` or "
      "`parameters.k=1,2,5`\n"
      "--draw PATH=...   random values: `parameters.m=normal:300:10` or "
      "`parameters.m=uniform:1:2`\n"
      "--runs N          how often random values are drawn, at each point of the grid of the "
      "others\n"
      "--seed N          other seeds give other draws; default: 1\n"
      "--result ...      what is kept: MEASURE is max, min, max_abs, rms, mean or last, of a "
      "channel\n"
      "                  of results, from and to a time [s]: "
      "`comfort=rms:bodies.car.acceleration.z@1:10`\n"
      "--set PATH=VALUE  a value of all runs, as in `alphastep run`\n"
      "--interval S      time between the rows that results are made of; default: output.interval "
      "of\n"
      "                  the model file, or a 500th of its t_end\n"
      "-o DIR            where to; default: the file's name (of NAME/study.yaml: NAME) and "
      "`-study`\n"
      "--threads N       how many runs at a time; default: as many as there are processors, or "
      "one\n"
      "                  in each process where mpirun has started more than one\n"
      "--no-mpi          this process is by itself, although mpirun has started it\n"
      "--resume DIR      makes the runs that are missing; MODEL: where the model file is now\n"
      "--run N DIR       makes run N once more, as `alphastep run` does, in "
      "DIR/run-N\n" MACHINE_PLUGIN_HELP "--force           replaces what is there already\n"
      "--no-report       no report.html\n"
      "--no-sync         do not force files to the disk\n"
      "--quiet           no progress, no table; errors only\n"
      "--json            the summary as JSON on stdout\n"
      "--help            this text\n"
      "\n"
      "A run that fails is told in its line and takes no other with it. The table is the same, "
      "byte\n"
      "for byte, however many threads there are, and whether the study was interrupted or not.\n"
      "`mpirun --enable-recovery -n 4 alphastep study ...` makes the runs by four processes, also "
      "on\n"
      "other machines: the first deals them out, and those of a process that is lost are made "
      "again.\n"
      "\n"
      "Exit status: 0 done; 2 bad usage or input; 3 runs have failed, or there is no memory; 4 a\n"
      "file could not be read or written; 130 interrupted by Ctrl-C.\n",
      stdout);
}

cli_exit study_command(int argc, char **argv) {
  study_request r;
  cli_exit status = study_arguments(argc, argv, &r);
  if (status == CLI_DONE && r.machine.help) {
    print_help();
  } else if (status == CLI_DONE) {
    const bool alone = r.no_mpi || processes_started() == 1;
    status = r.run != NULL ? make_run(&r) : alone ? run_study(&r, NULL) : share_study(&r);
  }
  study_arguments_free(&r);
  return status;
}

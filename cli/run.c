// `alphastep run`: simulates a machine and writes its results.
//
// Everything that can be refused is refused before the folder is touched. From then on there is a summary.json that
// says how it stands, and results.csv grows row by row; whatever happens, both stay readable.
#define _POSIX_C_SOURCE 200809L // sigaction, strdup

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error_table.h"
#include "folder.h"
#include "job.h"
#include "recorder.h"
#include "report.h"
#include "resume.h"
#include "signals.h"

static const double FLUSH_PAUSE = 1.0;  // between two flushes [s], at least
static const double FLUSH_SHARE = 0.05; // of the time that flushes may take

// ---- what the library calls

static void complain_log(as_log_level level, const char *message, void *user) {
  job *j = user;
  if (level != AS_LOG_WARNING) return;
  if (!j->request->quiet) cli_complain("%s: warning: %s", j->request->model, message);
  if (j->n_warnings == MOST_WARNINGS) return;
  j->warning[j->n_warnings] = strdup(message);
  if (j->warning[j->n_warnings] != NULL) j->n_warnings++;
}

/// What was passed over in files, and what was assumed of joints.
static void tell_remarks(job *j, const as_machine *machine) {
  const as_model *model = machine->model;
  char text[400];
  for (int i = 0; i < machine->n_warnings; i++)
    complain_log(AS_LOG_WARNING, machine->warnings[i], j);
  for (int i = 0; i < as_model_joints(model); i++)
    if (as_model_joint_remark(model, (as_joint_id){i}, text, sizeof text))
      complain_log(AS_LOG_WARNING, text, j);
}

static void tell_event(const as_event_record *event, void *user) {
  const job *j = user;
  if (event->message == NULL || j->request->quiet) return;
  cli_complain("%s: t = %.6g s: %s", j->request->model, event->t, event->message);
}

// What is saved at a flush point, each forced to the disk before the next: results.csv, results.h5, state.bin. So there are never
// fewer rows than the state has given, also after the power was lost.

static as_status flush_rows(job *j, as_error *error) {
  return j->request->no_sync ? as_csv_flush(j->csv, error) : as_csv_sync(j->csv, error);
}

static as_status save_state(job *j, as_error *error) {
  as_run_set_mark(j->run, as_csv_marked(j->csv));
  return as_run_save_file(j->run, j->state, error);
}

static void show_progress(double t, void *user) {
  job *j = user;
  progress_show(&j->progress, t);
  double now = progress_clock();
  if (now - j->flushed < j->flush_pause) return;
  // A failure is seen with the next row.
  if (flush_rows(j, NULL) == AS_OK && recorder_flush(j->results, NULL) == AS_OK) {
    (void)save_state(j, NULL);
  }
  j->flushed = progress_clock();
  j->flush_pause = fmax(FLUSH_PAUSE, (j->flushed - now) / FLUSH_SHARE);
}

static as_status write_row(double t, const double *row, int n, void *user, as_error *error) {
  job *j = user;
  as_status status = as_csv_row(t, row, n, j->csv, error);
  if (status == AS_OK) {
    status = recorder_row(j->results, t, row, as_run_poses(j->run), as_run_errors(j->run),
                          as_run_pose_errors(j->run), error);
  }
  j->broken = status != AS_OK;
  if (j->broken) return status;
  j->started = true;
  j->last_row = t;
  for (int i = 0; i < WATCHED; i++) {
    if (j->column[i] >= 0) job_watch(j, i, row[j->column[i]]);
  }
  return AS_OK;
}

void job_watch(job *j, int channel, double value) {
  double *worst = &j->worst[channel];
  if (!(fabs(value) <= *worst) && !isnan(*worst)) *worst = fabs(value);
}

// ---- setting up

static void find_watched(job *j) {
  static const char *const name[WATCHED] = {"energy.balance", "drift.position", "drift.velocity"};
  const as_channels *channels = as_run_channels(j->run);
  for (int i = 0; i < WATCHED; i++) j->column[i] = -1;
  for (int c = 0; c < as_channels_count(channels); c++) {
    for (int i = 0; i < WATCHED; i++) {
      if (strcmp(as_channels_get(channels, c).name, name[i]) == 0) j->column[i] = c;
    }
  }
}

static cli_exit prepare_run(job *j) {
  const as_machine *machine = j->machine;
  if (isnan(machine->simulation.t_end)) {
    cli_complain("%s: there is no `simulate:` with a `t_end`, so there is nothing to run.",
                 j->request->model);
    return CLI_USAGE;
  }
  as_run_def def = as_default_run_def();
  def.integrator = machine->simulation.integrator;
  def.integrator.interrupt = signals_interrupt;
  def.integrator.log = complain_log;
  def.integrator.log_user = j;
  def.integrator.threads = j->request->threads;
  def.t_end = machine->simulation.t_end;
  def.max_steps = machine->simulation.max_steps;
  def.channels = machine->output.channels;
  def.n_channels = machine->output.n_channels;
  def.interval = machine->output.interval;
  def.times = machine->output.times;
  def.n_times = machine->output.n_times;
  def.accuracy = machine->simulation.accuracy;
  def.poses = true;
  def.tag = resume_tag(j);
  def.no_sync = j->request->no_sync;
  def.progress = show_progress;
  def.progress_user = j;
  def.rules = machine->rules;
  def.happened = tell_event;
  def.happened_user = j;
  as_error error;
  as_status status = as_run_create(machine->model, &def, &j->run, &error);
  if (status != AS_OK) {
    cli_complain("%s: %s", j->request->model, error.message);
    return status == AS_ERR_MEMORY ? CLI_SIMULATION : CLI_USAGE;
  }
  find_watched(j);
  tell_remarks(j, machine);
  return CLI_DONE;
}

static cli_exit prepare_paths(job *j) {
  j->table = folder_path(j->folder, "results.csv");
  j->results_file = folder_path(j->folder, "results.h5");
  j->summary = folder_path(j->folder, "summary.json");
  j->state = folder_path(j->folder, "state.bin");
  if (j->table == NULL || j->results_file == NULL || j->summary == NULL || j->state == NULL) {
    return cli_complain_memory();
  }
  return CLI_DONE;
}

static cli_exit refuse_used(const job *j) {
  cli_complain(
      "`%s` is not empty: choose another folder with `-o DIR`, or let the results there be "
      "replaced with `--force`.",
      j->folder);
  return CLI_USAGE;
}

/// Refuses a folder in which a file of the run would take the place of one that the machine is read from.
static cli_exit spare_inputs(const job *j) {
  const char *own[] = {j->table, j->results_file, j->summary, j->state};
  cli_exit status = CLI_DONE;
  for (size_t i = 0; i < sizeof own / sizeof *own && status == CLI_DONE; i++)
    status = machine_spare(j->machine, own[i]);
  char *page = status == CLI_DONE ? folder_path(j->folder, "report.html") : NULL;
  if (status != CLI_DONE) return status;
  status = page ? machine_spare(j->machine, page) : cli_complain_memory();
  free(page);
  return status;
}

static cli_exit prepare_folder(job *j) {
  bool may = j->request->force;
  cli_exit spared = spare_inputs(j);
  if (spared != CLI_DONE) return spared;
  if (!may && folder_is_used(j->folder)) return refuse_used(j);
  cli_exit status = folder_make(j->folder, &j->made);
  if (status == CLI_DONE) status = folder_lock(j->folder, &j->lock);
  if (status != CLI_DONE) return status;
  if (!may && folder_is_used(j->folder)) return refuse_used(j); // someone has been faster
  const char *own[] = {j->table, j->results_file, j->summary};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) folder_clear(own[i]);
  (void)remove(j->state); // of an earlier run
  report_forget(j->folder);
  status = folder_replace(j->summary, !j->request->no_sync, summary_write, j);
  if (status != CLI_DONE) return status;
  j->begun = true;
  as_error error;
  as_status made = as_csv_create(j->table, as_run_channels(j->run), &j->csv, &error);
  if (made == AS_OK) return resume_create(j);
  cli_complain("%s", error.message);
  return cli_judge(made);
}

// ---- running

/// Brings what is waiting into the files and saves the state, in the order of a flush point; complains. `status` is how it stands
/// until now.
static cli_exit close_files(job *j, cli_exit status, as_error *error) {
  bool told =
      j->broken; // what is wrong; there are rows in no file, so the state of the last flush has to stay
  as_status written = told ? AS_OK : flush_rows(j, error);
  j->rows = as_csv_rows(j->csv);
  as_status closed = recorder_close(j->results, told || written != AS_OK ? NULL : error);
  j->results = NULL;
  if (written == AS_OK && !told) written = closed;
  as_run_keep_stop(j->run, true);
  if (written == AS_OK && j->started && !told) written = save_state(j, error);
  closed = as_csv_close(j->csv, told || written != AS_OK ? NULL : error);
  j->csv = NULL;
  if (written == AS_OK && !told) written = closed;
  if (written == AS_OK) return status;
  cli_complain("%s", error->message);
  return cli_judge(written);
}

/// The summary says that the run was stopped: who resumes it wants to go on. If this cannot be saved, it stops there once more.
static void leave_stop(job *j) {
  as_run_keep_stop(j->run, false);
  (void)as_run_save_file(j->run, j->state, NULL);
}

static cli_exit judge(as_status status) {
  if (status == AS_STOPPED) return CLI_DONE;
  if (status == AS_INTERRUPTED) return (cli_exit)(CLI_SIGNAL + signals_caught());
  return status == AS_ERR_ARGUMENT ? CLI_SIMULATION : cli_judge(status);
}

static const char *status_word(as_status status) {
  switch (status) {
  case AS_OK: return "done";
  case AS_STOPPED: return "stopped";
  case AS_INTERRUPTED: return "interrupted";
  default: return "failed";
  }
}

static void print_end(const job *j) {
  as_statistics s;
  if (as_integrator_statistics(as_run_integrator(j->run), &s, NULL) != AS_OK) return;
  printf("%s: %.6g s simulated in %.3g s, %ld steps, %ld Newton iterations", j->request->model,
         j->t, j->seconds, s.steps, s.newton_iterations);
  if (j->column[WATCH_BALANCE] >= 0) {
    printf(", energy off by at most %.2g J", j->worst[WATCH_BALANCE]);
  }
  if (j->column[WATCH_POSITION] >= 0) printf(", drift %.2g m", j->worst[WATCH_POSITION]);
  long events = as_run_events(j->run);
  if (as_rules_count(j->machine->rules) > 0) {
    printf(", %ld event%s", events, events == 1 ? "" : "s");
  }
  if (strcmp(j->status, "stopped") == 0) printf("\n%s", j->message);
  int channels = as_channels_count(as_run_channels(j->run));
  printf("\n%ld row%s of %d channel%s %s in %s.\n", j->rows, j->rows == 1 ? "" : "s", channels,
         channels == 1 ? "" : "s", j->rows == 1 ? "is" : "are", j->table);
}

/// That given positions are not kept, because assembly was asked for. Other changes are warnings.
static void print_assembled(const job *j) {
  int n, moved = 0;
  const as_start_change *change = as_run_start_changes(j->run, &n);
  for (int i = 0; i < n; i++) moved += change[i].assembled;
  if (moved == 0) return;
  printf(
      "To assemble the machine, %d given position%s moved or turned; `alphastep check` lists %s.\n",
      moved, moved == 1 ? " was" : "s were", moved == 1 ? "it" : "them");
}

/// Makes the report in a process of its own: it reads results.h5, and HDF5 may not survive that where memory is short. A signal ends it.
static cli_exit make_report(const job *j) {
  int end = 0, before = signals_caught();
  (void)fflush(NULL);
  pid_t self = getpid(), process = fork(), ended = -1;
  if (process == 0) {
    recorder_settle_down(self);
    _exit((int)report_make(j->folder, NULL, false, j->request->no_sync));
  }
  while (process > 0 && (ended = waitpid(process, &end, 0)) < 0 && errno == EINTR)
    if (signals_caught() != before) (void)kill(process, SIGKILL);
  if (process > 0 && ended == process && WIFEXITED(end) && WEXITSTATUS(end) <= (int)CLI_OUTPUT)
    return (cli_exit)WEXITSTATUS(end);
  report_clean(j->folder, NULL);
  if (signals_caught() == before)
    return cli_complain_memory(); // HDF5 may also end a process by a status of its own
  cli_complain("%s: interrupted while its report was made; `alphastep report %s` makes it.",
               j->request->model, j->folder);
  return (cli_exit)(CLI_SIGNAL + signals_caught());
}

static cli_exit run_job(job *j) {
  as_error error = {.message = ""};
  j->progress = progress_begin(j->machine->simulation.t_end, !j->request->quiet);
  j->flushed = j->progress.began;
  j->flush_pause = FLUSH_PAUSE;
  as_status status = as_run_go(j->run, write_row, j, &j->start, &error);
  j->seconds = progress_clock() - j->progress.began;
  j->t = as_integrator_state(as_run_integrator(j->run))->t;
  if (judge(status) == CLI_SIMULATION && j->started) j->t = j->last_row; // where it failed
  progress_end(&j->progress);
  cli_exit result = judge(status);
  if (status != AS_OK && status != AS_STOPPED && status != AS_INTERRUPTED) {
    cli_complain("%s: %s", j->request->model, error.message);
    if (j->started) cli_complain("What was computed up to there is in `%s`.", j->folder);
  } else if (status == AS_INTERRUPTED) {
    cli_complain("%s: interrupted; what was computed up to t = %.6g s is in `%s`.",
                 j->request->model, j->t, j->folder);
  }
  as_error trouble = error;
  cli_exit closed = close_files(j, result, &trouble);
  bool broken = j->broken || closed != result;
  result = closed;
  j->status = broken ? "failed" : status_word(status);
  j->message = broken ? trouble.message : error.message;
  cli_exit told = folder_replace(j->summary, !j->request->no_sync, summary_write, j);
  if (told != CLI_DONE) result = told;
  if (status == AS_STOPPED && !broken && told == CLI_DONE) leave_stop(j);
  bool reported = j->started && !broken && told == CLI_DONE && !j->request->no_report;
  if (reported) {
    closed = make_report(j);
    reported = closed == CLI_DONE;
    if (!reported) result = closed;
  }
  if (j->request->json) {
    summary_write(stdout, j);
  } else if (result == CLI_DONE && !j->request->quiet) {
    print_end(j);
    print_assembled(j);
    if (j->machine->simulation.accuracy) error_table_print(j);
    if (reported) printf("The report is %s/report.html.\n", j->folder);
  }
  return result;
}

/// Says with --json why there is no run. A summary that says `running` is mended, if that can be.
static void tell_refusal(job *j) {
  machine_refuse(j->request);
  if (!j->begun) return;
  j->status = "failed";
  j->message = cli_last_complaint();
  (void)folder_replace(j->summary, !j->request->no_sync, summary_write, j);
}

/// Removes what a run has made that could not even begin for want of memory.
static void forget(job *j) {
  const char *own[] = {j->table, j->results_file, j->summary};
  for (size_t i = 0; i < sizeof own / sizeof *own && j->begun; i++) (void)unlink(own[i]);
  if (j->made) (void)rmdir(j->folder);
}

static cli_exit run_machine(const machine_request *r) {
  job j = {.request = r, .message = "", .status = "running", .resumed_at = (double)NAN};
  char *made = NULL;
  cli_exit status = machine_open(r, &j.machine);
  if (status != CLI_DONE) return status;
  j.folder = r->resume != NULL ? r->resume : r->folder;
  if (j.folder == NULL) j.folder = made = folder_default(r->model, "-results");
  status = j.folder == NULL ? cli_complain_memory() : prepare_paths(&j);
  if (status == CLI_DONE) status = prepare_run(&j);
  signals_listen(); // before there is a summary that says `running`
  if (status == CLI_DONE) status = r->resume != NULL ? resume_run(&j) : prepare_folder(&j);
  if (status == CLI_DONE) {
    status = run_job(&j);
  } else {
    tell_refusal(&j);
  }
  as_csv_close(j.csv, NULL);
  recorder_close(j.results, NULL);
  if (cli_lacks_memory() && !j.started) forget(&j);
  as_folder_lock_give(j.lock);
  as_run_destroy(j.run);
  as_machine_destroy(j.machine);
  for (int i = 0; i < j.n_warnings; i++) free(j.warning[i]);
  free(j.table);
  free(j.results_file);
  free(j.summary);
  free(j.state);
  free(made);
  return status;
}

static void print_help(void) {
  fputs(
      "Usage: alphastep run MODEL [-o DIR] [--set PATH=VALUE]... [--accuracy] [--force]\n"
      "                     [--no-report] [--no-sync] [--threads N] [--quiet] [--json]\n"
      "       alphastep run --resume DIR [MODEL] [--set simulate.t_end=VALUE] [--no-sync]\n"
      "                     [--threads N] [--quiet] [--json]\n"
      "\n"
      "Simulates the machine that the file MODEL (YAML or JSON) describes and writes to the "
      "folder\n"
      "DIR, which is made if needed:\n"
      "\n"
      "  results.csv   the channels chosen in the file, or a default set, against time\n"
      "  results.h5    the same and the poses of all bodies, in HDF5; with the model file\n"
      "  summary.json  how it stands: status, message, options, statistics\n"
      "  report.html   a page that shows it: animation, plots, summary, model\n"
      "  state.bin     the state, to go on from; saved about once a second and at the end\n"
      "\n"
      "-o DIR            where to; default: the model's name (of NAME/model.yaml: NAME) and\n"
      "                  `-results`, here\n"
      "--set PATH=VALUE  replaces a value of the file: `--set "
      "simulate.t_end=2`\n" MACHINE_PLUGIN_HELP
      "--resume DIR      goes on where the run in DIR was interrupted, killed or ended, and "
      "appends\n"
      "                  to its results; MODEL: where the file is now, if it has been moved\n"
      "--accuracy        estimates the error of every channel, by a second, finer run alongside; "
      "the\n"
      "                  same as `--set simulate.accuracy=true`\n"
      "--force           replaces results that are there already\n"
      "--no-report       no report.html; `alphastep report DIR` can make it later\n"
      "--no-sync         do not force files to the disk: a little faster, not safe if the power "
      "fails\n"
      "--threads N       threads that work on each step of a large machine; default: 1. The "
      "results "
      "are\n"
      "                  the same\n"
      "--quiet           no progress, no summary, no warnings; errors only\n"
      "--json            the summary as JSON on stdout\n"
      "--help            this text\n"
      "\n"
      "On a terminal the progress is shown. Ctrl-C ends the run after the step it is in; what was\n"
      "computed is kept.\n"
      "\n"
      "Exit status: 0 done; 2 bad usage or input; 3 the simulation could not go on (what was\n"
      "computed is kept); 4 a file could not be read or written; 130 interrupted by Ctrl-C.\n",
      stdout);
}

cli_exit run_command(int argc, char **argv) {
  machine_request r;
  cli_exit status = machine_arguments(argc, argv, "run", true, &r);
  if (status == CLI_DONE && r.help) {
    print_help();
  } else if (status == CLI_DONE) {
    kept k = {.text = NULL};
    if (r.resume != NULL) status = resume_find(&r, &k);
    if (status != CLI_DONE) machine_refuse(&r);
    if (status == CLI_DONE) status = run_machine(&r);
    resume_free(&k);
  }
  machine_arguments_free(&r);
  return status;
}

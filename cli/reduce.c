// `alphastep reduce`: from the matrices and the mesh of a finite-element program to a flexible body in one file.
#define _POSIX_C_SOURCE 200809L // access, strdup

#include "alphastep/reduction.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/flexible_file.h"
#include "alphastep/mesh_file.h"
#include "cli.h"
#include "json.h"

enum { MOST_FILES = 16, MOST_INTERFACES = 200, SHOWN = 12 };

// An interface as it is given: NAME=NODES.
typedef struct place {
  char *name;        // with `nodes` behind its end
  const char *nodes; // a set, or numbers
  as_attachment attachment;
  double at[3];
  bool has_at;
  long *own; // numbers that were given one by one
  double *areas;
} place;

typedef struct request {
  const char *job, *stiffness, *mass, *dofs, *output, *stress, *stress_points, *points;
  const char *nodes[MOST_FILES];
  int n_nodes;
  const char *stiffness_name, *mass_name; // of matrices in a punch file
  place place[MOST_INTERFACES];
  int n_places;
  double ratios[100], rayleigh[2], frequency, length;
  int n_ratios, modes, draw;
  bool lower_order, force, json, help;
} request;

static cli_exit refuse_value(const char *option, const char *value, const char *like) {
  cli_complain("`%s %s` is not like %s.", option, value, like);
  return CLI_USAGE;
}

// ---- arguments

/// Numbers between commas, at most `most`; how many, 0: they are not like that.
static int take_numbers(const char *text, double *out, int most) {
  int n = 0;
  for (const char *rest = text;;) {
    char *end;
    if (n == most) return 0;
    out[n] = strtod(rest, &end);
    if (end == rest || !isfinite(out[n++])) return 0;
    if (*end == '\0') return n;
    if (*end != ',') return 0;
    rest = end + 1;
  }
}

static bool take_count(const char *text, int *out) {
  char *end;
  const long n = strtol(text, &end, 10);
  if (end == text || *end != '\0' || n < 0 || n > 100000000) return false;
  *out = (int)n;
  return true;
}

static cli_exit take_place(const char *option, const char *value, as_attachment attachment,
                           request *r) {
  const char *equals = strchr(value, '=');
  if (equals == NULL || equals == value || equals[1] == '\0')
    return refuse_value(option, value,
                        attachment == AS_ATTACH_NODE ? "`tip=17`" : "`pin=PIN_NODES`");
  if (r->n_places == MOST_INTERFACES) {
    cli_complain("More than %d interfaces.", (int)MOST_INTERFACES);
    return CLI_USAGE;
  }
  place *p = &r->place[r->n_places];
  p->name = strdup(value);
  if (p->name == NULL) return cli_complain_memory();
  p->name[equals - value] = '\0';
  p->nodes = p->name + (equals - value) + 1;
  p->attachment = attachment;
  r->n_places++;
  return CLI_DONE;
}

/// `--at NAME=X,Y,Z`, behind the interface of that name.
static cli_exit take_at(const char *value, request *r) {
  const char *equals = strchr(value, '=');
  const size_t n = equals ? (size_t)(equals - value) : 0;
  for (int i = 0; i < r->n_places && n > 0; i++) {
    place *p = &r->place[i];
    if (strlen(p->name) != n || strncmp(p->name, value, n) != 0) continue;
    if (p->attachment == AS_ATTACH_NODE) {
      cli_complain("`--at %s`: that interface is a node of the mesh; it is where that is.", value);
      return CLI_USAGE;
    }
    if (take_numbers(equals + 1, p->at, 3) != 3)
      return refuse_value("--at", value, "`pin=0.1,0,0`");
    p->has_at = true;
    return CLI_DONE;
  }
  cli_complain("`--at %s` names no interface that stands before it.", value);
  return CLI_USAGE;
}

/// Options that have to be like something; `known` says whether it is one of them.
static cli_exit take_shaped(int argc, char **argv, int *i, request *r, bool *known) {
  const char *value = NULL;
  *known = true;
  if (cli_option(argc, argv, i, "--interface", &value))
    return value ? take_place("--interface", value, AS_ATTACH_NODE, r) : CLI_USAGE;
  if (cli_option(argc, argv, i, "--rigid", &value))
    return value ? take_place("--rigid", value, AS_ATTACH_RIGID, r) : CLI_USAGE;
  if (cli_option(argc, argv, i, "--averaging", &value))
    return value ? take_place("--averaging", value, AS_ATTACH_AVERAGE, r) : CLI_USAGE;
  if (cli_option(argc, argv, i, "--at", &value)) return value ? take_at(value, r) : CLI_USAGE;
  if (cli_option(argc, argv, i, "--modes", &value)) {
    if (value == NULL) return CLI_USAGE;
    return take_count(value, &r->modes) ? CLI_DONE : refuse_value("--modes", value, "`10`");
  }
  if (cli_option(argc, argv, i, "--draw", &value)) {
    if (value == NULL) return CLI_USAGE;
    return take_count(value, &r->draw) ? CLI_DONE : refuse_value("--draw", value, "`5000`");
  }
  if (cli_option(argc, argv, i, "--frequency", &value)) {
    if (value == NULL) return CLI_USAGE;
    return take_numbers(value, &r->frequency, 1) == 1 && r->frequency > 0.0
               ? CLI_DONE
               : refuse_value("--frequency", value, "`2000`, in Hz");
  }
  if (cli_option(argc, argv, i, "--damping", &value)) {
    if (value == NULL) return CLI_USAGE;
    r->n_ratios = take_numbers(value, r->ratios, 100);
    return r->n_ratios > 0 ? CLI_DONE : refuse_value("--damping", value, "`0.01` or `0.02,0.01`");
  }
  if (cli_option(argc, argv, i, "--rayleigh", &value)) {
    if (value == NULL) return CLI_USAGE;
    return take_numbers(value, r->rayleigh, 2) == 2
               ? CLI_DONE
               : refuse_value("--rayleigh", value, "`1.5,1e-6`, factors of M [1/s] and K [s]");
  }
  if (cli_option(argc, argv, i, "--units", &value)) {
    if (value == NULL) return CLI_USAGE;
    r->length = strcmp(value, "mm") == 0 ? 1e-3 : strcmp(value, "m") == 0 ? 1.0 : (double)NAN;
    return isnan(r->length) ? refuse_value("--units", value, "`m` (m, N, kg) or `mm` (mm, N, t)")
                            : CLI_DONE;
  }
  *known = false;
  return CLI_DONE;
}

static cli_exit take_option(int argc, char **argv, int *i, request *r) {
  const char *word = argv[*i];
  const struct {
    const char *name, **value;
  } texts[] = {{"--stiffness", &r->stiffness},
               {"--mass", &r->mass},
               {"--dofs", &r->dofs},
               {"--stiffness-name", &r->stiffness_name},
               {"--mass-name", &r->mass_name},
               {"--stress", &r->stress},
               {"--stress-points", &r->stress_points},
               {"--points", &r->points},
               {"-o", &r->output},
               {"--output", &r->output}};
  bool known = false;
  const cli_exit status = take_shaped(argc, argv, i, r, &known);
  if (known || status != CLI_DONE) return status;
  for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
    if (cli_option(argc, argv, i, texts[k].name, texts[k].value))
      return *texts[k].value != NULL ? CLI_DONE : CLI_USAGE;
  const char *value = NULL;
  if (cli_option(argc, argv, i, "--nodes", &value)) {
    if (value == NULL) return CLI_USAGE;
    if (r->n_nodes == MOST_FILES) {
      cli_complain("More than %d files of nodes.", (int)MOST_FILES);
      return CLI_USAGE;
    }
    r->nodes[r->n_nodes++] = value;
    return CLI_DONE;
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
    r->help = true;
  else if (strcmp(word, "--lower-order") == 0)
    r->lower_order = true;
  else if (strcmp(word, "--force") == 0)
    r->force = true;
  else if (strcmp(word, "--json") == 0)
    r->json = true;
  else {
    cli_complain("Unknown option `%s`; see `alphastep help reduce`.", word);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

static cli_exit take_arguments(int argc, char **argv, request *r) {
  for (int i = 0; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] != '\0') {
      const cli_exit status = take_option(argc, argv, &i, r);
      if (status != CLI_DONE) return status;
    } else if (r->job != NULL) {
      cli_complain("One job at a time: `%s` follows `%s`.", argv[i], r->job);
      return CLI_USAGE;
    } else {
      r->job = argv[i];
    }
  }
  if (r->help) return CLI_DONE;
  if (r->job == NULL && (r->stiffness == NULL || r->mass == NULL)) {
    cli_complain(
        "Which matrices? A job of CalculiX, or `--stiffness FILE --mass FILE`; see `alphastep "
        "help reduce`.");
    return CLI_USAGE;
  }
  if (r->n_places == 0) {
    cli_complain(
        "A flexible body needs an interface: `--rigid NAME=SET`, `--averaging NAME=SET` or "
        "`--interface NAME=NODE`; the first one is its frame.");
    return CLI_USAGE;
  }
  if (r->job == NULL && r->output == NULL) {
    cli_complain("Where to? `-o FILE` is missing.");
    return CLI_USAGE;
  }
  if (r->modes >= 0 && isfinite(r->frequency)) {
    cli_complain("Modes are kept by `--modes` or by `--frequency`, not by both.");
    return CLI_USAGE;
  }
  if ((r->stress == NULL) != (r->stress_points == NULL)) {
    cli_complain("`--stress` and `--stress-points` belong together.");
    return CLI_USAGE;
  }
  if ((r->stiffness_name && !r->stiffness) || (r->mass_name && !r->mass)) {
    cli_complain("`--stiffness-name` and `--mass-name` choose from the files of `--stiffness` and "
                 "`--mass`.");
    return CLI_USAGE;
  }
  return CLI_DONE;
}

// ---- files

/// The job without `.inp`, and something behind it; to be freed.
static char *job_file(const char *job, const char *ending) {
  size_t n = strlen(job);
  if (n > 4 && strcmp(job + n - 4, ".inp") == 0) n -= 4;
  const size_t size = n + strlen(ending) + 1;
  char *path = malloc(size);
  if (path != NULL) snprintf(path, size, "%.*s%s", (int)n, job, ending);
  return path;
}

static cli_exit judge(as_status status, const as_error *error) {
  if (status != AS_OK) cli_complain("%s", error->message);
  return cli_judge(status);
}

typedef as_status read_fn(as_mesh_files *, const char *, as_error *);

static as_status read_stiffness(as_mesh_files *f, const char *path, as_error *error) {
  return as_mesh_files_matrix(f, AS_STIFFNESS, path, NULL, error);
}

static as_status read_mass(as_mesh_files *f, const char *path, as_error *error) {
  return as_mesh_files_matrix(f, AS_MASS, path, NULL, error);
}

/// A file of a job of CalculiX.
static cli_exit read_of_job(const request *r, const char *ending, as_mesh_files *f, read_fn *read) {
  as_error error = {0};
  char *path = job_file(r->job, ending);
  if (path == NULL) return cli_complain_memory();
  const cli_exit status = judge(read(f, path, &error), &error);
  free(path);
  return status;
}

static cli_exit read_files(const request *r, as_mesh_files *f) {
  as_error error = {0};
  cli_exit status = CLI_DONE;
  for (int i = 0; i < r->n_nodes && status == CLI_DONE; i++)
    status = judge(as_mesh_files_nodes(f, r->nodes[i], &error), &error);
  if (status == CLI_DONE && r->n_nodes == 0 && r->job)
    status = read_of_job(r, ".inp", f, as_mesh_files_nodes);
  if (status == CLI_DONE && r->dofs)
    status = judge(as_mesh_files_unknowns(f, r->dofs, &error), &error);
  else if (status == CLI_DONE && r->job && r->stiffness == NULL)
    status = read_of_job(r, ".dof", f, as_mesh_files_unknowns);
  if (status == CLI_DONE && r->stiffness)
    status = judge(as_mesh_files_matrix(f, AS_STIFFNESS, r->stiffness, r->stiffness_name, &error),
                   &error);
  else if (status == CLI_DONE)
    status = read_of_job(r, ".sti", f, read_stiffness);
  if (status == CLI_DONE && r->mass)
    status = judge(as_mesh_files_matrix(f, AS_MASS, r->mass, r->mass_name, &error), &error);
  else if (status == CLI_DONE)
    status = read_of_job(r, ".mas", f, read_mass);
  return status == CLI_DONE ? judge(as_mesh_files_finish(f, &error), &error) : status;
}

/// Whole numbers between commas, to be freed; NULL: it is something else.
static long *list_of(const char *text, int *count) {
  *count = 0;
  if (!isdigit((unsigned char)text[0])) return NULL;
  long *list = malloc((strlen(text) + 1) * sizeof *list);
  for (const char *rest = text; list != NULL;) {
    char *end;
    list[*count] = strtol(rest, &end, 10);
    if (end == rest || (*end != '\0' && *end != ',')) break;
    ++*count;
    if (*end == '\0') return list;
    rest = end + 1;
  }
  free(list);
  return NULL;
}

/// Nodes of an interface: a set, or numbers.
static cli_exit find_nodes(as_mesh_files *f, place *p, as_interface *out) {
  *out = (as_interface){.name = p->name, .attachment = p->attachment};
  if (p->has_at) out->position = p->at;
  p->own = list_of(p->nodes, &out->node_count);
  if (p->own == NULL) {
    as_error error = {0};
    const as_status found =
        as_mesh_files_set(f, p->nodes, &out->nodes, &out->node_count, &out->weights, &error);
    return judge(found, &error);
  }
  out->nodes = p->own;
  p->areas = calloc((size_t)out->node_count + 1, sizeof *p->areas);
  if (p->areas == NULL) return cli_complain_memory();
  bool any = false;
  as_error error = {0};
  const as_status found = as_mesh_files_areas(f, p->own, out->node_count, p->areas, &any, &error);
  if (any) out->weights = p->areas;
  return judge(found, &error);
}

// ---- what is told

typedef struct outcome {
  const request *request;
  const char *path;
  const as_flexible_data *body;
  const as_reduction_info *info;
  const double *fixed, *held, *loose; // frequencies [Hz]
} outcome;

static const char *const how[] = {"node", "rigid", "averaging"};

static void print_frequencies(const char *what, const double *f, int n) {
  printf("%-22s", what);
  for (int i = 0; i < n && i < SHOWN; i++) printf(" %.6g", f[i]);
  printf("%s Hz\n", n > SHOWN ? " ..." : "");
}

static void print_text(const outcome *o, const as_interface *interfaces) {
  const as_reduction_info *i = o->info;
  const as_flexible_data *d = o->body;
  printf("mesh                   %d nodes, %d unknowns\n", i->nodes, i->unknowns);
  printf("rigid motions          |K r| <= %.1e |K| |r|: free in space\n", i->residual);
  printf("mass                   %.9g kg\n", i->mass);
  printf("centre of mass         %.9g, %.9g, %.9g m\n", i->centre[0], i->centre[1], i->centre[2]);
  printf("inertia about it       xx %.6g, yy %.6g, zz %.6g, xy %.6g, yz %.6g, zx %.6g kg m^2\n",
         i->inertia[0][0], i->inertia[1][1], i->inertia[2][2], i->inertia[0][1], i->inertia[1][2],
         i->inertia[2][0]);
  for (int k = 0; k < d->interface_count; k++)
    printf("interface              %s%s: %s, %d nodes, at %.6g, %.6g, %.6g m\n",
           d->interface_names[k], k == 0 ? " (frame)" : "", how[interfaces[k].attachment],
           interfaces[k].node_count, d->interface_positions[k][0], d->interface_positions[k][1],
           d->interface_positions[k][2]);
  if (d->mode_count > 0) print_frequencies("interfaces held", o->fixed, d->mode_count);
  if (d->coordinate_count > 0) {
    print_frequencies("frame held", o->held, d->coordinate_count);
    print_frequencies("free", o->loose, d->coordinate_count);
  }
  printf("%s: %d coordinates (%d modes), %d points and %d triangles for drawing\n", o->path,
         d->coordinate_count, d->mode_count, d->mesh_count, d->triangle_count);
}

static void add_list(json_object *o, const char *key, const double *x, int n) {
  json_key(o, key);
  putc('[', o->out);
  for (int i = 0; i < n; i++) {
    if (i > 0) fputs(", ", o->out);
    asi_json_number(o->out, x[i]);
  }
  putc(']', o->out);
}

static void print_json(const outcome *o) {
  const as_reduction_info *i = o->info;
  const as_flexible_data *d = o->body;
  json_object j = json_begin(stdout, 0);
  json_add_string(&j, "file", o->path);
  json_add_number(&j, "nodes", i->nodes);
  json_add_number(&j, "unknowns", i->unknowns);
  json_add_number(&j, "residual", i->residual);
  json_add_number(&j, "mass", i->mass);
  add_list(&j, "centre", i->centre, 3);
  add_list(&j, "inertia", i->inertia[0], 9);
  json_key(&j, "interfaces");
  putchar('[');
  for (int k = 0; k < d->interface_count; k++) {
    if (k > 0) fputs(", ", stdout);
    json_object one = json_begin(stdout, 2);
    json_add_string(&one, "name", d->interface_names[k]);
    add_list(&one, "position", d->interface_positions[k], 3);
    json_end(&one);
  }
  putchar(']');
  json_add_number(&j, "coordinates", d->coordinate_count);
  json_add_number(&j, "modes", d->mode_count);
  add_list(&j, "interfaces_held", o->fixed, d->mode_count);
  add_list(&j, "frame_held", o->held, d->coordinate_count);
  add_list(&j, "free", o->loose, d->coordinate_count);
  json_add_number(&j, "points", d->mesh_count);
  json_add_number(&j, "triangles", d->triangle_count);
  json_end(&j);
  putchar('\n');
}

static cli_exit tell(const outcome *given, const as_interface *interfaces) {
  const as_flexible_data *d = given->body;
  const size_t n = (size_t)d->coordinate_count;
  double *f = calloc(3 * n + 1, sizeof *f);
  outcome o = *given;
  as_error error = {0};
  if (f == NULL) return cli_complain_memory();
  as_status status = as_flexible_frequencies(d, false, f, &error);
  if (status == AS_OK) status = as_flexible_frequencies(d, true, f + n, &error);
  for (int i = 0; i < d->mode_count; i++) {
    const size_t at = n - (size_t)d->mode_count + (size_t)i;
    f[2 * n + (size_t)i] = sqrt(d->K[at * n + at]) / 6.28318530717958647692;
  }
  o.held = f;
  o.loose = f + n;
  o.fixed = f + 2 * n;
  if (status == AS_OK && o.request->json)
    print_json(&o);
  else if (status == AS_OK)
    print_text(&o, interfaces);
  free(f);
  return judge(status, &error);
}

// ---- the whole

/// What is made on the way, to be freed.
typedef struct work {
  as_mesh_files *files;
  as_interface interface[MOST_INTERFACES];
  as_sparse *stress;
  long *points, *stress_points;
  char *path;
} work;

static cli_exit take_lists(const request *r, work *w, as_reduction_def *def) {
  as_error error = {0};
  if (r->points != NULL && (w->points = list_of(r->points, &def->point_count)) == NULL)
    return refuse_value("--points", r->points, "`12,17,20`");
  def->points = w->points;
  if (r->stress == NULL) return CLI_DONE;
  w->stress_points = list_of(r->stress_points, &def->stress_count);
  if (w->stress_points == NULL)
    return refuse_value("--stress-points", r->stress_points, "`12,17,20`");
  const cli_exit status = judge(as_sparse_read(r->stress, &w->stress, &error), &error);
  def->stress = w->stress;
  def->stress_ids = w->stress_points;
  return status;
}

static cli_exit reduce(request *r, work *w) {
  as_error error = {0};
  as_reduction_def def = as_default_reduction_def();
  as_reduction_info info;
  as_flexible_data *body = NULL;
  cli_exit status = judge(as_mesh_files_create(&w->files, &error), &error);
  if (status == CLI_DONE) status = read_files(r, w->files);
  for (int i = 0; i < r->n_places && status == CLI_DONE; i++)
    status = find_nodes(w->files, &r->place[i], &w->interface[i]);
  if (status == CLI_DONE) status = take_lists(r, w, &def);
  if (status != CLI_DONE) return status;
  def.mesh = as_mesh_files_mesh(w->files);
  def.stiffness = as_mesh_files_stiffness(w->files);
  def.mass = as_mesh_files_mass(w->files);
  def.interfaces = w->interface;
  def.interface_count = r->n_places;
  def.modes = isfinite(r->frequency) ? -1 : r->modes < 0 ? 10 : r->modes;
  def.frequency = r->frequency;
  def.length = r->length;
  def.damping_ratios = r->ratios;
  def.damping_count = r->n_ratios;
  def.rayleigh_mass = r->rayleigh[0];
  def.rayleigh_stiffness = r->rayleigh[1];
  def.lower_order = r->lower_order;
  def.most_points = r->draw;
  as_status made = as_reduce(&def, &body, &info, &error);
  // What does not fit was in the files, as far as the command can tell.
  bool written = true;
  if (made == AS_OK) {
    made = as_flexible_write(w->path, body, &error);
    written = made == AS_OK;
  }
  status = judge(made, &error);
  if (!written) { // at the end of a process HDF5 crashes over a file that it could not write
    (void)fflush(NULL);
    _Exit((int)status);
  }
  const outcome o = {.request = r, .path = w->path, .body = body, .info = &info};
  if (status == CLI_DONE) status = tell(&o, w->interface);
  as_flexible_destroy(body);
  return status;
}

static void print_help(void) {
  fputs("Usage: alphastep reduce JOB INTERFACE... [OPTION...]\n"
        "       alphastep reduce --stiffness FILE --mass FILE --nodes FILE... INTERFACE... -o FILE "
        "[OPTION...]\n"
        "\n"
        "Makes a flexible body of a finite-element model: interface nodes and modes, in one HDF5 "
        "file that\n"
        "`flexible:` in a model file names. JOB is a job of CalculiX, run with *FREQUENCY,\n"
        "SOLVER=MATRIXSTORAGE: JOB.inp, JOB.sti, JOB.mas and JOB.dof are read.\n"
        "\n"
        "Interfaces, the first of which is the frame of the body; NODES are the name of a set of "
        "the .inp file,\n"
        "or numbers, `12,17,20`:\n"
        "  --rigid NAME=NODES      the nodes move with it as a rigid body\n"
        "  --averaging NAME=NODES  it moves as the nodes do in the mean, by their parts of the "
        "surface\n"
        "  --interface NAME=NODE   it is one node of the mesh\n"
        "  --at NAME=X,Y,Z         where it is; else in the middle of its nodes\n"
        "\n"
        "Modes with all interfaces held:\n"
        "  --modes N               the N lowest (10)\n"
        "  --frequency HZ          all below\n"
        "\n"
        "Files:\n"
        "  --stiffness FILE, --mass FILE  Matrix Market; `row column value` (CalculiX, Abaqus); "
        "`node, direction,\n"
        "                          node, direction, value` (Abaqus); DMIG in 16 columns (Nastran)\n"
        "  --stiffness-name NAME, --mass-name NAME  of DMIG; else the only one that begins with K, "
        "M\n"
        "  --nodes FILE            .inp, or a table: number, x, y, z and three or six rows of the "
        "matrices,\n"
        "                          from 1, 0: none; may be given several times\n"
        "  --dofs FILE             node.direction of each row (CalculiX)\n"
        "  --units m|mm            m, N, kg (default) or mm, N, t; times in s\n"
        "  -o FILE                 default: JOB.h5\n"
        "  --force                 replace it\n"
        "\n"
        "More:\n"
        "  --damping RATIO[,...]   of the modes of the body with its frame held, the last for all "
        "others\n"
        "  --rayleigh A,B          C = A M + B K; A in 1/s, B in s\n"
        "  --lower-order           without the inertia of second order in the deformation\n"
        "  --points NODES          are kept for loads and results\n"
        "  --draw N                keeps at most N points of the surface (5000)\n"
        "  --stress FILE --stress-points NODES  six rows (xx yy zz xy yz zx) for each node, by "
        "unknowns\n"
        "  --json                  tells what was found as JSON\n",
        stdout);
}

/// Refuses what would be written over, and a folder that cannot be written to, before the work begins.
static cli_exit check_output(const request *r, const char *path) {
  if (!r->force && access(path, F_OK) == 0) {
    cli_complain("`%s` is there; `--force` replaces it.", path);
    return CLI_USAGE;
  }
  const char *slash = strrchr(path, '/');
  char *folder = strdup(slash == NULL ? "." : slash == path ? "/" : path);
  if (folder == NULL) return cli_complain_memory();
  if (slash != NULL && slash != path) folder[slash - path] = '\0';
  const bool good = access(folder, W_OK) == 0;
  free(folder);
  return good ? CLI_DONE : cli_complain_path(path);
}

cli_exit reduce_command(int argc, char **argv) {
  static request r; // it is large
  static work w;
  r = (request){.modes = -1, .draw = 5000, .frequency = (double)NAN, .length = 1.0};
  w = (work){.files = NULL};
  cli_exit status = take_arguments(argc, argv, &r);
  if (status == CLI_DONE && r.help) {
    print_help();
  } else if (status == CLI_DONE) {
    w.path = r.output ? strdup(r.output) : job_file(r.job, ".h5");
    status = w.path ? check_output(&r, w.path) : cli_complain_memory();
    if (status == CLI_DONE) status = reduce(&r, &w);
  }
  for (int i = 0; i < r.n_places; i++) {
    free(r.place[i].name);
    free(r.place[i].own);
    free(r.place[i].areas);
  }
  as_mesh_files_destroy(w.files);
  as_sparse_destroy(w.stress);
  free(w.points);
  free(w.stress_points);
  free(w.path);
  return status;
}

/// The keys of a whole file and of a group that is repeated; and the way through them.
///
/// Superelements come first, wherever they stand, then bodies, some of which are their nodes, flexible bodies, beams, frames, roads, joints, joints
/// that refer to joints, forces, blocks, events, shapes of the ground: so that a thing may be named before it is described. Of blocks the names
/// are found first, since forces and blocks use each other. Each of these passes goes through the included files, the file itself, and the
/// groups, which are read anew for every value of their index: nothing is copied, so time and memory grow with
/// the machine only.
#include "file/root.h"
#include "base/printable.h"

#include <string.h>

#include "file/blocks.h"
#include "file/fmus.h"
#include "file/run.h"
#include "file/templates.h"

// ---- keys -------------------------------------------------------------------------------------------

enum {
  SUPERELEMENTS,
  BODIES,
  FLEXIBLE,
  BEAMS,
  FRAMES,
  ROADS,
  JOINTS,
  FORCES,
  BLOCKS,
  FMUS,
  EVENTS,
  SHAPES,
  N_SECTIONS
};

/// Things, in a file or in a group.
typedef struct contents {
  const asi_value *things[N_SECTIONS];
  const asi_value *groups;
} contents;

typedef struct root_thing {
  contents contents;
  int version;
  const char *title, *description;
  asi_texts include;
  const asi_value *parameters, *tables, *templates;
  double gravity[3];
  bool assemble;
  asi_begin begin;
  asi_simulate simulate;
  asi_output output;
} root_thing;

typedef struct group_thing {
  contents contents;
  const char *index; ///< NULL: not given
  int from, to;
  int mirror; ///< direction across the plane; -1: it has no mirror image
  asi_texts names;
  asi_texts each;
} group_thing;

static const char *const directions[] = {"x", "y", "z", NULL};

#define AT(field) offsetof(root_thing, field)
static const asi_key root_keys[] = {
    {"alphastep", ASI_KEY_INTEGER, AT(version), .required = true, .least = 1, .most = 1,
     .text = "version of the format: 1"},
    {"title", ASI_KEY_TEXT, AT(title), .text = "the machine's name"},
    {"description", ASI_KEY_TEXT, AT(description), .text = "a few words about it"},
    {"include", ASI_KEY_FILES, AT(include),
     .text =
         "other model files whose contents come before this one's: one path or a list, relative to "
         "this file and below its folder"},
    {"parameters", ASI_KEY_PARAMETERS, AT(parameters),
     .text = "numbers with names, to be used in place of numbers and in expressions"},
    {"tables", ASI_KEY_TABLES, AT(tables), .table = &asi_points_table,
     .text = "functions of one variable with names, to be used in expressions: name(x)"},
    {"templates", ASI_KEY_TABLES, AT(templates), .table = &asi_own_template_table,
     .text = "kinds of blocks of your own, for blocks of `type: template`"},
    {"gravity", ASI_KEY_VECTOR, AT(gravity), .least = 3, .most = 3, .unit = "m/s^2",
     .otherwise = "[0, 0, 0]", .text = "acceleration of free fall"},
    {"bodies", ASI_KEY_THINGS, AT(contents.things[BODIES]), .section = &asi_bodies,
     .text = "what has mass"},
    {"superelements", ASI_KEY_THINGS, AT(contents.things[SUPERELEMENTS]),
     .section = &asi_superelements, .text = "linear structures given by their matrices"},
    {"flexible", ASI_KEY_THINGS, AT(contents.things[FLEXIBLE]), .section = &asi_flexible_things,
     .text = "parts from finite elements that travel and turn"},
    {"beams", ASI_KEY_THINGS, AT(contents.things[BEAMS]), .section = &asi_beam_things,
     .text = "slender parts that bend, twist and stretch"},
    {"frames", ASI_KEY_THINGS, AT(contents.things[FRAMES]), .section = &asi_frames,
     .text = "places on bodies that joints and forces refer to"},
    {"roads", ASI_KEY_THINGS, AT(contents.things[ROADS]), .section = &asi_roads,
     .text = "what tyres roll on"},
    {"joints", ASI_KEY_THINGS, AT(contents.things[JOINTS]), .section = &asi_joints,
     .text = "what holds bodies together, and what drives them"},
    {"forces", ASI_KEY_THINGS, AT(contents.things[FORCES]), .section = &asi_forces,
     .text = "springs, dampers, loads"},
    {"blocks", ASI_KEY_THINGS, AT(contents.things[BLOCKS]), .section = &asi_block_section,
     .text = "signals, states and samples: what formulas call blocks.NAME"},
    {"fmus", ASI_KEY_THINGS, AT(contents.things[FMUS]), .section = &asi_fmu_section,
     .text = "models of other tools (FMI 2.0 and 3.0): what formulas call blocks.NAME.OUTPUT"},
    {"events", ASI_KEY_THINGS, AT(contents.things[EVENTS]), .section = &asi_event_section,
     .text = "what happens when formulas cross zero"},
    {"repeat", ASI_KEY_GROUPS, AT(contents.groups), .table = &asi_group_table,
     .text = "things that are there many times, with an index"},
    {"shapes", ASI_KEY_GROUND_SHAPES, AT(contents.things[SHAPES]), .section = &asi_shapes,
     .text = "what is drawn of the ground"},
    {"assemble", ASI_KEY_BOOLEAN, AT(assemble), .otherwise = "if a joint has `start`",
     .text = "move the bodies until all joints fit, before the simulation; small gaps are closed "
             "without it"},
    {"start", ASI_KEY_OBJECT, AT(begin), .table = &asi_begin_table,
     .text = "where it starts, if not where it is written"},
    {"simulate", ASI_KEY_OBJECT, AT(simulate), .table = &asi_simulate_table,
     .text = "how to simulate"},
    {"output", ASI_KEY_OBJECT, AT(output), .table = &asi_output_table,
     .text = "what to write, and when"},
};
#undef AT
const asi_table asi_root_table = {"model", NULL, root_keys, ASI_COUNT(root_keys)};

#define AT(field) offsetof(group_thing, field)
static const asi_key group_keys[] = {
    {"index", ASI_KEY_TEXT, AT(index), .otherwise = "i; with `mirror`: side",
     .text = "name of the index, to be used in expressions and, as ${i}, in names"},
    {"from", ASI_KEY_INTEGER, AT(from), .otherwise = "1", .text = "its first value"},
    {"to", ASI_KEY_INTEGER, AT(to), .required = true,
     .text = "its last value; less than `from`: nothing is made"},
    {"each", ASI_KEY_TEXTS, AT(each), .instead_of = "to",
     .text =
         "texts: the group is made for each of them; ${i} stands for it, and the index is 1, 2, "
         "... in expressions"},
    {"mirror", ASI_KEY_CHOICE, AT(mirror), .choices = directions, .instead_of = "to",
     .text = "the group is made twice: as it is written (index 1), and as its mirror image (index "
             "-1), in which this direction of the world is turned round"},
    {"names", ASI_KEY_TEXTS, AT(names), .required = true, .with = "mirror",
     .text = "two texts, for which ${side} stands: of what is written and of its mirror image"},
    {"bodies", ASI_KEY_THINGS, AT(contents.things[BODIES]), .section = &asi_bodies,
     .text = "what has mass"},
    {"superelements", ASI_KEY_THINGS, AT(contents.things[SUPERELEMENTS]),
     .section = &asi_superelements, .text = "linear structures given by their matrices"},
    {"flexible", ASI_KEY_THINGS, AT(contents.things[FLEXIBLE]), .section = &asi_flexible_things,
     .text = "parts from finite elements that travel and turn"},
    {"beams", ASI_KEY_THINGS, AT(contents.things[BEAMS]), .section = &asi_beam_things,
     .text = "slender parts that bend, twist and stretch"},
    {"frames", ASI_KEY_THINGS, AT(contents.things[FRAMES]), .section = &asi_frames,
     .text = "places on bodies that joints and forces refer to"},
    {"joints", ASI_KEY_THINGS, AT(contents.things[JOINTS]), .section = &asi_joints,
     .text = "what holds bodies together, and what drives them"},
    {"forces", ASI_KEY_THINGS, AT(contents.things[FORCES]), .section = &asi_forces,
     .text = "springs, dampers, loads"},
    {"blocks", ASI_KEY_THINGS, AT(contents.things[BLOCKS]), .section = &asi_block_section,
     .text = "signals, states and samples: what formulas call blocks.NAME"},
    {"fmus", ASI_KEY_THINGS, AT(contents.things[FMUS]), .section = &asi_fmu_section,
     .text = "models of other tools (FMI 2.0 and 3.0): what formulas call blocks.NAME.OUTPUT"},
    {"shapes", ASI_KEY_GROUND_SHAPES, AT(contents.things[SHAPES]), .section = &asi_shapes,
     .text = "what is drawn of the ground"},
    {"repeat", ASI_KEY_GROUPS, AT(contents.groups), .table = &asi_group_table,
     .text = "things that are there many times, with an index"},
};
#undef AT
const asi_table asi_group_table = {"group", NULL, group_keys, ASI_COUNT(group_keys)};

// ---- things -----------------------------------------------------------------------------------------

/// A pass: which section, and whether late things or the others.
typedef struct pass {
  int section;
  bool late;
} pass;

static const pass passes[] = {
    {BLOCKS, false},   {FMUS, false},  {SUPERELEMENTS, false}, {BODIES, false},
    {FLEXIBLE, false}, {BEAMS, false}, {FRAMES, false},        {ROADS, false},
    {JOINTS, false},   {JOINTS, true}, {FORCES, false},        {FORCES, true},
    {BLOCKS, true},    {FMUS, true},   {EVENTS, false},        {SHAPES, false}};
static const char *const section_keys[N_SECTIONS] = {
    "superelements", "bodies", "flexible", "beams", "frames", "roads",
    "joints",        "forces", "blocks",   "fmus",  "events", "shapes"};

static void read_contents(asi_reader *r, const contents *c, pass now);

static bool check_index(asi_reader *r, const asi_value *v, const char *name) {
  const asi_value *at = asi_value_get(v, "index");
  if (at == NULL) at = v;
  bool taken = asi_names_find(&r->parameter_names, name) >= 0;
  for (const asi_index *k = r->index; k; k = k->outer) taken = taken || strcmp(k->name, name) == 0;
  if (taken)
    asi_complain(r, at, "the index \"%.60s\" has the name of a parameter or of an outer index",
                 name);
  else if (strcmp(name, "t") == 0)
    asi_complain(r, at, "\"t\" cannot name an index: it is the time");
  else if (!asi_is_parameter_name(name))
    asi_complain(r, at, "\"%.60s\" cannot name an index: letters, digits and _, no digit first",
                 name);
  else
    return true;
  return false;
}

/// The group as it is written, then its mirror image.
static void read_both_sides(asi_reader *r, const group_thing *group, pass now) {
  const asi_index *outer = r->index;
  const unsigned mirrored = r->mirrored;
  for (int i = 0; i < 2 && !asi_out_of_memory(r); ++i) {
    const asi_index index = {group->index, i == 0 ? 1 : -1, group->names.text[i], outer};
    r->index = &index;
    r->mirrored = i == 0 ? mirrored : mirrored ^ 1u << group->mirror;
    read_contents(r, &group->contents, now);
  }
  r->index = outer;
  r->mirrored = mirrored;
}

static bool check_mirror(asi_reader *r, const asi_value *v, const group_thing *group) {
  const asi_value *from = asi_value_get(v, "from"), *names = asi_value_get(v, "names");
  if (group->mirror < 0) return true;
  if (from)
    asi_complain(r, from, "\"from\" says nothing beside \"mirror\"");
  else if (group->names.n != 2)
    asi_complain(r, names, "must be two names, not %d", group->names.n);
  else if (strcmp(group->names.text[0], group->names.text[1]) == 0)
    asi_complain(r, names, "what is written and its mirror image are both called \"%.60s\"",
                 group->names.text[0]);
  else
    return true;
  return false;
}

/// Texts of `each`: none twice.
static bool check_each(asi_reader *r, const asi_texts *texts) {
  for (int i = 1; i < texts->n; ++i)
    for (int k = 0; k < i; ++k)
      if (strcmp(texts->text[i], texts->text[k]) == 0) {
        asi_complain(r, texts->value[i], "\"%.60s\" stands here twice", texts->text[i]);
        return false;
      }
  return true;
}

static void read_group(asi_reader *r, const asi_value *v, pass now) {
  group_thing group = {.from = 1, .mirror = -1};
  r->broken = false;
  asi_read_object(r, v, v, &asi_group_table, &group);
  if (group.index == NULL) group.index = group.mirror < 0 ? "i" : "side";
  if (r->broken || asi_out_of_memory(r) || !check_index(r, v, group.index) ||
      !check_mirror(r, v, &group) || !check_each(r, &group.each)) {
    r->lost = true;
    return;
  }
  if (group.mirror >= 0) {
    read_both_sides(r, &group, now);
    return;
  }
  const asi_index *outer = r->index;
  const asi_texts *each = asi_value_get(v, "each") ? &group.each : NULL;
  const long to = each ? (long)group.from + each->n - 1 : group.to;
  for (long i = group.from; i <= to && !asi_out_of_memory(r); ++i) {
    if (asi_too_many(r, v)) break;
    const asi_index index = {group.index, (int)i, each ? each->text[i - group.from] : NULL, outer};
    r->index = &index;
    read_contents(r, &group.contents, now);
    r->index = outer;
  }
}

static void read_groups(asi_reader *r, const asi_value *list, pass now) {
  const asi_path outer = {"repeat", 0, r->path};
  if (list == NULL) return;
  r->path = &outer;
  if (list->type != ASI_LIST)
    r->lost = true, asi_complain(r, list, "must be a list of groups, not %s", asi_value_what(list));
  else
    for (int i = 0; i < list->count; ++i) {
      const asi_path path = {NULL, i, &outer};
      r->path = &path;
      read_group(r, list->item[i], now);
      r->path = &outer;
    }
  r->path = outer.outer;
}

/// Shapes of the ground; each counts as a thing.
static void read_shapes(asi_reader *r, const asi_value *list) {
  for (int i = 0; list && list->type == ASI_LIST && i < list->count; ++i)
    if (asi_too_many(r, list)) return;
  asi_read_list(r, list, &asi_shapes);
}

static void read_contents(asi_reader *r, const contents *c, pass now) {
  static const asi_section *const sections[N_SECTIONS] = {
      &asi_superelements, &asi_bodies,      &asi_flexible_things, &asi_beam_things,
      &asi_frames,        &asi_roads,       &asi_joints,          &asi_forces,
      &asi_block_section, &asi_fmu_section, &asi_event_section,   &asi_shapes};
  const asi_path path = {section_keys[now.section], 0, r->path};
  r->path = &path;
  if (now.section == BLOCKS && !now.late)
    asi_declare_blocks(r, c->things[BLOCKS]);
  else if (now.section == FMUS && !now.late)
    asi_declare_fmus(r, c->things[FMUS]);
  else if (now.section == SHAPES)
    read_shapes(r, c->things[SHAPES]);
  else
    asi_read_things(r, c->things[now.section], sections[now.section], now.late);
  r->path = path.outer;
  read_groups(r, c->groups, now);
}

// ---- files ------------------------------------------------------------------------------------------

/// What a file says besides things; a later file holds over an earlier one.
static void take_settings(asi_reader *r, const asi_value *root, const root_thing *read) {
  as_machine *m = r->machine;
  const asi_value *version = asi_value_get(root, "alphastep");
  const asi_value *output = asi_value_get(root, "output");
  if (version && version->type == ASI_NUMBER && read->version != 1)
    asi_complain(r, version, "this program reads version 1 of the format, not %d", read->version);
  size_t length = 0;
  for (const char *c = read->title ? read->title : ""; *c; c += length)
    if (!asi_printable(c, &length)) {
      asi_complain(r, asi_value_get(root, "title"), "the title has what cannot be printed");
      break;
    }
  if (read->title) m->title = read->title;
  if (read->description) m->description = read->description;
  if (asi_value_get(root, "gravity")) memcpy(r->gravity, read->gravity, sizeof r->gravity);
  if (asi_value_get(root, "assemble")) r->assemble = read->assemble;
  const asi_value *simulate = asi_value_get(root, "simulate"),
                  *start = asi_value_get(root, "start");
  if (start) {
    r->begin = read->begin;
    r->begin.value = start;
  }
  if (simulate) asi_take_simulate(r, simulate, &read->simulate);
  if (output && !r->broken) asi_take_output(r, output, &read->output);
}

static void read_root(asi_reader *r, const asi_value *root, contents *out) {
  root_thing read = {.simulate = asi_default_simulate(), .output = asi_default_output()};
  r->broken = false;
  asi_read_object(r, root, root, &asi_root_table, &read);
  r->lost = r->lost || r->broken; // a section may have another name
  take_settings(r, root, &read);
  *out = read.contents;
}

as_status asi_read_roots(asi_reader *r, as_error *error) {
  contents *all = asi_arena_take(r->arena, (size_t)r->n_order * sizeof *all);
  if (all == NULL) return AS_ERR_MEMORY;
  for (int f = 0; f < r->n_order; ++f)
    if (r->file[r->order[f]].root) read_root(r, r->file[r->order[f]].root, &all[f]);
  asi_check_output(r);
  as_model_def def;
  memcpy(def.gravity, r->gravity, sizeof def.gravity);
  as_status status = as_builder_create(&def, &r->machine->builder, error);
  r->builder = r->machine->builder;
  if (status == AS_OK) status = asi_begin_formulas(r, error);
  if (status == AS_OK) asi_check_templates(r);
  for (int p = 0; p < ASI_COUNT(passes) && status == AS_OK; ++p) {
    if (r->things <= ASI_MOST_THINGS) r->things = 0;
    for (int f = 0; f < r->n_order; ++f) read_contents(r, &all[f], passes[p]);
    if (r->no_plugin) return asi_out_of_memory(r) ? AS_ERR_MEMORY : AS_ERR_ARGUMENT;
  }
  return status;
}

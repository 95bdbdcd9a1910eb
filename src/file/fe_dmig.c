/// Nastran's DMIG entries as they are punched, in fields of 16 characters:
///
///     DMIG    KAAX           0       6       1       0                            a head: form (6: symmetric, 1: square), type (1 or 2: real)
///     DMIG*   KAAX                           1               1                    a column: node and component
///     *                      1               1 1.234567890D+05                    rows: node, component, value
///     *                      2               1-1.234567890D+05
///
/// Other cards are of no concern. Of a symmetric matrix one triangle is there.
#include <string.h>

#include "base/error.h"
#include "file/mesh_files.h"

enum { NAME = 8 };

/// What is being read.
typedef struct dmig {
  asi_fe_text *t;
  asi_fe_matrix *m;
  const char *wanted; ///< NULL: any that begins with `letter`
  char letter;
  char name[NAME + 1]; ///< of the matrix that is taken; "": none so far
  bool taking;         ///< the column at hand is of that matrix
  bool headed;         ///< its head has been read
  asi_fe_label column;
} dmig;

static bool has_name(asi_fe_word w, const char *name) { return asi_fe_is(w, name); }

static bool is_wanted(const dmig *d, asi_fe_word name) {
  if (d->wanted) return has_name(name, d->wanted);
  return name.n > 0 && (name.at[0] == d->letter || name.at[0] == d->letter + 'a' - 'A');
}

/// A name that is wanted: the first one is taken, others are refused.
static as_status choose(dmig *d, asi_fe_word name) {
  d->taking = is_wanted(d, name);
  if (!d->taking) return AS_OK;
  if (name.n > NAME) return asi_fe_refuse(d->t, "The name of a matrix has 8 characters at most.");
  if (d->name[0] == '\0') {
    memcpy(d->name, name.at, name.n);
    d->name[name.n] = '\0';
  }
  if (has_name(name, d->name)) return AS_OK;
  return asi_fe_refuse(d->t,
                       "There are two matrices that begin with %c, %s and %.*s: say which one is "
                       "wanted.",
                       d->letter, d->name, asi_fe_shown(name), name.at);
}

static as_status take_head(dmig *d) {
  long form = 0, type = 0;
  const as_status status = choose(d, asi_fe_columns(d->t, 8, 8));
  if (status || !d->taking) return status;
  d->taking = false; // until its first column
  d->headed = true;
  if (!asi_fe_whole(asi_fe_columns(d->t, 24, 8), &form) || (form != 6 && form != 1))
    return asi_fe_refuse(d->t, "%s is neither symmetric (form 6) nor square (form 1).", d->name);
  if (!asi_fe_whole(asi_fe_columns(d->t, 32, 8), &type) || type < 1 || type > 2)
    return asi_fe_refuse(d->t, "%s is not real (type 1 or 2).", d->name);
  return AS_OK;
}

static as_status take_label(dmig *d, size_t from, asi_fe_label *out) {
  long node = 0, component = 0;
  const asi_fe_word w = asi_fe_columns(d->t, from, 16), c = asi_fe_columns(d->t, from + 16, 16);
  if (!asi_fe_whole(w, &node) || node < 1)
    return asi_fe_refuse(d->t, "\"%.*s\" is no number of a node.", asi_fe_shown(w), w.at);
  if (!asi_fe_whole(c, &component) || component < 0 || component > 6)
    return asi_fe_refuse(d->t, "\"%.*s\" is no component, 1 to 6.", asi_fe_shown(c), c.at);
  if (component == 0)
    return asi_fe_refuse(
        d->t,
        "%ld is a scalar point, which is at no place: give the matrices of the mesh, "
        "not reduced ones.",
        node);
  *out = (asi_fe_label){node, (int)component};
  return AS_OK;
}

static as_status take_row(dmig *d) {
  asi_fe_entry e = {.column = d->column};
  const as_status status = take_label(d, 8, &e.row);
  const asi_fe_word w = asi_fe_columns(d->t, 40, 16);
  if (status) return status;
  if (!asi_fe_number(w, &e.value))
    return asi_fe_refuse(d->t, "\"%.*s\" is not a number.", asi_fe_shown(w), w.at);
  return asi_fe_add_labelled(d->m, d->t, e);
}

static as_status take_line(dmig *d) {
  const asi_fe_word card = asi_fe_columns(d->t, 0, 8);
  if (asi_fe_is(card, "DMIG*")) {
    const as_status status = choose(d, asi_fe_columns(d->t, 8, 16));
    if (status || !d->taking) return status;
    if (!d->headed) return asi_fe_refuse(d->t, "The head of %s is missing.", d->name);
    return take_label(d, 24, &d->column);
  }
  if (asi_fe_is(card, "DMIG")) {
    long zero = -1;
    if (asi_fe_whole(asi_fe_columns(d->t, 16, 8), &zero) && zero == 0 &&
        asi_fe_columns(d->t, 40, 8).n <= 8 && asi_fe_columns(d->t, 24, 8).n > 0)
      return take_head(d);
    if (is_wanted(d, asi_fe_columns(d->t, 8, 8)))
      return asi_fe_refuse(d->t,
                           "DMIG in fields of 8 characters is not read: punch it in 16, DMIG*.");
    d->taking = false;
    return AS_OK;
  }
  if (card.n > 0 && card.at[0] == '*') return d->taking ? take_row(d) : AS_OK;
  d->taking = false;
  return AS_OK;
}

as_status asi_fe_parse_dmig(asi_fe_matrix *m, as_matrix_role role, const char *wanted,
                            asi_fe_text *t) {
  dmig d = {.t = t, .m = m, .wanted = wanted, .letter = role == AS_MASS ? 'M' : 'K'};
  as_status status = AS_OK;
  m->labelled = true;
  while (status == AS_OK && asi_fe_next_line(t))
    if (*t->line != '$') status = take_line(&d);
  if (status || m->n > 0) return status;
  return wanted ? asi_fe_refuse(t, "There is no DMIG* called %.60s.", wanted)
                : asi_fe_refuse(t, "There is no DMIG* whose name begins with %c.", d.letter);
}

/// An FMU as a block: what plugins' blocks are made of (alphastep/plugin.h), with a memory (control/plugin.h).
///
/// What an FMU remembers inside is not ours to look at. The block's one sampled number, `memory`, stands for it: a digest of all that the FMU was
/// told since its start, so equal numbers are equal memories. A table keeps for each of the last ones what belongs to it: the FMU's own copy of
/// its state, if it can make one, and what it said then. So a function of the block computes from its arguments alone, as those of plugins do:
/// it looks the number up, brings the FMU there if it is elsewhere, and asks. An FMU that cannot be brought back says so.
///
/// [FM.1] model exchange: x' = f(t, x, w, memory), y = g(t, x, w, memory); where an indicator crosses zero, or at a time that it has told, the
/// FMU's event mode gives x and memory anew.
///
/// [FM.2] co-simulation: at t_k = k H the FMU goes from t_(k-1) to t_k, with inputs w_(k-1) (hold) or w_(k-1) + (w_k - w_(k-1))(t - t_(k-1))/H (linear;
/// their mean, if it cannot take slopes); its outputs hold until t_(k+1), or go on by the slope of the last two (linear).
///
/// [FM.3] co-simulation, iterate: y = g(t, w, memory), where the FMU is taken back to t_k and goes to t with inputs along the line from w_k to w. So
/// the machine's Newton iteration is that of the communication step.
#ifndef ALPHASTEP_FMI_BLOCK_H
#define ALPHASTEP_FMI_BLOCK_H

#include "control/plugin.h"
#include "fmi/fmu.h"

enum { ASI_FMU_SLOTS = 64 }; ///< memories that are kept

/// What belongs to a memory.
typedef struct asi_fmu_slot {
  double token;     ///< the sampled number
  bool used, fixed; ///< fixed: that of the start, which is kept
  unsigned long age;
  double
      version; ///< what the FMU itself is in then; one is shared by memories between which it was not called
  void *state;               ///< its own copy; NULL: none
  double t;                  ///< [s]
  double next;               ///< of model exchange: its next time event; infinity: none [s]
  bool stop;                 ///< it asked for the end
  double *w, *y, *slope, *x; ///< inputs, outputs, their slopes; states after the event
  /// Where an event left this memory, of an FMU that cannot be brought back: the time, and in `last` states, inputs, rates and outputs there.
  bool left;
  double left_t;
  double *last;
  unsigned char *packed; ///< its state serialized, once asked for
  size_t packed_size;
} asi_fmu_slot;

typedef struct asi_fmu_block asi_fmu_block;

typedef enum asi_fmu_coupling { ASI_FMU_HOLD, ASI_FMU_LINEAR, ASI_FMU_ITERATE } asi_fmu_coupling;

/// Takes the FMU over, also where it fails (NULL: memory has run out). `period` is H and `coupling` used in co-simulation alone.
asi_fmu_block *asi_fmu_block_create(asi_fmu *f, bool exchange, double period,
                                    asi_fmu_coupling coupling);
void asi_fmu_block_destroy(asi_fmu_block *b);

/// Adds an input that is given, an array with all its elements; an output or other number under a name of ours (NULL: its own).
/// False: `why`.
bool asi_fmu_block_add_input(asi_fmu_block *b, const char *variable, char why[ASI_FMU_WHY]);
bool asi_fmu_block_add_output(asi_fmu_block *b, const char *name, const char *variable,
                              char why[ASI_FMU_WHY]);
/// All outputs that are numbers.
bool asi_fmu_block_add_outputs(asi_fmu_block *b, char why[ASI_FMU_WHY]);
/// Adds its states and makes the description. Then names are known.
bool asi_fmu_block_describe(asi_fmu_block *b, char why[ASI_FMU_WHY]);

/// Loads its library and makes the instance.
bool asi_fmu_block_load(asi_fmu_block *b, const char *path, char why[ASI_FMU_WHY]);
/// Gives a parameter or another variable its value before the start: a text only if it is one.
bool asi_fmu_block_set(asi_fmu_block *b, const char *variable, const char *text, double value,
                       char why[ASI_FMU_WHY]);
/// Whether a variable is a text.
bool asi_fmu_block_is_text(const asi_fmu_block *b, const char *variable);
/// Initializes the instance. `state` (64 numbers) and `sampled` receive what the block starts with.
bool asi_fmu_block_begin(asi_fmu_block *b, double *state, double *sampled, char why[ASI_FMU_WHY]);

const as_plugin_block *asi_fmu_block_plugin(const asi_fmu_block *b);
const asi_plugin_memory *asi_fmu_block_memory(const asi_fmu_block *b);
const asi_fmu *asi_fmu_block_fmu(const asi_fmu_block *b);
/// The name of ours of an input of the block; its number is that among the inputs.
const char *asi_fmu_block_input(const asi_fmu_block *b, int i);
/// Which variable a name means, the FMU's or ours: its number, and the element. -1: none.
int asi_fmu_lookup(const asi_fmu_description *d, const char *name, int *element);
/// The name of ours of an element: letters, digits and _.
void asi_fmu_port_name(const asi_fmu_variable *v, int element, char out[48]);

#endif

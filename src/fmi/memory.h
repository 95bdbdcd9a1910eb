/// The inside of an FMU's block (block.h): what it is made of, and its memories (memory.c).
#ifndef ALPHASTEP_FMI_MEMORY_H
#define ALPHASTEP_FMI_MEMORY_H

#include "fmi/block.h"

typedef struct asi_fmu_ports {
  asi_fmu_port *port;
  as_plugin_quantity *quantity;
  int n, room;
} asi_fmu_ports;

struct asi_fmu_block {
  asi_fmu *fmu;
  double period; ///< H [s]; NAN: of model exchange
  asi_fmu_coupling coupling;
  bool directional;
  asi_fmu_ports input, state, output;
  as_plugin_quantity sampled;
  as_plugin_block plugin;
  asi_plugin_memory memory;
  unsigned char *direct;
  const char **event; ///< names
  char *event_names;
  uint32_t *unknown, *known; ///< references of rates and real outputs, of states and inputs
  int n_unknown;
  int row[AS_PLUGIN_MOST]; ///< n_unknown: which of rates and outputs each is
  double version;          ///< what the instance is in
  unsigned long age;
  asi_fmu_slot slot[ASI_FMU_SLOTS];
  double *room;                                                   ///< of all slots
  double w[AS_PLUGIN_MOST], y[AS_PLUGIN_MOST], x[AS_PLUGIN_MOST]; ///< scratch, under the lock
  double *z;                                                      ///< indicators, likewise
};

/// The slot of a memory; NULL: it is not kept.
asi_fmu_slot *asi_fmu_slot_find(asi_fmu_block *b, double token);
/// A slot for a new one, in place of the oldest, with the instance's state if it can be had. NULL: `why`.
asi_fmu_slot *asi_fmu_slot_new(asi_fmu_block *b, double token, double version, double t, char *why);
/// Brings the instance to where a memory is. False: `why`.
bool asi_fmu_slot_enter(asi_fmu_block *b, const asi_fmu_slot *slot, char *why);
void asi_fmu_slots_free(asi_fmu_block *b);
/// A digest of a memory and what the FMU is told next.
double asi_fmu_digest(double token, int what, double t, const double *x, int nx, const double *w,
                      int nw);
as_status asi_fmu_serialize(void *user, const double *sampled, asi_archive *a, as_error *error);

/// Notes that the FMU failed; returns false. Discard, and what is no number, are not the end of it.
bool asi_fmu_fail(asi_fmu *f, int status, char *why);
bool asi_fmu_get(asi_fmu *f, const asi_fmu_ports *ports, double *out, char *why);
bool asi_fmu_set(asi_fmu *f, const asi_fmu_ports *ports, const double *x, bool continuous,
                 char *why);

// Functions of the block (functions.c).
int asi_fmu_evaluate(const as_plugin_point *at, double *rate, double *output, char *why);
int asi_fmu_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why);
int asi_fmu_hold(const as_plugin_point *at, double *rate, double *output, char *why);
int asi_fmu_iterate(const as_plugin_point *at, double *rate, double *output, char *why);
int asi_fmu_iterate_jacobian(const as_plugin_point *at, const as_plugin_jacobian *out, char *why);
int asi_fmu_sample(const as_plugin_point *at, double *sampled, char *why);
int asi_fmu_step(const as_plugin_point *at, double *sampled, char *why);
int asi_fmu_event_value(const as_plugin_point *at, int event, double *value, char *why);
int asi_fmu_event_act(const as_plugin_point *at, int event, int direction, double *state,
                      double *sampled, char *why);
int asi_fmu_end_value(const as_plugin_point *at, int event, double *value, char *why);
int asi_fmu_end_act(const as_plugin_point *at, int event, int direction, double *state,
                    double *sampled, char *why);
double asi_fmu_event_time(const as_plugin_point *at, int event);

#endif

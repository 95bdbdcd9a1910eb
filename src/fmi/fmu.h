/// An FMU that is open: its library, one instance, and the calls of both versions of the standard as one.
///
/// A call returns a status of the standard, which has the same numbers in both versions; ASI_FMU_ERROR and more is a failure. `doing` then is
/// the function that failed.
#ifndef ALPHASTEP_FMI_FMU_H
#define ALPHASTEP_FMI_FMU_H

#include <pthread.h>

#include "fmi/description.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"

enum { ASI_FMU_OK, ASI_FMU_WARNING, ASI_FMU_DISCARD, ASI_FMU_ERROR, ASI_FMU_FATAL };

// All functions that are called; each is the name in both versions, unless it stands in one list only.
#define ASI_FMI2_FUNCTIONS(X)                                                                      \
  X(Instantiate)                                                                                   \
  X(FreeInstance)                                                                                  \
  X(SetupExperiment)                                                                               \
  X(EnterInitializationMode)                                                                       \
  X(ExitInitializationMode)                                                                        \
  X(Terminate)                                                                                     \
  X(GetReal)                                                                                       \
  X(GetInteger)                                                                                    \
  X(GetBoolean)                                                                                    \
  X(SetReal)                                                                                       \
  X(SetInteger)                                                                                    \
  X(SetBoolean)                                                                                    \
  X(SetString)
#define ASI_FMI2_STATE(X)                                                                          \
  X(GetFMUstate)                                                                                   \
  X(SetFMUstate)                                                                                   \
  X(FreeFMUstate)
#define ASI_FMI2_SERIAL(X)                                                                         \
  X(SerializedFMUstateSize)                                                                        \
  X(SerializeFMUstate)                                                                             \
  X(DeSerializeFMUstate)
#define ASI_FMI2_DIRECTIONAL(X) X(GetDirectionalDerivative)
#define ASI_FMI2_EXCHANGE(X)                                                                       \
  X(EnterEventMode)                                                                                \
  X(NewDiscreteStates)                                                                             \
  X(EnterContinuousTimeMode)                                                                       \
  X(CompletedIntegratorStep)                                                                       \
  X(SetTime)                                                                                       \
  X(SetContinuousStates)                                                                           \
  X(GetDerivatives)                                                                                \
  X(GetEventIndicators)                                                                            \
  X(GetContinuousStates)
#define ASI_FMI2_SIMULATION(X)                                                                     \
  X(DoStep)                                                                                        \
  X(GetBooleanStatus)
#define ASI_FMI2_INTERPOLATION(X) X(SetRealInputDerivatives)

#define ASI_FMI3_VALUES(X)                                                                         \
  X(GetFloat32)                                                                                    \
  X(GetFloat64)                                                                                    \
  X(GetInt8)                                                                                       \
  X(GetUInt8)                                                                                      \
  X(GetInt16)                                                                                      \
  X(GetUInt16)                                                                                     \
  X(GetInt32)                                                                                      \
  X(GetUInt32)                                                                                     \
  X(GetInt64)                                                                                      \
  X(GetUInt64)                                                                                     \
  X(GetBoolean)                                                                                    \
  X(SetFloat32)                                                                                    \
  X(SetFloat64)                                                                                    \
  X(SetInt8)                                                                                       \
  X(SetUInt8)                                                                                      \
  X(SetInt16)                                                                                      \
  X(SetUInt16)                                                                                     \
  X(SetInt32)                                                                                      \
  X(SetUInt32)                                                                                     \
  X(SetInt64)                                                                                      \
  X(SetUInt64)                                                                                     \
  X(SetBoolean)                                                                                    \
  X(SetString)
#define ASI_FMI3_FUNCTIONS(X)                                                                      \
  X(FreeInstance)                                                                                  \
  X(EnterInitializationMode)                                                                       \
  X(ExitInitializationMode)                                                                        \
  X(Terminate)                                                                                     \
  ASI_FMI3_VALUES(X)
#define ASI_FMI3_STATE(X)                                                                          \
  X(GetFMUState)                                                                                   \
  X(SetFMUState)                                                                                   \
  X(FreeFMUState)
#define ASI_FMI3_SERIAL(X)                                                                         \
  X(SerializedFMUStateSize)                                                                        \
  X(SerializeFMUState)                                                                             \
  X(DeserializeFMUState)
#define ASI_FMI3_DIRECTIONAL(X) X(GetDirectionalDerivative)
#define ASI_FMI3_EXCHANGE(X)                                                                       \
  X(InstantiateModelExchange)                                                                      \
  X(EnterEventMode)                                                                                \
  X(UpdateDiscreteStates)                                                                          \
  X(EnterContinuousTimeMode)                                                                       \
  X(CompletedIntegratorStep)                                                                       \
  X(SetTime)                                                                                       \
  X(SetContinuousStates)                                                                           \
  X(GetContinuousStateDerivatives)                                                                 \
  X(GetEventIndicators)                                                                            \
  X(GetContinuousStates)                                                                           \
  X(GetNumberOfContinuousStates)                                                                   \
  X(GetNumberOfEventIndicators)
#define ASI_FMI3_SIMULATION(X)                                                                     \
  X(InstantiateCoSimulation)                                                                       \
  X(DoStep)

#define X(name) fmi2##name##TYPE *name;
typedef struct asi_fmi2 {
  ASI_FMI2_FUNCTIONS(X)
  ASI_FMI2_STATE(X)
  ASI_FMI2_SERIAL(X)
  ASI_FMI2_DIRECTIONAL(X)
  ASI_FMI2_EXCHANGE(X)
  ASI_FMI2_SIMULATION(X)
  ASI_FMI2_INTERPOLATION(X)
} asi_fmi2;
#undef X
#define X(name) fmi3##name##TYPE *name;
typedef struct asi_fmi3 {
  ASI_FMI3_FUNCTIONS(X)
  ASI_FMI3_STATE(X)
  ASI_FMI3_SERIAL(X)
  ASI_FMI3_DIRECTIONAL(X)
  ASI_FMI3_EXCHANGE(X)
  ASI_FMI3_SIMULATION(X)
} asi_fmi3;
#undef X

typedef struct asi_fmu asi_fmu;

/// What event mode has found.
typedef struct asi_fmu_update {
  bool again, stop, states_changed, has_next;
  double next; ///< [s]
} asi_fmu_update;

/// The calls of one version.
typedef struct asi_fmu_calls {
  bool (*bind)(asi_fmu *f, char *why); ///< finds all functions that are needed
  bool (*instantiate)(asi_fmu *f);
  void (*release)(asi_fmu *f);
  int (*begin)(asi_fmu *f, double t); ///< enters initialization mode
  int (*finish)(asi_fmu *f);          ///< leaves it
  int (*terminate)(asi_fmu *f);
  /// All elements of a variable, which is a number.
  int (*get)(asi_fmu *f, const asi_fmu_variable *v, double *out);
  int (*set)(asi_fmu *f, const asi_fmu_variable *v, const double *x);
  int (*set_text)(asi_fmu *f, const asi_fmu_variable *v, const char *text);
  int (*state_get)(asi_fmu *f, void **state);
  int (*state_set)(asi_fmu *f, void *state);
  int (*state_free)(asi_fmu *f, void **state);
  int (*pack_size)(asi_fmu *f, void *state, size_t *size);
  int (*pack)(asi_fmu *f, void *state, unsigned char *out, size_t size);
  int (*unpack)(asi_fmu *f, const unsigned char *in, size_t size, void **state);
  /// out = d(unknown)/d(known) 1
  int (*directional)(asi_fmu *f, const uint32_t *unknown, int n, uint32_t known, double *out);
  // model exchange
  int (*enter_event)(asi_fmu *f);
  int (*update)(asi_fmu *f, asi_fmu_update *out);
  int (*enter_continuous)(asi_fmu *f);
  int (*completed)(asi_fmu *f, bool *event, bool *stop);
  int (*set_time)(asi_fmu *f, double t);
  int (*set_states)(asi_fmu *f, const double *x);
  int (*get_states)(asi_fmu *f, double *x);
  int (*rates)(asi_fmu *f, double *out);
  int (*indicators)(asi_fmu *f, double *out);
  int (*count)(asi_fmu *f, size_t *states, size_t *indicators); ///< NULL: it cannot be asked
  // co-simulation
  int (*step)(asi_fmu *f, double t, double h, bool *stop);
  int (*slope)(asi_fmu *f, const asi_fmu_variable *v, double slope); ///< NULL: there is none
} asi_fmu_calls;

/// One number of a variable, with a name of ours.
typedef struct asi_fmu_port {
  const asi_fmu_variable *variable;
  int element;
  char name[48];
} asi_fmu_port;

struct asi_fmu {
  char *label; ///< its name in the machine
  asi_fmu_description about;
  const asi_fmu_kind *kind;
  bool exchange;
  char *folder;  ///< what it was unpacked into; NULL: nothing
  void *library; ///< NULL: not open
  const asi_fmu_calls *calls;
  union {
    asi_fmi2 two;
    asi_fmi3 three;
  } call;
  fmi2CallbackFunctions callbacks;
  void *component;  ///< the instance; NULL: none
  bool begun;       ///< it was initialized
  bool fatal;       ///< it returned a fatal error
  int n_states;     ///< continuous ones
  void *typed;      ///< room for the elements of a variable in any type
  double *elements; ///< and for them as numbers
  const char *doing;
  char said[256];           ///< the last that it logged as a warning or an error; "" : nothing
  char warned[256];         ///< the first warning while it was set up
  char failed[ASI_FMU_WHY]; ///< why it is of no use any more; "": it is
  pthread_mutex_t lock;
};

extern const asi_fmu_calls asi_fmu_calls2, asi_fmu_calls3;

/// Opens an archive and reads what is in it; no code of it is run. `label` begins no sentence. NULL: `why` says why not.
asi_fmu *asi_fmu_open(const char *path, const char *label, char why[ASI_FMU_WHY]);
/// Unpacks and loads its library as one of a kind, and makes an instance. False: `why`.
bool asi_fmu_load(asi_fmu *f, const char *path, bool exchange, char why[ASI_FMU_WHY]);
/// Ends the instance, closes the library and removes what was unpacked.
void asi_fmu_close(asi_fmu *f);
/// What went wrong with a call, in one sentence without its end: names the FMU, the function, and what it logged.
void asi_fmu_explain(asi_fmu *f, int status, char why[ASI_FMU_WHY]);
/// Notes what it logs.
void asi_fmu_note(asi_fmu *f, int status, const char *message);

/// Finds functions: `prefix` and each name; where they are written. False: one is missing.
bool asi_fmu_symbol(asi_fmu *f, const char *name, void *function, char *why);

/// Unpacks the parts of an archive that an FMU needs: resources, and binaries of a folder. NULL: `why`.
char *asi_fmu_unpack(const char *path, const char *binaries, char why[ASI_FMU_WHY]);
void asi_fmu_remove(char *folder);

#endif

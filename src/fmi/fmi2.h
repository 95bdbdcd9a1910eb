/// What an FMU of FMI 2.0 (2.0.4) exports, and what it is handed: types, enumerations, structs and the types of all functions, under the
/// names of the standard. Binary compatible with its fmi2TypesPlatform.h and fmi2FunctionTypes.h ("default" platform); text our own.
///
/// `const fmi2ValueReference vr[], size_t nvr` are handles of variables and how many there are; arrays that follow have as many entries.
#ifndef ALPHASTEP_FMI_FMI2_H
#define ALPHASTEP_FMI_FMI2_H

#include <stddef.h>

#define fmi2TypesPlatform "default" ///< what fmi2GetTypesPlatform() returns
#define fmi2True 1
#define fmi2False 0

typedef void *fmi2Component;            ///< an instance
typedef void *fmi2ComponentEnvironment; ///< what callbacks are handed back
typedef void *fmi2FMUstate;             ///< a copy of an instance's state
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String; ///< UTF-8, ends with a zero
typedef char fmi2Byte;

typedef enum {
  fmi2OK,
  fmi2Warning,
  fmi2Discard, ///< not possible with these arguments: try another step
  fmi2Error,   ///< this instance is of no use any more
  fmi2Fatal,   ///< all instances of this FMU are of no use any more
  fmi2Pending  ///< fmi2DoStep() goes on in the background
} fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
  fmi2DoStepStatus,
  fmi2PendingStatus,
  fmi2LastSuccessfulTime,
  fmi2Terminated
} fmi2StatusKind;

typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String instanceName, fmi2Status,
                                   fmi2String category, fmi2String message, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t count, size_t size); ///< as calloc()
typedef void (*fmi2CallbackFreeMemory)(void *);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment, fmi2Status);
/// Must outlive the instance.
typedef struct {
  fmi2CallbackLogger logger;
  fmi2CallbackAllocateMemory allocateMemory;
  fmi2CallbackFreeMemory freeMemory;
  fmi2StepFinished stepFinished; ///< or NULL
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

/// What fmi2NewDiscreteStates() tells.
typedef struct {
  fmi2Boolean newDiscreteStatesNeeded; ///< it is to be called again
  fmi2Boolean terminateSimulation;
  fmi2Boolean nominalsOfContinuousStatesChanged;
  fmi2Boolean valuesOfContinuousStatesChanged;
  fmi2Boolean nextEventTimeDefined;
  fmi2Real nextEventTime;
} fmi2EventInfo;

// ---- both kinds -------------------------------------------------------------------------------------

typedef const char *fmi2GetTypesPlatformTYPE(void);
typedef const char *fmi2GetVersionTYPE(void);
typedef fmi2Status fmi2SetDebugLoggingTYPE(fmi2Component, fmi2Boolean loggingOn, size_t nCategories,
                                           const fmi2String categories[]);
typedef fmi2Component fmi2InstantiateTYPE(fmi2String instanceName, fmi2Type, fmi2String fmuGUID,
                                          fmi2String fmuResourceLocation,
                                          const fmi2CallbackFunctions *, fmi2Boolean visible,
                                          fmi2Boolean loggingOn);
typedef void fmi2FreeInstanceTYPE(fmi2Component);
typedef fmi2Status fmi2SetupExperimentTYPE(fmi2Component, fmi2Boolean toleranceDefined,
                                           fmi2Real tolerance, fmi2Real startTime,
                                           fmi2Boolean stopTimeDefined, fmi2Real stopTime);
typedef fmi2Status fmi2EnterInitializationModeTYPE(fmi2Component);
typedef fmi2Status fmi2ExitInitializationModeTYPE(fmi2Component);
typedef fmi2Status fmi2TerminateTYPE(fmi2Component);
typedef fmi2Status fmi2ResetTYPE(fmi2Component);

/// fmi2GetRealTYPE and fmi2SetRealTYPE, and so on.
#define ASI_FMI2_VALUES(Type)                                                                      \
  typedef fmi2Status fmi2Get##Type##TYPE(fmi2Component, const fmi2ValueReference vr[], size_t nvr, \
                                         fmi2##Type value[]);                                      \
  typedef fmi2Status fmi2Set##Type##TYPE(fmi2Component, const fmi2ValueReference vr[], size_t nvr, \
                                         const fmi2##Type value[]);
ASI_FMI2_VALUES(Real)
ASI_FMI2_VALUES(Integer)
ASI_FMI2_VALUES(Boolean)
ASI_FMI2_VALUES(String)
#undef ASI_FMI2_VALUES

typedef fmi2Status fmi2GetFMUstateTYPE(fmi2Component, fmi2FMUstate *);
typedef fmi2Status fmi2SetFMUstateTYPE(fmi2Component, fmi2FMUstate);
typedef fmi2Status fmi2FreeFMUstateTYPE(fmi2Component, fmi2FMUstate *);
typedef fmi2Status fmi2SerializedFMUstateSizeTYPE(fmi2Component, fmi2FMUstate, size_t *size);
typedef fmi2Status fmi2SerializeFMUstateTYPE(fmi2Component, fmi2FMUstate, fmi2Byte[], size_t size);
typedef fmi2Status fmi2DeSerializeFMUstateTYPE(fmi2Component, const fmi2Byte serializedState[],
                                               size_t size, fmi2FMUstate *);
/// dvUnknown = d(unknown)/d(known) dvKnown
typedef fmi2Status
fmi2GetDirectionalDerivativeTYPE(fmi2Component, const fmi2ValueReference vUnknown_ref[],
                                 size_t nUnknown, const fmi2ValueReference vKnown_ref[],
                                 size_t nKnown, const fmi2Real dvKnown[], fmi2Real dvUnknown[]);

// ---- model exchange ---------------------------------------------------------------------------------

typedef fmi2Status fmi2EnterEventModeTYPE(fmi2Component);
typedef fmi2Status fmi2NewDiscreteStatesTYPE(fmi2Component, fmi2EventInfo *);
typedef fmi2Status fmi2EnterContinuousTimeModeTYPE(fmi2Component);
typedef fmi2Status fmi2CompletedIntegratorStepTYPE(fmi2Component,
                                                   fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                                   fmi2Boolean *enterEventMode,
                                                   fmi2Boolean *terminateSimulation);
typedef fmi2Status fmi2SetTimeTYPE(fmi2Component, fmi2Real time);
typedef fmi2Status fmi2SetContinuousStatesTYPE(fmi2Component, const fmi2Real x[], size_t nx);
typedef fmi2Status fmi2GetDerivativesTYPE(fmi2Component, fmi2Real derivatives[], size_t nx);
typedef fmi2Status fmi2GetEventIndicatorsTYPE(fmi2Component, fmi2Real eventIndicators[], size_t ni);
typedef fmi2Status fmi2GetContinuousStatesTYPE(fmi2Component, fmi2Real x[], size_t nx);
typedef fmi2Status fmi2GetNominalsOfContinuousStatesTYPE(fmi2Component, fmi2Real x_nominal[],
                                                         size_t nx);

// ---- co-simulation ----------------------------------------------------------------------------------

typedef fmi2Status fmi2SetRealInputDerivativesTYPE(fmi2Component, const fmi2ValueReference vr[],
                                                   size_t nvr, const fmi2Integer order[],
                                                   const fmi2Real value[]);
typedef fmi2Status fmi2GetRealOutputDerivativesTYPE(fmi2Component, const fmi2ValueReference vr[],
                                                    size_t nvr, const fmi2Integer order[],
                                                    fmi2Real value[]);
typedef fmi2Status fmi2DoStepTYPE(fmi2Component, fmi2Real currentCommunicationPoint,
                                  fmi2Real communicationStepSize,
                                  fmi2Boolean noSetFMUStatePriorToCurrentPoint);
typedef fmi2Status fmi2CancelStepTYPE(fmi2Component);
typedef fmi2Status fmi2GetStatusTYPE(fmi2Component, const fmi2StatusKind, fmi2Status *);
typedef fmi2Status fmi2GetRealStatusTYPE(fmi2Component, const fmi2StatusKind, fmi2Real *);
typedef fmi2Status fmi2GetIntegerStatusTYPE(fmi2Component, const fmi2StatusKind, fmi2Integer *);
typedef fmi2Status fmi2GetBooleanStatusTYPE(fmi2Component, const fmi2StatusKind, fmi2Boolean *);
typedef fmi2Status fmi2GetStringStatusTYPE(fmi2Component, const fmi2StatusKind, fmi2String *);

#endif

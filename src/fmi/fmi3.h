/// What an FMU of FMI 3.0 (3.0.2) exports, and what it is handed: types, enumerations and the types of all functions, under the names of the
/// standard. Binary compatible with its fmi3PlatformTypes.h and fmi3FunctionTypes.h; text our own.
///
/// `const fmi3ValueReference vr[], size_t nvr` are handles of variables, `values[], nValues` all their entries one behind another, those of
/// an array by rows.
#ifndef ALPHASTEP_FMI_FMI3_H
#define ALPHASTEP_FMI_FMI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define fmi3True true
#define fmi3False false
#define fmi3ClockActive true
#define fmi3ClockInactive false

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment; ///< what callbacks are handed back
typedef void *fmi3FMUState;            ///< a copy of an instance's state
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String; ///< UTF-8, ends with a zero
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary; ///< its size is told beside it
typedef bool fmi3Clock;

typedef enum {
  fmi3OK,
  fmi3Warning,
  fmi3Discard, ///< not possible with these arguments: try another step
  fmi3Error,   ///< this instance is of no use any more
  fmi3Fatal    ///< all instances of this FMU are of no use any more
} fmi3Status;
typedef enum {
  fmi3Independent,
  fmi3Constant,
  fmi3Fixed,
  fmi3Tunable,
  fmi3Discrete,
  fmi3Dependent
} fmi3DependencyKind;
typedef enum {
  fmi3IntervalNotYetKnown,
  fmi3IntervalUnchanged,
  fmi3IntervalChanged
} fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(
    fmi3InstanceEnvironment, fmi3Float64 intermediateUpdateTime,
    fmi3Boolean intermediateVariableSetRequested, fmi3Boolean intermediateVariableGetAllowed,
    fmi3Boolean intermediateStepFinished, fmi3Boolean canReturnEarly,
    fmi3Boolean *earlyReturnRequested, fmi3Float64 *earlyReturnTime);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

// ---- all kinds --------------------------------------------------------------------------------------

typedef const char *fmi3GetVersionTYPE(void);
typedef fmi3Status fmi3SetDebugLoggingTYPE(fmi3Instance, fmi3Boolean loggingOn, size_t nCategories,
                                           const fmi3String categories[]);
typedef fmi3Instance fmi3InstantiateModelExchangeTYPE(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment, fmi3LogMessageCallback);
typedef fmi3Instance
fmi3InstantiateCoSimulationTYPE(fmi3String instanceName, fmi3String instantiationToken,
                                fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                const fmi3ValueReference requiredIntermediateVariables[],
                                size_t nRequiredIntermediateVariables, fmi3InstanceEnvironment,
                                fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
typedef fmi3Instance fmi3InstantiateScheduledExecutionTYPE(
    fmi3String instanceName, fmi3String instantiationToken, fmi3String resourcePath,
    fmi3Boolean visible, fmi3Boolean loggingOn, fmi3InstanceEnvironment, fmi3LogMessageCallback,
    fmi3ClockUpdateCallback, fmi3LockPreemptionCallback, fmi3UnlockPreemptionCallback);
typedef void fmi3FreeInstanceTYPE(fmi3Instance);
typedef fmi3Status fmi3EnterInitializationModeTYPE(fmi3Instance, fmi3Boolean toleranceDefined,
                                                   fmi3Float64 tolerance, fmi3Float64 startTime,
                                                   fmi3Boolean stopTimeDefined,
                                                   fmi3Float64 stopTime);
typedef fmi3Status fmi3ExitInitializationModeTYPE(fmi3Instance);
typedef fmi3Status fmi3EnterEventModeTYPE(fmi3Instance);
typedef fmi3Status fmi3TerminateTYPE(fmi3Instance);
typedef fmi3Status fmi3ResetTYPE(fmi3Instance);

/// fmi3GetFloat32TYPE and fmi3SetFloat32TYPE, and so on.
#define ASI_FMI3_VALUES(Type)                                                                      \
  typedef fmi3Status fmi3Get##Type##TYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,  \
                                         fmi3##Type values[], size_t nValues);                     \
  typedef fmi3Status fmi3Set##Type##TYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,  \
                                         const fmi3##Type values[], size_t nValues);
ASI_FMI3_VALUES(Float32)
ASI_FMI3_VALUES(Float64)
ASI_FMI3_VALUES(Int8)
ASI_FMI3_VALUES(UInt8)
ASI_FMI3_VALUES(Int16)
ASI_FMI3_VALUES(UInt16)
ASI_FMI3_VALUES(Int32)
ASI_FMI3_VALUES(UInt32)
ASI_FMI3_VALUES(Int64)
ASI_FMI3_VALUES(UInt64)
ASI_FMI3_VALUES(Boolean)
ASI_FMI3_VALUES(String)
#undef ASI_FMI3_VALUES
typedef fmi3Status fmi3GetBinaryTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                     size_t valueSizes[], fmi3Binary values[], size_t nValues);
typedef fmi3Status fmi3SetBinaryTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                     const size_t valueSizes[], const fmi3Binary values[],
                                     size_t nValues);
typedef fmi3Status fmi3GetClockTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                    fmi3Clock values[]);
typedef fmi3Status fmi3SetClockTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                    const fmi3Clock values[]);

typedef fmi3Status fmi3GetNumberOfVariableDependenciesTYPE(fmi3Instance, fmi3ValueReference,
                                                           size_t *nDependencies);
typedef fmi3Status fmi3GetVariableDependenciesTYPE(fmi3Instance, fmi3ValueReference dependent,
                                                   size_t elementIndicesOfDependent[],
                                                   fmi3ValueReference independents[],
                                                   size_t elementIndicesOfIndependents[],
                                                   fmi3DependencyKind dependencyKinds[],
                                                   size_t nDependencies);

typedef fmi3Status fmi3GetFMUStateTYPE(fmi3Instance, fmi3FMUState *);
typedef fmi3Status fmi3SetFMUStateTYPE(fmi3Instance, fmi3FMUState);
typedef fmi3Status fmi3FreeFMUStateTYPE(fmi3Instance, fmi3FMUState *);
typedef fmi3Status fmi3SerializedFMUStateSizeTYPE(fmi3Instance, fmi3FMUState, size_t *size);
typedef fmi3Status fmi3SerializeFMUStateTYPE(fmi3Instance, fmi3FMUState, fmi3Byte serializedState[],
                                             size_t size);
typedef fmi3Status fmi3DeserializeFMUStateTYPE(fmi3Instance, const fmi3Byte serializedState[],
                                               size_t size, fmi3FMUState *);

/// sensitivity = d(unknowns)/d(knowns) seed
typedef fmi3Status
fmi3GetDirectionalDerivativeTYPE(fmi3Instance, const fmi3ValueReference unknowns[],
                                 size_t nUnknowns, const fmi3ValueReference knowns[],
                                 size_t nKnowns, const fmi3Float64 seed[], size_t nSeed,
                                 fmi3Float64 sensitivity[], size_t nSensitivity);
/// sensitivity^T = seed^T d(unknowns)/d(knowns)
typedef fmi3Status fmi3GetAdjointDerivativeTYPE(fmi3Instance, const fmi3ValueReference unknowns[],
                                                size_t nUnknowns, const fmi3ValueReference knowns[],
                                                size_t nKnowns, const fmi3Float64 seed[],
                                                size_t nSeed, fmi3Float64 sensitivity[],
                                                size_t nSensitivity);

typedef fmi3Status fmi3EnterConfigurationModeTYPE(fmi3Instance);
typedef fmi3Status fmi3ExitConfigurationModeTYPE(fmi3Instance);

typedef fmi3Status fmi3GetIntervalDecimalTYPE(fmi3Instance, const fmi3ValueReference vr[],
                                              size_t nvr, fmi3Float64 intervals[],
                                              fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetIntervalFractionTYPE(fmi3Instance, const fmi3ValueReference vr[],
                                               size_t nvr, fmi3UInt64 counters[],
                                               fmi3UInt64 resolutions[],
                                               fmi3IntervalQualifier qualifiers[]);
typedef fmi3Status fmi3GetShiftDecimalTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                           fmi3Float64 shifts[]);
typedef fmi3Status fmi3GetShiftFractionTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                            fmi3UInt64 counters[], fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetIntervalDecimalTYPE(fmi3Instance, const fmi3ValueReference vr[],
                                              size_t nvr, const fmi3Float64 intervals[]);
typedef fmi3Status fmi3SetIntervalFractionTYPE(fmi3Instance, const fmi3ValueReference vr[],
                                               size_t nvr, const fmi3UInt64 counters[],
                                               const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3SetShiftDecimalTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                           const fmi3Float64 shifts[]);
typedef fmi3Status fmi3SetShiftFractionTYPE(fmi3Instance, const fmi3ValueReference vr[], size_t nvr,
                                            const fmi3UInt64 counters[],
                                            const fmi3UInt64 resolutions[]);
typedef fmi3Status fmi3EvaluateDiscreteStatesTYPE(fmi3Instance);
typedef fmi3Status fmi3UpdateDiscreteStatesTYPE(fmi3Instance, fmi3Boolean *discreteStatesNeedUpdate,
                                                fmi3Boolean *terminateSimulation,
                                                fmi3Boolean *nominalsOfContinuousStatesChanged,
                                                fmi3Boolean *valuesOfContinuousStatesChanged,
                                                fmi3Boolean *nextEventTimeDefined,
                                                fmi3Float64 *nextEventTime);

// ---- model exchange ---------------------------------------------------------------------------------

typedef fmi3Status fmi3EnterContinuousTimeModeTYPE(fmi3Instance);
typedef fmi3Status fmi3CompletedIntegratorStepTYPE(fmi3Instance,
                                                   fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                                   fmi3Boolean *enterEventMode,
                                                   fmi3Boolean *terminateSimulation);
typedef fmi3Status fmi3SetTimeTYPE(fmi3Instance, fmi3Float64 time);
typedef fmi3Status fmi3SetContinuousStatesTYPE(fmi3Instance, const fmi3Float64 continuousStates[],
                                               size_t nContinuousStates);
typedef fmi3Status fmi3GetContinuousStateDerivativesTYPE(fmi3Instance, fmi3Float64 derivatives[],
                                                         size_t nContinuousStates);
typedef fmi3Status fmi3GetEventIndicatorsTYPE(fmi3Instance, fmi3Float64 eventIndicators[],
                                              size_t nEventIndicators);
typedef fmi3Status fmi3GetContinuousStatesTYPE(fmi3Instance, fmi3Float64 continuousStates[],
                                               size_t nContinuousStates);
typedef fmi3Status fmi3GetNominalsOfContinuousStatesTYPE(fmi3Instance, fmi3Float64 nominals[],
                                                         size_t nContinuousStates);
typedef fmi3Status fmi3GetNumberOfEventIndicatorsTYPE(fmi3Instance, size_t *nEventIndicators);
typedef fmi3Status fmi3GetNumberOfContinuousStatesTYPE(fmi3Instance, size_t *nContinuousStates);

// ---- co-simulation ----------------------------------------------------------------------------------

typedef fmi3Status fmi3EnterStepModeTYPE(fmi3Instance);
typedef fmi3Status fmi3GetOutputDerivativesTYPE(fmi3Instance, const fmi3ValueReference vr[],
                                                size_t nvr, const fmi3Int32 orders[],
                                                fmi3Float64 values[], size_t nValues);
typedef fmi3Status fmi3DoStepTYPE(fmi3Instance, fmi3Float64 currentCommunicationPoint,
                                  fmi3Float64 communicationStepSize,
                                  fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                  fmi3Boolean *eventHandlingNeeded,
                                  fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn,
                                  fmi3Float64 *lastSuccessfulTime);

// ---- scheduled execution ----------------------------------------------------------------------------

typedef fmi3Status fmi3ActivateModelPartitionTYPE(fmi3Instance, fmi3ValueReference clockReference,
                                                  fmi3Float64 activationTime);

#endif

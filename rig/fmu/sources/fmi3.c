/* The FMI 3.0 co-simulation interface of a unit. */
#include "fmi3Functions.h"

#include "model.c"

static void emit(Instance *one, int status, const char *category, const char *text) {
    if (one->logger != NULL)
        ((fmi3LogMessageCallback)one->logger)(one->environment, (fmi3Status)status, category, text);
}

static fmi3Status unsupported(fmi3Instance c, const char *function) {
    return report(c, ERROR, "%s: the unit does not support it", function);
}

const char *fmi3GetVersion(void) {
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[]) {
    return set_logging(c, "fmi3SetDebugLogging", on, count, categories);
}

fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3Boolean event_mode, fmi3Boolean early_return, const fmi3ValueReference intermediate[], size_t intermediates,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, fmi3IntermediateUpdateCallback update) {
    if (event_mode) {
        Instance none = {.environment = environment, .logger = (void *)logger};
        say(&none, ERROR, "fmi3InstantiateCoSimulation: eventModeUsed must be false, the unit has no events");
        return NULL;
    }
    return create(name, token, environment, (void *)logger);
}

fmi3Instance fmi3InstantiateModelExchange(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger) {
    return NULL;
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, fmi3ClockUpdateCallback update,
    fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c) {
    destroy(c);
}

fmi3Status fmi3EnterInitializationMode(
    fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean stop_defined,
    fmi3Float64 stop) {
    if (begin(c, "fmi3EnterInitializationMode", start, stop_defined, stop) != GOOD)
        return fmi3Error;
    ((Instance *)c)->state.mode = INITIALIZING;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
    return initialized(c, "fmi3ExitInitializationMode");
}

fmi3Status fmi3Terminate(fmi3Instance c) {
    Instance *one = c;
    if (in_mode(one, "fmi3Terminate", one->state.mode == STEPPING) != GOOD)
        return fmi3Error;
    one->state.mode = TERMINATED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance c) {
    reset(c);
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(
    fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 values[], size_t size) {
    if (size != count)
        return report(c, ERROR, "fmi3GetFloat64: room for %zu values of %zu variables", size, count);
    return get(c, "fmi3GetFloat64", vr, count, values);
}

fmi3Status fmi3SetFloat64(
    fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 values[], size_t size) {
    if (size != count)
        return report(c, ERROR, "fmi3SetFloat64: %zu values of %zu variables", size, count);
    return set(c, "fmi3SetFloat64", vr, count, values);
}

fmi3Status fmi3DoStep(
    fmi3Instance c, fmi3Float64 now, fmi3Float64 duration, fmi3Boolean no_return, fmi3Boolean *event,
    fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last) {
    int status = step(c, "fmi3DoStep", now, duration);
    *event = *terminate = *early = fmi3False;
    *last = ((Instance *)c)->state.values[0];
    return status;
}

STATE_FUNCTIONS(
    fmi3Status, fmi3Instance, fmi3FMUState, fmi3Byte, fmi3GetFMUState, fmi3SetFMUState, fmi3FreeFMUState,
    fmi3SerializedFMUStateSize, fmi3SerializeFMUState, fmi3DeserializeFMUState)

/* All variables are Float64, without clocks. */
#define NONE(function, ...)                                                                              \
    fmi3Status function(fmi3Instance c, const fmi3ValueReference vr[], size_t count, __VA_ARGS__) {       \
        return count == 0 ? fmi3OK : unsupported(c, #function);                                          \
    }
#define NO_TYPE(name, Type)                              \
    NONE(fmi3Get##name, Type values[], size_t size)       \
    NONE(fmi3Set##name, const Type values[], size_t size)
NO_TYPE(Float32, fmi3Float32)
NO_TYPE(Int8, fmi3Int8)
NO_TYPE(UInt8, fmi3UInt8)
NO_TYPE(Int16, fmi3Int16)
NO_TYPE(UInt16, fmi3UInt16)
NO_TYPE(Int32, fmi3Int32)
NO_TYPE(UInt32, fmi3UInt32)
NO_TYPE(Int64, fmi3Int64)
NO_TYPE(UInt64, fmi3UInt64)
NO_TYPE(Boolean, fmi3Boolean)
NO_TYPE(String, fmi3String)
NONE(fmi3GetBinary, size_t sizes[], fmi3Binary values[], size_t size)
NONE(fmi3SetBinary, const size_t sizes[], const fmi3Binary values[], size_t size)
NONE(fmi3GetClock, fmi3Clock values[])
NONE(fmi3SetClock, const fmi3Clock values[])
NONE(fmi3GetIntervalDecimal, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
NONE(fmi3GetIntervalFraction, fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
NONE(fmi3GetShiftDecimal, fmi3Float64 shifts[])
NONE(fmi3GetShiftFraction, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
NONE(fmi3SetIntervalDecimal, const fmi3Float64 intervals[])
NONE(fmi3SetIntervalFraction, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
NONE(fmi3SetShiftDecimal, const fmi3Float64 shifts[])
NONE(fmi3SetShiftFraction, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
NONE(fmi3GetOutputDerivatives, const fmi3Int32 orders[], fmi3Float64 values[], size_t size)

/* What the standard has for other kinds of units, and for capabilities that modelDescription.xml does not claim. */
#define MISSING(function, ...)                                \
    fmi3Status function(fmi3Instance c, ##__VA_ARGS__) {       \
        return unsupported(c, #function);                     \
    }
MISSING(fmi3EnterEventMode)
MISSING(fmi3EnterStepMode)
MISSING(fmi3EnterConfigurationMode)
MISSING(fmi3ExitConfigurationMode)
MISSING(fmi3EvaluateDiscreteStates)
MISSING(fmi3UpdateDiscreteStates, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals,
        fmi3Boolean *states, fmi3Boolean *defined, fmi3Float64 *next)
MISSING(fmi3GetNumberOfVariableDependencies, fmi3ValueReference vr, size_t *count)
MISSING(fmi3GetVariableDependencies, fmi3ValueReference vr, size_t dependent[], fmi3ValueReference independents[],
        size_t elements[], fmi3DependencyKind kinds[], size_t count)
MISSING(fmi3GetDirectionalDerivative, const fmi3ValueReference unknown[], size_t unknowns,
        const fmi3ValueReference known[], size_t knowns, const fmi3Float64 seed[], size_t seeds,
        fmi3Float64 values[], size_t size)
MISSING(fmi3GetAdjointDerivative, const fmi3ValueReference unknown[], size_t unknowns,
        const fmi3ValueReference known[], size_t knowns, const fmi3Float64 seed[], size_t seeds,
        fmi3Float64 values[], size_t size)
MISSING(fmi3EnterContinuousTimeMode)
MISSING(fmi3CompletedIntegratorStep, fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate)
MISSING(fmi3SetTime, fmi3Float64 time)
MISSING(fmi3SetContinuousStates, const fmi3Float64 states[], size_t count)
MISSING(fmi3GetContinuousStateDerivatives, fmi3Float64 derivatives[], size_t count)
MISSING(fmi3GetEventIndicators, fmi3Float64 indicators[], size_t count)
MISSING(fmi3GetContinuousStates, fmi3Float64 states[], size_t count)
MISSING(fmi3GetNominalsOfContinuousStates, fmi3Float64 nominals[], size_t count)
MISSING(fmi3GetNumberOfEventIndicators, size_t *count)
MISSING(fmi3GetNumberOfContinuousStates, size_t *count)
MISSING(fmi3ActivateModelPartition, fmi3ValueReference clock, fmi3Float64 time)

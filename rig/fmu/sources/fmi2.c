/* The FMI 2.0 co-simulation interface of a unit. */
#include "fmi2Functions.h"

#include "model.c"

/* The text is the format, with its per cent signs doubled: loggers that format nothing show it, too. */
static void emit(Instance *one, int status, const char *category, const char *text) {
    char format[1024], *to = format;
    for (; *text != '\0' && to < format + sizeof format - 2; text++) {
        *to++ = *text;
        if (*text == '%')
            *to++ = '%';
    }
    *to = '\0';
    if (one->logger != NULL)
        ((fmi2CallbackLogger)one->logger)(one->environment, one->name, (fmi2Status)status, category, format);
}

static fmi2Status unsupported(fmi2Component c, const char *function) {
    return report(c, ERROR, "%s: the unit does not support it", function);
}

const char *fmi2GetTypesPlatform(void) {
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void) {
    return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[]) {
    return set_logging(c, "fmi2SetDebugLogging", on, count, categories);
}

fmi2Component fmi2Instantiate(
    fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources, const fmi2CallbackFunctions *functions,
    fmi2Boolean visible, fmi2Boolean logging) {
    if (functions == NULL || type != fmi2CoSimulation)
        return NULL;
    return create(name, guid, functions->componentEnvironment, (void *)functions->logger);
}

void fmi2FreeInstance(fmi2Component c) {
    destroy(c);
}

fmi2Status fmi2SetupExperiment(
    fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean stop_defined,
    fmi2Real stop) {
    return begin(c, "fmi2SetupExperiment", start, stop_defined, stop);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    Instance *one = c;
    if (in_mode(one, "fmi2EnterInitializationMode", one->state.mode == INSTANTIATED) != GOOD)
        return fmi2Error;
    one->state.mode = INITIALIZING;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    return initialized(c, "fmi2ExitInitializationMode");
}

fmi2Status fmi2Terminate(fmi2Component c) {
    Instance *one = c;
    if (in_mode(one, "fmi2Terminate", one->state.mode == STEPPING) != GOOD)
        return fmi2Error;
    one->state.mode = TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    reset(c);
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real values[]) {
    return get(c, "fmi2GetReal", vr, count, values);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real values[]) {
    return set(c, "fmi2SetReal", vr, count, values);
}

/* All variables are real. */
#define NONE(function, Type)                                                                            \
    fmi2Status function(fmi2Component c, const fmi2ValueReference vr[], size_t count, Type values[]) {   \
        return count == 0 ? fmi2OK : unsupported(c, #function);                                          \
    }
NONE(fmi2GetInteger, fmi2Integer)
NONE(fmi2GetBoolean, fmi2Boolean)
NONE(fmi2GetString, fmi2String)
NONE(fmi2SetInteger, const fmi2Integer)
NONE(fmi2SetBoolean, const fmi2Boolean)
NONE(fmi2SetString, const fmi2String)

STATE_FUNCTIONS(
    fmi2Status, fmi2Component, fmi2FMUstate, fmi2Byte, fmi2GetFMUstate, fmi2SetFMUstate, fmi2FreeFMUstate,
    fmi2SerializedFMUstateSize, fmi2SerializeFMUstate, fmi2DeSerializeFMUstate)

fmi2Status fmi2GetDirectionalDerivative(
    fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns, const fmi2ValueReference known[],
    size_t knowns, const fmi2Real change[], fmi2Real values[]) {
    return unsupported(c, "fmi2GetDirectionalDerivative");
}

fmi2Status fmi2SetRealInputDerivatives(
    fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer order[], const fmi2Real values[]) {
    return count == 0 ? fmi2OK : unsupported(c, "fmi2SetRealInputDerivatives");
}

fmi2Status fmi2GetRealOutputDerivatives(
    fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer order[], fmi2Real values[]) {
    return count == 0 ? fmi2OK : unsupported(c, "fmi2GetRealOutputDerivatives");
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real now, fmi2Real duration, fmi2Boolean no_return) {
    return step(c, "fmi2DoStep", now, duration);
}

fmi2Status fmi2CancelStep(fmi2Component c) {
    return unsupported(c, "fmi2CancelStep");
}

/* A step is never pending: what is only known of a pending one cannot be given, which is no error. */
static fmi2Status unknown(fmi2Component c, const char *function) {
    return report(c, DISCARD, "%s: no step is pending", function);
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
    return unknown(c, "fmi2GetStatus");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
    Instance *one = c;
    if (kind != fmi2LastSuccessfulTime)
        return unknown(c, "fmi2GetRealStatus");
    *value = one->state.values[0];
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
    return unknown(c, "fmi2GetIntegerStatus");
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
    if (kind != fmi2Terminated)
        return unknown(c, "fmi2GetBooleanStatus");
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
    return unknown(c, "fmi2GetStringStatus");
}

/* A co-simulation unit's instance: its variables, their checks, the model's evaluation and its steps.
 *
 * Included by fmi2.c and fmi3.c, which are its interfaces. `unit.h` is generated for each unit: its
 * variables, start values, the mechanism's parameters and where the compiled kernels keep what they compute.
 * All memory is the instance's: instances share nothing that is written.
 */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { TIME, INPUT, STATE, OUTPUT, PARAMETER } Role;

typedef struct {
    const char *name;
    Role role;
    double start;
} Variable;

#include "unit.h"

/* The kernels' native entries. An array is passed as two pointers of numba's runtime, here none, its number of
 * elements, their size, the data, its shape and its stride. */
#define ARRAY void *, void *, int64_t, int64_t, double *, int64_t, int64_t
#define FLAT(data, size) NULL, NULL, (size), 8, (double *)(data), (size), 8

int32_t cells_kernel(int64_t *status, void **error, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY);
int32_t acceleration_kernel(int64_t *status, void **error, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY);
int32_t rk4_kernel(int64_t *status, void **error, ARRAY, ARRAY, ARRAY, ARRAY, ARRAY, double, ARRAY);

/* As fmi2Status and fmi3Status have them. */
enum { GOOD = 0, WARNING = 1, DISCARD = 2, ERROR = 3 };

typedef enum { INSTANTIATED, INITIALIZING, STEPPING, TERMINATED, FAILED } Mode;
static const char *const MODES[] = {
    "before initialization", "in initialization", "in simulation", "after termination", "after an error"};

/* All that a stored state holds. */
typedef struct {
    char token[sizeof TOKEN];
    Mode mode;
    int stale; /* the outputs are not those of the present inputs */
    int beyond[6]; /* legs outside their strokes */
    int stop_defined;
    double stop;
    double values[VARIABLES];
} State;

typedef struct {
    State state;
    double parameters[PARAMETERS];
    double work[WORK];
    char *name;
    void *environment;
    void *logger;
    int silent[2]; /* categories that are not logged: errors, warnings */
} Instance;

static const char *const CATEGORIES[] = {"logStatusError", "logStatusWarning"};

static void emit(Instance *one, int status, const char *category, const char *text);

static void say(Instance *one, int status, const char *text) {
    int category = status == ERROR ? 0 : 1;
    if (!one->silent[category])
        emit(one, status, CATEGORIES[category], text);
}

/* Log a message and return its status; an error ends the simulation until reset or a stored state. */
static int report(Instance *one, int status, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (status == ERROR)
        one->state.mode = FAILED;
    say(one, status, text);
    return status;
}

/* Switch what is logged; at first all is. No categories are all of them. */
static int set_logging(Instance *one, const char *function, int on, size_t count, const char *const categories[]) {
    int chosen[2] = {count == 0, count == 0};
    for (size_t k = 0; k < count; k++) {
        int error = strcmp(categories[k], CATEGORIES[0]) == 0, warning = strcmp(categories[k], CATEGORIES[1]) == 0;
        if (!error && !warning)
            return report(one, WARNING, "%s: there is no category %s, only %s and %s", function, categories[k],
                          CATEGORIES[0], CATEGORIES[1]);
        chosen[0] |= error;
        chosen[1] |= warning;
    }
    for (int k = 0; k < 2; k++)
        one->silent[k] = on ? one->silent[k] && !chosen[k] : one->silent[k] || chosen[k];
    return GOOD;
}

static void reset(Instance *one) {
    memset(&one->state, 0, sizeof one->state);
    strcpy(one->state.token, TOKEN);
    one->state.mode = INSTANTIATED;
    one->state.stale = 1;
    for (int k = 0; k < VARIABLES; k++)
        one->state.values[k] = UNIT[k].start;
}

/* A new instance; none, with a message in the log, where the token is that of another unit. */
static Instance *create(const char *name, const char *token, void *environment, void *logger) {
    Instance *one = calloc(1, sizeof(Instance));
    if (one == NULL)
        return NULL;
    one->environment = environment;
    one->logger = logger;
    if (name == NULL || name[0] == '\0')
        name = IDENTIFIER;
    one->name = malloc(strlen(name) + 1);
    if (one->name != NULL) {
        strcpy(one->name, name);
        if (token != NULL && strcmp(token, TOKEN) == 0) {
            reset(one);
            return one;
        }
        report(one, ERROR, "the token is %s, must be %s: modelDescription.xml is that of another unit",
               token == NULL ? "missing" : token, TOKEN);
    }
    free(one->name);
    free(one);
    return NULL;
}

static void destroy(Instance *one) {
    if (one != NULL) {
        free(one->name);
        free(one);
    }
}

static int in_mode(Instance *one, const char *function, int allowed) {
    if (allowed)
        return GOOD;
    if (one->state.mode == FAILED) { /* the cause is in the log already */
        say(one, ERROR, "the simulation has ended in an error: reset it, or restore a state");
        return ERROR;
    }
    return report(one, ERROR, "%s: not allowed %s", function, MODES[one->state.mode]);
}

/* Why a kernel gave no result. */
static int refused(Instance *one, int64_t status) {
    double t = one->state.values[0];
    if (status >= 1 && status <= 6)
        return report(one, ERROR,
                      "length[%d]: at %.9g s leg %d has no length or lies along the fixed axis of its universal joint",
                      (int)status, t, (int)status);
    if (status == SINGULAR)
        return report(one, ERROR, "pose: at %.9g s the platform is singular, the forces are not determined", t);
    return report(one, ERROR,
                  "pose, velocity: at %.9g s a number is not finite or too large, the motion has diverged", t);
}

static int check_pose(Instance *one) {
    const double *q = one->state.values + QUATERNION;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (fabs(norm - 1.0) <= UNIT_TOLERANCE)
        return GOOD;
    return report(one, ERROR, "%s, %s, %s, %s: norm %.9g, must be 1 within %g", UNIT[QUATERNION].name,
                  UNIT[QUATERNION + 1].name, UNIT[QUATERNION + 2].name, UNIT[QUATERNION + 3].name, norm,
                  UNIT_TOLERANCE);
}

/* A body that cannot exist, if its numbers are not those of the mechanism. */
static int check_platform(Instance *one) {
    const double *p = one->state.values + FIRST_PARAMETER, *I = p + INERTIA;
    int changed = 0;
    for (int k = MASS; k < INERTIA + 6; k++)
        changed |= p[k] != UNIT[FIRST_PARAMETER + k].start;
    if (!changed)
        return GOOD;
    if (!(p[MASS] > 0.0))
        return report(one, ERROR, "%s: %.9g kg, must be above 0 kg", UNIT[FIRST_PARAMETER + MASS].name, p[MASS]);
    double minor = I[0] * I[1] - I[3] * I[3];
    double whole = I[2] * minor - I[5] * (I[5] * I[0] - I[4] * I[3]) + I[4] * (I[3] * I[5] - I[4] * I[1]);
    if (!(I[0] > 0.0 && minor > 0.0 && whole > 0.0))
        return report(one, ERROR, "%s to %s: the inertia is not positive definite",
                      UNIT[FIRST_PARAMETER + INERTIA].name, UNIT[FIRST_PARAMETER + INERTIA + 5].name);
    return GOOD;
}

static void load(Instance *one) {
    memcpy(one->parameters, MECHANISM, sizeof MECHANISM);
    memcpy(one->parameters, one->state.values + FIRST_PARAMETER, PARAMETER_COUNT * sizeof(double));
}

/* Compute the outputs of the present inputs. */
static int evaluate(Instance *one) {
    double *v = one->state.values, motion[19], forces[6], *force;
    int64_t status = 0;
    void *error = NULL;
    if (!one->state.stale)
        return GOOD;
    if (check_pose(one) != GOOD)
        return ERROR;
    load(one);
#ifdef PLANT
    acceleration_kernel(&status, &error, FLAT(one->parameters, PARAMETERS), FLAT(v + MOTION, 13), FLAT(v + FORCE, 6),
                        FLAT(v + WRENCH, 6), FLAT(one->work, WORK), FLAT(v + ACCELERATION, 6));
    if (status != 0)
        return refused(one, status);
    memcpy(motion, v + MOTION, 13 * sizeof(double));
    memcpy(motion + 13, v + ACCELERATION, 6 * sizeof(double));
    force = forces; /* those given, again */
#else
    memcpy(motion, v + MOTION, 19 * sizeof(double));
    force = v + FORCE;
    (void)forces;
#endif
    cells_kernel(&status, &error, FLAT(one->parameters, PARAMETERS), FLAT(motion, 19), FLAT(v + WRENCH, 6),
                 FLAT(one->work, WORK), FLAT(force, 6), FLAT(v + CELL, 6));
    if (status != 0)
        return refused(one, status);
    memcpy(v + LENGTH, one->work + WORK_LENGTH, 6 * sizeof(double));
    memcpy(v + SPEED, one->work + WORK_SPEED, 6 * sizeof(double));
    one->state.stale = 0;
    return GOOD;
}

static int get(Instance *one, const char *function, const uint32_t references[], size_t count, double values[]) {
    for (size_t k = 0; k < count; k++) {
        if (references[k] >= VARIABLES)
            return report(one, ERROR, "%s: there is no variable with value reference %u", function, references[k]);
        if (UNIT[references[k]].role == OUTPUT && one->state.mode != FAILED && evaluate(one) != GOOD)
            return ERROR;
        values[k] = one->state.values[references[k]];
    }
    return GOOD;
}

static int set(Instance *one, const char *function, const uint32_t references[], size_t count, const double values[]) {
    Mode mode = one->state.mode;
    if (in_mode(one, function, mode <= STEPPING) != GOOD)
        return ERROR;
    for (size_t k = 0; k < count; k++) {
        if (references[k] >= VARIABLES)
            return report(one, ERROR, "%s: there is no variable with value reference %u", function, references[k]);
        const Variable *variable = UNIT + references[k];
        if (variable->role == TIME || variable->role == OUTPUT)
            return report(one, ERROR, "%s: cannot be set, the unit computes it", variable->name);
        if (variable->role != INPUT && mode == STEPPING)
            return report(one, ERROR, "%s: can only be set before the simulation begins", variable->name);
        if (!isfinite(values[k]))
            return report(one, ERROR, "%s: %g, must be finite", variable->name, values[k]);
    }
    for (size_t k = 0; k < count; k++)
        one->state.values[references[k]] = values[k];
    one->state.stale = 1;
    return GOOD;
}

static int begin(Instance *one, const char *function, double start, int stop_defined, double stop) {
    if (in_mode(one, function, one->state.mode == INSTANTIATED) != GOOD)
        return ERROR;
    if (!isfinite(start) || (stop_defined && !(stop >= start)))
        return report(one, ERROR, "time: start %g s, stop %g s: must be finite, and stop not before start", start,
                      stop);
    one->state.values[0] = start;
    one->state.stop_defined = stop_defined;
    one->state.stop = stop;
    return GOOD;
}

/* Warn of each leg that has left its stroke. */
static int check_strokes(Instance *one) {
    int status = GOOD;
    for (int leg = 0; leg < 6; leg++) {
        double length = one->state.values[LENGTH + leg];
        int beyond = !(length >= LOWEST[leg] && length <= HIGHEST[leg]);
        if (beyond && !one->state.beyond[leg])
            status = report(one, WARNING,
                            "%s: %.6g m at %.9g s is outside the stroke of %g to %g m: there are no end stops",
                            UNIT[LENGTH + leg].name, length, one->state.values[0], LOWEST[leg], HIGHEST[leg]);
        one->state.beyond[leg] = beyond;
    }
    return status;
}

static int initialized(Instance *one, const char *function) {
    if (in_mode(one, function, one->state.mode == INITIALIZING) != GOOD)
        return ERROR;
    if (check_platform(one) != GOOD || evaluate(one) != GOOD)
        return ERROR;
    one->state.mode = STEPPING;
    return check_strokes(one);
}

static int step(Instance *one, const char *function, double now, double duration) {
    double *time = one->state.values;
    if (in_mode(one, function, one->state.mode == STEPPING) != GOOD)
        return ERROR;
    if (!(fabs(now - *time) <= 1e-9 * fmax(1.0, fabs(*time))))
        return report(one, ERROR, "time: %.12g s, must be %.12g s, where the last step ended", now, *time);
    if (!(duration > 0.0 && duration <= LONGEST))
        return report(one, ERROR, "communicationStepSize: %g s, must be above 0 s and at most %g s", duration, LONGEST);
    double end = now + duration;
    if (one->state.stop_defined && end > one->state.stop + 1e-9 * fmax(1.0, fabs(one->state.stop)))
        return report(one, ERROR, "time: %.12g s is beyond the stop time of %.12g s", end, one->state.stop);
#ifdef PLANT
    double *v = one->state.values;
    double steps = fmax(1.0, ceil(duration / INTERNAL_STEP * (1.0 - 1e-9))), dt = duration / steps;
    load(one);
    for (double k = 0.0; k < steps; k += 1.0) {
        int64_t status = 0;
        void *error = NULL;
        rk4_kernel(&status, &error, FLAT(one->parameters, PARAMETERS), FLAT(v + MOTION, 13), FLAT(v + FORCE, 6),
                   FLAT(v + FORCE, 6), FLAT(v + WRENCH, 6), dt, FLAT(one->work, WORK));
        if (status != 0) {
            *time = now + k * dt;
            return refused(one, status);
        }
    }
    one->state.stale = 1;
#endif
    *time = end;
    if (evaluate(one) != GOOD)
        return ERROR;
    return check_strokes(one);
}

/* Stored states: copies of what the instance holds, which another instance of the unit can take. */
static int copy_state(Instance *one, const char *function, const void *from, void **stored) {
    if (*stored == NULL)
        *stored = malloc(sizeof(State));
    if (*stored == NULL)
        return report(one, ERROR, "%s: no memory", function);
    memcpy(*stored, from, sizeof(State));
    return GOOD;
}

static int is_state(const void *stored, size_t size) {
    State state; /* bytes need not be aligned as a state is */
    if (stored == NULL || size != sizeof state)
        return 0;
    memcpy(&state, stored, sizeof state);
    return memcmp(state.token, TOKEN, sizeof TOKEN) == 0 && (unsigned)state.mode <= FAILED;
}

static int restore(Instance *one, const char *function, const void *stored) {
    if (!is_state(stored, sizeof(State)))
        return report(one, ERROR, "%s: the state is not one of this unit", function);
    memcpy(&one->state, stored, sizeof(State));
    return GOOD;
}

static int serialize(Instance *one, const char *function, const void *stored, unsigned char bytes[], size_t size) {
    if (size < sizeof(State))
        return report(one, ERROR, "%s: room for %zu bytes, must be for %zu", function, size, sizeof(State));
    memcpy(bytes, stored, sizeof(State));
    return GOOD;
}

static int deserialize(Instance *one, const char *function, const unsigned char bytes[], size_t size, void **stored) {
    if (!is_state(bytes, size))
        return report(one, ERROR, "%s: the state is not one of this unit", function);
    return copy_state(one, function, bytes, stored);
}

/* The functions on stored states, which are those of FMI 2.0 and 3.0 but for their names. */
#define STATE_FUNCTIONS(Status, Component, Stored, Byte, GET, SET, FREE, SIZE, SERIALIZE, DESERIALIZE)       \
    Status GET(Component c, Stored *stored) {                                                               \
        return copy_state(c, #GET, &((Instance *)c)->state, stored);                                        \
    }                                                                                                       \
    Status SET(Component c, Stored stored) {                                                                \
        return restore(c, #SET, stored);                                                                    \
    }                                                                                                       \
    Status FREE(Component c, Stored *stored) {                                                              \
        if (stored != NULL) {                                                                               \
            free(*stored);                                                                                  \
            *stored = NULL;                                                                                 \
        }                                                                                                   \
        return (Status)GOOD;                                                                                     \
    }                                                                                                       \
    Status SIZE(Component c, Stored stored, size_t *size) {                                                 \
        *size = sizeof(State);                                                                              \
        return (Status)GOOD;                                                                                     \
    }                                                                                                       \
    Status SERIALIZE(Component c, Stored stored, Byte bytes[], size_t size) {                               \
        return serialize(c, #SERIALIZE, stored, (unsigned char *)bytes, size);                              \
    }                                                                                                       \
    Status DESERIALIZE(Component c, const Byte bytes[], size_t size, Stored *stored) {                      \
        return deserialize(c, #DESERIALIZE, (const unsigned char *)bytes, size, stored);                    \
    }

/* A co-simulation unit that this project did not make: a ship that heaves and pitches, beginning at rest, and makes way.
 * VERSION is 2 or 3. It reads the period of the sea from a file in its resources. Its integer parameter asks for trouble
 * in the first step that ends at `trouble_at` s or later. It logs what it is asked to log. In FMI 3.0 it has arrays, too,
 * and numbers of single precision. */
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEAVE, PITCH, QW, QX, QY, QZ, SURGE_SPEED, HEAVE_SPEED, PITCH_RATE, HEAVE_ACCELERATION, PITCH_ACCELERATION, NONE,
       SURGE, HEARD, HEIGHT, HEAVE_SIZE, PITCH_SIZE, BUSY, TROUBLE_AT, REALS, TROUBLE = 30, MOTION = 40, WIND, SINGLE };
enum { FINE, WARNS, DISCARDS, FAILS, FATAL, CRASHES, HANGS, NOT_A_NUMBER, ENDS, SLOWS };

typedef struct {
    double v[REALS], period, wind[2];
    int trouble, ended, logs;
    void *environment, *logger;
} Ship;

static void compute(Ship *s, double t) {
    double *v = s->v, w = 2.0 * M_PI / s->period, c = 1.0 - cos(w * t), d = w * sin(w * t), e = w * w * cos(w * t);
    double pitch = v[PITCH_SIZE] * M_PI / 180.0; /* the size is in degrees */
    v[HEAVE] = v[HEAVE_SIZE] * c, v[HEAVE_SPEED] = v[HEAVE_SIZE] * d, v[HEAVE_ACCELERATION] = v[HEAVE_SIZE] * e;
    v[PITCH] = v[PITCH_SIZE] * c, v[PITCH_RATE] = pitch * d, v[PITCH_ACCELERATION] = pitch * e;
    v[QW] = cos(0.5 * pitch * c), v[QY] = sin(0.5 * pitch * c);
    v[SURGE] = 0.02 * t, v[SURGE_SPEED] = 0.02; /* m/s: it makes way */
    v[HEARD] = v[HEIGHT];
}

static Ship *make(const char *resources, void *environment, void *logger) {
    char place[4096];
    Ship *s = calloc(1, sizeof *s);
    snprintf(place, sizeof place, "%s/sea.txt", strncmp(resources, "file://", 7) ? resources : resources + 7);
    FILE *file = fopen(place, "r");
    if (!file || fscanf(file, "%lf", &s->period) != 1)
        return NULL;
    fclose(file);
    s->environment = environment, s->logger = logger;
    s->v[TROUBLE_AT] = 0.1;
    puts("the ship is launched"); /* as some do, to the standard output */
    return s;
}

static void discard(Ship *s) {
    if (s->trouble == FATAL)
        puts("a wreck is freed"), fflush(stdout); /* which nobody may */
    free(s);
}

static int get(Ship *s, const unsigned *vr, size_t n, double *values) {
    for (size_t k = 0; k < n; k++)
        values[k] = s->v[vr[k]];
    return 0;
}

static int set(Ship *s, const unsigned *vr, size_t n, const double *values) {
    for (size_t k = 0; k < n; k++)
        s->v[vr[k]] = values[k];
    return 0;
}

static void say(Ship *s, int status, const char *what, double t);

static int step(Ship *s, double t) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) + 1e-9 * (now.tv_nsec - begin.tv_nsec) < s->v[BUSY]);
    compute(s, t);
    if (t < s->v[TROUBLE_AT] - 1e-9)
        return 0;
    if (s->trouble == CRASHES)
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    while (s->trouble == HANGS)
        sleep(1);
    if (s->trouble == NOT_A_NUMBER)
        s->v[HEAVE] = NAN;
    if (s->trouble == SLOWS)
        usleep(20000);
    s->ended = s->trouble == ENDS;
    if (s->trouble >= WARNS && s->trouble <= FATAL) {
        if (s->logs)
            say(s, s->trouble, "a wave breaks", t), say(s, 0, "the watch is told", t);
        return s->trouble;
    }
    return s->ended && VERSION == 2 ? DISCARDS : 0;
}

#define GOOD(name) int name(void) { return 0; }
#define BAD(name) int name(void) { return 3; }

#if VERSION == 2
static void say(Ship *s, int status, const char *what, double t) {
    void (*log)(void *, const char *, int, const char *, const char *, ...) = s->logger;
    log(s->environment, "ship", status, "logStatusError", "%s at %g s", what, t);
}
int fmi2SetDebugLogging(void *s, int on, size_t n, const char **names) { return ((Ship *)s)->logs = on, 0; }
void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources, void **callbacks) {
    return make(resources, callbacks[4], callbacks[0]);
}
void fmi2FreeInstance(void *s) { discard(s); }
int fmi2GetReal(void *s, const unsigned *vr, size_t n, double *values) { return get(s, vr, n, values); }
int fmi2SetReal(void *s, const unsigned *vr, size_t n, const double *values) { return set(s, vr, n, values); }
int fmi2SetInteger(void *s, const unsigned *vr, size_t n, const int *value) { return ((Ship *)s)->trouble = *value, 0; }
int fmi2ExitInitializationMode(void *s) { return compute(s, 0.0), 0; }
int fmi2DoStep(void *s, double now, double duration, int no_return) { return step(s, now + duration); }
int fmi2GetBooleanStatus(void *s, int kind, int *value) { return *value = kind == 3 && ((Ship *)s)->ended, 0; }
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
GOOD(fmi2SetupExperiment) GOOD(fmi2EnterInitializationMode) GOOD(fmi2Terminate) GOOD(fmi2Reset)
#else
static void say(Ship *s, int status, const char *what, double t) {
    void (*log)(void *, int, const char *, const char *) = s->logger;
    char text[100];
    snprintf(text, sizeof text, "%s at %g s", what, t);
    log(s->environment, status, "logStatusError", text);
}
int fmi3SetDebugLogging(void *s, _Bool on, size_t n, const char **names) { return ((Ship *)s)->logs = on, 0; }
void *fmi3InstantiateCoSimulation(
    const char *name, const char *token, const char *resources, _Bool visible, _Bool logging, _Bool event, _Bool early,
    const unsigned *intermediate, size_t count, void *environment, void *logger, void *update) {
    return make(resources, environment, logger);
}
void fmi3FreeInstance(void *s) { discard(s); }
static size_t size_of(unsigned vr) { return vr == MOTION ? 3 : vr == WIND ? 2 : 1; }
int fmi3GetFloat64(void *s, const unsigned *vr, size_t n, double *values, size_t size) {
    for (; n--; size -= size_of(*vr), values += size_of(*vr), vr++)
        if (*vr == MOTION)
            values[0] = ((Ship *)s)->v[SURGE], values[1] = ((Ship *)s)->v[HEAVE], values[2] = ((Ship *)s)->wind[0];
        else
            get(s, vr, 1, values);
    return size ? FAILS : FINE;
}
int fmi3SetFloat64(void *s, const unsigned *vr, size_t n, const double *values, size_t size) {
    for (; n--; size -= size_of(*vr), values += size_of(*vr), vr++)
        if (*vr == WIND)
            memcpy(((Ship *)s)->wind, values, sizeof ((Ship *)s)->wind);
        else
            set(s, vr, 1, values);
    return size ? FAILS : FINE;
}
int fmi3GetFloat32(void *s, const unsigned *vr, size_t n, float *values, size_t size) {
    return *values = ((Ship *)s)->wind[1], n == 1 && size == 1 && *vr == SINGLE ? FINE : FAILS;
}
int fmi3SetInt32(void *s, const unsigned *vr, size_t n, const int *value, size_t m) { return ((Ship *)s)->trouble = *value, 0; }
int fmi3ExitInitializationMode(void *s) { return compute(s, 0.0), 0; }
int fmi3DoStep(void *s, double now, double duration, _Bool prior, _Bool *event, _Bool *end, _Bool *early, double *last) {
    int status = step(s, now + duration);
    *event = *early = 0, *end = ((Ship *)s)->ended, *last = now + duration;
    return status;
}
const char *fmi3GetVersion(void) { return "3.0"; }
GOOD(fmi3EnterInitializationMode) GOOD(fmi3Terminate) GOOD(fmi3Reset)
#endif
#include "rest.h"

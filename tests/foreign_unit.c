/* A co-simulation unit that this project did not make: a damped spring from a point of the world to the platform's origin.
 * VERSION is 2 or 3. Its variables are inputs 0 to 9 (place, quaternion, velocity), outputs 10 to 12 (force in the
 * platform's axes), parameters 13 to 18 (stiffness, damping, rest position, busy time of a step). */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OUT = 10, K = 13, D, REST, BUSY = 18, ALL };

static void compute(double *v) {
    double w = v[3], x = v[4], y = v[5], z = v[6], f[3];
    for (int k = 0; k < 3; k++)
        f[k] = -v[K] * (v[k] - v[REST + k]) - v[D] * v[7 + k];
    v[OUT] = (1 - 2 * (y * y + z * z)) * f[0] + 2 * (x * y + w * z) * f[1] + 2 * (x * z - w * y) * f[2];
    v[OUT + 1] = 2 * (x * y - w * z) * f[0] + (1 - 2 * (x * x + z * z)) * f[1] + 2 * (y * z + w * x) * f[2];
    v[OUT + 2] = 2 * (x * z + w * y) * f[0] + 2 * (y * z - w * x) * f[1] + (1 - 2 * (x * x + y * y)) * f[2];
}

static void *make(void) {
    double *v = calloc(ALL, sizeof(double));
    v[3] = 1.0;
    return v;
}

static int step(double *v) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) + 1e-9 * (now.tv_nsec - begin.tv_nsec) < v[BUSY]);
    compute(v);
    return v[K] < 0.0 ? 3 : 0; /* a stiffness below zero is an error, at the first step */
}

static int get(double *v, const unsigned *vr, size_t n, double *values) {
    for (size_t k = 0; k < n; k++)
        values[k] = v[vr[k]];
    return 0;
}

static int set(double *v, const unsigned *vr, size_t n, const double *values) {
    for (size_t k = 0; k < n; k++)
        v[vr[k]] = values[k];
    return 0;
}

#define GOOD(name) int name(void) { return 0; }
#define BAD(name) int name(void) { return 3; }

#if VERSION == 2
void *fmi2Instantiate(const char *name, int type, const char *guid) { return strcmp(guid, "foreign") ? NULL : make(); }
void fmi2FreeInstance(void *v) { free(v); }
int fmi2GetReal(void *v, const unsigned *vr, size_t n, double *values) { return get(v, vr, n, values); }
int fmi2SetReal(void *v, const unsigned *vr, size_t n, const double *values) { return set(v, vr, n, values); }
int fmi2ExitInitializationMode(void *v) { return compute(v), 0; }
int fmi2DoStep(void *v, double now, double duration, int no_return) { return step(v); }
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
GOOD(fmi2SetDebugLogging) GOOD(fmi2SetupExperiment) GOOD(fmi2EnterInitializationMode) GOOD(fmi2Terminate) GOOD(fmi2Reset)
#else
void *fmi3InstantiateCoSimulation(const char *name, const char *token) { return strcmp(token, "foreign") ? NULL : make(); }
void fmi3FreeInstance(void *v) { free(v); }
int fmi3GetFloat64(void *v, const unsigned *vr, size_t n, double *values, size_t size) { return get(v, vr, n, values); }
int fmi3SetFloat64(void *v, const unsigned *vr, size_t n, const double *values, size_t s) { return set(v, vr, n, values); }
int fmi3ExitInitializationMode(void *v) { return compute(v), 0; }
int fmi3DoStep(void *v, double now, double duration, _Bool prior, _Bool *event, _Bool *end, _Bool *early, double *last) {
    *event = *end = *early = 0;
    *last = now + duration;
    return step(v);
}
const char *fmi3GetVersion(void) { return "3.0"; }
GOOD(fmi3SetDebugLogging) GOOD(fmi3EnterInitializationMode) GOOD(fmi3Terminate) GOOD(fmi3Reset)
#endif
#include "rest.h"

/* Six servo axes at six TCP ports, Modbus written out by hand: a drive of another maker.

The register table, addresses from 0, the high word first:

    input 0x3000     status word, states by CiA 402: mask 0x6F or 0x4F; bits 9 and 10 vary
    input 0x3001     reserved, anything
    input 0x3002     further status; bit 3 = 0: referenced; bits 8 to 10 = 5: the search of the reference runs
    input 0x3010     fault: 0x8130 telegram missing
    holding 0x1002   signed, 64 bits, actual position, nm; counts down as the rod comes out
    holding 0x1010   signed, 32 bits, actual speed, um/s; as above
    holding 0x1040   signed, 16 bits, force at the rod, 0.1 N, compression positive
    discrete 10      0: the holding brake is closed
    coil 40          1: at standstill
    holding 0x2000   control word, CiA 402: 6, 7, 15. Bit 9: each change takes the set position over.
                     Bit 4 rises in mode 6: the search of the reference begins
    holding 0x2001   reserved, write 0xA5A5: any other value is refused
    holding 0x2002   signed, mode: 0 none, 6 search of the reference, 8 position
    holding 0x2003   signed, 64 bits, set position, nm; as above
    holding 0x2007   reserved, write 0
    holding 0x2008   limit of torque, 0.1 %; 0 at power-up, which moves nothing
    holding 0x2100   ms without a telegram before the drive stops, 0: never
    holding 0x605A   signed, quick stop: 2: ramp, then without torque; 0 at power-up
    holding 0x6085   unsigned, 32 bits, ramp of a quick stop, mm/s2; 0 at power-up
    holding 0x6099   float, speed of the search, mm/s; 0 at power-up
    holding 0x0F00   model, upper byte 0x4A; lower byte: version
    holding 0x0F10   unsigned, 32 bits, serial number, 1001 to 1006
    holding 0x0F20   option board, 3

The functions are 1, 2, 3, 4, 6 and 16; any other address is refused. A step to torque takes some 30 ms. The rod follows
the set position with a lag. Prints the six ports, and ends when its standard input does. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { AXES = 6, OFF = 0x40, READY = 0x21, ON = 0x23, RUNNING = 0x27, STOPPING = 0x07, FAILED = 0x08, NONE = -1 };
enum { ILLEGAL_FUNCTION = 1, ILLEGAL_ADDRESS = 2, ILLEGAL_VALUE = 3, FAILURE = 4 };
static const double LAG = 0.2, STEP = 0.03, SEARCH = 0.3; /* s; a search takes SEARCH at least */

typedef struct {
    int listening, client, filled;
    uint8_t received[300];
    int number, state, next, fault;
    uint16_t control, command[9], watchdog, quick_stop, ramp[2], search[2];
    bool referenced, searching, follows;
    double due, updated, heard, searched, position, speed, target; /* s, m, m/s */
} Axis;

static Axis axes[AXES];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static bool torque(const Axis *a) { return a->state == RUNNING || a->state == STOPPING; }

static void enter(Axis *a, int state)
{
    a->state = state;
    a->next = NONE;
    if (!torque(a))
        a->searching = a->follows = false;
}

static void enter_later(Axis *a, int state, double delay)
{
    if (a->next == state)
        return;
    a->next = state;
    a->due = now() + delay;
}

static void obey(Axis *a)
{
    int word = a->control & 15;
    if (a->state == FAILED || a->state == STOPPING)
        return;
    if (!(word & 2))
        enter(a, OFF);
    else if (!(word & 4) && a->state == RUNNING) {
        enter(a, STOPPING);
        a->follows = a->searching = false;
        enter_later(a, OFF, 0.1);
    } else if (!(word & 4))
        enter(a, OFF);
    else if (a->state == OFF && (word & 7) == 6)
        enter_later(a, READY, STEP);
    else if (a->state == READY && word == 7)
        enter_later(a, ON, STEP);
    else if (a->state == ON && word == 15)
        enter_later(a, RUNNING, STEP);
    else if (a->state == RUNNING && word != 15)
        enter(a, ON);
}

static void advance(Axis *a)
{
    double time = now(), passed = time - a->updated, before = a->position, step;
    float search;
    uint32_t bits = (uint32_t)a->search[0] << 16 | a->search[1];
    memcpy(&search, &bits, sizeof search);
    a->updated = time;
    if (torque(a) && a->watchdog && time - a->heard > 1e-3 * a->watchdog) {
        enter(a, FAILED);
        a->fault = 0x8130;
    }
    step = 1e-3 * search * passed;
    if (a->searching && fabs(a->position) <= step) {
        a->position = 0.0;
        a->referenced = time - a->searched > SEARCH;
        a->searching = !a->referenced;
    } else if (a->searching)
        a->position -= copysign(step, a->position);
    else if (a->follows && a->command[8])
        a->position += (a->target - a->position) * fmin(1.0, passed / LAG);
    if (a->follows)
        a->speed = (a->target - a->position) / LAG;
    else if (passed > 0.0)
        a->speed = (a->position - before) / passed;
    if (a->next != NONE && time >= a->due)
        enter(a, a->next);
    obey(a);
}

static void take_command(Axis *a, uint16_t before)
{
    uint16_t word = a->command[0], changed = word ^ before;
    uint64_t raw = 0;
    a->control = word;
    if (a->state == FAILED) {
        if (changed & word & 0x80) {
            enter(a, OFF);
            a->fault = 0;
        }
        return;
    }
    if (a->state == RUNNING && a->command[2] == 6 && changed & word & 0x10) {
        a->searching = true;
        a->referenced = false;
        a->searched = now();
    }
    if (a->state == RUNNING && a->command[2] == 8 && changed & 0x200 && a->referenced) {
        for (int place = 3; place < 7; place++)
            raw = raw << 16 | a->command[place];
        a->target = -1e-9 * (int64_t)raw;
        a->follows = true;
    }
    obey(a);
}

/* The word of a number of some registers at an address, the high word first. */
static uint16_t word_of(int64_t number, int words, int place) { return number >> 16 * (words - 1 - place); }

static bool stored(Axis *a, int address, uint16_t **found)
{
    if (address >= 0x2000 && address < 0x2009)
        *found = a->command + address - 0x2000;
    else if (address == 0x2100)
        *found = &a->watchdog;
    else if (address == 0x605A)
        *found = &a->quick_stop;
    else if (address == 0x6085 || address == 0x6086)
        *found = a->ramp + address - 0x6085;
    else if (address == 0x6099 || address == 0x609A)
        *found = a->search + address - 0x6099;
    else
        return false;
    return true;
}

static bool read_one(Axis *a, int function, int address, uint16_t *value)
{
    uint16_t *found;
    if (function == 1)
        *value = fabs(a->speed) < 1e-4;
    else if (function == 2)
        *value = torque(a);
    if (function < 3)
        return address == (function == 1 ? 40 : 10);
    if (function == 4) {
        *value = address == 0x3000 ? a->state | (rand() & 3) << 9 : address == 0x3010 ? a->fault : rand();
        if (address == 0x3002)
            *value = (a->referenced ? 0 : 8) | (a->searching ? 5 : 1) << 8;
        return (address >= 0x3000 && address <= 0x3002) || address == 0x3010;
    }
    if (stored(a, address, &found))
        *value = *found;
    else if (address >= 0x1002 && address < 0x1006)
        *value = word_of(llround(-1e9 * a->position), 4, address - 0x1002);
    else if (address == 0x1010 || address == 0x1011)
        *value = word_of(llround(-1e6 * a->speed), 2, address - 0x1010);
    else if (address == 0x1040)
        *value = 300 + rand() % 7;
    else if (address == 0x0F00 || address == 0x0F20)
        *value = address == 0x0F00 ? 0x4A07 : 3;
    else if (address == 0x0F10 || address == 0x0F11)
        *value = address == 0x0F10 ? 0 : 1001 + a->number;
    else
        return false;
    return true;
}

static int write_all(Axis *a, int address, int count, const uint8_t *data)
{
    uint16_t *found, before = a->command[0];
    for (int place = 0; place < count; place++) {
        if (!stored(a, address + place, &found))
            return ILLEGAL_ADDRESS;
        if (address + place >= 0x2100 && torque(a))
            return FAILURE;
        if (address + place == 0x2001 && (data[2 * place] != 0xA5 || data[2 * place + 1] != 0xA5))
            return ILLEGAL_VALUE;
    }
    for (int place = 0; place < count && stored(a, address + place, &found); place++)
        *found = data[2 * place] << 8 | data[2 * place + 1];
    a->heard = now();
    if (address <= 0x2000 && 0x2000 < address + count)
        take_command(a, before);
    return 0;
}

/* Answer a request without its header; the number of bytes. */
static int answer(Axis *a, const uint8_t *request, int size, uint8_t *reply)
{
    int function = request[0], address = request[1] << 8 | request[2], count = request[3] << 8 | request[4];
    int error = 0, width = function < 3 ? 1 : 16;
    uint16_t value;
    reply[0] = function;
    advance(a);
    if (function >= 1 && function <= 4) {
        int bytes = (count * width + 7) / 8;
        if (size != 5 || count < 1 || bytes > 250)
            error = ILLEGAL_VALUE;
        memset(reply + 2, 0, bytes > 250 ? 0 : bytes);
        for (int place = 0; place < count && !error; place++) {
            if (!read_one(a, function, address + place, &value))
                error = ILLEGAL_ADDRESS;
            else if (width == 1)
                reply[2 + place / 8] |= value << place % 8;
            else {
                reply[2 + 2 * place] = value >> 8;
                reply[3 + 2 * place] = value;
            }
        }
        reply[1] = bytes;
        if (!error)
            return 2 + bytes;
    } else if (function == 6 && size == 5)
        error = write_all(a, address, 1, request + 3);
    else if (function == 16 && size > 6 && size == 6 + 2 * count && request[5] == 2 * count)
        error = write_all(a, address, count, request + 6);
    else
        error = function == 6 || function == 16 ? ILLEGAL_VALUE : ILLEGAL_FUNCTION;
    if (error) {
        reply[0] = function | 0x80;
        reply[1] = error;
        return 2;
    }
    memcpy(reply + 1, request + 1, 4);
    return 5;
}

/* Take what a client has sent; false where it has gone. */
static bool serve(Axis *a)
{
    uint8_t reply[300];
    ssize_t size = recv(a->client, a->received + a->filled, sizeof a->received - a->filled, 0);
    if (size <= 0)
        return false;
    a->filled += size;
    for (;;) {
        int length = a->filled < 7 ? 0 : a->received[4] << 8 | a->received[5];
        if (a->filled < 7 || a->filled < 6 + length)
            return true;
        if (length < 6 || length > 260)
            return false;
        int bytes = answer(a, a->received + 7, length - 1, reply + 7);
        memcpy(reply, a->received, 7);
        reply[4] = 0;
        reply[5] = bytes + 1;
        if (send(a->client, reply, 7 + bytes, MSG_NOSIGNAL) != 7 + bytes)
            return false;
        a->filled -= 6 + length;
        memmove(a->received, a->received + 6 + length, a->filled);
    }
}

int main(void)
{
    struct pollfd watched[1 + 2 * AXES] = {{.fd = 0, .events = POLLIN}};
    for (int number = 0; number < AXES; number++) {
        Axis *a = axes + number;
        struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof place;
        a->number = number;
        enter(a, OFF);
        a->position = 1e-3 * (number + 1);
        a->updated = a->heard = now();
        a->client = NONE;
        a->listening = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(a->listening, (struct sockaddr *)&place, size) || listen(a->listening, 2) ||
            getsockname(a->listening, (struct sockaddr *)&place, &size))
            return 1;
        printf("%d ", ntohs(place.sin_port));
    }
    puts("");
    fflush(stdout);
    for (;;) {
        for (int number = 0; number < AXES; number++) {
            watched[1 + 2 * number] = (struct pollfd){.fd = axes[number].listening, .events = POLLIN};
            watched[2 + 2 * number] = (struct pollfd){.fd = axes[number].client, .events = POLLIN};
        }
        if (poll(watched, 1 + 2 * AXES, -1) < 0)
            return 1;
        if (watched[0].revents)
            return 0;
        for (int number = 0; number < AXES; number++) {
            Axis *a = axes + number;
            if (a->client != NONE && watched[2 + 2 * number].revents && !serve(a)) {
                close(a->client);
                a->client = NONE;
            }
            if (watched[1 + 2 * number].revents) {
                if (a->client != NONE)
                    close(a->client);
                a->client = accept(a->listening, NULL, NULL);
                a->filled = 0;
            }
        }
    }
}

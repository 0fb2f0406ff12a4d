/* Writes samples to the ring in shared memory of that name as fast as it can, every number of which says which sample it
 * is, until an unused word of the header asks for its end, or for ten seconds. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct sample {
    uint64_t sequence;
    double time, sent, received;
    uint32_t given;
    double pose[7], velocity[6], acceleration[6];
};

int main(int n, char **argument) {
    char name[256];
    struct stat file;
    alarm(10);
    snprintf(name, sizeof name, "/%s", n > 1 ? argument[1] : "");
    int memory = shm_open(name, O_RDWR, 0);
    if (memory < 0 || fstat(memory, &file))
        return 1;
    uint64_t *header = mmap(NULL, file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (header == MAP_FAILED)
        return 1;
    uint64_t capacity = header[2], *numbers = header + 8;
    struct sample *slots = (struct sample *)(numbers + capacity);
    for (uint64_t i = 0; !__atomic_load_n(&header[7], __ATOMIC_RELAXED); i++) {
        uint64_t *number = &numbers[i & (capacity - 1)];
        volatile struct sample *s = &slots[i & (capacity - 1)]; /* one number after the other */
        __atomic_store_n(number, 2 * i + 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        s->sequence = i, s->time = s->sent = s->received = i / 1024.0, s->given = 3;
        for (int k = 0; k < 3; k++)
            s->pose[k] = i;
        s->pose[3] = 1.0, s->pose[4] = s->pose[5] = s->pose[6] = 0.0;
        for (int k = 0; k < 6; k++)
            s->velocity[k] = k < 4 ? i : 0.0, s->acceleration[k] = i;
        __atomic_store_n(number, 2 * i + 2, __ATOMIC_RELEASE);
        __atomic_store_n(&header[3], i + 1, __ATOMIC_RELEASE);
    }
    return 0;
}

/* An engine of the Gomocup protocol that answers at once; line_engine.py tells how it plays. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char taken[1024];
static int order[1024];
static int width = 15, next_cell, games;
/* moves, ns of thought, ns of processor time, and since when it thinks */
static int64_t unread[4], *tally = unread;
static int64_t think_ns = -1, asked_ns;

static int64_t ns_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void new_game(int shuffled) {
    uint32_t state = ++games;
    int cells = width * width;
    memset(taken, 0, sizeof taken);
    next_cell = 0;
    for (int i = 0; i < cells; i++) order[i] = i;
    for (int i = cells - 1; shuffled && i > 0; i--) {
        state = state * 1664525u + 1013904223u;
        int j = (state >> 8) % (i + 1), cell = order[i];
        order[i] = order[j];
        order[j] = cell;
    }
}

static void move(void) {
    while (taken[order[next_cell]]) next_cell++;
    int cell = order[next_cell];
    taken[cell] = 1;
    ++tally[0];
    if (think_ns >= 0) {
        tally[3] = asked_ns;
        int64_t left = asked_ns + think_ns - ns_of(CLOCK_MONOTONIC);
        struct timespec rest = {left / 1000000000, left % 1000000000};
        if (left > 0) nanosleep(&rest, NULL);
        tally[3] = 0;
        tally[1] += ns_of(CLOCK_MONOTONIC) - asked_ns;
        tally[2] = ns_of(CLOCK_PROCESS_CPUTIME_ID);
    }
    printf("%d,%d\n", cell % width, cell / width);
}

static void count_in(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof unread)) exit(1);
    tally = mmap(NULL, sizeof unread, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (tally == MAP_FAILED) exit(1);
}

int main(int argc, char **argv) {
    char line[256];
    int x, y, shuffled;
    const char *folder = getenv("LINE_ENGINE_TALLY");
    if (folder) count_in(folder);
    if (argc > 1) think_ns = atof(argv[1]) * 1e6;
    shuffled = folder && argc == 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    new_game(shuffled);
    while (fgets(line, sizeof line, stdin)) {
        if (think_ns >= 0) asked_ns = ns_of(CLOCK_MONOTONIC);
        if (sscanf(line, "START %d", &x) == 1 && x > 0 && x <= 32) {
            width = x; new_game(shuffled); puts("OK");
        } else if (!strncmp(line, "RESTART", 7)) {
            new_game(shuffled); puts("OK");
        } else if (!strncmp(line, "BEGIN", 5)) {
            move();
        } else if (sscanf(line, "TURN %d,%d", &x, &y) == 2) {
            taken[y * width + x] = 1; move();
        } else if (!strncmp(line, "BOARD", 5)) {
            memset(taken, 0, sizeof taken);
            while (fgets(line, sizeof line, stdin) && sscanf(line, "%d,%d", &x, &y) == 2)
                taken[y * width + x] = 1;
            next_cell = 0;
            move();
        } else if (!strncmp(line, "ABOUT", 5)) {
            puts("name=\"instant\", version=\"1\"");
        } else if (!strncmp(line, "END", 3)) {
            return 0;
        }
    }
}

/* An engine of the Gomocup protocol that answers at once; line_engine.py tells how it plays. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char taken[1024];
static int order[1024];
static int width = 15, next_cell, games;
static int64_t unread, *moves = &unread;

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
    ++*moves;
    printf("%d,%d\n", cell % width, cell / width);
}

static void count_in(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, (int)getpid());
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 8)) exit(1);
    moves = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (moves == MAP_FAILED) exit(1);
}

int main(void) {
    char line[256];
    int x, y;
    const char *folder = getenv("LINE_ENGINE_TALLY");
    if (folder) count_in(folder);
    setvbuf(stdout, NULL, _IOLBF, 0);
    new_game(folder != NULL);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "START %d", &x) == 1 && x > 0 && x <= 32) {
            width = x; new_game(folder != NULL); puts("OK");
        } else if (!strncmp(line, "RESTART", 7)) {
            new_game(folder != NULL); puts("OK");
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

"""A wall clock that is stepped, for a process and all that it starts.

A library is loaded before all others and adds an offset, read from a file that it maps, to what
the system says of the time of day. The monotonic clock, by which everything sleeps and waits,
is left as it is.
"""

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
    const char *path = getenv("STEPPED_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file >= 0) {
        void *page = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
        offset = page == MAP_FAILED ? 0 : page;
        close(file);
    }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*original)(clockid_t, struct timespec *);
    if (!original)
        original = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = original(clock, now);
    if (!failed && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *offset;
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec found;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (out)
        *out = found.tv_sec;
    return found.tv_sec;
}
"""


class SteppedClock:
    """The wall clock of the processes that are started with its environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock-offset"
        self._file.write_bytes(struct.pack("=q", 0))
        source, self._library = folder / "clock.c", folder / "clock.so"
        source.write_text(SOURCE)
        command = ("cc", "-shared", "-fPIC", "-O1", "-o", str(self._library), str(source), "-ldl")
        subprocess.run(command, check=True)

    @staticmethod
    def is_possible() -> bool:
        return shutil.which("cc") is not None

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "STEPPED_CLOCK": str(self._file)}

    def step(self, seconds: int) -> None:
        """Have the clock show this many seconds more than the system's."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", seconds))

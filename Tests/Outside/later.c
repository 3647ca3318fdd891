// A library to be preloaded: the time of day is LATER_SECONDS ahead. What counts from the start of the system is as ever.
// (libfaketime takes a Swift program's arguments from it.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long seconds(void) {
    const char *text = getenv("LATER_SECONDS");
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += seconds();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec precise;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    *time = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return result;
}

time_t time(time_t *time) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (time) *time = precise.tv_sec;
    return precise.tv_sec;
}

// Runs whole processes in turn, so that whatever else the machine does meets all of them alike.
//
//   race COUNT -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]
//
// Each program is run COUNT times after one run that is not counted; its output is thrown away, and a
// failure ends the race. One line per program: its name, median and 99th percentile of the time from its
// start to its end in microseconds, and the largest resident size of any run in bytes.
//
// It is a program of its own because the kernel counts the size of whoever starts a process into that
// process's largest size; this one is smaller than anything it runs.
//
// Build: cc -O2 -Wall -Wextra -o race race.c
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { most_runners = 8 };

struct runner {
    char **arguments;
    double *times;
    long largest;
};

static _Noreturn void fail(const char *what, int error) {
    fprintf(stderr, "race: %s: %s\n", what, strerror(error));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void silence(posix_spawn_file_actions_t *actions) {
    posix_spawn_file_actions_init(actions);
    int failure = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failure == 0) {
        failure = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (failure != 0) {
        fail("/dev/null", failure);
    }
}

/// One run; returns how long it took.
static double run(struct runner *runner) {
    const char *name = runner->arguments[0];
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t process = 0;
    int status = 0;
    silence(&actions);
    double start = now();
    int failure = posix_spawnp(&process, name, &actions, NULL, runner->arguments, environ);
    if (failure != 0) {
        fail(name, failure);
    }
    while (wait4(process, &status, 0, &usage) < 0) {
        if (errno != EINTR) {
            fail(name, errno);
        }
    }
    double end = now();
    posix_spawn_file_actions_destroy(&actions);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "race: %s failed with wait status %d\n", name, status);
        exit(1);
    }
    if (usage.ru_maxrss > runner->largest) {
        runner->largest = usage.ru_maxrss;
    }
    return end - start;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct runner *runner, size_t count) {
    qsort(runner->times, count, sizeof(double), ascending);
    printf(
        "%s %.1f %.1f %ld\n", basename(runner->arguments[0]), runner->times[count / 2],
        runner->times[count * 99 / 100], runner->largest * 1024);
}

/// Splits the arguments at every "--"; returns how many programs there are.
static size_t split(char **arguments, struct runner *runners, size_t count) {
    size_t found = 0;
    for (char **next = arguments; *next != NULL; next++) {
        if (strcmp(*next, "--") != 0) {
            continue;
        }
        *next = NULL;
        if (found == most_runners || next[1] == NULL) {
            return 0;
        }
        runners[found].arguments = next + 1;
        runners[found].largest = 0;
        runners[found].times = calloc(count, sizeof(double));
        if (runners[found].times == NULL) {
            fail("starting", ENOMEM);
        }
        found++;
    }
    return found;
}

int main(int argc, char **argv) {
    struct runner runners[most_runners];
    long count = argc > 3 ? strtol(argv[1], NULL, 10) : 0;
    size_t found = count > 0 ? split(argv + 2, runners, (size_t)count) : 0;
    if (found == 0) {
        fputs("usage: race COUNT -- PROGRAM ARGUMENT... [-- PROGRAM ARGUMENT...]\n", stderr);
        return 64;
    }
    for (size_t place = 0; place < found; place++) {
        run(&runners[place]);
    }
    for (long round = 0; round < count; round++) {
        for (size_t place = 0; place < found; place++) {
            runners[place].times[round] = run(&runners[place]);
        }
    }
    for (size_t place = 0; place < found; place++) {
        report(&runners[place], (size_t)count);
    }
    return 0;
}

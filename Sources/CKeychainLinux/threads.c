#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

struct start {
    char name[16];
    void (*body)(void *context);
    void *context;
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
    (void)prctl(PR_SET_NAME, start.name, 0, 0, 0);
    start.body(start.context);
    return NULL;
}

// A thread inherits the mask of the one that makes it. Signals are for the threads that wait for them, so that one of our own
// has none. A thread that runs a client's code keeps the mask: children of that code inherit it.
static int create(
    pthread_t *thread, size_t stack, int state, int keeps_signals, void *(*routine)(void *), void *argument) {
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0) {
        return failure;
    }
    failure = pthread_attr_setstacksize(&attributes, stack);
    if (failure == 0) {
        failure = pthread_attr_setdetachstate(&attributes, state);
    }
    if (failure == 0) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, keeps_signals ? NULL : &all, &before);
        failure = pthread_create(thread, &attributes, routine, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return failure;
}

int ckeychain_start_thread(
    const char *name, size_t stack, int keeps_signals, void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) {
        return ENOMEM;
    }
    *start = (struct start){.body = body, .context = context};
    strncpy(start->name, name, sizeof start->name - 1);
    pthread_t thread;
    int failure = create(&thread, stack, PTHREAD_CREATE_DETACHED, keeps_signals, run, start);
    if (failure != 0) {
        free(start);
    }
    return failure;
}

int ckeychain_run_thread(void *(*routine)(void *), void *argument) {
    pthread_t thread;
    int failure = create(&thread, 64 * 1024, PTHREAD_CREATE_JOINABLE, 0, routine, argument);
    return failure != 0 ? failure : pthread_join(thread, NULL);
}

int ckeychain_open_event(int *descriptor) {
    *descriptor = ckeychain_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return *descriptor < 0 ? errno : 0;
}

void ckeychain_set_event(int descriptor) {
    // Nothing else can fail than that it is set more often than can be counted.
    (void)eventfd_write(descriptor, 1);
}

void ckeychain_clear_event(int descriptor) {
    eventfd_t count;
    (void)eventfd_read(descriptor, &count);
}

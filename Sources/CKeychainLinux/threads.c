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

int ckeychain_start_thread(const char *name, size_t stack, void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) {
        return ENOMEM;
    }
    *start = (struct start){.body = body, .context = context};
    strncpy(start->name, name, sizeof start->name - 1);
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure == 0) {
        failure = pthread_attr_setstacksize(&attributes, stack);
        if (failure == 0) {
            failure = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        }
        if (failure == 0) {
            // The new thread inherits the mask: signals are for the threads that wait for them.
            sigset_t all, before;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, &before);
            pthread_t thread;
            failure = pthread_create(&thread, &attributes, run, start);
            pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        pthread_attr_destroy(&attributes);
    }
    if (failure != 0) {
        free(start);
    }
    return failure;
}

int ckeychain_open_event(int *descriptor) {
    *descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
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

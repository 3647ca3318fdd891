#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCONT};
enum { number_count = sizeof numbers / sizeof numbers[0] };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t registration = PTHREAD_ONCE_INIT;

/// The handler reads this; it is complete before `asking_process` is set.
static struct {
    int descriptor;
    struct termios before;
    struct termios silent;
    struct sigaction actions[number_count];
    int is_ours[number_count];
} asking;
/// 0: no process asks. A forked child inherits all of this and must leave its parent's terminal alone.
static volatile pid_t asking_process;

/// Only calls that are safe in a handler (signal-safety(7)).
static void give_terminal_back(void) {
    if (asking_process != 0 && asking_process == getpid()) {
        // The typed bytes so far may be half a secret, which no other program is to read.
        (void)tcflush(asking.descriptor, TCIFLUSH);
        (void)tcsetattr(asking.descriptor, TCSANOW, &asking.before);
    }
}

/// Makes the terminal silent again: a shell has set it for itself while this process was stopped. In the background it is
/// another program's.
static void silence_again(void) {
    int failure = errno;
    if (asking_process != 0 && asking_process == getpid() && tcgetpgrp(asking.descriptor) == getpgrp()) {
        (void)tcsetattr(asking.descriptor, TCSANOW, &asking.silent);
    }
    errno = failure;
}

/// Runs with every signal held back: SIGTTOU would stop a process in the background for setting the terminal.
static void take_signal(int number) {
    if (number == SIGCONT) {
        silence_again();
        return;
    }
    give_terminal_back();
    signal(number, SIG_DFL);
    raise(number);
}

static void give_back_at_exit(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    give_terminal_back();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void register_exit(void) { (void)atexit(give_back_at_exit); }

/// Only where the program has left a signal to end it: what else it does with one is its own affair.
static void take_signals(void) {
    struct sigaction ours = {.sa_handler = take_signal};
    sigfillset(&ours.sa_mask);
    for (int index = 0; index < number_count; index++) {
        struct sigaction *before = &asking.actions[index];
        asking.is_ours[index] = sigaction(numbers[index], NULL, before) == 0 && (before->sa_flags & SA_SIGINFO) == 0 &&
                                before->sa_handler == SIG_DFL &&
                                sigaction(numbers[index], &ours, NULL) == 0;
    }
}

/// A handler that the program has set meanwhile stays.
static void leave_signals(void) {
    for (int index = 0; index < number_count; index++) {
        struct sigaction present;
        if (asking.is_ours[index] && sigaction(numbers[index], NULL, &present) == 0 &&
            (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == take_signal) {
            (void)sigaction(numbers[index], &asking.actions[index], NULL);
        }
    }
}

int ckeychain_silence_terminal(int descriptor) {
    pthread_once(&registration, register_exit);
    pthread_mutex_lock(&lock);
    int failure = asking_process == getpid() ? EBUSY : 0;
    if (failure == 0 && tcgetattr(descriptor, &asking.before) != 0) {
        failure = errno;
    }
    if (failure == 0) {
        asking.descriptor = descriptor;
        asking.silent = asking.before;
        asking.silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | ISIG | IEXTEN);
        asking.silent.c_cc[VMIN] = 1;
        asking.silent.c_cc[VTIME] = 0;
        asking_process = getpid();
        take_signals();
        if (tcsetattr(descriptor, TCSANOW, &asking.silent) != 0) {
            failure = errno;
            leave_signals();
            asking_process = 0;
        } else {
            // Bytes that were typed before the question are no answer to it.
            (void)tcflush(descriptor, TCIFLUSH);
        }
    }
    pthread_mutex_unlock(&lock);
    return failure;
}

void ckeychain_restore_terminal(void) {
    pthread_mutex_lock(&lock);
    give_back_at_exit();
    leave_signals();
    asking_process = 0;
    pthread_mutex_unlock(&lock);
}

int ckeychain_columns(uint32_t character) {
    static _Thread_local locale_t locale;
    if (!locale) locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
    locale_t before = uselocale(locale);
    int columns = wcwidth((wchar_t)character);
    uselocale(before);
    return columns < 0 ? 1 : columns;
}

#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// A handler and not a descriptor of the kernel's (signalfd(2)): it works whichever thread a signal comes to.

/// The signals by which people and programs talk to a program.
static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCHLD};
enum { passed_count = sizeof passed / sizeof passed[0] };

static int notes[2] = {-1, -1};
/// The signals that this program was started with held back.
static sigset_t held;

static void note_signal(int number, siginfo_t *information, void *context) {
    (void)context;
    int failure = errno;
    // A key of the terminal, a change of its size and the like come from the kernel, to every process of the group; the end
    // of the terminal comes to the first process of the session alone.
    unsigned char note[2] = {(unsigned char)number, number == SIGHUP || information->si_code <= 0};
    // A full pipe has notes enough.
    (void)!write(notes[1], note, sizeof note);
    errno = failure;
}

int ckeychain_note_signals(int *descriptor) {
    if (pipe2(notes, O_CLOEXEC | O_NONBLOCK) != 0) {
        return errno;
    }
    struct sigaction ours = {.sa_sigaction = note_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&ours.sa_mask);
    for (int index = 0; index < passed_count; index++) {
        struct sigaction before;
        // A signal that this program was told to ignore is ignored by the programs that it starts, too.
        if (sigaction(passed[index], NULL, &before) == 0 &&
            (passed[index] == SIGCHLD || before.sa_handler != SIG_IGN)) {
            (void)sigaction(passed[index], &ours, NULL);
        }
    }
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    int failure = pthread_sigmask(SIG_UNBLOCK, &child, &held);
    *descriptor = notes[0];
    return failure;
}

int ckeychain_next_signal(int *number, int *is_sent) {
    unsigned char note[2];
    ssize_t count = read(notes[0], note, sizeof note);
    if (count != (ssize_t)sizeof note) {
        return count < 0 ? errno : EIO;
    }
    *number = note[0];
    *is_sent = note[1];
    return 0;
}

char **ckeychain_environment(void) { return environ; }

/// The limit of core files that this program was started with.
static struct rlimit cores = {RLIM_INFINITY, RLIM_INFINITY};

void ckeychain_limit_cores(void) {
    if (getrlimit(RLIMIT_CORE, &cores) == 0) {
        struct rlimit ours = {.rlim_cur = cores.rlim_max < 1 ? cores.rlim_max : 1, .rlim_max = cores.rlim_max};
        (void)setrlimit(RLIMIT_CORE, &ours);
    }
}

static void limit_cores_of_program(int leaves_cores) {
    struct rlimit ours = cores;
    if (!leaves_cores && cores.rlim_max >= 1) {
        ours.rlim_cur = ours.rlim_max = 1;
    }
    (void)setrlimit(RLIMIT_CORE, &ours);
}

static void set_all(const int *numbers, size_t count, void (*disposition)(int)) {
    for (size_t index = 0; index < count; index++) {
        (void)signal(numbers[index], disposition);
    }
}

int ckeychain_become(char *const *arguments, char *const *environment, const int *defaults, size_t count,
                     int leaves_cores) {
    // The program gets no rights that the kernel gave to this one by its file.
    if (setresgid(-1, getgid(), getgid()) != 0 || setresuid(-1, getuid(), getuid()) != 0) {
        return errno;
    }
    set_all(defaults, count, SIG_DFL);
    limit_cores_of_program(leaves_cores);
    // So that the program is searched in the PATH that it gets.
    char **before = environ;
    environ = (char **)environment;
    (void)execvp(arguments[0], arguments);
    int failure = errno;
    environ = before;
    set_all(defaults, count, SIG_IGN);
    return failure;
}

/// In the child, with every signal held back: only calls that take no lock and no memory. execvp(3) is not among those of
/// signal-safety(7), but glibc's searches the PATH on the stack.
static int become_child(char *const *arguments, char *const *environment, const int *defaults, size_t count,
                        int leaves_cores, int output, int error) {
    for (int index = 0; index < passed_count; index++) {
        struct sigaction present;
        if (sigaction(passed[index], NULL, &present) == 0 && present.sa_sigaction == note_signal) {
            (void)signal(passed[index], SIG_DFL);
        }
    }
    if ((output >= 0 && dup2(output, STDOUT_FILENO) < 0) || (error >= 0 && dup2(error, STDERR_FILENO) < 0) ||
        sigprocmask(SIG_SETMASK, &held, NULL) != 0) {
        return errno;
    }
    return ckeychain_become(arguments, environment, defaults, count, leaves_cores);
}

int ckeychain_start_program(char *const *arguments, char *const *environment, const int *defaults, size_t count,
                            int leaves_cores, int output, int error, int *process) {
    // Closed when the program begins, or has an errno value in it.
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        return errno;
    }
    sigset_t all, mask;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &mask);
    int failure = 0;
    pid_t child = fork();
    if (child == 0) {
        failure = become_child(arguments, environment, defaults, count, leaves_cores, output, error);
        (void)!write(report[1], &failure, sizeof failure);
        _exit(127);
    }
    if (child < 0) {
        failure = errno;
    }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    (void)close(report[1]);
    while (failure == 0 && read(report[0], &failure, sizeof failure) < 0 && errno == EINTR) {
    }
    (void)close(report[0]);
    if (failure != 0 && child > 0) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *process = (int)child;
    return failure;
}

int ckeychain_await_program(int process, int *has_ended, int *status) {
    int waited;
    pid_t found;
    while ((found = waitpid((pid_t)process, &waited, WNOHANG)) < 0 && errno == EINTR) {
    }
    if (found < 0) {
        return errno;
    }
    *has_ended = found == process;
    if (*has_ended) {
        *status = WIFSIGNALED(waited) ? -WTERMSIG(waited) : WEXITSTATUS(waited);
    }
    return 0;
}

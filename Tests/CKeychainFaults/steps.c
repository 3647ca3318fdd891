// Counting steps, and what happens at the chosen one.
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most_kinds = 1 << 16 };

struct ckeychain_fault_report {
    int64_t steps;
    int is_reached;
    char file[64];
    unsigned char kinds[most_kinds];
};

static struct ckeychain_fault_plan plan;
static struct ckeychain_fault_report *report;
static bool is_armed;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void enter(void) { pthread_mutex_lock(&mutex); }
void leave(void) { pthread_mutex_unlock(&mutex); }

void give_up(const char *reason, const char *path) {
    fprintf(stderr, "fault layer: %s: %s\n", reason, path);
    _exit(70);
}

void ckeychain_faults_die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

void *ckeychain_shared_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct ckeychain_fault_report *ckeychain_fault_report_make(void) {
    return ckeychain_shared_memory(sizeof(struct ckeychain_fault_report));
}

void ckeychain_fault_report_clear(struct ckeychain_fault_report *report) { memset(report, 0, sizeof *report); }

int64_t ckeychain_fault_report_steps(const struct ckeychain_fault_report *report) { return report->steps; }

int ckeychain_fault_report_is_reached(const struct ckeychain_fault_report *report) { return report->is_reached; }

enum ckeychain_step ckeychain_fault_report_kind(const struct ckeychain_fault_report *report, int64_t step) {
    return step > 0 && step <= most_kinds ? report->kinds[step - 1] : 0;
}

const char *ckeychain_fault_report_file(const struct ckeychain_fault_report *report) { return report->file; }

void ckeychain_faults_begin(
    const char *root, struct ckeychain_fault_plan chosen, struct ckeychain_fault_report *shared) {
    plan = chosen;
    report = shared;
    disk_begin(root);
    vfs_register();
}

void ckeychain_faults_arm(void) {
    enter();
    is_armed = true;
    leave();
}

void ckeychain_faults_disarm(void) {
    enter();
    is_armed = false;
    leave();
}

void ckeychain_faults_cut_power(void) {
    enter();
    disk_lose(plan.fault == CKEYCHAIN_FAULT_POWER_SUBSET, plan.seed, plan.keeps_shared_memory);
    ckeychain_faults_die();
}

int ckeychain_fault_applies(enum ckeychain_fault fault, enum ckeychain_step kind) {
    switch (fault) {
    case CKEYCHAIN_FAULT_TEAR_SECTOR:
    case CKEYCHAIN_FAULT_TEAR_ODD:
        return kind == CKEYCHAIN_STEP_WRITE;
    case CKEYCHAIN_FAULT_NO_SPACE:
    case CKEYCHAIN_FAULT_NO_SPACE_FROM_THEN_ON:
        return kind != CKEYCHAIN_STEP_REMOVE && kind != CKEYCHAIN_STEP_TRUNCATE
            && kind != CKEYCHAIN_STEP_SYNC_DIRECTORY;
    default:
        return 1;
    }
}

/// Whether the fault happens now.
static bool is_now(enum ckeychain_step kind, const char *path) {
    if (!is_armed) return false;
    report->steps += 1;
    if (report->steps <= most_kinds) report->kinds[report->steps - 1] = kind;
    bool goes_on = plan.fault == CKEYCHAIN_FAULT_NO_SPACE_FROM_THEN_ON || plan.fault == CKEYCHAIN_FAULT_IO_FROM_THEN_ON;
    if (plan.fault == CKEYCHAIN_FAULT_NONE || report->steps < plan.step) return false;
    if (report->steps > plan.step && !goes_on) return false;
    if (!ckeychain_fault_applies(plan.fault, kind)) return false;
    if (!report->is_reached) {
        const char *name = strrchr(path, '/');
        snprintf(report->file, sizeof report->file, "%s", name ? name + 1 : path);
    }
    report->is_reached = 1;
    return true;
}

/// The errno value of a call that fails; does not return if the process ends.
static int outcome(void) {
    switch (plan.fault) {
    case CKEYCHAIN_FAULT_POWER:
    case CKEYCHAIN_FAULT_POWER_SUBSET:
        ckeychain_faults_cut_power();
    case CKEYCHAIN_FAULT_NO_SPACE:
    case CKEYCHAIN_FAULT_NO_SPACE_FROM_THEN_ON:
        return ENOSPC;
    case CKEYCHAIN_FAULT_IO:
    case CKEYCHAIN_FAULT_IO_FROM_THEN_ON:
        return EIO;
    default:
        ckeychain_faults_die();
    }
}

int step(enum ckeychain_step kind, const char *path) { return is_now(kind, path) ? outcome() : 0; }

int step_write(const char *path, size_t count, size_t *part) {
    *part = count;
    if (!is_now(CKEYCHAIN_STEP_WRITE, path)) return 0;
    switch (plan.fault) {
    case CKEYCHAIN_FAULT_TEAR_SECTOR:
        *part = count / 2 / 512 * 512;
        // A small write is one sector: it is there or not.
        if (*part == 0) ckeychain_faults_die();
        return 0;
    case CKEYCHAIN_FAULT_TEAR_ODD:
        *part = count > 1 ? (count / 2) | 1 : 0;
        if (*part >= count) *part = count - 1;
        if (*part == 0) ckeychain_faults_die();
        return 0;
    default:
        return outcome();
    }
}

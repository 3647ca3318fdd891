// Files that fail: every call of this process that changes a file of a store is a step, and one chosen step fails,
// ends the process, or takes with it what was not forced to the disk.
//
// It stands on both ways to the disk: a VFS that becomes SQLite's default, and functions in place of the system's.
// For one process that runs one case and ends; nothing is ever freed.
#ifndef CKEYCHAINFAULTS_H
#define CKEYCHAINFAULTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// What happens at the chosen step.
enum ckeychain_fault {
    CKEYCHAIN_FAULT_NONE,
    /// The process ends before the call.
    CKEYCHAIN_FAULT_KILL,
    /// A write does its first part, whole sectors of 512 bytes, and the process ends.
    CKEYCHAIN_FAULT_TEAR_SECTOR,
    /// The same with an odd number of bytes.
    CKEYCHAIN_FAULT_TEAR_ODD,
    /// Before the call the power fails: what was not synced is gone, contents, sizes and names.
    CKEYCHAIN_FAULT_POWER,
    /// The same, but of what was not synced each sector, each size and the first few names of each directory may
    /// have reached the disk, by the seed.
    CKEYCHAIN_FAULT_POWER_SUBSET,
    /// The call fails, and does nothing.
    CKEYCHAIN_FAULT_NO_SPACE,
    CKEYCHAIN_FAULT_IO,
    /// The call and all later ones fail.
    CKEYCHAIN_FAULT_NO_SPACE_FROM_THEN_ON,
    CKEYCHAIN_FAULT_IO_FROM_THEN_ON,
};

/// What a step is. A letter each, so that the steps of an operation can be printed.
enum ckeychain_step {
    CKEYCHAIN_STEP_CREATE = 'c',
    CKEYCHAIN_STEP_WRITE = 'w',
    CKEYCHAIN_STEP_TRUNCATE = 't',
    CKEYCHAIN_STEP_SYNC = 's',
    CKEYCHAIN_STEP_SYNC_DIRECTORY = 'd',
    CKEYCHAIN_STEP_RENAME = 'r',
    CKEYCHAIN_STEP_LINK = 'l',
    CKEYCHAIN_STEP_REMOVE = 'u',
    CKEYCHAIN_STEP_MAKE_DIRECTORY = 'm',
    CKEYCHAIN_STEP_SHARED_MEMORY = 'h',
};

/// Whether a fault can happen at such a step: only a write is torn, and no space is needed to remove something.
int ckeychain_fault_applies(enum ckeychain_fault fault, enum ckeychain_step step);

struct ckeychain_fault_plan {
    enum ckeychain_fault fault;
    /// Counted from 1, from ckeychain_faults_arm() on.
    int64_t step;
    uint64_t seed;
    /// Whether the index of SQLite's log, which is never synced, outlives a power cut.
    int keeps_shared_memory;
};

/// What a parent process reads after its child is gone.
struct ckeychain_fault_report;

/// Memory that a forked child shares; NULL if there is none.
void *ckeychain_shared_memory(size_t size);

struct ckeychain_fault_report *ckeychain_fault_report_make(void);
void ckeychain_fault_report_clear(struct ckeychain_fault_report *report);
/// How many steps there were.
int64_t ckeychain_fault_report_steps(const struct ckeychain_fault_report *report);
/// Whether the chosen step came.
int ckeychain_fault_report_is_reached(const struct ckeychain_fault_report *report);
/// What a step was, counted from 1.
enum ckeychain_step ckeychain_fault_report_kind(const struct ckeychain_fault_report *report, int64_t step);
/// The last part of the path of the file at the chosen step.
const char *ckeychain_fault_report_file(const struct ckeychain_fault_report *report);

/// From now on files below this directory are looked after. What is there now is on the disk. Before SQLite is used.
void ckeychain_faults_begin(
    const char *root, struct ckeychain_fault_plan plan, struct ckeychain_fault_report *report);
/// From now on steps are counted.
void ckeychain_faults_arm(void);
/// From now on they are not any more, and nothing fails.
void ckeychain_faults_disarm(void);
/// Ends the process as kill -9 does.
_Noreturn void ckeychain_faults_die(void);
/// The power fails now.
_Noreturn void ckeychain_faults_cut_power(void);

// As the system calls of these names: -1 and errno.
int ckeychain_faults_open(const char *path, int flags);
ssize_t ckeychain_faults_write(int file, const void *bytes, size_t count);
ssize_t ckeychain_faults_pwrite(int file, const void *bytes, size_t count, int64_t offset);
int ckeychain_faults_fsync(int file);
int ckeychain_faults_rename(const char *path, const char *name);
int ckeychain_faults_link(const char *path, const char *name);
int ckeychain_faults_unlink(const char *path);
int ckeychain_faults_mkdir(const char *path);

#endif

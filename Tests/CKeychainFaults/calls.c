// In place of the system's calls.
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/// Gives up the mutex and returns what a failed call does.
static int failed(int failure) {
    leave();
    errno = failure;
    return -1;
}

int ckeychain_faults_open(const char *path, int flags) {
    enter();
    bool is_new = (flags & O_CREAT) && disk_has(path) && access(path, F_OK) != 0;
    int failure = is_new ? step(CKEYCHAIN_STEP_CREATE, path) : 0;
    if (failure) return failed(failure);
    int file = open(path, flags, 0600);
    if (file < 0) return failed(errno);
    if (is_new) disk_named(path);
    leave();
    return file;
}

static ssize_t write_at(int file, const void *bytes, size_t count, int64_t offset) {
    enter();
    const char *path = disk_path(file);
    size_t part = count;
    int failure = path ? step_write(path, count, &part) : 0;
    if (failure) return failed(failure);
    ssize_t written = offset < 0 ? write(file, bytes, part) : pwrite(file, bytes, part, offset);
    if (part < count) ckeychain_faults_die();
    if (written < 0) return failed(errno);
    leave();
    return written;
}

ssize_t ckeychain_faults_write(int file, const void *bytes, size_t count) { return write_at(file, bytes, count, -1); }

ssize_t ckeychain_faults_pwrite(int file, const void *bytes, size_t count, int64_t offset) {
    return write_at(file, bytes, count, offset);
}

/// Nothing is really forced to a disk: it would only take time.
int ckeychain_faults_fsync(int file) {
    enter();
    const char *path = disk_path(file);
    struct stat information;
    if (path && fstat(file, &information) == 0) {
        int failure = step(S_ISDIR(information.st_mode) ? CKEYCHAIN_STEP_SYNC_DIRECTORY : CKEYCHAIN_STEP_SYNC, path);
        if (failure) return failed(failure);
    }
    disk_synced_descriptor(file);
    leave();
    return 0;
}

int ckeychain_faults_rename(const char *path, const char *name) {
    enter();
    int failure = step(CKEYCHAIN_STEP_RENAME, name);
    if (failure) return failed(failure);
    if (rename(path, name) != 0) return failed(errno);
    disk_renamed(path, name);
    leave();
    return 0;
}

int ckeychain_faults_link(const char *path, const char *name) {
    enter();
    int failure = step(CKEYCHAIN_STEP_LINK, name);
    if (failure) return failed(failure);
    if (link(path, name) != 0) return failed(errno);
    disk_named(name);
    leave();
    return 0;
}

int ckeychain_faults_unlink(const char *path) {
    enter();
    // Where there is nothing, nothing changes.
    if (access(path, F_OK) != 0) return failed(errno);
    int failure = step(CKEYCHAIN_STEP_REMOVE, path);
    if (failure) return failed(failure);
    if (unlink(path) != 0) return failed(errno);
    disk_removed(path);
    leave();
    return 0;
}

int ckeychain_faults_mkdir(const char *path) {
    enter();
    bool is_new = disk_has(path) && access(path, F_OK) != 0;
    int failure = is_new ? step(CKEYCHAIN_STEP_MAKE_DIRECTORY, path) : 0;
    if (failure) return failed(failure);
    if (mkdir(path, 0700) != 0) return failed(errno);
    disk_named(path);
    leave();
    return 0;
}

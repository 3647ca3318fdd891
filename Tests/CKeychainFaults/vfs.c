// SQLite's way to the disk: a VFS around its own, registered as the default.
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    sqlite3_file base;
    /// NULL for a temporary file, which SQLite alone knows the name of.
    const char *path;
    /// As the VFS below: the first sync of a journal or log also syncs the directory, in which it may be new.
    bool syncs_directory;
    sqlite3_file *below;
};

static sqlite3_vfs *below;

static struct file *of(sqlite3_file *file) { return (struct file *)file; }
static const char *name(const struct file *file) { return file->path ? file->path : "temporary file"; }

static int close_file(sqlite3_file *base) { return of(base)->below->pMethods->xClose(of(base)->below); }

static int read_file(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    return of(base)->below->pMethods->xRead(of(base)->below, bytes, count, offset);
}

static int write_file(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    struct file *file = of(base);
    enter();
    size_t part;
    int failure = step_write(name(file), (size_t)count, &part);
    int code = failure == ENOSPC ? SQLITE_FULL
        : failure                ? SQLITE_IOERR_WRITE
                                 : file->below->pMethods->xWrite(file->below, bytes, (int)part, offset);
    if (!failure && part < (size_t)count) ckeychain_faults_die();
    leave();
    return code;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size) {
    struct file *file = of(base);
    enter();
    int code = step(CKEYCHAIN_STEP_TRUNCATE, name(file)) ? SQLITE_IOERR_TRUNCATE
                                                         : file->below->pMethods->xTruncate(file->below, size);
    leave();
    return code;
}

/// Nothing is really forced to a disk: it would only take time.
static int sync_file(sqlite3_file *base, int flags) {
    (void)flags;
    struct file *file = of(base);
    enter();
    int failure = step(CKEYCHAIN_STEP_SYNC, name(file));
    if (!failure && file->path) disk_synced(file->path);
    if (!failure && file->path && file->syncs_directory) {
        // That it failed is not told: SQLite's own VFS does not look.
        if (step(CKEYCHAIN_STEP_SYNC_DIRECTORY, file->path) == 0) disk_synced_directory_of(file->path);
        file->syncs_directory = false;
    }
    leave();
    return failure ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
    return of(base)->below->pMethods->xFileSize(of(base)->below, size);
}

static int lock(sqlite3_file *base, int level) { return of(base)->below->pMethods->xLock(of(base)->below, level); }

static int unlock(sqlite3_file *base, int level) { return of(base)->below->pMethods->xUnlock(of(base)->below, level); }

static int check_reserved_lock(sqlite3_file *base, int *result) {
    return of(base)->below->pMethods->xCheckReservedLock(of(base)->below, result);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    return of(base)->below->pMethods->xFileControl(of(base)->below, operation, argument);
}

static int sector_size(sqlite3_file *base) { return of(base)->below->pMethods->xSectorSize(of(base)->below); }

static int device_characteristics(sqlite3_file *base) {
    return of(base)->below->pMethods->xDeviceCharacteristics(of(base)->below);
}

/// The index of the log is a file that SQLite maps into memory: what it writes there is no step, that it grows is.
static int map_shared_memory(sqlite3_file *base, int region, int size, int extends, void volatile **memory) {
    struct file *file = of(base);
    enter();
    char path[512];
    snprintf(path, sizeof path, "%.500s", name(file));
    char *suffix = path + strlen(path);
    snprintf(suffix, 12, "-shm");
    struct stat information;
    bool is_new = stat(path, &information) != 0;
    bool grows = extends && (is_new || information.st_size < (off_t)(region + 1) * size);
    int code = grows && step(CKEYCHAIN_STEP_SHARED_MEMORY, path)
        ? SQLITE_IOERR_SHMSIZE
        : file->below->pMethods->xShmMap(file->below, region, size, extends, memory);
    if (is_new && disk_has(path) && access(path, F_OK) == 0) disk_named(path);
    leave();
    return code;
}

static int lock_shared_memory(sqlite3_file *base, int offset, int count, int flags) {
    return of(base)->below->pMethods->xShmLock(of(base)->below, offset, count, flags);
}

static void barrier(sqlite3_file *base) { of(base)->below->pMethods->xShmBarrier(of(base)->below); }

static int unmap_shared_memory(sqlite3_file *base, int removes) {
    struct file *file = of(base);
    enter();
    char path[512];
    snprintf(path, sizeof path, "%.500s-shm", name(file));
    bool was_there = access(path, F_OK) == 0;
    int code = file->below->pMethods->xShmUnmap(file->below, removes);
    if (was_there && disk_has(path) && access(path, F_OK) != 0) disk_removed(path);
    leave();
    return code;
}

static int fetch(sqlite3_file *base, sqlite3_int64 offset, int count, void **memory) {
    return of(base)->below->pMethods->xFetch(of(base)->below, offset, count, memory);
}

static int unfetch(sqlite3_file *base, sqlite3_int64 offset, void *memory) {
    return of(base)->below->pMethods->xUnfetch(of(base)->below, offset, memory);
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_shared_memory,
    .xShmLock = lock_shared_memory,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared_memory,
    .xFetch = fetch,
    .xUnfetch = unfetch,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *flags_given) {
    (void)vfs;
    struct file *file = of(base);
    memset(file, 0, sizeof *file);
    file->below = (sqlite3_file *)(file + 1);
    file->path = path && disk_has(path) ? path : NULL;
    file->syncs_directory =
        (flags & SQLITE_OPEN_CREATE)
        && (flags & (SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL));
    enter();
    bool is_new = file->path && (flags & SQLITE_OPEN_CREATE) && access(path, F_OK) != 0;
    int failure = is_new ? step(CKEYCHAIN_STEP_CREATE, path) : 0;
    int code = failure ? SQLITE_CANTOPEN : below->xOpen(below, path, file->below, flags, flags_given);
    if (code == SQLITE_OK && is_new) disk_named(path);
    leave();
    file->base.pMethods = !failure && file->below->pMethods ? &methods : NULL;
    return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int syncs_directory) {
    (void)vfs;
    enter();
    bool is_ours = disk_has(path) && access(path, F_OK) == 0;
    int code = is_ours && step(CKEYCHAIN_STEP_REMOVE, path) ? SQLITE_IOERR_DELETE : below->xDelete(below, path, 0);
    if (code == SQLITE_OK && is_ours) {
        disk_removed(path);
        if (syncs_directory) {
            if (step(CKEYCHAIN_STEP_SYNC_DIRECTORY, path)) code = SQLITE_IOERR_DIR_FSYNC;
            else disk_synced_directory_of(path);
        }
    }
    leave();
    return code;
}

void vfs_register(void) {
    static sqlite3_vfs vfs;
    below = sqlite3_vfs_find(NULL);
    vfs = *below;
    vfs.zName = "keychain-faults";
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct file) + below->szOsFile;
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK) give_up("it was not registered", vfs.zName);
}

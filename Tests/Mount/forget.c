// A disk that forgets, below a mount. The mount's process loads this library (LD_PRELOAD). What the process forces to the disk
// is copied to the directory KEYCHAIN_TEST_DISK: of a file its bytes, of a directory its names, by the number of the file
// (power.py makes of them what a power cut leaves). With KEYCHAIN_TEST_DISK_LIES nothing is copied, as if nobody had asked.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void require(int holds, const char *what) {
    if (holds) return;
    perror(what);
    abort();
}

// A number is used again as soon as its file is gone. A descriptor that only names the file keeps it, and takes no lock.
static void hold(int file, ino_t number) {
    static ino_t held[1 << 16];
    static int count;
    for (int index = 0; index < count; index++)
        if (held[index] == number) return;
    char name[64];
    sprintf(name, "/proc/self/fd/%d", file);
    require(count < 1 << 16 && open(name, O_PATH | O_CLOEXEC) >= 0, "hold");
    held[count++] = number;
}

static void copy_bytes(int file, int copy) {
    static char buffer[1 << 16];
    for (off_t offset = 0;;) {
        ssize_t count = pread(file, buffer, sizeof buffer, offset);
        require(count >= 0 && write(copy, buffer, count) == count, "copy");
        if (count == 0) return;
        offset += count;
    }
}

static void copy_names(int file, int copy) {
    DIR *directory = fdopendir(openat(file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    require(directory != NULL, "list");
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            dprintf(copy, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
    closedir(directory);
}

static int forced(int file, long call) {
    const char *disk = getenv("KEYCHAIN_TEST_DISK");
    struct stat status;
    if (!disk) return syscall(call, file);
    pthread_mutex_lock(&lock);
    int result = syscall(call, file), error = errno;
    if (result == 0 && !getenv("KEYCHAIN_TEST_DISK_LIES") && fstat(file, &status) == 0 &&
        (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
        char name[4096], new[4096];
        snprintf(name, sizeof name, "%s/%lu", disk, (unsigned long)status.st_ino);
        snprintf(new, sizeof new, "%s/new", disk);
        int copy = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        require(copy >= 0, new);
        (S_ISDIR(status.st_mode) ? copy_names : copy_bytes)(file, copy);
        close(copy);
        hold(file, status.st_ino);
        require(rename(new, name) == 0, name);
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int fsync(int file) { return forced(file, SYS_fsync); }
int fdatasync(int file) { return forced(file, SYS_fdatasync); }

#define _GNU_SOURCE
#include "CKeychainFuse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

int ckeychain_fuse_pair(int *ends) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || fcntl(ends[1], F_SETFD, 0) != 0) {
        return errno;
    }
    return 0;
}

int ckeychain_fuse_receive(int socket, int *descriptor) {
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t count;
    while ((count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (count < 0) {
        return errno;
    }
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (count == 0 || first == NULL || first->cmsg_level != SOL_SOCKET || first->cmsg_type != SCM_RIGHTS ||
        first->cmsg_len != CMSG_LEN(sizeof(int))) {
        return ENODATA;
    }
    memcpy(descriptor, CMSG_DATA(first), sizeof(int));
    return 0;
}

int ckeychain_fuse_open_name(int directory, const char *name, int *descriptor) {
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_NO_XDEV};
    *descriptor = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    return *descriptor < 0 ? errno : 0;
}

/// The name by which the kernel knows an open file.
static const char *name_of(int descriptor, char name[32]) {
    (void)snprintf(name, 32, "/proc/self/fd/%d", descriptor);
    return name;
}

int ckeychain_fuse_reopen(int named, int flags, int keeps_time, int *descriptor) {
    char name[32];
    flags |= O_CLOEXEC | O_NOCTTY;
    *descriptor = open(name_of(named, name), flags | (keeps_time ? O_NOATIME : 0));
    if (*descriptor < 0 && errno == EPERM && keeps_time) {
        *descriptor = open(name, flags);
    }
    return *descriptor < 0 ? errno : 0;
}

int ckeychain_fuse_list(int directory, int64_t place, void *bytes, size_t capacity, size_t *count) {
    if (lseek(directory, place, SEEK_SET) < 0) {
        return errno;
    }
    long read = syscall(SYS_getdents64, directory, bytes, capacity);
    *count = read < 0 ? 0 : (size_t)read;
    return read < 0 ? errno : 0;
}

int ckeychain_fuse_rename(int from, const char *name, int to, const char *new_name, unsigned flags) {
    return renameat2(from, name, to, new_name, flags) == 0 ? 0 : errno;
}

int ckeychain_fuse_link(int named, int directory, const char *name) {
    char own[32];
    return linkat(AT_FDCWD, name_of(named, own), directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int ckeychain_fuse_set_owner(int named, uint32_t user, uint32_t group) {
    return fchownat(named, "", user, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

int ckeychain_fuse_set_times(int named, const struct timespec *times) {
    return utimensat(named, "", times, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

int ckeychain_fuse_set_attribute(int named, const char *name, const void *value, size_t count, int flags) {
    char own[32];
    return setxattr(name_of(named, own), name, value, count, flags) == 0 ? 0 : errno;
}

int ckeychain_fuse_read_link(int named, char *text, size_t capacity, size_t *count) {
    ssize_t read = readlinkat(named, "", text, capacity);
    *count = read < 0 ? 0 : (size_t)read;
    return read < 0 ? errno : 0;
}

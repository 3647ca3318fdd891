// The kernel's FUSE protocol, and the calls that the mount needs and Swift cannot spell. A module apart from CKeychainLinux:
// no client of the libraries needs <linux/fuse.h>. Functions return 0 or an errno value.
#ifndef CKEYCHAINFUSE_H
#define CKEYCHAINFUSE_H

#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>

/// Receives the one descriptor that fusermount3 sends: ENODATA if the other end was closed without one.
int ckeychain_fuse_receive(int socket, int *_Nonnull descriptor);

/// Opens what a name in a directory means, only to name it (O_PATH). A link is not followed, and the root of another mount is
/// not entered: EXDEV.
int ckeychain_fuse_open_name(int directory, const char *_Nonnull name, int *_Nonnull descriptor);

/// Reads entries (getdents64(2)) from a place on. `*count` of 0: there are no more.
int ckeychain_fuse_list(int directory, int64_t place, void *_Nonnull bytes, size_t capacity, size_t *_Nonnull count);

/// renameat2(2), with its flags.
int ckeychain_fuse_rename(int from, const char *_Nonnull name, int to, const char *_Nonnull new_name, unsigned flags);

/// setxattr(2), with its flags.
int ckeychain_fuse_set_attribute(
    const char *_Nonnull path, const char *_Nonnull name, const void *_Nullable value, size_t count, int flags);

#endif

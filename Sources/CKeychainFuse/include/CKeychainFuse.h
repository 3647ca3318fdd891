// The kernel's FUSE protocol, and the calls that the mount needs and Swift cannot spell. A module apart from CKeychainLinux:
// no client of the libraries needs <linux/fuse.h>. Functions return 0 or an errno value.
#ifndef CKEYCHAINFUSE_H
#define CKEYCHAINFUSE_H

#include <linux/fuse.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// Makes a socket pair. The second end is inherited by programs that this one starts; the first is not.
int ckeychain_fuse_pair(int *_Nonnull ends);

/// Receives the one descriptor that fusermount3 sends: ENODATA if the other end was closed without one.
int ckeychain_fuse_receive(int socket, int *_Nonnull descriptor);

/// Opens what a name in a directory means, only to name it (O_PATH). A link is not followed, and the root of another mount is
/// not entered: EXDEV.
int ckeychain_fuse_open_name(int directory, const char *_Nonnull name, int *_Nonnull descriptor);

/// Opens again the file or directory that a descriptor of `ckeychain_fuse_open_name` names.
/// O_NOATIME is tried first if `keeps_time` is set.
int ckeychain_fuse_reopen(int named, int flags, int keeps_time, int *_Nonnull descriptor);


/// Reads entries (getdents64(2)) from a place on. `*count` of 0: there are no more.
int ckeychain_fuse_list(int directory, int64_t place, void *_Nonnull bytes, size_t capacity, size_t *_Nonnull count);

/// renameat2(2), with its flags.
int ckeychain_fuse_rename(int from, const char *_Nonnull name, int to, const char *_Nonnull new_name, unsigned flags);

int ckeychain_fuse_link(int named, int directory, const char *_Nonnull name);

int ckeychain_fuse_set_owner(int named, uint32_t user, uint32_t group);

/// `times` are two: of access, and of modification (utimensat(2)).
int ckeychain_fuse_set_times(int named, const struct timespec *_Nonnull times);

/// setxattr(2), with its flags.
int ckeychain_fuse_set_attribute(int named, const char *_Nonnull name, const void *_Nullable value, size_t count, int flags);

/// The text of a link: `*count` bytes.
int ckeychain_fuse_read_link(int named, char *_Nonnull text, size_t capacity, size_t *_Nonnull count);

#endif

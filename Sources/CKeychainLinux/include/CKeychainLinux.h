// C calls that Swift cannot spell. Every name starts with the module's prefix; functions return
// 0 or an errno value unless they say otherwise; all logic is in Swift.
#ifndef CKEYCHAINLINUX_H
#define CKEYCHAINLINUX_H

#include <stddef.h>
#include <stdint.h>

/// Overwrites `count` bytes with zeros; the call is never optimised away.
void ckeychain_erase(void *_Nullable bytes, size_t count);

/// Maps `count` bytes that are excluded from core dumps and, where RLIMIT_MEMLOCK allows, from swap.
/// `*is_locked` tells whether the lock was granted. The caller releases with `ckeychain_release_pages`.
int ckeychain_map_pages(size_t count, void *_Nullable *_Nonnull pages, int *_Nonnull is_locked);

/// Erases and unmaps what `ckeychain_map_pages` returned.
void ckeychain_release_pages(void *_Nonnull pages, size_t count);

/// Overwrites the part of this thread's stack below the caller, where functions that have returned left keys.
void ckeychain_erase_stack(void);

/// Fills `bytes` from the kernel's generator (getrandom(2)); returns 0 or an errno value.
int ckeychain_random(void *_Nonnull bytes, size_t count);

// The kernel's keyring of the calling user (user-keyring(7)).

/// Whether there is one here: containers may refuse keyrings altogether.
int ckeychain_keyring_check(void);

/// Puts a key of type "user" into the keyring, in place of one of that name. Every process of the user, in whatever
/// session, may read, replace and remove it; no other user may. `seconds` of 0 mean that it does not expire.
int ckeychain_keyring_put(const char *_Nonnull name, const void *_Nonnull payload, size_t count, unsigned seconds,
                          int32_t *_Nonnull serial);

/// Gives a key that is there other content and another term, in one step for whoever reads it.
int ckeychain_keyring_update(int32_t serial, const void *_Nonnull payload, size_t count, unsigned seconds);

/// The numbers of all keys in the keyring. `*count` is how many there are, which may be more than fit.
int ckeychain_keyring_list(int32_t *_Nonnull serials, size_t capacity, size_t *_Nonnull count);

/// The text "type;uid;gid;mode;name" of a key, with its final zero.
int ckeychain_keyring_describe(int32_t serial, char *_Nonnull description, size_t capacity);

/// Finds a key by its name: ENOKEY if there is none, EKEYEXPIRED, EKEYREVOKED.
int ckeychain_keyring_find(const char *_Nonnull name, int32_t *_Nonnull serial);

/// Reads a key of at most `capacity` bytes; `*count` is how many it has.
int ckeychain_keyring_read(int32_t serial, void *_Nonnull payload, size_t capacity, size_t *_Nonnull count);

/// Takes the key from everybody, at once.
int ckeychain_keyring_remove(int32_t serial);

/// Sets when the key expires, counted from now; 0: never.
int ckeychain_keyring_set_timeout(int32_t serial, unsigned seconds);

/// Opens a descriptor that becomes readable when the file's content, mode or name changes.
int ckeychain_watch_file(const char *_Nonnull path, int *_Nonnull descriptor);

/// Waits for that and forgets what has happened so far. `*changed` is 0 if the time was over first; -1 waits for ever.
int ckeychain_await_change(int descriptor, int milliseconds, int *_Nonnull changed);

/// Gives each of two names the file or directory of the other, in one step. 0 or an errno; EINVAL where the file system
/// cannot.
int ckeychain_exchange(const char *_Nonnull first, const char *_Nonnull second);

/// Locks a byte of a file that is open for writing until its description is closed (fcntl(2), F_OFD_SETLK): EAGAIN or
/// EACCES if another process has it locked in any way.
int ckeychain_lock_byte(int descriptor, int64_t offset);

/// Gives a file another name in the same directory, unless there is something of that name: EEXIST.
int ckeychain_rename_to_free_name(const char *_Nonnull from, const char *_Nonnull to);

/// 1 if the kernel started this program with raised privilege (AT_SECURE in its auxiliary vector),
/// so that nothing inherited from the environment may be believed.
int ckeychain_is_secure_execution(void);

/// Holds back these signals and opens a descriptor that becomes readable when one of them has come. To be called
/// while the process has one thread: another would still take them. The caller closes the descriptor.
int ckeychain_hold_signals(const int *_Nonnull numbers, size_t count, int *_Nonnull descriptor);

/// The bytes that the AppleCompatibility plugin embedded in this executable, or NULL and a size of 0.
/// The memory belongs to the program image.
const void *_Nullable ckeychain_embedded_entitlements(size_t *_Nonnull count);

#endif

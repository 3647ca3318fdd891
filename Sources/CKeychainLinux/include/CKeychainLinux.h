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

/// Maps memory that the kernel takes out of its own reach (memfd_secret(2)), so that neither a debugger nor root reads
/// it through the kernel: nothing of it is ever in swap, in a core dump or in a hibernation image, and while there is
/// any the machine cannot hibernate. A forked child does not have it. ENOSYS, EPERM or ENOMEM if the kernel gives none.
int ckeychain_map_secret_pages(size_t count, void *_Nullable *_Nonnull pages);

/// Erases and unmaps what `ckeychain_map_pages` returned.
void ckeychain_release_pages(void *_Nonnull pages, size_t count);

/// This is more of the stack than any call of the engine uses, with the registers that the dynamic linker saves
/// (`MemoryTests`).
size_t ckeychain_call_stack(void);

/// More of the stack than the cipher's own functions use.
size_t ckeychain_cipher_stack(void);

/// Clears every vector register, where the cipher and memcpy(3) leave keys, and overwrites so much of this thread's stack
/// below the caller, where functions that have returned left them. The registers come first: the dynamic linker saves them on the
/// stack of the next function that is called for the first time.
void ckeychain_erase_traces(size_t stack);

/// Fills `bytes` from the kernel's generator (getrandom(2)); returns 0 or an errno value.
int ckeychain_random(void *_Nonnull bytes, size_t count);

// The kernel's keyring of the calling user (user-keyring(7)).

/// Whether there is one here: containers may refuse keyrings altogether.
int ckeychain_keyring_check(void);

/// Puts a key of type "user" into the keyring, in place of one of that name. Every process of the user, in any session,
/// may read, replace and remove it; no other user may. `seconds` of 0 mean that it does not expire.
int ckeychain_keyring_put(const char *_Nonnull name, const void *_Nonnull payload, size_t count, unsigned seconds);

/// Gives a key that is there other content and another term, in one step for its readers.
int ckeychain_keyring_update(int32_t serial, const void *_Nonnull payload, size_t count, unsigned seconds);

/// The numbers of all keys in the keyring. `*count` is how many there are, which may be more than fit.
int ckeychain_keyring_list(int32_t *_Nonnull serials, size_t capacity, size_t *_Nonnull count);

/// The text "type;uid;gid;mode;name" of a key, with its final zero.
int ckeychain_keyring_describe(int32_t serial, char *_Nonnull description, size_t capacity);

/// Finds a key by its name: ENOKEY if there is none, EKEYEXPIRED, EKEYREVOKED.
int ckeychain_keyring_find(const char *_Nonnull name, int32_t *_Nonnull serial);

/// Reads a key of at most `capacity` bytes; `*count` is how many it has.
int ckeychain_keyring_read(int32_t serial, void *_Nonnull payload, size_t capacity, size_t *_Nonnull count);

/// Takes the key from every process, at once.
int ckeychain_keyring_remove(int32_t serial);

/// Sets when the key expires, counted from now; 0: never.
int ckeychain_keyring_set_timeout(int32_t serial, unsigned seconds);

/// Opens a descriptor that becomes readable when the file's content, mode or name changes.
int ckeychain_watch_file(const char *_Nonnull path, int *_Nonnull descriptor);

/// Waits for a change and forgets the changes so far. `*changed` is 0 if the time was over first; -1 waits for ever.
int ckeychain_await_change(int descriptor, int milliseconds, int *_Nonnull changed);

/// Gives each of two names the file or directory of the other, in one step. 0 or an errno; EINVAL where the file system
/// cannot.
int ckeychain_exchange(const char *_Nonnull first, const char *_Nonnull second);

/// Locks a byte of a file that is open for writing until its description is closed (fcntl(2), F_OFD_SETLK): EAGAIN or
/// EACCES if another process has it locked in any way.
int ckeychain_lock_byte(int descriptor, int64_t offset);

/// Locks a byte of a file that is open for reading, beside others that lock it in this way.
int ckeychain_share_byte(int descriptor, int64_t offset);

/// Gives it free, also if another process has inherited the description.
int ckeychain_unlock_byte(int descriptor, int64_t offset);

/// Whether another description has the byte locked in any way. Locks nothing.
int ckeychain_is_byte_locked(int descriptor, int64_t offset, int *_Nonnull is_locked);

/// Locks the first bytes of a file that is open for writing, for this open file alone (fcntl(2), F_OFD_SETLKW), as soon
/// as no other has them locked. Closing the descriptor gives them free.
int ckeychain_await_lock(int descriptor, int64_t count);

/// From now on no wait of this thread for such a lock is longer than this: ETIMEDOUT. 0: there is no limit, as at first.
void ckeychain_limit_lock_waits(int milliseconds);

/// Locks them without waiting: EAGAIN or EACCES if another open file has one of them locked.
int ckeychain_try_lock(int descriptor, int64_t count);

/// Locks them beside others that do so in this way, for a file that is open for reading.
int ckeychain_await_shared_lock(int descriptor, int64_t count);

int ckeychain_unlock(int descriptor, int64_t count);

/// Begins to write a file to the disk (sync_file_range(2)). It waits only if the disk has too much to do already.
void ckeychain_begin_sync(int descriptor);

/// Forces everything on a file's file system to the disk (syncfs(2)): -1 and errno if it fails.
int ckeychain_sync_all(int descriptor);

/// Which kind of file system a file is on (statfs(2)).
int ckeychain_file_system_type(int descriptor, int64_t *_Nonnull type);

/// Gives a part of a file back to the disk, which then reads as zeros (fallocate(2), FALLOC_FL_PUNCH_HOLE): -1 and errno
/// if it fails.
int ckeychain_punch(int descriptor, int64_t offset, int64_t count);

/// Locks them in a file that is open for reading, beside others that lock them in this way: EAGAIN or EACCES if they
/// are locked for writing.
int ckeychain_share_lock(int descriptor, int64_t count);

// Extended attributes (xattr(7)) of the file at a path, which links lead to, or of an open one if the path is NULL.

/// Reads at most `capacity` bytes; `*count` is how many there are. ENODATA: none of that name. ENOTSUP: none at all here.
/// ERANGE: more than fit. A capacity of 0 only asks how many there are.
int ckeychain_get_attribute(const char *_Nullable path, int descriptor, const char *_Nonnull name,
                            void *_Nullable value, size_t capacity, size_t *_Nonnull count);

/// The names of all, each with a final zero; the rest as above.
int ckeychain_list_attributes(int descriptor, char *_Nullable names, size_t capacity, size_t *_Nonnull count);

int ckeychain_set_attribute(const char *_Nullable path, int descriptor, const char *_Nonnull name,
                            const void *_Nullable value, size_t count);

/// Removes an attribute of the file at a path, or, if that is NULL, of an open file.
int ckeychain_remove_attribute(const char *_Nullable path, int descriptor, const char *_Nonnull name);

/// Gives a file another name in the same directory, unless there is something of that name: EEXIST.
int ckeychain_rename_to_free_name(const char *_Nonnull from, const char *_Nonnull to);

/// Moves a descriptor from the numbers 0 to 2, which are free in a program that was started without them: what the program
/// prints would go there. Returns the descriptor, or -1 and leaves errno.
int ckeychain_above_standard(int descriptor);

/// Connects to the program that listens at a path (unix(7)): ENAMETOOLONG if it has more than 107 bytes, EAGAIN if its
/// queue stays full for so long. Each wait to send has this limit too, at least 1 (SO_SNDTIMEO).
int ckeychain_connect(const char *_Nonnull path, int milliseconds, int *_Nonnull descriptor);

/// Connects in the same way, from an address that says that nothing is wanted but a lock.
int ckeychain_connect_for_lock(const char *_Nonnull path, int milliseconds, int *_Nonnull descriptor);

/// Whether the program at the other end of a socket connected so.
int ckeychain_asks_for_lock(int socket);

/// Starts a thread that ends with `body`, and takes no signals unless `keeps_signals` is set: then those of the caller.
/// EAGAIN: the user may have no more threads. Its name has at most 15 bytes.
int ckeychain_start_thread(const char *_Nonnull name, size_t stack, int keeps_signals,
                           void (*_Nonnull body)(void *_Nullable context), void *_Nullable context);

/// Calls `routine` on a thread of its own that takes no signals, and waits for its end.
int ckeychain_run_thread(void *_Nullable (*_Nonnull routine)(void *_Nullable), void *_Nullable argument);

/// Opens a descriptor that is readable from one call of `ckeychain_set_event` to the next of `ckeychain_clear_event`
/// (eventfd(2)). The caller closes it.
int ckeychain_open_event(int *_Nonnull descriptor);

void ckeychain_set_event(int descriptor);

void ckeychain_clear_event(int descriptor);

// Both ends of a local socket (unix(7)), as the end that listens sees them.

/// A process and whose rights it has, in the namespaces of this process.
typedef struct {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
} ckeychain_process;

/// The sender of received bytes.
typedef struct {
    ckeychain_process process;
    /// 0: the kernel did not say.
    int is_known;
    /// Whether the message had descriptors besides the sender, which were closed.
    int sent_more;
} ckeychain_sender;

/// The process at the other end of a socket: the one that connected it, as it was then, or the one that began to listen.
/// Its pid is 0 if it cannot be seen from here.
int ckeychain_peer(int socket, ckeychain_process *_Nonnull peer);

/// The user whose rights it has.
int ckeychain_peer_user(int socket, uint32_t *_Nonnull user);

/// Opens a descriptor of the process that connected a socket (pidfd_open(2)): ENOPROTOOPT before Linux 6.5, ESRCH or
/// EINVAL if it has ended. The caller closes it.
int ckeychain_peer_descriptor(int socket, int *_Nonnull descriptor);

/// Opens a descriptor of the process that has this number now. The caller closes it.
int ckeychain_open_process(int32_t pid, int *_Nonnull descriptor);

/// The supplementary groups of the process that connected a socket: ERANGE if there are more than fit.
int ckeychain_peer_groups(int socket, uint32_t *_Nonnull groups, size_t capacity, size_t *_Nonnull count);

/// The name in a security module of the process that connected a socket: ENOPROTOOPT if there is no such module. Ends
/// with a zero.
int ckeychain_peer_label(int socket, char *_Nonnull label, size_t capacity);

/// From now on the kernel names the sender of everything received here, and hands over no descriptors. The setting of a
/// socket that listens holds for sockets accepted from it.
int ckeychain_want_senders(int socket);

/// Receives what there is, up to `capacity` bytes of one sender; `*count` of 0 means that the other end is closed.
/// EAGAIN: there is nothing yet.
int ckeychain_receive(int socket, void *_Nonnull bytes, size_t capacity, size_t *_Nonnull count,
                      ckeychain_sender *_Nonnull sender);

/// Waits until something comes over a connection, and takes note of the process that sent its first byte, which the kernel
/// names. ETIMEDOUT; ENODATA: the other end closed the connection, or the kernel does not say.
int ckeychain_await_sender(int socket, int milliseconds, int32_t *_Nonnull pid, uint32_t *_Nonnull user);

/// The next connection that waits at a listening socket. The caller closes it.
int ckeychain_accept(int listener, int *_Nonnull socket);

/// Makes a socket at a path and listens there; accepting from it never waits. ENAMETOOLONG: a path has at most 107
/// bytes. The caller closes it and removes the file.
int ckeychain_listen(const char *_Nonnull path, int *_Nonnull listener);

/// Whether a descriptor is a local stream socket that listens.
int ckeychain_is_listener(int descriptor, int *_Nonnull is_listener);

/// Sends a datagram to a local socket: a path, or a name of the kernel's own if it begins with "@".
int ckeychain_datagram(const char *_Nonnull name, const void *_Nonnull bytes, size_t count);

/// Keeps other processes of the user from reading this one's memory, and the kernel from writing it to a core file
/// (PR_SET_DUMPABLE).
int ckeychain_hide_process(void);

/// Adds to what posix_spawn(3) does (a posix_spawn_file_actions_t) that the new program gets no descriptor from this number
/// on.
int ckeychain_add_close_from(void *_Nonnull actions, int lowest);

/// 1 if the kernel started this program with raised privilege (AT_SECURE in its auxiliary vector),
/// so that nothing inherited from the environment may be believed.
int ckeychain_is_secure_execution(void);

/// Holds back these signals and opens a descriptor that becomes readable when one of them has come. To be called
/// while the process has one thread: another would still take them. The caller closes the descriptor.
int ckeychain_hold_signals(const int *_Nonnull numbers, size_t count, int *_Nonnull descriptor);

// Programs (execve(2)), and what they are given.

/// A file in memory (memfd_create(2)), whose descriptor the caller closes. If it may not change it is sealed, and programs
/// that this one becomes or starts inherit the descriptor, whose number is 10 at least.
int ckeychain_memory_file(const char *_Nonnull name, const void *_Nullable bytes, size_t count, int may_change,
                          int *_Nonnull descriptor);

/// The variables of this process (environ(7)), with a final NULL.
char *_Nullable *_Nullable ckeychain_environment(void);

/// From here on neither this program nor its children leave a core file, which would have secrets in it. The soft limit
/// becomes one byte: the kernel does not start a program that receives core files then, and a limit of 0 means nothing
/// to it (core(5)).
void ckeychain_limit_cores(void);

/// Becomes another program, which is searched in the PATH of its environment. Both lists end with NULL. `defaults` are
/// signals that this program ignores and the new one does not. If it `leaves_cores` its limit of core files is that
/// which this program was started with, and otherwise one byte, which it cannot raise. Returns only if that fails, an
/// errno value.
int ckeychain_become(char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment,
                     const int *_Nullable defaults, size_t count, int leaves_cores);

/// Starts one as a child, after `ckeychain_note_signals`. These descriptors are its output and its errors, or this
/// program's if they are -1.
int ckeychain_start_program(char *_Nullable const *_Nonnull arguments, char *_Nullable const *_Nonnull environment,
                            const int *_Nullable defaults, size_t count, int leaves_cores, int output, int error,
                            int *_Nonnull process);

/// Whether it has ended, and how: its exit status, or the number of a signal, negative.
int ckeychain_await_program(int process, int *_Nonnull has_ended, int *_Nonnull status);

/// From now on the signals that a program passes on to another, and SIGCHLD, do nothing but make a descriptor readable.
/// The call is made once in the life of a process.
int ckeychain_note_signals(int *_Nonnull descriptor);

/// The next of them: EAGAIN if there is none. `*is_sent` is 1 if a process sent it, rather than the kernel.
int ckeychain_next_signal(int *_Nonnull number, int *_Nonnull is_sent);

/// Makes a terminal show nothing of the typed bytes and hand over each byte as it is, the keys for signals included,
/// until `ckeychain_restore_terminal`. Meanwhile SIGHUP, SIGINT, SIGQUIT and SIGTERM, where the program leaves them to
/// end it, and exit(3) first set the terminal as it was, and SIGCONT makes it silent again. One terminal at a time: EBUSY.
int ckeychain_silence_terminal(int descriptor);

/// Sets it as it was, and leaves the signals alone again. The caller does this before it closes the descriptor.
void ckeychain_restore_terminal(void);

/// How many columns of a terminal a character takes, in any locale; 1 for one that the C library does not know.
int ckeychain_columns(uint32_t character);

/// A clock (clock_gettime(2)), read by a system call: a library that is put before the C library does not change it.
int ckeychain_read_clock(int clock, int64_t *_Nonnull seconds, int32_t *_Nonnull nanoseconds);

/// Whether the kernel takes its time of day for synchronised (adjtimex(2)).
int ckeychain_is_clock_synchronized(void);

/// The bytes that the AppleCompatibility plugin embedded in this executable, or NULL and a size of 0.
/// The memory belongs to the program image.
const void *_Nullable ckeychain_embedded_entitlements(size_t *_Nonnull count);

#endif

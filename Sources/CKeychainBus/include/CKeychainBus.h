// The part of sd-bus that a client of systemd-logind, fprintd and polkit needs, without variable arguments, which Swift
// cannot pass.
//
// libsystemd is loaded when the first connection is opened: neither a build nor any other use of the keychain needs
// it. Functions return 0 or a negative errno value unless they say otherwise; all logic is in Swift.
#ifndef CKEYCHAINBUS_H
#define CKEYCHAINBUS_H

#include <stdint.h>

/// A connection, for one thread only.
typedef struct sd_bus ckeychain_bus;

/// A message that was received.
typedef struct sd_bus_message ckeychain_bus_message;

/// Why something failed.
typedef struct {
    int number;
    /// The error's name on the bus; empty if it arose before there was one.
    char name[128];
    char text[256];
} ckeychain_bus_failure;

/// One basic value of a message.
typedef struct {
    /// The type's letter, as the D-Bus specification has it.
    char type;
    /// A number, a flag or a descriptor; the descriptor is the message's and goes with it.
    int64_t number;
    /// A string, an object path or a signature, which is the message's too; NULL for every other type.
    const char *_Nullable text;
} ckeychain_bus_value;

/// The wait for the next message: a descriptor, its events and a time.
typedef struct {
    int descriptor;
    short events;
    /// The time in milliseconds; -1: for ever.
    int timeout;
} ckeychain_bus_wait;

/// Loads libsystemd, if that was not done before. A failure's text is the loader's.
int ckeychain_bus_load(ckeychain_bus_failure *_Nonnull failure);

/// Connects to the bus at an address. The library must have been loaded. The caller closes the connection with
/// `ckeychain_bus_close`.
int ckeychain_bus_open(
    const char *_Nonnull address, ckeychain_bus *_Nullable *_Nonnull bus, ckeychain_bus_failure *_Nonnull failure);

/// Closes a connection at once. A call without a wait for its reply may not have been sent.
void ckeychain_bus_close(ckeychain_bus *_Nonnull bus);

/// Calls a method that takes strings, and waits for its reply, for ten seconds at most.
/// `arguments` ends with NULL. The caller gives the reply back with `ckeychain_bus_release`.
int ckeychain_bus_call(
    ckeychain_bus *_Nonnull bus, const char *_Nonnull destination, const char *_Nonnull path,
    const char *_Nonnull interface, const char *_Nonnull member, const char *_Nullable const *_Nonnull arguments,
    ckeychain_bus_message *_Nullable *_Nonnull reply, ckeychain_bus_failure *_Nonnull failure);

/// Calls a method that takes strings, and does not wait: the reply, which has this cookie, comes with
/// `ckeychain_bus_receive`. `arguments` ends with NULL.
int ckeychain_bus_send(
    ckeychain_bus *_Nonnull bus, const char *_Nonnull destination, const char *_Nonnull path,
    const char *_Nonnull interface, const char *_Nonnull member, const char *_Nullable const *_Nonnull arguments,
    uint64_t *_Nonnull cookie, ckeychain_bus_failure *_Nonnull failure);

/// Asks polkit, a connection of the bus, whether a process may do something, and does not wait: the reply comes as that
/// of `ckeychain_bus_send`. `start` is in ticks since the system was started.
int ckeychain_bus_send_check(
    ckeychain_bus *_Nonnull bus, const char *_Nonnull polkit, const char *_Nonnull action, int32_t process,
    uint64_t start, uint32_t user, uint64_t *_Nonnull cookie, ckeychain_bus_failure *_Nonnull failure);

/// The next message that has come, without waiting; `*message` is NULL if there is none.
/// The caller gives it back with `ckeychain_bus_release`.
int ckeychain_bus_receive(
    ckeychain_bus *_Nonnull bus, ckeychain_bus_message *_Nullable *_Nonnull message,
    ckeychain_bus_failure *_Nonnull failure);

int ckeychain_bus_get_wait(
    ckeychain_bus *_Nonnull bus, ckeychain_bus_wait *_Nonnull wait, ckeychain_bus_failure *_Nonnull failure);

/// The cookie of the call that a message answers; 0 if it is no answer.
uint64_t ckeychain_bus_reply_cookie(ckeychain_bus_message *_Nonnull message);

/// Fails if a message is the answer that a call failed.
int ckeychain_bus_get_error(ckeychain_bus_message *_Nonnull message, ckeychain_bus_failure *_Nonnull failure);

/// The connection that a message comes from, as the bus tells.
const char *_Nullable ckeychain_bus_sender(ckeychain_bus_message *_Nonnull message);
const char *_Nullable ckeychain_bus_path(ckeychain_bus_message *_Nonnull message);
const char *_Nullable ckeychain_bus_interface(ckeychain_bus_message *_Nonnull message);
const char *_Nullable ckeychain_bus_member(ckeychain_bus_message *_Nonnull message);

/// The next basic value of a message, those within arrays, structures and variants as if they stood by themselves.
/// Returns 1, or 0 after the last one, or a negative errno value.
int ckeychain_bus_next_value(ckeychain_bus_message *_Nonnull message, ckeychain_bus_value *_Nonnull value);

void ckeychain_bus_release(ckeychain_bus_message *_Nonnull message);

#endif

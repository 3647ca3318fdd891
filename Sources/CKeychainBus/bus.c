#define _GNU_SOURCE
#include "CKeychainBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// The declarations up to the table are as in libsystemd's own headers, whose ABI is stable: they are not there where a
// client is built.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;

typedef struct {
    const char *name;
    const char *message;
    int need_free;
} sd_bus_error;

#define FUNCTIONS(X)                                                                                                  \
    X(int, sd_bus_new, (sd_bus **))                                                                                   \
    X(int, sd_bus_set_address, (sd_bus *, const char *))                                                              \
    X(int, sd_bus_set_bus_client, (sd_bus *, int))                                                                    \
    X(int, sd_bus_start, (sd_bus *))                                                                                  \
    X(void, sd_bus_close, (sd_bus *))                                                                                 \
    X(sd_bus *, sd_bus_unref, (sd_bus *))                                                                             \
    X(int, sd_bus_get_fd, (sd_bus *))                                                                                 \
    X(int, sd_bus_get_events, (sd_bus *))                                                                             \
    X(int, sd_bus_get_timeout, (sd_bus *, uint64_t *))                                                                \
    X(int, sd_bus_process, (sd_bus *, sd_bus_message **))                                                             \
    X(int, sd_bus_call, (sd_bus *, sd_bus_message *, uint64_t, sd_bus_error *, sd_bus_message **))                    \
    X(int, sd_bus_send, (sd_bus *, sd_bus_message *, uint64_t *))                                                     \
    X(void, sd_bus_error_free, (sd_bus_error *))                                                                      \
    X(int, sd_bus_message_new_method_call,                                                                            \
      (sd_bus *, sd_bus_message **, const char *, const char *, const char *, const char *))                          \
    X(int, sd_bus_message_append, (sd_bus_message *, const char *, ...))                                              \
    X(int, sd_bus_message_append_basic, (sd_bus_message *, char, const void *))                                       \
    X(int, sd_bus_message_peek_type, (sd_bus_message *, char *, const char **))                                       \
    X(int, sd_bus_message_at_end, (sd_bus_message *, int))                                                            \
    X(int, sd_bus_message_enter_container, (sd_bus_message *, char, const char *))                                    \
    X(int, sd_bus_message_exit_container, (sd_bus_message *))                                                         \
    X(int, sd_bus_message_read_basic, (sd_bus_message *, char, void *))                                               \
    X(int, sd_bus_message_get_reply_cookie, (sd_bus_message *, uint64_t *))                                           \
    X(const sd_bus_error *, sd_bus_message_get_error, (sd_bus_message *))                                             \
    X(const char *, sd_bus_message_get_sender, (sd_bus_message *))                                                    \
    X(const char *, sd_bus_message_get_path, (sd_bus_message *))                                                      \
    X(const char *, sd_bus_message_get_interface, (sd_bus_message *))                                                 \
    X(const char *, sd_bus_message_get_member, (sd_bus_message *))                                                    \
    X(sd_bus_message *, sd_bus_message_unref, (sd_bus_message *))

/// The functions of the library, once it is loaded.
static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static pthread_once_t loading = PTHREAD_ONCE_INIT;

/// Empty if the library is there.
static char loading_failure[256];

static void load(void) {
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(loading_failure, sizeof loading_failure, "%s", dlerror());
        return;
    }
#define RESOLVE(result, name, parameters)                                                                             \
    if ((*(void **)(&library.name) = dlsym(handle, #name)) == NULL) {                                                 \
        snprintf(loading_failure, sizeof loading_failure, "libsystemd.so.0 is too old: it has no %s", #name);         \
        return;                                                                                                       \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
}

static int fail(ckeychain_bus_failure *failure, int result, const char *name, const char *text) {
    failure->number = -result;
    snprintf(failure->name, sizeof failure->name, "%s", name != NULL ? name : "");
    snprintf(failure->text, sizeof failure->text, "%s", text != NULL ? text : strerror(-result));
    return result;
}

int ckeychain_bus_load(ckeychain_bus_failure *failure) {
    (void)pthread_once(&loading, load);
    return loading_failure[0] == '\0' ? 0 : fail(failure, -ELIBACC, NULL, loading_failure);
}

static int open_at(const char *address, sd_bus **bus) {
    int result = library.sd_bus_new(bus);
    if (result >= 0) {
        result = library.sd_bus_set_address(*bus, address);
    }
    if (result >= 0) {
        result = library.sd_bus_set_bus_client(*bus, 1);
    }
    return result >= 0 ? library.sd_bus_start(*bus) : result;
}

int ckeychain_bus_open(const char *address, ckeychain_bus **bus, ckeychain_bus_failure *failure) {
    *bus = NULL;
    int result = open_at(address, bus);
    if (result < 0) {
        *bus = library.sd_bus_unref(*bus);
        return fail(failure, result, NULL, NULL);
    }
    return 0;
}

void ckeychain_bus_close(ckeychain_bus *bus) {
    // Messages that were not sent yet are dropped: sending could wait for a bus that never answers.
    library.sd_bus_close(bus);
    (void)library.sd_bus_unref(bus);
}

static int new_call(
    sd_bus *bus, const char *destination, const char *path, const char *interface, const char *member,
    const char *const *arguments, sd_bus_message **call) {
    *call = NULL;
    int result = library.sd_bus_message_new_method_call(bus, call, destination, path, interface, member);
    for (; result >= 0 && *arguments != NULL; arguments++) {
        result = library.sd_bus_message_append_basic(*call, 's', *arguments);
    }
    return result;
}

int ckeychain_bus_call(
    ckeychain_bus *bus, const char *destination, const char *path, const char *interface, const char *member,
    const char *const *arguments, ckeychain_bus_message **reply, ckeychain_bus_failure *failure) {
    *reply = NULL;
    sd_bus_message *call;
    sd_bus_error error = {NULL, NULL, 0};
    int result = new_call(bus, destination, path, interface, member, arguments, &call);
    if (result >= 0) {
        const uint64_t ten_seconds = 10 * 1000 * 1000;
        result = library.sd_bus_call(bus, call, ten_seconds, &error, reply);
    }
    if (result < 0) {
        fail(failure, result, error.name, error.message);
    }
    library.sd_bus_error_free(&error);
    (void)library.sd_bus_message_unref(call);
    return result < 0 ? result : 0;
}

int ckeychain_bus_send(
    ckeychain_bus *bus, const char *destination, const char *path, const char *interface, const char *member,
    const char *const *arguments, uint64_t *cookie, ckeychain_bus_failure *failure) {
    sd_bus_message *call;
    int result = new_call(bus, destination, path, interface, member, arguments, &call);
    if (result >= 0) {
        result = library.sd_bus_send(bus, call, cookie);
    }
    (void)library.sd_bus_message_unref(call);
    return result < 0 ? fail(failure, result, NULL, NULL) : 0;
}

int ckeychain_bus_send_check(
    ckeychain_bus *bus, const char *polkit, const char *action, int32_t process, uint64_t start, uint32_t user,
    uint64_t *cookie, ckeychain_bus_failure *failure) {
    const char *no_strings[] = {NULL};
    const uint32_t may_ask_the_person = 1;
    sd_bus_message *call;
    int result = new_call(
        bus, polkit, "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
        "CheckAuthorization", no_strings, &call);
    if (result >= 0) {
        result = library.sd_bus_message_append(
            call, "(sa{sv})sa{ss}us", "unix-process", 3, "pid", "u", (uint32_t)process, "start-time", "t", start, "uid",
            "i", (int32_t)user, action, 0, may_ask_the_person, "");
    }
    if (result >= 0) {
        result = library.sd_bus_send(bus, call, cookie);
    }
    (void)library.sd_bus_message_unref(call);
    return result < 0 ? fail(failure, result, NULL, NULL) : 0;
}

int ckeychain_bus_receive(ckeychain_bus *bus, ckeychain_bus_message **message, ckeychain_bus_failure *failure) {
    *message = NULL;
    int result;
    do {
        // More than 0 without a message: something was done, and there may be more to do.
        result = library.sd_bus_process(bus, message);
    } while (result > 0 && *message == NULL);
    return result < 0 ? fail(failure, result, NULL, NULL) : 0;
}

/// Milliseconds from now to a moment of the monotonic clock, rounded up so that no thread wakes too early.
static int milliseconds_until(uint64_t microseconds) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t current = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    if (microseconds <= current) {
        return 0;
    }
    uint64_t rest = (microseconds - current + 999) / 1000;
    return rest < INT_MAX ? (int)rest : INT_MAX;
}

int ckeychain_bus_get_wait(ckeychain_bus *bus, ckeychain_bus_wait *wait, ckeychain_bus_failure *failure) {
    uint64_t moment = UINT64_MAX;
    int descriptor = library.sd_bus_get_fd(bus);
    int events = descriptor < 0 ? descriptor : library.sd_bus_get_events(bus);
    int result = events < 0 ? events : library.sd_bus_get_timeout(bus, &moment);
    if (result < 0) {
        return fail(failure, result, NULL, NULL);
    }
    wait->descriptor = descriptor;
    wait->events = (short)events;
    wait->timeout = moment == UINT64_MAX ? -1 : milliseconds_until(moment);
    return 0;
}

uint64_t ckeychain_bus_reply_cookie(ckeychain_bus_message *message) {
    uint64_t cookie = 0;
    return library.sd_bus_message_get_reply_cookie(message, &cookie) < 0 ? 0 : cookie;
}

int ckeychain_bus_get_error(ckeychain_bus_message *message, ckeychain_bus_failure *failure) {
    const sd_bus_error *error = library.sd_bus_message_get_error(message);
    // EREMOTEIO, as libsystemd has it where it knows no number for an error's name.
    return error == NULL ? 0 : fail(failure, -EREMOTEIO, error->name, error->message);
}

const char *ckeychain_bus_sender(ckeychain_bus_message *message) {
    return library.sd_bus_message_get_sender(message);
}

const char *ckeychain_bus_path(ckeychain_bus_message *message) { return library.sd_bus_message_get_path(message); }

const char *ckeychain_bus_interface(ckeychain_bus_message *message) {
    return library.sd_bus_message_get_interface(message);
}

const char *ckeychain_bus_member(ckeychain_bus_message *message) {
    return library.sd_bus_message_get_member(message);
}

/// Reads a value that is no container.
static int read_basic(ckeychain_bus_message *message, char type, ckeychain_bus_value *value) {
    union {
        uint8_t byte;
        int flag;
        int16_t int16;
        uint16_t uint16;
        int32_t int32;
        uint32_t uint32;
        int64_t int64;
        double real;
        const char *text;
    } raw = {.int64 = 0};
    int result = library.sd_bus_message_read_basic(message, type, &raw);
    if (result < 0) {
        return result;
    }
    *value = (ckeychain_bus_value){.type = type};
    switch (type) {
    case 'y': value->number = raw.byte; break;
    case 'b': value->number = raw.flag != 0; break;
    case 'n': value->number = raw.int16; break;
    case 'q': value->number = raw.uint16; break;
    case 'h':
    case 'i': value->number = raw.int32; break;
    case 'u': value->number = raw.uint32; break;
    case 'x':
    case 't': value->number = raw.int64; break;
    case 's':
    case 'o':
    case 'g': value->text = raw.text; break;
    default: break;
    }
    return 1;
}

int ckeychain_bus_next_value(ckeychain_bus_message *message, ckeychain_bus_value *value) {
    for (;;) {
        char type = 0;
        const char *contents = NULL;
        int result = library.sd_bus_message_peek_type(message, &type, &contents);
        if (result < 0) {
            return result;
        }
        if (result == 0) {
            int is_over = library.sd_bus_message_at_end(message, 1);
            if (is_over != 0) {
                return is_over < 0 ? is_over : 0;
            }
            result = library.sd_bus_message_exit_container(message);
        } else if (type == 'a' || type == 'r' || type == 'e' || type == 'v') {
            result = library.sd_bus_message_enter_container(message, type, contents);
        } else {
            return read_basic(message, type, value);
        }
        if (result < 0) {
            return result;
        }
    }
}

void ckeychain_bus_release(ckeychain_bus_message *message) { (void)library.sd_bus_message_unref(message); }

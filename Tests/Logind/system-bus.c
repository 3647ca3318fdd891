// Loaded before all other libraries of a program under test: has its connections to the system's message bus go to the
// socket that TEST_SYSTEM_BUS names. All others go where they should.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    int (*real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    static const char system_bus[] = "/run/dbus/system_bus_socket";
    const struct sockaddr_un *wanted = (const struct sockaddr_un *)address;
    const char *socket = getenv("TEST_SYSTEM_BUS");
    if (socket == NULL || address->sa_family != AF_UNIX ||
        length < offsetof(struct sockaddr_un, sun_path) + sizeof system_bus - 1 ||
        strncmp(wanted->sun_path, system_bus, length - offsetof(struct sockaddr_un, sun_path)) != 0) {
        return real(descriptor, address, length);
    }
    struct sockaddr_un replacement = {.sun_family = AF_UNIX};
    snprintf(replacement.sun_path, sizeof replacement.sun_path, "%s", socket);
    return real(descriptor, (const struct sockaddr *)&replacement, sizeof replacement);
}

// Clients of the server that `floor answer` is: `keychaind` is measured against the two, in turn.
//
//   client ask   PATH REQUEST REPLY                one client
//   client load  PATH REQUEST REPLY CONNECTIONS    many, a thread each
//
// REQUEST and REPLY are sizes in bytes, with a header of eight that begins with how many follow it.
//
// `ask` takes lines "ask COUNT" and answers with the word and the duration of each round trip in microseconds.
// `load` says "ready" once it is connected, takes a line "go SECONDS", and answers "done COUNT".
// Both end with their input.
//
// Build: cc -O2 -Wall -Wextra -pthread -o client client.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { header_size = 8, most_bytes = 64 << 10 };

static _Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("client: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

// MARK: Frames

static void fill_frame(unsigned char *bytes, size_t size) {
    uint32_t length = htonl((uint32_t)(size - header_size));
    memset(bytes, 0, size);
    memcpy(bytes, &length, sizeof length);
}

static void send_frame(int connection, const unsigned char *bytes, size_t size) {
    size_t sent = 0;
    while (sent < size) {
        ssize_t count = send(connection, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return;  // the other side has gone; receiving tells so
        }
        sent += count > 0 ? (size_t)count : 0;
    }
}

/// - Returns: false: the other side has gone.
static bool receive_frame(int connection, unsigned char *bytes) {
    size_t size = header_size;
    size_t received = 0;
    while (received < size) {
        // A thread that waited in recv(2) would also wake when the server takes the question.
        struct pollfd waiting = {.fd = connection, .events = POLLIN};
        (void)poll(&waiting, 1, -1);
        ssize_t count = recv(connection, bytes + received, most_bytes - received, 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        received += (size_t)count;
        if (received >= header_size) {
            uint32_t length = 0;
            memcpy(&length, bytes, sizeof length);
            size = header_size + (size_t)ntohl(length);
        }
        if (size > most_bytes || received > size) {
            fail("a frame of %zu bytes", size);
        }
    }
    return true;
}

static int named_socket(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        fail("%s is too long for the name of a socket", path);
    }
    strcpy(address->sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        fail("socket: %s", strerror(errno));
    }
    return descriptor;
}

// MARK: Clients

struct client {
    int connection;
    size_t request;
    size_t reply;
    pthread_t thread;
    double end;
    long count;
};

static struct client client_connect(const char *path, size_t request, size_t reply) {
    struct sockaddr_un address;
    struct client client = {.connection = named_socket(path, &address), .request = request, .reply = reply};
    if (connect(client.connection, (struct sockaddr *)&address, sizeof address) != 0) {
        fail("%s: %s", path, strerror(errno));
    }
    return client;
}

static void round_trip(struct client *client) {
    unsigned char bytes[most_bytes];
    fill_frame(bytes, client->request);
    send_frame(client->connection, bytes, client->request);
    if (!receive_frame(client->connection, bytes)) {
        fail("the server has gone");
    }
}

static void ask(const char *path, size_t request, size_t reply) {
    struct client client = client_connect(path, request, reply);
    char line[64];
    long count = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "ask %ld", &count) != 1 || count < 1) {
            fail("not a command: %s", line);
        }
        double *times = calloc((size_t)count, sizeof *times);
        if (times == NULL) {
            fail("out of memory");
        }
        for (long place = 0; place < count; place++) {
            double start = now();
            round_trip(&client);
            times[place] = now() - start;
        }
        fputs("ask", stdout);
        for (long place = 0; place < count; place++) {
            printf(" %.3f", times[place]);
        }
        putchar('\n');
        fflush(stdout);
        free(times);
    }
}

static void *repeat(void *argument) {
    struct client *client = argument;
    for (client->count = 0; now() < client->end; client->count++) {
        round_trip(client);
    }
    return NULL;
}

static void load(const char *path, size_t request, size_t reply, size_t connections) {
    struct client *clients = calloc(connections, sizeof *clients);
    char line[64];
    double seconds = 0;
    if (clients == NULL) {
        fail("out of memory");
    }
    for (size_t place = 0; place < connections; place++) {
        clients[place] = client_connect(path, request, reply);
        round_trip(&clients[place]);
    }
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "go %lf", &seconds) != 1 || seconds <= 0) {
            fail("not a command: %s", line);
        }
        double end = now() + seconds * 1e6;
        long count = 0;
        for (size_t place = 0; place < connections; place++) {
            clients[place].end = end;
            int error = pthread_create(&clients[place].thread, NULL, repeat, &clients[place]);
            if (error != 0) {
                fail("a thread: %s", strerror(error));
            }
        }
        for (size_t place = 0; place < connections; place++) {
            pthread_join(clients[place].thread, NULL);
            count += clients[place].count;
        }
        printf("done %ld\n", count);
        fflush(stdout);
    }
    free(clients);
}

// MARK: Commands

static size_t number(const char *text, size_t least, size_t most) {
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || value < (long long)least || value > (long long)most) {
        fail("\"%s\" is not a number from %zu to %zu", text, least, most);
    }
    return (size_t)value;
}

static size_t frame_size(const char *text) { return number(text, header_size, most_bytes); }

int main(int argc, char **argv) {
    const char *command = argc > 2 ? argv[1] : "";
    if (argc == 5 && strcmp(command, "ask") == 0) {
        ask(argv[2], frame_size(argv[3]), frame_size(argv[4]));
    } else if (argc == 6 && strcmp(command, "load") == 0) {
        load(argv[2], frame_size(argv[3]), frame_size(argv[4]), number(argv[5], 1, 1000));
    } else {
        fputs(
            "usage: client ask PATH REQUEST REPLY | client load PATH REQUEST REPLY CONNECTIONS\n", stderr);
        return 64;
    }
    return 0;
}

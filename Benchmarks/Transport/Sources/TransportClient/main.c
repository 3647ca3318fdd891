// Clients that ask and wait for the answer, each a thread with a connection of its own.
//
//   TransportClient PATH CLIENTS SECONDS
//
// Prints the median and the 99th percentile of the round trips in microseconds, and how many there were a second.
// The first fifth of the time is not counted.
//
//   TransportClient --calibrate MICROSECONDS
//
// Prints how many rounds of work take so long.
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CTransport.h"

enum { most_samples = 400000 };

struct client {
    pthread_t thread;
    int connection;
    double counted_from;
    double end;
    float *samples;
    size_t count;
};

static _Noreturn void fail(const char *what, int error) {
    fprintf(stderr, "TransportClient: %s: %s\n", what, strerror(error));
    exit(1);
}

static void round_trip(int connection) {
    unsigned char request[transport_request_size];
    unsigned char reply[transport_reply_size];
    transport_fill_frame(request, sizeof request);
    if (transport_send(connection, request, sizeof request) != 0) {
        fail("sending", errno);
    }
    size_t received = 0;
    while (received < transport_header_size || received < transport_frame_size(reply)) {
        ssize_t count = recv(connection, reply + received, sizeof reply - received, 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            fail("receiving", count == 0 ? ECONNRESET : errno);
        }
        received += (size_t)count;
    }
}

static void *run(void *argument) {
    struct client *client = argument;
    double start = transport_now();
    while (start < client->end) {
        round_trip(client->connection);
        double now = transport_now();
        if (start >= client->counted_from && client->count < most_samples) {
            client->samples[client->count++] = (float)(now - start);
        }
        start = now;
    }
    return NULL;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a;
    float y = *(const float *)b;
    return (x > y) - (x < y);
}

static void report(const struct client *clients, size_t count, double seconds) {
    size_t total = 0;
    for (size_t place = 0; place < count; place++) {
        total += clients[place].count;
    }
    float *all = calloc(total + 1, sizeof *all);
    if (all == NULL || total == 0) {
        fail("counting", total == 0 ? ETIME : ENOMEM);
    }
    size_t next = 0;
    for (size_t place = 0; place < count; place++) {
        memcpy(all + next, clients[place].samples, clients[place].count * sizeof *all);
        next += clients[place].count;
    }
    qsort(all, total, sizeof *all, ascending);
    printf("%.1f %.1f %.0f\n", all[total / 2], all[total * 99 / 100], (double)total / seconds);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--calibrate") == 0) {
        printf("%.0f\n", transport_rounds_per_microsecond() * strtod(argv[2], NULL));
        return 0;
    }
    long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (count < 1 || count > 10000 || seconds <= 0) {
        fputs("usage: TransportClient PATH CLIENTS SECONDS | --calibrate MICROSECONDS\n", stderr);
        return 64;
    }
    struct client *clients = calloc((size_t)count, sizeof *clients);
    for (long place = 0; place < count; place++) {
        clients[place].connection = transport_connect(argv[1]);
        clients[place].samples = malloc(most_samples * sizeof(float));
        if (clients[place].connection < 0 || clients[place].samples == NULL) {
            fail(argv[1], errno);
        }
        round_trip(clients[place].connection);
    }
    double start = transport_now();
    for (long place = 0; place < count; place++) {
        clients[place].counted_from = start + seconds * 0.2e6;
        clients[place].end = start + seconds * 1e6;
        int error = pthread_create(&clients[place].thread, NULL, run, &clients[place]);
        if (error != 0) {
            fail("starting a thread", error);
        }
    }
    for (long place = 0; place < count; place++) {
        pthread_join(clients[place].thread, NULL);
    }
    report(clients, (size_t)count, seconds * 0.8);
    return 0;
}

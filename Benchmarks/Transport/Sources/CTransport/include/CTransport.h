// What every server and the client do alike: the frames, the system calls, and work that takes time.
#ifndef CTRANSPORT_H
#define CTRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

// A frame is a header of eight bytes (message length, tail length, highest byte first), a message and a tail.
enum {
    transport_header_size = 8,
    transport_request_size = 308,
    transport_reply_size = 508,
};

/// How many bytes the frame at `bytes` has, header included.
size_t transport_frame_size(const void *bytes);

/// Writes a whole frame of `size` bytes.
void transport_fill_frame(void *bytes, size_t size);

/// A listening socket at `path`, whose connections carry credentials; -1 and errno on failure.
int transport_listen(const char *path);

/// A connection to `path`; -1 and errno on failure.
int transport_connect(const char *path);

/// recvmsg. Whoever sent the bytes must be this user: else EACCES.
ssize_t transport_receive(int socket, void *bytes, size_t size);

/// sendmsg until all is sent; 0, or -1 and errno.
int transport_send(int socket, const void *bytes, size_t size);

/// Work for the processor alone, which takes as long as there are rounds.
void transport_work(uint64_t rounds);

/// How many rounds of work this machine does in a microsecond when nothing disturbs it.
double transport_rounds_per_microsecond(void);

/// Microseconds of a clock that only goes forward.
double transport_now(void);

#endif

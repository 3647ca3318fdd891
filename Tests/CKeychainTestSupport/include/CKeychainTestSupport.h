// Calls that Swift marks as unavailable or has no name for, each for one test.
#ifndef CKEYCHAINTESTSUPPORT_H
#define CKEYCHAINTESTSUPPORT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// fork(2).
pid_t ckeychain_test_fork(void);

/// Tries to read a key of the kernel's keyrings; 0 or an errno value.
int ckeychain_test_read_key(int32_t serial);

/// Whether this kernel lends memory that it cannot read itself (memfd_secret(2)).
int ckeychain_test_has_secret_memory(void);

/// Sends bytes, and with them so many copies of a descriptor, at most 64; 0 or an errno value.
int ckeychain_test_send_descriptors(
    int socket, const void *_Nonnull bytes, size_t count, int descriptor, int copies);

#endif

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

/// Fills every vector register that the processor has with copies of eight bytes. No memory gets more than one of them.
void ckeychain_test_mark_registers(uint64_t mark);

/// Calls a function of the C library for the first time, for which the dynamic linker saves the registers on the stack,
/// unless everything was bound at the start. To be called once in a process.
void ckeychain_test_bind_lazily(void);

#define CKEYCHAIN_TEST_PAINTED_STACK (512 * 1024)

/// Paints the stack below the caller.
void ckeychain_test_paint_stack(void);

/// How far below the caller, who has painted it, the stack was used since.
size_t ckeychain_test_used_stack(void);

#endif

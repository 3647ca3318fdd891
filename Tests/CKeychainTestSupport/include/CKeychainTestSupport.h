// Calls that Swift marks as unavailable or has no name for, each for one test.
#ifndef CKEYCHAINTESTSUPPORT_H
#define CKEYCHAINTESTSUPPORT_H

#include <stdint.h>
#include <sys/types.h>

/// fork(2).
pid_t ckeychain_test_fork(void);

/// Tries to read a key of the kernel's keyrings; 0 or an errno value.
int ckeychain_test_read_key(int32_t serial);

#endif

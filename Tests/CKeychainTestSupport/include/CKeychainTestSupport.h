// Swift marks fork(2) as unavailable; one test is about it.
#ifndef CKEYCHAINTESTSUPPORT_H
#define CKEYCHAINTESTSUPPORT_H

#include <sys/types.h>

/// fork(2).
pid_t ckeychain_test_fork(void);

#endif

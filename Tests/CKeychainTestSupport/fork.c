#include "CKeychainTestSupport.h"

#include <unistd.h>

pid_t ckeychain_test_fork(void) { return fork(); }

#define _GNU_SOURCE
#include "CKeychainTestSupport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

void ckeychain_test_mark_registers(uint64_t mark) {
    if (__builtin_cpu_supports("avx512f")) {
        __asm__ volatile(".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
                         "vpbroadcastq %0, %%zmm\\i\n"
                         ".endr\n"
                         ".irp i, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
                         "vpbroadcastq %0, %%zmm\\i\n"
                         ".endr" ::"r"(mark));
    } else if (__builtin_cpu_supports("avx")) {
        __asm__ volatile("vmovq %0, %%xmm0\n"
                         "vpunpcklqdq %%xmm0, %%xmm0, %%xmm0\n"
                         "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n"
                         ".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
                         "vmovaps %%ymm0, %%ymm\\i\n"
                         ".endr" ::"r"(mark));
    } else {
        __asm__ volatile("movq %0, %%xmm0\n"
                         "punpcklqdq %%xmm0, %%xmm0\n"
                         ".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
                         "movaps %%xmm0, %%xmm\\i\n"
                         ".endr" ::"r"(mark));
    }
}

#elif defined(__aarch64__)

void ckeychain_test_mark_registers(uint64_t mark) {
    __asm__ volatile(".irp i, 0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
                     "dup v\\i\\().2d, %0\n"
                     ".endr" ::"r"(mark));
}

#endif

/// Deep enough that what the linker saves lies below what the thread does afterwards.
__attribute__((noinline)) void ckeychain_test_bind_lazily(void) {
    volatile char room[8192];
    room[0] = '7';
    room[1] = 0;
    // Nothing else here calls it, so the first call goes through the dynamic linker.
    room[2] = (char)a64l((const char *)room);
}

/// A byte that no frame is full of.
#define PAINT 0xa7

__attribute__((noinline)) void ckeychain_test_paint_stack(void) {
    unsigned char frame[CKEYCHAIN_TEST_PAINTED_STACK];
    memset(frame, PAINT, sizeof frame);
    __asm__ volatile("" ::"r"(frame) : "memory");
}

__attribute__((noinline)) size_t ckeychain_test_used_stack(void) {
    volatile unsigned char frame[CKEYCHAIN_TEST_PAINTED_STACK];
    size_t untouched = 0;
    while (untouched < sizeof frame && frame[untouched] == PAINT) {
        untouched++;
    }
    return sizeof frame - untouched;
}

#define _GNU_SOURCE
#include "CKeychainLinux.h"

#include <stdatomic.h>
#include <string.h>

// A function must not keep vector registers for its caller (x86-64), or only the lower halves of eight of them (AArch64). So
// one of its own may clear them without telling the compiler.

#if defined(__x86_64__)
#include <cpuid.h>

enum vectors { UNKNOWN, SSE, AVX, AVX512 };

/// The widest registers that the processor has and the system saves (XCR0: Intel SDM, volume 1, 13.3). CPUID is slow in a
/// virtual machine, so it is asked once.
static enum vectors widest_vectors(void) {
    static _Atomic enum vectors known = UNKNOWN;
    enum vectors widest = atomic_load_explicit(&known, memory_order_relaxed);
    if (widest != UNKNOWN) {
        return widest;
    }
    unsigned a, b, c, d, states = 0, high;
    const unsigned avx = 0x06, avx512 = 0xe6;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE) != 0) {
        __asm__ volatile("xgetbv" : "=a"(states), "=d"(high) : "c"(0));
    }
    widest = (states & avx512) == avx512 ? AVX512 : (states & avx) == avx ? AVX : SSE;
    atomic_store_explicit(&known, widest, memory_order_relaxed);
    return widest;
}

static __attribute__((noinline)) void erase_registers(void) {
    switch (widest_vectors()) {
    case AVX512:
        __asm__ volatile(".irp i, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
                         "vpxorq %zmm\\i, %zmm\\i, %zmm\\i\n"
                         ".endr\n"
                         ".irp i, 0,1,2,3,4,5,6,7\n"
                         "kxorw %k\\i, %k\\i, %k\\i\n"
                         ".endr\n"
                         "vzeroall");
        break;
    case AVX:
        __asm__ volatile("vzeroall");
        break;
    default:
        __asm__ volatile(".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
                         "pxor %xmm\\i, %xmm\\i\n"
                         ".endr");
    }
}

#elif defined(__aarch64__)

static __attribute__((noinline)) void erase_registers(void) {
    // The caller has the lower halves of v8 to v15 back already. A write to a register clears what SVE has above it.
    __asm__ volatile(".irp i, 0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
                     "movi v\\i\\().2d, #0\n"
                     ".endr\n"
                     ".irp i, 8,9,10,11,12,13,14,15\n"
                     "mov v\\i\\().d[1], xzr\n"
                     ".endr");
}

#else
#error "Keys must not stay in vector registers: name those of this processor."
#endif

// A look-up uses 35 KiB and a renewal of keys 44 on x86-64 with AVX-512; twice that unoptimised.
#ifdef DEBUG
size_t ckeychain_call_stack(void) { return 128 * 1024; }
#else
size_t ckeychain_call_stack(void) { return 56 * 1024; }
#endif
size_t ckeychain_cipher_stack(void) { return 16 * 1024; }

static __attribute__((noinline)) void erase_stack(size_t count) {
    unsigned char frame[count];
    explicit_bzero(frame, count);
}

void ckeychain_erase_traces(size_t stack) {
    // In this order: the dynamic linker saves the registers on the stack when a function is called for the first time,
    // explicit_bzero among them.
    erase_registers();
    erase_stack(stack);
}

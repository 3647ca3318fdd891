// The entry of libFuzzer's runtime, which the linker brings along with -sanitize=fuzzer
// (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library").
#ifndef CFUZZER_H
#define CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Calls `callback` with one input after the other. Reads libFuzzer's options from the arguments; ends the process
/// itself when an input makes the callback crash.
int LLVMFuzzerRunDriver(
    int *_Nonnull count, char *_Nullable *_Nonnull *_Nonnull arguments,
    int (*_Nonnull callback)(const uint8_t *_Nonnull data, size_t size));

#endif

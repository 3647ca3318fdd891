#define _GNU_SOURCE
#include "CErasingAllocator.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// A program that has these in its executable uses them in all its libraries: whatever the Swift runtime, Foundation,
// SQLite or the generated messages give back is overwritten with zeros first. The C library's own way of that,
// mallopt(M_PERTURB), leaves out small pieces that it keeps for the next call, and the end of every piece.
//
// Only for glibc, whose own functions stay within reach under these names.

extern void __libc_free(void *memory);
extern void *__libc_realloc(void *memory, size_t count);

void free(void *memory) {
    if (memory == NULL) {
        return;
    }
    explicit_bzero(memory, malloc_usable_size(memory));
    __libc_free(memory);
}

// Moves what does not stay in its place itself: the C library would leave the old place as it is.
void *realloc(void *memory, size_t count) {
    if (memory == NULL) {
        return malloc(count);
    }
    if (count == 0) {
        free(memory);
        return NULL;
    }
    size_t former = malloc_usable_size(memory);
    if (count <= former) {
        explicit_bzero((char *)memory + count, former - count);
        return __libc_realloc(memory, count);
    }
    void *moved = malloc(count);
    if (moved != NULL) {
        memcpy(moved, memory, former);
        free(memory);
    }
    return moved;
}

// What is large is mapped by itself, and goes back to the system with its end. The C library would raise this limit with the
// first large piece that is freed, and then keep up to 64 MiB in each of its arenas.
__attribute__((constructor)) static void map_large_pieces(void) {
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
}

#define _GNU_SOURCE
#include "CErasingAllocator.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// A program that has these in its executable uses them in all its libraries: memory that the Swift runtime, Foundation,
// SQLite or the generated messages give back is overwritten with zeros first. The C library's own way of that,
// mallopt(M_PERTURB), leaves out small pieces that it keeps for the next call, and the end of every piece.
//
// Only for glibc, whose own functions stay within reach under these names.

extern void __libc_free(void *memory);
extern void *__libc_realloc(void *memory, size_t count);

// Whether a piece is mapped by itself, by a mark in the word before it. Such a piece goes back to the system with its end.
static bool is_mapped(const void *memory) {
    const size_t mapped = 2;
    return (((const size_t *)memory)[-1] & mapped) != 0;
}

// Only those pages of a mapped piece are overwritten that are there. To touch the others would take memory for them,
// and a page that is in swap goes back to the system as it is.
static void erase(const void *memory, char *place, size_t count) {
    if (!is_mapped(memory)) {
        explicit_bzero(place, count);
        return;
    }
    enum { PAGES = 256 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *end = place + count;
    while (place < end) {
        unsigned char is_there[PAGES];
        char *start = (char *)((uintptr_t)place & ~(page - 1));
        size_t pages = ((size_t)(end - start) + page - 1) / page;
        pages = pages < PAGES ? pages : PAGES;
        if (mincore(start, pages * page, is_there) != 0) {
            memset(is_there, 1, pages);
        }
        for (size_t index = 0; index < pages; index++) {
            char *next = start + (index + 1) * page;
            next = next < end ? next : end;
            if (is_there[index] & 1) {
                explicit_bzero(place, (size_t)(next - place));
            }
            place = next;
        }
    }
}

void free(void *memory) {
    if (memory == NULL) {
        return;
    }
    erase(memory, memory, malloc_usable_size(memory));
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
        erase(memory, (char *)memory + count, former - count);
        return __libc_realloc(memory, count);
    }
    void *moved = malloc(count);
    if (moved != NULL) {
        memcpy(moved, memory, former);
        free(memory);
    }
    return moved;
}

// Large pieces are mapped by themselves. The C library would raise this limit with the first large piece that is freed,
// and then keep up to 64 MiB in each of its arenas. Each arena keeps the pages that it once used for small pieces, and
// there would be eight arenas for each processor.
__attribute__((constructor)) static void keep_little(void) {
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_ARENA_MAX, 2);
}

// What the parts of the fault layer know of each other.
#ifndef CKEYCHAINFAULTS_INTERNAL_H
#define CKEYCHAINFAULTS_INTERNAL_H

#include "CKeychainFaults.h"

#include <stdbool.h>

/// Stops with a message: the layer itself is at its end, which no verdict may be taken from.
_Noreturn void give_up(const char *reason, const char *path);

// steps.c

/// Counts a step and lets the plan's fault happen. Returns 0, or the errno value that the call fails with.
int step(enum ckeychain_step kind, const char *path);
/// The same for a write. *part is how much of it is to be done if the process ends after it, or count.
int step_write(const char *path, size_t count, size_t *part);
void enter(void);
void leave(void);

// disk.c: what is on the disk, and what is not yet.

void disk_begin(const char *root);
bool disk_has(const char *path);
/// A file or directory has a new name.
void disk_named(const char *path);
void disk_renamed(const char *path, const char *name);
void disk_removed(const char *path);
/// The content of a file is on the disk.
void disk_synced(const char *path);
void disk_synced_descriptor(int file);
/// The names in the directory of this path are on the disk.
void disk_synced_directory_of(const char *path);
/// The path of an open file; NULL if it is none of the store's.
const char *disk_path(int file);
/// Leaves the files as a power cut does.
void disk_lose(bool is_subset, uint64_t seed, bool keeps_shared_memory);

// vfs.c

void vfs_register(void);

#endif

// C calls that Swift cannot spell. Every name starts with the module's prefix; functions return
// 0 or an errno value unless they say otherwise; all logic is in Swift.
#ifndef CKEYCHAINLINUX_H
#define CKEYCHAINLINUX_H

#include <stddef.h>
#include <stdint.h>

/// Overwrites `count` bytes with zeros; the call is never optimised away.
void ckeychain_erase(void *_Nullable bytes, size_t count);

/// Maps `count` bytes that are excluded from core dumps and, where RLIMIT_MEMLOCK allows, from swap.
/// `*is_locked` tells whether the lock was granted. The caller releases with `ckeychain_release_pages`.
int ckeychain_map_pages(size_t count, void *_Nullable *_Nonnull pages, int *_Nonnull is_locked);

/// Erases and unmaps what `ckeychain_map_pages` returned.
void ckeychain_release_pages(void *_Nonnull pages, size_t count);

/// Fills `bytes` from the kernel's generator (getrandom(2)); returns 0 or an errno value.
int ckeychain_random(void *_Nonnull bytes, size_t count);

/// 1 if the kernel started this program with raised privilege (AT_SECURE in its auxiliary vector),
/// so that nothing inherited from the environment may be believed.
int ckeychain_is_secure_execution(void);

/// The bytes that the AppleCompatibility plugin embedded in this executable, or NULL and a size of 0.
/// The memory belongs to the program image.
const void *_Nullable ckeychain_embedded_entitlements(size_t *_Nonnull count);

#endif

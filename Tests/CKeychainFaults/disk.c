// What of a store is on the disk, and what would be lost.
//
// Of each file the content is kept that it had when it was last synced, of each directory the names. What a file has now
// is read when it is wanted, through a descriptor of our own that is never closed: closing one would take SQLite's
// locks away, and a file that was removed can still be read.
#define _GNU_SOURCE
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { longest_path = 512, most_nodes = 1024, most_names = 256, most_changes = 4096 };

struct content {
    unsigned char *bytes;
    size_t size;
};

/// A file or directory, whatever its names are.
struct node {
    dev_t device;
    ino_t number;
    bool is_directory;
    int descriptor;
    struct content synced;
    /// Where a power cut has put it.
    char restored[longest_path];
};

struct name {
    char path[longest_path];
    int node;
};

/// A change of names that is not on the disk. Either path may be empty.
struct change {
    char removed[longest_path];
    char added[longest_path];
    int node;
};

static char root[longest_path];
static struct node nodes[most_nodes];
static int node_count;
static struct name present[most_names], synced[most_names];
static int present_count, synced_count;
static struct change changes[most_changes];
static int change_count;

static void copy(char *to, const char *from) {
    if (strlen(from) >= longest_path) give_up("the path is too long", from);
    strcpy(to, from);
}

static bool is_shared_memory(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

static bool is_in_directory_of(const char *path, const char *other) {
    const char *end = strrchr(other, '/');
    size_t length = (size_t)(end - other);
    const char *own = strrchr(path, '/');
    return own && (size_t)(own - path) == length && strncmp(path, other, length) == 0;
}

// Names

static int find(struct name *names, int count, const char *path) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i].path, path) == 0) return i;
    return -1;
}

static void put(struct name *names, int *count, const char *path, int node) {
    int at = find(names, *count, path);
    if (at < 0) {
        if (*count == most_names) give_up("there are too many files", path);
        at = (*count)++;
        copy(names[at].path, path);
    }
    names[at].node = node;
}

static void take(struct name *names, int *count, const char *path) {
    int at = find(names, *count, path);
    if (at >= 0) names[at] = names[--*count];
}

static void apply(struct name *names, int *count, const struct change *change) {
    if (change->removed[0]) take(names, count, change->removed);
    if (change->added[0]) put(names, count, change->added, change->node);
}

static void note(const char *removed, const char *added, int node) {
    if (change_count == most_changes) give_up("too many changes were never synced", added);
    struct change *change = &changes[change_count++];
    copy(change->removed, removed);
    copy(change->added, added);
    change->node = node;
    apply(present, &present_count, change);
}

// Nodes

static int node_of(const struct stat *information) {
    for (int i = 0; i < node_count; i++)
        if (nodes[i].device == information->st_dev && nodes[i].number == information->st_ino) return i;
    return -1;
}

/// The node of what a path leads to, made if it is new.
static int node_at(const char *path) {
    struct stat information;
    if (lstat(path, &information) != 0) give_up("it is not there", path);
    int known = node_of(&information);
    if (known >= 0) return known;
    if (node_count == most_nodes) give_up("there were too many files", path);
    struct node *node = &nodes[node_count];
    node->device = information.st_dev;
    node->number = information.st_ino;
    node->is_directory = S_ISDIR(information.st_mode);
    node->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (node->descriptor < 0) give_up("it cannot be opened", path);
    return node_count++;
}

static struct content content_of(const struct node *node) {
    struct stat information;
    if (fstat(node->descriptor, &information) != 0) give_up("it cannot be looked at", root);
    struct content content = {malloc((size_t)information.st_size + 1), (size_t)information.st_size};
    if (!content.bytes) give_up("there is no memory", root);
    ssize_t count = pread(node->descriptor, content.bytes, content.size, 0);
    if (count != (ssize_t)content.size) give_up("it cannot be read", root);
    return content;
}

static void keep(struct node *node) {
    if (node->is_directory) return;
    free(node->synced.bytes);
    node->synced = content_of(node);
}

// What happens to files

static void scan(const char *directory) {
    DIR *listing = opendir(directory);
    if (!listing) give_up("it cannot be listed", directory);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char path[longest_path];
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= longest_path)
            give_up("the path is too long", directory);
        int node = node_at(path);
        keep(&nodes[node]);
        put(present, &present_count, path, node);
        put(synced, &synced_count, path, node);
        if (nodes[node].is_directory) scan(path);
    }
    closedir(listing);
}

void disk_begin(const char *directory) {
    copy(root, directory);
    int node = node_at(root);
    put(present, &present_count, root, node);
    put(synced, &synced_count, root, node);
    scan(root);
}

bool disk_has(const char *path) {
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && path[length] == '/';
}

void disk_named(const char *path) { note("", path, node_at(path)); }

void disk_renamed(const char *path, const char *name) { note(path, name, node_at(name)); }

void disk_removed(const char *path) { note(path, "", -1); }

void disk_synced(const char *path) {
    int at = find(present, present_count, path);
    if (at >= 0) keep(&nodes[present[at].node]);
}

void disk_synced_descriptor(int file) {
    struct stat information;
    int node = fstat(file, &information) == 0 ? node_of(&information) : -1;
    if (node < 0) return;
    const char *path = disk_path(file);
    if (!nodes[node].is_directory) return keep(&nodes[node]);
    char inside[longest_path + 2];
    snprintf(inside, sizeof inside, "%s/x", path);
    disk_synced_directory_of(inside);
}

void disk_synced_directory_of(const char *path) {
    int kept = 0;
    for (int i = 0; i < change_count; i++) {
        struct change change = changes[i];
        const char *own = change.added[0] ? change.added : change.removed;
        if (is_in_directory_of(own, path)) apply(synced, &synced_count, &change);
        else changes[kept++] = change;
    }
    change_count = kept;
}

const char *disk_path(int file) {
    struct stat information;
    if (fstat(file, &information) != 0) return NULL;
    int node = node_of(&information);
    for (int i = 0; node >= 0 && i < present_count; i++)
        if (present[i].node == node) return present[i].path;
    return NULL;
}

// A power cut

static uint64_t state;

/// splitmix64.
static uint64_t next(void) {
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/// Of the changes in each directory the first few may have come to be. Which ones is drawn for each directory.
static void lose_names(bool is_subset) {
    while (change_count > 0) {
        char place[longest_path];
        copy(place, changes[0].added[0] ? changes[0].added : changes[0].removed);
        int kept = 0, taken = 0, count = 0;
        for (int i = 0; i < change_count; i++) {
            const struct change *change = &changes[i];
            count += is_in_directory_of(change->added[0] ? change->added : change->removed, place);
        }
        int most = is_subset ? (int)(next() % (uint64_t)(count + 1)) : 0;
        for (int i = 0; i < change_count; i++) {
            struct change change = changes[i];
            if (!is_in_directory_of(change.added[0] ? change.added : change.removed, place)) {
                changes[kept++] = change;
            } else if (taken++ < most) {
                apply(synced, &synced_count, &change);
            }
        }
        change_count = kept;
    }
}

/// What a file has after the cut.
static struct content outcome(const struct node *node, bool is_subset) {
    struct content old = node->synced;
    if (!is_subset) return old;
    struct content new = content_of(node);
    struct content mixed = {NULL, next() & 1 ? new.size : old.size};
    mixed.bytes = calloc(mixed.size + 1, 1);
    if (!mixed.bytes) give_up("there is no memory", root);
    for (size_t start = 0; start < mixed.size; start += 512) {
        const struct content *source = next() & 1 ? &new : &old;
        // A cut that did not reach the disk leaves what was there.
        if (source == &new && start >= new.size) source = &old;
        size_t end = start + 512 < mixed.size ? start + 512 : mixed.size;
        // A sector that the file grew by and that was not written is zeros.
        if (source->size < end) end = source->size;
        if (end > start) memcpy(mixed.bytes + start, source->bytes + start, end - start);
    }
    return mixed;
}

static int remove_one(const char *path, const struct stat *information, int kind, struct FTW *place) {
    (void)information, (void)kind;
    return place->level == 0 ? 0 : remove(path);
}

static void write_whole(const char *path, struct content content) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) give_up("it cannot be made again", path);
    for (size_t done = 0; done < content.size;) {
        ssize_t count = write(file, content.bytes + done, content.size - done);
        if (count <= 0) give_up("it cannot be written again", path);
        done += (size_t)count;
    }
    close(file);
}

static int by_length(const void *left, const void *right) {
    const struct name *one = left, *other = right;
    size_t a = strlen(one->path), b = strlen(other->path);
    return a != b ? (a < b ? -1 : 1) : strcmp(one->path, other->path);
}

/// Puts a name back, unless the directory it was in is lost.
static void restore(const char *path, struct node *node, struct content content) {
    if (strcmp(path, root) == 0) return;
    char parent[longest_path];
    copy(parent, path);
    *strrchr(parent, '/') = 0;
    if (access(parent, F_OK) != 0) return;
    if (node->is_directory) {
        if (mkdir(path, 0700) != 0) give_up("it cannot be made again", path);
    } else if (node->restored[0]) {
        if (link(node->restored, path) != 0) give_up("it cannot be linked again", path);
    } else {
        write_whole(path, content);
        copy(node->restored, path);
    }
}

void disk_lose(bool is_subset, uint64_t seed, bool keeps_shared_memory) {
    state = seed;
    lose_names(is_subset);
    // Its names are never synced, and its content never is: it is there as it is, or not at all.
    for (int i = 0; i < present_count; i++)
        if (is_shared_memory(present[i].path)) {
            if (keeps_shared_memory) put(synced, &synced_count, present[i].path, present[i].node);
            else take(synced, &synced_count, present[i].path);
        }
    qsort(synced, (size_t)synced_count, sizeof synced[0], by_length);
    struct content contents[most_names];
    for (int i = 0; i < synced_count; i++) {
        const struct node *node = &nodes[synced[i].node];
        if (node->is_directory) continue;
        contents[i] = is_shared_memory(synced[i].path) ? content_of(node) : outcome(node, is_subset);
    }
    if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) give_up("it cannot be cleared", root);
    for (int i = 0; i < synced_count; i++) restore(synced[i].path, &nodes[synced[i].node], contents[i]);
}

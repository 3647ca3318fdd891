// Takes another program's file for its own, in a user namespace of its own: prctl(PR_SET_MM_MAP). Loaded by a program that
// does nothing else, since nothing of the program's own file may be in memory meanwhile.
//
//   host FORGE.SO PROGRAM SOCKET HELLO REQUEST     the last two in hexadecimal; "-" for none
//
// Prints the last answer in hexadecimal. The last 16 bytes of the request become the nonce of the welcome.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    _exit(3);
}

static unsigned char bytes[1 << 16];

static size_t decode(const char *text) {
    size_t count = strlen(text) / 2;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        sscanf(text + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    return count;
}

/// A frame, or the little that another server answers. Its size; 0 at the end.
static size_t receive(int stream, int is_framed) {
    size_t have = 0, need = is_framed ? 8 : 1;
    while (have < need) {
        ssize_t count = read(stream, bytes + have, is_framed ? need - have : sizeof bytes);
        if (count <= 0) return 0;
        have += (size_t)count;
        if (is_framed && have == 8) need = 8 + ((bytes[2] << 8) | bytes[3]) + ((bytes[6] << 8) | bytes[7]);
    }
    return have;
}

static void map_self(const char *file, const char *format, int number) {
    char line[32];
    int map = open(file, O_WRONLY | O_CLOEXEC);
    int size = snprintf(line, sizeof line, format, number);
    if (map < 0 || write(map, line, (size_t)size) != size) fail(file);
    close(map);
}

static void unmap_own_file(void) {
    char own[4096], line[8192];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    own[size] = 0;
    uintptr_t starts[64], ends[64];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        char *path = strchr(line, '/');
        if (path != NULL && strncmp(path, own, strlen(own)) == 0 && path[strlen(own)] == '\n') {
            sscanf(line, "%lx-%lx", &starts[count], &ends[count]);
            count++;
        }
    }
    fclose(maps);
    for (int i = 0; i < count; i++) munmap((void *)starts[i], ends[i] - starts[i]);
}

void forge(char **words) {
    signal(SIGPIPE, SIG_IGN);
    int program = open(words[2], O_RDONLY | O_CLOEXEC);
    int user = (int)getuid(), group = (int)getgid();
    if (unshare(CLONE_NEWUSER) != 0) fail("unshare");
    map_self("/proc/self/setgroups", "deny", 0);
    map_self("/proc/self/uid_map", "0 %d 1", user);
    map_self("/proc/self/gid_map", "0 %d 1", group);
    unsigned long fields[53] = {0};
    char text[4096], *rest, *field;
    FILE *stat = fopen("/proc/self/stat", "r");
    if (fgets(text, sizeof text, stat) == NULL) fail("stat");
    fclose(stat);
    int number = 3;
    for (field = strtok_r(strrchr(text, ')') + 2, " ", &rest); field != NULL && number < 53;
         field = strtok_r(NULL, " ", &rest)) {
        fields[number++] = strtoul(field, NULL, 10);
    }
    struct prctl_mm_map map = {
        .start_code = fields[26], .end_code = fields[27], .start_data = fields[45], .end_data = fields[46],
        .start_brk = fields[47], .brk = (uintptr_t)sbrk(0), .start_stack = fields[28], .arg_start = fields[48],
        .arg_end = fields[49], .env_start = fields[50], .env_end = fields[51], .exe_fd = (unsigned)program};
    // Nothing of the program's own file is called from here on.
    unmap_own_file();
    if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0) != 0) fail("prctl");

    int stream = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", words[3]);
    if (connect(stream, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    int is_framed = strcmp(words[4], "-") != 0;
    unsigned char nonce[16] = {0};
    size_t count;
    if (is_framed) {
        count = decode(words[4]);
        if (write(stream, bytes, count) < 0 || (count = receive(stream, 1)) == 0) goto end;
        for (size_t i = 8; i + 18 <= count; i++) {
            if (bytes[i] == 0x32 && bytes[i + 1] == 16) {
                memcpy(nonce, bytes + i + 2, 16);
                break;
            }
        }
    }
    count = decode(words[5]);
    if (is_framed) memcpy(bytes + count - 16, nonce, 16);
    if (write(stream, bytes, count) < 0) goto end;
    count = receive(stream, is_framed);
end:
    if (readlink("/proc/self/exe", text, sizeof text) < (ssize_t)strlen(words[2]) ||
        strncmp(text, words[2], strlen(words[2])) != 0) {
        fail("the file is the old one");
    }
    for (size_t i = 0; i < count; i++) dprintf(1, "%02x", bytes[i]);
    _exit(0);
}

// The entitled program of the attacks: with a set-group-ID bit it has a group of its own. Everything that its user may
// choose for it is gone before it does anything: variables, and the search paths that come of them. What it does is
// client.py, which only root may write.
//
//   gate [WORD...]     WORDs go to client.py, after the path of the daemon's socket
//   gate end, gate wait
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    // It has a group of the system that it is tried on, for two users and a while.
    if (getuid() != 0 && getuid() != ONE && getuid() != OTHER) {
        return 1;
    }
    (void)alarm(300);
    // Something that the library does by a variable, GCONV_PATH.
    (void)iconv_open("INTRUDER//", "UTF-8//");
    if (count > 1 && strcmp(words[1], "end") == 0) {
        return 0;
    }
    if (count > 1 && strcmp(words[1], "wait") == 0) {
        return pause();
    }
    char **all = calloc((size_t)count + 5, sizeof *all);
    char *first[] = {"python3", "-I", "-B", CLIENT, SOCKET};
    memcpy(all, first, sizeof first);
    if (count > 0) {
        memcpy(all + 5, words + 1, (size_t)(count - 1) * sizeof *all);
    }
    char *environment[] = {"LANG=C.UTF-8", NULL};
    execve("/usr/bin/python3", all, environment);
    perror("gate");
    return 1;
}

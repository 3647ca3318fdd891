// Code of an attacker, in a program that belongs to somebody else: says with which group it runs there. It comes into the
// program as a preloaded library, as an auditor of the loader, or as a module that converts characters.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void enter(void) {
    int file = open(PLACE, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (file >= 0) {
        (void)dprintf(file, "%d\n", (int)getegid());
        (void)close(file);
    }
}

unsigned int la_version(unsigned int version) { return version; }
int gconv(void) { return 5; }
int gconv_init(void) { return 0; }

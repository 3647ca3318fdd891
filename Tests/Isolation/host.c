// Calls forge.c.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words) {
    void *library = count == 6 ? dlopen(words[1], RTLD_NOW) : NULL;
    void (*forge)(char **) = library != NULL ? (void (*)(char **))dlsym(library, "forge") : NULL;
    if (forge == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    forge(words);
    return 2;
}

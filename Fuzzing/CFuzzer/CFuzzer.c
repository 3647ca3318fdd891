#include "CFuzzer.h"

#ifdef CFUZZER_REPLAY

#include <stdio.h>
#include <stdlib.h>

// Without libFuzzer's runtime: each argument is the name of an input.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*callback)(const uint8_t *data, size_t size)) {
    for (int index = 1; index < *count; index++) {
        const char *name = (*arguments)[index];
        FILE *file = fopen(name, "rb");
        if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
            perror(name);
            return 1;
        }
        size_t size = (size_t)ftell(file);
        rewind(file);
        // A block of its own, without a byte behind the input.
        uint8_t *input = malloc(size);
        if ((input == NULL && size != 0) || fread(input, 1, size, file) != size) {
            perror(name);
            return 1;
        }
        (void)fclose(file);
        // For the message of a crash, which names no input.
        fprintf(stderr, "%s\n", name);
        (void)callback(input, size);
        free(input);
    }
    return 0;
}

#endif

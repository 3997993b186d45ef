/* Runs a fuzz target on the files named, without libFuzzer: the corpus is a regression test. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All of a file in memory of exactly its size, so that reading past the end is noticed. */
static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    long end = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        end = ftell(f);
    uint8_t *data = end < 0 ? NULL : malloc(end ? (size_t)end : 1);
    if (data) {
        rewind(f);
        *size = fread(data, 1, (size_t)end, f);
    }
    if (f)
        fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        size_t size = 0;
        uint8_t *data = read_file(argv[i], &size);
        if (!data) {
            perror(argv[i]);
            return 3;
        }
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}

/* damage: writes a damaged copy of a file.
 *
 *   damage SEED IN OUT
 *
 * The seed alone says what is damaged, so that a failed test can be repeated:
 *   0 mod 4  the file is cut somewhere
 *   1 mod 4  the file is cut in its last 8 KiB
 *   2 mod 4  one byte is changed somewhere
 *   3 mod 4  one byte is changed in the header of a page, among its cell pointers, or in the first
 *            bytes of a cell: where databases hold structure, not values
 * What was done is printed in one line. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE 4096 /* also a multiple of smaller pages */

/* xorshift64*, from Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static uint64_t draw_number(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * UINT64_C(2685821657736338717) >> 11) % below;
}

static uint8_t *read_file(const char *path, uint64_t *size)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        return NULL;
    long end = ftell(in);
    if (end <= 1)
        return NULL;
    *size = (uint64_t)end;
    uint8_t *bytes = malloc(*size);
    rewind(in);
    if (!bytes || fread(bytes, 1, *size, in) != *size)
        return NULL;
    fclose(in);
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fputs("usage: damage SEED IN OUT\n", stderr);
        return 2;
    }
    uint64_t seed = strtoull(argv[1], NULL, 10), state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t size, kept;
    uint8_t *bytes = read_file(argv[2], &size);
    if (!bytes) {
        fprintf(stderr, "damage: %s cannot be read\n", argv[2]);
        return 3;
    }
    kept = size;
    if (seed % 4 == 0) {
        kept = draw_number(&state, size);
    } else if (seed % 4 == 1) {
        kept = size - 1 - draw_number(&state, size - 1 < 8192 ? size - 1 : 8192);
    } else {
        uint64_t at = draw_number(&state, size);
        if (seed % 4 == 3) {
            at -= at % PAGE;
            at += draw_number(&state, 2) && at + PAGE <= size
                      ? PAGE - 1 - draw_number(&state, 512) /* cells grow from the end of a page */
                      : draw_number(&state, at + 64 < size ? 64 : size - at);
        }
        uint8_t old = bytes[at];
        bytes[at] ^= (uint8_t)(1 + draw_number(&state, 255));
        printf("seed %" PRIu64 ": byte %" PRIu64 " of %" PRIu64 ": %02x -> %02x\n", seed, at, size,
               old, bytes[at]);
    }
    if (kept < size)
        printf("seed %" PRIu64 ": cut to %" PRIu64 " of %" PRIu64 " bytes\n", seed, kept, size);
    FILE *out = fopen(argv[3], "wb");
    if (!out || fwrite(bytes, 1, kept, out) != kept || fclose(out) != 0) {
        fprintf(stderr, "damage: %s cannot be written\n", argv[3]);
        return 4;
    }
    free(bytes);
    return 0;
}

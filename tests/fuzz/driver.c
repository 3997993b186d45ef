/* Runs a fuzz target without libFuzzer: on the files named, which makes the corpus a regression
 * test, and then on mutations of them for some seconds. Speaks TAP.
 *
 *     fuzz_TARGET [--seconds N] [--seed N] FILE...
 *
 * An input that breaks the target is named, or written to fuzz_TARGET.broken where it is a
 * mutation. The same seed makes the same mutations, as many of them as there is time for. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZE_MAX_MUTATED = 1 << 14, MUTATIONS = 20000 };

typedef struct input {
    const char *name;
    uint8_t *data; /* in memory of exactly its size, so that reading past the end is noticed */
    size_t size;
} input;

static bool read_file(const char *path, input *in)
{
    FILE *f = fopen(path, "rb");
    long end = -1;
    if (f && fseek(f, 0, SEEK_END) == 0)
        end = ftell(f);
    *in = (input){strrchr(path, '/') ? strrchr(path, '/') + 1 : path, NULL, 0};
    if (end >= 0 && (in->data = malloc(end ? (size_t)end : 1))) {
        rewind(f);
        in->size = fread(in->data, 1, (size_t)end, f);
    }
    if (f)
        fclose(f);
    return in->data;
}

/* ---- what breaks -------------------------------------------------------------------------------
 */

static const input *current; /* what runs */
static unsigned number;
static char broken_path[4096]; /* where a mutation is written to; "" while files are run */

static int out = 1; /* targets may have other uses for standard output */

static void report_broken(void)
{
    const int fd = *broken_path ? open(broken_path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (!current)
        return;
    if (fd >= 0 && write(fd, current->data, current->size) == (ssize_t)current->size)
        close(fd);
    dprintf(out, "not ok %u - %s\n", number, *broken_path ? broken_path : current->name);
    current = NULL;
}

static void on_signal(int number_of_signal)
{
    report_broken();
    signal(number_of_signal, SIG_DFL);
    raise(number_of_signal);
}

/* In builds with sanitizers, which end a program without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* ---- mutations ---------------------------------------------------------------------------------
 */

static uint64_t state;

static size_t draw_below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state >> 11) % n : 0;
}

/* Changes a byte, a bit, or a few bytes that are copied, put in, or taken out. */
static void mutate(input *m, const input *all, size_t count)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, '"', '\n', ',', '{', '-'};
    const input *other = &all[draw_below(count)];
    const size_t at = draw_below(m->size + 1), from = draw_below(other->size + 1);
    size_t n = 1 + draw_below(draw_below(8) ? 8 : 64);
    switch (draw_below(5)) {
    case 0:
        if (at < m->size)
            m->data[at] ^= (uint8_t)(1u << draw_below(8));
        break;
    case 1:
        if (at < m->size)
            m->data[at] = values[draw_below(sizeof values)];
        break;
    case 2: /* over what is there */
        n = n < other->size - from ? n : other->size - from;
        n = n < m->size - at ? n : m->size - at;
        memcpy(m->data + at, other->data + from, n);
        break;
    case 3:
        n = n < other->size - from ? n : other->size - from;
        n = n < SIZE_MAX_MUTATED - m->size ? n : SIZE_MAX_MUTATED - m->size;
        memmove(m->data + at + n, m->data + at, m->size - at);
        memcpy(m->data + at, other->data + from, n);
        m->size += n;
        break;
    default:
        n = n < m->size - at ? n : m->size - at;
        memmove(m->data + at, m->data + at + n, m->size - at - n);
        m->size -= n;
    }
}

static void run_mutations(const input *all, size_t count, double seconds)
{
    uint8_t *buffer = malloc(SIZE_MAX_MUTATED);
    struct timespec begin, now;
    unsigned done = 0;
    double elapsed = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; buffer && elapsed < seconds && done < MUTATIONS; done++) {
        const input *of = &all[draw_below(count)];
        input m = {.data = buffer,
                   .size = of->size < SIZE_MAX_MUTATED ? of->size : SIZE_MAX_MUTATED};
        memcpy(buffer, of->data, m.size);
        for (size_t k = 1 + draw_below(4); k > 0; k--)
            mutate(&m, all, count);
        const input exact = {.data = malloc(m.size ? m.size : 1), .size = m.size};
        if (!exact.data)
            break;
        memcpy(exact.data, m.data, m.size);
        current = &exact;
        LLVMFuzzerTestOneInput(exact.data, exact.size);
        current = NULL;
        free(exact.data);
        clock_gettime(CLOCK_MONOTONIC, &now);
        elapsed = (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
    }
    free(buffer);
    dprintf(out, "ok %u - mutations\n# %u mutations, %.0f a second\n", number, done,
            elapsed > 0 ? done / elapsed : 0);
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    double seconds = 0;
    uint64_t seed = 1;
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (!strcmp(argv[first], "--seconds"))
            seconds = strtod(argv[first + 1], NULL);
        else if (!strcmp(argv[first], "--seed"))
            seed = strtoull(argv[first + 1], NULL, 10);
    }
    const size_t count = (size_t)(argc - first);
    input *all = calloc(count + 1, sizeof *all);
    for (size_t i = 0; all && i < count; i++)
        if (!read_file(argv[first + (int)i], &all[i])) {
            perror(argv[first + (int)i]);
            return 3;
        }
    out = dup(1);
    if (!all || !count || out < 0)
        return 2;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(report_broken);
    dprintf(out, "1..%zu\n", count + (seconds > 0));
    for (size_t i = 0; i < count; i++) {
        number = (unsigned)i + 1;
        current = &all[i];
        LLVMFuzzerTestOneInput(all[i].data, all[i].size);
        current = NULL;
        dprintf(out, "ok %u - %s\n", number, all[i].name);
    }
    if (seconds > 0) {
        number++;
        snprintf(broken_path, sizeof broken_path, "%s.broken", argv[0]);
        state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
        run_mutations(all, count, seconds);
    }
    for (size_t i = 0; i < count; i++)
        free(all[i].data);
    free(all);
    return 0;
}

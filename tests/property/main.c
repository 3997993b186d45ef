/* Options, the order of cases, workers, and the figures at the end. */
#include "tests/property/property.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIGNATURES = 256 };

/* Shared by the workers. */
typedef struct shared {
    atomic_ullong next;      /* case */
    atomic_ullong mutations; /* done */
    atomic_ullong files;
    atomic_ullong made;
    atomic_ullong runs;
    atomic_ullong findings;
    atomic_ullong signatures[SIGNATURES];
    atomic_ullong distinct;
} shared;

typedef struct soak {
    char **inputs;
    size_t count;
    size_t *sizes;
    const char *temp;
    uint64_t seed;
    unsigned seconds;
    unsigned rounds; /* of damages; 0: any number */
    unsigned jobs;
    bool single, all, keep;
    uint64_t number; /* single */
    time_t deadline;
    shared *s;
} soak;

typedef struct one_case {
    soak *k;
    const char *input;
    uint64_t number;
    const char *words;
    bool found;
} one_case;

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Rows of which inputs are made. */
static bool is_made(const char *input)
{
    const size_t n = strlen(input);
    return n > 5 && !strcmp(input + n - 5, ".rows");
}

/* Findings that differ in numbers only are one; it is printed once, with the command that repeats
 * it. */
static void on_finding(void *ctx, const char *law, const char *text)
{
    one_case *c = ctx;
    shared *s = c->k->s;
    uint64_t h = UINT64_C(14695981039346656037);
    const char *parts[] = {strrchr(c->input, '.') ? strrchr(c->input, '.') : "", law, text};
    for (int i = 0; i < 3; i++)
        for (const char *p = parts[i]; *p && p - parts[i] < 160; p++) {
            if ((*p >= '0' && *p <= '9') || *p == '\'')
                continue;
            h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
        }
    h += h == 0;
    atomic_fetch_add(&s->findings, 1);
    if (c->found && !c->k->single)
        return; /* one is enough to look at the case */
    c->found = true;
    for (size_t i = 0; i < SIGNATURES && !c->k->all && !c->k->single; i++) {
        unsigned long long old = 0;
        if (atomic_load(&s->signatures[i]) == h)
            return;
        if (atomic_compare_exchange_strong(&s->signatures[i], &old, h))
            break;
        if (old == h)
            return;
    }
    atomic_fetch_add(&s->distinct, 1);
    printf("FOUND %s: %s: %s\n    damage%s\n    repeat: %s/tests/soak --case %" PRIu64 " %s\n",
           base_of(c->input), law, text, c->words[0] ? c->words : ": none", build_folder, c->number,
           c->input);
    fflush(stdout);
}

static void copy_one(void *ctx, const char *path)
{
    char to[8192];
    bytes b;
    snprintf(to, sizeof to, "%.4000s/%.4000s", (const char *)ctx, base_of(path));
    if (bytes_read(&b, path))
        bytes_write(to, b.p, b.n);
    free(b.p);
}

typedef struct picking {
    uint64_t at, wanted;
    char path[8192];
} picking;

static void pick_one(void *ctx, const char *path)
{
    picking *p = ctx;
    if (p->at++ == p->wanted)
        snprintf(p->path, sizeof p->path, "%s", path);
}

/* Case 0 of a file is the file as it is. The current folder is the worker's own. */
static void run_case(soak *k, const char *input, uint64_t number)
{
    char target[8192], words[4096] = "";
    one_case c = {.k = k, .input = input, .number = number, .words = words};
    remove_tree("in");
    mkdir("in", 0777);
    snprintf(target, sizeof target, "in/%.4000s", base_of(input));
    draw d = draw_seeded(base_of(input), number);
    counts truth;
    const bool made = is_made(input);
    if (made) {
        make_input(input, number, target, sizeof target, &truth);
    } else if (is_folder(input)) {
        mkdir(target, 0777);
        list_folder(input, copy_one, target);
        picking p = {0};
        list_folder(target, pick_one, &p);
        p.wanted = draw_below(&d, p.at);
        p.at = 0;
        list_folder(target, pick_one, &p);
        if (number) {
            snprintf(words, sizeof words, " in %.200s", base_of(p.path));
            mutate_file(p.path, &d, words, sizeof words);
        }
    } else {
        copy_one("in", input);
        if (number)
            mutate_file(target, &d, words, sizeof words);
    }
    unsigned runs = check_case(target, number, made ? &truth : NULL, on_finding, &c);
    atomic_fetch_add(&k->s->runs, runs);
    atomic_fetch_add(made ? &k->s->made : number ? &k->s->mutations : &k->s->files, 1);
    if (k->single)
        printf("damage%s\n", words[0] ? words : ": none");
}

/* Every second case is a file as it is until there are no more, the others damage one after the
 * other: large files less often. */
static void work(soak *k, unsigned worker)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/%u", k->temp, worker);
    if ((mkdir(folder, 0777) != 0 && errno != EEXIST) || chdir(folder) != 0) {
        fprintf(stderr, "soak: %s: %s\n", folder, strerror(errno));
        exit(4);
    }
    while (time(NULL) < k->deadline) {
        const uint64_t i = atomic_fetch_add(&k->s->next, 1), first = 2 * k->count;
        const uint64_t n = i < first ? i / 2 : i - k->count; /* a round has `count` cases */
        const uint64_t round = i < first && i % 2 == 0 ? 0 : 1 + n / k->count;
        const size_t file = n % k->count, size = k->sizes[file];
        if (k->rounds && round > k->rounds)
            break;
        if (size > 8 << 20 && (round ? (round + file) % 64 != 0 : k->seconds < 300))
            continue;
        if (round && size > 1 << 20 && (round + file) % 32)
            continue;
        if (round && size > 128 << 10 && (round + file) % 4)
            continue;
        run_case(k, k->inputs[file], round ? k->seed * 1000000 + round : 0);
    }
}

static void add_size(void *ctx, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        *(size_t *)ctx += (size_t)st.st_size;
}

static void use(void)
{
    fputs("usage: soak [--build DIR] [--seconds N] [--rounds N] [--seed N] [--jobs N]\n"
          "            [--all] INPUT...\n"
          "       soak [--build DIR] --case N INPUT\n"
          "INPUT: a file, a folder of files that are one input, or rows of which inputs are made\n",
          stderr);
    exit(2);
}

static void free_inputs(soak *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->inputs[i]);
    free(k->inputs);
    free(k->sizes);
}

int main(int argc, char **argv)
{
    soak k = {.seed = 1, .seconds = 60, .jobs = 2};
    char temp[] = "/dev/shm/soak-XXXXXX", build[4096], path[PATH_MAX];
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--all")) {
            k.all = true;
            continue;
        }
        if (i + 1 == argc)
            use();
        i++;
        if (!strcmp(argv[i - 1], "--build"))
            build_folder = value;
        else if (!strcmp(argv[i - 1], "--seconds"))
            k.seconds = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i - 1], "--rounds"))
            k.rounds = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i - 1], "--seed"))
            k.seed = strtoull(value, NULL, 10);
        else if (!strcmp(argv[i - 1], "--jobs"))
            k.jobs = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(argv[i - 1], "--case"))
            k.number = strtoull(value, NULL, 10), k.single = true;
        else
            use();
    }
    k.count = (size_t)(argc - i);
    if (!k.count)
        use();
    if (!build_folder) { /* this program is BUILD/tests/soak */
        ssize_t n = readlink("/proc/self/exe", build, sizeof build - 1);
        build[n > 0 ? n : 0] = '\0';
        for (int up = 0; up < 2 && strrchr(build, '/'); up++)
            *strrchr(build, '/') = '\0';
    } else if (!realpath(build_folder, build)) {
        use();
    }
    build_folder = build;
    k.inputs = calloc(k.count, sizeof *k.inputs);
    k.sizes = calloc(k.count, sizeof *k.sizes);
    k.s = mmap(NULL, sizeof *k.s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!k.inputs || !k.sizes || k.s == MAP_FAILED)
        return 5;
    for (size_t n = 0; n < k.count; n++) {
        if (!realpath(argv[i + (int)n], path)) {
            fprintf(stderr, "soak: %s: %s\n", argv[i + (int)n], strerror(errno));
            return 3;
        }
        k.inputs[n] = strdup(path);
        if (is_folder(path))
            list_folder(path, add_size, &k.sizes[n]);
        else
            add_size(&k.sizes[n], path);
    }
    if (k.single) {
        char folder[8192];
        snprintf(folder, sizeof folder, "%s/soak-case", build_folder);
        mkdir(folder, 0777);
        if (chdir(folder) != 0)
            return 4;
        run_case(&k, k.inputs[0], k.number);
        printf("the input is in %s/in\n", folder);
        free_inputs(&k);
        return atomic_load(&k.s->findings) ? 1 : 0;
    }
    if (!mkdtemp(temp)) {
        strcpy(temp, "/tmp/soak-XXXXXX");
        if (!mkdtemp(temp))
            return 4;
    }
    k.temp = temp;
    k.deadline = time(NULL) + k.seconds;
    for (unsigned j = 0; j < k.jobs; j++)
        if (fork() == 0) {
            work(&k, j);
            _exit(0);
        }
    int status;
    bool died = false;
    while (wait(&status) > 0)
        died |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    remove_tree(temp);
    free_inputs(&k);
    printf("soak: %llu files, %llu made, %llu mutations, %llu runs, %llu findings (%llu different)"
           "%s\n",
           atomic_load(&k.s->files), atomic_load(&k.s->made), atomic_load(&k.s->mutations),
           atomic_load(&k.s->runs), atomic_load(&k.s->findings), atomic_load(&k.s->distinct),
           died ? "; a worker of the test died" : "");
    return died || atomic_load(&k.s->findings) ? 1 : 0;
}

/* Makes calls of the tools fail, one after the other:
 *
 *     faults LIBRARY WORKDIR [--seconds N] [--rounds N] [--seed N] [--jobs N] [--every N]
 *         [--call NAME] <COMMANDS
 *
 * LIBRARY is tests/preload/faults.c. A line of COMMANDS is "= COMMAND" (the output is the same each
 * time), "~ COMMAND" (its names are) or "? COMMAND" (and what is wrong may stand in it); -jN in it
 * stands for -j1 and -j2, and it writes to out/. What it reads is WORKDIR/in. A run may do what it
 * was asked for, byte for byte, or end with 3, 4 or 5 and one line; then what was there before is
 * there, and nothing else. With --seconds or --rounds, cases are drawn by the seed; else all of
 * them are tried, or those of one --call: the first and the last call of those that are reached
 * through the same functions, or with --every N all of them, of allocations each N th. */
#include "tests/preload/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EMPTY "cbf29ce484222325" /* the hash of nothing */

enum { WORDS = 64, COMMANDS = 256, LONGEST = 30, TREE = 1 << 18 };

/* How a call fails. 0: it does less than it was asked for. */
typedef struct fault {
    int call, why;
    bool from_there;
} fault;

static const fault faults[] = {
    {FAULT_OPEN, EMFILE, 0},     {FAULT_OPEN, EIO, 0},      {FAULT_OPEN, ENOMEM, 0},
    {FAULT_OPEN, EINTR, 0},      {FAULT_READ, EIO, 0},      {FAULT_READ, EINTR, 0},
    {FAULT_READ, 0, 0},          {FAULT_PREAD, EIO, 0},     {FAULT_PREAD, EINTR, 0},
    {FAULT_PREAD, 0, 0},         {FAULT_WRITE, ENOSPC, 0},  {FAULT_WRITE, ENOSPC, 1},
    {FAULT_WRITE, EIO, 0},       {FAULT_WRITE, EINTR, 0},   {FAULT_WRITE, EAGAIN, 0},
    {FAULT_WRITE, 0, 0},         {FAULT_WRITE, 0, 1},       {FAULT_PWRITE, ENOSPC, 0},
    {FAULT_PWRITE, ENOSPC, 1},   {FAULT_PWRITE, EIO, 0},    {FAULT_PWRITE, EINTR, 0},
    {FAULT_PWRITE, 0, 0},        {FAULT_COPY, ENOSPC, 0},   {FAULT_COPY, EXDEV, 1},
    {FAULT_COPY, 0, 0},          {FAULT_CLOSE, EIO, 0},     {FAULT_CLOSE, EINTR, 0},
    {FAULT_CLOSE, ENOSPC, 0},    {FAULT_RENAME, ENOSPC, 0}, {FAULT_RENAME, EIO, 0},
    {FAULT_LINK, ENOSPC, 0},     {FAULT_LINK, EIO, 0},      {FAULT_UNLINK, EIO, 0},
    {FAULT_MKDIR, ENOSPC, 0},    {FAULT_MKDIR, EIO, 0},     {FAULT_STAT, EIO, 0},
    {FAULT_STAT, ENOMEM, 0},     {FAULT_READDIR, EIO, 0},   {FAULT_MMAP, ENOMEM, 0},
    {FAULT_MMAP, EAGAIN, 0},     {FAULT_SEEK, EIO, 0},      {FAULT_FTRUNCATE, ENOSPC, 0},
    {FAULT_FTRUNCATE, EINTR, 0}, {FAULT_FSYNC, EIO, 0},     {FAULT_FSYNC, ENOSPC, 0},
    {FAULT_FSYNC, EINTR, 0},     {FAULT_THREAD, EAGAIN, 0}, {FAULT_THREAD, EAGAIN, 1},
    {FAULT_MALLOC, ENOMEM, 0},   {FAULT_MALLOC, ENOMEM, 1},
};
enum { FAULTS = sizeof faults / sizeof *faults };

/* A command at one -j, into an empty folder or over older files. */
typedef struct command {
    char *words[WORDS];
    char text[512];
    bool bytes, older, answers;
    bool keeps;   /* recordings stay in its folder, with names that differ */
    bool learned; /* the rest is known */
    int expected; /* exit code */
    uint64_t calls[FAULT_CALLS];
    struct place {
        uint64_t call, at;
    } * places; /* the first and the last call of each site, in their order */
    size_t place_count;
    char *before, *whole, *printed; /* out/ before and after a run without faults, its stdout */
} command;

/* Shared by all workers. */
typedef struct totals {
    _Atomic uint64_t runs, failed[FAULT_CALLS], refused[FAULT_CALLS], found[FAULT_CALLS];
} totals;

static command commands[COMMANDS];
static size_t command_count;
static totals *sums;
static const char *library;
static char counts_path[4096], sites_path[4096];
static uint64_t *counts;
static fault_site *sites;

static void give_up(const char *what)
{
    perror(what);
    exit(5);
}

/* ---- the folder out/ ----------------------------------------------------------------------- */

static char *tree;
static size_t tree_used;

static uint64_t hash_file(const char *path)
{
    uint64_t h = 14695981039346656037u;
    unsigned char part[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, part, sizeof part)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            h = (h ^ part[i]) * 1099511628211u;
    if (fd >= 0)
        close(fd);
    return h;
}

static bool with_bytes;

static int list_entry(const char *path, const struct stat *info, int what, struct FTW *where)
{
    (void)what;
    (void)where;
    const bool file = S_ISREG(info->st_mode);
    tree_used += (size_t)snprintf(tree + tree_used, TREE - tree_used, "%s%s %016llx\n", path,
                                  file ? "" : "/",
                                  (unsigned long long)(file && with_bytes ? hash_file(path) : 0));
    return tree_used + 4200 > TREE;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What is in a folder: a line for each name, sorted. The caller frees it. */
static char *list_tree(const char *path, bool bytes)
{
    char *lines[4096], *sorted = calloc(1, TREE);
    size_t n = 0;
    tree_used = 0;
    tree[0] = '\0';
    with_bytes = bytes;
    nftw(path, list_entry, 16, FTW_PHYS);
    for (char *p = strtok(tree, "\n"); p && n < 4096; p = strtok(NULL, "\n"))
        lines[n++] = p;
    qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0, at = 0; i < n; i++)
        at += (size_t)sprintf(sorted + at, "%s\n", lines[i]);
    return sorted;
}

static int remove_entry(const char *path, const struct stat *info, int what, struct FTW *where)
{
    (void)info;
    (void)what;
    (void)where;
    return remove(path);
}

/* out/ as it is before a run. That of older files was kept aside. */
static void prepare_folder(const command *c)
{
    nftw("out", remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    nftw("tmp", remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    mkdir("tmp", 0777);
    if (!c->older) {
        mkdir("out", 0777);
        return;
    }
    /* The names of the whole output, with other bytes. */
    for (const char *p = c->whole; *p; p = strchr(p, '\n') + 1) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)(strchr(p, '\n') - p) - 17, p);
        if (path[strlen(path) - 1] == '/') {
            mkdir(path, 0777);
            continue;
        }
        FILE *f = fopen(path, "w");
        if (!f || fputs("older\n", f) < 0 || fclose(f))
            give_up(path);
    }
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* The exit code, or 128 and the signal; 0 for at: nothing fails. */
static int run_command(const command *c, const fault *f, uint64_t at)
{
    prepare_folder(c);
    memset(counts, 0, (FAULT_CALLS + 1) * sizeof *counts);
    if (!f)
        memset((void *)sites, 0, FAULT_SITES * sizeof *sites);
    pid_t pid = fork();
    if (pid == 0) {
        char text[32];
        setpgid(0, 0);
        int out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int errors = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int none = open("/dev/null", O_RDONLY);
        if (dup2(none, 0) < 0 || dup2(out, 1) < 0 || dup2(errors, 2) < 0)
            _exit(99);
        close(out);
        close(errors);
        close(none);
        setenv("TMPDIR", "tmp", 1);
        setenv("FAULT_COUNT", counts_path, 1);
        setenv("FAULT_PROGRAM", c->words[0], 1);
        snprintf(text, sizeof text, "%llu", (unsigned long long)at);
        if (at)
            setenv("FAULT_AT", text, 1);
        else
            setenv("FAULT_SITES", sites_path, 1);
        if (f) {
            setenv("FAULT_CALL", fault_calls[f->call], 1);
            snprintf(text, sizeof text, "%d", f->why);
            setenv("FAULT_ERRNO", text, 1);
        }
        if (f && f->from_there)
            setenv("FAULT_FROM_THERE", "1", 1);
        setenv("LD_PRELOAD", library, 1);
        execvp(c->words[0], c->words);
        _exit(99);
    }
    int status = 0;
    const time_t begin = time(NULL);
    for (unsigned pause = 200; waitpid(pid, &status, WNOHANG) == 0;
         usleep(pause), pause += pause / 8)
        if (time(NULL) - begin > LONGEST) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return 128 + SIGALRM;
        }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *read_text(const char *path)
{
    char *text = calloc(1, 1 << 16);
    FILE *f = fopen(path, "r");
    if (f) {
        text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
        fclose(f);
    }
    return text;
}

/* Takes the recorded files from a list if a message says where they are: "... are in FOLDER" or
 * "FOLDER: the folder of the recorded files cannot be removed". */
static void remove_recorded(char *list, const char *said)
{
    const char *name = strstr(said, "the recorded files are in ");
    if (name)
        name += strlen("the recorded files are in ");
    else if (strstr(said, ": the folder of the recorded files cannot be removed"))
        name = strstr(said, "out/");
    if (!name)
        return;
    const size_t n = strcspn(name, ":;\n");
    for (char *line = list; *line;) {
        char *next = strchr(line, '\n') + 1;
        if (!strncmp(line, name, n) && (line[n] == '/' || line[n] == ' '))
            memmove(line, next, strlen(next) + 1);
        else
            line = next;
    }
}

/* Takes the recordings from a list. How many there were. */
static size_t remove_kept(char *list)
{
    size_t n = 0;
    for (char *line = list; *line;) {
        char *next = strchr(line, '\n') + 1, *ending = strstr(line, ".rocl ");
        if (ending && ending < next && ++n)
            memmove(line, next, strlen(next) + 1);
        else
            line = next;
    }
    return n;
}

/* What is wrong with what was done, or NULL. */
static const char *check_run(const command *c, const fault *f, int status)
{
    static char what[4096];
    char *after = list_tree("out", c->bytes), *left = list_tree("tmp", false);
    char *said = read_text("stderr"), *printed = c->bytes ? list_tree("stdout", true) : strdup("");
    const char *bad = NULL, *end = strchr(said, '\n');
    const bool litter = f->call != FAULT_UNLINK; /* what cannot be removed is left */
    char *whole = strdup(c->whole), *before = strdup(c->before ? c->before : "");
    const bool none = c->keeps && remove_kept(after) == 0;
    remove_recorded(after, said);
    if (c->keeps) {
        remove_kept(whole);
        remove_kept(before);
    }
    if (status >= 128)
        bad = status == 128 + SIGALRM ? "hangs" : "crashes";
    else if (status == c->expected) {
        if (none)
            bad = "no recording";
        else if (strcmp(after, whole) != 0 && (litter || (!end && !strstr(after, ".rocline-"))))
            bad = "another output, and no word";
        else if (c->bytes && strcmp(printed, c->printed) != 0)
            bad = "prints something else";
    } else if (status < 3 || status > 5)
        bad = "exit code";
    else if (!end && !(c->answers && strstr(printed, "stdout ") && !strstr(printed, EMPTY)))
        bad = "no word";
    else if (end && end[1] && strncmp(end + 1, "  ", 2) != 0 &&
             !strstr(end, "the recorded files are in "))
        bad = "more than one line";
    else if (f->why == ENOMEM && (f->call == FAULT_MALLOC ? status != 5 : status == 3))
        bad = "no exit code of want of memory";
    else if (strcmp(after, before) != 0 && litter && !(c->keeps && !none))
        bad = "not as it was before";
    if (!bad && litter && strchr(left, '\n') != strrchr(left, '\n'))
        bad = "something is left in the folder for temporary files";
    if (bad)
        snprintf(what, sizeof what, "%s (%d): %.*s", bad, status, end ? (int)(end - said) : 0,
                 said);
    if (bad && getenv("FAULTS_SHOW"))
        fprintf(stderr, "--- before\n%s--- after\n%s--- tmp\n%s--- said\n%s", c->before, after,
                left, said);
    free(whole);
    free(before);
    free(after);
    free(left);
    free(said);
    free(printed);
    return bad ? what : NULL;
}

static void try_case(const command *c, const fault *f, uint64_t at)
{
    int status = run_command(c, f, at);
    sums->runs++;
    if (!counts[FAULT_CALLS]) /* of several threads, not all calls are made each time */
        return;
    sums->failed[f->call]++;
    sums->refused[f->call] += status != c->expected;
    const char *bad = check_run(c, f, status);
    if (!bad)
        return;
    sums->found[f->call]++;
    char line[8192];
    int n = snprintf(line, sizeof line, "FAULT_CALL=%s FAULT_AT=%llu FAULT_ERRNO=%d%s %s%s: %s\n",
                     fault_calls[f->call], (unsigned long long)at, f->why,
                     f->from_there ? " FAULT_FROM_THERE=1" : "", c->text,
                     c->older ? " (over older files)" : "", bad);
    if (write(STDOUT_FILENO, line, (size_t)n) != n)
        give_up("standard output");
}

/* ---- commands ------------------------------------------------------------------------------ */

static void add_command(char *line, int jobs, bool older)
{
    command *c = &commands[command_count++];
    size_t n = 0;
    char number[8], *copy = strdup(line + 2);
    snprintf(number, sizeof number, "-j%d", jobs);
    *c = (command){.bytes = *line != '~' && *line != '+',
                   .older = older,
                   .answers = *line == '?',
                   .keeps = *line == '+'};
    for (char *w = strtok(copy, " \n"); w && n < WORDS - 1; w = strtok(NULL, " \n")) {
        c->words[n++] = strcmp(w, "-jN") ? w : strdup(number);
        snprintf(c->text + strlen(c->text), sizeof c->text - strlen(c->text), "%s%s",
                 n > 1 ? " " : "", c->words[n - 1]);
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static void list_places(command *c)
{
    c->places = calloc(2 * FAULT_SITES, sizeof *c->places);
    for (const fault_site *s = sites; s < sites + FAULT_SITES; s++) {
        if (s->first)
            c->places[c->place_count++] = (struct place){s->call, s->first};
        if (s->last != s->first)
            c->places[c->place_count++] = (struct place){s->call, s->last};
    }
    qsort(c->places, c->place_count, sizeof *c->places, compare_places);
}

/* What the command does where nothing fails. */
static void learn_command(command *c)
{
    if (c->learned)
        return;
    c->learned = true;
    const bool older = c->older;
    const fault none = {.call = FAULT_CALLS};
    c->older = false;
    c->expected = run_command(c, NULL, 0);
    c->whole = list_tree("out", c->bytes);
    c->older = older;
    if (older && c->expected != run_command(c, NULL, 0))
        c->expected = 99;
    memcpy(c->calls, counts, sizeof c->calls);
    list_places(c);
    c->printed = c->bytes ? list_tree("stdout", true) : NULL;
    const char *bad =
        c->expected > 1 ? "fails where no call does" : check_run(c, &none, c->expected);
    if (bad || !counts[FAULT_MALLOC]) {
        printf("%s%s: %s: %s\n", c->text, older ? " (over older files)" : "",
               bad ? bad : "calls are not counted", read_text("stderr"));
        exit(1);
    }
    prepare_folder(c);
    c->before = list_tree("out", c->bytes);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

typedef struct settings {
    uint64_t seconds, rounds, seed, jobs, every;
    const char *call; /* NULL: all */
} settings;

/* Command, call and place are drawn each for itself, so that calls that are few are tried as well.
 */
static void try_some(const settings *o, uint64_t worker)
{
    const time_t end = time(NULL) + (time_t)o->seconds;
    for (uint64_t i = worker; (!o->rounds || i < o->rounds) && (!o->seconds || time(NULL) < end);
         i += o->jobs) {
        uint64_t state = o->seed << 32 ^ i;
        command *c = &commands[next_random(&state) % command_count];
        const fault *f = &faults[next_random(&state) % FAULTS];
        learn_command(c);
        const uint64_t n = c->calls[f->call];
        if (n)
            try_case(c, f, 1 + next_random(&state) % n);
    }
}

static void try_all(const settings *o, uint64_t worker)
{
    uint64_t number = 0;
    for (size_t i = 0; i < command_count; i++) {
        learn_command(&commands[i]);
        if (!worker)
            fprintf(stderr, "%zu of %zu, %llu runs: %s\n", i + 1, command_count,
                    (unsigned long long)sums->runs, commands[i].text);
        for (size_t k = 0; k < FAULTS; k++) {
            const fault *f = &faults[k];
            if (o->call && strcmp(o->call, fault_calls[f->call]) != 0)
                continue;
            const uint64_t n = commands[i].calls[f->call];
            const uint64_t step = f->call == FAULT_MALLOC ? o->every : 1;
            for (uint64_t at = 1 + (i + k) % (step ? step : 1); o->every && at <= n; at += step)
                if (number++ % o->jobs == worker)
                    try_case(&commands[i], f, at);
            for (size_t p = 0; !o->every && p < commands[i].place_count; p++)
                if (commands[i].places[p].call == (uint64_t)f->call && number++ % o->jobs == worker)
                    try_case(&commands[i], f, commands[i].places[p].at);
        }
        free(commands[i].places);
    }
}

/* A file of n zeros, as it is in memory. */
static void *share_file(const char *path, size_t n)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    void *p = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)n) == 0)
        p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        give_up(path);
    close(fd);
    return p;
}

static void start_worker(const settings *o, const char *top, uint64_t worker)
{
    char path[3000];
    snprintf(path, sizeof path, "%s/%llu", top, (unsigned long long)worker);
    if (mkdir(path, 0777) && errno != EEXIST)
        give_up(path);
    if (chdir(path) || (symlink("../in", "in") && errno != EEXIST))
        give_up(path);
    tree = malloc(TREE);
    snprintf(counts_path, sizeof counts_path, "%s/counts", path);
    snprintf(sites_path, sizeof sites_path, "%s/sites", path);
    counts = share_file(counts_path, (FAULT_CALLS + 1) * sizeof *counts);
    sites = share_file(sites_path, FAULT_SITES * sizeof *sites);
    if (o->rounds || o->seconds)
        try_some(o, worker);
    else
        try_all(o, worker);
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    exit(0);
}

int main(int argc, char **argv)
{
    settings o = {.jobs = 1};
    if (argc < 3)
        return 2;
    library = realpath(argv[1], NULL);
    const char *top = realpath(argv[2], NULL);
    for (int i = 3; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--call")) {
            o.call = argv[i + 1];
            continue;
        }
        uint64_t *to = !strcmp(argv[i], "--seconds")  ? &o.seconds
                       : !strcmp(argv[i], "--rounds") ? &o.rounds
                       : !strcmp(argv[i], "--seed")   ? &o.seed
                       : !strcmp(argv[i], "--every")  ? &o.every
                                                      : &o.jobs;
        *to = strtoull(argv[i + 1], NULL, 10);
    }
    if (!library || !top || !o.jobs)
        return 2;
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char line[1024];
    while (fgets(line, sizeof line, stdin))
        for (int jobs = 1; strchr("=~?+", *line) && jobs <= (strstr(line, "-jN") ? 2 : 1); jobs++)
            for (int older = 0; older <= 1 && command_count < COMMANDS; older++)
                add_command(line, jobs, older);
    int bad = 0, status;
    fflush(stdout);
    for (uint64_t w = 0; w < o.jobs; w++)
        if (fork() == 0)
            start_worker(&o, top, w);
    while (wait(&status) > 0)
        bad |= status;
    uint64_t failed = 0, refused = 0, found = 0;
    for (int i = 0; i < FAULT_CALLS; i++) {
        printf("%-14s %8llu failed, %8llu ended the run, %llu findings\n", fault_calls[i],
               (unsigned long long)sums->failed[i], (unsigned long long)sums->refused[i],
               (unsigned long long)sums->found[i]);
        failed += sums->failed[i];
        refused += sums->refused[i];
        found += sums->found[i];
    }
    printf(
        "%zu commands, %llu runs, %llu calls failed, %llu of them ended the run, %llu findings\n",
        command_count, (unsigned long long)sums->runs, (unsigned long long)failed,
        (unsigned long long)refused, (unsigned long long)found);
    return bad || found ? 1 : 0;
}

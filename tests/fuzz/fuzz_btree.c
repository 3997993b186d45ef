/* Fuzz target: a database image, read by both readers of the row cursor. The last 8 bytes of the
 * input choose columns, ranges and batches, the bytes before them are the file. Where both readers
 * come to the end the rows must be the same; a damaged file may well be an error for one only. */
#include <fcntl.h>
#include <unistd.h>

#include "tests/rows_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

/* SQLite opens files by name only, and one in memory is quicker than one on disk. */
static int image_file(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/fuzz-btree-XXXXXX", folders[i]);
        fd = mkstemp(path);
    }
    if (fd < 0)
        abort();
    atexit(remove_file);
    return fd;
}

static uint64_t state;

static unsigned below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static void check(rows_pair *p, verdict v)
{
    if (v == ROWS_DIFFERENT) {
        fprintf(stderr, "%s\n", p->what);
        abort();
    }
    for (int i = 0; i < READERS; i++)
        if (p->st[i] == ROCL_INTERNAL) {
            fprintf(stderr, "%s\n", rocl_error_text(p->err[i]));
            abort();
        }
}

static void compare_table(rows_pair *p, const char *table)
{
    const char *wanted[ROCL_ROWS_COLUMNS_MAX];
    unsigned n = 0;
    column_names c;
    columns_of(p->db[0], table, &c);
    for (unsigned i = 0; i < c.count && n < ROCL_ROWS_COLUMNS_MAX; i++)
        if (below(4))
            wanted[n++] = c.name[i];
    verdict v = rows_open(p, table, wanted, n);
    check(p, v);
    /* SQLite does not always agree with itself: it reads ids behind the end of a page. */
    bool direct = v == ROWS_SAME && !rows_why(p, table);
    for (int i = 0; i < 4 && v == ROWS_SAME && direct; i++) {
        const unsigned batch[READERS] = {1 + below(ROCL_ROWS_BATCH), 1 + below(ROCL_ROWS_BATCH)};
        int64_t first = i ? (int64_t)below(60) - 10 : INT64_MIN;
        int64_t last = i ? first + (int64_t)below(60) : INT64_MAX;
        v = rows_compare(p, table, first, last, batch, 10000);
        check(p, v);
    }
    columns_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    rows_pair p;
    rocl_db_object *objects = NULL;
    size_t count = 0;
    if (size < sizeof state)
        return 0;
    size -= sizeof state;
    memcpy(&state, data + size, sizeof state);
    state |= 1;
    if (fd < 0)
        fd = image_file();
    if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    if (rows_pair_init(&p, path) &&
        rocl_db_objects(p.db[0], &objects, &count, p.err[0]) == ROCL_OK) {
        for (size_t i = 0; i < count && i < 8; i++)
            compare_table(&p, objects[i].name);
        rocl_db_objects_free(objects, count);
    }
    rows_pair_free(&p);
    return 0;
}

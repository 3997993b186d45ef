/* Fuzz target: damaged databases with damaged schemas, read by us or by SQLite, into all outputs:
 * slower than fuzz_db, which does without SQLite and files. An input is four bytes that choose the
 * world, the output and options, and a program that changes the world (see image.h); one that
 * begins as SQLite's files do is a file, and its last two bytes choose. */
#include "tests/fuzz/db.h"

#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command))
        fprintf(stderr, "%s is still there\n", folder);
}

static void set_up(void)
{
    prepare_worlds();
    snprintf(folder, sizeof folder, "%s/fuzz-db-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
}

/* ---- outputs that make files, or need SQLite ---------------------------------------------------
 */

static rocl_status query(rocl_trace *t, unsigned how, rocl_error *err)
{
    rocl_query *q = NULL;
    rocl_sql_table table;
    char sql[160];
    unsigned count = 0;
    while (rocl_sql_table_at(count, &table))
        count++;
    rocl_sql_table_at((how >> 2) % count, &table);
    snprintf(sql, sizeof sql,
             how & 1 ? "SELECT count(*), * FROM \"%s\"" : "SELECT * FROM \"%s\" LIMIT 50",
             table.name);
    const rocl_rows_options o = {.path = "/dev/null",
                                 .format = (rocl_rows_format)(how % (ROCL_ROWS_ARROWS + 1))};
    rocl_status st = rocl_query_open(&q, t, &(rocl_query_options){.seconds = 5}, err);
    if (st == ROCL_OK)
        st = rocl_query_write(q, sql, &o, NULL, err);
    rocl_query_close(q);
    return st;
}

static rocl_status write_otf2(rocl_trace *t, unsigned how, rocl_error *err)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out.otf2", folder);
    return rocl_write_otf2(t, &(rocl_otf2_options){.path = path, .group_by_queue = how & 1}, NULL,
                           err);
}

static rocl_status merge(rocl_trace *t, unsigned how, rocl_error *err)
{
    char path[96];
    snprintf(path, sizeof path, "%s/out.db", folder);
    const rocl_rocpd_options o = {.path = path,
                                  .flat = how & 1,
                                  .rebuild = how & 2,
                                  .keep_environment = how & 4,
                                  .slices = how & 8 ? 3 : 0};
    return rocl_write_rocpd(t, &o, NULL, err);
}

/* A folder of databases with an index: a new one, or one that gets more of them. */
static rocl_status package(rocl_trace *t, unsigned how, rocl_error *err)
{
    char path[96];
    if (!(how & 4))
        remove_folder(), mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/package", folder);
    const rocl_package_options o = {
        .folder = path, .consolidate = how & 1, .keep_environment = how & 2};
    return rocl_write_package(t, &o, NULL, err);
}

/* What one worker reads is what two read, and SQLite instead of us. */
static rocl_status read_twice(rocl_trace *t, unsigned how, rocl_error *err)
{
    fuzz_sum sum;
    (void)t, (void)how, (void)err;
    fuzz_read_twice(image_path, &sum);
    return ROCL_OK;
}

static const output others[] = {{"query", query},
                                {"merge", merge},
                                {"otf2", write_otf2},
                                {"twice", read_twice},
                                {"package", package}};

/* One of 32 is an output that makes files or reads twice. */
static const output *choose_output(unsigned byte)
{
    return byte >= 248      ? &others[byte % (sizeof others / sizeof *others)]
           : byte % 10 == 9 ? &others[0]
           : byte >= 225    ? &streams[STREAMS - 1]
                            : &streams[byte % 10];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool is_file = size >= 16 && !memcmp(data, "SQLite f", 8);
    if (size < 4)
        return 0;
    if (!image_fd)
        set_up();
    const uint8_t *choice = is_file ? data + size - 2 : data + 1;
    const output *out = choose_output(choice[0]);
    const unsigned how = choice[1], config = is_file ? choice[1] : choice[2];
    rocl_options o = choose_options(config, how);
    o.reader = config & 32 ? ROCL_READER_SQLITE : ROCL_READER_AUTO;
    if (!is_file)
        make_input(data[0], data + 4, size - 4);
    else if (ftruncate(image_fd, 0) || pwrite(image_fd, data, size - 2, 0) != (ssize_t)size - 2)
        abort();
    convert(out, how, &o, out->write == merge && how & 16);
    return 0;
}

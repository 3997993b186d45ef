/* Outputs that are tables of columns: a file for each relation, rows in order of time. This is the
 * sink that they share; a format encodes groups of rows, column by column.
 *
 *     batches -> a sorter for each relation and capture -> cells of a group of rows -> the format
 *             -> a pipe of workers -> files
 *
 * Rows of a capture follow those of the one before. A group has at most the rows that the format
 * asks for. A capture that has many rows has groups of its own; those of captures that have few are
 * joined, until they are many. What a group holds, and so every byte of the files, does not depend
 * on the number of workers.
 *
 * In a team each rank makes the groups of its captures that have many rows. When all are read, rank
 * 0 asks for the rows of the others, and for what it must know of those groups (note.c), joins all
 * in the order of captures, and ends the files. Groups that need more than what their rank knows
 * (put_others) are written between. */
#pragma once

#include "base/out.h"
#include "base/pool.h"
#include "relation/relation.h"
#include "team/team.h"

/* Rows of a group, of formats that encode column by column. */
enum { ROCL_COLUMNAR_GROUP_ROWS = 128 << 10 };

/* A file. Its columns are those of the relation that are written. */
typedef struct rocl_columnar_file {
    const rocl_relation *relation;
    const rocl_relation_column **columns;
    unsigned column_count;
    rocl_out *out;
    void *own;     /* the format's; NULL before begin_file */
    uint64_t rows; /* of all groups */
    /* The group that is filled: */
    int64_t **cells; /* by column */
    size_t group_rows;
    size_t capacity;   /* rows that the cells are malloced for; 0: they are somebody else's */
    unsigned names;    /* its column of names; column_count: it has none */
    size_t long_texts; /* bytes of those that are very long, in it */
    const rocl_capture *last; /* that has rows in it */
} rocl_columnar_file;

typedef struct rocl_columnar_run {
    rocl_trace *trace;
    const rocl_export_options *options;
    const rocl_strings *strings; /* that cells of texts refer to */
    rocl_sort_space *space;      /* for what must wait */
    rocl_pipe *pipe;
    bool joins; /* this is rank 0 of a team, and joins what all have read */
} rocl_columnar_run;

typedef struct rocl_columnar_format {
    const char *ending; /* of files: ".parquet" */
    size_t group_rows;  /* at most in a group */
    bool joined;        /* several relations may go to one stream */
    bool apart; /* of groups nothing is left in the file: captures are apart in them, and ranks of a
                   team write theirs */
    /* What goes through the pipe: blocks that put_group makes. `ctx` is that of `open`. */
    rocl_pipe_ops pipe;
    /* Begins the run; *ctx is passed to all others, and freed by `close` (also when open fails). */
    rocl_status (*open)(void **ctx, rocl_columnar_run *run, rocl_error *err);
    void (*close)(void *ctx);
    rocl_status (*begin_file)(void *ctx, rocl_columnar_file *f, rocl_error *err); /* may be NULL */
    /* The cells are the run's, and used again when it returns. */
    rocl_status (*put_group)(void *ctx, rocl_columnar_file *f, rocl_error *err);
    /* All blocks are through the pipe. */
    rocl_status (*end_file)(void *ctx, rocl_columnar_file *f, rocl_error *err);
    void (*free_file)(void *ctx, rocl_columnar_file *f);
    /* In a team, when the blocks of a capture are through the pipe: what rank 0 must know of its
     * groups. There, in the order of captures: they are to be in the file. NULL: one rank writes
     * such files, if groups are not apart. */
    void (*put_groups)(void *ctx, rocl_columnar_file *f, rocl_buf *to);
    rocl_status (*take_groups)(void *ctx, rocl_columnar_file *f, unsigned rank,
                               rocl_byte_reader *from, rocl_error *err);
    /* Where groups depend on those of others, else NULL: what a rank must know of these, when all
     * have been taken; it writes its groups then, and says so; and rank 0 hears that. */
    void (*put_others)(void *ctx, rocl_columnar_file *f, unsigned rank, rocl_buf *to);
    rocl_status (*write_groups)(void *ctx, rocl_columnar_file *f, rocl_byte_reader *others,
                                rocl_buf *to, rocl_error *err);
    rocl_status (*take_written)(void *ctx, rocl_columnar_file *f, unsigned rank,
                                rocl_byte_reader *from, rocl_error *err);
} rocl_columnar_format;

rocl_status rocl_columnar_write(rocl_trace *t, const rocl_export_options *o,
                                const rocl_columnar_format *format, rocl_written *written,
                                rocl_error *err);

/* Writes one relation, whose rows are none of a trace, to the path of the options: `fill` sets the
 * cells of the next rows (f->cells, f->group_rows, at most what the format has in a group), no rows
 * at the end. Of the columns the names and types are used. Of the run it sets the pipe. */
typedef rocl_status rocl_columnar_fill_fn(void *ctx, rocl_columnar_file *f, rocl_error *err);
rocl_status rocl_columnar_write_rows(rocl_columnar_run *run, const rocl_columnar_format *format,
                                     const rocl_relation *r, rocl_columnar_fill_fn *fill, void *ctx,
                                     rocl_error *err);

/* ---- what formats share ---- */

/* Hands the cells of a column to the pipe: a block with this `user`. */
rocl_status rocl_columnar_put_column(const rocl_columnar_run *run, rocl_columnar_file *f,
                                     unsigned column, void *user, rocl_error *err);

/* How many workers encode: each holds up to 6 MiB of cells, six times what one that reads may. */
static inline unsigned rocl_columnar_workers(const rocl_columnar_run *run)
{
    const unsigned jobs = run->trace->opt.jobs;
    return jobs < 4 ? jobs : jobs < 24 ? 4 : jobs / 6;
}

/* A text as valid UTF-8: the text itself, or a copy in `scratch`. */
const char *rocl_columnar_text(const rocl_strings *s, uint32_t text, size_t *len,
                               rocl_buf *scratch);

/* Key and value of what files say of themselves: the i-th; false after the last. */
bool rocl_columnar_metadata(unsigned i, const char **key, const char **value);

/* The texts of a column in the order in which they come first: an index for each. Zeros are an
 * empty one. */
typedef struct rocl_dictionary {
    uint32_t *index_of; /* by text, + 1; 0: it is not in it */
    size_t index_capacity;
    uint32_t *texts;
    size_t count, capacity;
} rocl_dictionary;

/* False when memory is out. */
bool rocl_dictionary_grow(rocl_dictionary *d, uint32_t text);
static inline bool rocl_dictionary_add(rocl_dictionary *d, uint32_t text, uint32_t *index)
{
    if ((text >= d->index_capacity || !d->index_of[text]) && !rocl_dictionary_grow(d, text))
        return false;
    *index = d->index_of[text] - 1;
    return true;
}
void rocl_dictionary_clear(rocl_dictionary *d); /* empty; its memory is kept */
void rocl_dictionary_free(rocl_dictionary *d);

/* ---- what rank 0 of a team is told, in note.c ---- */

/* The rows of the group. */
void rocl_columnar_put_rows(rocl_buf *to, const rocl_columnar_file *f, const rocl_strings *strings);
/* Reads n such rows as cells, column after column; their texts become those of `strings`. Free
 * *cells, also after a failure. */
rocl_status rocl_columnar_take_rows(rocl_byte_reader *from, const rocl_columnar_file *f,
                                    rocl_strings *strings, size_t n, int64_t **cells,
                                    rocl_error *err);

/* ---- formats ---- */

const rocl_columnar_format *rocl_columnar_format_of(rocl_export_format format);
extern const rocl_columnar_format rocl_parquet_format, rocl_arrow_format, rocl_arrows_format,
    rocl_jsonl_format;

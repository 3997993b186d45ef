/* Broken records, as messages. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "source/records/run.h"

/* "FILE:LINE: why: 'how the line begins'", or the row or byte. */
static void describe_bad_record(const rocl_records_input *in, const rocl_bad_record *bad,
                                rocl_buf *b)
{
    const rocl_piece *piece = &in->pieces[bad->piece];
    const rocl_records_file *file = &in->files[piece->file];
    const char *section = in->format->section_name ? in->format->section_name(in, piece) : NULL;
    const unsigned row_bits = in->format->row_bits;
    const uint64_t row_mask = row_bits ? ((uint64_t)1 << row_bits) - 1 : UINT64_MAX;
    rocl_buf_str(b, file->path);
    if (section)
        rocl_buf_printf(b, ": %s", section);
    switch (in->format->places) {
    case ROCL_PLACES_ROWS:
        rocl_buf_printf(b, ": row %" PRIu64 ": %s", bad->where & row_mask, bad->why);
        break;
    case ROCL_PLACES_BYTES:
        rocl_buf_printf(b, ": byte %" PRIu64 ": %s", bad->where, bad->why);
        break;
    default: {
        char quote[61];
        rocl_quote_line(file->spool, bad->where, quote, sizeof quote);
        rocl_buf_printf(b, ":%" PRIu64 ": %s: '%s'", in->run->lines[bad->piece] + bad->line,
                        bad->why, quote);
    }
    }
    rocl_buf_byte(b, 0);
}

void rocl_bad_records_report(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    for (unsigned i = 0; i < run->bad.first_count && !run->bad.reported; i++) {
        rocl_buf b = {0};
        describe_bad_record(in, &run->bad.first[i], &b);
        if (!b.failed)
            rocl_notice(in->trace, "%s", (const char *)b.data);
        rocl_buf_free(&b);
    }
    run->bad.reported = true;
}

rocl_status rocl_bad_records_refuse(const rocl_records_input *in, rocl_error *err)
{
    rocl_buf b = {0};
    if (!in->run->bad.first_count)
        return ROCL_OK;
    describe_bad_record(in, &in->run->bad.first[0], &b);
    rocl_status st =
        b.failed ? rocl_fail_memory(err) : rocl_fail(err, ROCL_INPUT, "%s", (const char *)b.data);
    rocl_buf_free(&b);
    return st;
}

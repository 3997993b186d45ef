/* Lines that are wrong. Which are the first does not depend on who comes to them first. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "source/rtg/rtg.h"

static bool is_before(const rtg_bad *a, const rtg_bad *b)
{
    return a->range != b->range ? a->range < b->range : a->line < b->line;
}

void rtg_fault_add(rtg_faults *f, size_t range, uint64_t line, uint64_t offset, rocl_fault fault,
                   uint64_t count, const char *why)
{
    const rtg_bad bad = {range, line, offset, why};
    pthread_mutex_lock(&f->lock);
    unsigned at = f->first_count;
    f->counts[fault] += count;
    while (at > 0 && is_before(&bad, &f->first[at - 1]))
        at--;
    if (f->first_count < RTG_REPORTED)
        f->first_count++;
    if (at < f->first_count) {
        memmove(&f->first[at + 1], &f->first[at], (f->first_count - 1 - at) * sizeof f->first[0]);
        f->first[at] = bad;
    }
    pthread_mutex_unlock(&f->lock);
}

/* How a line begins, as one may print it. */
static void quote_line(const rtg_file *f, const rtg_bad *bad, char *text, size_t size)
{
    size_t got = 0, n = 0;
    if (rocl_spool_read(f->spool, text, size - 1, bad->offset, &got, NULL) != ROCL_OK)
        got = 0;
    while (n < got && text[n] != '\n' && text[n] != '\r')
        n++;
    /* Not half a character at the end. */
    for (size_t k = n; n == size - 1 && k > 0 && n - k < 4; k--) {
        if ((text[k - 1] & 0xc0) == 0x80)
            continue;
        if (text[k - 1] & 0x80)
            n = k - 1;
        break;
    }
    bool valid = rocl_utf8_valid(text, n);
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)text[k];
        if (c == '\t')
            text[k] = ' ';
        else if (c < ' ' || c == 0x7f || (c >= 0x80 && !valid))
            text[k] = '?';
    }
    text[n] = '\0';
}

static uint64_t number_of_line(const rtg_file *f, const rtg_bad *bad)
{
    return f->ranges[bad->range].first_line + bad->line;
}

void rtg_faults_report(rtg_file *f)
{
    char text[61];
    for (unsigned i = 0; i < f->faults.first_count && !f->faults.reported; i++) {
        const rtg_bad *bad = &f->faults.first[i];
        quote_line(f, bad, text, sizeof text);
        rocl_notice(f->trace, "%s:%" PRIu64 ": %s: '%s'", f->path, number_of_line(f, bad), bad->why,
                    text);
    }
    f->faults.reported = true;
}

rocl_status rtg_faults_refuse(const rtg_file *f, rocl_error *err)
{
    char text[61];
    const rtg_bad *bad = &f->faults.first[0];
    if (!f->faults.first_count)
        return ROCL_OK;
    quote_line(f, bad, text, sizeof text);
    return rocl_fail(err, ROCL_INPUT, "%s:%" PRIu64 ": %s: '%s'", f->path, number_of_line(f, bad),
                     bad->why, text);
}

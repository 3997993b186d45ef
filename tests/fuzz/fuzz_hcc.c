/* Fuzz target: a log of profile lines, reported on. The last two bytes of the input choose options,
 * the bytes before them are the log. One worker and two must come to the same report. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rocline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int log_fd, report_fd;
static char log_path[64];

/* Both are in memory. The report is written to standard output, which is a file here. */
static void set_up(void)
{
    log_fd = memfd_create("fuzz-log", MFD_CLOEXEC);
    report_fd = memfd_create("fuzz-report", MFD_CLOEXEC);
    if (log_fd < 0 || report_fd < 0 || dup2(report_fd, STDOUT_FILENO) < 0)
        abort();
    rocl_sync_outputs(false);
    snprintf(log_path, sizeof log_path, "/proc/self/fd/%d", log_fd);
}

static rocl_rpt_options options_of(unsigned a, unsigned b)
{
    static const int64_t gaps[] = {7, 1000, -1, INT64_MAX};
    static const char *const ends[] = {"@3",    "2%[a-z]+ \\d", "^1",    "%^x",
                                       "1@200", "%(?:a|b)*?$",  "%\\bs", "%["};
    rocl_rpt_options o = {.topn = (int64_t)(b >> 6) - 1, .path = "-", .memory = 1 << 20};
    o.text_trace = a & 1;
    o.info = a & 2;
    o.hide_app_text = a & 4;
    o.no_gaps = a & 8;
    o.ignore_barriers = a & 16;
    o.raw = a & 32;
    o.gaps = a & 64 ? gaps : NULL;
    o.gap_count = 4;
    o.json = a & 128 ? "/dev/null" : NULL;
    o.roi_start = b & 8 ? ends[b & 7] : NULL;
    o.roi_stop = b & 16 ? ends[(b ^ b >> 3) & 7] : NULL;
    return o;
}

/* The bytes that were written; free() them. */
static char *report(rocl_rpt_options o, unsigned jobs, rocl_status *st, size_t *size)
{
    rocl_error *err = rocl_error_new();
    if (ftruncate(report_fd, 0) || lseek(report_fd, 0, SEEK_SET))
        abort();
    o.jobs = jobs;
    *st = rocl_write_rpt(log_path, &o, err);
    bool said = rocl_error_text(err)[0];
    if (*st == ROCL_INTERNAL || *st == ROCL_OUTPUT || said != (*st > ROCL_PARTIAL)) {
        fprintf(stderr, "status %d: %s\n", (int)*st, rocl_error_text(err));
        abort(); /* no input may be the fault of ours */
    }
    rocl_error_free(err);
    *size = (size_t)lseek(report_fd, 0, SEEK_END);
    char *text = malloc(*size + 1);
    if (!text || pread(report_fd, text, *size, 0) != (ssize_t)*size)
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n[2];
    rocl_status st[2];
    if (size < 2)
        return 0;
    if (!log_path[0])
        set_up();
    rocl_rpt_options o = options_of(data[size - 2], data[size - 1]);
    if (ftruncate(log_fd, 0) || pwrite(log_fd, data, size - 2, 0) != (ssize_t)(size - 2))
        abort();
    char *one = report(o, 1, &st[0], &n[0]), *two = report(o, 2, &st[1], &n[1]);
    if (st[0] != st[1] || n[0] != n[1] || memcmp(one, two, n[0]))
        abort();
    free(one);
    free(two);
    return 0;
}

/* Peaks of GPUs, as lines of text: the shipped ones, and those of a file. */
#include "analysis/peaks.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/unpack.h"

enum { FILE_MAX_BYTES = 1 << 20 };

/* Dense matrix operations at the peak engine clock and the theoretical bandwidth of memory, of
 * AMD's data sheets. Of MI250X and MI250 one of the two GPUs. A gfx name is its most frequent
 * product. */
static const char shipped[] =
    "MI100 bandwidth=1228.8G fp64=11.5T fp32=46.1T fp16=184.6T bf16=92.3T int8=184.6T\n"
    "gfx908 bandwidth=1228.8G fp64=11.5T fp32=46.1T fp16=184.6T bf16=92.3T int8=184.6T\n"
    "MI210 bandwidth=1638.4G fp64=45.3T fp32=45.3T fp16=181T bf16=181T int8=181T\n"
    "MI250 bandwidth=1638.4G fp64=45.3T fp32=45.3T fp16=181T bf16=181T int8=181T\n"
    "MI250X bandwidth=1638.4G fp64=47.9T fp32=47.9T fp16=191.5T bf16=191.5T int8=191.5T\n"
    "gfx90a bandwidth=1638.4G fp64=47.9T fp32=47.9T fp16=191.5T bf16=191.5T int8=191.5T\n"
    "MI300A bandwidth=5300G fp64=122.6T fp32=122.6T fp16=980.6T bf16=980.6T fp8=1961.2T "
    "int8=1961.2T\n"
    "MI300X bandwidth=5300G fp64=163.4T fp32=163.4T fp16=1307.4T bf16=1307.4T fp8=2614.9T "
    "int8=2614.9T\n"
    "gfx942 bandwidth=5300G fp64=163.4T fp32=163.4T fp16=1307.4T bf16=1307.4T fp8=2614.9T "
    "int8=2614.9T\n"
    "MI325X bandwidth=6000G fp64=163.4T fp32=163.4T fp16=1307.4T bf16=1307.4T fp8=2614.9T "
    "int8=2614.9T\n"
    "MI350X bandwidth=8000G fp64=72.1T fp32=144.2T fp16=2306.9T bf16=2306.9T fp8=4613.7T "
    "int8=4613.7T\n"
    "MI355X bandwidth=8000G fp64=78.6T fp32=157.3T fp16=2516.6T bf16=2516.6T fp8=5033.2T "
    "int8=5033.2T\n"
    "gfx950 bandwidth=8000G fp64=78.6T fp32=157.3T fp16=2516.6T bf16=2516.6T fp8=5033.2T "
    "int8=5033.2T\n";

/* The next word of a line; empty at its end. */
static rocl_view next_word(const char **at, const char *end)
{
    const char *p = *at;
    while (p < end && strchr(" \t\r", *p) && *p)
        p++;
    const char *from = p;
    while (p < end && !(strchr(" \t\r", *p) && *p))
        p++;
    *at = p;
    return rocl_view_between(from, p);
}

static bool read_value(rocl_view text, double *v)
{
    static const char units[] = "kMGTP";
    char number[32], *end;
    if (!text.n || text.n >= sizeof number || !(isdigit((unsigned char)*text.p) || *text.p == '.'))
        return false;
    memcpy(number, text.p, text.n);
    number[text.n] = '\0';
    *v = strtod(number, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        *v *= 1e3;
    return isfinite(*v) && *v > 0 && !end[unit != NULL];
}

static rocl_status read_peak(rocl_peak *p, const char *at, const char *end, rocl_error *err)
{
    for (rocl_view word; (word = next_word(&at, end)).n;) {
        const rocl_view key = rocl_view_until(word, '=');
        const rocl_view text = rocl_view_between(
            key.n < word.n ? key.p + key.n + 1 : word.p + word.n, word.p + word.n);
        double *to = rocl_view_is(key, "bandwidth") ? &p->bandwidth : NULL;
        for (unsigned i = 0; i < ROCL_NUMBER_TYPES && !to; i++)
            to = rocl_view_is(key, rocl_number_type_names[i]) ? &p->flops[i] : NULL;
        if (!to || !read_value(text, to))
            return rocl_fail(err, ROCL_INPUT,
                             "\"%.*s\" is none of bandwidth, fp64, fp32, fp16, bf16, fp8, int8 = a "
                             "positive number with k, M, G, T or P",
                             (int)(word.n < 60 ? word.n : 60), word.p);
    }
    return ROCL_OK;
}

/* Every line is read, so that a wrong one is found whatever is asked for. The first of a name
 * counts. */
static rocl_status read_peaks(rocl_peak *p, const char *name, const char *path, const char *text,
                              size_t n, rocl_buf *names, rocl_error *err)
{
    const char *end = text + n;
    rocl_status st = ROCL_OK;
    for (size_t number = 1; text < end && st == ROCL_OK; number++) {
        rocl_view line = rocl_view_until(rocl_view_between(text, end), '\n');
        const char *at = line.p, *past = line.p + line.n;
        text = past + (past < end);
        const rocl_view word = next_word(&at, past);
        if (!word.n || *word.p == '#')
            continue;
        rocl_peak peak = {0};
        st = read_peak(&peak, at, past, err);
        if (st != ROCL_OK)
            return rocl_wrap(err, "%s, line %zu", path, number), st;
        if (names->len)
            rocl_buf_str(names, ", ");
        rocl_buf_put(names, word.p, word.n);
        if (p->name || strlen(name) != word.n || strncasecmp(name, word.p, word.n) != 0)
            continue;
        peak.name = strndup(word.p, word.n);
        *p = peak;
        st = p->name ? ROCL_OK : rocl_fail_memory(err);
    }
    return st;
}

rocl_status rocl_peak_find(rocl_peak *p, const char *name, const char *path, rocl_error *err)
{
    char *text = NULL;
    size_t n = 0;
    rocl_buf names = {0};
    *p = (rocl_peak){0};
    rocl_status st = path ? rocl_unpack_file(path, FILE_MAX_BYTES, &text, &n, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = read_peaks(p, name, path, text, n, &names, err);
    if (st == ROCL_OK)
        st = read_peaks(p, name, "peaks", shipped, sizeof shipped - 1, &names, err);
    if (st == ROCL_OK && names.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && !p->name)
        st = rocl_fail(err, ROCL_USAGE, "--peak: no peak of \"%.60s\" is known; known: %.*s", name,
                       (int)(names.len < 600 ? names.len : 600), (const char *)names.data);
    rocl_buf_free(&names);
    free(text);
    return st;
}

void rocl_peak_free(rocl_peak *p)
{
    free(p->name);
}

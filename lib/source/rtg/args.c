/* The text of arguments -> single ones, as rtg_tracer, roctracer and rocprof write them. */
#include "base/num.h"
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

enum { ARGS_MAX = 256 };

static rocl_view trim_blanks(const char *p, const char *end)
{
    p = rtg_skip_space(p, end);
    while (end > p && rtg_space(end[-1]))
        end--;
    return rocl_view_between(p, end);
}

/* The comma that ends an argument, outside of brackets and quotes. An unclosed quote is an ordinary
 * character. */
static const char *find_arg_end(const char *p, const char *end)
{
    for (size_t depth = 0; p < end; p++) {
        if (*p == '(' || *p == '{' || *p == '[')
            depth++;
        else if ((*p == ')' || *p == '}' || *p == ']') && depth)
            depth--;
        else if (*p == ',' && !depth)
            return p;
        else if (*p == '"') {
            const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
            p = close ? close : p;
        }
    }
    return end;
}

/* "name=value", or a value alone, which is numbered. */
static bool split_arg(const char *p, const char *end, size_t n, rtg_arg_fn *add, void *ctx)
{
    rocl_view arg = trim_blanks(p, end);
    const char *q = arg.p, *stop = arg.p + arg.n;
    while (q < stop && rtg_word(*q) && q - arg.p < 64)
        q++;
    if (q == arg.p || q == stop || *q != '=' || rtg_digit(*arg.p)) {
        char name[3 + ROCL_NUM_MAX] = "arg", *name_end = rocl_put_u64(name + 3, n);
        return add(ctx, rocl_view_between(name, name_end), arg);
    }
    return add(ctx, rocl_view_between(arg.p, q), trim_blanks(q + 1, stop));
}

bool rtg_args_split(rocl_view text, rtg_arg_fn *add, void *ctx)
{
    const char *p = text.p, *end = p + text.n;
    if (rtg_skip_space(p, end) == end)
        return true;
    for (size_t n = 0;; n++) {
        /* No call has this many: the last one gets all the rest. */
        const char *comma = n < ARGS_MAX - 1 ? find_arg_end(p, end) : end;
        if (!split_arg(p, comma, n, add, ctx))
            return false;
        if (comma == end)
            return true;
        p = comma + 1;
    }
}

/* The column "args" of results.db and results.json, which rocprof makes of the arguments in its raw
 * texts:
 *
 *     ( kernel(KERNEL) numBlocks({z(1) y(1) x(16}) stream(1))    HIP: "=" became "(", "," became
 * ")" (513, 1, 24, 0x7ffd) = 0                                   HSA: values, and what it returned
 */
#include "source/rocprof/row.h"
#include "source/rtg/rtg.h"

enum { STRUCT_MAX = 4096 };

static bool add_arg(void *ctx, rocl_view name, rocl_view value)
{
    rocl_record_arg(ctx, name, value);
    return true;
}

/* A value that is a struct, as it was: {z=1, y=1, x=16}. */
static void add_struct(rocl_records *to, rocl_view name, rocl_view value)
{
    char text[STRUCT_MAX];
    if (value.n > sizeof text) {
        rocl_record_arg(to, name, value);
        return;
    }
    for (size_t i = 0; i < value.n; i++)
        text[i] = value.p[i] == '(' ? '=' : value.p[i] == ')' ? ',' : value.p[i];
    rocl_record_arg(to, name, (rocl_view){text, value.n});
}

/* Where the value at p ends: at the bracket that closes it. Those within a struct do not fit. */
static const char *find_value_end(const char *p, const char *end)
{
    size_t braces = 0, depth = 1;
    for (; p < end; p++) {
        braces += *p == '{';
        braces -= *p == '}' && braces;
        depth += *p == '(' && !braces;
        if (*p == ')' && !braces && !--depth)
            return p;
    }
    return end;
}

void rocprof_args_put(rocl_records *to, rocl_view text)
{
    const char *p = text.p, *end = p + text.n;
    if (!text.n || *p != '(')
        return;
    if (text.n == 1 || p[1] != ' ') {
        const char *returned = memrchr(p, ')', text.n);
        if (returned)
            rtg_args_split(rocl_view_between(p + 1, returned), add_arg, to);
        if (returned && end - returned > 4 && !memcmp(returned, ") = ", 4) &&
            !rocl_view_is(rocl_view_between(returned + 4, end), "0"))
            rocl_record_arg(to, (rocl_view){"ret", 3}, rocl_view_between(returned + 4, end));
        return;
    }
    for (p++; p < end && *p == ' ';) {
        const char *name = p + 1, *open = memchr(name, '(', (size_t)(end - name));
        if (!open)
            return;
        const char *close = find_value_end(open + 1, end);
        const rocl_view value = rocl_view_between(open + 1, close);
        if (value.n && *value.p == '{')
            add_struct(to, rocl_view_between(name, open), value);
        else
            rocl_record_arg(to, rocl_view_between(name, open), value);
        p = close < end ? close + 1 : end;
    }
}

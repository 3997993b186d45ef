/* The column "args" of results.db and results.json, which rocprof makes of the arguments in its raw
 * texts:
 *
 *     ( kernel(KERNEL) numBlocks({z(1) y(1) x(16}) stream(1))    HIP: "=" became "(", "," became
 * ")" (513, 1, 24, 0x7ffd) = 0                                   HSA: values, and what it returned
 */
#include "base/json.h"
#include "source/rocprof/row.h"
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

enum { STRUCT_MAX = 4096 };

bool rocprof_add_arg(void *ctx, rocl_view name, rocl_view value)
{
    rocl_record_arg(ctx, name, value);
    return true;
}

void rocprof_args_put(rocl_records *to, rocl_view args)
{
    const char *p = args.p, *end = p + args.n;
    char text[STRUCT_MAX];
    if (!args.n || *p != '(')
        return;
    if (args.n == 1 || p[1] != ' ') {
        const char *returned = memrchr(p, ')', args.n);
        if (returned)
            rtg_args_split(rocl_view_between(p + 1, returned), rocprof_add_arg, to);
        if (returned && end - returned > 4 && !memcmp(returned, ") = ", 4) &&
            !rocl_view_is(rocl_view_between(returned + 4, end), "0"))
            rocl_record_arg(to, (rocl_view){"ret", 3}, rocl_view_between(returned + 4, end));
        return;
    }
    for (p++; p < end && *p == ' ';) {
        const char *name = p + 1, *open = memchr(name, '(', (size_t)(end - name));
        if (!open)
            return;
        /* The bracket that closes the value; those within a struct do not match. */
        const char *close = open + 1;
        for (size_t braces = 0, depth = 1; close < end; close++) {
            braces += *close == '{';
            braces -= *close == '}' && braces;
            depth += *close == '(' && !braces;
            if (*close == ')' && !braces && !--depth)
                break;
        }
        rocl_view value = rocl_view_between(open + 1, close);
        if (value.n && *value.p == '{' && value.n <= sizeof text) { /* as it was: {z=1, y=1} */
            for (size_t i = 0; i < value.n; i++)
                text[i] = value.p[i] == '(' ? '=' : value.p[i] == ')' ? ',' : value.p[i];
            value.p = text;
        }
        rocl_record_arg(to, rocl_view_between(name, open), value);
        p = close < end ? close + 1 : end;
    }
}

/* The number of an argument, as NAME(N) or NAME=N; false: there is none. */
static bool find_number(rocl_view args, const char *name, uint64_t *v)
{
    const size_t n = strlen(name);
    const char *end = args.p + args.n;
    for (const char *p = args.p; (p = rocl_view_find(rocl_view_between(p, end), name)); p += n) {
        const char *digits = p + n + 1, *stop = digits;
        if (p == args.p || (p[-1] != ' ' && p[-1] != '(') || digits >= end ||
            (p[n] != '(' && p[n] != '='))
            continue;
        while (stop < end && rtg_digit(*stop))
            stop++;
        return stop > digits && stop - digits < 20 &&
               rocl_json_uint(rocl_view_between(digits, stop), v);
    }
    return false;
}

/* hsa_amd_memory_async_copy(to, its agent, from, its agent, size, ...) */
static bool find_hsa_size(rocl_view args, uint64_t *v)
{
    const char *p = args.p, *end = p + args.n;
    for (int i = 0; i < 4 && p; i++) {
        p = rocl_view_find(rocl_view_between(p, end), ", ");
        p = p ? p + 2 : NULL;
    }
    const char *stop = p;
    while (stop && stop < end && rtg_digit(*stop))
        stop++;
    return stop > p && stop - p < 20 && rocl_json_uint(rocl_view_between(p, stop), v);
}

static const char hsa_copy[] = "hsa_amd_memory_async_copy";

bool rocprof_call_copies(rocl_view name)
{
    if (name.n >= 9 && !memcmp(name.p, "hipMem", 6))
        return !memcmp(name.p, "hipMemcpy", 9) || !memcmp(name.p, "hipMemset", 9);
    return name.n >= sizeof hsa_copy - 1 && !memcmp(name.p, hsa_copy, sizeof hsa_copy - 1);
}

void rocprof_read_copy(rocl_view name, rocl_view args, uint64_t *bytes,
                       rocl_copy_direction *direction)
{
    static const rocl_copy_direction kinds[] = {ROCL_COPY_ON_HOST, ROCL_COPY_TO_DEVICE,
                                                ROCL_COPY_TO_HOST, ROCL_COPY_ON_DEVICE};
    uint64_t size = 0, kind, width, height;
    if (!rocprof_call_copies(name))
        return;
    if (name.p[1] == 's') { /* of HSA; copies of rectangles have other arguments */
        if (!rocl_view_find(name, "_rect") && find_hsa_size(args, &size))
            *bytes = size;
        return;
    }
    if (find_number(args, "sizeBytes", &size))
        *bytes = size;
    else if (find_number(args, "width", &width) && find_number(args, "height", &height) &&
             !__builtin_mul_overflow(width, height, &size))
        *bytes = size;
    if (find_number(args, "kind", &kind) && kind < sizeof kinds / sizeof *kinds)
        *direction = kinds[kind];
}

/* The run of a converter that is a tool of its own. */
#include "common/converter.h"

#include "common/output.h"

static rocl_status write_and_report(rocl_trace *t, void *ctx, rocl_error *err)
{
    const converter *v = ctx;
    const rocl_status s = v->write(t, v->state, err);
    if (s <= ROCL_PARTIAL)
        v->report(v->state);
    return s;
}

int converter_run(const program *p, const converter *v, int (*check)(void *state), int argc,
                  char **argv)
{
    common *c = v->state;
    int code = common_parse(p, c, argc, argv);
    if (code < 0)
        code = output_fill_names(c);
    if (code < 0)
        code = check(v->state);
    return code < 0 ? common_run(c, write_and_report, (void *)(uintptr_t)v) : code;
}

/* What was recorded, as a trace in the format that was asked for. */
#include "record/record.h"

#include "common/output.h"

#include <inttypes.h>

static rocl_status write_rocl(rocl_trace *t, const cli *c, rocl_error *err)
{
    rocl_pack_report r = {0};
    const rocl_pack_options o = {.path = c->common.output_file, .level = c->level};
    rocl_status s = rocl_write_chunks(t, &o, &r, err);
    if (s <= ROCL_PARTIAL)
        msg_notice("%s: %" PRIu64 " events of %" PRIu64 " process%s, %" PRIu64 " dropped, %" PRIu64
                   " bytes",
                   o.path, r.events, r.processes, r.processes == 1 ? "" : "es", r.dropped, r.bytes);
    return s;
}

static rocl_status write_csv(rocl_trace *t, const cli *c, rocl_error *err)
{
    rocl_csv_options o = {.style = ROCL_CSV_ROCPD_1_0, .directory = c->common.output_file};
    rocl_files_report r = {0};
    o.prefix = "out";
    rocl_status s = output_make_folder(o.directory);
    if (s == ROCL_OK)
        s = rocl_write_csv(t, &o, &r, err);
    if (s <= ROCL_PARTIAL)
        msg_notice("%s: %zu file%s", o.directory, r.files, r.files == 1 ? "" : "s");
    return s;
}

static void say_events(rocl_trace *t, const cli *c)
{
    uint64_t events = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        events += rocl_trace_events(t, k);
    msg_notice("%s: %" PRIu64 " events of %zu process%s, %" PRIu64 " dropped",
               c->common.output_file, events, rocl_trace_captures(t),
               rocl_trace_captures(t) == 1 ? "" : "es", rocl_trace_faults(t, ROCL_FAULT_DROPPED));
}

static rocl_status write_other(rocl_trace *t, const cli *c, rocl_error *err)
{
    const char *path = c->common.output_file;
    rocl_status s;
    if (c->format == FORMAT_ROCPD)
        s = rocl_write_rocpd(t, &(rocl_rocpd_options){.path = path}, NULL, err);
    else if (c->format == FORMAT_OTF2)
        s = rocl_write_otf2(t, &(rocl_otf2_options){.path = path}, NULL, err);
    else if (c->format == FORMAT_PFTRACE)
        s = rocl_write_pftrace(t, &(rocl_pftrace_options){.path = path, .level = c->level}, NULL,
                               err);
    else
        s = rocl_write_chrome(t, &(rocl_chrome_options){.path = path, .flows = true}, NULL, err);
    if (s <= ROCL_PARTIAL)
        say_events(t, c);
    return s;
}

rocl_status write_output(rocl_trace *t, void *ctx, rocl_error *err)
{
    const cli *c = ctx;
    if (c->format == FORMAT_ROCL)
        return write_rocl(t, c, err);
    return c->format == FORMAT_CSV ? write_csv(t, c, err) : write_other(t, c, err);
}

/* ---- which one ------------------------------------------------------------------------------- */

static unsigned format_of_name(const char *name)
{
    static const struct {
        const char *end;
        unsigned format;
    } ends[] = {{".pftrace", FORMAT_PFTRACE},
                {".pftrace.gz", FORMAT_PFTRACE},
                {".perfetto-trace", FORMAT_PFTRACE},
                {".perfetto-trace.gz", FORMAT_PFTRACE},
                {".json", FORMAT_JSON},
                {".json.gz", FORMAT_JSON},
                {".otf2", FORMAT_OTF2},
                {".db", FORMAT_ROCPD}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i].end))
            return ends[i].format;
    return FORMAT_ROCL;
}

int choose_format(cli *c)
{
    const char *name = c->common.output_file;
    if (!c->format && name)
        c->format = format_of_name(name);
    if (c->format != FORMAT_OTF2 || !name)
        return -1;
    if (!rocl_has_otf2())
        return usage_error("%s: built without libotf2, which writes such archives", name);
    return ends_with(name, ".otf2") ? -1
                                    : usage_error("%s: the name of an archive ends in .otf2", name);
}

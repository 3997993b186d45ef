/* What was recorded, as a trace in the format that was asked for. */
#include "record/record.h"

#include "common/output.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- messages -------------------------------------------------------------------------------- */

/* Begins a line: "t.rocl: 100 events of 1 process, 5 dropped (4.8 %)"; returns its length. */
static size_t put_events(char *to, size_t size, const char *name, const rocl_recording *r,
                         uint64_t events)
{
    int n = snprintf(
        to, size, "%s: %" PRIu64 " event%s of %" PRIu64 " process%s, %" PRIu64 " dropped", name,
        events, events == 1 ? "" : "s", r->processes, r->processes == 1 ? "" : "es", r->dropped);
    if (r->dropped && n > 0 && (size_t)n < size) {
        double share = 100 * (double)r->dropped / (double)(r->dropped + events);
        n += snprintf(to + n, size - (size_t)n, share < 0.1 ? " (< 0.1 %%)" : " (%.1f %%)", share);
    }
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* A ring loses nothing that it was to keep. */
static void say_given_up(const char *name, const rocl_recording *r)
{
    if (r->given_chunks)
        msg_notice("%s: the ring has overwritten %" PRIu64 " older chunk%s with %" PRIu64
                   " records; it is complete from %" PRId64 " ns on, the last %.3f s",
                   name, r->given_chunks, r->given_chunks == 1 ? "" : "s", r->given_records,
                   r->complete_from, (double)(r->last - r->complete_from) / 1e9);
}

rocl_status say_recorded(rocl_trace *t, void *ctx, rocl_error *err)
{
    const cli *c = ctx;
    char line[8192], files[64];
    rocl_recording r;
    rocl_status s = rocl_sum_up_chunks(t, &r, err);
    if (s != ROCL_OK)
        return s;
    size_t n = c->common.inputs.n;
    snprintf(files, sizeof files, "%zu file%s", n, n == 1 ? "" : "s");
    put_events(line, sizeof line, files, &r, r.events);
    msg_notice("%s: %s; %" PRIu64 " records", c->folder, line, r.records);
    say_given_up(c->folder, &r);
    return ROCL_OK;
}

/* ---- formats --------------------------------------------------------------------------------- */

static rocl_status write_rocl(rocl_trace *t, const cli *c, rocl_error *err)
{
    char line[8192];
    rocl_written written = {0};
    rocl_recording r;
    const rocl_chunks_options o = {.path = c->common.output_file,
                                   .level = compression_level(c->level)};
    rocl_status s = rocl_write_chunks(t, &o, &written, err);
    if (s > ROCL_PARTIAL)
        return s;
    rocl_status summed = rocl_sum_up_chunks(t, &r, err);
    if (summed != ROCL_OK)
        return summed;
    put_events(line, sizeof line, o.path, &r, r.events);
    msg_notice("%s; %" PRIu64 " records, %" PRIu64 " bytes", line, r.records, written.bytes);
    say_given_up(o.path, &r);
    return s;
}

static rocl_status write_pftrace(rocl_trace *t, const cli *c, rocl_error *err)
{
    const rocl_pftrace_options o = {.path = c->common.output_file,
                                    .level = compression_level(c->level)};
    return rocl_write_pftrace(t, &o, NULL, err);
}

static rocl_status write_json(rocl_trace *t, const cli *c, rocl_error *err)
{
    const rocl_chrome_options o = {.path = c->common.output_file,
                                   .gzip = c->gzip,
                                   .level = compression_level(c->level),
                                   .flows = true};
    return rocl_write_chrome(t, &o, NULL, err);
}

static rocl_status write_csv(rocl_trace *t, const cli *c, rocl_error *err)
{
    const rocl_csv_options o = {.style = ROCL_CSV_ROCPD_1_0,
                                .directory = c->common.output_file,
                                .prefix = "out",
                                .gzip = c->level > 0,
                                .level = compression_level(c->level)};
    rocl_status s = output_make_folder(o.directory);
    return s == ROCL_OK ? rocl_write_csv(t, &o, NULL, err) : s;
}

static rocl_status write_rocpd(rocl_trace *t, const cli *c, rocl_error *err)
{
    return rocl_write_rocpd(t, &(rocl_rocpd_options){.path = c->common.output_file}, NULL, err);
}

static rocl_status write_otf2(rocl_trace *t, const cli *c, rocl_error *err)
{
    return rocl_write_otf2(t, &(rocl_otf2_options){.path = c->common.output_file}, NULL, err);
}

static const struct {
    rocl_status (*write)(rocl_trace *t, const cli *c, rocl_error *err);
    const char *endings[4];   /* of names that say this format */
    const char *uncompressed; /* their description if they cannot be compressed */
} formats[] = {
    [FORMAT_ROCL] = {.write = write_rocl},
    [FORMAT_PFTRACE] = {.write = write_pftrace,
                        .endings = {".pftrace", ".pftrace.gz", ".perfetto-trace",
                                    ".perfetto-trace.gz"}},
    [FORMAT_JSON] = {.write = write_json, .endings = {".json", ".json.gz"}},
    [FORMAT_CSV] = {.write = write_csv},
    [FORMAT_ROCPD] = {write_rocpd, {".db"}, "databases"},
    [FORMAT_OTF2] = {write_otf2, {".otf2"}, "OTF2 archives"},
};

rocl_status write_output(rocl_trace *t, void *ctx, rocl_error *err)
{
    const cli *c = ctx;
    const char *name = c->common.output_file;
    char line[8192];
    rocl_recording r;
    uint64_t events = 0;
    rocl_status s = formats[c->format].write(t, c, err);
    if (s > ROCL_PARTIAL || c->format == FORMAT_ROCL || rocl_sum_up_chunks(t, &r, NULL) != ROCL_OK)
        return s;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        events += rocl_trace_events(t, k);
    put_events(line, sizeof line, name, &r, events);
    msg_notice("%s", line);
    say_given_up(name, &r);
    return s;
}

int choose_format(cli *c)
{
    const char *name = c->common.output_file;
    if (!name)
        return -1;
    for (unsigned f = FORMAT_ROCL; f <= FORMAT_OTF2 && !c->format; f++)
        for (size_t i = 0; i < sizeof formats[f].endings / sizeof *formats[f].endings; i++)
            if (formats[f].endings[i] && ends_with(name, formats[f].endings[i]))
                c->format = f;
    if (!c->format)
        c->format = FORMAT_ROCL;
    if (c->level >= 0 && formats[c->format].uncompressed)
        return usage_error("--compress: %s cannot be compressed", formats[c->format].uncompressed);
    if (c->format == FORMAT_JSON) {
        if ((size_t)snprintf(c->name, sizeof c->name, "%s", name) >= sizeof c->name - 3)
            return name_too_long();
        c->gzip = output_is_packed(false, c->level, c->name, sizeof c->name);
        c->common.output_file = c->name;
    }
    if (c->format != FORMAT_OTF2)
        return -1;
    if (!rocl_has_otf2())
        return usage_error(
            "%s: this rocline was built without libotf2, which writes these archives", name);
    return ends_with(name, ".otf2")
               ? -1
               : usage_error("%s: the name of an archive must end in .otf2", name);
}

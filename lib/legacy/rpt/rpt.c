/* From options to a report: records into the sorter, the region of interest, one pass over the
 * records in it, tables. */
#include "legacy/rpt/rpt.h"

#include <stdio.h>

#include "base/pool.h"
#include "model/trace.h"

static rocl_status set_up(rpt *r, const rocl_rpt_options *o, rocl_error *err)
{
    static const char *const types[] = {"kernel", "barrier", "copy", "copyslo", "gap"};
    uint32_t *const ids[] = {&r->kernel, &r->barrier, &r->copy, &r->copyslo, &r->gap};
    r->o = *o;
    r->data = r->none = ROCL_NONE;
    if (r->o.jobs > 256)
        return rocl_fail(err, ROCL_USAGE, "%u jobs are too many: at most 256", r->o.jobs);
    const rocl_budget budget = rocl_budget_share(r->o.memory, r->o.jobs);
    r->o.jobs = budget.workers;
    r->o.memory = budget.sorting;
    if (r->from_log)
        r->space = rocl_sort_space_new(r->o.memory, 1, r->o.tmpdir);
    r->sorter = r->space ? rocl_sorter_new(r->space, 2) : NULL;
    if (!r->strings || !r->sorter)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        *ids[i] = rocl_strings_put(r->strings, types[i], strlen(types[i]));
        if (*ids[i] == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    rocl_status st = rpt_make_buckets(r, err);
    return st ? st : rpt_parse_region(r, err);
}

static rocl_status open_outputs(rpt *r, rocl_error *err)
{
    r->print.err = err;
    rocl_status st = rocl_out_open_as_named(&r->print.out, r->o.path ? r->o.path : "-", err);
    if (st == ROCL_OK)
        st = rpt_json_open(r, err);
    if (st == ROCL_OK && r->json && rocl_out_same(r->json, r->print.out))
        return rocl_fail(err, ROCL_USAGE, "%s: the report and the JSON need different files",
                         r->o.json);
    return st;
}

static void tear_down(rpt *r)
{
    rocl_out_discard(r->print.out);
    rocl_out_discard(r->json);
    rocl_buf_free(&r->print.text);
    rocl_buf_free(&r->json_text);
    rpt_region_free(r);
    rpt_sums_free(r);
    rpt_log_close(r->log);
    rocl_sorter_free(r->sorter);
    if (r->from_log) {
        rocl_sort_space_free(r->space);
        rocl_strings_free(r->strings);
    }
}

static void notice_faults(const rpt *r, uint64_t count, const char *one, const char *many)
{
    char text[512];
    if (!r->o.notice || !count)
        return;
    snprintf(text, sizeof text, "%.300s: %llu %s", r->input, (unsigned long long)count,
             count == 1 ? one : many);
    r->o.notice(r->o.ctx, text);
}

/* All records have been added: the report, and whether there were faults. */
static rocl_status write_report(rpt *r, rocl_error *err)
{
    if (!r->first.line)
        return rocl_fail(err, ROCL_INPUT, "%s: %s", r->input,
                         r->from_log ? "no HCC profile record (\"profile: ...\") in it"
                                     : "no dispatch, barrier or copy to report");
    rpt_record record;
    rpt_timing timing;
    bool more = true;
    rocl_status st = rpt_resolve_region(r, err);
    if (st)
        return st;
    rpt_print_region(r);
    st = rocl_sorter_start(r->sorter, err);
    while (st == ROCL_OK && (st = rpt_next_record(r->sorter, &record, &more, err)) == ROCL_OK &&
           more && rpt_is_before(&record, &r->to.record)) {
        if (rpt_is_before(&record, &r->from.record))
            continue;
        if (rpt_kind_of(r, record.type) == RPT_NONE)
            rpt_print_unknown(r, record.type);
        st = rpt_sum_record(r, &record, &timing, err);
        if (st == ROCL_OK && r->o.text_trace)
            st = rpt_print_record(r, &record, &timing, err);
        if (st == ROCL_OK && r->json)
            st = rpt_json_record(r, &record, err);
    }
    if (st == ROCL_OK && r->json)
        st = rpt_json_close(r, err);
    if (st == ROCL_OK)
        st = rpt_print_tables(r, err);
    if (st == ROCL_OK)
        st = rpt_flush(&r->print);
    if (st)
        return st;
    rocl_out *outs[] = {r->print.out, r->json};
    r->json = r->print.out = NULL;
    st = rocl_out_commit_all(outs, outs[1] ? 2 : 1, err);
    if (st)
        return st;
    notice_faults(r, r->unparsable, "profile line cannot be parsed and is read as text",
                  "profile lines cannot be parsed and are read as text");
    notice_faults(r, r->repaired, "profile line lacks its id or size",
                  "profile lines lack their id or size");
    notice_faults(r, r->backwards, "command ends before it starts",
                  "commands end before they start");
    return r->unparsable || r->repaired || r->backwards ? ROCL_PARTIAL : ROCL_OK;
}

rocl_status rocl_write_rpt(const char *input, const rocl_rpt_options *o, rocl_error *err)
{
    rpt r = {.from_log = true, .input = input, .strings = rocl_strings_new()};
    rocl_status st = set_up(&r, o, err);
    r.keep_text = (o->text_trace && !o->hide_app_text) || rpt_region_needs_text(&r);
    if (st == ROCL_OK)
        st = rpt_log_open(&r.log, input, r.keep_text, o->tmpdir, err);
    if (st == ROCL_OK) {
        r.input = rpt_log_name(r.log);
        st = open_outputs(&r, err);
    }
    if (st == ROCL_OK)
        st = rpt_read_log(&r, err);
    if (st == ROCL_OK)
        st = write_report(&r, err);
    tear_down(&r);
    return st;
}

rocl_status rocl_write_rpt_trace(rocl_trace *t, const rocl_rpt_options *o, rocl_error *err)
{
    rpt r = {.input = "trace", .strings = t->strings, .space = t->space};
    if (rocl_trace_captures(t) && rocl_trace_capture(t, 0)->path)
        r.input = rocl_trace_capture(t, 0)->path;
    rocl_status st = set_up(&r, o, err);
    if (st == ROCL_OK)
        st = open_outputs(&r, err);
    if (st == ROCL_OK)
        st = rpt_read_trace(&r, t, err);
    if (st == ROCL_OK)
        st = write_report(&r, err);
    tear_down(&r);
    return st ? st : rocl_trace_outcome_utf8(t);
}

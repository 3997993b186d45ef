/* From options to a report: records into the sorter, the region of interest, one pass over the
 * records in it, tables. */
#include "legacy/rpt.h"

#include <stdlib.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/budget.h"
#include "model/trace.h"

/* ---- the world of a report ------------------------------------------------------------------- */

static rocl_status name_types(rocl_rpt *r, rocl_error *err)
{
    static const char *const names[] = {"kernel", "barrier", "copy", "copyslo", "gap"};
    uint32_t *const ids[] = {&r->kernel, &r->barrier, &r->copy, &r->copyslo, &r->gap};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        *ids[i] = rocl_strings_put(r->strings, names[i], strlen(names[i]));
        if (*ids[i] == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static rocl_status set_up(rocl_rpt *r, const rocl_rpt_options *o, rocl_error *err)
{
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
    rocl_status st = name_types(r, err);
    if (st == ROCL_OK)
        st = rocl_rpt_make_buckets(r, err);
    return st ? st : rocl_rpt_roi_parse(r, err);
}

static rocl_status open_outputs(rocl_rpt *r, rocl_error *err)
{
    r->print.err = err;
    rocl_status st = rocl_out_open_as_named(&r->print.out, r->o.path ? r->o.path : "-", err);
    if (st == ROCL_OK)
        st = rocl_rpt_json_open(r, err);
    if (st == ROCL_OK && r->json && rocl_out_same(r->json, r->print.out))
        return rocl_fail(err, ROCL_USAGE, "%s: the report and the JSON are two files", r->o.json);
    return st;
}

static void tear_down(rocl_rpt *r)
{
    rocl_out_discard(r->print.out);
    rocl_out_discard(r->json);
    rocl_buf_free(&r->print.text);
    rocl_buf_free(&r->json_text);
    rocl_rpt_roi_free(r);
    rocl_rpt_sum_free(r);
    rocl_rpt_log_close(r->log);
    rocl_sorter_free(r->sorter);
    if (r->from_log) {
        rocl_sort_space_free(r->space);
        rocl_strings_free(r->strings);
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

static rocl_status report_record(rocl_rpt *r, const rocl_rpt_record *record, rocl_error *err)
{
    rocl_rpt_share share;
    if (rocl_rpt_kind(r, record->type) == ROCL_RPT_NONE)
        rocl_rpt_print_unknown(r, record->type);
    rocl_status st = rocl_rpt_take(r, record, &share, err);
    if (st == ROCL_OK && r->o.text_trace)
        st = rocl_rpt_print_record(r, record, &share, err);
    if (st == ROCL_OK && r->json)
        st = rocl_rpt_json_record(r, record, err);
    return st;
}

/* Is a before b? */
static bool before(const rocl_rpt_record *a, const rocl_rpt_record *b)
{
    return a->start < b->start || (a->start == b->start && a->line < b->line);
}

static rocl_status report_region(rocl_rpt *r, rocl_error *err)
{
    rocl_sort_record packed;
    rocl_rpt_record record;
    bool more = true;
    rocl_status st = rocl_sorter_start(r->sorter, err);
    while (st == ROCL_OK && more) {
        st = rocl_sorter_next(r->sorter, &packed, &more, err);
        if (st || !more)
            break;
        rocl_rpt_unpack(&packed, &record);
        if (!before(&record, &r->to.record))
            break;
        if (!before(&record, &r->from.record))
            st = report_record(r, &record, err);
    }
    return st;
}

static rocl_status commit(rocl_rpt *r, rocl_error *err)
{
    rocl_out *outs[] = {r->print.out, r->json};
    rocl_status st = rocl_rpt_flush(&r->print);
    if (st)
        return st;
    r->json = r->print.out = NULL;
    return rocl_out_commit_all(outs, outs[1] ? 2 : 1, err);
}

static rocl_status report(rocl_rpt *r, rocl_error *err)
{
    if (!r->first.line)
        return rocl_fail(err, ROCL_INPUT, "%s: %s", r->input,
                         r->from_log ? "no HCC profile record (\"profile: ...\") in it"
                                     : "no dispatch, barrier or copy to report");
    rocl_status st = rocl_rpt_roi_resolve(r, err);
    if (st)
        return st;
    rocl_rpt_print_ends(r);
    if (r->o.text_trace)
        rocl_rpt_print_header(r);
    st = report_region(r, err);
    if (st == ROCL_OK && r->json)
        st = rocl_rpt_json_close(r, err);
    if (st == ROCL_OK)
        st = rocl_rpt_print_tables(r, err);
    return st ? st : commit(r, err);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void notice(const rocl_rpt *r, uint64_t count, const char *one, const char *many)
{
    char text[512];
    if (!r->o.notice || !count)
        return;
    snprintf(text, sizeof text, "%.300s: %llu %s", r->input, (unsigned long long)count,
             count == 1 ? one : many);
    r->o.notice(r->o.ctx, text);
}

static rocl_status verdict(const rocl_rpt *r)
{
    notice(r, r->unparsable, "profile line cannot be parsed and is taken for text",
           "profile lines cannot be parsed and are taken for text");
    notice(r, r->repaired, "profile line lacks its id or size",
           "profile lines lack their id or size");
    notice(r, r->backwards, "command ends before it starts", "commands end before they start");
    return r->unparsable || r->repaired || r->backwards ? ROCL_PARTIAL : ROCL_OK;
}

/* ---- entry points ---------------------------------------------------------------------------- */

rocl_status rocl_write_rpt(const char *input, const rocl_rpt_options *o, rocl_error *err)
{
    rocl_rpt r = {.from_log = true, .input = input, .strings = rocl_strings_new()};
    rocl_status st = set_up(&r, o, err);
    r.keep_text = (o->text_trace && !o->hide_app_text) || rocl_rpt_roi_needs_text(&r);
    if (st == ROCL_OK)
        st = rocl_rpt_log_open(&r.log, input, r.keep_text, o->tmpdir, err);
    if (st == ROCL_OK) {
        r.input = rocl_rpt_log_name(r.log);
        st = open_outputs(&r, err);
    }
    if (st == ROCL_OK)
        st = rocl_rpt_read_log(&r, err);
    if (st == ROCL_OK)
        st = report(&r, err);
    if (st == ROCL_OK)
        st = verdict(&r);
    tear_down(&r);
    return st;
}

rocl_status rocl_write_rpt_trace(rocl_trace *t, const rocl_rpt_options *o, rocl_error *err)
{
    rocl_rpt r = {.input = "trace", .strings = t->strings, .space = t->space};
    if (rocl_trace_captures(t))
        r.input = rocl_trace_capture(t, 0)->path ? rocl_trace_capture(t, 0)->path : r.input;
    rocl_status st = set_up(&r, o, err);
    if (st == ROCL_OK)
        st = open_outputs(&r, err);
    if (st == ROCL_OK)
        st = rocl_rpt_read_trace(&r, t, err);
    if (st == ROCL_OK)
        st = report(&r, err);
    if (st == ROCL_OK)
        st = verdict(&r);
    tear_down(&r);
    return st ? st : rocl_trace_outcome(t);
}

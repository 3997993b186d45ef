/* Arrows: see flows.h. */
#include "source/chrome/flows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

chrome_flows *chrome_flows_new(const rocl_trace *t)
{
    return rocl_cache_line_calloc(t->opt.jobs, sizeof(chrome_flows));
}

void chrome_flows_free(chrome_flows *flows, const rocl_trace *t)
{
    for (unsigned i = 0; flows && i < t->opt.jobs; i++) {
        rocl_idset_free(&flows[i].begun);
        rocl_idset_free(&flows[i].ended);
    }
    free(flows);
}

uint64_t chrome_hash_texts(const rocl_view *texts, size_t count)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i <= texts[k].n; i++) /* includes the separator */
            h = rocl_mix64(h ^ (i < texts[k].n ? (unsigned char)texts[k].p[i] : 0x100u));
    return h;
}

/* Within the group of a merged file. */
static uint64_t id_of_flow(const chrome_event *e)
{
    const rocl_view texts[] = {e->cat, e->name, e->id, e->prefix};
    return chrome_hash_texts(texts, e->prefix.n ? 4 : 3);
}

/* Keeps the numbers of a category close to each other. */
bool chrome_note_flow(rocl_records *to, chrome_flows *flows, const chrome_event *e, bool begins)
{
    chrome_flows *seen = &flows[rocl_records_worker(to)];
    uint64_t id;
    if (!e->prefix.n && rocl_json_uint(e->id, &id) && id < (uint64_t)1 << 40)
        id |= chrome_hash_texts((const rocl_view[]){e->cat, e->name}, 2) << 40;
    else
        id = id_of_flow(e);
    return rocl_idset_add(begins ? &seen->begun : &seen->ended, id);
}

rocl_status chrome_put_flow(rocl_records *to, rocl_source_record *r, chrome_flows *flows,
                            const chrome_event *e, char ph, rocl_error *err)
{
    rocl_flow *flow = &r->as.flow;
    if (rocl_records_first_pass(to) && ph != 't' && !chrome_note_flow(to, flows, e, ph == 's'))
        return rocl_fail_memory(err);
    if (!rocl_records_want(to, ROCL_FLOW))
        return ROCL_OK;
    r->kind = ROCL_FLOW;
    r->as.e.end = r->as.e.start;
    r->as.e.category = rocl_records_text(to, e->cat);
    r->name = e->name;
    flow->flow = id_of_flow(e);
    flow->end = ph == 's' ? ROCL_FLOW_BEGINS : ph == 't' ? ROCL_FLOW_GOES_ON : ROCL_FLOW_ENDS;
    flow->next = ph == 'f' && !rocl_view_is(e->bp, "e");
    return rocl_record_put(to, r, err);
}

rocl_status chrome_put_bound_flows(rocl_records *to, const rocl_source_record *event,
                                   const chrome_event *e, rocl_error *err)
{
    rocl_source_record r;
    rocl_record_begin(&r, ROCL_FLOW, event->where);
    r.process = event->process;
    r.thread = event->thread;
    r.pid = event->pid;
    r.name = e->name;
    r.as.e.start = r.as.e.end = event->as.e.start;
    r.as.e.category = rocl_records_text(to, e->cat);
    r.as.flow.flow =
        chrome_hash_texts((const rocl_view[]){e->bind, e->prefix}, e->prefix.n ? 2 : 1);
    r.as.flow.end = e->flow_in && e->flow_out ? ROCL_FLOW_GOES_ON
                    : e->flow_in              ? ROCL_FLOW_ENDS
                                              : ROCL_FLOW_BEGINS;
    return rocl_record_put(to, &r, err);
}

rocl_status chrome_explain_flows(const chrome_flows *flows, const rocl_records_input *in,
                                 rocl_error *err)
{
    rocl_idset begun = {0}, ended = {0}, both = {0};
    bool ok = true;
    for (unsigned i = 0; i < in->trace->opt.jobs && ok; i++)
        ok = rocl_idset_merge(&begun, &flows[i].begun) && rocl_idset_merge(&ended, &flows[i].ended);
    ok = ok && rocl_idset_merge_common(&both, &begun, &ended);
    const uint64_t lone = ok ? rocl_idset_size(&ended) - rocl_idset_size(&both) : 0;
    if (lone && in->trace->opt.explain)
        rocl_notice(in->trace, "%s: %" PRIu64 " arrows end that begin nowhere", in->source->path,
                    lone);
    rocl_idset_free(&begun);
    rocl_idset_free(&ended);
    rocl_idset_free(&both);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

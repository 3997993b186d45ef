/* Arguments of collectives: see collectives.h. */
#include "source/chrome/collectives.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

void chrome_collectives_close(chrome_collectives *c)
{
    pthread_mutex_destroy(&c->lock);
    rocl_map_free(&c->index);
    free(c->all);
}

static bool is_external_id(rocl_view key)
{
    return rocl_view_is(key, "External id");
}

rocl_status chrome_note_collective(rocl_records *to, chrome_collectives *c, const chrome_worker *w,
                                   const rocl_source_record *call, rocl_error *err)
{
    static const char *const keys[] = {"Collective name",
                                       "In msg nelems",
                                       "Out msg nelems",
                                       "Group size",
                                       "dtype",
                                       "In split size",
                                       "Out split size",
                                       "Process Group Name",
                                       "Process Group Description",
                                       "Process Group Ranks",
                                       "Src Rank",
                                       "Dst Rank",
                                       "Seq",
                                       "Comms Id"};
    const uint64_t where = call->where;
    rocl_json r = w->args;
    rocl_json_token key, v;
    rocl_buf text = {0};
    uint64_t id = 0;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        const rocl_json_kind kind = rocl_json_next(&r, &v);
        const char *from = v.text.p - (kind == ROCL_JSON_STRING); /* with its quote */
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY)
            rocl_json_leave(&r);
        if (r.wrong)
            break;
        if (is_external_id(key.text))
            rocl_json_uint(v.text, &id);
        if (!rocl_view_is_among(key.text, keys, sizeof keys / sizeof *keys))
            continue;
        rocl_buf_str(&text, text.len ? ",\"" : "{\"");
        rocl_buf_put(&text, key.text.p, key.text.n);
        rocl_buf_str(&text, "\":");
        rocl_buf_put(&text, from, (size_t)(r.at - from));
    }
    rocl_buf_byte(&text, '}');
    const rocl_view all = {(const char *)text.data, text.len};
    const uint32_t args = text.failed ? ROCL_NONE : rocl_records_text(to, all);
    bool ok = args != ROCL_NONE;
    rocl_buf_free(&text);
    if (!ok || !id || all.n < 2)
        return ok ? ROCL_OK : rocl_fail_memory(err);
    id = chrome_number_in_file(c->callers, call->process, id);
    pthread_mutex_lock(&c->lock);
    const uint32_t i = rocl_map_get(&c->index, rocl_mix64(id), ROCL_NONE);
    if (i != ROCL_NONE && c->all[i].where > where)
        c->all[i] = (chrome_collective){where, args};
    if (i == ROCL_NONE)
        ok = ROCL_GROW(c->all, c->cap, c->count + 1) &&
             rocl_map_put(&c->index, rocl_mix64(id), (uint32_t)c->count);
    if (i == ROCL_NONE && ok)
        c->all[c->count++] = (chrome_collective){where, args};
    pthread_mutex_unlock(&c->lock);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

bool chrome_want_collectives(const rocl_records *to)
{
    const rocl_options *o = &rocl_records_input_of(to)->trace->opt;
    return o->args || o->collectives;
}

static bool is_collective(rocl_view kernel)
{
    return memmem(kernel.p, kernel.n, "nccl", 4) || memmem(kernel.p, kernel.n, "rccl", 4);
}

static void pass_collective(rocl_records *to, const chrome_collectives *c, chrome_worker *w,
                            const rocl_source_record *kernel)
{
    rocl_json r = w->args;
    rocl_json_token key, v;
    uint64_t id = 0;
    size_t n;
    if (!is_collective(kernel->name))
        return;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        const rocl_json_kind kind = rocl_json_next(&r, &v);
        if (rocl_view_is(key.text, "Collective name"))
            return; /* it has these itself */
        if (is_external_id(key.text))
            rocl_json_uint(v.text, &id);
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY)
            rocl_json_leave(&r);
    }
    id = chrome_number_in_file(c->callers, kernel->process, id);
    const uint32_t i = rocl_map_get(&c->index, rocl_mix64(id), ROCL_NONE);
    if (i == ROCL_NONE)
        return;
    const char *text = rocl_text(rocl_records_input_of(to)->trace, c->all[i].args, &n);
    rocl_json_open(&r, text, n, 0, ROCL_JSON_NANS);
    if (rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT))
        chrome_pass_args(to, w, r, ROCL_DISPATCH);
}

rocl_status chrome_put_with_args(rocl_records *to, rocl_source_record *r,
                                 const chrome_collectives *c, chrome_worker *w,
                                 const chrome_event *e, rocl_error *err)
{
    rocl_buf name = {0};
    const bool call = e->cat.n > 5 && !memcmp(e->cat.p, "cuda_", 5);
    const bool wanted =
        (rocl_records_want_args(to) && (call || !rocl_records_want_only_handles(to))) ||
        (r->kind == ROCL_DISPATCH && !rocl_records_first_pass(to) && chrome_want_collectives(to) &&
         is_collective(r->name));
    if (!w->has_args || r->half == ROCL_ENDS || !wanted || !rocl_records_want(to, r->kind))
        return rocl_record_put(to, r, err);
    if (e->name_escaped) { /* its buffer is used for the arguments */
        rocl_buf_put(&name, r->name.p, r->name.n);
        r->name = (rocl_view){(const char *)name.data, name.len};
    }
    chrome_pass_args(to, w, w->args, r->kind);
    if (r->kind == ROCL_DISPATCH && c->count)
        pass_collective(to, c, w, r);
    const rocl_status st = name.failed ? rocl_fail_memory(err) : rocl_record_put(to, r, err);
    rocl_buf_free(&name);
    return st;
}

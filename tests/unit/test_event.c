/* Single events: their ids, and what rocl_show_event() says of every event of some traces, against
 * the same found in a list of all events by the simplest means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/event_id.h"
#include "base/array.h"
#include "model/kinds.h"
#include "table/table.h"
#include "tests/unit/rocpd.h"

/* ---- all events in a list -------------------------------------------------------------------- */

typedef struct item {
    const rocl_capture *c;
    rocl_kind kind;
    rocl_event e;
} item;

typedef struct items {
    pthread_mutex_t lock;
    item *all;
    size_t count, cap;
} items;

static rocl_status list_batch(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    items *l = ctx;
    (void)worker, (void)err;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < b->count; i++) {
        assert_true(ROCL_GROW(l->all, l->cap, l->count + 1));
        l->all[l->count++] = (item){b->capture, b->kind, *rocl_batch_event(b, i)};
    }
    pthread_mutex_unlock(&l->lock);
    return ROCL_OK;
}

static items list_events(rocl_trace *t)
{
    items l = {.lock = PTHREAD_MUTEX_INITIALIZER};
    assert_true(rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, list_batch, &l, NULL) <=
                ROCL_PARTIAL);
    return l;
}

static bool is_host(rocl_kind k)
{
    return ROCL_HOST_KINDS >> k & 1;
}

static bool is_work(rocl_kind k)
{
    return ROCL_WORK_KINDS >> k & 1;
}

static bool holds(const item *outer, const item *inner)
{
    return outer->e.process == inner->e.process && outer->e.thread == inner->e.thread &&
           outer->e.start <= inner->e.start && outer->e.end >= inner->e.end;
}

/* The first call with a stack id, as timeline/links.h has it. */
static const item *find_call(const items *l, const item *of)
{
    const item *call = NULL;
    for (const item *i = l->all; of->e.stack_id && i < l->all + l->count; i++)
        if (i->c == of->c && (i->kind == ROCL_REGION || i->kind == ROCL_INSTANT) &&
            i->e.process == of->e.process && i->e.stack_id == of->e.stack_id &&
            (!call ||
             (i->kind != call->kind ? i->kind == ROCL_REGION
                                    : i->e.start < call->e.start ||
                                          (i->e.start == call->e.start && i->e.id < call->e.id))))
            call = i;
    return call;
}

/* ---- against the tables ---------------------------------------------------------------------- */

static const char *id_of(const rocl_event_ids *ids, const item *i, char *to, size_t size)
{
    rocl_buf b = {0};
    rocl_event_id_put(&b, ids, i->c, i->kind, i->e.id);
    snprintf(to, size, "%.*s", (int)b.len, (const char *)b.data);
    rocl_buf_free(&b);
    return to;
}

/* How many rows have a relation; *id: of the first of them. */
static size_t count_rows(const rocl_table *chain, const char *relation, const char **id)
{
    size_t n = 0;
    *id = "";
    for (size_t r = 0; r < chain->row_count; r++)
        if (!strcmp(rocl_datum_str(rocl_table_find_cell(chain, r, "relation")), relation) && !n++)
            *id = rocl_datum_str(rocl_table_find_cell(chain, r, "id"));
    return n;
}

static void check_work(const items *l, const rocl_event_ids *ids, const item *i,
                       const rocl_table *chain)
{
    char text[256];
    const char *id;
    const item *call = find_call(l, i);
    assert_int_equal(count_rows(chain, "call", &id), call != NULL);
    if (!call)
        return;
    assert_string_equal(id, id_of(ids, call, text, sizeof text));
    size_t around = 0;
    for (const item *o = l->all; o < l->all + l->count; o++)
        around += o != call && o->c == call->c &&
                  (o->kind == ROCL_REGION || o->kind == ROCL_MARKER) && holds(o, call) &&
                  (o->e.start < call->e.start || o->e.end > call->e.end || o->kind < call->kind ||
                   (o->kind == call->kind && o->e.id < call->e.id));
    assert_int_equal(count_rows(chain, "around", &id), around);
    size_t siblings = 0;
    for (const item *o = l->all; o < l->all + l->count; o++)
        siblings += o->c == i->c && is_work(o->kind) && o->e.process == i->e.process &&
                    o->e.stack_id == i->e.stack_id && !(o->kind == i->kind && o->e.id == i->e.id);
    assert_int_equal(count_rows(chain, "sibling", &id), siblings < 20 ? siblings : 20);
}

static void check_call(const items *l, const item *i, const rocl_table *chain)
{
    const char *id;
    size_t work = 0;
    for (const item *w = l->all; w < l->all + l->count; w++) {
        bool launched = false;
        if (w->c != i->c || !is_work(w->kind) || !w->e.stack_id || w->e.process != i->e.process)
            continue;
        if (w->e.stack_id == i->e.stack_id && i->kind != ROCL_MARKER)
            launched = find_call(l, w) == i;
        for (const item *o = l->all; !launched && o < l->all + l->count; o++)
            launched =
                o->c == i->c && o->e.stack_id == w->e.stack_id && is_host(o->kind) && o != i &&
                holds(i, o) &&
                !(o->e.start == i->e.start && o->e.end == i->e.end && o->kind != ROCL_INSTANT &&
                  (o->kind < i->kind || (o->kind == i->kind && o->e.id < i->e.id)));
        work += launched;
    }
    assert_int_equal(count_rows(chain, "work", &id), work < 20 ? work : 20);
}

static void check_every_event(const char *names, unsigned step)
{
    rocl_trace *t = open_fixtures(names, &(rocl_options){.jobs = 2});
    items l = list_events(t);
    rocl_event_ids ids;
    size_t works = 0, calls = 0;
    assert_int_equal(rocl_event_ids_open(&ids, t, NULL), ROCL_OK);
    for (size_t n = 0; n < l.count; n += step) {
        const item *i = &l.all[n];
        char id[256];
        rocl_tables *tables = NULL;
        rocl_error *err = rocl_error_new();
        rocl_status st = rocl_show_event(t, id_of(&ids, i, id, sizeof id), &tables, err);
        if (st > ROCL_PARTIAL)
            fail_msg("%s: %s", id, rocl_error_text(err));
        rocl_error_free(err);
        const rocl_table *event = rocl_tables_find(tables, "event");
        const rocl_table *chain = rocl_tables_find(tables, "chain");
        const char *first;
        assert_int_equal(event->row_count, 1);
        assert_string_equal(rocl_datum_str(rocl_table_find_cell(event, 0, "id")), id);
        assert_string_equal(rocl_datum_str(rocl_table_find_cell(event, 0, "kind")),
                            rocl_kind_name(i->kind));
        if (!(ROCL_VALUE_KINDS >> i->kind & 1)) {
            assert_int_equal(rocl_table_find_cell(event, 0, "start_ns")->i, i->e.start);
            assert_int_equal(count_rows(chain, "this", &first), 1);
            assert_string_equal(first, id);
        }
        if (is_work(i->kind)) {
            check_work(&l, &ids, i, chain);
            works++;
        } else if (is_host(i->kind)) {
            check_call(&l, i, chain);
            calls++;
        }
        rocl_tables_free(tables);
    }
    assert_true(works > 0 && calls > 0);
    rocl_event_ids_free(&ids);
    free(l.all);
    rocl_trace_close(t);
}

static void test_every_event(void **state)
{
    (void)state;
    check_every_event("everything", 7);
    check_every_event("rank0 rank1", 41);
    check_every_event("nasty-3.0.5", 3);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static rocl_status read_id(const rocl_event_ids *ids, const char *text, uint32_t *capture)
{
    const rocl_capture *c = NULL;
    rocl_kind kind;
    uint64_t number;
    rocl_status st = rocl_event_id_read(ids, text, &c, &kind, &number, NULL);
    *capture = st == ROCL_OK ? c->index : ROCL_NONE;
    return st;
}

/* What is written is read, and so is every longer beginning of the GUID; what others have as well
 * is not. */
static void test_ids(void **state)
{
    (void)state;
    rocl_trace *t =
        open_fixtures("node-rank0 node-rank1 node-rank2 node-rank3", &(rocl_options){0});
    rocl_event_ids ids;
    uint32_t capture;
    assert_int_equal(rocl_event_ids_open(&ids, t, NULL), ROCL_OK);
    for (uint32_t i = 0; i < rocl_trace_captures(t); i++) {
        const rocl_capture *c = rocl_trace_capture(t, i);
        const char *guid = rocl_text(t, c->guid, NULL);
        rocl_buf b = {0};
        rocl_event_id_put(&b, &ids, c, ROCL_DISPATCH, UINT64_MAX / 2);
        rocl_buf_byte(&b, 0);
        assert_int_equal(read_id(&ids, (const char *)b.data, &capture), ROCL_OK);
        assert_int_equal(capture, i);
        for (size_t n = strlen(ids.names[i]); n <= strlen(guid); n++) {
            char text[256];
            snprintf(text, sizeof text, "copy:%.*s:1", (int)n, guid);
            assert_int_equal(read_id(&ids, text, &capture), ROCL_OK);
            assert_int_equal(capture, i);
        }
        rocl_buf_free(&b);
    }
    static const char *const wrong[] = {"kernel:1",    "kernel",     "",          "kernel::1",
                                        "kernel:0:",   "kernel:0:x", "kernl:0:1", "kernel:0:1x",
                                        "kernel:zz:1", ":0:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(read_id(&ids, wrong[i], &capture), ROCL_USAGE);
    rocl_event_ids_free(&ids);
    rocl_trace_close(t);
    /* One capture need not be named. */
    t = open_fixtures("everything", &(rocl_options){0});
    assert_int_equal(rocl_event_ids_open(&ids, t, NULL), ROCL_OK);
    assert_int_equal(read_id(&ids, "kernel:1", &capture), ROCL_OK);
    rocl_event_ids_free(&ids);
    rocl_tables *tables;
    assert_int_equal(rocl_show_event(t, "kernel:123456789", &tables, NULL), ROCL_USAGE);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids),
                                       cmocka_unit_test(test_every_event)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

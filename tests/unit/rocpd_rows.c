/* Events as rows, and rows as sums of hashes. */
#include "tests/unit/rocpd.h"

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void put_int(row *r, int64_t v)
{
    r->hash = mix(r->hash ^ (uint64_t)v);
}

void put_null(row *r)
{
    r->hash = mix(r->hash + 0x6e756c6c);
}

void put_bytes(row *r, const char *p, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)p[i]) * 1099511628211u;
    put_int(r, (int64_t)h);
}

void put_text(row *r, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_text(t, text, &n);
    if (text == ROCL_NONE)
        put_null(r);
    else
        put_bytes(r, p, n);
}

/* Sums of instances may round differently. */
void put_real(row *r, double v)
{
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put_int(r, bits);
}

void add_row(digest *d, const row *r, int64_t start, int64_t end)
{
    d->rows++;
    d->start += (uint64_t)start;
    d->end += (uint64_t)end;
    d->hash += r->hash;
}

void assert_same(const char *what, const digest *ours, const digest *sql)
{
    if (!memcmp(ours, sql, sizeof *ours))
        return;
    print_error("%s: %llu rows, start %llu, end %llu, hash %llx; by SQL %llu, %llu, %llu, %llx\n",
                what, (unsigned long long)ours->rows, (unsigned long long)ours->start,
                (unsigned long long)ours->end, (unsigned long long)ours->hash,
                (unsigned long long)sql->rows, (unsigned long long)sql->start,
                (unsigned long long)sql->end, (unsigned long long)sql->hash);
    fail();
}

/* ---- our side -------------------------------------------------------------------------------- */

#define ID_OF(array, index) ((index) == ROCL_NONE ? put_null(r) : put_int(r, (array)[index].id))

static void put_event(row *r, const rocl_capture *c, const rocl_event *e)
{
    put_int(r, (int64_t)e->id);
    put_int(r, e->start);
    put_int(r, e->end);
    put_int(r, c->processes[e->process].pid);
    if (e->thread == ROCL_NONE)
        put_null(r);
    else
        put_int(r, c->threads[e->thread].tid);
    put_int(r, (int64_t)e->event_id);
    put_int(r, (int64_t)e->stack_id);
    put_int(r, (int64_t)e->parent_stack_id);
    put_int(r, e->correlation_id);
    put_text(r, c->trace, e->category);
}

static void put_dispatch(row *r, const rocl_capture *c, const rocl_dispatch *d)
{
    ID_OF(c->agents, d->agent);
    ID_OF(c->queues, d->queue);
    ID_OF(c->streams, d->stream);
    ID_OF(c->kernels, d->kernel);
    put_int(r, (int64_t)d->dispatch_id);
    put_int(r, d->private_segment);
    put_int(r, d->group_segment);
    for (unsigned i = 0; i < 3; i++) {
        put_int(r, d->workgroup[i]);
        put_int(r, d->grid[i]);
    }
    put_text(r, c->trace, d->region_name);
    put_int(r, (int64_t)d->graph_exec_id);
    put_int(r, (int64_t)d->graph_node_id);
}

static void put_copy(row *r, const rocl_capture *c, const rocl_copy *k)
{
    put_text(r, c->trace, k->e.name);
    ID_OF(c->agents, k->src);
    ID_OF(c->agents, k->dst);
    ID_OF(c->queues, k->queue);
    ID_OF(c->streams, k->stream);
    put_int(r, (int64_t)k->size);
    put_int(r, (int64_t)k->src_address);
    put_int(r, (int64_t)k->dst_address);
}

static void put_alloc(row *r, const rocl_capture *c, const rocl_alloc *a)
{
    ID_OF(c->agents, a->agent);
    ID_OF(c->queues, a->queue);
    ID_OF(c->streams, a->stream);
    put_int(r, a->op);
    put_int(r, a->level);
    put_int(r, (int64_t)a->size);
    put_int(r, (int64_t)a->address);
}

static void put_counter(row *r, const rocl_capture *c, uint32_t counter)
{
    const rocl_counter *k = counter == ROCL_NONE ? NULL : &c->counters[counter];
    put_text(r, c->trace, k ? k->name : ROCL_NONE);
    if (k)
        ID_OF(c->agents, k->agent);
    else
        put_null(r);
}

static void put_sample(row *r, const rocl_capture *c, const rocl_sample_value *v)
{
    const int64_t place[] = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp};
    put_counter(r, c, v->counter);
    put_real(r, v->value);
    for (size_t i = 0; i < COUNT(place); i++)
        put_int(r, place[i]);
}

static void put_hip(row *r, const rocl_capture *c, const rocl_hip *h)
{
    ID_OF(c->agents, h->agent);
    ID_OF(c->queues, h->queue);
    ID_OF(c->streams, h->stream);
    ID_OF(c->queues, h->source_queue);
    put_int(r, (int64_t)h->graph_exec_id);
    put_int(r, (int64_t)h->kernel_count);
}

static void put_record(row *r, const rocl_batch *b, size_t i)
{
    const rocl_capture *c = b->capture;
    if (b->kind != ROCL_COUNTER) /* a value has the event of its dispatch */
        put_event(r, c, rocl_batch_event(b, i));
    switch (b->kind) {
    case ROCL_DISPATCH:
        put_dispatch(r, c, &b->dispatches[i]);
        break;
    case ROCL_COPY:
        put_copy(r, c, &b->copies[i]);
        break;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        put_alloc(r, c, &b->allocs[i]);
        break;
    case ROCL_COUNTER:
        put_int(r, (int64_t)b->counters[i].d.e.id);
        put_counter(r, c, b->counters[i].counter);
        put_real(r, b->counters[i].value);
        break;
    case ROCL_SPM:
    case ROCL_SAMPLE:
        put_sample(r, c, &b->samples[i]);
        break;
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
        put_hip(r, c, &b->hips[i]);
        break;
    default:
        put_text(r, c->trace, b->regions[i].function);
    }
}

static rocl_status take_batch(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    sums *s = ctx;
    (void)worker;
    (void)err;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        row r = {0}, name = {0};
        put_record(&r, b, i);
        add_row(&s->of[b->capture->index][b->kind], &r, e->start, e->end);
        put_int(&name, (int64_t)e->id);
        put_text(&name, s->trace, e->name);
        add_row(&s->names[b->capture->index][b->kind], &name, e->start, e->end);
    }
    pthread_mutex_unlock(&s->lock);
    return ROCL_OK;
}

const char *fixtures_folder(void)
{
    const char *f = getenv("FIXTURES");
    if (!f)
        skip();
    return f;
}

/* Opens inputs (names apart by spaces) of the fixtures' folder. */
rocl_trace *open_fixtures(const char *names, const rocl_options *o)
{
    static char paths[CAPTURES_MAX][512];
    const char *inputs[CAPTURES_MAX];
    size_t n = 0;
    rocl_trace *t = NULL;
    rocl_error *err = rocl_error_new();
    for (const char *p = names; *p && n < CAPTURES_MAX; n++) {
        int len = (int)strcspn(p, " ");
        snprintf(paths[n], sizeof paths[n], "%s/%.*s.db", fixtures_folder(), len, p);
        inputs[n] = paths[n];
        p += len + (p[len] == ' ');
    }
    if (rocl_trace_open(&t, inputs, n, o, err) != ROCL_OK) {
        print_error("%s\n", rocl_error_text(err));
        fail();
    }
    rocl_error_free(err);
    return t;
}

rocl_trace *scan(const char *names, const rocl_options *o, sums *s)
{
    rocl_trace *t = open_fixtures(names, o);
    rocl_error *err = rocl_error_new();
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->trace = t;
    rocl_status st = rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, take_batch, s, err);
    if (st > ROCL_PARTIAL) {
        print_error("%s: %s\n", names, rocl_error_text(err));
        fail();
    }
    pthread_mutex_destroy(&s->lock);
    rocl_error_free(err);
    return t;
}

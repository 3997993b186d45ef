/* Writers of threads: made with the first event, a chunk at a time, done when the thread ends. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/core.h"

__thread rocl_self rocl_me;
static pthread_key_t at_thread_end;
static bool has_key;

/* An event is lost. */
static void drop_event(rocl_writer *w)
{
    if (!w->chunk) {
        rocl_core_count_lost(1);
        return;
    }
    rocl_chunk_reopen(w->chunk); /* at exit */
    atomic_store_explicit(&w->chunk->dropped, ++w->dropped, memory_order_relaxed);
}

/* ---- names and texts: each chunk holds those that its records refer to ----------------------- */

/* Two small tables remember what the chunk already holds; entries that were pushed out are written
 * again. Definitions belong to the trace with the event after them. */

_Atomic uint32_t rocl_next_name = 1;

uint32_t rocl_id_once(_Atomic uint32_t *at)
{
    uint32_t id = atomic_load_explicit(at, memory_order_relaxed);
    if (id)
        return id;
    uint32_t fresh = atomic_fetch_add(&rocl_next_name, 1);
    return atomic_compare_exchange_strong(at, &id, fresh) ? fresh : id;
}

uint32_t rocl_site_define(rocl_writer *w, rocl_site *site, size_t more)
{
    uint32_t id = rocl_id_once(&site->id);
    size_t category = strlen(site->category), name = strlen(site->name);
    size_t len = rocl_varint_size(id) + rocl_varint_size(category) + category + name;
    if (rocl_is_seen(w, id))
        return id;
    if (!rocl_reserve(w, len + ROCL_HOT + more))
        return 0;
    uint8_t *p = rocl_put_sized(w->pos, ROCL_REC_NAME, len);
    p = rocl_varint_put(p, id);
    p = rocl_put_string(p, site->category, category);
    memcpy(p, site->name, name);
    w->pos = p + name;
    rocl_set_seen(w, id);
    return id;
}

uint32_t rocl_def_id(rocl_writer *w, const rocl_def *d, size_t more, bool *ok)
{
    if (!d || rocl_is_seen(w, d->id))
        return d ? d->id : 0;
    uint32_t generation;
    do {
        generation = w->generation;
        rocl_def_id(w, d->ref, more, ok);
        *ok = *ok && rocl_reserve(w, d->len + ROCL_HOT + more);
    } while (*ok && w->generation != generation);
    if (!*ok)
        return 0;
    w->pos = rocl_put_record(w->pos, d->type, d->bytes, d->len);
    rocl_set_seen(w, d->id);
    return d->id;
}

static uint64_t mix_hash(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t hash_of(const char *s, size_t n)
{
    uint64_t h = n, v;
    for (; n >= 8; n -= 8, s += 8) {
        memcpy(&v, s, 8);
        h = mix_hash(h, v);
    }
    v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)s[i];
    return mix_hash(h, v);
}

uint32_t rocl_text_id(rocl_writer *w, const char *text, size_t len, size_t more)
{
    uint64_t hash = hash_of(text, len);
    rocl_seen_text *t = &w->texts[hash % ROCL_TEXTS];
    w->last_text = (uint32_t)(hash % ROCL_TEXTS);
    if (t->generation == w->generation && t->hash == hash && t->len == len &&
        !memcmp(w->content + t->at, text, len))
        return t->id;
    if (len > ROCL_CAP_TEXT_MAX) {
        drop_event(w);
        return 0;
    }
    if (!rocl_reserve(w, len + ROCL_HOT + more))
        return 0;
    t->hash = hash;
    /* Once more: reserving may begin a new chunk, which names what is open. */
    w->last_text = (uint32_t)(hash % ROCL_TEXTS);
    uint32_t id = w->next_text++;
    uint8_t *p = rocl_put_sized(w->pos, ROCL_REC_TEXT, rocl_varint_size(id) + len);
    p = rocl_varint_put(p, id);
    memcpy(p, text, len);
    t->generation = w->generation;
    t->at = (uint32_t)(p - w->content);
    t->len = (uint32_t)len;
    t->id = id;
    w->pos = p + len;
    return id;
}

/* ---- what a chunk begins with ---------------------------------------------------------------- */

static void put_open_record(rocl_writer *w, uint8_t type, const rocl_open *o, uint32_t id)
{
    uint8_t body[32], *p = rocl_varint_put(body, w->last > o->ticks ? w->last - o->ticks : 0);
    p = rocl_varint_put(p, id);
    if (type == ROCL_REC_OPEN_REGION)
        p = rocl_varint_put(p, o->correlation);
    w->pos = rocl_put_record(w->pos, type, body, (size_t)(p - body));
}

/* Regions and ranges that began in former chunks. `old` is the content of the last one. */
static void put_open_records(rocl_writer *w, const uint8_t *old)
{
    for (uint32_t i = 0; i < w->regions.depth && i < ROCL_OPEN_MAX; i++) {
        rocl_open *o = &w->regions.open[i];
        if (o->ticks)
            put_open_record(w, ROCL_REC_OPEN_REGION, o,
                            rocl_site_id(w, (rocl_site *)(uintptr_t)o->site, 0));
    }
    for (uint32_t i = 0; i < w->ranges.depth && i < ROCL_OPEN_MAX; i++) {
        rocl_open *o = &w->ranges.open[i];
        if (!o->ticks)
            continue;
        uint32_t id = rocl_text_id(w, (const char *)old + o->text, o->len, 0);
        o->text = w->texts[w->last_text].at;
        put_open_record(w, ROCL_REC_OPEN_RANGE, o, id);
    }
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void set_limit(rocl_writer *w, size_t need)
{
    uint8_t *last = w->end - ROCL_HOT;
    size_t step = need > ROCL_STEP ? need : ROCL_STEP;
    w->limit = last - w->pos > (ptrdiff_t)step ? w->pos + step : last;
}

static void end_chunk(rocl_core *c, rocl_chunk_header *h, const rocl_span *where, uint32_t flags)
{
    rocl_chunk_close(h, flags);
    uint64_t records = atomic_load_explicit(&h->progress, memory_order_relaxed) >> 32;
    rocl_given chunk = {*where, records, h->end.ticks};
    munmap(h, where->size);
    if (rocl_set.policy == ROCL_RING)
        rocl_file_give_up(c, &chunk);
}

/* Chunks of one size, so that any can take the place of any; of a few sizes where an event does not
 * fit. */
static size_t ring_chunk_size(size_t least)
{
    size_t n = (size_t)rocl_set.limit / 16;
    n = n > rocl_set.chunk ? rocl_set.chunk : n ? n : 1;
    while (n < least)
        n *= 2;
    return n;
}

static void use_chunk(rocl_writer *w, const rocl_core *c, rocl_chunk_header *h)
{
    const uint8_t *old = w->content;
    char name[sizeof w->name] = {0};
    rocl_chunk_prepare(h, w->where.size);
    w->generation++;
    w->next_text = 1;
    w->content = w->pos = (uint8_t *)h + ROCL_CHUNK_HEADER;
    w->end = (uint8_t *)h + w->where.size;
    w->limit = w->end - ROCL_HOT;
    w->events = 0;
    w->last = rocl_ticks();
    w->next_size = w->where.size * 4 < rocl_set.chunk ? w->where.size * 4 : rocl_set.chunk;
    memcpy(w->pos, c->preamble, c->preamble_len);
    w->pos += c->preamble_len;
    /* The name of the first thread is that of the program. */
    if (*w->name)
        memcpy(name, w->name, sizeof name);
    else if (w->tid == (uint32_t)getpid() || prctl(PR_GET_NAME, name) != 0)
        *name = '\0';
    w->pos = rocl_put_record(w->pos, ROCL_REC_THREAD, name, strnlen(name, sizeof name));
    put_open_records(w, old);
    if (w->dropped != w->reported) {
        uint8_t lost[ROCL_VARINT_MAX], *p = rocl_varint_put(lost, w->dropped - w->reported);
        w->pos = rocl_put_record(w->pos, ROCL_REC_LOST, lost, (size_t)(p - lost));
        w->reported = w->dropped;
    }
    h->tid = w->tid;
    h->writer = w->number;
    h->seq = w->seq++;
    atomic_store_explicit(&h->dropped, w->dropped, memory_order_relaxed);
    h->base = w->last;
    rocl_chunk_begin(h, c, w->where.size, 0, (size_t)(w->pos - w->content));
    w->gpu_last[ROCL_CLOCK_TICKS] = h->base;
    w->gpu_last[ROCL_CLOCK_MONOTONIC] = h->begin.monotonic;
    w->gpu_last[ROCL_CLOCK_BOOTTIME] = h->begin.boottime;
    w->gpu_last[ROCL_CLOCK_REALTIME] = h->begin.realtime;
    w->chunk = h;
}

static bool next_chunk(rocl_writer *w, rocl_core *c, size_t need)
{
    rocl_chunk_header *old = w->chunk, *h;
    rocl_span old_where = w->where;
    size_t least = ROCL_CHUNK_HEADER + c->preamble_len + 256 + need + ROCL_HOT;
    /* What is open is named again. */
    for (uint32_t i = 0; i < w->ranges.depth && i < ROCL_OPEN_MAX; i++)
        least += w->ranges.open[i].len + 40;
    for (uint32_t i = 0; i < w->regions.depth && i < ROCL_OPEN_MAX; i++) {
        const rocl_open *o = &w->regions.open[i];
        if (o->ticks)
            least += strlen(o->site->name) + strlen(o->site->category) + 60;
    }
    size_t size = rocl_set.policy == ROCL_RING ? ring_chunk_size(least) : w->next_size;
    h = rocl_file_chunk(c, least, size, &w->where);
    if (!h) {
        w->where = old_where;
        return false;
    }
    use_chunk(w, c, h);
    atomic_fetch_add(&c->chunks, 1);
    if (old)
        end_chunk(c, old, &old_where, 0);
    set_limit(w, need);
    return true;
}

static bool find_space(rocl_writer *w, size_t need)
{
    if (w->chunk && w->end - w->pos >= (ptrdiff_t)(need + ROCL_HOT)) {
        rocl_chunk_reopen(w->chunk);
        rocl_chunk_sync_now(w->chunk);
        set_limit(w, need);
        return true;
    }
    if (!rocl_core_work())
        return false;
    rocl_core *c = rocl_core_get();
    /* Asking the kernel for space for every event that is lost would take more time than the
     * program has: it is asked again after some time. */
    const uint64_t now = c ? rocl_ticks() : 0;
    bool found = false;
    if (c && now >= w->retry) {
        w->retry = now + c->tick_hz / 100;
        found = next_chunk(w, c, need);
        if (found)
            w->retry = 0;
    }
    rocl_core_rest();
    return found;
}

bool rocl_writer_reserve(rocl_writer *w, size_t need, uint64_t lost)
{
    int saved = errno;
    bool found = need <= 4 * ROCL_CAP_TEXT_MAX && find_space(w, need);
    if (!found && lost)
        drop_event(w);
    errno = saved;
    return found;
}

/* ---- what is lost ---------------------------------------------------------------------------- */

void rocl_count_interrupted(uint64_t lost)
{
    if (rocl_set.on || rocl_is_sealed())
        rocl_core_count_lost(lost);
}

/* ---- writers --------------------------------------------------------------------------------- */

/* Idle writers were used by threads that ended. */
static rocl_writer *take_writer(rocl_core *c)
{
    pthread_mutex_lock(&c->lock);
    rocl_writer *w = c->idle;
    if (w)
        c->idle = w->next_idle;
    pthread_mutex_unlock(&c->lock);
    return w ? w : rocl_wiped_pages(sizeof *w);
}

/* A writer that is there but not alive is of the parent, whose pages read as zeros here. */
rocl_writer *rocl_writer_make(uint64_t lost)
{
    int saved = errno;
    rocl_writer *w = NULL;
    if (rocl_core_work()) {
        rocl_core *c = rocl_core_get();
        if (c)
            w = rocl_me.writer ? rocl_me.writer : take_writer(c);
        if (w) {
            w->tid = (uint32_t)syscall(SYS_gettid);
            w->next_size = ROCL_FIRST;
            w->long_ago = c->tick_hz;
            pthread_mutex_lock(&c->lock);
            w->number = ++c->writer_count;
            if (!w->generation) {
                w->next = c->all;
                c->all = w;
            }
            pthread_mutex_unlock(&c->lock);
            w->generation++;
            w->alive = true;
            if (has_key)
                pthread_setspecific(at_thread_end, w);
            rocl_me.writer = w;
        }
        rocl_core_rest();
    }
    if (!w)
        rocl_core_count_lost(lost);
    errno = saved;
    return w;
}

static void end_thread(void *of)
{
    rocl_writer *w = of;
    int saved = errno;
    rocl_core *c = rocl_core_peek();
    rocl_me.busy = true;
    bool ours = c && w->alive; /* not of the parent */
    if (ours && !rocl_core_work()) {
        if (w->chunk)
            rocl_chunk_close(w->chunk, ROCL_CHUNK_LAST);
    } else if (ours) {
        if (w->chunk)
            end_chunk(c, w->chunk, &w->where, ROCL_CHUNK_LAST);
        /* Clears the state of the thread, but not that of the memory. */
        uint32_t generation = w->generation;
        rocl_writer *next = w->next;
        memset(w, 0, sizeof *w);
        w->generation = generation;
        w->next = next;
        pthread_mutex_lock(&c->lock);
        w->next_idle = c->idle;
        c->idle = w;
        pthread_mutex_unlock(&c->lock);
        rocl_core_rest();
    }
    rocl_me.writer = NULL;
    rocl_me.busy = false;
    errno = saved;
}

rocl_writer *rocl_writer_of(rocl_core *c, uint32_t tid)
{
    if (!rocl_core_work())
        return NULL;
    pthread_mutex_lock(&c->lock);
    rocl_writer *w = c->all;
    while (w && !(w->alive && w->tid == tid))
        w = w->next;
    pthread_mutex_unlock(&c->lock);
    rocl_core_rest();
    return w;
}

__attribute__((constructor)) static void create_key(void)
{
    has_key = pthread_key_create(&at_thread_end, end_thread) == 0;
}

/* The program exits. Its chunk is closed, but may be opened again: there may be destructors that
 * come after this one. Other threads may still run; their chunks are as good as closed ones, and
 * those that they begin from now on are not in the number that the chunk of the process has. */
__attribute__((destructor)) static void close_chunk_at_exit(void)
{
    rocl_core *c = rocl_core_peek();
    rocl_writer *w = rocl_me.writer;
    if (rocl_me.busy || !c)
        return;
    rocl_me.busy = true; /* a signal handler would make the sum wrong */
    atomic_signal_fence(memory_order_seq_cst);
    if (w && w->alive && w->chunk) {
        rocl_chunk_close(w->chunk, ROCL_CHUNK_LAST);
        w->limit = w->pos - 1;
    }
    rocl_leave();
    rocl_core_close(c);
}

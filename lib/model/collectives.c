/* Collectives, put together across ranks: see collectives.h. */
#include "model/collectives.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "model/kernel_class.h"
#include "model/kinds.h"
#include "model/steps.h"

/* ---- kinds ----------------------------------------------------------------------------------- */

const char *rocl_collective_name(rocl_collective_kind k)
{
    static const char *const names[ROCL_COLLECTIVE_KINDS] = {
        "other",  "allreduce", "allgather", "reducescatter", "alltoall",      "broadcast",
        "reduce", "gather",    "scatter",   "barrier",       "point to point"};
    return names[k];
}

rocl_collective_kind rocl_collective_kind_of(const char *name, size_t n)
{
    /* In lower case, without underscores; the first that is part of the name counts. */
    static const struct {
        const char *word;
        rocl_collective_kind kind;
    } words[] = {
        {"reducelocal", ROCL_COLLECTIVE_OTHER},   {"neighbor", ROCL_COLLECTIVE_OTHER},
        {"allreduce", ROCL_COLLECTIVE_ALLREDUCE}, {"crossdevicereduce", ROCL_COLLECTIVE_ALLREDUCE},
        {"allgather", ROCL_COLLECTIVE_ALLGATHER}, {"reducescatter", ROCL_COLLECTIVE_REDUCESCATTER},
        {"alltoall", ROCL_COLLECTIVE_ALLTOALL},   {"broadcast", ROCL_COLLECTIVE_BROADCAST},
        {"bcast", ROCL_COLLECTIVE_BROADCAST},     {"sendrecv", ROCL_COLLECTIVE_POINT},
        {"send", ROCL_COLLECTIVE_POINT},          {"recv", ROCL_COLLECTIVE_POINT},
        {"gather", ROCL_COLLECTIVE_GATHER},       {"scatter", ROCL_COLLECTIVE_SCATTER},
        {"barrier", ROCL_COLLECTIVE_BARRIER},     {"reduce", ROCL_COLLECTIVE_REDUCE}};
    char text[128];
    size_t len = 0;
    for (size_t i = 0; i < n && len + 1 < sizeof text && name[i] != '('; i++)
        if (name[i] != '_')
            text[len++] = (char)tolower((unsigned char)name[i]);
    text[len] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i].word))
            return words[i].kind;
    return ROCL_COLLECTIVE_OTHER;
}

rocl_meeting rocl_meeting_of(const char *name, size_t n)
{
    static const struct {
        const char *begin;
        rocl_meeting meeting;
    } families[] = {{"MPI_", ROCL_MEET_MPI},
                    {"PMPI_", ROCL_MEET_MPI},
                    {"nccl", ROCL_MEET_CALLS},
                    {"rccl", ROCL_MEET_CALLS}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const size_t len = strlen(families[i].begin);
        if (n <= len || strncasecmp(name, families[i].begin, len))
            continue;
        const rocl_collective_kind kind = rocl_collective_kind_of(name, n);
        const bool waits = families[i].meeting != ROCL_MEET_MPI || toupper(name[len]) != 'I';
        return waits && kind != ROCL_COLLECTIVE_OTHER && kind != ROCL_COLLECTIVE_POINT
                   ? families[i].meeting
                   : ROCL_MEETINGS;
    }
    return ROCL_MEETINGS;
}

double rocl_collective_bus_factor(rocl_collective_kind k, uint32_t n)
{
    const double share = n ? (double)(n - 1) / n : 0;
    const double factors[ROCL_COLLECTIVE_KINDS] = {
        [ROCL_COLLECTIVE_ALLREDUCE] = 2 * share, [ROCL_COLLECTIVE_ALLGATHER] = share,
        [ROCL_COLLECTIVE_REDUCESCATTER] = share, [ROCL_COLLECTIVE_ALLTOALL] = share,
        [ROCL_COLLECTIVE_GATHER] = share,        [ROCL_COLLECTIVE_SCATTER] = share,
        [ROCL_COLLECTIVE_BROADCAST] = n > 1,     [ROCL_COLLECTIVE_REDUCE] = n > 1};
    return factors[k];
}

/* Bytes of an element, by PyTorch's names of types; 0: unknown. */
static uint64_t size_of_type(const rocl_arg *a)
{
    static const struct {
        const char *word; /* what the name begins with, in any case; longer ones first */
        uint64_t size;
    } types[] = {{"float8", 1},      {"float16", 2},      {"float32", 4},        {"float64", 8},
                 {"bfloat16", 2},    {"float", 4},        {"half", 2},           {"double", 8},
                 {"complexhalf", 4}, {"complexfloat", 8}, {"complexdouble", 16}, {"int8", 1},
                 {"int16", 2},       {"int32", 4},        {"int64", 8},          {"uint8", 1},
                 {"uint16", 2},      {"uint32", 4},       {"uint64", 8},         {"int", 4},
                 {"long", 8},        {"short", 2},        {"byte", 1},           {"char", 1},
                 {"bool", 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t n = strlen(types[i].word);
        if (a->value_len >= n && !strncasecmp(a->value, types[i].word, n))
            return types[i].size;
    }
    return 0;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Interned as bytes: without holes. */
typedef struct participant_key {
    uint32_t rank, gpu_plus1; /* index in all GPUs + 1; 0: unknown */
} participant_key;

typedef struct signature {
    uint32_t kind, name; /* text: of the kernel */
    uint64_t bytes;
} signature;

enum { NAME, IN, OUT, TYPE, GROUP, RANKS, SIZE, SEQUENCE, WORDS };
static const char *const argument_names[WORDS] = {
    [NAME] = "Collective name",     [IN] = "In msg nelems",
    [OUT] = "Out msg nelems",       [TYPE] = "dtype",
    [GROUP] = "Process Group Name", [RANKS] = "Process Group Ranks",
    [SIZE] = "Group size",          [SEQUENCE] = "Seq"};

static unsigned word_of(const char *argument, size_t n)
{
    unsigned w = 0;
    while (w < WORDS && (n != strlen(argument_names[w]) || memcmp(argument, argument_names[w], n)))
        w++;
    return w;
}

bool rocl_is_of_collective(const char *argument, size_t n)
{
    return word_of(argument, n) < WORDS;
}

rocl_status rocl_collectives_open(rocl_collectives *c, rocl_trace *t, rocl_sorter *kernels,
                                  rocl_sorter *members, rocl_error *err)
{
    c->trace = t;
    c->kernels = kernels;
    c->members = members;
    c->participant_keys = rocl_strings_new();
    c->communicator_keys = rocl_strings_new();
    c->signatures = rocl_strings_new();
    c->known = calloc(t->opt.jobs, sizeof *c->known);
    return kernels && members && c->participant_keys && c->communicator_keys && c->signatures &&
                   c->known
               ? rocl_rank_list_make(&c->ranks, t, err)
               : rocl_fail_memory(err);
}

void rocl_collectives_close(rocl_collectives *c)
{
    for (unsigned w = 0; c->known && w < c->trace->opt.jobs; w++)
        rocl_ids_free(&c->known[w]);
    free(c->known);
    rocl_strings_free(c->participant_keys);
    rocl_strings_free(c->communicator_keys);
    rocl_strings_free(c->signatures);
    rocl_rank_list_free(&c->ranks);
    free(c->participants);
    free(c->communicators);
    free(c->participant_of);
    free(c->communicator_of);
    free(c->seen);
    free(c->lengths);
}

/* In what ranks meet that have a kernel, or a range, of this name. False: memory is out. */
static bool find_meeting(rocl_collectives *c, unsigned worker, uint32_t name, bool range,
                         uint32_t *meeting)
{
    const uint64_t key = (uint64_t)name << 1 | range;
    uint64_t number;
    size_t n, stem;
    *meeting = rocl_ids_get(&c->known[worker], key);
    if (*meeting != ROCL_NONE)
        return true;
    const char *text = rocl_strings_get(c->trace->strings, name, &n);
    *meeting = range ? rocl_meeting_of(text, n) : ROCL_MEETINGS;
    if (range && *meeting == ROCL_MEETINGS &&
        rocl_step_names_match(c->trace->steps, text, n, &stem, &number))
        *meeting = ROCL_MEET_STEPS;
    else if (!range &&
             (rocl_classify_kernel(c->trace->classes, text, n) == ROCL_CLASS_COMMUNICATION ||
              memmem(text, n, "nccl", 4) || memmem(text, n, "rccl", 4)))
        *meeting = ROCL_MEET_KERNELS;
    return rocl_ids_put(&c->known[worker], key, *meeting);
}

static uint64_t number_of(const rocl_arg *a)
{
    uint64_t v = 0;
    for (size_t i = 0; i < a->value_len; i++) {
        const unsigned digit = (unsigned)a->value[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return 0;
    }
    return v;
}

static rocl_status add_member(rocl_collectives *c, unsigned worker, const rocl_batch *b,
                              const rocl_event *e, const rocl_gpu *gpu,
                              const rocl_communicator *comm, const signature *s, uint64_t sequence,
                              rocl_error *err)
{
    const participant_key p = {c->ranks.of[b->capture->index][e->process],
                               gpu ? (uint32_t)(gpu - c->trace->gpus) + 1 : 0};
    const uint32_t who = rocl_strings_put(c->participant_keys, (const char *)&p, sizeof p);
    const uint32_t in = rocl_strings_put(c->communicator_keys, (const char *)comm, sizeof *comm);
    const uint32_t what = rocl_strings_put(c->signatures, (const char *)s, sizeof *s);
    if (who == ROCL_NONE || in == ROCL_NONE || what == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t key[4] = {(uint64_t)in << 32 | who, (uint64_t)e->start, b->capture->index,
                             rocl_row_word(e->id, b->kind)};
    const uint64_t numbers[] = {(uint64_t)(e->end - e->start), what, sequence};
    return rocl_add_numbers(c->kernels, worker, key, numbers, 3, err);
}

/* A kernel of communication: its collective is said by its arguments, else by its name. */
static rocl_status add_kernel(rocl_collectives *c, unsigned worker, const rocl_batch *b,
                              const rocl_dispatch *d, rocl_error *err)
{
    static const rocl_arg none = {.value = ""};
    rocl_strings *texts = c->trace->strings;
    const rocl_arg *of[WORDS];
    size_t n;
    for (unsigned w = 0; w < WORDS; w++)
        of[w] = &none;
    for (uint32_t i = 0; i < d->arg_count; i++) {
        const rocl_arg *a = &b->args[d->arg_first + i];
        const char *name = rocl_strings_get(texts, a->name, &n);
        const unsigned w = word_of(name, n);
        if (w < WORDS)
            of[w] = a;
    }
    const bool known = of[NAME] != &none;
    const uint64_t in = number_of(of[IN]), out = number_of(of[OUT]), size = number_of(of[SIZE]);
    const char *name = rocl_strings_get(texts, rocl_name_of(&d->e), &n);
    rocl_communicator comm = {.kernel = rocl_name_of(&d->e)};
    signature s = {.kind = known ? rocl_collective_kind_of(of[NAME]->value, of[NAME]->value_len)
                                 : rocl_collective_kind_of(name, n),
                   .name = rocl_name_of(&d->e)};
    if (known)
        comm = (rocl_communicator){
            .name = rocl_strings_put(texts, of[GROUP]->value, of[GROUP]->value_len),
            .ranks = rocl_strings_put(texts, of[RANKS]->value, of[RANKS]->value_len),
            .size = size < UINT32_MAX ? (uint32_t)size : 0};
    if (!known || __builtin_mul_overflow(in > out ? in : out, size_of_type(of[TYPE]), &s.bytes))
        s.bytes = 0;
    return add_member(c, worker, b, &d->e, rocl_gpu_of(b->capture, d->agent), &comm, &s,
                      known && of[SEQUENCE] != &none ? number_of(of[SEQUENCE]) + 1 : 0, err);
}

/* A call or marker in which ranks meet. */
static rocl_status add_range(rocl_collectives *c, unsigned worker, const rocl_batch *b,
                             const rocl_event *e, uint32_t meeting, rocl_error *err)
{
    const uint32_t text = rocl_name_of(e);
    uint64_t number;
    size_t n, stem;
    if (e->thread >= b->capture->thread_count ||
        (meeting == ROCL_MEET_STEPS && b->kind != ROCL_MARKER))
        return ROCL_OK;
    const char *name = rocl_strings_get(c->trace->strings, text, &n);
    rocl_communicator comm = {.kernel = text, .meeting = meeting};
    signature s = {.name = text, .kind = ROCL_COLLECTIVE_BARRIER};
    if (meeting != ROCL_MEET_STEPS)
        s.kind = rocl_collective_kind_of(name, n);
    else if (rocl_step_names_match(c->trace->steps, name, n, &stem, &number))
        comm.name = rocl_strings_put(c->trace->strings, name, stem);
    return comm.name == ROCL_NONE ? rocl_fail_memory(err)
                                  : add_member(c, worker, b, e, NULL, &comm, &s, 0, err);
}

rocl_status rocl_collectives_add(rocl_collectives *c, unsigned worker, const rocl_batch *b,
                                 rocl_error *err)
{
    const bool ranges = b->kind != ROCL_DISPATCH;
    const uint32_t wanted = ranges ? c->meetings : ROCL_BIT(ROCL_MEET_KERNELS);
    rocl_status st = ROCL_OK;
    if (ranges && (!c->meetings || c->ranks.count < 2))
        return ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        uint32_t meeting;
        if (!find_meeting(c, worker, rocl_name_of(e), ranges, &meeting))
            st = rocl_fail_memory(err);
        else if (wanted >> meeting & 1)
            st = ranges ? add_range(c, worker, b, e, meeting, err)
                        : add_kernel(c, worker, b, &b->dispatches[i], err);
    }
    return st;
}

/* ---- the order of participants and communicators --------------------------------------------- */

static const void *key_of(const rocl_strings *keys, uint32_t id)
{
    return rocl_strings_get(keys, id, NULL);
}

static int compare_participants(const void *a, const void *b, void *ctx)
{
    const rocl_collectives *c = ctx;
    const participant_key *x = key_of(c->participant_keys, *(const uint32_t *)a);
    const participant_key *y = key_of(c->participant_keys, *(const uint32_t *)b);
    const int order = rocl_number_order(x->rank, y->rank);
    return order ? order : rocl_number_order(x->gpu_plus1, y->gpu_plus1);
}

static int compare_communicators(const void *a, const void *b, void *ctx)
{
    const rocl_collectives *c = ctx;
    const uint32_t *x = key_of(c->communicator_keys, *(const uint32_t *)a);
    const uint32_t *y = key_of(c->communicator_keys, *(const uint32_t *)b);
    for (unsigned i = 0; i < 3; i++) { /* three texts, and two numbers */
        size_t n, m;
        const char *p = rocl_strings_get(c->trace->strings, x[i], &n);
        const char *q = rocl_strings_get(c->trace->strings, y[i], &m);
        const int order = rocl_compare_bytes(p, n, q, m);
        if (order)
            return order;
    }
    return x[3] != y[3] ? rocl_number_order(x[3], y[3]) : rocl_number_order(x[4], y[4]);
}
_Static_assert(offsetof(rocl_communicator, kernel) == 8 &&
                   offsetof(rocl_communicator, meeting) == 16,
               "communicators are compared as three texts and two numbers");

/* The ids of keys in an order: *of[id] is the position. Returns the ids, NULL: memory is out. */
static uint32_t *order_keys(const rocl_collectives *c, const rocl_strings *keys, uint32_t **of,
                            int (*compare)(const void *, const void *, void *))
{
    const size_t n = rocl_strings_count(keys);
    uint32_t *ids = calloc(n, sizeof *ids);
    *of = calloc(n, sizeof **of);
    for (uint32_t i = 1; ids && i < n; i++)
        ids[i - 1] = i;
    if (ids && n > 2)
        qsort_r(ids, n - 1, sizeof *ids, compare, (void *)(uintptr_t)c);
    for (uint32_t i = 1; ids && *of && i < n; i++)
        (*of)[ids[i - 1]] = i - 1;
    return ids;
}

static rocl_status order_all(rocl_collectives *c, rocl_error *err)
{
    uint32_t *who = order_keys(c, c->participant_keys, &c->participant_of, compare_participants);
    uint32_t *in = order_keys(c, c->communicator_keys, &c->communicator_of, compare_communicators);
    const size_t n = rocl_strings_count(c->participant_keys),
                 m = rocl_strings_count(c->communicator_keys);
    c->participants = calloc(n, sizeof *c->participants);
    c->communicators = calloc(m, sizeof *c->communicators);
    c->seen = calloc(m, sizeof *c->seen);
    c->lengths = calloc(m, sizeof *c->lengths);
    const bool ok = who && in && c->participant_of && c->communicator_of && c->participants &&
                    c->communicators && c->seen && c->lengths;
    for (size_t i = 0; ok && i + 1 < n; i++) {
        const participant_key *p = key_of(c->participant_keys, who[i]);
        c->participants[i] =
            (rocl_participant){p->rank, p->gpu_plus1 ? &c->trace->gpus[p->gpu_plus1 - 1] : NULL};
    }
    for (size_t i = 0; ok && i + 1 < m; i++)
        c->communicators[i] = *(const rocl_communicator *)key_of(c->communicator_keys, in[i]);
    c->participant_count = (uint32_t)(n - 1);
    c->communicator_count = (uint32_t)(m - 1);
    free(who);
    free(in);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* GPUs are in one array; without a GPU first. */
ROCL_COMPARE_MEMBERS(compare_places, rocl_participant, rank, gpu)

uint32_t rocl_collectives_find(const rocl_collectives *c, uint32_t rank, const rocl_gpu *gpu)
{
    const rocl_participant wanted = {rank, gpu},
                           *p = bsearch(&wanted, c->participants, c->participant_count,
                                        sizeof wanted, compare_places);
    return p ? (uint32_t)(p - c->participants) : ROCL_NONE;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* Where a participant is in the order of a communicator. */
typedef struct place {
    uint64_t key;      /* communicator and participant */
    uint64_t sequence; /* of the last kernel */
    uint32_t epoch;    /* how often sequence numbers were reset */
    uint32_t again;    /* number of earlier ones with this sequence number, or with none */
    uint64_t length;   /* ranges so far */
    int64_t until;     /* the end of the last range */
} place;

/* A participant has had all its ranges of a communicator: as many as the ones before it? */
static void end_place(rocl_collectives *c, const place *at)
{
    if (!at->length)
        return;
    uint64_t *length = &c->lengths[c->communicator_of[at->key >> 32]];
    *length = !*length || *length == at->length ? at->length : UINT64_MAX;
}

/* A larger drop of sequence numbers is a reset; after a smaller one kernels only began out of
 * order. */
enum { FALL = 64 };

/* Numbers the kernels of each participant. Passes on those from one rank to another. */
static rocl_status number_kernels(rocl_collectives *c, rocl_collective_fn *fn, void *ctx,
                                  rocl_error *err)
{
    place at = {.key = 0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(c->kernels, err);
    if (st == ROCL_OK)
        st = order_all(c, err);
    while (rocl_next_record(c->kernels, &rec, &st, err)) {
        uint64_t v[3]; /* duration, signature, sequence */
        rocl_read_numbers(&rec, v, 3);
        const uint32_t in = c->communicator_of[rec.key[0] >> 32],
                       who = c->participant_of[(uint32_t)rec.key[0]];
        if (rec.key[0] != at.key) {
            end_place(c, &at);
            at = (place){.key = rec.key[0], .sequence = UINT64_MAX, .until = INT64_MIN};
            c->seen[in]++;
        }
        if (c->communicators[in].meeting != ROCL_MEET_KERNELS) {
            if ((int64_t)rec.key[1] < at.until) /* a part of the last one */
                continue;
            at.until = (int64_t)(rec.key[1] + v[0]);
            at.length++;
        }
        const signature *s = key_of(c->signatures, (uint32_t)v[1]);
        if (s->kind == ROCL_COLLECTIVE_POINT) {
            const rocl_collective_member m = {who, (uint32_t)rec.key[2], rec.key[3],
                                              (int64_t)rec.key[1], (int64_t)(rec.key[1] + v[0])};
            const rocl_collective k = {in, 0, ROCL_COLLECTIVE_POINT, s->name, s->bytes, 1, false,
                                       &m, 1};
            st = fn(ctx, &k, err);
            continue;
        }
        at.again = at.sequence == v[2] ? at.again + 1 : 0;
        at.epoch += at.sequence != UINT64_MAX && v[2] + FALL < at.sequence;
        at.sequence = v[2];
        const uint64_t key[4] = {(uint64_t)in << 32 | at.epoch, v[2], at.again, who};
        const uint64_t numbers[] = {rec.key[1], v[0], v[1] << 32 | rec.key[2], rec.key[3]};
        st = rocl_add_numbers(c->members, 0, key, numbers, 4, err);
    }
    if (st == ROCL_OK)
        end_place(c, &at);
    return st;
}

/* A collective while its members come. */
typedef struct gathering {
    uint64_t key[3];
    rocl_collective k;
    rocl_collective_member *members;
    size_t cap;
} gathering;

static rocl_status hand_out(const rocl_collectives *c, gathering *g, rocl_collective_fn *fn,
                            void *ctx, rocl_error *err)
{
    if (!g->k.count)
        return ROCL_OK;
    const rocl_communicator *comm = &c->communicators[g->k.communicator];
    const uint32_t seen = c->seen[g->k.communicator];
    g->k.expected = comm->size ? comm->size : seen > 1 ? seen : 0;
    g->k.mixed |= c->lengths[g->k.communicator] == UINT64_MAX;
    g->k.members = g->members;
    const rocl_status st = fn(ctx, &g->k, err);
    g->k = (rocl_collective){0};
    return st;
}

rocl_status rocl_collectives_match(rocl_collectives *c, rocl_collective_fn *fn, void *ctx,
                                   rocl_error *err)
{
    gathering g = {.cap = 0};
    rocl_sort_record rec;
    rocl_status st = number_kernels(c, fn, ctx, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(c->members, err);
    while (rocl_next_record(c->members, &rec, &st, err)) {
        uint64_t v[4]; /* start, duration, signature and capture, row */
        rocl_read_numbers(&rec, v, 4);
        const signature *s = key_of(c->signatures, (uint32_t)(v[2] >> 32));
        if (g.k.count && memcmp(g.key, rec.key, sizeof g.key))
            st = hand_out(c, &g, fn, ctx, err);
        if (st == ROCL_OK && !ROCL_GROW(g.members, g.cap, (size_t)g.k.count + 1))
            st = rocl_fail_memory(err);
        if (st != ROCL_OK)
            break;
        if (!g.k.count) {
            memcpy(g.key, rec.key, sizeof g.key);
            g.k = (rocl_collective){.communicator = (uint32_t)(rec.key[0] >> 32),
                                    .number = rec.key[1] ? rec.key[1] - 1 : rec.key[2] + 1,
                                    .kind = (rocl_collective_kind)s->kind,
                                    .name = s->name};
        }
        g.k.mixed |= g.k.count && g.members[g.k.count - 1].participant == (uint32_t)rec.key[3];
        g.k.mixed |= g.k.kind != (rocl_collective_kind)s->kind;
        g.k.bytes = s->bytes > g.k.bytes ? s->bytes : g.k.bytes;
        g.members[g.k.count++] = (rocl_collective_member){
            (uint32_t)rec.key[3], (uint32_t)v[2], v[3], (int64_t)v[0], (int64_t)(v[0] + v[1])};
    }
    if (st == ROCL_OK)
        st = hand_out(c, &g, fn, ctx, err);
    free(g.members);
    return st;
}

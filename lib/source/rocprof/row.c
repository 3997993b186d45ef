/* Rows of named fields -> records: see row.h. */
#include "source/rocprof/row.h"

#include <stdlib.h>

#include "model/copies.h"
#include "source/rtg/line.h"

_Static_assert(ROCPROF_COLUMNS <= 64, "a set of columns is a word");

/* ---- columns and tables ---------------------------------------------------------------------- */

/* Is a name one of the words, which are separated by blanks? */
static bool is_one_of(const char *words, const char *name, size_t n)
{
    for (const char *p = words; *p;) {
        const char *end = strchrnul(p, ' ');
        if ((size_t)(end - p) == n && !memcmp(p, name, n))
            return true;
        p = *end ? end + 1 : end;
    }
    return false;
}

rocprof_column rocprof_column_of(rocl_view name)
{
    static const char *const names[ROCPROF_ALL_COLUMNS] = {
#define ROCPROF_COLUMN(column, names) [ROCPROF_##column] = names,
        ROCPROF_COLUMN_TABLE(ROCPROF_COLUMN) ROCPROF_PACKET_TABLE(ROCPROF_COLUMN)
#undef ROCPROF_COLUMN
            [ROCPROF_OTHER] = "",
    };
    char bare[32];
    size_t n = 0, stem = 0; /* of NAME_1 what is before the last '_' */
    for (size_t i = 0; i < name.n; i++) {
        const char c = name.p[i];
        if (c == '_')
            stem = n;
        else if (c < '0' || c > '9')
            stem = 0;
        if (c == '-' || c == '_' || c == ' ')
            continue;
        if (n == sizeof bare)
            return ROCPROF_OTHER;
        bare[n++] = c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
    }
    for (int i = 0; n && i < ROCPROF_ALL_COLUMNS; i++)
        if (is_one_of(names[i], bare, n))
            return (rocprof_column)i;
    for (int i = 0; stem && i < ROCPROF_ALL_COLUMNS; i++)
        if (is_one_of(names[i], bare, stem))
            return ROCPROF_IGNORED;
    return ROCPROF_OTHER;
}

#define BIT(column) ROCPROF_BIT(column)

rocprof_table rocprof_table_of(uint64_t columns)
{
    static const struct {
        rocprof_table table;
        uint64_t columns;
    } tables[] = {
        /* those that say more come first */
        {ROCPROF_AGENTS, BIT(NODE) | BIT(AGENT_TYPE)},
        {ROCPROF_PC_SAMPLES, BIT(INSTRUCTION) | BIT(SAMPLE_TIME)},
        {ROCPROF_PC_SAMPLES, BIT(INSTRUCTION) | BIT(DISPATCH)},
        {ROCPROF_SPM, BIT(COUNTER) | BIT(VALUE) | BIT(TIME)},
        {ROCPROF_COUNTERS, BIT(COUNTER) | BIT(VALUE)},
        {ROCPROF_GRAPHS, BIT(GRAPH_EXEC) | BIT(KERNEL_COUNT)},
        {ROCPROF_HIP_EVENTS, BIT(OPERATION) | BIT(SOURCE_QUEUE)},
        {ROCPROF_COPIES, BIT(DIRECTION) | BIT(KIND)},
        {ROCPROF_COPIES, BIT(DIRECTION) | BIT(START)},
        {ROCPROF_SCRATCHES, BIT(OPERATION) | BIT(FLAGS)},
        {ROCPROF_ALLOCATIONS, BIT(OPERATION) | BIT(ADDRESS)},
        {ROCPROF_ALLOCATIONS, BIT(OPERATION) | BIT(SIZE)},
        {ROCPROF_OPS, BIT(OPERATION) | BIT(DOMAIN)},
        {ROCPROF_RANGE_ENDS, BIT(RANGE) | BIT(DOMAIN)},
        {ROCPROF_CALLS, BIT(FUNCTION) | BIT(DOMAIN)},
        {ROCPROF_DISPATCHES, BIT(KERNEL_NAME)},
        {ROCPROF_DISPATCHES, BIT(KIND) | BIT(QUEUE)},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if ((columns & tables[i].columns) == tables[i].columns)
            return tables[i].table;
    return ROCPROF_UNKNOWN;
}

const char *rocprof_missing_column(rocprof_table table, uint64_t columns)
{
    static const struct {
        rocprof_column column;
        const char *name;
    } names[] = {{ROCPROF_KERNEL_NAME, "Kernel_Name"}, {ROCPROF_START, "Start_Timestamp"},
                 {ROCPROF_END, "End_Timestamp"},       {ROCPROF_TIME, "Timestamp"},
                 {ROCPROF_SIZE, "Allocation_Size"},    {ROCPROF_ADDRESS, "Address"}};
    const uint64_t times = BIT(START) | BIT(END);
    static const uint64_t needs[ROCPROF_TABLES] = {
        [ROCPROF_CALLS] = BIT(START) | BIT(END),
        [ROCPROF_DISPATCHES] = BIT(KERNEL_NAME),
        [ROCPROF_COPIES] = BIT(START) | BIT(END),
        [ROCPROF_OPS] = BIT(START) | BIT(END),
        [ROCPROF_ALLOCATIONS] = BIT(SIZE) | BIT(ADDRESS) | BIT(START) | BIT(END),
        [ROCPROF_SCRATCHES] = BIT(START) | BIT(END),
        [ROCPROF_RANGE_ENDS] = BIT(TIME),
        [ROCPROF_GRAPHS] = BIT(START) | BIT(END),
        [ROCPROF_HIP_EVENTS] = BIT(START) | BIT(END),
    };
    uint64_t need = needs[table];
    /* Runs for counters have dispatches without times; traces always have both times. */
    if (columns & times || (table == ROCPROF_DISPATCHES && columns & BIT(KIND)))
        need |= times;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((need & ~columns) >> names[i].column & 1)
            return names[i].name;
    return NULL;
}

bool rocprof_intern_words(rocprof_words *w, rocl_trace *t)
{
    /* In the order of the members. */
    static const char *const words[] = {"HIP_RUNTIME_API",
                                        "HSA_CORE_API",
                                        "MARKER_CORE_RANGE_API",
                                        "MARKER_CORE_API",
                                        "KERNEL_DISPATCH",
                                        "MEMORY_COPY",
                                        "BARRIER_PACKET",
                                        "MEMORY_ALLOCATION",
                                        "SCRATCH_MEMORY",
                                        "PC_SAMPLING",
                                        "GRAPH_LAUNCH",
                                        "HIP_EVENT",
                                        "SPM"};
    _Static_assert(sizeof *w == sizeof words / sizeof *words * sizeof w->hip, "a text for each");
    return rocl_intern_words(t, words, sizeof words / sizeof *words, &w->hip);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static inline bool are_eight_digits(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return (w & 0xf0f0f0f0f0f0f0f0) == 0x3030303030303030 &&
           ((w + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) == 0x3030303030303030;
}

/* Most numbers of a row have few digits; times are left to rtg_number(), which takes eight digits
 * at once. */
static inline bool read_decimal(const char *p, size_t n, uint64_t *v)
{
    uint64_t number = 0;
    unsigned worst = n - 1 < 19 ? 0 : 10; /* no digits, or too many for 64 bits */
    if (n >= 8 && n < 20)
        return are_eight_digits(p) && are_eight_digits(p + n - 8) &&
               (n <= 16 || are_eight_digits(p + 8)) && rtg_number((rocl_view){p, n}, v);
    for (const char *end = p + (worst ? 0 : n); p < end; p++) {
        const unsigned digit = (unsigned)(*p - '0');
        worst = digit > worst ? digit : worst;
        number = number * 10 + digit;
    }
    *v = number;
    return worst < 10;
}

bool rocprof_decimal(rocl_view s, uint64_t *v)
{
    return read_decimal(s.p, s.n, v);
}

/* Decimal, or hexadecimal with 0x. pandas writes whole numbers as 1.0 in columns with gaps, and
 * means of times (rocprof-compute) with a fraction, which is rounded. */
static bool read_number(rocl_view s, uint64_t *v)
{
    if (read_decimal(s.p, s.n, v))
        return true;
    const char *point = memchr(s.p, '.', s.n);
    if (point && point > s.p && point + 1 < s.p + s.n) {
        if (!read_decimal(s.p, (size_t)(point - s.p), v))
            return false;
        *v += point[1] >= '5';
        for (const char *p = point + 1; p < s.p + s.n; p++)
            if (*p < '0' || *p > '9')
                return false;
        return true;
    }
    if (s.n < 3 || s.n > 18 || s.p[0] != '0' || (s.p[1] | 32) != 'x')
        return false;
    *v = 0;
    for (size_t i = 2; i < s.n; i++) {
        const char c = (char)(s.p[i] | 32);
        const unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
        if (digit > 15)
            return false;
        *v = *v << 4 | digit;
    }
    return true;
}

/* A number of a row; ROCL_NO_KEY: missing, or not a number (*bad). */
static uint64_t take_odd_number(rocl_view text, bool *bad)
{
    uint64_t number;
    if (!text.n)
        return ROCL_NO_KEY;
    if (read_number(text, &number))
        return number;
    *bad |= !rocl_view_is(text, "None");
    return ROCL_NO_KEY;
}

static inline uint64_t take_number(const rocprof_row *row, rocprof_column c, bool *bad)
{
    const rocprof_value *v = &row->value[c];
    uint64_t number;
    if (!rocprof_row_has(row, c))
        return ROCL_NO_KEY;
    if (!v->text.p)
        return (uint64_t)v->number;
    return read_decimal(v->text.p, v->text.n, &number) ? number : take_odd_number(v->text, bad);
}

/* For what is kept in a signed number. */
static uint64_t number_or_zero(const rocprof_row *row, rocprof_column c, bool *bad)
{
    const uint64_t v = take_number(row, c, bad);
    *bad |= v > INT64_MAX && v != ROCL_NO_KEY;
    return v > INT64_MAX ? 0 : v;
}

static rocl_view take_text(const rocprof_row *row, rocprof_column c)
{
    return rocprof_row_has(row, c) && row->value[c].text.p ? row->value[c].text
                                                           : (rocl_view){"", 0};
}

/* "Agent 4", "GPU 0", "CPU 1", or a number alone. The first of each kind are different keys. */
static uint64_t take_agent(const rocprof_row *row, rocprof_column c, rocl_agent_type *type,
                           bool *bad)
{
    const rocprof_value *v = &row->value[c];
    uint64_t number;
    if (!rocprof_row_has(row, c))
        return ROCL_NO_KEY;
    if (!v->text.p)
        return v->number < 0 ? ROCL_NO_KEY : (uint64_t)v->number;
    const char *blank = memchr(v->text.p, ' ', v->text.n), *end = v->text.p + v->text.n;
    const char *digits = blank ? blank + 1 : v->text.p;
    if (!read_decimal(digits, (size_t)(end - digits), &number) || number > UINT32_MAX) {
        /* AMD's converter of databases writes """" for no agent. */
        *bad |= v->text.n && !rocl_view_is(v->text, "None") && !rocl_view_is(v->text, "\"");
        return ROCL_NO_KEY;
    }
    const char first = v->text.p[0];
    if (first == 'C')
        *type = ROCL_AGENT_CPU;
    if (first == 'G')
        *type = ROCL_AGENT_GPU;
    return first == 'G' || first == 'C' ? (uint64_t)*type << 32 | number : number;
}

/* The name of a kernel: rocprof stores it with its quotes, where it does not write CSV. */
static rocl_view without_quotes(rocl_view s)
{
    if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
        return (rocl_view){s.p + 1, s.n - 2};
    return s;
}

/* ---- records --------------------------------------------------------------------------------- */

/* A record with a malformed value is kept without it. */
static void count_bad_value(rocl_records *to, const rocprof_row *row, bool bad)
{
    if (bad)
        rocl_record_fault(to, row->where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
}

static bool says_time(const rocprof_row *row, rocprof_column c)
{
    const rocl_view text = row->value[c].text;
    return rocprof_row_has(row, c) && (!text.p || (text.n && !rocl_view_is(text, "None")));
}

/* Counts a bad time by its kind. */
static void count_bad_time(rocl_records *to, const rocprof_row *row, rocprof_column c)
{
    rocl_record_fault(to, row->where, ROCL_FAULT_BAD_TIME, rocl_time_fault(take_text(row, c), 1));
}

/* The time of a moment; false: it was counted as a fault. */
static bool take_moment(rocl_records *to, const rocprof_row *row, rocprof_column c, int64_t *time)
{
    bool bad = false;
    *time = (int64_t)take_number(row, c, &bad);
    const bool good = !bad && rocprof_row_has(row, c) && (*time >= 0 || !row->value[c].text.p);
    if (!good)
        count_bad_time(to, row, c);
    return good;
}

/* Takes what all tables have. False: the record was counted as a fault. */
static bool take_common(rocl_records *to, rocl_source_record *r, rocprof_table table,
                        const rocprof_row *row)
{
    const bool says_start = says_time(row, ROCPROF_START), says_end = says_time(row, ROCPROF_END);
    bool bad = false, bad_start = false, bad_end = false;
    const uint64_t start = take_number(row, ROCPROF_START, &bad_start),
                   end = take_number(row, ROCPROF_END, &bad_end);
    r->process = take_number(
        row, rocprof_row_has(row, ROCPROF_PROC_ID) ? ROCPROF_PROC_ID : ROCPROF_PROCESS, &bad);
    if (rocprof_row_has(row, ROCPROF_GUID) && row->value[ROCPROF_GUID].text.n) {
        r->pid = r->process == ROCL_NO_KEY ? 0 : r->process;
        r->process = ROCL_KEY_OF_TEXT | rocl_records_text(to, row->value[ROCPROF_GUID].text);
    }
    r->thread = take_number(row, ROCPROF_THREAD, &bad);
    r->queue = take_number(row, ROCPROF_QUEUE, &bad);
    r->stream = take_number(row, ROCPROF_STREAM, &bad);
    r->link = take_number(row, ROCPROF_LINK, &bad);
    if (!r->link)
        r->link = ROCL_NO_KEY; /* 0 is what has none */
    r->agent = take_agent(row, ROCPROF_AGENT, &r->agent_type, &bad);
    r->scope = row->scope;
    r->id = row->id;
    r->as.e.start = says_start ? (int64_t)start : 0;
    r->as.e.end = says_end ? (int64_t)end : 0;
    bad_start |= r->as.e.start < 0 && row->value[ROCPROF_START].text.p;
    bad_end |= r->as.e.end < 0 && row->value[ROCPROF_END].text.p;
    /* Dispatches of runs for counters have no times; other tables have columns of their own. */
    const bool moment =
        table == ROCPROF_RANGE_ENDS || table == ROCPROF_PC_SAMPLES || table == ROCPROF_SPM;
    const bool counted = table == ROCPROF_DISPATCHES || table == ROCPROF_COUNTERS;
    const bool lacks = counted ? says_start != says_end : !moment && !(says_start && says_end);
    if (bad_start || bad_end)
        count_bad_time(to, row, bad_start ? ROCPROF_START : ROCPROF_END);
    else if (lacks)
        rocl_record_fault(to, row->where, ROCL_FAULT_BAD_TIME, "a time is missing");
    else
        count_bad_value(to, row, bad);
    return !bad_start && !bad_end && !lacks;
}

/* Dimensions by axis, or products of them, which are kept as the first axis. */
static void take_dimensions(const rocprof_row *row, rocprof_column product, rocprof_column x,
                            uint32_t to[3], bool *bad)
{
    const uint64_t n = take_number(row, product, bad);
    for (int i = 0; i < 3; i++) {
        const uint64_t v = take_number(row, x + (unsigned)i, bad);
        to[i] = v <= UINT32_MAX ? (uint32_t)v : 1;
        *bad |= v > UINT32_MAX && v != ROCL_NO_KEY;
    }
    if (n <= UINT32_MAX)
        to[0] = (uint32_t)n;
    *bad |= n > UINT32_MAX && n != ROCL_NO_KEY;
}

static bool read_real(const rocprof_counter *c, double *v)
{
    char text[64], *end;
    const rocl_view s = c->value.text;
    *v = c->real;
    if (!s.p)
        return true;
    if (!s.n || s.n >= sizeof text)
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    *v = strtod(text, &end);
    return !*end && *v - *v == 0;
}

/* The known fields of the packet. Malformed ones are unknown. */
static void take_packet(const rocprof_row *row, rocl_packet *p)
{
    static const uint32_t bits[] = {[ROCPROF_QUEUE_INDEX - ROCPROF_OTHER] = ROCL_PACKET_INDEX,
                                    [ROCPROF_WAVE_SIZE - ROCPROF_OTHER] = ROCL_PACKET_WAVE_SIZE,
                                    [ROCPROF_SIGNAL - ROCPROF_OTHER] = ROCL_PACKET_SIGNAL,
                                    [ROCPROF_OBJECT - ROCPROF_OTHER] = ROCL_PACKET_OBJECT};
    uint64_t number[ROCPROF_ALL_COLUMNS - ROCPROF_OTHER] = {0};
    const uint32_t times = ROCPROF_PACKET_BIT(SUBMITTED) | ROCPROF_PACKET_BIT(COMPLETED);
    uint32_t has = 0;
    bool bad = false;
    *p = (rocl_packet){.known = row->of_v1 ? ROCL_PACKET_V1 : 0};
    for (unsigned i = 1; i <= ROCPROF_BARRIER_BIT - ROCPROF_OTHER; i++) {
        const rocprof_value *v = &row->value[ROCPROF_OTHER + i];
        if (!(row->has_packet >> i & 1))
            continue;
        number[i] = v->text.p ? take_odd_number(v->text, &bad) : (uint64_t)v->number;
        has |= number[i] == ROCL_NO_KEY ? 0 : 1u << i;
    }
    for (unsigned i = 1; i < sizeof bits / sizeof *bits; i++)
        p->known |= has >> i & 1 ? bits[i] : 0;
    p->queue_index = number[ROCPROF_QUEUE_INDEX - ROCPROF_OTHER];
    p->wave_size = (uint32_t)number[ROCPROF_WAVE_SIZE - ROCPROF_OTHER];
    p->signal = number[ROCPROF_SIGNAL - ROCPROF_OTHER];
    p->object = number[ROCPROF_OBJECT - ROCPROF_OTHER];
    if (row->of_v1 && row->has & (ROCPROF_BIT(INDEX) | ROCPROF_BIT(DISPATCH)))
        p->known |= ROCL_PACKET_NUMBER;
    if (row->has_packet & ROCPROF_PACKET_BIT(BARRIER_BIT))
        p->known |= ROCL_PACKET_REGISTERS;
    if (row->without_db)
        p->known |= ROCL_PACKET_WITHOUT_DB;
    if (row->quotes)
        p->known |= ROCL_PACKET_QUOTES;
    const uint64_t start = take_number(row, ROCPROF_START, &bad),
                   end = take_number(row, ROCPROF_END, &bad);
    if ((has & times) == times && start != ROCL_NO_KEY && end != ROCL_NO_KEY) {
        p->known |= ROCL_PACKET_TIMES;
        p->before = (int64_t)(start - number[ROCPROF_SUBMITTED - ROCPROF_OTHER]);
        p->after = (int64_t)(number[ROCPROF_COMPLETED - ROCPROF_OTHER] - end);
    }
}

/* A dispatch with the counters of its row; or the value of one counter, with the dispatch if no
 * other table has it. Of a dispatch without times only counters are put. */
static rocl_status put_dispatch(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                                const rocprof_row *row, bool counters_only, rocl_error *err)
{
    bool bad = false;
    rocl_key_facts symbol = {.sgpr = (int64_t)number_or_zero(row, ROCPROF_SGPR, &bad),
                             .arch_vgpr = (int64_t)number_or_zero(row, ROCPROF_VGPR, &bad),
                             .accum_vgpr = (int64_t)number_or_zero(row, ROCPROF_ACCUM_VGPR, &bad)};
    rocl_dispatch *d = &r->as.dispatch;
    rocl_packet packet;
    rocl_status st = ROCL_OK;
    r->name = take_text(row, ROCPROF_KERNEL_NAME);
    if (!row->of_csv)
        r->name = without_quotes(r->name);
    r->symbol = &symbol;
    symbol.is_function = row->of_v1 && rocl_kernel_length(r->name.p, r->name.n) == r->name.n;
    d->e.category = w->kernel;
    d->private_segment = symbol.private_segment =
        (int64_t)number_or_zero(row, ROCPROF_SCRATCH, &bad);
    d->group_segment = symbol.group_segment = (int64_t)number_or_zero(row, ROCPROF_LDS, &bad);
    take_dimensions(row, ROCPROF_WORKGROUP, ROCPROF_WORKGROUP_X, d->workgroup, &bad);
    take_dimensions(row, ROCPROF_GRID, ROCPROF_GRID_X, d->grid, &bad);
    d->dispatch_id = number_or_zero(
        row, rocprof_row_has(row, ROCPROF_DISPATCH) ? ROCPROF_DISPATCH : ROCPROF_INDEX, &bad);
    r->row = take_number(row, ROCPROF_DISPATCH, &bad);
    d->kernel_id = (int64_t)number_or_zero(row, ROCPROF_KERNEL, &bad);
    count_bad_value(to, row, bad);
    const bool timed = says_time(row, ROCPROF_START) && says_time(row, ROCPROF_END),
               valid = d->e.end >= d->e.start && (d->e.end || !d->e.start);
    /* One fault per row: if the times are wrong, the values have none either. */
    r->once = r->row != ROCL_NO_KEY && (counters_only || rocprof_row_has(row, ROCPROF_XCC));
    if ((row->has_packet || row->of_v1) && !r->once &&
        rocl_records_want_fields(to, ROCL_FIELD_PACKET)) {
        take_packet(row, &packet);
        r->packet = &packet;
    }
    if (timed && (!counters_only || (row->puts_dispatch && valid)))
        st = rocl_record_put(to, r, err);
    bool said = timed || counters_only;
    r->once = false;
    for (size_t i = 0; i < row->counter_count && st == ROCL_OK && (valid || counters_only); i++) {
        const rocl_view value = row->counters[i].value.text;
        if (r->packet && value.n && memchr(value.p, '.', value.n))
            packet.known |= ROCL_PACKET_FRACTION;
        else if (r->packet)
            packet.known &= ~(uint32_t)ROCL_PACKET_FRACTION;
        if (!counters_only && (rocl_view_is(value, "None") || (value.p && !value.n)))
            continue; /* a column that was not collected for this row */
        r->kind = ROCL_COUNTER;
        r->counter = row->counters[i].name;
        if (read_real(&row->counters[i], &r->as.counter.value))
            st = rocl_record_put(to, r, err);
        else
            rocl_record_fault(to, r->where, ROCL_FAULT_NO_NUMBER,
                              "the value of a counter is not a number");
        said = true;
    }
    return said || st != ROCL_OK
               ? st
               : rocl_record_fault(to, row->where, ROCL_FAULT_BAD_TIME, "a dispatch without times");
}

/* "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice", "Memcpy HtoD (Host -> Device)": which ends are
 * on the row's GPU. */
static void take_copy_ends(rocl_source_record *r, rocl_view name)
{
    bool src = false, dst = true;
    r->ends_unknown = !rocl_copy_ends(name, &src, &dst);
    r->src = src ? r->agent : ROCL_NO_KEY;
    r->dst = dst ? r->agent : ROCL_NO_KEY;
}

static bool begins_like_copy(rocl_view name)
{
    static const char *const copies[] = {"CopyHost",  "CopyDevice",   "Memcpy",
                                         "hipMemcpy", "FillBuffer",   "async-copy",
                                         "COPY",      "MEMORY_COPY_", "UnknownCopy"};
    bool found = false;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        found |= rocl_view_begins(name, copies[i]);
    return found;
}

bool rocprof_is_copy(rocl_view name)
{
    return begins_like_copy(name) &&
           !memchr(name.p, '(', name.n); /* else a kernel that is called like it */
}

bool rocprof_is_kernel_among_copies(rocl_view name)
{
    return !begins_like_copy(name) &&
           (rocl_view_find(name, "Memcpy") || rocl_view_find(name, "Copy") ||
            rocl_view_find(name, "Fill"));
}

static rocl_status put_kernel_or_barrier(rocl_records *to, const rocprof_words *w,
                                         rocl_source_record *r, rocl_view name, rocl_error *err)
{
    static const rocl_key_facts function = {.is_function = true};
    static const char *const barriers[] = {"Marker", "\"<barrier packet>\"", "<barrier packet>",
                                           "Barrier"};
    r->name = without_quotes(name);
    const bool has_arguments = memchr(name.p, '(', name.n);
    for (size_t i = 0; !has_arguments && i < sizeof barriers / sizeof *barriers; i++)
        if (rocl_view_begins(name, barriers[i])) {
            r->kind = ROCL_BARRIER;
            r->as.e.category = w->barrier;
            return rocl_record_put(to, r, err);
        }
    r->kind = ROCL_DISPATCH;
    r->symbol = &function;
    r->as.e.category = w->kernel;
    return rocl_record_put(to, r, err);
}

rocl_status rocprof_op_put(rocl_records *to, const rocprof_words *w, rocl_source_record *r,
                           rocl_view name, rocl_error *err)
{
    if (!rocprof_is_copy(name))
        return put_kernel_or_barrier(to, w, r, name, err);
    r->name = without_quotes(name);
    r->kind = ROCL_COPY;
    r->as.e.category = w->copy;
    take_copy_ends(r, name);
    return rocl_record_put(to, r, err);
}

static rocl_status put_op(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                          const rocprof_row *row, rocl_error *err)
{
    bool bad = false;
    rocl_view name = take_text(row, ROCPROF_KERNEL_NAME);
    name = name.n ? name : take_text(row, ROCPROF_NAME);
    name = name.n ? name : take_text(row, ROCPROF_OPERATION);
    if (rocprof_row_has(row, ROCPROF_SIZE) && rocprof_is_copy(name))
        r->as.copy.size = number_or_zero(row, ROCPROF_SIZE, &bad);
    count_bad_value(to, row, bad);
    if (row->no_copy)
        return put_kernel_or_barrier(to, w, r, name, err);
    /* So v2 has it, whose kernels have their names. */
    if (!rocprof_row_has(row, ROCPROF_DOMAIN) || take_text(row, ROCPROF_KERNEL_NAME).n ||
        rocl_view_begins(name, "Marker") || rocl_view_begins(name, "Barrier"))
        return rocprof_op_put(to, w, r, name, err);
    r->kind = ROCL_COPY;
    r->name = name;
    r->as.e.category = w->copy;
    take_copy_ends(r, name);
    return rocl_record_put(to, r, err);
}

void rocprof_alloc_operation(rocl_view name, bool scratch, rocl_alloc *to)
{
    static const struct {
        const char *word;
        rocl_alloc_op op;
    } ops[] = {{"ASYNC_RECLAIM", ROCL_OP_RECLAIM},
               {"REALLOC", ROCL_OP_REALLOC},
               {"ALLOC", ROCL_OP_ALLOC},
               {"FREE", ROCL_OP_FREE}};
    if (rocl_view_begins(name, "MEMORY_ALLOCATION_"))
        name = (rocl_view){name.p + 18, name.n - 18};
    to->level = scratch                        ? ROCL_LEVEL_SCRATCH
                : rocl_view_find(name, "VMEM") ? ROCL_LEVEL_VIRTUAL
                                               : ROCL_LEVEL_REAL;
    to->op = ROCL_OP_OTHER;
    for (size_t i = 0; i < sizeof ops / sizeof *ops && to->op == ROCL_OP_OTHER; i++)
        if (rocl_view_find(name, ops[i].word))
            to->op = ops[i].op;
}

static rocl_status put_allocation(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                                  const rocprof_row *row, bool scratch, rocl_error *err)
{
    rocl_alloc *a = &r->as.alloc;
    bool bad = false;
    r->kind = scratch ? ROCL_SCRATCH : ROCL_ALLOC;
    r->name = take_text(row, ROCPROF_OPERATION);
    a->e.category = scratch ? w->scratch : w->allocation;
    rocprof_alloc_operation(r->name, scratch, a);
    a->size = number_or_zero(row, ROCPROF_SIZE, &bad);
    a->address = take_number(row, ROCPROF_ADDRESS, &bad);
    if (a->address == ROCL_NO_KEY)
        a->address = 0;
    a->flags = number_or_zero(row, ROCPROF_FLAGS, &bad);
    count_bad_value(to, row, bad);
    return rocl_record_put(to, r, err);
}

/* A call, or a range or mark of rocTX. */
static rocl_status put_call(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                            const rocprof_row *row, uint32_t category, rocl_error *err)
{
    const rocl_view domain = take_text(row, ROCPROF_DOMAIN);
    r->name = rocprof_row_has(row, ROCPROF_FUNCTION) ? take_text(row, ROCPROF_FUNCTION)
                                                     : take_text(row, ROCPROF_NAME);
    r->kind = ROCL_REGION;
    r->as.e.category = category;
    if (!category && rocl_view_begins(domain, "HIP_API_DOMAIN"))
        r->as.e.category = w->hip;
    else if (!category && rocl_view_begins(domain, "HSA_API_DOMAIN"))
        r->as.e.category = w->hsa;
    else if (!category)
        r->as.e.category = rocl_records_text(to, domain);
    if (rocl_view_begins(domain, "MARKER_CORE") && rocl_roctx_call_marks(domain, r->name)) {
        const bool mark = r->as.e.start == r->as.e.end;
        r->kind = mark ? ROCL_INSTANT : ROCL_MARKER;
    }
    if (rocprof_row_has(row, ROCPROF_ARGS) && rocl_records_first_pass(to))
        rocprof_read_copy(r->name, take_text(row, ROCPROF_ARGS), &r->bytes, &r->direction);
    if (rocprof_row_has(row, ROCPROF_ARGS) && rocl_records_want_args(to) &&
        rocl_records_want(to, r->kind))
        rocprof_args_put(to, take_text(row, ROCPROF_ARGS));
    return rocl_record_put(to, r, err);
}

/* rocTX of v2: a message opens a range, an empty one closes that with its id; id 0 is push and pop,
 * of an unknown thread. */
static rocl_status put_range_end(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                                 const rocprof_row *row, rocl_error *err)
{
    bool bad = false;
    rocl_view message = take_text(row, ROCPROF_MESSAGE);
    if (!take_moment(to, row, ROCPROF_TIME, &r->as.e.start))
        return ROCL_OK;
    r->id = number_or_zero(row, ROCPROF_RANGE, &bad);
    r->scope = r->id ? UINT64_MAX : 0;
    r->as.e.end = r->as.e.start;
    r->half = message.n ? ROCL_BEGINS : ROCL_ENDS;
    r->kind = ROCL_MARKER;
    r->as.e.category = w->range;
    if (rocl_view_begins(message, "ROCTX-MARK: ")) {
        r->half = ROCL_WHOLE;
        r->kind = ROCL_INSTANT;
        r->as.e.category = w->mark;
        message = (rocl_view){message.p + 12, message.n - 12};
    } else if (rocl_view_begins(message, "ROCTX-RANGE: ")) {
        message = (rocl_view){message.p + 13, message.n - 13};
    }
    if (r->id && r->half != ROCL_WHOLE)
        r->function = (rocl_view){ROCPROF_STARTED, sizeof ROCPROF_STARTED - 1};
    r->name = message;
    return rocl_record_put(to, r, err);
}

/* A PC sample of a wave: an instant named after the instruction. */
static rocl_status put_pc_sample(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                                 const rocprof_row *row, rocl_error *err)
{
    static const struct {
        rocprof_column column;
        const char *name;
    } args[] = {{ROCPROF_COMMENT, "comment"},
                {ROCPROF_STALL, "stall_reason"},
                {ROCPROF_DISPATCH, "dispatch_id"},
                {ROCPROF_LINK, "correlation_id"},
                {ROCPROF_AGENT, "gpu_id"},
                {ROCPROF_SHADER_ENGINES, "shader_engine"},
                {ROCPROF_EXEC_MASK, "exec_mask"},
                {ROCPROF_WAVE_ISSUED, "wave_issued"},
                {ROCPROF_INSTRUCTION_TYPE, "inst_type"},
                {ROCPROF_WAVE_COUNT, "wave_cnt"}};
    const rocprof_column time =
        rocprof_row_has(row, ROCPROF_SAMPLE_TIME) ? ROCPROF_SAMPLE_TIME : ROCPROF_TIME;
    const rocl_view instruction = take_text(row, ROCPROF_INSTRUCTION);
    if (!take_moment(to, row, time, &r->as.e.start))
        return ROCL_OK;
    r->kind = ROCL_INSTANT;
    r->name = instruction.n ? instruction : (rocl_view){"(not decoded)", 13};
    r->link = ROCL_NO_KEY;
    r->as.e.end = r->as.e.start;
    r->as.e.category = w->sample;
    for (size_t i = 0; rocl_records_want_args(to) && i < sizeof args / sizeof *args; i++) {
        const rocl_view value = take_text(row, args[i].column);
        if (value.n)
            rocl_record_arg(to, (rocl_view){args[i].name, strlen(args[i].name)}, value);
    }
    return rocl_record_put(to, r, err);
}

/* A value of a streamed counter at a moment. */
static rocl_status put_spm(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                           const rocprof_row *row, rocl_error *err)
{
    rocl_sample_value *s = &r->as.sample;
    const rocprof_counter value = {.value = row->value[ROCPROF_VALUE]};
    const struct {
        rocprof_column column;
        int64_t *to;
    } units[] = {{ROCPROF_XCC, &s->xcc},
                 {ROCPROF_SHADER_ENGINE, &s->shader_engine},
                 {ROCPROF_SHADER_ARRAY, &s->shader_array},
                 {ROCPROF_WGP, &s->wgp},
                 {ROCPROF_INSTANCE, &s->instance}};
    bool bad = false;
    if (!take_moment(to, row, ROCPROF_TIME, &r->as.e.start))
        return ROCL_OK;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const uint64_t n = take_number(row, units[i].column, &bad);
        *units[i].to = n <= INT32_MAX ? (int64_t)n : -1;
    }
    if (!read_real(&value, &s->value))
        return rocl_record_fault(to, row->where, ROCL_FAULT_NO_NUMBER,
                                 "the value of a counter is not a number");
    r->kind = rocprof_row_has(row, ROCPROF_XCC) ? ROCL_SPM : ROCL_SAMPLE;
    r->counter = take_text(row, ROCPROF_COUNTER);
    r->as.e.end = r->as.e.start;
    r->as.e.category = w->spm;
    return rocl_record_put(to, r, err);
}

/* The launch of a graph; a HIP event. */
static rocl_status put_hip(rocl_records *to, rocl_source_record *r, const rocprof_words *w,
                           const rocprof_row *row, rocprof_table table, rocl_error *err)
{
    bool bad = false;
    const bool graph = table == ROCPROF_GRAPHS;
    r->kind = graph ? ROCL_GRAPH : ROCL_HIP_EVENT;
    r->name = take_text(row, graph ? ROCPROF_KIND : ROCPROF_OPERATION);
    r->as.e.category = graph ? w->graph : w->event;
    r->as.hip.graph_exec_id = number_or_zero(row, ROCPROF_GRAPH_EXEC, &bad);
    r->as.hip.kernel_count = number_or_zero(row, ROCPROF_KERNEL_COUNT, &bad);
    r->source_queue = take_number(row, ROCPROF_SOURCE_QUEUE, &bad);
    count_bad_value(to, row, bad);
    return rocl_record_put(to, r, err);
}

rocl_status rocprof_row_put(rocl_records *to, const rocprof_words *w, rocprof_table table,
                            const rocprof_row *row, uint32_t category, rocl_error *err)
{
    rocl_source_record r;
    bool bad = false;
    rocl_record_begin(&r, ROCL_DISPATCH, row->where);
    if (table == ROCPROF_ALLOCATIONS)
        r.agent_type = ROCL_AGENT_OTHER; /* "Agent 0" may be any */
    if (!take_common(to, &r, table, row))
        return ROCL_OK;
    switch (table) {
    case ROCPROF_CALLS:
        return put_call(to, &r, w, row, category, err);
    case ROCPROF_DISPATCHES:
    case ROCPROF_COUNTERS:
        return put_dispatch(to, &r, w, row, table == ROCPROF_COUNTERS, err);
    case ROCPROF_COPIES:
        r.kind = ROCL_COPY;
        r.name = take_text(row, ROCPROF_DIRECTION);
        r.as.e.category = w->copy;
        r.as.copy.size = number_or_zero(row, ROCPROF_SIZE, &bad);
        if (rocl_view_find(r.name, "HOST_TO"))
            r.src_type = ROCL_AGENT_CPU;
        if (rocl_view_find(r.name, "TO_HOST"))
            r.dst_type = ROCL_AGENT_CPU;
        r.src = take_agent(row, ROCPROF_SOURCE, &r.src_type, &bad);
        r.dst = take_agent(row, ROCPROF_DESTINATION, &r.dst_type, &bad);
        if (!rocprof_row_has(row, ROCPROF_SOURCE) && !rocprof_row_has(row, ROCPROF_DESTINATION))
            take_copy_ends(&r, r.name);
        count_bad_value(to, row, bad);
        return rocl_record_put(to, &r, err);
    case ROCPROF_OPS:
        return put_op(to, &r, w, row, err);
    case ROCPROF_ALLOCATIONS:
    case ROCPROF_SCRATCHES:
        return put_allocation(to, &r, w, row, table == ROCPROF_SCRATCHES, err);
    case ROCPROF_RANGES:
        r.kind = ROCL_MARKER;
        r.name = without_quotes(take_text(row, ROCPROF_NAME));
        r.as.e.category = w->range;
        if (r.as.e.start < INT64_MAX && r.as.e.end == r.as.e.start + 1) { /* so v1 writes a mark */
            r.kind = ROCL_INSTANT;
            r.as.e.category = w->mark;
            r.as.e.end = r.as.e.start;
        } else if (row->started) {
            r.function = (rocl_view){ROCPROF_STARTED, sizeof ROCPROF_STARTED - 1};
        }
        return rocl_record_put(to, &r, err);
    case ROCPROF_RANGE_ENDS:
        return put_range_end(to, &r, w, row, err);
    case ROCPROF_PC_SAMPLES:
        return put_pc_sample(to, &r, w, row, err);
    case ROCPROF_SPM:
        return put_spm(to, &r, w, row, err);
    case ROCPROF_GRAPHS:
    case ROCPROF_HIP_EVENTS:
        return put_hip(to, &r, w, row, table, err);
    default:
        return ROCL_OK;
    }
}

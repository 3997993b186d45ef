/* rocpd_monitor: values of devices. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "source/rpd/tables.h"

/* Bit in the place of a sample at the end of its row. */
#define MONITOR_ENDS ((uint64_t)1 << (RPD_TABLE_SHIFT - 1))

/* A value holds until the next row of its device, the last one until its row ends. The numbers of
 * devices are those of the system management library, which may differ from those of operations:
 * they stay in the name. */
rocl_status rpd_put_monitor(const rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i,
                            rocl_error *err)
{
    const rocl_rows *rows = w->rows[RPD_MONITOR];
    const rocl_view kind = rpd_read_text(rows, M_TYPE, i), what = rpd_read_text(rows, M_MONITOR, i);
    char name[128];
    rocl_source_record r;
    int64_t device;
    bool bad = false;
    rocl_record_begin(&r, ROCL_SAMPLE, rpd_place(RPD_MONITOR, (uint64_t)rows->id[i]));
    rpd_read_int(rows, M_DEVICE, i, &device, &bad);
    const char *why = rpd_read_times(rows, M_START, i, &r.as.e);
    if (why)
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, why);
    if (bad || !rpd_read_real(rows, M_VALUE, i, &r.as.sample.value))
        return rocl_record_fault(to, r.where, ROCL_FAULT_NO_NUMBER,
                                 "the value of a counter is not a number");
    const int64_t end = r.as.e.end;
    rocl_sample_value *s = &r.as.sample;
    s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
    r.as.e.end = r.as.e.start;
    r.as.e.category = f->words.spm;
    const rpd_session *session = rpd_find_monitoring_session(f, r.as.e.start);
    if (session)
        rpd_set_process(f, &r, session->pid);
    const int n = snprintf(name, sizeof name, "%.*s of %.*s %lld", (int)(what.n < 48 ? what.n : 48),
                           what.p, (int)(kind.n < 32 ? kind.n : 32), kind.p, (long long)device);
    r.counter = (rocl_view){name, (size_t)n};
    rocl_status st = rocl_record_put(to, &r, err);
    if (st != ROCL_OK || end <= r.as.e.start ||
        !rocl_map_get(&f->last_monitored, (uint64_t)rows->id[i], 0))
        return st;
    r.as.e.start = r.as.e.end = end;
    r.where |= MONITOR_ENDS;
    return rocl_record_put(to, &r, err);
}

rocl_status rpd_find_last_monitored(rpd_file *f, rocl_trace *t, rocl_db *db, rocl_error *err)
{
    rocl_rows *rows = NULL;
    rocl_map series = {0}; /* subject of a row -> index in `last` */
    int64_t *last = NULL;
    size_t count = 0, cap = 0;
    unsigned n = 1;
    bool ok = true;
    if (!f->names[RPD_MONITOR])
        return ROCL_OK;
    rocl_status st = rpd_open_rows(f, db, RPD_MONITOR, &rows, err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && ok && n &&
           (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK)
        for (unsigned i = 0; i < n && ok; i++) {
            const rocl_view what = rpd_read_text(rows, M_MONITOR, i);
            bool bad = false;
            const uint64_t device = rpd_read_key(rows, M_DEVICE, i, &bad);
            const uint32_t text = rocl_strings_put(t->strings, what.p, what.n);
            int64_t start;
            rpd_read_int(rows, M_START, i, &start, &bad);
            const rpd_session *session = rpd_find_monitoring_session(f, start);
            const uint64_t of = session ? session->number : 0;
            const uint64_t key = rocl_mix64(device ^ rocl_mix64(text ^ rocl_mix64(of)));
            uint32_t at = rocl_map_get(&series, key, ROCL_NONE);
            if (at == ROCL_NONE) {
                at = (uint32_t)count;
                ok = text != ROCL_NONE && ROCL_GROW(last, cap, count + 1) &&
                     rocl_map_put(&series, key, at);
                count += ok;
            }
            if (ok)
                last[at] = rows->id[i];
        }
    for (size_t i = 0; i < count && ok && st == ROCL_OK; i++)
        ok = rocl_map_put(&f->last_monitored, (uint64_t)last[i], 1);
    rocl_rows_close(rows);
    rocl_map_free(&series);
    free(last);
    return ok || st ? st : rocl_fail_memory(err);
}

rocl_status rpd_name_units(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    static const struct {
        const char *begin, *unit;
    } units[] = {{"sclk of ", "MHz"}, {"mclk of ", "MHz"}, {"temp of ", "°C"}, {"power of ", "W"},
                 {"fan% of ", "%"},   {"vram% of ", "%"},  {"gpu% of ", "%"}};
    for (uint32_t i = 0; i < c->counter_count; i++)
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            rocl_counter *counter = rocl_definition_at(c, ROCL_DEFINE_COUNTER, i);
            const char *name = rocl_str(t, counter->name);
            if (strncmp(name, units[k].begin, strlen(units[k].begin)) != 0)
                continue;
            counter->units = rocl_strings_put(t->strings, units[k].unit, strlen(units[k].unit));
            if (counter->units == ROCL_NONE)
                return rocl_fail_memory(err);
        }
    return ROCL_OK;
}

/* Processes, GPUs, threads and rows. Readers know two levels only, pid and tid, both 32 bits for
 * the whole file. A process and a thread have their own number where nobody else has it; numbers
 * for all else begin above every number that is in the trace. Each GPU is a process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "format/roster.h"
#include "sink/chrome/chrome.h"

/* Above all pids of Linux, so that it is visibly not a pid. */
#define BEYOND (1u << 22)

static bool is_number(int64_t number)
{
    return number > 0 && number <= INT32_MAX;
}

/* ---- metadata ---- */

/* Appends a line of metadata of a process or (tid not 0) a thread; its value is a text, or a
 * number. */
static void put_metadata(rocl_buf *b, const char *what, uint32_t pid, uint32_t tid, const char *key,
                         const char *text, uint64_t number)
{
    rocl_buf_printf(b, "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%" PRIu32, what, pid);
    if (tid)
        rocl_buf_printf(b, ",\"tid\":%" PRIu32, tid);
    rocl_buf_printf(b, ",\"args\":{\"%s\":", key);
    if (text) {
        rocl_buf_byte(b, '"');
        rocl_json_put(b, text, strlen(text));
        rocl_buf_str(b, "\"}}");
    } else {
        rocl_buf_printf(b, "%" PRIu64 "}}", number);
    }
}

static void put_metadata_line(chrome_lines *l, rocl_buf *text, const char *what, uint32_t pid,
                              uint32_t tid, const char *key, const char *value, uint64_t number)
{
    text->len = 0;
    put_metadata(text, what, pid, tid, key, value, number);
    chrome_put_text(l, 0, text);
}

/* ---- processes ---- */

void chrome_whose(const chrome_numbers *w, uint32_t process, char *s, size_t size)
{
    s[0] = 0;
    if (w->process_total < 2 || process >= w->capture->process_count)
        return;
    const rocl_process *p = &w->capture->processes[process];
    if (p->rank >= 0 && !w->processes[process].real) /* several have this pid */
        snprintf(s, size, " (rank %" PRId32 ", pid %" PRId64 ")", p->rank, p->pid);
    else
        snprintf(s, size, " (pid %" PRId64 ")", p->pid);
}

/* ---- GPUs ---- */

uint32_t chrome_gpu_pid(const chrome_numbers *w, uint32_t agent)
{
    const rocl_gpu *g = rocl_gpu_of(w->capture, agent);
    if (!g)
        return 0;
    const size_t index = (size_t)(g - w->trace->gpus);
    atomic_store_explicit(&w->gpu_seen[index], true, memory_order_relaxed);
    return w->gpu_pids[index];
}

void chrome_describe_gpus(const chrome_numbers *w, rocl_buf *to)
{
    for (size_t i = 0; i < w->trace->gpu_count; i++) {
        const rocl_gpu *g = &w->trace->gpus[i];
        char gpu[256], name[384];
        const char *host = w->trace->machine_count > 1
                               ? rocl_str(w->trace, w->trace->machines[g->machine].hostname)
                               : "";
        if (!w->gpu_seen[i])
            continue;
        rocl_gpu_label(w->trace, g, gpu, sizeof gpu);
        rocl_label(name, sizeof name, "%s%s%s%s", gpu, *host ? " (" : "", host, *host ? ")" : "");
        rocl_buf_str(to, ",\n");
        put_metadata(to, "process_name", w->gpu_pids[i], 0, "name", name, 0);
        rocl_buf_str(to, ",\n");
        put_metadata(to, "process_sort_index", w->gpu_pids[i], 0, "sort_index", NULL,
                     w->process_total + i);
    }
}

/* ---- who is who ---- */

void chrome_put_roster(const chrome_numbers *w, rocl_buf *to)
{
    const rocl_trace *t = w->trace;
    rocl_roster who = {0};
    to->failed |= !rocl_roster_make(&who, w->trace);
    for (size_t i = 0; i < t->capture_count && !to->failed; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.process_count; k++)
            if (rocl_trace_takes(t, &t->captures[i]->pub))
                who.processes[w->firsts[i] + k].id = w->all[w->firsts[i] + k].pid;
            else
                who.processes[w->firsts[i] + k].id = -1;
    for (size_t i = 0; i < t->gpu_count && !to->failed; i++)
        who.gpus[i].id = w->gpu_pids[i];
    if (!to->failed)
        rocl_roster_put(to, t, &who);
    rocl_roster_free(&who);
}

/* ---- threads and rows ---- */

/* Each sequence of the trace has its own residue class of the numbers. */
rocl_status chrome_number_row(const chrome_numbers *w, size_t sequence, uint64_t k, uint32_t *tid,
                              rocl_error *err)
{
    const uint64_t number =
        w->first_row + w->places[w->capture->index] + sequence + k * w->sequences;
    *tid = (uint32_t)number;
    return number <= UINT32_MAX
               ? ROCL_OK
               : rocl_fail(err, ROCL_INPUT,
                           "%s: more rows than JSON of Chrome has numbers for: choose ranks",
                           w->capture->path);
}

void chrome_describe_row(chrome_lines *l, rocl_buf *text, uint32_t pid, uint32_t tid,
                         const char *name, uint32_t sort)
{
    if (*name)
        put_metadata_line(l, text, "thread_name", pid, tid, "name", name, 0);
    put_metadata_line(l, text, "thread_sort_index", pid, tid, "sort_index", NULL, sort);
}

/* A thread keeps its number if no other thread of the process has it; else its name tells the
 * number. taken: (process, tid) in use. */
static rocl_status describe_thread(chrome_numbers *w, chrome_lines *l, size_t sequence,
                                   uint32_t index, rocl_map *taken, rocl_error *err)
{
    uint32_t thread;
    const uint32_t process = rocl_host_process(w->capture, index, &thread);
    const uint32_t pid = w->processes[process].pid;
    uint32_t *tid = &w->host_rows[index];
    char buf[256], name[320];
    if (thread == ROCL_NONE) {
        const rocl_status st = chrome_number_row(w, sequence, 0, tid, err);
        if (st == ROCL_OK)
            chrome_describe_row(l, &w->line, pid, *tid, "unknown thread", INT32_MAX);
        return st;
    }
    const rocl_thread *t = &w->capture->threads[thread];
    const rocl_process *p = &w->capture->processes[process];
    const bool main = t->tid == p->pid;
    /* A process that had to change its number takes its main thread along. */
    *tid = main ? pid : is_number(t->tid) ? (uint32_t)t->tid : 0;
    const uint64_t key = (uint64_t)process << 32 | *tid;
    const bool own = *tid && !rocl_map_get(taken, key, 0);
    if (own && !rocl_map_put(taken, key, 1))
        return rocl_fail_memory(err);
    const rocl_status st = own ? ROCL_OK : chrome_number_row(w, sequence, 0, tid, err);
    const char *label = rocl_thread_label(w->capture, t, p, buf, sizeof buf);
    if ((own && *tid == t->tid) || main)
        rocl_label(name, sizeof name, "%s", label);
    else if (*label)
        rocl_label(name, sizeof name, "%s (tid %" PRId64 ")", label, t->tid);
    else
        snprintf(name, sizeof name, "thread %" PRId64, t->tid);
    chrome_describe_row(l, &w->line, pid, *tid, name,
                        main              ? 0
                        : thread < BEYOND ? thread + 1
                                          : BEYOND);
    return st;
}

/* ---- open, next capture, close ---- */

/* A rank of a team knows only its own threads, so rank 0 tells it. */
static rocl_status settle_most(chrome_numbers *w, rocl_error *err)
{
    rocl_joint *joint = w->trace->joint;
    rocl_buf b = {0};
    if (joint && !rocl_joint_leads(joint)) {
        rocl_byte_reader r = rocl_joint_request(joint);
        w->most = (int64_t)rocl_next_number(&r);
        return r.bad ? rocl_team_bad_message(err) : ROCL_OK;
    }
    /* Above it numbers are free. */
    int64_t most = BEYOND;
    for (size_t i = 0; i < w->trace->capture_count; i++) {
        const rocl_capture *c = &w->trace->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++)
            if (is_number(c->processes[k].pid) && c->processes[k].pid > most)
                most = c->processes[k].pid;
        for (uint32_t k = 0; k < c->thread_count; k++)
            if (is_number(c->threads[k].tid) && c->threads[k].tid > most)
                most = c->threads[k].tid;
    }
    w->most = most;
    rocl_buf_varint(&b, (uint64_t)w->most);
    if (joint)
        rocl_joint_set_request(joint, b.data, b.len);
    const bool failed = b.failed;
    rocl_buf_free(&b);
    return failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* Gives a pid to each process, its own where no other has it, and to each GPU; the next number is
 * beyond all. */
static rocl_status give_pids(chrome_numbers *w, rocl_map *pids, rocl_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < w->trace->capture_count; i++) {
        const rocl_capture *c = &w->trace->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++) {
            const int64_t pid = c->processes[k].pid;
            if (!is_number(pid))
                continue;
            /* 1: there is one of it, 2: more */
            uint32_t times = rocl_map_get(pids, (uint64_t)pid, 0) ? 2 : 1;
            if (!rocl_map_put(pids, (uint64_t)pid, times))
                return rocl_fail_memory(err);
        }
    }
    uint32_t next = (uint32_t)w->most + 1;
    for (size_t i = 0; i < w->trace->capture_count; i++) {
        const rocl_capture *c = &w->trace->captures[i]->pub;
        w->firsts[i] = n;
        for (uint32_t k = 0; k < c->process_count; k++, n++) {
            int64_t pid = c->processes[k].pid;
            bool real = is_number(pid) && rocl_map_get(pids, (uint64_t)pid, 0) == 1;
            w->all[n] = (chrome_process){real ? (uint32_t)pid : next++, real};
        }
    }
    for (size_t i = 0; i < w->trace->gpu_count; i++)
        w->gpu_pids[i] = next++;
    w->first_row = next;
    return ROCL_OK;
}

rocl_status chrome_numbers_open(chrome_numbers *w, rocl_trace *t, rocl_error *err)
{
    rocl_map pids = {0};
    *w = (chrome_numbers){.trace = t};
    for (size_t i = 0; i < t->capture_count; i++)
        w->process_total += t->captures[i]->pub.process_count;
    rocl_status st = ROCL_OK;
    w->all = calloc(w->process_total + 1, sizeof *w->all);
    w->firsts = calloc(t->capture_count + 1, sizeof *w->firsts);
    w->places = calloc(t->capture_count + 1, sizeof *w->places);
    w->gpu_pids = calloc(w->trace->gpu_count + 1, sizeof *w->gpu_pids);
    w->gpu_seen = calloc(w->trace->gpu_count + 1, sizeof *w->gpu_seen);
    if (!w->all || !w->firsts || !w->places || !w->gpu_pids || !w->gpu_seen)
        st = rocl_fail_memory(err);
    for (size_t i = 0; st == ROCL_OK && i < t->capture_count; i++) {
        w->places[i] = w->sequences;
        if (rocl_trace_takes(t, &t->captures[i]->pub))
            w->sequences += rocl_timeline_sequences_max(&t->captures[i]->pub);
    }
    if (st == ROCL_OK)
        st = settle_most(w, err);
    if (st == ROCL_OK)
        st = give_pids(w, &pids, err);
    rocl_map_free(&pids);
    return st;
}

void chrome_numbers_close(chrome_numbers *w)
{
    rocl_buf_free(&w->line);
    free(w->all);
    free(w->firsts);
    free(w->places);
    free(w->gpu_pids);
    free(w->gpu_seen);
    free(w->host_rows);
}

rocl_status chrome_numbers_capture(chrome_numbers *w, const rocl_timeline *t, chrome_lines *l,
                                   rocl_error *err)
{
    const rocl_capture *c = t->capture;
    rocl_map taken = {0};
    rocl_status st = ROCL_OK;
    w->capture = c;
    w->processes = w->all + w->firsts[c->index];
    free(w->host_rows);
    w->host_rows = calloc((size_t)c->thread_count + c->process_count + 1, sizeof *w->host_rows);
    if (!w->host_rows)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < c->process_count; i++) {
        const rocl_process *p = &c->processes[i];
        const chrome_process *own = &w->processes[i];
        char program[256], more[320], name[600];
        bool machines = w->trace->machine_count > 1, several = w->process_total > 1;
        const char *host = rocl_process_host(c, p);
        rocl_program_name(rocl_str(w->trace, p->command), program, sizeof program);
        rocl_process_details(more, sizeof more, several ? p->rank : -1,
                             own->real && (program[0] || !several) ? 0 : p->pid,
                             machines || !own->real ? host : "");
        rocl_label(name, sizeof name, "%s%s%s%s", program[0] ? program : "process",
                   more[0] ? " (" : "", more, more[0] ? ")" : "");
        put_metadata_line(l, &w->line, "process_name", own->pid, 0, "name", name, 0);
        rocl_process_details(more, sizeof more, p->rank, own->real ? 0 : p->pid, host);
        if (more[0])
            put_metadata_line(l, &w->line, "process_labels", own->pid, 0, "labels", more, 0);
        put_metadata_line(l, &w->line, "process_sort_index", own->pid, 0, "sort_index", NULL,
                          w->firsts[c->index] + i);
    }
    for (size_t i = 0; i < t->sequence_count && st == ROCL_OK; i++)
        if (rocl_sequence_kind_of(t->sequences[i].number) == ROCL_SEQUENCE_HOST)
            st = describe_thread(w, l, i, rocl_sequence_index(t->sequences[i].number), &taken, err);
    rocl_map_free(&taken);
    return st;
}

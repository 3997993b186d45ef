/* Tasks and pipes, for 1, 2 and 4 workers; failures are the same for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const unsigned worker_counts[] = {1, 2, 4};

enum { RUNS = sizeof worker_counts / sizeof worker_counts[0] };

/* ---- tasks ----------------------------------------------------------------------------------- */

enum { TASKS = 500 };

typedef struct tasks {
    atomic_int runs[TASKS];
    _Atomic unsigned workers_seen; /* bits */
    unsigned workers;
    size_t fail_from; /* every index from here on fails, the first ones late */
} tasks;

static rocl_status run_task(void *ctx, unsigned worker, size_t i, rocl_error *err)
{
    tasks *t = ctx;
    if (worker >= t->workers)
        return rocl_fail(err, ROCL_INTERNAL, "worker %u", worker);
    atomic_fetch_or(&t->workers_seen, 1u << worker);
    atomic_fetch_add(&t->runs[i], 1);
    if (i < t->fail_from)
        return ROCL_OK;
    if (i == t->fail_from)
        usleep(3000);
    return rocl_fail(err, ROCL_INPUT, "task %zu", i);
}

static void test_tasks(void **state)
{
    (void)state;
    for (int k = 0; k < RUNS; k++) {
        unsigned w = worker_counts[k];
        tasks t = {.workers = w, .fail_from = TASKS};
        rocl_error *err = rocl_error_new();
        assert_int_equal(rocl_run_tasks(w, TASKS, run_task, &t, err), ROCL_OK);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(t.runs[i], 1);
        assert_int_equal(rocl_run_tasks(w, 0, run_task, &t, err), ROCL_OK);
        rocl_error_free(err);
    }
}

static void test_tasks_fail(void **state)
{
    (void)state;
    for (int k = 0; k < RUNS; k++) {
        unsigned w = worker_counts[k];
        tasks t = {.workers = w, .fail_from = 20};
        rocl_error *err = rocl_error_new();
        assert_int_equal(rocl_run_tasks(w, TASKS, run_task, &t, err), ROCL_INPUT);
        assert_string_equal(rocl_error_text(err), "task 20");
        int started = 0;
        for (size_t i = 0; i < TASKS; i++)
            started += t.runs[i];
        assert_true(started >= 21 && started <= 21 + (int)w);
        assert_int_equal(rocl_run_tasks(w, TASKS, run_task, &t, NULL), ROCL_INPUT);
        rocl_error_free(err);
    }
}

/* ---- pipes ----------------------------------------------------------------------------------- */

enum { CHUNKS = 300, NEVER = 1 << 30 };

typedef struct flow {
    unsigned workers;
    size_t transform_fails, write_fails; /* block numbers */
    bool slow_writes;
    atomic_int in_write, in_transform;
    size_t written;
} flow;

static size_t number_of(const rocl_buf *b)
{
    size_t n;
    if (b->len < sizeof n)
        abort();
    memcpy(&n, b->data, sizeof n);
    return n;
}

static rocl_status do_transform(flow *f, unsigned worker, rocl_block *c, rocl_error *err)
{
    size_t n = number_of(&c->in);
    if (worker >= f->workers || c->out.len || c->user != f)
        return rocl_fail(err, ROCL_INTERNAL, "bad block %zu", n);
    if (n % 7 == 0)
        usleep(200);
    if (n >= f->transform_fails) {
        if (n == f->transform_fails)
            usleep(1000);
        return rocl_fail(err, ROCL_INPUT, "transform %zu", n);
    }
    rocl_buf_put(&c->out, &n, sizeof n);
    return ROCL_OK;
}

static rocl_status transform(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    flow *f = ctx;
    atomic_fetch_add(&f->in_transform, 1);
    rocl_status st = do_transform(f, worker, c, err);
    atomic_fetch_sub(&f->in_transform, 1);
    return st;
}

static rocl_status write_block(void *ctx, rocl_block *c, rocl_error *err)
{
    flow *f = ctx;
    size_t n = number_of(&c->out);
    if (atomic_fetch_add(&f->in_write, 1) != 0 || n != f->written)
        return rocl_fail(err, ROCL_INTERNAL, "block %zu for %zu", n, f->written);
    if (f->slow_writes)
        usleep(100);
    atomic_fetch_sub(&f->in_write, 1);
    if (n == f->write_fails)
        return rocl_fail(err, ROCL_OUTPUT, "write %zu", n);
    f->written++;
    return ROCL_OK;
}

static const rocl_pipe_ops ops = {transform, write_block};

/* Puts blocks until a failure shows; returns how many. */
static size_t produce(rocl_pipe *p, flow *f, size_t count, rocl_error *err)
{
    size_t n = 0;
    for (; n < count; n++) {
        rocl_block *c;
        if (rocl_pipe_get(p, &c, err))
            return n;
        assert_int_equal(c->in.len + c->out.len, 0);
        assert_null(c->user);
        c->user = f;
        rocl_buf_put(&c->in, &n, sizeof n);
        if (rocl_pipe_put(p, c, err))
            return n;
    }
    return n;
}

static void test_pipe_order(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        for (int k = 0; k < RUNS; k++) {
            unsigned w = worker_counts[k];
            flow f = {w, NEVER, NEVER, slow, 0, 0, 0};
            rocl_error *err = rocl_error_new();
            rocl_pipe *p;
            assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, err), ROCL_OK);
            assert_int_equal(produce(p, &f, CHUNKS, err), CHUNKS);
            assert_int_equal(rocl_pipe_finish(p, err), ROCL_OK);
            assert_int_equal(f.written, CHUNKS);
            rocl_error_free(err);
        }
    }
}

static const struct {
    size_t transform_fails, write_fails;
    rocl_status status;
    const char *text;
    size_t written;
} failures[] = {
    {0, NEVER, ROCL_INPUT, "transform 0", 0},
    {50, NEVER, ROCL_INPUT, "transform 50", 50},
    {CHUNKS - 1, NEVER, ROCL_INPUT, "transform 299", CHUNKS - 1},
    {NEVER, 0, ROCL_OUTPUT, "write 0", 0},
    {NEVER, 50, ROCL_OUTPUT, "write 50", 50},
    {NEVER, CHUNKS - 1, ROCL_OUTPUT, "write 299", CHUNKS - 1},
    {51, 50, ROCL_OUTPUT, "write 50", 50},
    {50, 51, ROCL_INPUT, "transform 50", 50},
};

static void test_pipe_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        for (int k = 0; k < RUNS; k++) {
            unsigned w = worker_counts[k];
            flow f = {w, failures[i].transform_fails, failures[i].write_fails, false, 0, 0, 0};
            rocl_error *err = rocl_error_new(), *last = rocl_error_new();
            rocl_pipe *p;
            assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, err), ROCL_OK);
            size_t put = produce(p, &f, CHUNKS, err);
            if (put < CHUNKS) {
                assert_string_equal(rocl_error_text(err), failures[i].text);
                rocl_block *none;
                assert_int_equal(rocl_pipe_get(p, &none, last), failures[i].status);
                assert_null(none);
                assert_string_equal(rocl_error_text(last), failures[i].text);
            }
            assert_int_equal(rocl_pipe_finish(p, last), failures[i].status);
            assert_string_equal(rocl_error_text(last), failures[i].text);
            assert_int_equal(f.written, failures[i].written);
            rocl_error_free(err);
            rocl_error_free(last);
        }
    }
}

/* After drain all is written, or nobody is at work on what is not. */
static void test_pipe_drain(void **state)
{
    (void)state;
    for (int k = 0; k < RUNS; k++) {
        for (int fails = 0; fails < 2; fails++) {
            flow f = {worker_counts[k], fails ? 50 : NEVER, NEVER, true, 0, 0, 0};
            rocl_error *err = rocl_error_new();
            rocl_pipe *p;
            assert_int_equal(rocl_pipe_new(&p, worker_counts[k], &ops, &f, err), ROCL_OK);
            assert_int_equal(rocl_pipe_drain(p, err), ROCL_OK);
            size_t put = produce(p, &f, CHUNKS, err);
            assert_true(fails || put == CHUNKS);
            assert_int_equal(rocl_pipe_drain(p, err), fails ? ROCL_INPUT : ROCL_OK);
            assert_int_equal(f.written, fails ? 50 : CHUNKS);
            if (fails)
                assert_string_equal(rocl_error_text(err), "transform 50");
            assert_int_equal(f.in_transform, 0);
            assert_int_equal(rocl_pipe_finish(p, err), fails ? ROCL_INPUT : ROCL_OK);
            rocl_error_free(err);
        }
    }
}

static void test_pipe_abort(void **state)
{
    (void)state;
    for (int k = 0; k < RUNS; k++) {
        unsigned w = worker_counts[k];
        flow f = {w, NEVER, NEVER, true, 0, 0, 0};
        rocl_pipe *p;
        assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, NULL), ROCL_OK);
        rocl_pipe_abort(p);
        assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, NULL), ROCL_OK);
        assert_int_equal(produce(p, &f, 30, NULL), 30);
        rocl_pipe_abort(p);
        assert_true(f.written <= 30);
        assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, NULL), ROCL_OK);
        assert_int_equal(rocl_pipe_finish(p, NULL), ROCL_OK);
    }
    rocl_pipe_abort(NULL);
}

/* A producer may hold several blocks, but not wait for itself. */
static void test_pipe_held(void **state)
{
    (void)state;
    for (int k = 0; k < RUNS; k++) {
        unsigned w = worker_counts[k];
        flow f = {w, NEVER, NEVER, false, 0, 0, 0};
        rocl_error *err = rocl_error_new();
        rocl_block *c[64], *none;
        const unsigned count = w + 8;
        assert_true(count <= 64);
        rocl_pipe *p;
        assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, err), ROCL_OK);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(rocl_pipe_get(p, &c[i], err), ROCL_OK);
        assert_int_equal(rocl_pipe_get(p, &none, err), ROCL_INTERNAL);
        assert_null(none);
        assert_int_equal(rocl_error_status(err), ROCL_INTERNAL);
        for (size_t i = 0; i < count; i++) {
            c[i]->user = &f;
            rocl_buf_put(&c[i]->in, &i, sizeof i);
            assert_int_equal(rocl_pipe_put(p, c[i], err), ROCL_OK);
        }
        assert_int_equal(rocl_pipe_finish(p, err), ROCL_OK);
        assert_int_equal(f.written, count);
        rocl_error_free(err);
    }
}

/* Bytes that did not fit in memory are a failure even if the producer does not look. */
static void test_pipe_memory(void **state)
{
    (void)state;
    for (int k = 0; k < RUNS; k++) {
        unsigned w = worker_counts[k];
        flow f = {w, NEVER, NEVER, false, 0, 0, 0};
        rocl_error *err = rocl_error_new();
        rocl_pipe *p;
        assert_int_equal(rocl_pipe_new(&p, w, &ops, &f, err), ROCL_OK);
        rocl_block *c;
        assert_int_equal(rocl_pipe_get(p, &c, err), ROCL_OK);
        assert_false(rocl_buf_grow(&c->in, SIZE_MAX));
        rocl_pipe_put(p, c, err);
        assert_int_equal(rocl_pipe_finish(p, err), ROCL_INTERNAL);
        assert_string_equal(rocl_error_text(err), "out of memory");
        rocl_error_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks),      cmocka_unit_test(test_tasks_fail),
        cmocka_unit_test(test_pipe_order), cmocka_unit_test(test_pipe_fails),
        cmocka_unit_test(test_pipe_drain), cmocka_unit_test(test_pipe_abort),
        cmocka_unit_test(test_pipe_held),  cmocka_unit_test(test_pipe_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

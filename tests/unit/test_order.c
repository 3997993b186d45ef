/* The order of captures and which of them are of one machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/identity.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { MOST = 12 };

typedef struct spec {
    const char *host, *machine; /* "": unknown; host NULL: no node */
    int32_t rank;
    int64_t pid, init; /* pid -1: no process */
    const char *guid;
} spec;

typedef struct world {
    rocl_trace trace;
    rocl_model_capture captures[MOST];
    rocl_model_capture *list[MOST];
    rocl_node nodes[MOST];
    rocl_process processes[MOST];
} world;

static uint32_t text(world *w, const char *s)
{
    return rocl_strings_put(w->trace.strings, s, strlen(s));
}

static void add(world *w, const spec *s, size_t i)
{
    rocl_capture *c = &w->captures[i].pub;
    *c = (rocl_capture){.trace = &w->trace, .index = (uint32_t)i, .guid = text(w, s->guid)};
    if (s->host) {
        w->nodes[i] = (rocl_node){.hostname = text(w, s->host), .machine_id = text(w, s->machine)};
        c->nodes = &w->nodes[i];
        c->node_count = 1;
    }
    if (s->pid >= 0) {
        w->processes[i] = (rocl_process){.rank = s->rank, .pid = s->pid, .init = s->init};
        c->processes = &w->processes[i];
        c->process_count = 1;
    }
    w->list[i] = &w->captures[i];
}

/* "guid@machine ..." of the specs, taken from `first` on and around. */
static void order(const spec *specs, size_t n, size_t first, char *result, size_t size)
{
    world *w = calloc(1, sizeof *w);
    size_t at = 0;
    assert_non_null(w);
    w->trace.strings = rocl_strings_new();
    for (size_t i = 0; i < n; i++)
        add(w, &specs[(first + i) % n], i);
    w->trace.captures = w->list;
    w->trace.capture_count = n;
    assert_int_equal(rocl_trace_order(&w->trace, NULL), ROCL_OK);
    for (size_t i = 0; i < n; i++) {
        const rocl_capture *c = &w->list[i]->pub;
        assert_int_equal(c->index, i);
        at += (size_t)snprintf(result + at, size - at, "%s%s@%s", i ? " " : "",
                               rocl_text(&w->trace, c->guid, NULL),
                               rocl_machine_name(&w->trace, c->machine));
    }
    snprintf(result + at, size - at, " (%zu)", w->trace.machine_count);
    free(w->trace.machines);
    free(w->trace.gpus);
    rocl_strings_free(w->trace.strings);
    free(w);
}

static const struct {
    spec specs[MOST];
    const char *gives;
} cases[] = {
    /* nodes, then ranks, then pids, each by value */
    {{{"n10", "x", 0, 1, 0, "a"}, {"n2", "y", 10, 1, 0, "b"}, {"n2", "y", 9, 2, 0, "c"}},
     "c@n2 b@n2 a@n10 (2)"},
    {{{"n", "x", -1, 10, 0, "a"}, {"n", "x", -1, 9, 0, "b"}, {"n", "x", 3, 11, 0, "c"}},
     "c@n b@n a@n (1)"},
    /* one pid: who came first; then by guid */
    {{{"n", "x", -1, 9, 20, "a"}, {"n", "x", -1, 9, 10, "b"}, {"n", "x", -1, 9, 10, "c"}},
     "b@n c@n a@n (1)"},
    /* what is unknown comes last */
    {{{NULL, "", -1, 5, 0, "a"}, {"", "x", -1, 5, 0, "b"}, {"z", "", -1, 5, 0, "c"}},
     "c@z b@x a@- (3)"},
    {{{"n", "x", -1, 0, 0, "a"}, {"n", "x", -1, 4, 0, "b"}, {"n", "x", -1, -1, 0, "c"}},
     "c@n b@n a@n (1)"},
    /* one image on two hosts, two hosts of one name */
    {{{"a", "x", 0, 1, 0, "a"}, {"b", "x", 1, 1, 0, "b"}}, "a@a b@b (2)"},
    {{{"a", "x", 0, 1, 0, "a"}, {"a", "y", 1, 1, 0, "b"}}, "a@a b@a (2)"},
    /* what one of them does not know does not part them */
    {{{"a", "", 0, 1, 0, "a"}, {"a", "y", 1, 1, 0, "b"}}, "b@a a@a (1)"},
    {{{"", "", 0, 1, 0, "a"}, {"a", "y", 1, 1, 0, "b"}}, "b@a a@- (2)"},
    {{{NULL, "", 0, 1, 0, "a"}, {"", "", 1, 1, 0, "b"}}, "a@- b@- (2)"},
};

static void test_order(void **state)
{
    (void)state;
    char result[256];
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = 0;
        while (cases[i].specs[n].guid)
            n++;
        for (size_t first = 0; first < n; first++) {
            order(cases[i].specs, n, first, result, sizeof result);
            if (strcmp(result, cases[i].gives) != 0)
                fail_msg("row %zu from %zu: \"%s\" instead of \"%s\"", i, first, result,
                         cases[i].gives);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The member "order" of a baseline, rocline-baseline(5). */
#include "analysis/baseline_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/baseline_text.h"
#include "analysis/distribution.h"
#include "base/array.h"
#include "base/text.h"

/* The words for a rocl_side_lack. */
static const char *const lacks[] = {
    [ROCL_LACKS_STEPS_TOO_MANY] = "fewer steps", [ROCL_LACKS_KERNELS_TOO_MANY] = "fewer kernels"};

enum { LACKS = sizeof lacks / sizeof *lacks };

/* ---- writing --------------------------------------------------------------------------------- */

void rocl_baseline_put_order(rocl_buf *to, const rocl_side_steps *s, const uint32_t *number)
{
    rocl_buf_str(to, "{\"processes\":[");
    for (size_t i = 0; i < s->process_count; i++)
        rocl_buf_printf(to, "%s[%" PRId32 ",%" PRId64 "]", i ? "," : "", s->processes[i].rank,
                        s->processes[i].pid);
    rocl_buf_byte(to, ']');
    if (s->marker) {
        rocl_buf_byte(to, ',');
        rocl_baseline_put_text(to, "marker", s->marker, s->marker_len);
    }
    rocl_buf_str(to, ",\"steps\":[");
    for (size_t i = 0; i < s->step_count; i++) {
        const rocl_side_step *p = &s->steps[i];
        rocl_buf_printf(
            to, "%s[%" PRIu32 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 "]",
            i ? ",\n" : "", p->process, p->number, p->wall, p->busy, p->kernel_ns, p->kernels);
    }
    rocl_buf_byte(to, ']');
    if (s->chosen != SIZE_MAX)
        rocl_buf_printf(to, ",\"chosen\":%zu", s->chosen);
    rocl_buf_str(to, ",\"lanes\":[");
    for (size_t i = 0; i < s->lane_count; i++) {
        rocl_buf_printf(to, "%s[%" PRIu32 ",", i ? "," : "", s->lanes[i].process);
        rocl_json_put_string(to, s->lanes[i].name, strlen(s->lanes[i].name));
        rocl_buf_byte(to, ']');
    }
    rocl_buf_str(to, "],\n\"kernels\":[");
    for (size_t i = 0; i < s->kernel_count; i++)
        rocl_buf_printf(to, "%s%" PRIu32 ",%" PRIu32 ",%" PRId64, i ? ",\n" : "",
                        number[s->kernels[i].key], s->kernels[i].lane, s->kernels[i].ns);
    rocl_buf_printf(to, "],\"left_out\":%" PRIu64 ",\"left_out_ns\":%" PRId64, s->left_out,
                    s->left_ns);
    if (s->lack)
        rocl_buf_printf(to, ",\"lacks\":\"%s\"", lacks[s->lack]);
    rocl_buf_byte(to, '}');
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct order_reader {
    rocl_json *json;
    rocl_side_steps *to;
    const uint32_t *keys;
    size_t key_count;
    const char *wrong; /* NULL: nothing */
    bool no_memory;
} order_reader;

static bool is_good(const order_reader *r)
{
    return !r->wrong && !r->no_memory && !r->json->wrong;
}

/* The next `count` integers of the array that the reader is in, none below `least`. False at its
 * end, and where something is wrong. */
static bool read_integers(order_reader *r, int64_t *to, unsigned count, int64_t least,
                          const char *wrong)
{
    rocl_json_token v;
    bool good = true;
    for (unsigned i = 0; i < count && good; i++) {
        const bool more = rocl_json_element(r->json, &v);
        good =
            more && v.kind == ROCL_JSON_NUMBER && rocl_json_int(v.text, &to[i]) && to[i] >= least;
        if (!good && (more || i))
            r->wrong = wrong;
    }
    return good;
}

/* Enters the array that was just returned. */
static bool enter_array(order_reader *r, const char *wrong)
{
    if (rocl_json_enter(r->json, ROCL_JSON_ARRAY))
        return true;
    r->wrong = wrong;
    return false;
}

/* Reads an array of `count` integers that is an element of another array. False at the end of
 * that. */
static bool read_tuple(order_reader *r, int64_t *to, unsigned count, int64_t least,
                       const char *wrong)
{
    rocl_json_token v;
    if (!is_good(r) || !rocl_json_element(r->json, &v) || !enter_array(r, wrong))
        return false;
    if (read_integers(r, to, count, least, wrong))
        rocl_json_leave(r->json);
    else
        r->wrong = wrong;
    return !r->wrong;
}

static void read_processes(order_reader *r, const char *wrong)
{
    rocl_side_steps *to = r->to;
    int64_t v[2]; /* rank, pid */
    while (read_tuple(r, v, 2, INT64_MIN, wrong)) {
        if (v[0] < -1 || v[0] > INT32_MAX)
            r->wrong = wrong;
        else if (!ROCL_GROW(to->processes, to->process_cap, to->process_count + 1))
            r->no_memory = true;
        else
            to->processes[to->process_count++] = (rocl_side_process){(int32_t)v[0], v[1]};
    }
}

static void read_steps(order_reader *r, const char *wrong)
{
    rocl_side_steps *to = r->to;
    int64_t v[6]; /* process, number, wall, busy and kernel time, kernels */
    while (read_tuple(r, v, 6, 0, wrong)) {
        const uint32_t last = to->step_count ? to->steps[to->step_count - 1].process : 0;
        if (v[0] < last || (size_t)v[0] >= to->process_count || to->step_count == ROCL_STEPS_MOST)
            r->wrong = wrong;
        else if (!ROCL_GROW(to->steps, to->step_cap, to->step_count + 1))
            r->no_memory = true;
        else
            to->steps[to->step_count++] = (rocl_side_step){.process = (uint32_t)v[0],
                                                           .number = (uint64_t)v[1],
                                                           .wall = v[2],
                                                           .busy = v[3],
                                                           .kernel_ns = v[4],
                                                           .kernels = (uint64_t)v[5]};
    }
}

static void read_lanes(order_reader *r, const char *wrong)
{
    rocl_side_steps *to = r->to;
    rocl_json_token v;
    int64_t process;
    while (is_good(r) && rocl_json_element(r->json, &v)) {
        rocl_buf name = {0};
        if (!enter_array(r, wrong))
            return;
        if (!read_integers(r, &process, 1, 0, wrong) || (size_t)process >= to->process_count ||
            !rocl_json_element(r->json, &v) || v.kind != ROCL_JSON_STRING ||
            to->lane_count == ROCL_SEQUENCE_LANES) {
            r->wrong = wrong;
            return;
        }
        rocl_json_unescape(&name, v.text);
        rocl_buf_byte(&name, '\0');
        if (name.failed || !ROCL_GROW(to->lanes, to->lane_cap, to->lane_count + 1)) {
            rocl_buf_free(&name);
            r->no_memory = true;
            return;
        }
        to->lanes[to->lane_count++] = (rocl_side_lane){(uint32_t)process, (char *)name.data};
        rocl_json_leave(r->json);
    }
}

static void read_kernels(order_reader *r, const char *wrong)
{
    rocl_side_steps *to = r->to;
    int64_t v[3]; /* name, lane, duration */
    while (is_good(r) && read_integers(r, v, 3, 0, wrong)) {
        if ((size_t)v[0] >= r->key_count || (size_t)v[1] >= to->lane_count ||
            to->kernel_count == ROCL_SEQUENCE_MOST)
            r->wrong = wrong;
        else if (!ROCL_GROW(to->kernels, to->kernel_cap, to->kernel_count + 1))
            r->no_memory = true;
        else
            to->kernels[to->kernel_count++] =
                (rocl_side_kernel){r->keys[v[0]], (uint32_t)v[1], v[2]};
    }
}

static void read_marker(order_reader *r, const rocl_json_token *v, bool hex)
{
    rocl_buf text = {0};
    if (r->to->marker || !rocl_baseline_read_text(&text, v, hex))
        r->wrong = "the marker of the order is not valid";
    const size_t n = text.len;
    rocl_buf_byte(&text, '\0');
    r->no_memory = text.failed;
    if (text.failed || r->wrong) {
        rocl_buf_free(&text);
        return;
    }
    r->to->marker = (char *)text.data;
    r->to->marker_len = n;
}

/* Else changes would not sum to the whole, and steps would have no process. */
static bool adds_up(const rocl_side_steps *s)
{
    int64_t sum = s->left_ns;
    for (size_t i = 0; i < s->kernel_count; i++)
        sum = rocl_add_saturated(sum, s->kernels[i].ns);
    if (!s->marker)
        return !s->step_count && s->chosen == SIZE_MAX;
    if (s->chosen == SIZE_MAX)
        return !s->kernel_count && !s->left_out;
    return s->chosen < s->step_count && s->steps[s->chosen].kernel_ns == sum &&
           s->steps[s->chosen].kernels == s->kernel_count + s->left_out;
}

rocl_status rocl_baseline_read_order(rocl_json *json, rocl_side_steps *s, const uint32_t *keys,
                                     size_t key_count, const char **what, rocl_error *err)
{
    enum { PROCESSES, MARKER, BYTES, STEPS, CHOSEN, LANES, KERNELS, LEFT_OUT, LEFT_NS, LACK, KEYS };
    static const rocl_view members[KEYS] = {
        [PROCESSES] = ROCL_JSON_KEY("processes"), [MARKER] = ROCL_JSON_KEY("marker"),
        [BYTES] = ROCL_JSON_KEY("bytes"),         [STEPS] = ROCL_JSON_KEY("steps"),
        [CHOSEN] = ROCL_JSON_KEY("chosen"),       [LANES] = ROCL_JSON_KEY("lanes"),
        [KERNELS] = ROCL_JSON_KEY("kernels"),     [LEFT_OUT] = ROCL_JSON_KEY("left_out"),
        [LEFT_NS] = ROCL_JSON_KEY("left_out_ns"), [LACK] = ROCL_JSON_KEY("lacks")};
    static const struct {
        void (*read)(order_reader *r, const char *wrong);
        const char *wrong;
    } arrays[KEYS] = {[PROCESSES] = {read_processes, "a process of the order is not valid"},
                      [STEPS] = {read_steps, "a step of the order is not valid"},
                      [LANES] = {read_lanes, "a lane of the order is not valid"},
                      [KERNELS] = {read_kernels, "a kernel of the order is not valid"}};
    order_reader r = {.json = json, .to = s, .keys = keys, .key_count = key_count};
    rocl_json_token v;
    uint64_t number = 0;
    *what = NULL;
    rocl_side_steps_free(s); /* there was one already */
    *s = (rocl_side_steps){.chosen = SIZE_MAX};
    if (!rocl_json_enter(json, ROCL_JSON_OBJECT))
        r.wrong = "the order is not an object";
    for (int key; is_good(&r) && (key = rocl_json_member(json, members, KEYS, &v)) >= 0;)
        if (arrays[key].read) {
            if (enter_array(&r, arrays[key].wrong))
                arrays[key].read(&r, arrays[key].wrong);
        } else if (key == MARKER || key == BYTES) {
            read_marker(&r, &v, key == BYTES);
        } else if (key == LACK) {
            s->lack = ROCL_LACKS_MEMBERS;
            for (size_t i = 0; i < LACKS && v.kind == ROCL_JSON_STRING; i++)
                if (lacks[i] && rocl_view_is(v.text, lacks[i]))
                    s->lack = (rocl_side_lack)i;
        } else {
            if (v.kind != ROCL_JSON_NUMBER || !rocl_json_uint(v.text, &number) ||
                number > INT64_MAX)
                r.wrong = "a number of the order is not valid";
            if (key == CHOSEN)
                s->chosen = (size_t)number;
            else if (key == LEFT_OUT)
                s->left_out = number;
            else
                s->left_ns = (int64_t)number;
        }
    if (is_good(&r) && !adds_up(s))
        r.wrong = "the order does not add up";
    *what = r.wrong ? r.wrong : json->wrong ? "" : NULL;
    return r.no_memory ? rocl_fail_memory(err) : *what ? ROCL_INPUT : ROCL_OK;
}

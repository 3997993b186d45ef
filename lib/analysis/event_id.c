/* Ids of single events as text. */
#include "analysis/event_id.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 8, CANDIDATES = 3 };

static const char *guid_of(const rocl_trace *t, size_t capture)
{
    return rocl_str(t, t->captures[capture]->pub.guid);
}

static char *name_capture(const rocl_trace *t, size_t capture)
{
    const char *guid = guid_of(t, capture);
    size_t len = strlen(guid), same = 0, shared = SHORTEST - 1;
    char *name;
    for (size_t i = 0; i < t->capture_count; i++) {
        const char *other = guid_of(t, i);
        size_t n = 0;
        same += i < capture && !strcmp(guid, other);
        if (!strcmp(guid, other))
            continue;
        while (guid[n] && guid[n] == other[n])
            n++;
        shared = n > shared ? n : shared;
    }
    /* The beginning of a GUID is enough for people, if it is made of hexadecimal digits. */
    if (len >= 16 && !guid[strspn(guid, "0123456789abcdefABCDEF-")] && shared + 1 < len)
        len = shared + 1;
    const int n = same ? asprintf(&name, "%.*s#%zu", (int)len, guid, same + 1)
                       : asprintf(&name, "%.*s", (int)len, guid);
    return n < 0 ? NULL : name;
}

rocl_status rocl_event_ids_open(rocl_event_ids *ids, const rocl_trace *t, rocl_error *err)
{
    *ids = (rocl_event_ids){.trace = t, .names = calloc(t->capture_count + 1, sizeof(char *))};
    bool good = ids->names != NULL;
    for (size_t i = 0; good && i < t->capture_count; i++)
        good = (ids->names[i] = name_capture(t, i)) != NULL;
    if (good)
        return ROCL_OK;
    rocl_event_ids_free(ids);
    return rocl_fail_memory(err);
}

void rocl_event_ids_free(rocl_event_ids *ids)
{
    for (size_t i = 0; ids->names && i < ids->trace->capture_count; i++)
        free(ids->names[i]);
    free(ids->names);
    ids->names = NULL;
}

void rocl_event_id_put(rocl_buf *to, const rocl_event_ids *ids, const rocl_capture *c,
                       rocl_kind kind, uint64_t row)
{
    rocl_buf_printf(to, "%s:%s:%" PRIu64, rocl_kind_name(kind), ids->names[c->index], row);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *kind_word(const void *ctx, size_t i)
{
    (void)ctx;
    return i < ROCL_FLOW ? rocl_kind_name((rocl_kind)i) : NULL;
}

static rocl_status read_kind(const char *text, size_t n, rocl_kind *kind, rocl_error *err)
{
    for (rocl_kind k = 0; k < ROCL_FLOW; k++)
        if (strlen(rocl_kind_name(k)) == n && !memcmp(rocl_kind_name(k), text, n)) {
            *kind = k;
            return ROCL_OK;
        }
    const char *near = rocl_nearest_word(text, n, kind_word, NULL);
    return near ? rocl_fail(err, ROCL_USAGE, "\"%s\": there is no kind %.*s; did you mean %s?",
                            text, (int)n, text, near)
                : rocl_fail(err, ROCL_USAGE, "\"%s\" is not an id such as kernel:00000096-88a3:12",
                            text);
}

/* The capture of a GUID, or of its beginning: its name in ids, or the only one that begins so. */
static rocl_status read_capture(const rocl_event_ids *ids, const char *text, const char *p,
                                size_t n, const rocl_capture **capture, rocl_error *err)
{
    const rocl_trace *t = ids->trace;
    size_t found = 0, at = 0;
    const char *names[CANDIDATES] = {"", "", ""};
    for (size_t i = 0; i < t->capture_count; i++) {
        const char *guid = guid_of(t, i);
        if (strlen(ids->names[i]) == n && !memcmp(ids->names[i], p, n)) {
            *capture = &t->captures[i]->pub;
            return ROCL_OK;
        }
        if (strncmp(guid, p, n) != 0)
            continue;
        if (found < CANDIDATES)
            names[found] = ids->names[i];
        found++;
        at = i;
    }
    if (found == 1) {
        *capture = &t->captures[at]->pub;
        return ROCL_OK;
    }
    if (found)
        return rocl_fail(err, ROCL_USAGE, "\"%s\": %zu processes begin so: %s, %s%s%s", text, found,
                         names[0], names[1], found > 2 ? ", " : "",
                         found > CANDIDATES ? "..." : names[2]);
    return rocl_fail(
        err, ROCL_USAGE,
        "\"%s\": no process of this trace is called %.*s; an id is of the file that it "
        "was taken from, not of its conversions",
        text, (int)n, p);
}

rocl_status rocl_event_id_read(const rocl_event_ids *ids, const char *text,
                               const rocl_capture **capture, rocl_kind *kind, uint64_t *row,
                               rocl_error *err)
{
    const char *first = strchr(text, ':'), *last = strrchr(text, ':');
    char *end;
    rocl_status st = read_kind(text, first ? (size_t)(first - text) : strlen(text), kind, err);
    if (st != ROCL_OK)
        return st;
    if (!first || !isdigit((unsigned char)last[1]))
        return rocl_fail(err, ROCL_USAGE, "\"%s\" is not an id such as kernel:00000096-88a3:12",
                         text);
    *row = strtoull(last + 1, &end, 10);
    if (*end)
        return rocl_fail(err, ROCL_USAGE, "\"%s\": \"%s\" is not a number", text, last + 1);
    if (first < last)
        return read_capture(ids, text, first + 1, (size_t)(last - first) - 1, capture, err);
    if (ids->trace->capture_count != 1)
        return rocl_fail(err, ROCL_USAGE, "\"%s\": of which process? The trace has %zu: %s:%s:%s",
                         text, ids->trace->capture_count, rocl_kind_name(*kind), ids->names[0],
                         first + 1);
    *capture = &ids->trace->captures[0]->pub;
    return ROCL_OK;
}

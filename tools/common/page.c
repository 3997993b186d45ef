/* A timeline as a page, of a report or as an output of `rocline convert`. */
#include "common/page.h"

#include "common/converter.h"
#include "common/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ROCL_PAGE_EVENTS == 2000000, "--max-events says: default 2000000");

rocl_status page_write(const page_choice *c, rocl_trace *t, const char *path,
                       const rocl_tables *tables, bool first, bool group_by_queue,
                       rocl_written *written, rocl_error *err)
{
    char *from = c->window ? must_have(strdup(c->window)) : NULL;
    char *between = from ? strstr(from, "..") : NULL;
    rocl_page_options o = {.path = path,
                           .tables = tables,
                           .front = first,
                           .group_by_queue = group_by_queue,
                           .max_events = c->max_events,
                           .from = from && *from ? from : NULL};
    if (between) {
        *between = '\0';
        o.from = *from ? from : NULL;
        o.to = between[2] ? between + 2 : NULL;
    }
    const rocl_status s = rocl_write_page(t, &o, written, err);
    free(from);
    return s;
}

/* ---- as one of several outputs ----------------------------------------------------------------
 */

static page_choice choice;
static bool by_queue;
static char page_path[8192];
static rocl_written page_written;

static int prepare_page(const common *c, const conversion *o, unsigned variant)
{
    (void)variant;
    const char *name = output_name(c);
    choice = o->page;
    by_queue = o->group_by_queue;
    int code = -1;
    if (!strcmp(name, "-"))
        strcpy(page_path, "-");
    else
        code = output_place(c, ends_with(name, ".html") || ends_with(name, ".html.gz"),
                            "_results.html", page_path, sizeof page_path);
    return code < 0 ? output_check(c, page_path) : code;
}

static rocl_status write_page(rocl_trace *t, void *ctx, rocl_error *err)
{
    (void)ctx;
    const rocl_status s = output_make_parent(page_path);
    return s == ROCL_OK
               ? page_write(&choice, t, page_path, NULL, true, by_queue, &page_written, err)
               : s;
}

static void report_page(const void *state)
{
    (void)state;
    const bool to_stdout = !strcmp(page_path, "-");
    msg_verbose("%s: %" PRIu64 " bytes, %" PRIu64 " events, %" PRIu64 " values",
                to_stdout ? "standard output" : page_path, page_written.bytes, page_written.slices,
                page_written.values);
    if (!to_stdout)
        output_done(page_path);
}

const converter html_converter = {"html", ".html", prepare_page, write_page, report_page, NULL, 0};

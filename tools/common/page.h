/* A timeline as a page: the options of it, and the page as one of several outputs. */
#pragma once

#include "common/common.h"

typedef struct page_choice {
    unsigned max_events; /* 0: the default */
    const char *window;  /* "FROM..TO" as given, or NULL */
} page_choice;

/* Rows of an option table, of a page_choice in the tool's struct. */
#define PAGE_OPTIONS(what, cli, field)                                                             \
    {"max-events",                                                                                 \
     0,                                                                                            \
     OPT_NUMBER,                                                                                   \
     offsetof(cli, field.max_events),                                                              \
     "N",                                                                                          \
     NULL,                                                                                         \
     1,                                                                                            \
     INT_MAX,                                                                                      \
     what ": keep full details of at most N events, where they are densest in time, and "          \
          "densities of the others (default: 2000000)"},                                           \
    {                                                                                              \
        "window", 0, OPT_STRING, offsetof(cli, field.window), "FROM..TO", NULL, 0, 0,              \
            what ": keep full details of the events in this part of the time, as in 40%..60% or "  \
                 "+1s..+2.5s, and densities of the others"                                         \
    }

static inline bool page_choice_made(const page_choice *c)
{
    return c->max_events || c->window;
}

/* Writes the page; tables: of a report that is on it as well, or NULL. first: the page opens with
 * the timeline. */
rocl_status page_write(const page_choice *c, rocl_trace *t, const char *path,
                       const rocl_tables *tables, bool first, bool group_by_queue,
                       rocl_written *written, rocl_error *err);

/* The rules of findings, and what they work with. evidence.c has what they read, finding_rules.c
 * the rules, findings.c puts together what they find. */
#pragma once

#include "analysis/report.h"

/* MOST_FINDINGS is more than all rules of doctor and of findings make. */
enum { MOST_FINDINGS = 128, LEAST_WORK = 20 /* kernels and copies */ };

/* What doctor doubts; a rule is silent where its numbers rest on that. */
enum {
    WORK_LOST = 1 << 0,    /* kernels are missing */
    CLOCKS_WRONG = 1 << 1, /* of host and GPU */
    TIMES_WRONG = 1 << 2,  /* durations that cannot be */
    RANKS_WRONG = 1 << 3,  /* some are missing, or their clocks are apart */
    KINDS_OF_DOUBT = 4
};
enum { IDLE_TIMES = WORK_LOST | CLOCKS_WRONG | TIMES_WRONG, WORK_TIMES = TIMES_WRONG };

/* A row of the table. */
typedef struct finding {
    const char *level, *finding, *evidence, *where, *cause, *what, *record, *report, *rule,
        *threshold, *name, *overlaps, *event;
    int64_t gain, rank, places, begin, end; /* -1: none; gain: ns */
    double percent;
    const struct finding_rule *by; /* NULL: doctor */
} finding;

typedef struct engine {
    const rocl_tables *evidence;
    rocl_tables *out; /* has the texts */
    int64_t wall;
    bool enough;                     /* GPU work for rules of that */
    finding list[MOST_FINDINGS + 1]; /* the last is scratch */
    size_t count;
    const struct finding_rule *rule; /* that is checked, and what it has made */
    size_t made;
} engine;

/* Reads the evidence, and adds findings; returns why it does not apply, or NULL. */
typedef const char *check_fn(engine *a, const rocl_table *t);

typedef struct finding_rule {
    const char *name, *report; /* "late-rank"; the report to look at */
    const char *table;         /* the evidence without which it is not checked */
    check_fn *check;
    unsigned doubts;
    bool named; /* only where its report was asked for: the evidence is expensive */
    /* Rules that say why: if they have found at least half of that time, this one is silent. */
    const char *explained_by;
    const char *threshold, *remedy; /* sentences for people */
} finding_rule;

/* That of late ranks is the first. Their number. */
extern const finding_rule rocl_finding_rules[];
extern const size_t rocl_finding_rule_count;

/* ---- reading evidence ------------------------------------------------------------------------ */

static inline const rocl_table *find(const engine *a, const char *key)
{
    static const rocl_table none;
    const rocl_table *t = a->evidence ? rocl_tables_find(a->evidence, key) : NULL;
    return t ? t : &none;
}

static inline double number_in(const rocl_table *t, size_t row, const char *key)
{
    return rocl_datum_number(rocl_table_find_cell(t, row, key));
}

static inline const char *text_in(const rocl_table *t, size_t row, const char *key)
{
    return rocl_datum_str(rocl_table_find_cell(t, row, key));
}

/* NULL: the cell is empty. */
static inline const char *text_or_none(const rocl_table *t, size_t row, const char *key)
{
    const char *text = text_in(t, row, key);
    return *text ? text : NULL;
}

static inline double sum_of(const rocl_table *t, const char *key)
{
    double sum = 0;
    for (size_t i = 0; i < t->row_count; i++)
        sum += number_in(t, i, key);
    return sum;
}

static inline const char *keep(engine *a, const char *text)
{
    return rocl_tables_text(a->out, text, strlen(text));
}

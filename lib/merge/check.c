/* SQLite copies records without a look at them, and reads damaged ones as whatever they look like.
 * So the rows of a set are read as the other tools would, while they are copied. */
#include "base/pool.h"
#include "merge/copier.h"

typedef struct both {
    merge_copier *copier;
    rocl_status (*copy)(merge_copier *c, rocl_error *err);
} both;

static rocl_status open_checked(merge_copier *c, rocl_error *err)
{
    const rocl_source *s = c->reader.source;
    const rocpd_file *file = s->state;
    if (c->checked)
        return ROCL_OK;
    return rocl_source_connect(&c->checked, c->plan->trace, s, &file->state, err);
}

static rocl_status check_set(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    rocl_status st = open_checked(c, err);
    for (size_t i = 0; i < set->count && st == ROCL_OK; i++)
        st = rocl_db_check_rows(c->checked, set->tables[i].name, err);
    return st;
}

static rocl_status check_or_copy(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    both *b = ctx;
    (void)worker;
    return index == 0 ? check_set(b->copier, err) : b->copy(b->copier, err);
}

/* Of two failures it is the first that is told: it names the page. */
rocl_status merge_check_and(merge_copier *c, rocl_status (*copy)(merge_copier *c, rocl_error *err),
                            rocl_error *err)
{
    rocl_trace *t = c->plan->trace;
    rocpd_set *set = t->captures[c->set->capture->index]->state;
    both b = {c, copy};
    if (set->sound)
        return copy(c, err);
    rocl_status st = rocl_run_tasks(t->opt.jobs > 1 ? 2 : 1, 2, check_or_copy, &b, err);
    set->sound = st == ROCL_OK;
    return st;
}

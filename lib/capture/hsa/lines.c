/* Lines of text about GPU work, as rtg_tracer and the HCC runtime had them. */
#include <string.h>

#include "capture/hsa/hsa.h"

static void add_name(rocl_line *l, const char *name)
{
    rocl_line_text(l, " name:'", 7);
    rocl_line_text(l, name, strlen(name));
    rocl_line_text(l, "'", 1);
}

/* A kernel that the runtime was not asked for, but got. */
static const char *shown_of(const rocl_flight *f)
{
    return f->kernel ? f->kernel->shown : "unknown";
}

static void add_deps(rocl_line *l, const rocl_flight *f)
{
    for (int i = 0; i < 5; i++)
        rocl_line_add(l, " dep%d:%lu", i + 1, (unsigned long)f->deps[i]);
}

static void add_head(rocl_line *l, const rocl_flight *f)
{
    static const char *const names[] = {"dispatch", "barrier", "copy"};
    rocl_line_who(l, "HSA");
    rocl_line_text(l, names[f->kind], strlen(names[f->kind]));
    if (f->queue)
        rocl_line_add(l, " queue:%lu", (unsigned long)f->queue->id);
    rocl_line_add(l, " agent:%lu signal:%lu", (unsigned long)f->agent->handle.handle,
                  (unsigned long)f->signal.handle);
}

void rocl_hsa_line_sent(const rocl_flight *f)
{
    rocl_line l;
    add_head(&l, f);
    if (f->kind == ROCL_KERNEL)
        add_name(&l, shown_of(f));
    else
        add_deps(&l, f);
    rocl_line_add(&l, " tick:%lu id:%lu", (unsigned long)f->sent, (unsigned long)f->id);
    if (f->kind == ROCL_KERNEL)
        rocl_line_add(&l, " workgroup:{%u,%u,%u} grid:{%u,%u,%u}", f->workgroup[0], f->workgroup[1],
                      f->workgroup[2], f->grid[0], f->grid[1], f->grid[2]);
    rocl_line_write(&l);
}

static void write_rtg(const rocl_flight *f, uint64_t start, uint64_t end)
{
    rocl_line l;
    add_head(&l, f);
    if (f->kind == ROCL_KERNEL)
        add_name(&l, shown_of(f));
    rocl_line_add(&l, " start:%lu stop:%lu", (unsigned long)start, (unsigned long)end);
    if (f->kind != ROCL_KERNEL)
        add_deps(&l, f);
    if (f->kind != ROCL_COPY)
        rocl_line_add(&l, " id:%lu", (unsigned long)f->id);
    rocl_line_write(&l);
}

/* ---- HCC_PROFILE ----------------------------------------------------------------------------- */

static const char *tag_of(const rocl_flight *f)
{
    static const char *const copies[2][2] = {{"HostToHost", "HostToDevice"},
                                             {"DeviceToHost", "DeviceToDevice"}};
    if (f->kind == ROCL_COPY)
        return copies[f->src->gpu][f->dst->gpu];
    if (f->kind == ROCL_BARRIER)
        return "";
    return f->kernel ? f->kernel->symbol : "unknown";
}

static void add_padded(rocl_line *l, const char *text, size_t width)
{
    size_t n = strlen(text);
    if (n < width)
        rocl_line_add(l, "%*s", (int)(width - n), "");
    rocl_line_text(l, text, n);
}

static void add_rate(rocl_line *l, const rocl_flight *f, uint64_t ns)
{
    double bytes = (double)f->size, per_ns = bytes / (double)ns;
    rocl_line_add(l, "\t%lu bytes;\t%g MB;\t%g GB/s;", (unsigned long)f->size, bytes / 1048576,
                  per_ns * (1000.0 / 1024) * (1000.0 / 1024));
}

static void write_hcc(const rocl_flight *f, uint64_t start, uint64_t end)
{
    static const char *const types[] = {"kernel", "barrier", "copy"};
    uint32_t queue = f->queue ? f->queue->shown : rocl_hsa_copy_queue(f->agent);
    rocl_line l;
    rocl_line_begin(&l);
    rocl_line_add(&l, "profile: %7s;\t", types[f->kind]);
    add_padded(&l, tag_of(f), 40);
    rocl_line_add(&l, ";\t%6.1f us;\t%lu;\t%lu;\t#%u.%u.%lu;", (double)(end - start) / 1000,
                  (unsigned long)start, (unsigned long)end, rocl_hsa_agent_shown(f->agent), queue,
                  (unsigned long)f->seq);
    if (f->kind == ROCL_COPY)
        add_rate(&l, f, end - start);
    rocl_line_write(&l);
}

void rocl_hsa_line_done(const rocl_flight *f, uint64_t start, uint64_t end)
{
    (rocl_rtg.hcc ? write_hcc : write_rtg)(f, start, end);
}

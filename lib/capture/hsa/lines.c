/* Lines of text about GPU work, as rtg_tracer and the HCC runtime had them. */
#include <string.h>

#include "capture/hsa/hsa.h"

static void add_kernel_name(rocl_line *l, const rocl_flight *f)
{
    /* Unknown: made without an executable that was frozen. */
    const char *name = f->kernel ? f->kernel->name : "unknown";
    rocl_line_text(l, " name:'", 7);
    rocl_line_text(l, name, strlen(name));
    rocl_line_text(l, "'", 1);
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
        add_kernel_name(&l, f);
    else
        add_deps(&l, f);
    rocl_line_add(&l, " tick:%lu id:%lu", (unsigned long)f->sent, (unsigned long)f->id);
    if (f->kind == ROCL_KERNEL)
        rocl_line_add(&l, " workgroup:{%u,%u,%u} grid:{%u,%u,%u}", f->workgroup[0], f->workgroup[1],
                      f->workgroup[2], f->grid[0], f->grid[1], f->grid[2]);
    rocl_line_write(&l);
}

/* HCC_PROFILE */
static void write_hcc_line(const rocl_flight *f, uint64_t start, uint64_t end)
{
    enum { TAG_WIDTH = 40 };
    static const char *const types[] = {"kernel", "barrier", "copy"};
    static const char *const copies[2][2] = {{"HostToHost", "HostToDevice"},
                                             {"DeviceToHost", "DeviceToDevice"}};
    const char *tag = f->kind == ROCL_COPY      ? copies[f->src->gpu][f->dst->gpu]
                      : f->kind == ROCL_BARRIER ? ""
                      : f->kernel               ? f->kernel->symbol
                                                : "unknown";
    size_t tag_len = strlen(tag);
    uint32_t queue = f->queue ? f->queue->number : rocl_hsa_copy_queue(f->agent);
    rocl_line l;
    rocl_line_begin(&l);
    rocl_line_add(&l, "profile: %7s;\t", types[f->kind]);
    if (tag_len < TAG_WIDTH)
        rocl_line_add(&l, "%*s", (int)(TAG_WIDTH - tag_len), "");
    rocl_line_text(&l, tag, tag_len);
    rocl_line_add(&l, ";\t%6.1f us;\t%lu;\t%lu;\t#%u.%u.%lu;", (double)(end - start) / 1000,
                  (unsigned long)start, (unsigned long)end, rocl_hsa_agent_number(f->agent), queue,
                  (unsigned long)f->seq);
    if (f->kind == ROCL_COPY) {
        double bytes = (double)f->size, per_ns = bytes / (double)(end - start);
        rocl_line_add(&l, "\t%lu bytes;\t%g MB;\t%g GB/s;", (unsigned long)f->size, bytes / 1048576,
                      per_ns * (1000.0 / 1024) * (1000.0 / 1024));
    }
    rocl_line_write(&l);
}

void rocl_hsa_line_done(const rocl_flight *f, uint64_t start, uint64_t end)
{
    if (rocl_rtg.hcc) {
        write_hcc_line(f, start, end);
        return;
    }
    rocl_line l;
    add_head(&l, f);
    if (f->kind == ROCL_KERNEL)
        add_kernel_name(&l, f);
    rocl_line_add(&l, " start:%lu stop:%lu", (unsigned long)start, (unsigned long)end);
    if (f->kind != ROCL_KERNEL)
        add_deps(&l, f);
    if (f->kind != ROCL_COPY)
        rocl_line_add(&l, " id:%lu", (unsigned long)f->id);
    rocl_line_write(&l);
}

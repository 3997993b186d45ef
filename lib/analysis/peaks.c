/* Peaks of GPUs, as lines of text: the shipped ones, and those of a file. */
#include "analysis/peaks.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/report.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/unpack.h"
#include "model/identity.h"

enum { FILE_MAX_BYTES = 1 << 20, IDS = 4 };

/* Dense matrix operations at the peak engine clock, for fp32 of Radeon those of vectors, and the
 * theoretical bandwidth of memory. Of MI250X and MI250 one of the two GPUs. Units and memory are
 * those of ROCm's table of GPUs, ids of products those of libdrm. */
static const char shipped[] =
    "MI100 gfx=gfx908 cus=120 memory=32G id=738c "
    "bandwidth=1228.8G fp64=11.5T fp32=46.1T fp16=184.6T bf16=92.3T int8=184.6T\n"
    "MI210 gfx=gfx90a cus=104 memory=64G id=740f "
    "bandwidth=1638.4G fp64=45.3T fp32=45.3T fp16=181T bf16=181T int8=181T\n"
    "MI250 gfx=gfx90a cus=104 memory=64G "
    "bandwidth=1638.4G fp64=45.3T fp32=45.3T fp16=181T bf16=181T int8=181T\n"
    "MI250X gfx=gfx90a cus=110 memory=64G id=7408 "
    "bandwidth=1638.4G fp64=47.9T fp32=47.9T fp16=191.5T bf16=191.5T int8=191.5T\n"
    "MI300A gfx=gfx942 cus=228 memory=128G id=74a0 bandwidth=5300G "
    "fp64=122.6T fp32=122.6T fp16=980.6T bf16=980.6T fp8=1961.2T int8=1961.2T\n"
    "MI300X gfx=gfx942 cus=304 memory=192G id=74a1 id=74b5 bandwidth=5300G "
    "fp64=163.4T fp32=163.4T fp16=1307.4T bf16=1307.4T fp8=2614.9T int8=2614.9T\n"
    "MI325X gfx=gfx942 cus=304 memory=256G id=74a5 bandwidth=6000G "
    "fp64=163.4T fp32=163.4T fp16=1307.4T bf16=1307.4T fp8=2614.9T int8=2614.9T\n"
    "MI350X gfx=gfx950 cus=256 memory=288G id=75a0 id=75b0 bandwidth=8000G "
    "fp64=72.1T fp32=144.2T fp16=2306.9T bf16=2306.9T fp8=4613.7T int8=4613.7T\n"
    "MI355X gfx=gfx950 cus=256 memory=288G id=75a3 id=75b3 bandwidth=8000G "
    "fp64=78.6T fp32=157.3T fp16=2516.6T bf16=2516.6T fp8=5033.2T int8=5033.2T\n"
    "RX-7900-XTX gfx=gfx1100 cus=96 memory=24G "
    "bandwidth=960G fp32=61.4T fp16=122.9T bf16=122.9T int8=122.9T\n"
    "RX-7900-XT gfx=gfx1100 cus=84 memory=20G "
    "bandwidth=800G fp32=51.6T fp16=103T bf16=103T int8=103T\n"
    "RX-9070-XT gfx=gfx1201 cus=64 memory=16G "
    "bandwidth=640G fp32=48.7T fp16=194.6T bf16=194.6T fp8=389T int8=389T\n"
    "RX-9070 gfx=gfx1201 cus=56 memory=16G "
    "bandwidth=640G fp32=36T fp16=146T bf16=146T fp8=291T int8=291T\n";

/* Texts are in those of its list; 0 and an empty text: not known. */
typedef struct peak_line {
    rocl_view name, gfx;
    rocl_peak peak;
    double cus, memory;
    uint32_t ids[IDS];
} peak_line;

typedef struct peak_list {
    peak_line *lines; /* of the file first */
    size_t count, cap, of_file;
    char *text;
} peak_list;

/* The next word of a line; empty at its end. */
static rocl_view next_word(const char **at, const char *end)
{
    while (*at < end && memchr(" \t\r", **at, 3))
        ++*at;
    const char *from = *at;
    while (*at < end && !memchr(" \t\r", **at, 3))
        ++*at;
    return rocl_view_between(from, *at);
}

static bool read_value(rocl_view text, double *v)
{
    static const char units[] = "kMGTP";
    char number[32] = "", *end;
    if (!text.n || text.n >= sizeof number || !(isdigit((unsigned char)*text.p) || *text.p == '.'))
        return false;
    memcpy(number, text.p, text.n);
    *v = strtod(number, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        *v *= 1e3;
    return isfinite(*v) && *v > 0 && !end[unit != NULL];
}

static bool read_id(rocl_view text, uint32_t *ids)
{
    char number[9] = "", *end;
    unsigned i = 0;
    while (i < IDS && ids[i])
        i++;
    if (i == IDS || text.n >= sizeof number)
        return false;
    memcpy(number, text.p, text.n);
    ids[i] = (uint32_t)strtoul(number, &end, 16);
    return ids[i] && !*end;
}

static rocl_status read_line(peak_line *p, const char *at, const char *end, rocl_error *err)
{
    for (rocl_view word; (word = next_word(&at, end)).n;) {
        const rocl_view key = rocl_view_until(word, '=');
        const rocl_view text = rocl_view_between(
            key.n < word.n ? key.p + key.n + 1 : word.p + word.n, word.p + word.n);
        double *to = rocl_view_is(key, "bandwidth") ? &p->peak.bandwidth
                     : rocl_view_is(key, "memory")  ? &p->memory
                     : rocl_view_is(key, "cus")     ? &p->cus
                                                    : NULL;
        for (unsigned i = 0; i < ROCL_NUMBER_TYPES && !to; i++)
            to = rocl_view_is(key, rocl_number_type_names[i]) ? &p->peak.flops[i] : NULL;
        if (rocl_view_is(key, "gfx"))
            p->gfx = text;
        else if (rocl_view_is(key, "id") ? !read_id(text, p->ids) : !to || !read_value(text, to))
            return rocl_fail(err, ROCL_INPUT,
                             "\"%.*s\" is none of bandwidth, fp64, fp32, fp16, bf16, fp8, int8, "
                             "cus, memory = a positive number with k, M, G, T or P; gfx = a name; "
                             "id = a hexadecimal number",
                             (int)(word.n < 60 ? word.n : 60), word.p);
    }
    return ROCL_OK;
}

/* Every line is read, so that a wrong one is found whatever is asked for. */
static rocl_status read_lines(peak_list *l, const char *path, const char *text, size_t n,
                              rocl_error *err)
{
    const char *end = text + n;
    rocl_status st = ROCL_OK;
    for (size_t number = 1; text < end && st == ROCL_OK; number++) {
        rocl_view line = rocl_view_until(rocl_view_between(text, end), '\n');
        const char *at = line.p, *past = line.p + line.n;
        text = past + (past < end);
        const rocl_view word = next_word(&at, past);
        if (!word.n || *word.p == '#')
            continue;
        if (!ROCL_GROW(l->lines, l->cap, l->count + 1))
            return rocl_fail_memory(err);
        l->lines[l->count] = (peak_line){.name = word};
        st = read_line(&l->lines[l->count++], at, past, err);
        if (st != ROCL_OK)
            rocl_wrap(err, "%s, line %zu", path, number);
    }
    return st;
}

static rocl_status open_list(peak_list *l, const char *path, rocl_error *err)
{
    size_t n = 0;
    *l = (peak_list){0};
    rocl_status st = path ? rocl_unpack_file(path, FILE_MAX_BYTES, &l->text, &n, err) : ROCL_OK;
    if (st == ROCL_OK && path)
        st = read_lines(l, path, l->text, n, err);
    l->of_file = l->count;
    return st == ROCL_OK ? read_lines(l, "peaks", shipped, sizeof shipped - 1, err) : st;
}

static void close_list(peak_list *l)
{
    free(l->lines);
    free(l->text);
}

/* ---- which one ------------------------------------------------------------------------------- */

/* "AMD Radeon RX 7900 XT" ends with RX-7900-XT. Further words are another product, except of a GPU
 * that a guest sees, or that is on a module. */
static bool is_called(const char *text, rocl_view name)
{
    static const char *const forms[] = {"", " VF", " OAM"};
    if (!text || strchr(text, '/')) /* "MI250X / MI250" is either */
        return false;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        const size_t n = strlen(text), form = strlen(forms[f]);
        if (n < form + name.n || strcasecmp(text + n - form, forms[f]) != 0)
            continue;
        const char *at = text + n - form - name.n;
        size_t same = 0;
        while (same < name.n && (!strncasecmp(&at[same], &name.p[same], 1) ||
                                 (at[same] == ' ' && name.p[same] == '-')))
            same++;
        if (same == name.n && (at == text || at[-1] == ' '))
            return true;
    }
    return false;
}

/* How sure it is that a line is of a GPU: by its name, else by the id of the product, else by what
 * agrees with it. 0: nothing says so, or something says otherwise. A GPU that is divided has fewer
 * units than its product. */
static unsigned compare_gpu(const peak_line *p, const rocl_gpu_facts *g)
{
    const bool arch = p->gfx.n && *g->arch, cus = p->cus > 0 && g->cus > 0,
               memory = p->memory > 0 && g->memory > 0;
    if (cus && fabs(p->cus - g->cus) > 0.5)
        return 0;
    for (unsigned i = 0; i < ROCL_GPU_NAMES; i++)
        if (is_called(g->names[i], p->name))
            return 20;
    for (unsigned i = 0; i < IDS && g->id; i++)
        if (p->ids[i] == g->id)
            return 10;
    if ((arch && !rocl_view_is(p->gfx, g->arch)) ||
        (memory && fabs(p->memory / g->memory - 1) > 0.1)) /* GB or GiB */
        return 0;
    return arch || (cus && memory) ? 1U + arch + cus + memory : 0;
}

static bool have_same_rates(const rocl_peak *a, const rocl_peak *b)
{
    return !memcmp(&a->bandwidth, &b->bandwidth, sizeof *a - offsetof(rocl_peak, bandwidth));
}

static void add_name(rocl_buf *names, const peak_line *p)
{
    rocl_buf_str(names, names->len ? ", " : "");
    rocl_buf_put(names, p->name.p, p->name.n);
}

/* NULL: none is; or several that differ are, which then stand in `names`. */
static const peak_line *choose_among(const peak_line *lines, size_t n, const rocl_gpu_facts *g,
                                     rocl_buf *names)
{
    const peak_line *best = NULL;
    unsigned surest = 0;
    bool differ = false;
    names->len = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned sure = compare_gpu(&lines[i], g);
        if (sure < surest || !sure || surest == 20) /* the first of a name counts */
            continue;
        if (sure > surest) {
            best = &lines[i];
            surest = sure;
            differ = false;
            names->len = 0;
        }
        differ |= !have_same_rates(&best->peak, &lines[i].peak);
        add_name(names, &lines[i]);
    }
    return differ ? NULL : best;
}

static const peak_line *choose_line(const peak_list *l, const rocl_gpu_facts *g, rocl_buf *names)
{
    const peak_line *p = choose_among(l->lines, l->of_file, g, names);
    return p || names->len ? p
                           : choose_among(l->lines + l->of_file, l->count - l->of_file, g, names);
}

static rocl_status take_line(rocl_peak *p, const peak_line *from, rocl_error *err)
{
    *p = from->peak;
    p->name = strndup(from->name.p, from->name.n);
    return p->name ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_peak_find(rocl_peak *p, const char *name, const char *path, rocl_error *err)
{
    const rocl_gpu_facts facts = {.names = {name}, .arch = strncmp(name, "gfx", 3) ? "" : name};
    peak_list l;
    rocl_buf names = {0};
    *p = (rocl_peak){0};
    rocl_status st = open_list(&l, path, err);
    const peak_line *line = st == ROCL_OK ? choose_line(&l, &facts, &names) : NULL;
    const bool several = names.len && !line;
    for (size_t i = 0; st == ROCL_OK && !line && !several && i < l.count; i++)
        add_name(&names, &l.lines[i]);
    if (line)
        st = take_line(p, line, err);
    else if (st == ROCL_OK)
        st = names.failed
                 ? rocl_fail_memory(err)
                 : rocl_fail(err, ROCL_USAGE, "--peak: %s \"%.60s\"%s: %.*s",
                             several ? "several GPUs are" : "no peak is known of", name,
                             several ? "" : "; known", (int)(names.len < 600 ? names.len : 600),
                             (const char *)names.data);
    rocl_buf_free(&names);
    close_list(&l);
    return st;
}

rocl_status rocl_peak_of_gpus(rocl_peak *p, rocl_buf *why, rocl_trace *t, const char *path,
                              rocl_error *err)
{
    peak_list l;
    rocl_buf names = {0};
    const peak_line *found = NULL;
    *p = (rocl_peak){0};
    rocl_status st = open_list(&l, path, err);
    for (size_t i = 0; i < t->gpu_count && st == ROCL_OK && !why->len; i++) {
        rocl_gpu_facts g;
        const rocl_gpu *gpu = &t->gpus[i];
        st = rocl_gpu_facts_read(&g, t, &t->captures[gpu->capture]->pub, gpu->agent, err);
        const peak_line *line = st == ROCL_OK ? choose_line(&l, &g, &names) : NULL;
        const char *name = st == ROCL_OK && g.names[0] ? g.names[0] : "the GPU";
        if (st == ROCL_OK && !line)
            rocl_buf_printf(why, "no peak is known of %.*s%s%.*s; --peak names one",
                            rocl_name_prefix(name, 60), name, names.len ? ", which may be " : "",
                            (int)(names.len < 80 ? names.len : 80),
                            names.len ? (const char *)names.data : "");
        else if (found && line && !have_same_rates(&found->peak, &line->peak))
            rocl_buf_str(why, "the GPUs are of several kinds; --peak names the peak of one");
        found = line;
    }
    if (st == ROCL_OK && found && !why->len)
        st = take_line(p, found, err);
    rocl_buf_free(&names);
    close_list(&l);
    return st;
}

void rocl_peak_free(rocl_peak *p)
{
    free(p->name);
}

/* ---- what is known of a GPU ------------------------------------------------------------------ */

rocl_status rocl_gpu_facts_read(rocl_gpu_facts *g, rocl_trace *t, const rocl_capture *c,
                                uint32_t agent, rocl_error *err)
{
    enum { CUS, ID, BANKS, KEYS };
    static const rocl_view keys[KEYS] = {[CUS] = ROCL_JSON_KEY("cu_count"),
                                         [ID] = ROCL_JSON_KEY("device_id"),
                                         [BANKS] = ROCL_JSON_KEY("mem_banks")},
                           bank_key[] = {ROCL_JSON_KEY("size_in_bytes")};
    const rocl_agent *a = &c->agents[agent];
    const uint32_t texts[ROCL_GPU_NAMES] = {a->product, a->model, a->user_name, a->name};
    rocl_json r;
    rocl_json_token v;
    char *json = NULL;
    double n;
    unsigned count = 0;
    *g = (rocl_gpu_facts){.arch = ""};
    for (unsigned i = 0; i < ROCL_GPU_NAMES; i++)
        if (texts[i] && texts[i] != ROCL_NONE && *rocl_str(t, texts[i]))
            g->names[count++] = rocl_str(t, texts[i]);
    if (!strncmp(rocl_str(t, a->name), "gfx", 3))
        g->arch = rocl_str(t, a->name);
    rocl_status st = rocl_agent_json(t, c, agent, &json, err);
    if (st != ROCL_OK)
        return st;
    rocl_json_open(&r, json, strlen(json), 0, 0);
    const bool object = rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT);
    for (int k; object && (k = rocl_json_member(&r, keys, KEYS, &v)) >= 0;) {
        const bool number = k != BANKS && rocl_json_double(v.text, &n) && n >= 1 && n < 1e6;
        g->cus = number && k == CUS ? floor(n) : g->cus;
        g->id = number && k == ID ? (uint32_t)n : g->id;
        for (bool banks = k == BANKS && rocl_json_enter(&r, ROCL_JSON_ARRAY);
             banks && rocl_json_element(&r, &v);)
            for (bool bank = rocl_json_enter(&r, ROCL_JSON_OBJECT);
                 bank && rocl_json_member(&r, bank_key, 1, &v) >= 0;)
                g->memory += rocl_json_double(v.text, &n) && n > 0 ? n : 0;
    }
    free(json);
    return ROCL_OK;
}

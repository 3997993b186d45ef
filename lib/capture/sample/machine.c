/* What the kernel tells of the machine: the frequency of its cores, and of each card of AMD what
 * amdgpu has in sysfs. Values that cannot be read now (a card that sleeps, EBUSY) are left out. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "capture/sample/sample.h"

enum { PATH = 512, CORE_IDS = 1000, CARD_IDS = 100000 };

/* A file with a number, and its meaning. */
typedef struct value {
    int fd;
    double factor;
    rocl_def *counter;
} value;

static void read_values(value *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[64];
        int64_t v;
        if (sample_pread(all[i].fd, text, sizeof text) > 0 && sample_parse_number(text, &v))
            sample_put(all[i].counter, NULL, (double)v * all[i].factor);
    }
}

static void close_values(value *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(all[i].fd);
    free(all);
}

/* Adds an element; NULL: there is no memory. */
static void *grow_array(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : realloc(array, (count ? 2 * count : 1) * size);
}

/* ---- cores ----------------------------------------------------------------------------------- */

struct sample_cores {
    value *all; /* of cpufreq */
    size_t count;
    int cpuinfo; /* used without cpufreq; -1: there is cpufreq */
    char *text;  /* of it */
    size_t size;
    rocl_def **counters; /* of its cores */
    size_t counter_count;
};

static rocl_def *define_core(unsigned core)
{
    char name[48];
    snprintf(name, sizeof name, "cpu_frequency [%u]", core);
    return rocl_cap_define_counter(&(rocl_cap_counter){.id = CORE_IDS + core,
                                                       .name = name,
                                                       .description = "Frequency of a core",
                                                       .units = "MHz",
                                                       .value_type = "ABS"});
}

/* False: there is no such core, nor further ones, or no memory. */
static bool add_core(sample_cores *c, const char *sysfs, unsigned core)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u", sysfs, core);
    if (access(path, F_OK) != 0)
        return false;
    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", sysfs,
             core);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) /* offline, or without cpufreq */
        return true;
    value *all = grow_array(c->all, c->count, sizeof *all);
    if (!all) {
        close(fd);
        return false;
    }
    c->all = all;
    c->all[c->count++] = (value){fd, 1e-3, define_core(core)}; /* kHz */
    return true;
}

/* Its size is known when it is read. */
static bool use_cpuinfo(sample_cores *c)
{
    ssize_t n = -1;
    double mhz;
    c->cpuinfo = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    for (c->size = 64 << 10; c->cpuinfo >= 0 && n < 0 && c->size <= 64 << 20; c->size *= 2) {
        free(c->text);
        c->text = malloc(c->size);
        n = c->text ? sample_pread(c->cpuinfo, c->text, c->size) : -1;
        if (n >= 0)
            break;
    }
    const char *at = c->text;
    return n > 0 && sample_parse_cpuinfo(&at, &mhz);
}

sample_cores *sample_cores_new(const char *sysfs)
{
    enum { MOST = 65536 };
    sample_cores *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->cpuinfo = -1;
    for (unsigned core = 0; core < MOST && add_core(c, sysfs, core); core++)
        ;
    if (c->count || use_cpuinfo(c))
        return c;
    sample_cores_free(c);
    return NULL;
}

void sample_cores_read(sample_cores *c)
{
    read_values(c->all, c->count);
    double mhz;
    if (c->cpuinfo < 0 || sample_pread(c->cpuinfo, c->text, c->size) <= 0)
        return;
    const char *at = c->text;
    for (size_t core = 0; sample_parse_cpuinfo(&at, &mhz); core++) {
        if (core == c->counter_count) {
            rocl_def **more = grow_array(c->counters, core, sizeof(rocl_def *));
            if (!more)
                return;
            c->counters = more;
            c->counters[c->counter_count++] = define_core((unsigned)core);
        }
        sample_put(c->counters[core], NULL, mhz);
    }
}

void sample_cores_free(sample_cores *c)
{
    if (!c)
        return;
    close_values(c->all, c->count);
    if (c->cpuinfo >= 0)
        close(c->cpuinfo);
    free(c->text);
    free(c->counters);
    free(c);
}

/* ---- cards ----------------------------------------------------------------------------------- */

struct sample_cards {
    value *all; /* of all cards */
    size_t count;
    uint64_t counter; /* ids so far */
};

typedef struct card {
    sample_cards *to;
    char folder[PATH]; /* of the device */
    rocl_def *agent;
} card;

static void add_file(card *c, const char *path, double factor, const char *name,
                     const char *description, const char *units)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    value *all = fd < 0 ? NULL : grow_array(c->to->all, c->to->count, sizeof *all);
    if (!all) {
        if (fd >= 0)
            close(fd);
        return;
    }
    c->to->all = all;
    all[c->to->count++] =
        (value){fd, factor,
                rocl_cap_define_counter(&(rocl_cap_counter){.id = CARD_IDS + c->to->counter++,
                                                            .agent = c->agent,
                                                            .name = name,
                                                            .description = description,
                                                            .units = units,
                                                            .value_type = "ABS"})};
}

/* "PREFIXn_input" of a folder of hwmon: its name is of its label. */
static void add_labelled(card *c, const char *hwmon, const char *prefix, double factor,
                         const char *description, const char *units)
{
    static const struct {
        const char *prefix, *label, *name;
    } names[] = {{"temp", "junction", "device_temp"},
                 {"temp", "edge", "device_temp_edge"},
                 {"temp", "mem", "device_temp_memory"},
                 {"freq", "sclk", "device_clock_gfx"},
                 {"freq", "mclk", "device_clock_memory"}};
    for (unsigned i = 1; i <= 16; i++) {
        char path[PATH + 64], label[64] = "", name[128] = "";
        snprintf(path, sizeof path, "%s/%s%u_label", hwmon, prefix, i);
        sample_read_file(path, label, sizeof label);
        label[strspn(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] =
            '\0';
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (!strcmp(names[k].prefix, prefix) && !strcmp(names[k].label, label))
                snprintf(name, sizeof name, "%s", names[k].name);
        if (!*name && *label)
            snprintf(name, sizeof name, "device_%s_%s", prefix, label);
        else if (!*name)
            snprintf(name, sizeof name, "device_%s_%u", prefix, i);
        snprintf(path, sizeof path, "%s/%s%u_input", hwmon, prefix, i);
        add_file(c, path, factor, name, description, units);
    }
}

static void add_hwmon(card *c)
{
    char folder[PATH + 16], hwmon[PATH + 300], path[PATH + 320];
    snprintf(folder, sizeof folder, "%s/hwmon", c->folder);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strncmp(e->d_name, "hwmon", 5) != 0)
            continue;
        snprintf(hwmon, sizeof hwmon, "%s/%s", folder, e->d_name);
        snprintf(path, sizeof path, "%s/power1_average", hwmon);
        if (access(path, R_OK) != 0)
            snprintf(path, sizeof path, "%s/power1_input", hwmon);
        add_file(c, path, 1e-6, "device_power", "Power", "W");
        add_labelled(c, hwmon, "temp", 1e-3, "Temperature", "\u00b0C");
        add_labelled(c, hwmon, "freq", 1e-6, "Clock", "MHz");
        break;
    }
    if (d)
        closedir(d);
}

/* The node of the driver that has the card's render node, as ROCr numbers agents; -1: unknown. Its
 * name from the version of its instruction set: 90010 is gfx90a. */
static int64_t find_node(const char *sysfs, uint64_t minor, char *name, size_t size)
{
    char path[PATH], text[4096];
    uint64_t has, version;
    for (unsigned i = 0; i < 1024; i++) {
        snprintf(path, sizeof path, "%s/class/kfd/kfd/topology/nodes/%u/properties", sysfs, i);
        if (access(path, F_OK) != 0)
            return -1;
        if (sample_read_file(path, text, sizeof text) <= 0 ||
            !sample_parse_field(text, "drm_render_minor", &has) || has != minor)
            continue;
        if (sample_parse_field(text, "gfx_target_version", &version) && version)
            snprintf(name, size, "gfx%u%x%x", (unsigned)(version / 10000 % 1000),
                     (unsigned)(version / 100 % 100), (unsigned)(version % 100));
        return i;
    }
    return -1;
}

static void add_card(sample_cards *s, const char *sysfs, unsigned number, unsigned index)
{
    card c = {.to = s};
    char path[PATH + 32], name[64] = "", product[128] = "";
    snprintf(c.folder, sizeof c.folder, "%s/class/drm/card%u/device", sysfs, number);
    /* The number of the render node below the device: "drm/renderD128". 0: none, which no GPU has.
     */
    uint64_t minor = 0;
    snprintf(path, sizeof path, "%s/drm", c.folder);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (!strncmp(e->d_name, "renderD", 7))
            minor = strtoul(e->d_name + 7, NULL, 10);
    if (d)
        closedir(d);
    const int64_t node = minor ? find_node(sysfs, minor, name, sizeof name) : -1;
    snprintf(path, sizeof path, "%s/product_name", c.folder);
    sample_read_file(path, product, sizeof product);
    product[strcspn(product, "\n")] = '\0';
    char id[64] = "", uuid[64] = "", events[4096] = "", *pci;
    snprintf(path, sizeof path, "%s/unique_id", c.folder);
    if (sample_read_file(path, id, sizeof id) > 0 && strspn(id, "0123456789abcdef") == 16)
        snprintf(uuid, sizeof uuid, "GPU-%.16s", id);
    snprintf(path, sizeof path, "%s/uevent", c.folder);
    sample_read_file(path, events, sizeof events);
    pci = strstr(events, "PCI_SLOT_NAME=");
    pci = pci ? pci + strlen("PCI_SLOT_NAME=") : events + strlen(events);
    pci[strcspn(pci, "\n")] = '\0';
    /* Handles of ROCr are addresses, unlike these. */
    c.agent = rocl_cap_define_agent(&(rocl_cap_agent){.handle = 1 + index,
                                                      .type = 2,
                                                      .absolute_index = node,
                                                      .logical_index = node,
                                                      .type_index = index,
                                                      .name = name,
                                                      .model = product,
                                                      .vendor = "AMD",
                                                      .product = product,
                                                      .uuid = uuid,
                                                      .pci = pci});
    static const struct {
        const char *file, *name, *description, *units;
        double factor;
    } files[] = {
        {"gpu_busy_percent", "device_busy_gfx", "Utilization of the graphics engine", "%", 1},
        {"mem_busy_percent", "device_busy_umc", "Utilization of the memory controller", "%", 1},
        {"mem_info_vram_used", "device_memory_usage", "Used VRAM", "MB", 1e-6}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", c.folder, files[i].file);
        add_file(&c, path, files[i].factor, files[i].name, files[i].description, files[i].units);
    }
    add_hwmon(&c);
}

/* "card0", not "card0-DP-1", and of AMD. */
static bool is_card_of_amd(const char *sysfs, const char *entry, unsigned *number)
{
    char path[PATH], text[64];
    int end = 0;
    if (sscanf(entry, "card%u%n", number, &end) != 1 || entry[end])
        return false;
    snprintf(path, sizeof path, "%s/class/drm/card%u/device/vendor", sysfs, *number);
    return sample_read_file(path, text, sizeof text) > 0 && !strcmp(text, "0x1002\n");
}

sample_cards *sample_cards_new(const char *sysfs)
{
    enum { MOST = 256 };
    unsigned numbers[MOST], n = 0;
    char path[PATH];
    sample_cards *s = calloc(1, sizeof *s);
    snprintf(path, sizeof path, "%s/class/drm", sysfs);
    DIR *d = s ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d)) && n < MOST;)
        n += is_card_of_amd(sysfs, e->d_name, &numbers[n]);
    if (d)
        closedir(d);
    qsort(numbers, n, sizeof *numbers, rocl_compare_u32);
    for (unsigned i = 0; i < n; i++)
        add_card(s, sysfs, numbers[i], i);
    if (s && s->count)
        return s;
    sample_cards_free(s);
    return NULL;
}

void sample_cards_read(sample_cards *s)
{
    read_values(s->all, s->count);
}

void sample_cards_free(sample_cards *s)
{
    if (!s)
        return;
    close_values(s->all, s->count);
    free(s);
}

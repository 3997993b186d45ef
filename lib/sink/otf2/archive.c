/* The archive that libotf2 writes: in a hidden folder, with bounded memory, and with what it
 * complains about kept as an error. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/out_tree.h"
#include "base/unfinished.h"
#include "sink/otf2/ot.h"

#include <otf2/OTF2_Pthread_Locks.h>
#include <stdatomic.h>

/* A file of libotf2 collects 4 MiB before it writes them. When that fails it frees them, but does
 * not forget them: whatever touches the file again, even its close, uses freed memory. So:
 * - after a failure nothing is written, and what is open stays open;
 * - the close of a writer must not be what fills the 4 MiB. It writes less than a chunk, as long as
 *   a writer has one, and the size of chunks divides 4 MiB or is greater. */

/* Files of an archive; the anchor is the last to appear. */
enum { FOLDER, DEFINITIONS, MARKERS, ANCHOR, FILES };

struct ot_archive {
    OTF2_Archive *otf2;
    OTF2_MarkerWriter *markers;
    OTF2_GlobalDefWriter *definitions;
    OTF2_ErrorCallback former;
    rocl_out_tree *tree;
    char *path;         /* of the anchor, for messages */
    char *names[FILES]; /* below the folder */
    _Atomic bool failed;
    bool discarded;
    pthread_mutex_t lock; /* of what follows: events are written by many threads */
    void *spare_events;   /* chunks; each begins with the next one's address */
    void *spare_definitions;
    char complaint[512]; /* the first */
    bool memory;         /* that is what the first one is about */
};

static void give_up(ot_archive *a, const char *why, bool memory)
{
    pthread_mutex_lock(&a->lock);
    if (!*a->complaint) {
        snprintf(a->complaint, sizeof a->complaint, "%s", why);
        a->memory = memory;
    }
    pthread_mutex_unlock(&a->lock);
    a->failed = true;
}

/* ---- what libotf2 asks for ---- */

static OTF2_ErrorCode complain(void *ctx, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list args)
{
    ot_archive *a = ctx;
    char text[384] = "", why[512];
    (void)file;
    (void)line;
    (void)function;
    if (format)
        vsnprintf(text, sizeof text, format, args);
    snprintf(why, sizeof why, "%s%s%s", OTF2_Error_GetDescription(code), text[0] ? ": " : "", text);
    if (code != OTF2_SUCCESS)
        give_up(a, why,
                code == OTF2_ERROR_MEM_FAULT || code == OTF2_ERROR_MEM_ALLOC_FAILED ||
                    code == OTF2_ERROR_ENOMEM);
    return code;
}

/* Without these a writer keeps all of its chunks until it is closed. One that asks for a second
 * chunk writes the first. libotf2 fills up a chunk before it is written, so one that has been used
 * is kept for the next writer: fresh memory costs more than all else of a short location. */
/* Where chunks of such a file are kept: those of one kind have one size. NULL: they are not. */
static void **spares(ot_archive *a, OTF2_FileType type)
{
    switch (type) {
    case OTF2_FILETYPE_EVENTS:
        return &a->spare_events;
    case OTF2_FILETYPE_LOCAL_DEFS:
        return &a->spare_definitions;
    default:
        return NULL;
    }
}

static void *spare_chunk(ot_archive *a, void **spare)
{
    pthread_mutex_lock(&a->lock);
    void *chunk = *spare;
    if (chunk)
        memcpy(spare, chunk, sizeof *spare);
    pthread_mutex_unlock(&a->lock);
    return chunk;
}

static void keep_chunk(ot_archive *a, void **spare, void *chunk)
{
    pthread_mutex_lock(&a->lock);
    memcpy(chunk, spare, sizeof *spare);
    *spare = chunk;
    pthread_mutex_unlock(&a->lock);
}

static void *chunk_new(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void **own,
                       uint64_t size)
{
    void **spare = spares(ctx, type);
    (void)location;
    if (*own)
        return NULL;
    if (spare)
        *own = spare_chunk(ctx, spare);
    if (!*own)
        *own = malloc(size);
    return *own;
}

static void chunk_free(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void **own,
                       bool final)
{
    void **spare = spares(ctx, type);
    (void)location;
    (void) final;
    if (spare && *own)
        keep_chunk(ctx, spare, *own);
    else
        free(*own);
    *own = NULL;
}

static OTF2_FlushType before_flush(void *ctx, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
    const ot_archive *a = ctx;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return a->failed || a->discarded ? OTF2_NO_FLUSH : OTF2_FLUSH;
}

static const OTF2_MemoryCallbacks memory = {chunk_new, chunk_free};
static const OTF2_FlushCallbacks flush = {before_flush, NULL};

/* ---- where it is to appear ---- */

/* Folders of archives hold files with a number and one of these ends. */
static bool is_archive_file(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    const char *end = name + digits;
    return digits && (!strcmp(end, ".evt") || !strcmp(end, ".def") || !strcmp(end, ".snap"));
}

static const char *stranger_in(DIR *d)
{
    const struct dirent *e;
    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !is_archive_file(e->d_name))
            return e->d_name;
    return NULL;
}

/* An archive replaces a whole folder: only one that can be an archive's. */
static rocl_status check_folder(const char *path, rocl_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return ROCL_OK;
    DIR *d = opendir(path);
    if (!d)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot become the folder of the archive: %s", path,
                         strerror(errno));
    const char *stranger = stranger_in(d);
    rocl_status st = stranger ? rocl_fail(err, ROCL_OUTPUT,
                                          "%s: holds %s: the folder of the archive cannot take "
                                          "this name, choose another output",
                                          path, stranger)
                              : ROCL_OK;
    closedir(d);
    return st;
}

static rocl_status name_files(ot_archive *a, const char *stem, rocl_error *err)
{
    static const char *const ends[FILES] = {
        [DEFINITIONS] = ".def", [MARKERS] = ".marker", [ANCHOR] = ".otf2", [FOLDER] = ""};
    for (int i = 0; i < FILES; i++)
        if (asprintf(&a->names[i], "%s%s", stem, ends[i]) < 0) {
            a->names[i] = NULL;
            return rocl_fail_memory(err);
        }
    return ROCL_OK;
}

/* "dir/x.otf2" -> "dir/" in `folder`, "x" in `stem`. */
static rocl_status split_path(char *folder, char *stem, size_t size, const char *path,
                              rocl_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n <= 5 || strcmp(name + n - 5, ".otf2") != 0)
        return rocl_fail(err, ROCL_USAGE, "%s: the name of an archive ends in .otf2", path);
    if (strlen(path) >= size)
        return rocl_fail(err, ROCL_OUTPUT, "%s: the name is too long", path);
    snprintf(folder, size, "%.*s", (int)(name - path), path);
    snprintf(stem, size, "%.*s", (int)(n - 5), name);
    return ROCL_OK;
}

static rocl_status refuse_inputs(const ot_archive *a, const rocl_trace *t, const char *folder,
                                 rocl_error *err)
{
    char whole[8192];
    rocl_status st = ROCL_OK;
    for (int i = 0; i < FILES && st == ROCL_OK; i++) {
        snprintf(whole, sizeof whole, "%s%s", folder, a->names[i]);
        st = rocl_refuse_input(t, whole, err);
    }
    return st;
}

static rocl_status find_place(ot_archive *a, const rocl_trace *t, rocl_error *err)
{
    char folder[4096], stem[4096];
    rocl_status st = split_path(folder, stem, sizeof folder, a->path, err);
    if (st == ROCL_OK)
        st = name_files(a, stem, err);
    if (st == ROCL_OK)
        st = refuse_inputs(a, t, folder, err);
    char whole[8192];
    for (int i = 0; i < FILES && st == ROCL_OK; i++) {
        snprintf(whole, sizeof whole, "%s%s", folder, a->names[i]);
        st = i == FOLDER ? check_folder(whole, err) : rocl_out_tree_check(whole, err);
    }
    return st ? st : rocl_out_tree_open(&a->tree, folder, err);
}

/* ---- open ---- */

static uint64_t chunk_size(size_t wanted)
{
    uint64_t size = OTF2_CHUNK_SIZE_MIN;
    while (size * 2 <= (wanted ? wanted : OTF2_CHUNK_SIZE_EVENTS_DEFAULT))
        size *= 2;
    return size;
}

/* libotf2 makes folders here, the hidden one too if it has gone: it must not go meanwhile. */
static rocl_status open_otf2(ot_archive *a, size_t chunk, rocl_error *err)
{
    rocl_unfinished_hold();
    a->otf2 = OTF2_Archive_Open(rocl_out_tree_path(a->tree), a->names[FOLDER], OTF2_FILEMODE_WRITE,
                                chunk_size(chunk), OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (a->otf2) {
        OTF2_Archive_SetFlushCallbacks(a->otf2, &flush, a);
        OTF2_Archive_SetMemoryCallbacks(a->otf2, &memory, a);
        OTF2_Archive_SetSerialCollectiveCallbacks(a->otf2);
        OTF2_Pthread_Archive_SetLockingCallbacks(a->otf2, NULL);
        OTF2_Archive_SetCreator(a->otf2, "rocline " ROCLINE_VERSION);
        OTF2_Archive_OpenEvtFiles(a->otf2);
    }
    rocl_unfinished_release();
    return ot_archive_status(a, err);
}

rocl_status ot_archive_open(ot_archive **out, const rocl_trace *t, const char *path, size_t chunk,
                            rocl_error *err)
{
    ot_archive *a = calloc(1, sizeof *a);
    if (!a || !(a->path = strdup(path))) {
        free(a);
        return rocl_fail_memory(err);
    }
    pthread_mutex_init(&a->lock, NULL);
    a->former = OTF2_Error_RegisterCallback(complain, a);
    rocl_status st = find_place(a, t, err);
    if (st == ROCL_OK)
        st = open_otf2(a, chunk, err);
    if (st == ROCL_OK)
        *out = a;
    else
        ot_archive_discard(a);
    return st;
}

rocl_status ot_archive_status(ot_archive *a, rocl_error *err)
{
    if (!a->failed && a->otf2)
        return ROCL_OK;
    pthread_mutex_lock(&a->lock);
    rocl_status st = a->memory
                         ? rocl_fail_memory(err)
                         : rocl_fail(err, ROCL_OUTPUT, "%s: cannot write: %s", a->path,
                                     *a->complaint ? a->complaint : "libotf2 did not say why");
    pthread_mutex_unlock(&a->lock);
    return st;
}

void ot_archive_describe(ot_archive *a, const char *machine)
{
    OTF2_Archive_SetMachineName(a->otf2, machine);
}

/* ---- writers ---- */

OTF2_EvtWriter *ot_archive_events(ot_archive *a, OTF2_LocationRef location)
{
    OTF2_EvtWriter *w = a->failed ? NULL : OTF2_Archive_GetEvtWriter(a->otf2, location);
    if (!w)
        a->failed = true;
    return w;
}

uint64_t ot_archive_events_end(ot_archive *a, OTF2_EvtWriter *w)
{
    uint64_t n = 0;
    if (a->failed)
        return 0;
    OTF2_EvtWriter_GetNumberOfEvents(w, &n);
    OTF2_Archive_CloseEvtWriter(a->otf2, w);
    return n;
}

OTF2_MarkerWriter *ot_archive_markers(ot_archive *a)
{
    if (!a->markers && !a->failed)
        a->failed = !(a->markers = OTF2_Archive_GetMarkerWriter(a->otf2));
    return a->markers;
}

OTF2_GlobalDefWriter *ot_archive_definitions(ot_archive *a)
{
    if (!a->definitions && !a->failed)
        a->failed = !(a->definitions = OTF2_Archive_GetGlobalDefWriter(a->otf2));
    return a->definitions;
}

/* ---- close ---- */

static void close_otf2(ot_archive *a)
{
    if (!a->otf2)
        return;
    if (a->markers && !a->failed)
        OTF2_Archive_CloseMarkerWriter(a->otf2, a->markers);
    if (a->definitions && !a->failed)
        OTF2_Archive_CloseGlobalDefWriter(a->otf2, a->definitions);
    if (!a->failed)
        OTF2_Archive_Close(a->otf2);
    a->otf2 = NULL;
}

static void free_archive(ot_archive *a)
{
    OTF2_Error_RegisterCallback(a->former, NULL);
    for (int i = 0; i < FILES; i++)
        free(a->names[i]);
    for (void *chunk; (chunk = spare_chunk(a, &a->spare_events));)
        free(chunk);
    for (void *chunk; (chunk = spare_chunk(a, &a->spare_definitions));)
        free(chunk);
    pthread_mutex_destroy(&a->lock);
    free(a->path);
    free(a);
}

void ot_archive_discard(ot_archive *a)
{
    if (!a)
        return;
    a->discarded = true;
    close_otf2(a);
    rocl_out_tree_discard(a->tree);
    free_archive(a);
}

static char *file_path(const ot_archive *a, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", rocl_out_tree_path(a->tree), name) < 0 ? NULL : path;
}

/* Some readers want a file of definitions for each location, if only an empty one. libotf2 fills
 * 4 MiB for each: it writes those that differ. */
static void write_local_definitions(ot_archive *a, const ot_locals *l)
{
    OTF2_Archive_CloseEvtFiles(a->otf2);
    OTF2_Archive_OpenDefFiles(a->otf2);
    if (!ot_write_local_definitions(a->otf2, l) && !a->failed)
        give_up(a, "out of memory", true);
    OTF2_Archive_CloseDefFiles(a->otf2);
    char *folder = file_path(a, a->names[FOLDER]);
    if (!a->failed && !(folder && ot_copy_local_definitions(folder, l)))
        give_up(a, strerror(errno), errno == ENOMEM);
    free(folder);
}

static bool read_identity(const char *anchor, uint64_t *id)
{
    OTF2_Reader *r = OTF2_Reader_Open(anchor);
    bool good = r && OTF2_Reader_GetTraceId(r, id) == OTF2_SUCCESS;
    if (r)
        OTF2_Reader_Close(r);
    return good;
}

/* Where the number stands in the anchor file, once: 8 bytes in the order of this machine. */
static long find_once(FILE *f, uint64_t number)
{
    uint8_t bytes[1 << 16];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    long found = -1;
    for (size_t i = 0; i + sizeof number <= n; i++) {
        if (memcmp(bytes + i, &number, sizeof number) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = (long)i;
    }
    return found;
}

/* libotf2 makes the identifier of a trace out of time and host. Ours follows from the trace, so
 * that the same input gives the same bytes. */
static bool set_identity(const ot_archive *a, uint64_t identity)
{
    uint64_t former;
    char *anchor = file_path(a, a->names[ANCHOR]);
    FILE *f = anchor && read_identity(anchor, &former) ? fopen(anchor, "r+b") : NULL;
    long at = f ? find_once(f, former) : -1;
    if (at >= 0 && fseek(f, at, SEEK_SET) == 0)
        fwrite(&identity, sizeof identity, 1, f);
    free(anchor);
    return f && fclose(f) == 0;
}

static uint64_t file_size(const ot_archive *a, const char *name)
{
    struct stat info;
    char *path = file_path(a, name);
    uint64_t size = path && stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    free(path);
    return size;
}

static uint64_t all_sizes(const ot_archive *a, const ot_locals *l)
{
    uint64_t sum = file_size(a, a->names[DEFINITIONS]) + file_size(a, a->names[MARKERS]) +
                   file_size(a, a->names[ANCHOR]);
    char name[4200];
    for (uint32_t i = 0; i < l->location_count; i++) {
        uint32_t number = l->locations[i].number;
        snprintf(name, sizeof name, "%s/%" PRIu32 ".evt", a->names[FOLDER], number);
        sum += file_size(a, name);
        snprintf(name, sizeof name, "%s/%" PRIu32 ".def", a->names[FOLDER], number);
        sum += file_size(a, name);
    }
    return sum;
}

rocl_status ot_archive_commit(ot_archive *a, const ot_locals *l, uint64_t identity, uint64_t *bytes,
                              rocl_error *err)
{
    rocl_status st = ot_archive_status(a, err);
    if (st == ROCL_OK) {
        write_local_definitions(a, l);
        bool whole = !a->failed;
        close_otf2(a);
        if (whole && !a->failed && !set_identity(a, identity))
            give_up(a, strerror(errno), errno == ENOMEM);
        *bytes = all_sizes(a, l);
        if (a->failed)
            st = ot_archive_status(a, err);
    }
    if (st != ROCL_OK) {
        ot_archive_discard(a);
        return st;
    }
    st = rocl_out_tree_commit(a->tree, (const char *const *)a->names, FILES, err);
    free_archive(a);
    return st;
}

/* The archive that libotf2 writes: in a hidden folder, with bounded memory, and with what it
 * complains about kept as an error.
 *
 *     x.otf2      the anchor file, the last to appear
 *     x.def       global definitions
 *     x.marker    markers
 *     x/N.evt     the events of location N
 *     x/N.def     its definitions: empty, or the mapping of its references to the global ones
 *
 * A rank of a team writes such an archive of its own in rankR/ beside that. When all ranks are
 * done, they move the files of their locations into x/, where those get other numbers; the rest of
 * it is of no use. Rank 0 makes one more in whole/, which has all definitions and markers, and
 * moves it as a whole. libotf2 could let all ranks write one archive, but only with numbers of
 * locations and definitions that are known before the first event; and it refuses a folder that is
 * there. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/out_tree.h"
#include "base/unfinished.h"
#include "base/sync.h"
#include "sink/otf2/otf2.h"
#include "trace/joint.h"

#include <otf2/OTF2_Pthread_Locks.h>

/* A file of libotf2 collects 4 MiB before it writes them. When that fails it frees them, but does
 * not forget them: whatever touches the file again, even its close, uses freed memory. So:
 * - after a failure nothing is written, and what is open stays open;
 * - the close of a writer must not be what fills the 4 MiB. It writes less than a chunk, as long as
 *   a writer has one, and the size of chunks divides 4 MiB or is greater. */

enum { PATH_SIZE = 8192 };

/* In the order in which they appear. */
enum { FOLDER, DEFINITIONS, MARKERS, ANCHOR, FILES };

struct ot_archive {
    OTF2_Archive *otf2;
    OTF2_MarkerWriter *markers;
    OTF2_GlobalDefWriter *definitions;
    OTF2_ErrorCallback former;
    rocl_out_tree *tree; /* NULL: of another rank of a team */
    char *all;           /* the hidden folder */
    char *folder;        /* in which files are written: that, or a rank's in it */
    size_t chunk_size;
    char *path;          /* of the anchor, for messages */
    char *names[FILES];  /* below the folder that the archive appears in */
    _Atomic bool failed; /* set by any thread that writes events */
    bool discarded;
    pthread_mutex_t lock;    /* of the rest */
    void *spare_events;      /* unused chunks; each begins with the address of the next one */
    void *spare_definitions; /* the same; chunks of one kind have one size */
    char complaint[512];     /* the first */
    bool out_of_memory;      /* the first complaint is about that */
};

static void fail_archive(ot_archive *a, const char *why, bool out_of_memory)
{
    pthread_mutex_lock(&a->lock);
    if (!*a->complaint) {
        snprintf(a->complaint, sizeof a->complaint, "%s", why);
        a->out_of_memory = out_of_memory;
    }
    pthread_mutex_unlock(&a->lock);
    a->failed = true;
}

static void fail_archive_system(ot_archive *a, int why)
{
    fail_archive(a, strerror(why), why == ENOMEM);
}

rocl_status ot_archive_fail(const ot_archive *a, int why, rocl_error *err)
{
    return rocl_fail_write(err, a->path, why);
}

rocl_status ot_archive_status(ot_archive *a, rocl_error *err)
{
    if (!a->failed && a->otf2)
        return ROCL_OK;
    pthread_mutex_lock(&a->lock);
    rocl_status st = a->out_of_memory
                         ? rocl_fail_memory(err)
                         : rocl_fail(err, ROCL_OUTPUT, "%s: cannot write: %s", a->path,
                                     *a->complaint ? a->complaint : "libotf2 gave no reason");
    pthread_mutex_unlock(&a->lock);
    return st;
}

/* ---- callbacks of libotf2 -------------------------------------------------------------------- */

static OTF2_ErrorCode keep_complaint(void *ctx, const char *file, uint64_t line,
                                     const char *function, OTF2_ErrorCode code, const char *format,
                                     va_list args)
{
    char text[384] = "", why[512];
    (void)file;
    (void)line;
    (void)function;
    if (format)
        vsnprintf(text, sizeof text, format, args);
    snprintf(why, sizeof why, "%s%s%s", OTF2_Error_GetDescription(code), text[0] ? ": " : "", text);
    /* The callbacks for locks are libotf2's own: they only lack memory for a new one. */
    if (code != OTF2_SUCCESS)
        fail_archive(ctx, why,
                     code == OTF2_ERROR_LOCKING_CALLBACK || code == OTF2_ERROR_MEM_FAULT ||
                         code == OTF2_ERROR_MEM_ALLOC_FAILED || code == OTF2_ERROR_ENOMEM);
    return code;
}

static void **spare_chunks(ot_archive *a, OTF2_FileType type)
{
    return type == OTF2_FILETYPE_EVENTS       ? &a->spare_events
           : type == OTF2_FILETYPE_LOCAL_DEFS ? &a->spare_definitions
                                              : NULL;
}

static void *pop_chunk(ot_archive *a, void **spare)
{
    pthread_mutex_lock(&a->lock);
    void *chunk = *spare;
    if (chunk)
        memcpy(spare, chunk, sizeof *spare);
    pthread_mutex_unlock(&a->lock);
    return chunk;
}

/* Without these two a writer keeps all of its chunks until it is closed. One that asks for a second
 * chunk writes the first. libotf2 fills up a chunk before it is written, so one that has been used
 * is kept for the next writer: fresh memory costs more than all else of a short location. */
static void *new_chunk(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void **own,
                       uint64_t size)
{
    void **spare = spare_chunks(ctx, type);
    (void)location;
    if (*own)
        return NULL;
    if (spare)
        *own = pop_chunk(ctx, spare);
    if (!*own)
        *own = malloc(size);
    return *own;
}

static void free_chunk(void *ctx, OTF2_FileType type, OTF2_LocationRef location, void **own,
                       bool final)
{
    ot_archive *a = ctx;
    void **spare = spare_chunks(a, type);
    (void)location;
    (void) final;
    if (spare && *own) {
        pthread_mutex_lock(&a->lock);
        memcpy(*own, spare, sizeof *spare);
        *spare = *own;
        pthread_mutex_unlock(&a->lock);
    } else {
        free(*own);
    }
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

/* ---- the files that it replaces -------------------------------------------------------------- */

/* Folders of archives hold files with a number and one of these ends. */
static bool is_archive_file(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    const char *end = name + digits;
    return digits && (!strcmp(end, ".evt") || !strcmp(end, ".def") || !strcmp(end, ".snap"));
}

/* An archive replaces a whole folder: only one that can be an archive's. */
static rocl_status check_folder(const char *path, rocl_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return ROCL_OK;
    DIR *d = opendir(path);
    if (!d && errno == ENOMEM)
        return rocl_fail_memory(err);
    if (!d)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot become the folder of the archive: %s", path,
                         strerror(errno));
    const struct dirent *e;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !is_archive_file(e->d_name))
            st = rocl_fail(
                err, ROCL_OUTPUT,
                "%s: holds %s: the folder of the archive cannot replace it, choose another output",
                path, e->d_name);
    closedir(d);
    return st;
}

/* "dir/x.otf2": names the files "x", "x.def", "x.marker" and "x.otf2". *folder: bytes of "dir/". */
static rocl_status name_files(ot_archive *a, int *folder, rocl_error *err)
{
    static const char *const ends[FILES] = {
        [FOLDER] = "", [DEFINITIONS] = ".def", [MARKERS] = ".marker", [ANCHOR] = ".otf2"};
    const char *slash = strrchr(a->path, '/'), *name = slash ? slash + 1 : a->path;
    const int stem = (int)strlen(name) - 5;
    *folder = (int)(name - a->path);
    if (stem <= 0 || strcmp(name + stem, ".otf2") != 0)
        return rocl_fail(err, ROCL_USAGE, "%s: the name of an archive must end in .otf2", a->path);
    if (strlen(a->path) >= 4096)
        return rocl_fail(err, ROCL_OUTPUT, "%s: the name is too long", a->path);
    for (int i = 0; i < FILES; i++)
        if (asprintf(&a->names[i], "%.*s%s", stem, name, ends[i]) < 0) {
            a->names[i] = NULL;
            return rocl_fail_memory(err);
        }
    return ROCL_OK;
}

/* "HIDDEN/NAME", of which it makes the folder. */
static rocl_status make_folder(ot_archive *a, const char *name, rocl_error *err)
{
    free(a->folder);
    if (asprintf(&a->folder, "%s/%s", a->all, name) < 0) {
        a->folder = NULL;
        return rocl_fail_memory(err);
    }
    return mkdir(a->folder, 0777) == 0 ? ROCL_OK : ot_archive_fail(a, errno, err);
}

/* The hidden folder is rank 0's, and each rank has one in it. Rank 0 checks what has these names in
 * "dir/" before. */
static rocl_status open_folders(ot_archive *a, const rocl_trace *t, rocl_error *err)
{
    rocl_joint *joint = t->joint;
    const char *shown = joint ? rocl_joint_folder(joint) : NULL;
    int folder;
    rocl_status st = name_files(a, &folder, err);
    if (st == ROCL_OK && !shown) {
        char whole[PATH_SIZE];
        for (int i = 0; i < FILES && st == ROCL_OK; i++) {
            snprintf(whole, sizeof whole, "%.*s%s", folder, a->path, a->names[i]);
            st = rocl_refuse_input(t, whole, err);
        }
        for (int i = 0; i < FILES && st == ROCL_OK; i++) {
            snprintf(whole, sizeof whole, "%.*s%s", folder, a->path, a->names[i]);
            st = i == FOLDER ? check_folder(whole, err) : rocl_out_tree_check(whole, err);
        }
        snprintf(whole, sizeof whole, "%.*s", folder, a->path);
        if (st == ROCL_OK)
            st = rocl_out_tree_open(&a->tree, whole, err);
        if (st == ROCL_OK && !(a->all = strdup(rocl_out_tree_path(a->tree))))
            st = rocl_fail_memory(err);
    } else if (st == ROCL_OK && !(a->all = strdup(shown))) {
        st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && joint && !shown)
        st = rocl_joint_set_folder(joint, a->all, err);
    if (st != ROCL_OK)
        return st;
    if (!joint)
        return (a->folder = strdup(a->all)) ? ROCL_OK : rocl_fail_memory(err);
    char name[32];
    snprintf(name, sizeof name, "rank%u", rocl_joint_rank(joint));
    return make_folder(a, name, err);
}

/* ---- open ------------------------------------------------------------------------------------ */

/* libotf2 makes folders here, even the hidden one if it is missing, so that must not be removed
 * meanwhile. */
static rocl_status open_otf2(ot_archive *a, rocl_error *err)
{
    static const OTF2_MemoryCallbacks memory = {new_chunk, free_chunk};
    static const OTF2_FlushCallbacks flush = {before_flush, NULL};
    const size_t wanted = a->chunk_size;
    uint64_t size = OTF2_CHUNK_SIZE_MIN; /* powers of two times this divide 4 MiB or are greater */
    while (size * 2 <= (wanted ? wanted : OTF2_CHUNK_SIZE_EVENTS_DEFAULT))
        size *= 2;
    rocl_unfinished_hold();
    a->otf2 = OTF2_Archive_Open(a->folder, a->names[FOLDER], OTF2_FILEMODE_WRITE, size,
                                OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX,
                                OTF2_COMPRESSION_NONE);
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

rocl_status ot_archive_open(ot_archive **out, const rocl_trace *t, const char *path,
                            size_t chunk_size, rocl_error *err)
{
    ot_archive *a = calloc(1, sizeof *a);
    if (!a || !(a->path = strdup(path))) {
        free(a);
        return rocl_fail_memory(err);
    }
    pthread_mutex_init(&a->lock, NULL);
    a->former = OTF2_Error_RegisterCallback(keep_complaint, a);
    a->chunk_size = chunk_size;
    rocl_status st = open_folders(a, t, err);
    if (st == ROCL_OK)
        st = open_otf2(a, err);
    if (st == ROCL_OK)
        *out = a;
    else
        ot_archive_discard(a);
    return st;
}

/* ---- writers ------------------------------------------------------------------------------- */

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

/* ---- definitions of the locations ------------------------------------------------------------ */

/* "HIDDEN/x.def"; of a location "HIDDEN/x/7.def". False, with errno set, when it is too long. */
static bool make_path(char path[PATH_SIZE], const ot_archive *a, const ot_location *l,
                      const char *end)
{
    char number[16] = "";
    if (l)
        snprintf(number, sizeof number, "/%" PRIu32, l->number);
    int n = snprintf(path, PATH_SIZE, "%s/%s%s%s", a->folder, a->names[FOLDER], number, end);
    errno = ENAMETOOLONG;
    return n > 0 && n < PATH_SIZE;
}

static FILE *open_file(const ot_archive *a, const ot_location *l, const char *end, const char *mode)
{
    char path[PATH_SIZE];
    return make_path(path, a, l, end) ? fopen(path, mode) : NULL;
}

/* Writes the definitions of a location with libotf2. m: NULL without a mapping. */
static bool write_mapping(const ot_archive *a, const ot_location *l, const ot_mapping *m)
{
    static const OTF2_MappingType types[OT_MAPPED] = {[OT_STRINGS] = OTF2_MAPPING_STRING,
                                                      [OT_ATTRIBUTES] = OTF2_MAPPING_ATTRIBUTE,
                                                      [OT_REGIONS] = OTF2_MAPPING_REGION,
                                                      [OT_METRICS] = OTF2_MAPPING_METRIC,
                                                      [OT_WINDOWS] = OTF2_MAPPING_RMA_WIN};
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(a->otf2, l->number);
    bool good = w;
    for (unsigned i = 0; i < OT_MAPPED && good && m; i++) {
        if (!m->refs[i])
            continue;
        OTF2_IdMap *map = OTF2_IdMap_CreateFromUint32Array(m->counts[i], m->refs[i], true);
        good = map && OTF2_DefWriter_WriteMappingTable(w, types[i], map) == OTF2_SUCCESS;
        if (map)
            OTF2_IdMap_Free(map);
    }
    return good && OTF2_Archive_CloseDefWriter(a->otf2, w) == OTF2_SUCCESS;
}

/* Some readers want a file of definitions for each location, if only an empty one. libotf2 fills
 * 4 MiB for each: it writes one for each mapping, and one without, and the others are copies. */
static void write_location_definitions(ot_archive *a, const ot_summary *u)
{
    /* By mapping, and at the end without: the first location that has it. */
    const ot_location **first = calloc(u->mapping_count + (size_t)1, sizeof *first), *read = NULL;
    bool good = first;
    for (uint32_t i = u->location_count; i-- > 0 && good;) {
        uint32_t mapping = u->locations[i].mapping;
        first[mapping == ROCL_NONE ? u->mapping_count : mapping] = &u->locations[i];
    }
    OTF2_Archive_CloseEvtFiles(a->otf2);
    OTF2_Archive_OpenDefFiles(a->otf2);
    for (uint32_t i = 0; i <= u->mapping_count && good; i++)
        if (first[i])
            good = write_mapping(a, first[i], i < u->mapping_count ? &u->mappings[i] : NULL);
    if (!good && !a->failed)
        fail_archive(a, "out of memory", true);
    OTF2_Archive_CloseDefFiles(a->otf2);
    rocl_buf bytes = {0};
    for (uint32_t i = 0; i < u->location_count && !a->failed; i++) {
        const ot_location *l = &u->locations[i];
        const ot_location *from = first[l->mapping == ROCL_NONE ? u->mapping_count : l->mapping];
        if (from == l)
            continue;
        FILE *f = NULL;
        if (from != read) { /* neighbours have the same mapping */
            size_t n = 1;
            f = open_file(a, from, ".def", "rb");
            bytes.len = 0;
            while (f && n && rocl_buf_reserve(&bytes, 1 << 16))
                bytes.len += n = fread(bytes.data + bytes.len, 1, 1 << 16, f);
            good = f && !n && !ferror(f);
            if (f)
                fclose(f);
        }
        read = from;
        f = good ? open_file(a, l, ".def", "wb") : NULL;
        good = f && fwrite(bytes.data, 1, bytes.len, f) == bytes.len;
        if (!f || fclose(f) != 0 || !good)
            fail_archive_system(a, errno);
    }
    rocl_buf_free(&bytes);
    free(first);
}

/* ---- close ----------------------------------------------------------------------------------- */

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
    for (void *chunk; (chunk = pop_chunk(a, &a->spare_events));)
        free(chunk);
    for (void *chunk; (chunk = pop_chunk(a, &a->spare_definitions));)
        free(chunk);
    pthread_mutex_destroy(&a->lock);
    free(a->folder);
    free(a->all);
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

/* libotf2 makes the identifier of a trace out of time and host. Ours follows from the trace, so
 * that the same input gives the same bytes. It is where the anchor file holds libotf2's, once: 8
 * bytes in the order of this machine. */
static bool set_identity(const ot_archive *a, uint64_t identity)
{
    char path[PATH_SIZE];
    uint8_t bytes[1 << 16];
    uint64_t former = 0;
    OTF2_Reader *r = make_path(path, a, NULL, ".otf2") ? OTF2_Reader_Open(path) : NULL;
    bool known = r && OTF2_Reader_GetTraceId(r, &former) == OTF2_SUCCESS;
    if (r)
        OTF2_Reader_Close(r);
    FILE *f = known ? fopen(path, "r+b") : NULL;
    size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0, times = 0;
    long at = 0;
    for (size_t i = 0; i + sizeof former <= n; i++)
        if (!memcmp(bytes + i, &former, sizeof former)) {
            at = (long)i;
            times++;
        }
    if (times == 1 && fseek(f, at, SEEK_SET) == 0)
        fwrite(&identity, sizeof identity, 1, f);
    return f && fclose(f) == 0;
}

static uint64_t file_size(const ot_archive *a, const ot_location *l, const char *end)
{
    struct stat info;
    char path[PATH_SIZE];
    return make_path(path, a, l, end) && stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static uint64_t size_of_locations(const ot_archive *a, const ot_summary *u)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < u->location_count; i++)
        bytes += file_size(a, &u->locations[i], ".evt") + file_size(a, &u->locations[i], ".def");
    return bytes;
}

/* ---- ranks of a team ------------------------------------------------------------------------- */

static bool make_side_path(char path[PATH_SIZE], const ot_archive *a, unsigned rank)
{
    const int n = snprintf(path, PATH_SIZE, "%s/rank%u/markers", a->all, rank);
    errno = ENAMETOOLONG;
    return n > 0 && n < PATH_SIZE;
}

FILE *ot_archive_side_file(const ot_archive *a, unsigned rank, const char *mode)
{
    char path[PATH_SIZE];
    return make_side_path(path, a, rank) ? fopen(path, mode) : NULL;
}

void ot_archive_remove_side_file(const ot_archive *a, unsigned rank)
{
    char path[PATH_SIZE];
    if (make_side_path(path, a, rank))
        unlink(path);
}

rocl_status ot_archive_make_folder(const ot_archive *a, rocl_error *err)
{
    char path[PATH_SIZE];
    const int n = snprintf(path, sizeof path, "%s/%s", a->all, a->names[FOLDER]);
    errno = ENAMETOOLONG;
    return n < PATH_SIZE && mkdir(path, 0777) == 0 ? ROCL_OK : ot_archive_fail(a, errno, err);
}

/* From "rankR/x/7.evt" to "x/12.evt". */
static bool move_location(const ot_archive *a, const ot_location *l, uint32_t number,
                          const char *end)
{
    char from[PATH_SIZE], to[PATH_SIZE];
    const int n =
        snprintf(to, sizeof to, "%s/%s/%" PRIu32 "%s", a->all, a->names[FOLDER], number, end);
    errno = ENAMETOOLONG;
    return n < PATH_SIZE && make_path(from, a, l, end) && rename(from, to) == 0;
}

static void move_locations(ot_archive *a, const ot_summary *u, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < u->location_count && !a->failed; i++) {
        const ot_location *l = &u->locations[i];
        const uint32_t number = numbers ? numbers[l->number] : l->number;
        if (!move_location(a, l, number, ".evt") || !move_location(a, l, number, ".def"))
            fail_archive_system(a, errno);
    }
}

rocl_status ot_archive_hand_in(ot_archive *a, const ot_summary *u, const uint32_t *numbers,
                               bool far, uint64_t *bytes, rocl_error *err)
{
    rocl_status st = ot_archive_status(a, err);
    if (st != ROCL_OK)
        return st;
    write_location_definitions(a, u);
    if (!a->failed)
        close_otf2(a);
    *bytes = size_of_locations(a, u);
    if (far && !a->failed && !rocl_sync_tree(AT_FDCWD, a->folder))
        fail_archive_system(a, errno);
    move_locations(a, u, numbers);
    if (a->failed)
        return ot_archive_status(a, err);
    if (!a->tree)
        return ROCL_OK;
    st = make_folder(a, "whole", err);
    return st ? st : open_otf2(a, err);
}

/* ---- the end --------------------------------------------------------------------------------- */

rocl_status ot_archive_complete(ot_archive *a, const ot_summary *u, uint64_t *bytes,
                                rocl_error *err)
{
    rocl_status st = ot_archive_status(a, err);
    if (st != ROCL_OK)
        return st;
    OTF2_Archive_SetMachineName(a->otf2, u->machine);
    write_location_definitions(a, u);
    const bool complete = !a->failed;
    close_otf2(a);
    if (complete && !a->failed && !set_identity(a, u->identity))
        fail_archive_system(a, errno);
    *bytes = file_size(a, NULL, ".def") + file_size(a, NULL, ".marker") +
             file_size(a, NULL, ".otf2") + size_of_locations(a, u);
    if (strcmp(a->folder, a->all) != 0) {
        move_locations(a, u, NULL);
        for (int i = DEFINITIONS; i < FILES && !a->failed; i++) {
            char from[PATH_SIZE], to[PATH_SIZE];
            const int n = snprintf(from, sizeof from, "%s/%s", a->folder, a->names[i]);
            snprintf(to, sizeof to, "%s/%s", a->all, a->names[i]);
            errno = ENAMETOOLONG;
            if (n >= PATH_SIZE || (rename(from, to) != 0 && (errno != ENOENT || i != MARKERS)))
                fail_archive_system(a, errno);
        }
    }
    return a->failed ? ot_archive_status(a, err) : ROCL_OK;
}

rocl_status ot_archive_commit(ot_archive *a, rocl_out_set *outputs, rocl_error *err)
{
    rocl_out_tree *tree = a->tree;
    a->tree = NULL;
    const rocl_status st =
        rocl_out_set_add_tree(outputs, tree, (const char *const *)a->names, FILES, err);
    free_archive(a);
    return st;
}

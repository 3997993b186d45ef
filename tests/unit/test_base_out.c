/* Output files: they appear whole, or not at all, and nothing else stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/out.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static rocl_error *err;

/* Each test runs in an empty folder of its own. */
static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline-test-XXXXXX");
    err = rocl_error_new();
    return !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state)
{
    (void)state;
    rocl_error_free(err);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void check_file(const char *name, const char *text)
{
    char got[100] = "";
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    got[fread(got, 1, sizeof got - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(got, text);
}

static int count_files(void)
{
    DIR *d = opendir(".");
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static void assert_fails(rocl_status st, const char *a, const char *b)
{
    assert_int_equal(st, ROCL_OUTPUT);
    assert_int_equal(rocl_error_status(err), ROCL_OUTPUT);
    if (!strstr(rocl_error_text(err), a) || !strstr(rocl_error_text(err), b))
        fail_msg("\"%s\" has no \"%s\" or \"%s\"", rocl_error_text(err), a, b);
}

static rocl_out *open_with(const char *path, const char *text)
{
    rocl_out *o = NULL;
    assert_int_equal(rocl_out_open(&o, path, err), ROCL_OK);
    assert_int_equal(rocl_out_write(o, text, strlen(text), err), ROCL_OK);
    assert_int_equal(rocl_out_bytes(o), strlen(text));
    return o;
}

static void test_new_file(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    rocl_out *o = open_with("new", "hello");
    assert_int_equal(access("new", F_OK), -1);
    assert_int_equal(rocl_out_commit(o, err), ROCL_OK);
    umask(mask);
    check_file("new", "hello");
    struct stat info;
    stat("new", &info);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(count_files(), 1);
}

static void test_discard_and_replace(void **state)
{
    (void)state;
    put_file("old", "old");
    rocl_out_discard(open_with("old", "new"));
    check_file("old", "old");
    rocl_out_discard(open_with("other", "new"));
    assert_int_equal(count_files(), 1);
    rocl_out *o = open_with("old", "new");
    check_file("old", "old");
    assert_int_equal(rocl_out_commit(o, err), ROCL_OK);
    check_file("old", "new");
    assert_int_equal(count_files(), 1);
    rocl_out_discard(NULL);
}

/* A link stays a link: what it points to is written, also when it points to nothing yet. */
static void test_links(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    put_file("d/real", "old");
    assert_int_equal(symlink("d/real", "link") | symlink("d/fresh", "dangling"), 0);
    assert_int_equal(symlink("b", "a") | symlink("a", "b"), 0);
    assert_int_equal(rocl_out_commit(open_with("link", "new"), err), ROCL_OK);
    assert_int_equal(rocl_out_commit(open_with("dangling", "fresh"), err), ROCL_OK);
    struct stat info;
    assert_true(lstat("link", &info) == 0 && S_ISLNK(info.st_mode));
    check_file("d/real", "new");
    check_file("d/fresh", "fresh");
    rocl_out *o;
    assert_fails(rocl_out_open(&o, "a", err), "a: ", strerror(ELOOP));
    assert_null(o);
}

static void test_bad_paths(void **state)
{
    (void)state;
    rocl_out *o;
    put_file("file", "");
    assert_int_equal(mkdir("d", 0777), 0);
    assert_fails(rocl_out_open(&o, "d", err), "d: ", "is a folder");
    assert_fails(rocl_out_open(&o, "no/where/x", err), "no/where/x: ", "no/where does not exist");
    assert_fails(rocl_out_open(&o, "file/x", err), "file/x: ", "folder file");
    assert_fails(rocl_out_open(&o, "", err), "", "not a file name");
    assert_fails(rocl_out_open(&o, "no/", err), "no/: ", "not a file name");
    char name[257];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_fails(rocl_out_open(&o, name, err), "cannot create", strerror(ENAMETOOLONG));
    name[255] = '\0';
    assert_int_equal(rocl_out_commit(open_with(name, "x"), err), ROCL_OK);
    assert_int_equal(unlink(name), 0);
    assert_null(o);
    assert_int_equal(count_files(), 2);
}

static void test_folder_vanishes(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    rocl_out *o = open_with("d/x", "text");
    if (rmdir("d") == 0) { /* it is made again: another run that failed has removed it */
        assert_int_equal(rocl_out_commit(o, err), ROCL_OK);
        check_file("d/x", "text");
        assert_int_equal(unlink("d/x") | rmdir("d"), 0);
    } else { /* no O_TMPFILE here: the file has a hidden name */
        rocl_out_discard(o);
        assert_int_equal(rmdir("d"), 0);
    }
    o = open_with("y", "text");
    assert_int_equal(mkdir("y", 0777), 0);
    assert_fails(rocl_out_commit(o, err), "y: cannot replace", strerror(EISDIR));
    assert_int_equal(count_files(), 1);
}

/* Several files: all of them, or what was there before. */
static void test_together(void **state)
{
    (void)state;
    put_file("a", "old a");
    put_file("c", "old c");
    rocl_out *outs[] = {open_with("a", "new a"), open_with("b", "new b"), open_with("c", "new c")};
    assert_int_equal(rocl_out_commit_all(outs, 3, err), ROCL_OK);
    assert_null(outs[0]);
    check_file("a", "new a");
    check_file("b", "new b");
    check_file("c", "new c");
    assert_int_equal(count_files(), 3);
    assert_int_equal(unlink("b"), 0);
    rocl_out *more[] = {open_with("a", "x"), open_with("b", "x"), open_with("d", "x")};
    assert_int_equal(mkdir("d", 0777), 0);
    assert_fails(rocl_out_commit_all(more, 3, err), "d: cannot replace", strerror(EISDIR));
    check_file("a", "new a");
    check_file("c", "new c");
    assert_int_equal(access("b", F_OK), -1);
    assert_int_equal(count_files(), 3);
    rocl_out *full[] = {open_with("a", "x"), open_with("/dev/full", "x")};
    assert_fails(rocl_out_commit_all(full, 2, err), "/dev/full: cannot write", strerror(ENOSPC));
    check_file("a", "new a");
    assert_int_equal(count_files(), 3);
}

/* In a folder where everybody may put links, those of others are not followed. */
static void test_planted_link(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    rocl_out *o;
    put_file("victim", "precious");
    assert_int_equal(mkdir("shared", 0777) | chmod("shared", 01777), 0);
    assert_int_equal(symlink("../victim", "shared/link") | symlink("../new", "shared/none"), 0);
    assert_int_equal(rocl_out_commit(open_with("shared/link", "mine"), err), ROCL_OK);
    check_file("victim", "mine");
    assert_int_equal(lchown("shared/link", 12345, 12345) | lchown("shared/none", 12345, 12345), 0);
    assert_fails(rocl_out_open(&o, "shared/link", err), "shared/link: ", strerror(EACCES));
    assert_fails(rocl_out_open(&o, "shared/none", err), "shared/none: ", strerror(EACCES));
    check_file("victim", "mine");
    assert_int_equal(access("new", F_OK), -1);
    assert_int_equal(chmod("shared", 0777), 0); /* not sticky: as the kernel does */
    assert_int_equal(rocl_out_commit(open_with("shared/none", "new"), err), ROCL_OK);
    check_file("new", "new");
}

static void test_full(void **state)
{
    (void)state;
    rocl_out *o = open_with("/dev/full", "a few bytes are only lost at commit");
    assert_fails(rocl_out_commit(o, err), "/dev/full: cannot write", strerror(ENOSPC));
    assert_int_equal(rocl_out_open(&o, "/dev/full", err), ROCL_OK);
    char *block = calloc(1, 1 << 20);
    assert_fails(rocl_out_write(o, block, 1 << 20, err), "/dev/full: cannot write", "");
    assert_fails(rocl_out_write(o, "x", 1, err), "/dev/full: cannot write", "");
    assert_fails(rocl_out_commit(o, err), "/dev/full: cannot write", "");
    free(block);
}

/* Writes of all sizes, across the buffer's end. */
static void test_sizes(void **state)
{
    (void)state;
    enum { TOTAL = 3000000 };
    uint8_t *want = malloc(TOTAL), *got = malloc(TOTAL + 1);
    for (size_t i = 0; i < TOTAL; i++)
        want[i] = (uint8_t)(i * 2654435761u >> 13);
    rocl_out *o;
    assert_int_equal(rocl_out_open(&o, "x", err), ROCL_OK);
    for (size_t at = 0, n = 0; at < TOTAL; at += n) {
        n = (n * 3 + 1) % 700001;
        if (n > TOTAL - at)
            n = TOTAL - at;
        assert_int_equal(rocl_out_write(o, want + at, n, err), ROCL_OK);
    }
    assert_int_equal(rocl_out_bytes(o), TOTAL);
    assert_int_equal(rocl_out_commit(o, err), ROCL_OK);
    int fd = open("x", O_RDONLY);
    assert_int_equal(read(fd, got, TOTAL + 1), TOTAL);
    close(fd);
    assert_memory_equal(got, want, TOTAL);
    free(want);
    free(got);
}

/* Standard output is written to and not closed. */
static void test_standard_output(void **state)
{
    (void)state;
    fflush(stdout);
    int saved = dup(1), fd = open("captured", O_RDWR | O_CREAT, 0666);
    dup2(fd, 1);
    rocl_out *o = open_with("-", "to standard output");
    rocl_status st = rocl_out_commit(o, err);
    rocl_out_discard(open_with("-", "not this"));
    bool open_still = fcntl(1, F_GETFD) >= 0;
    int full = open("/dev/full", O_WRONLY);
    dup2(full, 1);
    rocl_status st_full = rocl_out_commit(open_with("-", "x"), err);
    dup2(saved, 1);
    close(saved);
    close(fd);
    close(full);
    assert_int_equal(st, ROCL_OK);
    assert_true(open_still);
    assert_fails(st_full, "standard output: cannot write", strerror(ENOSPC));
    check_file("captured", "to standard output");
}

static void test_make_dirs(void **state)
{
    (void)state;
    struct stat info;
    assert_int_equal(rocl_make_dirs("a//b/c/", err), ROCL_OK);
    assert_int_equal(rocl_make_dirs("a/b/c", err), ROCL_OK);
    assert_true(stat("a/b/c", &info) == 0 && S_ISDIR(info.st_mode));
    assert_int_equal(rocl_make_dirs("/", err), ROCL_OK);
    put_file("a/file", "");
    assert_fails(rocl_make_dirs("a/file/x", err), "a/file/x: cannot create the folder", "");
    assert_fails(rocl_make_dirs("a/file", err), "a/file: ", strerror(ENOTDIR));
    assert_fails(rocl_make_dirs("", err), "", "not a folder name");
}

/* ---- others write ---- */

/* As another process would. */
static void put_at(const char *path, off_t at, const char *text)
{
    const int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
    close(fd);
}

/* here: the file has no name until it is committed; else a hidden one. */
static void check_shared(bool here, bool commit)
{
    rocl_out *o = NULL;
    char *path;
    put_file("shared", "former");
    assert_int_equal(rocl_out_open(&o, "shared", err), ROCL_OK);
    assert_int_equal(rocl_out_reserve(o, 6, here, &path, err), ROCL_OK);
    assert_int_equal(rocl_out_bytes(o), 6);
    put_at(path, 3, "def");
    put_at(path, 0, "abc");
    assert_int_equal(count_files(), here ? 1 : 2);
    assert_int_equal(strstr(path, "/.rocline-") != NULL, !here);
    free(path);
    if (commit)
        assert_int_equal(rocl_out_commit(o, err), ROCL_OK);
    else
        rocl_out_discard(o);
    check_file("shared", commit ? "abcdef" : "former");
    assert_int_equal(count_files(), 1);
}

static void shared_files_appear_whole_or_not_at_all(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        check_shared(i & 1, i & 2);
    rocl_out *o = NULL;
    char *path;
    assert_int_equal(rocl_out_open(&o, "/dev/null", err), ROCL_OK);
    assert_fails(rocl_out_reserve(o, 6, true, &path, err), "/dev/null", "several processes");
    assert_null(path);
    rocl_out_discard(o);
}

static rocl_status take_bytes(void *ctx, const void *p, size_t n, rocl_error *e)
{
    strncat(ctx, p, n);
    return n == 1 ? rocl_fail(e, ROCL_OUTPUT, "one byte: enough") : ROCL_OK;
}

static void outputs_that_are_a_function_hand_on_what_is_written(void **state)
{
    (void)state;
    char got[20] = "";
    rocl_out *o;
    assert_int_equal(rocl_out_open_to(&o, take_bytes, got, err), ROCL_OK);
    assert_int_equal(rocl_out_write(o, "ab", 2, err), ROCL_OK);
    assert_int_equal(rocl_out_seal(o, true, err), ROCL_OK);
    assert_fails(rocl_out_write(o, "c", 1, err), "one byte", "enough");
    assert_int_equal(rocl_out_bytes(o), 3);
    rocl_out_discard(o);
    assert_string_equal(got, "abc");
    assert_int_equal(count_files(), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(shared_files_appear_whole_or_not_at_all),
        TEST(outputs_that_are_a_function_hand_on_what_is_written),
        TEST(test_new_file),
        TEST(test_discard_and_replace),
        TEST(test_links),
        TEST(test_bad_paths),
        TEST(test_folder_vanishes),
        TEST(test_together),
        TEST(test_planted_link),
        TEST(test_full),
        TEST(test_sizes),
        TEST(test_standard_output),
        TEST(test_make_dirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

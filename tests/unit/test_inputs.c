/* What the user names as inputs: files, globs, directories, indexes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/index_yaml.h"
#include "source/inputs.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define HEAD     "rocprofiler-sdk:\n  rocpd:\n"

/* ---- index.yaml ------------------------------------------------------------------------------ */

/* "path|file@line|file@line", or the error. */
static void parse(const char *text, size_t len, char *result, size_t size)
{
    rocl_index x;
    rocl_error *err = rocl_error_new();
    char *exact = malloc(len + 1); /* so that a sanitizer sees a step too far */
    assert_non_null(exact);
    memcpy(exact, text, len);
    rocl_status st = rocl_index_parse(&x, exact, len, err);
    size_t at = 0;
    if (st != ROCL_OK)
        snprintf(result, size, "%d %s", (int)st, rocl_error_text(err));
    else
        at = (size_t)snprintf(result, size, "%s", x.path ? x.path : "-");
    for (size_t i = 0; st == ROCL_OK && i < x.count && at < size; i++)
        at += (size_t)snprintf(result + at, size - at, "|%s@%lu", x.files[i].name, x.files[i].line);
    rocl_index_free(&x);
    rocl_error_free(err);
    free(exact);
}

typedef struct yaml_row {
    const char *text, *gives;
} yaml_row;

static void check_yaml(const yaml_row *rows, size_t count)
{
    char result[2048];
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        parse(rows[i].text, strlen(rows[i].text), result, sizeof result);
        size_t len = strlen(rows[i].gives);
        bool begin = rows[i].gives[len - 1] == ':'; /* the rest are libyaml's words */
        if (begin ? strncmp(result, rows[i].gives, len) : strcmp(result, rows[i].gives)) {
            print_error("row %zu: \"%s\" instead of \"%s\"\n", i, result, rows[i].gives);
            good = false;
        }
    }
    assert_true(good);
}

/* As the writers that exist, and people with an editor, write it. */
static const yaml_row good_yaml[] = {
    {HEAD "    files:\n    - a.db\n    - sub/b.db\n    path: .\n"
          "    rocpd_package_version: '1.0'\n",
     ".|a.db@4|sub/b.db@5"},
    {HEAD "    rocpd_package_version: \"1.0\"\n    path: \".\"\n    files:\n"
          "      - \"a.db\"\n      - 'b.db'",
     ".|a.db@6|b.db@7"},
    {HEAD "    files: a.db\n", "-|a.db@3"}, /* a package of one */
    {HEAD "    files: [a.db, \"b.db\", 'c.db',]\n", "-|a.db@3|b.db@3|c.db@3"},
    {HEAD "    files: [\n  a.db, # one\n\n  b.db\n]\n    path: x\n", "x|a.db@4|b.db@6"},
    {"rocprofiler-sdk: {rocpd: {files: [a.db, b.db], path: /x}}", "/x|a.db@1|b.db@1"},
    {"{\"rocprofiler-sdk\": {\"rocpd\": {\"files\": [\"a.db\"]}}}", "-|a.db@1"},
    {"\xef\xbb\xbf# a comment\n%YAML 1.1\n---\n" HEAD "    files: a.db\n...\nrubbish: [",
     "-|a.db@6"},
    {"--- # start\n" HEAD "    files:\n      - a.db # the first\n# no\n  # no\n      - b#c.db\n",
     "-|a.db@5|b#c.db@8"},
    {"rocprofiler-sdk:\r\n  rocpd:\r\n    files:\r\n    - a.db\r\n    - 'b.db'\r\n",
     "-|a.db@4|b.db@5"},
    {"other:\n- a: 1\n  files: [x]\n- - b\n  - c\n\"rocprofiler-sdk\" :\n         rocpd:\n"
     "                        'files':\n                          -   a.db  \n",
     "-|a.db@9"},
    {"files: x.db\nrocpd:\n  files: y.db\n" HEAD "    files: z.db\n", "-|z.db@6"},
    {HEAD "    extra:\n      files: x.db\n      nothing:\n    files:\n    -\n      a.db\n    -\n"
          "    - b.db\n",
     "-|a.db@8|b.db@10"},
    /* quoting */
    {HEAD
     "    files:\n    - 'it''s # x: y.db'\n    - \"caf\\xE9 \\u4e2d\\U0001F600\\t\\\"\\\\.db\"\n",
     "-|it's # x: y.db@4|caf\xc3\xa9 \xe4\xb8\xad\xf0\x9f\x98\x80\t\"\\.db@5"},
    {HEAD "    files: [\"\\uDCE9.db\"]", "-|\xe9.db@3"}, /* a byte that is not UTF-8 */
    {HEAD "    files:\n    - C:\\x.db\n    - -x.db\n    - a:b.db\n    - ?.db\n    - :x\n",
     "-|C:\\x.db@4|-x.db@5|a:b.db@6|?.db@7|:x@8"},
    {HEAD "    files: ['a,b].db', \"{c}\", d:e]", "-|a,b].db@3|{c}@3|d:e@3"},
    /* long names over several lines, as dumpers fold them */
    {HEAD "    files:\n    - one\n      two.db\n    - 'it''s\n      x.db'\n    - \"a\\\n      \\ "
          "b.db\"\n"
          "    - \"c\n\n      d.db\"\n    path: e\n      f\n",
     "e f|one two.db@4|it's x.db@6|a b.db@8|c\nd.db@10"},
    {HEAD "    files: [a\n  b.db, c.db]", "-|a b.db@3|c.db@4"},
};

static const yaml_row bad_yaml[] = {
    {"", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {"# nothing\n\n", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {"just text", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {HEAD "    files: ''\n", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {HEAD "    files: []\n", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {HEAD "    files:\n    path: x\n", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {"rocprofiler-sdk: x\n", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {HEAD "    files:\n    - ''\n", "3 line 4: a file name is empty"},
    {HEAD "    files:\n    - [a]\n", "3 line 4: files is not a list of file names"},
    {HEAD "    files:\n    - a: b\n", "3 line 4: files is not a list of file names"},
    {HEAD "    files:\n      a: b\n", "3 line 4: files is not a list of file names"},
    {HEAD "    files: {a: b}\n", "3 line 3: files is not a list of file names"},
    {HEAD "    path: [a]\n", "3 line 3: path is not a string"},
    {HEAD "    files:\n    - a.db\n   - b.db\n", "3 line 5:"},
    {HEAD "    files:\n    - a.db\n      - b.db\n", "-|a.db - b.db@4"}, /* so says YAML */
    {HEAD "    files:\n    - a.db\n     path: x\n", "3 line 5:"},
    {HEAD "\tfiles: a\n", "3 line 3:"},
    {HEAD "    files: - a\n", "3 line 3:"},
    {HEAD "    files: a: b\n", "3 line 3:"},
    {HEAD "    files: \"a\" b\n", "3 line 3:"},
    {HEAD "    files: [a] b\n", "3 line 3:"},
    {HEAD "    files: [a b: c]\n", "3 line 3: files is not a list of file names"},
    {HEAD "    files: [a\n", "3 line 4:"},
    {HEAD "    files: [a\n---\n]\n", "3 line 4:"},
    {HEAD "    files: [a}\n", "3 line 3:"},
    {HEAD "    files: [,]\n", "3 line 3:"},
    {HEAD "    files: 'a\n\n\n", "3 line 6:"},
    {HEAD "    files: \"a\\", "3 line 3:"},
    {HEAD "    files: \"\\q\"\n", "3 line 3:"},
    {HEAD "    files: \"\\xg0\"\n", "3 line 3:"},
    {HEAD "    files: \"\\x4", "3 line 3:"},
    {HEAD "    files: \"\\x00\"\n", "3 line 3: a name has a NUL byte"},
    {HEAD "    files: \"\\UFFFFFFFF\"\n", "3 line 3:"},
    {HEAD "    files: &x a\n", "-|a@3"},
    {HEAD "    files: !!str a\n", "-|a@3"},
    {HEAD "    files: |\n      a\n", "-|a\n@3"},
    {HEAD "    files: @a\n", "3 line 3:"},
    {HEAD "    ? files\n", "3 it lists no files under rocprofiler-sdk: rocpd: files"},
    {"- a\nb: c\n", "3 line 2:"},
};

static void test_yaml(void **state)
{
    (void)state;
    check_yaml(good_yaml, COUNT(good_yaml));
    check_yaml(bad_yaml, COUNT(bad_yaml));
}

static char *repeat(const char *head, const char *unit, size_t times, size_t *len)
{
    size_t n = strlen(unit), at = strlen(head);
    char *text = malloc(at + n * times + 1);
    assert_non_null(text);
    memcpy(text, head, at);
    for (size_t i = 0; i < times; i++, at += n)
        memcpy(text + at, unit, n);
    *len = at;
    return text;
}

/* Deep, long, and what takes a careless reader quadratic time. */
static void test_hostile_yaml(void **state)
{
    (void)state;
    static const struct {
        const char *head, *unit;
        size_t times;
        const char *gives;
    } rows[] = {
        {HEAD "    files: ", "[", 1000000, "files is not a list"},
        {HEAD "    other: ", "[", 1000000, "nested too deeply"},
        {"", "{a: ", 1000000, "nested too deeply"},
        {"", "- ", 1000000, "nested too deeply"},
        {"- ", "- a: ", 100000, "line 1: "},
        {"\"", "a\n", 1000000, "line 1000001: "},
        {"[", "a\n", 1000000, "line 1000001: "},
        {"[", "#\n", 1000000, "line 1000001: "},
        {"", "\n", 1000000, "lists no files"},
        {"a", "\n", 1000000, "lists no files"},
        {"", "a\n", 1000000, "lists no files"},
        {"a: ", " ", 1000000, "lists no files"},
        {"", "a:\n", 1000000, "lists no files"},
        {"", ":", 1000000, "line 1: "},
        {"", "'", 1000001, "line 1: "},
        {"", "''", 1000000, "lists no files"},
        {"", "? ", 1000, "nested too deeply"},
    };
    bool good = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len;
        char result[2048], *text = repeat(rows[i].head, rows[i].unit, rows[i].times, &len);
        parse(text, len, result, sizeof result);
        free(text);
        if (!strstr(result, rows[i].gives))
            print_error("row %zu: \"%s\"\n", i, result), good = false;
    }
    assert_true(good);
    size_t len;
    char *text = repeat(HEAD "    files:\n", "    - a.db\n", 300000, &len);
    rocl_index x;
    assert_int_equal(rocl_index_parse(&x, text, len, NULL), ROCL_OK);
    assert_int_equal(x.count, 300000);
    assert_int_equal(x.files[299999].line, 300003);
    rocl_index_free(&x);
    free(text);
    text = repeat(HEAD "    files: ", "x", 10 << 20, &len);
    assert_int_equal(rocl_index_parse(&x, text, len, NULL), ROCL_OK);
    assert_int_equal(strlen(x.files[0].name), 10 << 20);
    rocl_index_free(&x);
    free(text);
}

/* Every good text cut short and with a byte changed: any answer will do, a crash will not. */
static void test_damaged_yaml(void **state)
{
    (void)state;
    static const char bytes[] = "\0\n\t -:#'\"[]{},\\?&|%\xff";
    char result[2048], text[1024];
    for (size_t i = 0; i < COUNT(good_yaml); i++) {
        size_t len = strlen(good_yaml[i].text);
        for (size_t at = 0; at < len; at++) {
            parse(good_yaml[i].text, at, result, sizeof result);
            for (size_t b = 0; b < sizeof bytes; b++) {
                memcpy(text, good_yaml[i].text, len);
                text[at] = bytes[b];
                parse(text, len, result, sizeof result);
            }
        }
    }
}

static void test_yaml_nul(void **state)
{
    (void)state;
    static const char plain[] = HEAD "    files: a\0b\n", quoted[] = HEAD "    files: 'a\0b'\n";
    char result[256];
    parse(plain, sizeof plain - 1, result, sizeof result);
    assert_string_equal(result, "3 line 3: control characters are not allowed");
    parse(quoted, sizeof quoted - 1, result, sizeof result);
    assert_string_equal(result, "3 line 3: control characters are not allowed");
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static const char magic[] = "SQLite format 3"; /* with its NUL */

static void put_file(const char *path, const void *text, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void put_text(const char *path, const char *text)
{
    put_file(path, text, strlen(text));
}

static void put_db(const char *path)
{
    put_file(path, magic, sizeof magic);
}

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline_inputs_XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    put_db("a.db");
    put_db("b.db");
    put_db("B.db");
    put_db("trace[1].db");
    put_text("text.txt", "no database");
    assert_int_equal(symlink("a.db", "link.db"), 0);
    assert_int_equal(link("a.db", "hard.db"), 0);
    assert_int_equal(symlink("nothing", "dangling"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);

    mkdir("dir", 0777);
    put_db("dir/10.db");
    put_db("dir/9.db");
    put_db("dir/rank1_results.rocpd");
    put_db("dir/.hidden.db");
    put_text("dir/broken.db", "not a database at all, no");
    put_text("dir/empty.txt", "");
    mkdir("dir/sub.db", 0777);
    put_db("dir/sub.db/deep.db");
    mkdir("none", 0777);
    put_text("none/readme", "text");
    mkdir("dangle", 0777);
    assert_int_equal(symlink("gone", "dangle/x.db"), 0);

    mkdir("pkg.rpdb", 0777);
    put_db("pkg.rpdb/z.db");
    put_db("pkg.rpdb/y.db");
    put_db("pkg.rpdb/unlisted.db");
    put_text("pkg.rpdb/index.yaml", HEAD "    files:\n    - z.db\n    - y.db\n    - ../b.db\n");
    put_text("pkg.rpdb/glob.yaml", HEAD "    files: '[yz].db'\n");
    put_text("moved.yml", HEAD "    path: pkg.rpdb\n    files: [z.db, a.db]\n");
    put_text("lost.yaml", HEAD "    files:\n    - a.db\n    - gone.db\n");
    put_text("nomatch.yaml", HEAD "    files: x*.db\n");
    put_text("dirs.yaml", HEAD "    files: dir\n");
    put_text("bad.yaml", HEAD "    files: [\n");
    put_db("database.yaml");
    return 0;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f)
{
    (void)s;
    (void)type;
    (void)f;
    return remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") || nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* "file file", and how many came again and which the first of them is; or the error. */
static void expand(const char *const *names, size_t count, char *result, size_t size)
{
    rocl_inputs in;
    rocl_error *err = rocl_error_new();
    rocl_status st = rocl_inputs_expand(&in, NULL, names, count, err);
    size_t at = 0;
    result[0] = '\0';
    if (st != ROCL_OK)
        snprintf(result, size, "%d %s", (int)st, rocl_error_text(err));
    for (size_t i = 0; st == ROCL_OK && i < in.count; i++)
        at += (size_t)snprintf(result + at, size - at, "%s%s", i ? " " : "", in.paths[i]);
    if (st == ROCL_OK && in.repeated)
        snprintf(result + at, size - at, ", %zu: %s is %s", in.repeated, in.again, in.first);
    if (st != ROCL_OK)
        assert_true(in.count == 0 && in.paths == NULL);
    rocl_inputs_free(&in);
    rocl_error_free(err);
}

static const struct {
    const char *names[4];
    const char *gives;
} cases[] = {
    {{"a.db"}, "a.db"},
    {{"b.db", "a.db"}, "b.db a.db"},
    {{"./a.db", "text.txt"}, "./a.db text.txt"}, /* what it is is for the source to say */
    {{"fifo", "/dev/null"}, "fifo /dev/null"},
    {{"-"}, "-"},
    {{"-", "a.db"}, "- a.db"},
    {{"-", "-"}, "3 -: named twice"},
    /* globs */
    {{"[ab].db"}, "a.db b.db"},
    {{"?.db"}, "B.db a.db b.db"},
    {{"trace[1].db"}, "trace[1].db"}, /* a file of that name goes first */
    {{"pkg.rpdb/[yz].db", "a*.db"}, "pkg.rpdb/y.db pkg.rpdb/z.db a.db"},
    {{"pkg*"}, "pkg.rpdb/z.db pkg.rpdb/y.db pkg.rpdb/../b.db"},
    {{"q*.db"}, "3 q*.db: no such file"},
    {{"gone/*.db"}, "3 gone/*.db: no such file"},
    {{"dang*"}, "3 dangle/x.db: no such file"},
    /* directories */
    {{"dir"}, "dir/10.db dir/9.db dir/broken.db dir/rank1_results.rocpd"},
    {{"dir/"}, "dir/10.db dir/9.db dir/broken.db dir/rank1_results.rocpd"},
    {{"none"}, "3 none: no database in this directory (subdirectories are not searched)"},
    {{"dangle"}, "3 dangle/x.db: no such file"},
    {{"pkg.rpdb"}, "pkg.rpdb/z.db pkg.rpdb/y.db pkg.rpdb/../b.db"},
    /* indexes */
    {{"pkg.rpdb/index.yaml"}, "pkg.rpdb/z.db pkg.rpdb/y.db pkg.rpdb/../b.db"},
    {{"pkg.rpdb/glob.yaml"}, "pkg.rpdb/y.db pkg.rpdb/z.db"},
    {{"moved.yml"}, "pkg.rpdb/z.db a.db"},
    {{"lost.yaml"}, "3 lost.yaml: line 5: gone.db: no such file"},
    {{"nomatch.yaml"}, "3 nomatch.yaml: line 3: x*.db: no such file"},
    {{"dirs.yaml"}, "3 dirs.yaml: line 3: dir: a directory, not a file"},
    {{"bad.yaml"},
     "3 bad.yaml: line 4: did not find expected node content (while parsing a "
     "flow node in line 4)"},
    {{"database.yaml"}, "database.yaml"},
    {{"gone.yaml"}, "3 gone.yaml: no such file"},
    /* twice */
    {{"a.db", "a.db"}, "a.db, 1: a.db is a.db"},
    {{"a.db", "./a.db"}, "a.db, 1: ./a.db is a.db"},
    {{"a.db", "link.db"}, "a.db, 1: link.db is a.db"},
    {{"hard.db", "b.db", "a.db"}, "hard.db b.db, 1: a.db is hard.db"},
    {{"b.db", "pkg.rpdb"}, "b.db pkg.rpdb/z.db pkg.rpdb/y.db, 1: pkg.rpdb/../b.db is b.db"},
    {{"hard.db", "link.db", "a.db"}, "hard.db, 2: link.db is hard.db"},
    {{"b.db", "?.db", "[ab].db"}, "b.db B.db a.db, 3: b.db is b.db"},
    /* nothing there */
    {{"gone.db"}, "3 gone.db: no such file"},
    {{"a.db/x"}, "3 a.db/x: no such file"},
    {{"dangling"}, "3 dangling: no such file"},
    {{""}, "3 the name of an input is empty"},
    {{NULL}, "2 no input is given"},
};

static void test_inputs(void **state)
{
    (void)state;
    char result[1024];
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t count = 0;
        while (count < COUNT(cases[i].names) && cases[i].names[count])
            count++;
        expand(cases[i].names, count, result, sizeof result);
        if (strcmp(result, cases[i].gives) != 0)
            fail_msg("row %zu: \"%s\" instead of \"%s\"", i, result, cases[i].gives);
    }
}

static void test_very_long_name(void **state)
{
    (void)state;
    char name[5000], result[8192];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    const char *const names[] = {name};
    expand(names, 1, result, sizeof result);
    assert_true(strncmp(result, "3 xxx", 5) == 0);
}

static void test_many(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    char name[32];
    rocl_inputs in;
    assert_int_equal(mkdir("many", 0777), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many/%04d.db", MANY - 1 - i);
        put_db(name);
    }
    const char *const names[] = {"many"};
    assert_int_equal(rocl_inputs_expand(&in, NULL, names, 1, NULL), ROCL_OK);
    assert_int_equal(in.count, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "many/%04d.db", i);
        assert_string_equal(in.paths[i], name);
    }
    rocl_inputs_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_hostile_yaml),
        cmocka_unit_test(test_damaged_yaml),
        cmocka_unit_test(test_yaml_nul),
        cmocka_unit_test_setup_teardown(test_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_very_long_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

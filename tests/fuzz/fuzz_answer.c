/* Fuzz target: ids of events, messages of answers, and tables that are cut to a budget. The answer
 * must be JSON that holds what was put in, and no longer than the budget allows. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/event_id.h"
#include "table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A trace of three captures, two of which have one GUID. */
static void read_id(const char *text)
{
    static rocl_trace *t;
    static rocl_event_ids ids;
    static rocl_model_capture captures[3], *all[3];
    if (!t) {
        static const char *const guids[] = {"00000096-88a3-78a3-98ca-18ea8b796f0d", "a:b.json",
                                            "a:b.json"};
        t = calloc(1, sizeof *t);
        t->strings = rocl_strings_new();
        for (uint32_t i = 0; i < 3; i++) {
            captures[i].pub.index = i;
            captures[i].pub.guid = rocl_strings_put(t->strings, guids[i], strlen(guids[i]));
            all[i] = &captures[i];
        }
        t->captures = all;
        t->capture_count = 3;
        rocl_sync_outputs(false);
        if (rocl_event_ids_open(&ids, t, NULL) != ROCL_OK)
            abort();
    }
    const rocl_capture *c;
    rocl_kind kind;
    uint64_t row;
    if (rocl_event_id_read(&ids, text, &c, &kind, &row, NULL) != ROCL_OK)
        return;
    /* What was read is written as an id that means the same. */
    rocl_buf b = {0};
    const rocl_capture *again;
    rocl_kind kind_again;
    uint64_t row_again;
    rocl_event_id_put(&b, &ids, c, kind, row);
    rocl_buf_byte(&b, 0);
    if (rocl_event_id_read(&ids, (const char *)b.data, &again, &kind_again, &row_again, NULL) !=
            ROCL_OK ||
        again != c || kind_again != kind || row_again != row)
        abort();
    rocl_buf_free(&b);
}

/* Lines of the input are the texts of rows. */
static rocl_tables *make_tables(const char *text, int64_t *sum)
{
    static const rocl_table_column columns[] = {{"name", "Name", ROCL_UNIT_TEXT},
                                                {"calls", "Calls", ROCL_UNIT_COUNT}};
    static const rocl_fold folds[] = {ROCL_FOLD_OTHERS, ROCL_FOLD_SUM};
    rocl_tables *tables = rocl_tables_new();
    for (unsigned k = 0; k < 2; k++) {
        rocl_table *t = rocl_tables_add(tables, k ? "b" : "a", "T", columns, 2);
        t->folds = folds;
        for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
            rocl_datum *row = rocl_table_row(t);
            row[0] = rocl_datum_text(tables, line, strcspn(line, "\n"));
            row[1] = rocl_datum_int((int64_t)strcspn(line, "\n") + 1);
            sum[k] += row[1].i;
        }
    }
    return tables;
}

static void write_answer(const char *text, size_t budget)
{
    char path[] = "/dev/shm/fuzz-answer-XXXXXX";
    int64_t sum[2] = {0, 0};
    bool fits;
    const int fd = mkstemp(path);
    rocl_answer *a;
    rocl_tables *tables = make_tables(text, sum);
    if (fd < 0 || rocl_answer_open(&a, path, text, NULL, NULL) != ROCL_OK)
        abort();
    const size_t head = rocl_answer_bytes(a);
    rocl_tables_cut(tables, ROCL_TABLE_JSON, budget, &fits);
    if (rocl_answer_put_tables(a, tables, NULL) != ROCL_OK)
        abort();
    if (fits && rocl_answer_bytes(a) > head + budget + 64)
        abort();
    rocl_answer_add_message(a, false, ROCL_OK, text);
    if (rocl_answer_end(a, ROCL_OK, NULL) != ROCL_OK)
        abort();
    FILE *f = fopen(path, "r");
    char *bytes = NULL;
    size_t cap = 0;
    if (!f || getdelim(&bytes, &cap, '\0', f) < 0)
        abort();
    fclose(f);
    cJSON *root = cJSON_Parse(bytes);
    if (!root)
        abort();
    for (int k = 0; k < 2; k++) {
        const cJSON *rows = cJSON_GetObjectItem(
            cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), k ? "b" : "a"), "rows");
        const cJSON *row;
        double all = 0;
        if (!rows)
            continue;
        cJSON_ArrayForEach(row, rows) all += cJSON_GetObjectItem(row, "calls")->valuedouble;
        if (all != (double)sum[k])
            abort();
    }
    cJSON_Delete(root);
    free(bytes);
    rocl_tables_free(tables);
    close(fd);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text || size > 1 << 16) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    read_id(text);
    write_answer(text, size ? (size_t)data[size - 1] * 40 : 0);
    free(text);
    return 0;
}

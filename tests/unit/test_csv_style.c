/* The table of CSV files: names, headers, --kinds, categories. */
#include "test_csv_world.h"

static const struct {
    const char *title, *spelled;
} titles[] = {
    {"LDS_Block_Size", "\"Lds_Block_Size\""},
    {"Guid", "\"Guid\""},
    {"Cap_QueueSize32bit", "\"Cap_Queuesize32Bit\""},
    {"Cap_DEPRECATED_SRAM_EDCSupport", "\"Cap_Deprecated_Sram_Edcsupport\""},
};

static void test_titles(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(titles); i++) {
        rocl_buf b = {0};
        rocl_csv_put_title(&b, titles[i].title, ROCL_CSV_ROCPD_1_1);
        assert_int_equal(b.len, strlen(titles[i].spelled));
        assert_memory_equal(b.data, titles[i].spelled, b.len);
        b.len = 0;
        rocl_csv_put_title(&b, titles[i].title, ROCL_CSV_ROCPD_1_0);
        assert_memory_equal(b.data + 1, titles[i].title, b.len - 2);
        rocl_buf_free(&b);
    }
}

#define API_HEADER                                                                                 \
    "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\"," \
    "\"End_Timestamp\""

static const struct {
    rocl_csv_file_id file;
    rocl_csv_style style;
    bool duration, bytes;
    const char *header;
} headers[] = {
    {CSV_FILE_HIP, ROCL_CSV_ROCPD_1_0, false, true, "\"Guid\"," API_HEADER},
    {CSV_FILE_REGIONS, ROCL_CSV_ROCPD_1_1, true, false, "\"Guid\"," API_HEADER ",\"Duration\""},
    {CSV_FILE_HSA, ROCL_CSV_ROCPROFV3, false, false, API_HEADER},
    {CSV_FILE_COPY, ROCL_CSV_ROCPROFV3, true, true,
     "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
     "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Duration\",\"Bytes\""},
    {CSV_FILE_SCRATCH, ROCL_CSV_ROCPD_1_0, false, false,
     "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\","
     "\"Start_Timestamp\",\"End_Timestamp\""},
    /* 1.1 has a Duration of its own */
    {CSV_FILE_KERNEL, ROCL_CSV_ROCPD_1_1, true, false,
     "\"Guid\",\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
     "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
     "\"Duration\",\"Lds_Block_Size\",\"Scratch_Size\",\"Vgpr_Count\",\"Accum_Vgpr_Count\","
     "\"Sgpr_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\","
     "\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\""},
    {CSV_FILE_COUNTER, ROCL_CSV_ROCPD_1_0, false, false,
     "\"Pid\",\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
     "\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
     "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
     "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\""},
};

static void test_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        rocl_csv_options o = {
            .style = headers[i].style, .duration = headers[i].duration, .bytes = headers[i].bytes};
        rocl_csv_plan plan;
        rocl_buf b = {0};
        rocl_csv_make_plan(&plan, headers[i].file, &o);
        rocl_csv_put_header(&b, &plan, o.style);
        b.data[b.len - 1] = '\0';
        assert_string_equal((char *)b.data, headers[i].header);
        rocl_buf_free(&b);
    }
}

/* Every column of every file has a place in the record of that file. */
static void test_tables_fit(void **state)
{
    (void)state;
    for (unsigned f = 0; f < CSV_FILES; f++) {
        unsigned n = 0;
        for (const rocl_csv_column *c = rocl_csv_files[f].columns; c && c->op != CSV_END_OF_COLUMNS;
             c++) {
            assert_true(c->field < rocl_csv_files[f].fields);
            assert_true(c->op != CSV_LITERAL || c->literal);
            n++;
        }
        assert_true(n <= CSV_COLUMNS_MAX);
        assert_true(rocl_csv_files[f].fields <= CSV_FIELDS_MAX);
    }
}

#define F(name)   (1u << CSV_FILE_##name)
#define API_FILES (F(HIP) | F(HSA) | F(RCCL) | F(ROCDECODE) | F(ROCJPEG) | F(OTHER))

static const struct {
    rocl_csv_style style;
    const char *word;
    uint32_t files;
} words[] = {
    {ROCL_CSV_ROCPD_1_0, "kernel_trace", F(KERNEL)},
    {ROCL_CSV_ROCPD_1_0, "kernel", F(KERNEL)},
    {ROCL_CSV_ROCPD_1_0, "hip_api_trace", F(HIP)},
    {ROCL_CSV_ROCPD_1_0, "hip_api", F(HIP)},
    {ROCL_CSV_ROCPD_1_0, "hip", F(HIP)},
    {ROCL_CSV_ROCPD_1_0, "copy", F(COPY)},
    {ROCL_CSV_ROCPD_1_0, "memory-copy", F(COPY)},
    {ROCL_CSV_ROCPD_1_0, "marker", F(MARKER)},
    {ROCL_CSV_ROCPD_1_0, "region", API_FILES},
    {ROCL_CSV_ROCPD_1_0, "counter", F(COUNTER)},
    {ROCL_CSV_ROCPD_1_0, "counter_collection", F(COUNTER)},
    {ROCL_CSV_ROCPD_1_0, "counter_collection_trace", F(COUNTER)},
    {ROCL_CSV_ROCPD_1_0, "hip-event", F(HIP_EVENT)},
    {ROCL_CSV_ROCPD_1_0, "agent_info", F(AGENT)},
    {ROCL_CSV_ROCPD_1_0, "agents", F(AGENT)},
    {ROCL_CSV_ROCPD_1_1, "regions_trace", F(REGIONS)},
    {ROCL_CSV_ROCPD_1_1, "marker", F(REGIONS)},
    {ROCL_CSV_ROCPD_1_1, "instant", F(INSTANTS)},
    {ROCL_CSV_ROCPD_1_1, "hip", 0},
    {ROCL_CSV_ROCPROFV3, "regions", API_FILES},
    {ROCL_CSV_ROCPROFV3, "instants_trace", 0},
    {ROCL_CSV_ROCPD_1_0, "kernels_of_mine", 0},
    {ROCL_CSV_ROCPD_1_0, "", 0},
};

static void test_kinds(void **state)
{
    (void)state;
    rocl_error *err = rocl_error_new();
    for (size_t i = 0; i < COUNT(words); i++) {
        rocl_csv_options o = {.style = words[i].style, .kinds = LIST(words[i].word)};
        uint32_t files;
        rocl_status st = rocl_csv_select(&files, &o, err);
        assert_int_equal(st, words[i].files ? ROCL_OK : ROCL_USAGE);
        if (words[i].files)
            assert_int_equal(files, words[i].files);
        else
            assert_non_null(strstr(rocl_error_text(err), "choose from kernel, memory_copy"));
    }
    rocl_error_free(err);
}

static void test_stdout_takes_one(void **state)
{
    (void)state;
    rocl_error *err = rocl_error_new();
    uint32_t files;
    rocl_csv_options o = {.path = "-"};
    assert_int_equal(rocl_csv_select(&files, &o, err), ROCL_USAGE);
    assert_non_null(strstr(rocl_error_text(err), "choose one with --kinds"));
    o.kinds = LIST("kernel", "kernel_trace");
    assert_int_equal(rocl_csv_select(&files, &o, err), ROCL_OK);
    o.kinds = LIST("kernel", "copy");
    assert_int_equal(rocl_csv_select(&files, &o, err), ROCL_USAGE);
    rocl_error_free(err);
}

static const struct {
    const char *category;
    rocl_csv_file_id file;
} categories[] = {
    {"HIP_RUNTIME_API_EXT", CSV_FILE_HIP},
    {"HIP_COMPILER_API", CSV_FILE_HIP},
    {"HSA_CORE_API", CSV_FILE_HSA},
    {"MARKER_CORE_RANGE_API", CSV_FILE_MARKER},
    {"RCCL_API", CSV_FILE_RCCL},
    {"ROCDECODE_API", CSV_FILE_ROCDECODE},
    {"ROCJPEG_API", CSV_FILE_ROCJPEG},
    {"OMPT", CSV_FILE_OTHER},
    {"rocm_hip_api", CSV_FILE_HIP},
    {"rocm_marker_api", CSV_FILE_MARKER},
    {"timer_sampling", CSV_FILE_OTHER},
    {"HIPSTER", CSV_FILE_OTHER},
    {"hip", CSV_FILE_HIP},
    {"", CSV_FILE_OTHER},
};

static void test_categories(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(categories); i++) {
        assert_int_equal(rocl_csv_file_of_category(categories[i].category, ROCL_CSV_ROCPD_1_0),
                         categories[i].file);
        assert_int_equal(rocl_csv_file_of_category(categories[i].category, ROCL_CSV_ROCPD_1_1),
                         CSV_FILE_REGIONS);
    }
}

static void test_names(void **state)
{
    (void)state;
    char name[64];
    rocl_csv_file_name(name, sizeof name, CSV_FILE_COUNTER, ROCL_CSV_ROCPD_1_0);
    assert_string_equal(name, "counter_collection");
    rocl_csv_file_name(name, sizeof name, CSV_FILE_COUNTER, ROCL_CSV_ROCPD_1_1);
    assert_string_equal(name, "counter_collection_trace");
    rocl_csv_file_name(name, sizeof name, CSV_FILE_RCCL, ROCL_CSV_ROCPROFV3);
    assert_string_equal(name, "rccl_api_trace");
    rocl_csv_file_name(name, sizeof name, CSV_FILE_AGENT, ROCL_CSV_ROCPD_1_1);
    assert_string_equal(name, "agent_info");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_tables_fit),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_stdout_takes_one),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

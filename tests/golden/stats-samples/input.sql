-- A GPU that draws 300 W for 10 ms and then 100 W for 1 ms: gemm runs alone for 4 ms, copy and gemm
-- together for 2 ms. One tick has one event for all its counters, as rocprofiler-systems writes it.
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_a VALUES (1, 'schema_version', '3'), (2, 'uuid', '_a');
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, string TEXT);
INSERT INTO rocpd_string_a VALUES (1, 'device_power'), (2, 'process_page_fault'),
    (3, 'cpu_frequency [0]'), (4, 'roctxRangePushA'), (5, 'MARKER_CORE_RANGE_API');
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid INTEGER, init INTEGER);
INSERT INTO rocpd_info_process_a VALUES (7, 4711, 0);
CREATE TABLE rocpd_info_thread_a (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER);
INSERT INTO rocpd_info_thread_a VALUES (1, 7, 4711);
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, type TEXT, absolute_index INTEGER,
    logical_index INTEGER);
INSERT INTO rocpd_info_agent_a VALUES (1, 'CPU', 0, 0), (2, 'GPU', 1, 1);
CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_a VALUES (1, 'gemm'), (2, 'copy');
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER,
    agent_id INTEGER, kernel_id INTEGER, start INTEGER, "end" INTEGER);
INSERT INTO rocpd_kernel_dispatch_a VALUES
    (1, 7, 1, 2, 1, 51000000, 57000000),
    (2, 7, 1, 2, 2, 55000000, 57000000);
CREATE TABLE rocpd_info_pmc_a (id INTEGER PRIMARY KEY, agent_id INTEGER, name TEXT, units TEXT,
    value_type TEXT);
INSERT INTO rocpd_info_pmc_a VALUES (1, 2, 'device_power', 'w', 'ABS'),
    (2, 1, 'process_page_fault', '', 'ABS'), (3, 1, 'cpu_frequency [0]', 'MHz', 'ABS');
CREATE TABLE rocpd_track_a (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name_id INTEGER);
INSERT INTO rocpd_track_a VALUES (1, 7, NULL, 1), (2, 7, NULL, 2), (3, 7, NULL, 3);
CREATE TABLE rocpd_event_a (id INTEGER PRIMARY KEY, category_id INTEGER, extdata TEXT);
INSERT INTO rocpd_event_a VALUES (1, NULL, '{}'), (2, NULL, '{}'), (3, NULL, '{}'),
    (4, 5, '{"message": "step 1"}'), (5, 5, '{"message": "step 2"}');
CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,
    "end" INTEGER, name_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_region_a VALUES (1, 7, 1, 50000000, 55000000, 4, 4),
    (2, 7, 1, 55000000, 60500000, 4, 5);
CREATE TABLE rocpd_pmc_event_a (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER,
    value REAL);
CREATE TABLE rocpd_sample_a (id INTEGER PRIMARY KEY, track_id INTEGER, timestamp INTEGER,
    event_id INTEGER);
INSERT INTO rocpd_pmc_event_a (event_id, pmc_id, value) VALUES (1, 1, 300), (1, 2, 500),
    (1, 3, 2400), (2, 1, 100), (2, 2, 540), (2, 3, 3200), (3, 1, 90), (3, 2, 540), (3, 3, 3200);
INSERT INTO rocpd_sample_a (track_id, timestamp, event_id) VALUES (1, 50000000, 1),
    (2, 50000000, 1), (3, 50000000, 1), (1, 60000000, 2), (2, 60000000, 2), (3, 60000000, 2),
    (1, 61000000, 3), (2, 61000000, 3), (3, 61000000, 3);

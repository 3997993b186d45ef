-- Several calls with the stack id of a kernel: the first by start, then by id, launched it. Of stack
-- id 5 that is call 3, which comes last in the table; of 6, whose calls begin together on two
-- threads, it is call 4. The calls with stack id 7 launched nothing, and 8 has one call.
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_a VALUES (1, 'schema_version', '3'), (2, 'uuid', '_a');
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, string TEXT);
INSERT INTO rocpd_string_a VALUES (1, 'HIP_RUNTIME_API'), (2, 'hipLaunchKernel'),
    (3, 'hipModuleLaunchKernel'), (4, 'KERNEL_DISPATCH');
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid INTEGER, init INTEGER);
INSERT INTO rocpd_info_process_a VALUES (7, 4711, 500);
CREATE TABLE rocpd_info_thread_a (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER);
INSERT INTO rocpd_info_thread_a VALUES (1, 7, 4711), (2, 7, 4712);
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, type TEXT, logical_index INTEGER);
INSERT INTO rocpd_info_agent_a VALUES (3, 'GPU', 1);
CREATE TABLE rocpd_info_queue_a (id INTEGER PRIMARY KEY, pid INTEGER, name TEXT);
INSERT INTO rocpd_info_queue_a VALUES (1, 7, 'Queue 0');
CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_a VALUES (9, 'axpy');
CREATE TABLE rocpd_event_a (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER);
INSERT INTO rocpd_event_a VALUES (1, 1, 5), (2, 1, 5), (3, 1, 5), (4, 1, 6), (5, 1, 6), (6, 1, 7),
    (7, 1, 7), (8, 1, 8), (11, 4, 5), (12, 4, 6), (13, 4, 8);
CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,
    "end" INTEGER, name_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_region_a VALUES
    (1, 7, 1, 1100, 1200, 2, 1),
    (2, 7, 2, 1050, 1300, 3, 2),
    (3, 7, 1, 1000, 1400, 3, 3),
    (4, 7, 2, 2000, 2100, 2, 4),
    (5, 7, 1, 2000, 2300, 3, 5),
    (6, 7, 1, 3000, 3100, 2, 6),
    (7, 7, 2, 3000, 3100, 2, 7),
    (8, 7, 2, 4000, 4100, 2, 8);
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, pid INTEGER, agent_id INTEGER,
    kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, start INTEGER, "end" INTEGER,
    event_id INTEGER);
INSERT INTO rocpd_kernel_dispatch_a VALUES
    (1, 7, 3, 9, 1, 1, 1500, 1700, 11),
    (2, 7, 3, 9, 2, 1, 2400, 2600, 12),
    (3, 7, 3, 9, 3, 1, 4200, 4300, 13);

-- The least that is a trace: other tables and columns are taken as empty. The second dispatch ends
-- before it starts, the third names a kernel that nobody has defined.
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_a VALUES (1, 'schema_version', '3'), (2, 'uuid', '_a');
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, pid INTEGER, init INTEGER);
INSERT INTO rocpd_info_process_a VALUES (7, 4711, 1000);
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, type TEXT, logical_index INTEGER);
INSERT INTO rocpd_info_agent_a VALUES (3, 'GPU', 1);
CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_a VALUES (9, 'say("hi", 1)');
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, pid INTEGER, agent_id INTEGER,
    kernel_id INTEGER, dispatch_id INTEGER, start INTEGER, "end" INTEGER, grid_size_x INTEGER);
INSERT INTO rocpd_kernel_dispatch_a VALUES
    (1, 7, 3, 9, 1, 2000, 2500, 256),
    (2, 7, 3, 9, 2, 3000, 2900, 256),
    (3, 7, 3, 8, 3, 4000, 4100, 64);

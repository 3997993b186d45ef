-- An RPD file of version 2 for the benchmark: @ROWS@ launches, each with an operation, its link and its
-- grid; every tenth is a copy, and every fifth has a marker around it. Ids are those of a second run.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT NOT NULL);
CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
    apiName_id INTEGER, args_id INTEGER);
CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER,
    completionSignal TEXT, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);
CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER,
    gridY INTEGER, gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,
    groupSegmentSize INTEGER, privateSegmentSize INTEGER, kernelArgAddress TEXT, aquireFence TEXT,
    releaseFence TEXT, codeObject_id INTEGER, kernelName_id INTEGER);
CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER, width INTEGER,
    height INTEGER, kind INTEGER, dst TEXT, src TEXT, dstDevice INTEGER, srcDevice INTEGER,
    sync BOOL, pinned BOOL);
CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c
    WHERE i < @ROWS@) SELECT i, 4294967296 + i AS id, 1000000000000 + 3000 * i AS t FROM c;
INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'),
    (4, 'UserMarker'), (5, 'hipMemcpyAsync'), (6, 'CopyHostToDevice');
INSERT INTO rocpd_string SELECT 6 + i, 'kernel_' || i || '(float*, int)' FROM n WHERE i <= 200;
INSERT INTO rocpd_string SELECT 206 + i, 'step ' || i FROM n WHERE i <= 300;
INSERT INTO rocpd_api SELECT id, 77, 77 + i % 3, t, t + 1500, iif(i % 10, 2, 5), 1 FROM n;
INSERT INTO rocpd_api SELECT id + 2147483648, 77, 77 + i % 3, t - 100, t + 2500, 4, 207 + i % 300
    FROM n WHERE i % 5 = 0;
INSERT INTO rocpd_op SELECT id, 2, i % 2, 0, '', t + 2000, t + 4000, iif(i % 10, 7 + i % 200, 1),
    iif(i % 10, 3, 6) FROM n;
INSERT INTO rocpd_api_ops (api_id, op_id) SELECT id, id FROM n;
INSERT INTO rocpd_kernelapi SELECT id, '0x5', 64, 1, 1, 256, 1, 1, 0, 0, '', '', '', '', 7 + i % 200
    FROM n WHERE i % 10;
INSERT INTO rocpd_copyapi SELECT id, '0x0', 4096, '', '', 1, '0x1', '0x2', 0, 0, 0, 0 FROM n
    WHERE i % 10 = 0;

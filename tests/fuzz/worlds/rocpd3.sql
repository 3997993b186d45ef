-- A database of schema 3.0.5 with a few rows of each kind, from which fuzz_db makes damaged ones.
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, "tag" TEXT, "value" TEXT);
INSERT INTO rocpd_metadata_a VALUES
    (1, 'schema_version', '3'),
    (2, 'uuid', '_a'),
    (3, 'guid', '00010910-421f-7c52-acc2-947dd1f6e64c');
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, "string" TEXT);
INSERT INTO rocpd_string_a VALUES
    (1, ''),
    (10, 'GRAPH_LAUNCH'),
    (13, 'HIP_COMPILER_API_EXT'),
    (14, 'HIP_EVENT'),
    (15, 'HIP_EVENT_RECORD'),
    (16, 'HIP_EVENT_WAIT'),
    (18, 'HIP_RUNTIME_API_EXT'),
    (21, 'HSA_CORE_API'),
    (24, 'KERNEL_DISPATCH'),
    (30, 'MEMORY_ALLOCATION'),
    (35, 'MEMORY_COPY'),
    (37, 'MEMORY_COPY_DEVICE_TO_HOST'),
    (38, 'MEMORY_COPY_HOST_TO_DEVICE'),
    (49, 'SPM'),
    (62, '__hipPopCallConfiguration'),
    (63, '__hipPushCallConfiguration'),
    (92, 'hipLaunchKernel'),
    (109, 'hsa_queue_add_write_index_screlease');
CREATE TABLE rocpd_info_node_a (id INTEGER PRIMARY KEY, "hash" INTEGER, "machine_id" TEXT,
    "system_name" TEXT, "hostname" TEXT, "release" TEXT, "version" TEXT, "hardware_name" TEXT,
    "domain_name" TEXT);
INSERT INTO rocpd_info_node_a VALUES
    (1674306021, 805684853227027003, 'd7599677879feaea7af47992098170ae', 'Linux', 'synth-node-0', '5.15.0-164-generic', '#174-Ubuntu SMP Fri Nov 14 20:25:16 UTC 2025', 'x86_64', '(none)');
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "ppid"
    INTEGER, "pid" INTEGER, "init" INTEGER, "fini" INTEGER, "start" INTEGER, "end" INTEGER,
    "command" TEXT, "environment" TEXT, "extdata" TEXT);
INSERT INTO rocpd_info_process_a VALUES
    (4200, '00010910-421f-7c52-acc2-947dd1f6e64c', 1674306021, 1, 4200, 259166472006273, 259166475507406, 259166472006273, 259166475507406, '/opt/app/train --steps 100 --rank 0', '{}', '{}');
CREATE TABLE rocpd_info_thread_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "ppid" INTEGER, "pid"
    INTEGER, "tid" INTEGER, "name" TEXT, "start" INTEGER, "end" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_info_thread_a VALUES
    (4200, 1674306021, 1, 4200, 4200, NULL, NULL, NULL, '{}'),
    (4207, 1674306021, 1, 4200, 4207, NULL, NULL, NULL, '{}'),
    (4210, 1674306021, 1, 4200, 4210, NULL, NULL, NULL, '{}');
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "type" TEXT,
    "absolute_index" INTEGER, "logical_index" INTEGER, "type_index" INTEGER, "uuid" INTEGER, "name"
    TEXT, "model_name" TEXT, "vendor_name" TEXT, "product_name" TEXT, "user_name" TEXT, "extdata"
    TEXT);
INSERT INTO rocpd_info_agent_a VALUES
    (0, 1674306021, 4200, 'CPU', 0, 0, 0, 0, 'AMD EPYC 9654 96-Core Processor', '', 'CPU', 'AMD EPYC 9654 96-Core Processor', 'AMD EPYC 9654 96-Core Processor', '{}'),
    (1, 1674306021, 4200, 'CPU', 1, 1, 1, 0, 'AMD EPYC 9654 96-Core Processor', '', 'CPU', 'AMD EPYC 9654 96-Core Processor', 'AMD EPYC 9654 96-Core Processor', '{}'),
    (2, 1674306021, 4200, 'GPU', 2, 2, 0, 29857, 'gfx942', 'ip discovery', 'AMD', 'AMD Instinct MI300X', 'AMD Instinct MI300X', '{}');
CREATE TABLE rocpd_info_queue_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "name" TEXT,
    "extdata" TEXT);
INSERT INTO rocpd_info_queue_a VALUES
    (0, 1674306021, 4200, 'Default Queue', '{}'),
    (16, 1674306021, 4200, 'Queue 0', '{}'),
    (32, 1674306021, 4200, 'Queue 1', '{}');
CREATE TABLE rocpd_info_stream_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "name"
    TEXT, "extdata" TEXT);
INSERT INTO rocpd_info_stream_a VALUES
    (0, 1674306021, 4200, 'Default Stream', '{}'),
    (1, 1674306021, 4200, 'Stream 0', '{}'),
    (2, 1674306021, 4200, 'Stream 1', '{}');
CREATE TABLE rocpd_info_pmc_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "agent_id"
    INTEGER, "target_arch" TEXT, "event_code" INT, "instance_id" INTEGER, "name" TEXT, "symbol"
    TEXT, "description" TEXT, "long_description" TEXT, "component" TEXT, "units" TEXT, "value_type"
    TEXT, "block" TEXT, "expression" TEXT, "is_constant" INTEGER, "is_derived" INTEGER,
    "spm_support" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_info_pmc_a VALUES
    (196609, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'SQ_WAVES', 'SQ_WAVES', 'Count number of waves sent to SQs.', '', 'rocm', '', 'ABS', 'SQ', '', 0, 0, 1, '{}'),
    (196610, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'GRBM_GUI_ACTIVE', 'GRBM_GUI_ACTIVE', 'The GUI is Active', '', 'rocm', '', 'ABS', 'GRBM', '', 0, 0, 1, '{}'),
    (196611, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'TCC_HIT_sum', 'TCC_HIT_sum', 'Number of cache hits. Sum over TCC instances.', '', 'rocm', '', 'ABS', '', 'reduce(TCC_HIT,sum)', 0, 1, 0, '{}'),
    (196612, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'LDSBankConflict', 'LDSBankConflict', 'The percentage of GPUTime LDS is stalled by bank conflicts.', '', 'rocm', '', 'ABS', '', '100*SQ_LDS_BANK_CONFLICT/GRBM_GUI_ACTIVE/CU_NUM', 0, 1, 0, '{}');
CREATE TABLE rocpd_info_code_object_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER,
    "agent_id" INTEGER, "uri" TEXT, "load_base" INTEGER, "load_size" INTEGER, "load_delta" INTEGER,
    "storage_type" TEXT, "extdata" TEXT);
INSERT INTO rocpd_info_code_object_a VALUES
    (1, 1674306021, 4200, 2, 'memory://4200#offset=0xafc5f90&size=32648', 139874484551680, 1048576, 139874484551680, NULL, '{}'),
    (2, 1674306021, 4200, 3, 'memory://4200#offset=0xafd5f90&size=32648', 139874486648832, 1048576, 139874486648832, NULL, '{}'),
    (3, 1674306021, 4200, 4, 'memory://4200#offset=0xafe5f90&size=32648', 139874488745984, 1048576, 139874488745984, NULL, '{}');
CREATE TABLE rocpd_info_kernel_symbol_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER,
    "code_object_id" INTEGER, "kernel_name" TEXT, "display_name" TEXT, "kernel_object" INTEGER,
    "kernarg_segment_size" INTEGER, "kernarg_segment_alignment" INTEGER, "group_segment_size"
    INTEGER, "private_segment_size" INTEGER, "sgpr_count" INTEGER, "arch_vgpr_count" INTEGER,
    "accum_vgpr_count" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_info_kernel_symbol_a VALUES
    (1, 1674306021, 4200, 1, 'Cijk_Alik_Bljk_HHS_BH_MT256x256x64_MI16x', 'Cijk_Alik_Bljk_HHS_BH_MT256x256x64_MI16x', 139874484556800, 96, 16, 49152, 0, 96, 128, 0, '{}');
CREATE TABLE rocpd_track_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER,
    "name_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_track_a VALUES
    (5, 1674306021, 4200, NULL, 49, '{}');
CREATE TABLE rocpd_event_a (id INTEGER PRIMARY KEY, "category_id" INTEGER, "stack_id" INTEGER,
    "parent_stack_id" INTEGER, "correlation_id" INTEGER, "call_stack" TEXT, "line_info" TEXT,
    "extdata" TEXT);
INSERT INTO rocpd_event_a VALUES
    (1, 13, 1, 0, 0, '{}', '{}', '{}'),
    (2, 13, 2, 0, 0, '{}', '{}', '{}'),
    (3, 18, 3, 0, 0, '{}', '{}', '{}'),
    (145, 21, 4, 3, 0, '{}', '{}', '{}'),
    (241, 24, 3, 3, 0, '{}', '{}', '{}'),
    (242, 24, 9, 9, 0, '{}', '{}', '{}'),
    (243, 24, 12, 12, 0, '{}', '{}', '{}'),
    (293, 35, 99, 99, 0, '{}', '{}', '{}'),
    (294, 35, 142, 142, 0, '{}', '{}', '{}'),
    (295, 35, 174, 174, 0, '{}', '{}', '{}'),
    (296, 30, 48, 47, 0, '{}', '{}', '{}'),
    (297, 30, 73, 72, 0, '{}', '{}', '{}'),
    (298, 30, 98, 97, 0, '{}', '{}', '{}'),
    (301, 10, 14, 14, 0, '{}', '{}', '{}'),
    (302, 10, 18, 18, 0, '{}', '{}', '{}'),
    (303, 14, 50, 50, 0, '{}', '{}', '{}'),
    (304, 14, 173, 173, 0, '{}', '{}', '{}'),
    (305, 14, 218, 218, 0, '{}', '{}', '{}');
CREATE TABLE rocpd_arg_a (id INTEGER PRIMARY KEY, "event_id" INTEGER, "position" INTEGER, "type"
    TEXT, "name" TEXT, "value" TEXT, "extdata" TEXT);
INSERT INTO rocpd_arg_a VALUES
    (1, 1, 0, 'rocprofiler_dim3_t', 'gridDim', '{z=1, y=1, x=8}', '{}'),
    (2, 1, 1, 'rocprofiler_dim3_t', 'blockDim', '{z=1, y=1, x=4}', '{}'),
    (3, 1, 2, 'unsigned long', 'sharedMem', '0', '{}'),
    (4, 1, 3, 'ihipStream_t*', 'stream', '0x55d0c0de0', '{}'),
    (5, 2, 0, 'dim3*', 'gridDim', '0x7ffeba779207', '{}'),
    (6, 2, 1, 'dim3*', 'blockDim', '0x7ffe2ee37363', '{}');
CREATE TABLE rocpd_pmc_event_a (id INTEGER PRIMARY KEY, "event_id" INTEGER, "pmc_id" INTEGER,
    "sample_id" INTEGER, "xcc" INTEGER, "shader_engine" INTEGER, "shader_array" INTEGER, "wgp"
    INTEGER, "instance" INTEGER, "value" REAL, "extdata" TEXT);
INSERT INTO rocpd_pmc_event_a VALUES
    (1, 243, 196609, NULL, NULL, NULL, NULL, NULL, NULL, 832526.0, '{}'),
    (2, 243, 196610, NULL, NULL, NULL, NULL, NULL, NULL, 851997.0, '{}'),
    (3, 243, 196610, NULL, NULL, NULL, NULL, NULL, NULL, 399579.0, '{}'),
    (4, 243, 196611, NULL, NULL, NULL, NULL, NULL, NULL, 81.13121312131213, '{}'),
    (5, 243, 196612, NULL, NULL, NULL, NULL, NULL, NULL, 98.44464446444644, '{}'),
    (6, 243, 196609, 241, 0, 0, 0, 0, 0, 3822.0, '{}');
CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid" INTEGER,
    "start" INTEGER, "end" INTEGER, "name_id" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_region_a VALUES
    (1, 1674306021, 4200, 4200, 259166473006273, 259166473006344, 63, 1, '{}'),
    (2, 1674306021, 4200, 4200, 259166473006452, 259166473006591, 62, 2, '{}'),
    (3, 1674306021, 4200, 4200, 259166473006671, 259166473010628, 92, 3, '{}'),
    (4, 1674306021, 4200, 4200, 259166473007012, 259166473007090, 109, 145, '{}');
CREATE TABLE rocpd_sample_a (id INTEGER PRIMARY KEY, "track_id" INTEGER, "timestamp" INTEGER,
    "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_sample_a VALUES
    (241, 5, 259166473099830, 243, '{}'),
    (242, 5, 259166473122588, 243, '{}'),
    (243, 5, 259166473145345, 243, '{}');
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid"
    INTEGER, "agent_id" INTEGER, "kernel_id" INTEGER, "dispatch_id" INTEGER, "queue_id" INTEGER,
    "stream_id" INTEGER, "start" INTEGER, "end" INTEGER, "private_segment_size" INTEGER,
    "group_segment_size" INTEGER, "workgroup_size_x" INTEGER, "workgroup_size_y" INTEGER,
    "workgroup_size_z" INTEGER, "grid_size_x" INTEGER, "grid_size_y" INTEGER, "grid_size_z"
    INTEGER, "graph_exec_id" INTEGER, "graph_node_id" INTEGER, "replay_pass" INTEGER,
    "region_name_id" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_kernel_dispatch_a VALUES
    (1, 1674306021, 4200, 4200, 2, 1, 1, 16, 1, 259166473018051, 259166473075831, 0, 49152, 256, 1, 1, 9728, 1, 1, 0, 0, 0, 1, 241, '{}'),
    (2, 1674306021, 4200, 4200, 2, 1, 2, 32, 0, 259166473021172, 259166473130863, 0, 49152, 256, 1, 1, 9728, 1, 1, 0, 0, 0, 1, 242, '{}'),
    (3, 1674306021, 4200, 4200, 2, 1, 3, 16, 1, 259166473077073, 259166473168103, 0, 49152, 256, 1, 1, 9728, 1, 1, 0, 0, 0, 1, 243, '{}');
CREATE TABLE rocpd_memory_copy_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid"
    INTEGER, "start" INTEGER, "end" INTEGER, "name_id" INTEGER, "dst_agent_id" INTEGER,
    "dst_address" INTEGER, "src_agent_id" INTEGER, "src_address" INTEGER, "size" INTEGER,
    "queue_id" INTEGER, "stream_id" INTEGER, "graph_exec_id" INTEGER, "graph_node_id" INTEGER,
    "region_name_id" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_memory_copy_a VALUES
    (1, 1674306021, 4200, 4200, 259166473111597, 259166473449343, 37, 0, 139706897727488, 2, 139775572312064, 8388660, NULL, 1, 0, 0, NULL, 293, '{}'),
    (2, 1674306021, 4200, 4207, 259166473151697, 259166473153917, 37, 0, 139706703609856, 3, 139775477153792, 512, NULL, 3, 0, 0, NULL, 294, '{}'),
    (3, 1674306021, 4200, 4213, 259166473201379, 259166474545756, 38, 5, 139706729824256, 0, 139775637323776, 33554432, NULL, 7, 0, 0, NULL, 295, '{}');
CREATE TABLE rocpd_memory_allocate_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid"
    INTEGER, "agent_id" INTEGER, "type" TEXT, "level" TEXT, "start" INTEGER, "end" INTEGER,
    "address" INTEGER, "size" INTEGER, "queue_id" INTEGER, "stream_id" INTEGER, "event_id" INTEGER,
    "extdata" TEXT);
INSERT INTO rocpd_memory_allocate_a VALUES
    (1, 1674306021, 4200, 4207, 3, 'ALLOC', 'REAL', 259166473063457, 259166473074041, 139706698301440, 524288, 0, 0, 296, '{}'),
    (2, 1674306021, 4200, 4200, 2, 'ALLOC', 'REAL', 259166473081790, 259166473099636, 139706700398592, 8388608, 0, 0, 297, '{}'),
    (3, 1674306021, 4200, 4207, 3, 'ALLOC', 'REAL', 259166473105296, 259166473124801, 139706708787200, 16777216, 0, 0, 298, '{}');
CREATE TABLE rocpd_graph_launch_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid"
    INTEGER, "agent_id" INTEGER, "queue_id" INTEGER, "start" INTEGER, "end" INTEGER,
    "graph_exec_id" INTEGER, "kernel_dispatch_count" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_graph_launch_a VALUES
    (1, 1674306021, 4200, 4200, 2, 16, 259166473029278, 259166473702366, 1, 8, 301, '{}'),
    (2, 1674306021, 4200, 4200, 2, 16, 259166473040241, 259166474455293, 2, 10, 302, '{}');
CREATE TABLE rocpd_hip_event_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "tid"
    INTEGER, "agent_id" INTEGER, "queue_id" INTEGER, "source_queue_id" INTEGER, "stream_id"
    INTEGER, "start" INTEGER, "end" INTEGER, "name_id" INTEGER, "event_id" INTEGER, "extdata"
    TEXT);
INSERT INTO rocpd_hip_event_a VALUES
    (1, 1674306021, 4200, 4200, 2, 16, 16, 1, 259166474999849, 259166475000487, 15, 303, '{}'),
    (2, 1674306021, 4200, 4213, 5, 112, 112, 7, 259166473303003, 259166473303729, 15, 304, '{}'),
    (3, 1674306021, 4200, 4210, 4, 80, 96, 5, 259166473238793, 259166473244101, 16, 305, '{}');

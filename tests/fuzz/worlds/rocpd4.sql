-- The same of schema 4.1.0.
CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, "tag" TEXT, "value" TEXT);
INSERT INTO rocpd_metadata_a VALUES
    (1, 'schema_version', '4.1.0'),
    (2, 'uuid', '_a'),
    (3, 'guid', '00010910-421f-7c52-acc2-947dd1f6e64c');
CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, "string" TEXT);
INSERT INTO rocpd_string_a VALUES
    (1, ''),
    (2, 'CODE_OBJECT'),
    (4, 'CPU'),
    (5, 'Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN_K1'),
    (7, 'Cijk_Alik_Bljk_HHS_BH_MT256x256x64_MI16x'),
    (8, 'Cijk_Alik_Bljk_HHS_BH_MT256x256x64_MI16x'),
    (31, 'MEMORY_ALLOCATION_ALLOCATE'),
    (36, 'MEMORY_COPY_DEVICE_TO_DEVICE'),
    (38, 'MEMORY_COPY_HOST_TO_DEVICE'),
    (62, '__hipPopCallConfiguration'),
    (63, '__hipPushCallConfiguration'),
    (92, 'hipLaunchKernel'),
    (109, 'hsa_queue_add_write_index_screlease');
CREATE TABLE rocpd_info_node_a (id INTEGER PRIMARY KEY, "hash" INTEGER, "machine_id" TEXT, "name"
    TEXT, "system_name" TEXT, "hostname" TEXT, "release" TEXT, "version" TEXT, "hardware_name"
    TEXT, "domain_name" TEXT);
INSERT INTO rocpd_info_node_a VALUES
    (1674306021, 805684853227027003, 'd7599677879feaea7af47992098170ae', NULL, 'Linux', 'synth-node-0', '5.15.0-164-generic', '#174-Ubuntu SMP Fri Nov 14 20:25:16 UTC 2025', 'x86_64', '(none)');
CREATE TABLE rocpd_info_process_a (id INTEGER PRIMARY KEY, "guid" TEXT, "nid" INTEGER, "ppid"
    INTEGER, "pid" INTEGER, "name" TEXT, "init" INTEGER, "fini" INTEGER, "start" INTEGER, "end"
    INTEGER, "command" TEXT, "environment" TEXT, "extdata" TEXT);
INSERT INTO rocpd_info_process_a VALUES
    (4200, '00010910-421f-7c52-acc2-947dd1f6e64c', 1674306021, 1, 4200, NULL, 259166472006273, 259166474472564, 259166472006273, 259166474472564, '/opt/app/train --steps 100 --rank 0', '{}', '{}');
CREATE TABLE rocpd_info_thread_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "ppid" INTEGER, "pid"
    INTEGER, "tid" INTEGER, "name" TEXT, "start" INTEGER, "end" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_info_thread_a VALUES
    (4200, 1674306021, 1, 4200, 4200, NULL, NULL, NULL, '{}'),
    (4207, 1674306021, 1, 4200, 4207, NULL, NULL, NULL, '{}'),
    (4210, 1674306021, 1, 4200, 4210, NULL, NULL, NULL, '{}');
CREATE TABLE rocpd_info_category_a (id INTEGER PRIMARY KEY, "name" TEXT, "extdata" TEXT);
INSERT INTO rocpd_info_category_a VALUES
    (1, 'HIP_COMPILER_API_EXT', '{}'),
    (2, 'HIP_RUNTIME_API_EXT', '{}'),
    (4, 'HSA_CORE_API', '{}'),
    (5, 'KERNEL_DISPATCH', '{}'),
    (7, 'MEMORY_ALLOCATION', '{}');
CREATE TABLE rocpd_info_agent_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "type" TEXT,
    "absolute_index" INTEGER, "logical_index" INTEGER, "type_index" INTEGER, "uuid" INTEGER, "name"
    TEXT, "generic_name" TEXT, "model_name" TEXT, "vendor_name" TEXT, "product_name" TEXT,
    "extdata" TEXT);
INSERT INTO rocpd_info_agent_a VALUES
    (0, 1674306021, 4200, 'CPU', 0, 0, 0, 0, NULL, 'AMD EPYC 9654 96-Core Processor', '', 'CPU', 'AMD EPYC 9654 96-Core Processor', '{}'),
    (1, 1674306021, 4200, 'CPU', 1, 1, 1, 0, NULL, 'AMD EPYC 9654 96-Core Processor', '', 'CPU', 'AMD EPYC 9654 96-Core Processor', '{}'),
    (2, 1674306021, 4200, 'GPU', 2, 2, 0, 29857, NULL, 'gfx942', 'ip discovery', 'AMD', 'AMD Instinct MI300X', '{}');
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
    TEXT, "qualifier" TEXT, "description" TEXT, "long_description" TEXT, "component" TEXT, "units"
    TEXT, "value_type" TEXT, "block" TEXT, "expression" TEXT, "is_constant" INTEGER, "is_derived"
    INTEGER, "extdata" TEXT);
INSERT INTO rocpd_info_pmc_a VALUES
    (196609, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'SQ_WAVES', 'SQ_WAVES', NULL, 'Count number of waves sent to SQs.', '', 'rocm', '', 'ABS', 'SQ', '', 0, 0, '{}'),
    (196610, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'GRBM_GUI_ACTIVE', 'GRBM_GUI_ACTIVE', NULL, 'The GUI is Active', '', 'rocm', '', 'ABS', 'GRBM', '', 0, 0, '{}'),
    (196611, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'TCC_HIT_sum', 'TCC_HIT_sum', NULL, 'Number of cache hits. Sum over TCC instances.', '', 'rocm', '', 'ABS', '', 'reduce(TCC_HIT,sum)', 0, 1, '{}'),
    (196612, 1674306021, 4200, 2, 'GPU', NULL, NULL, 'LDSBankConflict', 'LDSBankConflict', NULL, 'The percentage of GPUTime LDS is stalled by bank conflicts.', '', 'rocm', '', 'ABS', '', '100*SQ_LDS_BANK_CONFLICT/GRBM_GUI_ACTIVE/CU_NUM', 0, 1, '{}');
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
CREATE TABLE rocpd_info_pc_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "pid" INTEGER, "function"
    TEXT, "address_id" INTEGER, "file" TEXT, "line" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_info_pc_a VALUES
    (1, 1674306021, 4200, 'main', NULL, 'train.cpp', 7, '{}'),
    (2, 1674306021, 4200, 'train_step(int)', NULL, 'train.cpp', 17, '{}'),
    (3, 1674306021, 4200, 'launch(Model&, long)', NULL, 'train.cpp', 27, '{}');
CREATE TABLE rocpd_track_a (id INTEGER PRIMARY KEY, "nid" INTEGER, "ppid" INTEGER, "pid" INTEGER,
    "tid" INTEGER, "agent_id" INTEGER, "queue_id" INTEGER, "stream_id" INTEGER, "name_id" INTEGER,
    "extdata" TEXT);
INSERT INTO rocpd_track_a VALUES
    (5, 1674306021, 1, 4200, 4200, NULL, NULL, NULL, NULL, '{}'),
    (9, 1674306021, 1, 4200, 4200, 2, 16, 1, NULL, '{}'),
    (10, 1674306021, 1, 4200, 4200, 2, 32, 0, NULL, '{}'),
    (18, 1674306021, 1, 4200, 4207, 3, NULL, 3, NULL, '{}'),
    (19, 1674306021, 1, 4200, 4210, 4, NULL, 5, NULL, '{}');
CREATE TABLE rocpd_event_a (id INTEGER PRIMARY KEY, "category_id" INTEGER, "stack_id" INTEGER,
    "parent_stack_id" INTEGER, "correlation_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_event_a VALUES
    (1, 1, 1, 0, 0, X'04224D18607073160000807B226D657373616765223A226576616C75617465227D00000000'),
    (2, 1, 2, 0, 0, '{}'),
    (3, 2, 3, 0, 0, '{}'),
    (156, 4, 4, 3, 0, '{}'),
    (251, 5, 3, 3, 0, '{}'),
    (252, 5, 9, 9, 0, '{}'),
    (253, 5, 12, 12, 0, '{}'),
    (290, 8, 53, 53, 0, '{}'),
    (291, 8, 68, 68, 0, '{}'),
    (292, 8, 223, 223, 0, '{}'),
    (293, 7, 58, 57, 0, '{}'),
    (294, 7, 60, 59, 0, '{}'),
    (295, 7, 104, 103, 0, '{}');
CREATE TABLE rocpd_arg_a (id INTEGER PRIMARY KEY, "event_id" INTEGER, "position" INTEGER, "type"
    TEXT, "name" TEXT, "value" TEXT, "extdata" TEXT);
INSERT INTO rocpd_arg_a VALUES
    (1, 1, 0, 'rocprofiler_dim3_t', 'gridDim', '{z=1, y=1, x=8}', '{}'),
    (2, 1, 1, 'rocprofiler_dim3_t', 'blockDim', '{z=1, y=1, x=4}', '{}'),
    (3, 1, 2, 'unsigned long', 'sharedMem', '0', '{}'),
    (4, 1, 3, 'ihipStream_t*', 'stream', '0x55d0c0de0', '{}'),
    (5, 2, 0, 'dim3*', 'gridDim', '0x7ffeba779207', '{}'),
    (6, 2, 1, 'dim3*', 'blockDim', '0x7ffe2ee37363', '{}');
CREATE TABLE rocpd_call_stack_a (id INTEGER PRIMARY KEY, "event_id" INTEGER, "pc_id" INTEGER,
    "depth" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_call_stack_a VALUES
    (1, 1, 3, 0, '{}'),
    (2, 1, 2, 1, '{}'),
    (3, 1, 1, 2, '{}');
CREATE TABLE rocpd_pmc_event_a (id INTEGER PRIMARY KEY, "event_id" INTEGER, "pmc_id" INTEGER,
    "value" REAL, "extdata" TEXT);
INSERT INTO rocpd_pmc_event_a VALUES
    (1, 253, 196609, 276974.0, '{}'),
    (2, 253, 196610, 372136.0, '{}'),
    (3, 253, 196610, 371359.0, '{}'),
    (4, 253, 196611, 13.27882788278828, '{}'),
    (5, 253, 196612, 28.923092309230924, '{}');
CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, "track_id" INTEGER, "name_id" INTEGER, "start"
    INTEGER, "end" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_region_a VALUES
    (1, 5, 63, 259166473006273, 259166473006344, 1, '{}'),
    (2, 5, 62, 259166473006452, 259166473006591, 2, '{}'),
    (3, 5, 92, 259166473006671, 259166473010628, 3, '{}'),
    (4, 5, 109, 259166473007012, 259166473007090, 156, '{}');
CREATE TABLE rocpd_kernel_dispatch_a (id INTEGER PRIMARY KEY, "track_id" INTEGER, "kernel_id"
    INTEGER, "dispatch_id" INTEGER, "start" INTEGER, "end" INTEGER, "private_segment_size" INTEGER,
    "group_segment_size" INTEGER, "workgroup_size_x" INTEGER, "workgroup_size_y" INTEGER,
    "workgroup_size_z" INTEGER, "grid_size_x" INTEGER, "grid_size_y" INTEGER, "grid_size_z"
    INTEGER, "region_name_id" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_kernel_dispatch_a VALUES
    (1, 9, 1, 1, 259166473018051, 259166473075831, 0, 49152, 256, 1, 1, 9728, 1, 1, 1, 251, '{}'),
    (2, 10, 1, 2, 259166473021172, 259166473130863, 0, 49152, 256, 1, 1, 9728, 1, 1, 1, 252, '{}'),
    (3, 9, 1, 3, 259166473077073, 259166473168103, 0, 49152, 256, 1, 1, 9728, 1, 1, 1, 253, '{}');
CREATE TABLE rocpd_memory_copy_a (id INTEGER PRIMARY KEY, "track_id" INTEGER, "start" INTEGER,
    "end" INTEGER, "name_id" INTEGER, "dst_agent_id" INTEGER, "dst_address" INTEGER, "src_agent_id"
    INTEGER, "src_address" INTEGER, "size" INTEGER, "region_name_id" INTEGER, "event_id" INTEGER,
    "extdata" TEXT);
INSERT INTO rocpd_memory_copy_a VALUES
    (1, 18, 259166473069651, 259166473082336, 36, 4, 139706957692928, 3, 139775500877824, 262144, NULL, 290, '{}'),
    (2, 18, 259166473113035, 259166473283007, 38, 3, 139706862534656, 0, 139775643025408, 4194304, NULL, 291, '{}'),
    (3, 19, 259166473234879, 259166473247564, 38, 4, 139706842087424, 0, 139775681626112, 262144, NULL, 292, '{}');
CREATE TABLE rocpd_memory_allocate_a (id INTEGER PRIMARY KEY, "track_id" INTEGER, "type" TEXT,
    "level" TEXT, "start" INTEGER, "end" INTEGER, "name_id" INTEGER, "address" INTEGER, "size"
    INTEGER, "region_name_id" INTEGER, "event_id" INTEGER, "extdata" TEXT);
INSERT INTO rocpd_memory_allocate_a VALUES
    (1, 22, 'ALLOC', 'REAL', 259166473066983, 259166473081079, 31, 139706698301440, 4194304, NULL, 293, '{}'),
    (2, 22, 'ALLOC', 'REAL', 259166473083780, 259166473098406, 31, 139706702495744, 524288, NULL, 294, '{}'),
    (3, 22, 'ALLOC', 'REAL', 259166473123568, 259166473141414, 31, 139706704592896, 8388608, NULL, 295, '{}');

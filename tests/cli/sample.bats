#!/usr/bin/env bats
# rocrec --sample: what is sampled of processes, cores and GPUs, and where it comes out.
# shellcheck disable=SC2154,SC2016,SC2094 # bats sets status, output, stderr; inner shells expand

load helper

requires() {
    needs "$BUILD/lib/rocline/librocline-sample.so"
    unset LD_PRELOAD LD_LIBRARY_PATH ROCLINE_OUTPUT ROCLINE_POLICY ROCLINE_LIMIT ROCLINE_SAMPLE_SYSFS
}

put() { # file text
    mkdir -p "${1%/*}"
    printf '%b' "$2" >"$1"
}

# Two cards of AMD, which are nodes 2 and 1 of the driver, one of another maker, and an output.
make_sysfs() {
    local card=sys/class/drm/card1/device
    put $card/vendor '0x1002\n'
    put $card/product_name 'AMD Instinct MI300X\n'
    mkdir -p $card/drm/card1 $card/drm/renderD129
    put $card/unique_id '978c81766b60554a\n'
    put $card/uevent 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:c1:00.0\nMODALIAS=pci\n'
    put $card/gpu_busy_percent '97\n'
    put $card/mem_busy_percent '31\n'
    put $card/mem_info_vram_used '2000000000\n'
    put $card/hwmon/hwmon3/power1_average '450000000\n'
    put $card/hwmon/hwmon3/power1_input '1\n'
    put $card/hwmon/hwmon3/temp1_input '-5000\n'
    put $card/hwmon/hwmon3/temp1_label 'edge\n'
    put $card/hwmon/hwmon3/temp2_input '61500\n'
    put $card/hwmon/hwmon3/temp2_label 'junction\n'
    put $card/hwmon/hwmon3/freq1_input '2100000000\n'
    put $card/hwmon/hwmon3/freq1_label 'sclk\n'
    put $card/hwmon/hwmon3/freq2_input '900000000\n'
    card=sys/class/drm/card10/device
    put $card/vendor '0x1002\n'
    mkdir -p $card/drm/renderD128
    put $card/hwmon/hwmon4/power1_input '120500000\n'
    put sys/class/drm/card0/device/vendor '0x10de\n'
    put sys/class/drm/card0/device/gpu_busy_percent '50\n'
    mkdir -p sys/class/drm/card1-DP-1
    put sys/class/kfd/kfd/topology/nodes/0/properties 'cpu_cores_count 8\ndrm_render_minor 0\n'
    put sys/class/kfd/kfd/topology/nodes/1/properties 'drm_render_minor 128\ngfx_target_version 90010\n'
    put sys/class/kfd/kfd/topology/nodes/2/properties 'drm_render_minor 129\ngfx_target_version 90402\n'
    put sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq '3200000\n'
    put sys/devices/system/cpu/cpu1/online '0\n'
    put sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq '2400500\n'
}

# The rows of a table of rocstats, without its name and header.
rows() { # table input
    rocstats --table sample_tracks,sample_timeline,energy,kernel_energy --format csv "$2" | sed -n "s/^$1,//p" | grep -v '^agent,\|^gpu,\|^name,' || true
}

@test "processes: memory, faults, time and switches of all that the command starts" {
    # Nobody reads what tail has kept, so that it holds it until sleep ends.
    try 0 rocrec -q --sample=50 -o t.rocl -- sh -c 'head -c 60m /dev/zero | tail -c 60m | sleep 1; :'
    [ -z "$stderr" ] || fail "nothing should be said"
    rows sample_tracks t.rocl >rows
    for counter in process_page:MB process_virtual_memory:MB process_memory_hwm:MB \
        process_page_fault: process_context_switch: process_user_cpu_time:sec \
        process_kernel_cpu_time:sec; do
        grep -q ",${counter%:*},${counter##*:}," <(tr -d '"' <rows) ||
            fail "no $counter in $(cat rows)"
    done
    # The shell and what it starts are processes of their own; one held 60 MB.
    [ "$(cut -d, -f2 rows | sort -u | wc -l)" -ge 3 ] || fail "$(cat rows)"
    awk -F, '$4 == "\"process_page\"" && $9 > 50 { n++ } END { exit !n }' rows || fail "$(cat rows)"
    # Time goes on for all of them alike.
    rocrec --dump t.rocl | awk '$1 == "sample" { bad += $2 < last; last = $2 } END { exit !!bad }'
}

@test "a process that runs another program is another one, also under the same name" {
    try 0 rocrec -q --sample=100 -o t.rocl -- \
        sh -c 'sleep 0.3; exec sh -c "sleep 0.3; exec sleep 0.3"'
    rows sample_tracks t.rocl | tr -d '"' | grep ,process_page, >got
    local pid
    pid=$(awk -F, '$3 == "sh" { print $2; exit }' got)
    [ "$(awk -F, -v pid="$pid" '$2 == pid { printf "%s ", $3 }' got)" = "sh sh sleep " ] ||
        fail "$(cat got)"
}

@test "GPUs and cores of a sysfs tree: names, units, the numbers of the driver" {
    make_sysfs
    try 0 rocrec -q --sample=100 --sample-sysfs sys -o t.rocl -- sleep 0.3
    [ -z "$stderr" ] || fail "nothing should be said"
    rows sample_tracks t.rocl | grep -v process_ | cut -d, -f1,4,5,7,9 >got
    cat >expected <<END
"GPU 0","device_power","W",120.5,120.5
"GPU 1","device_busy_gfx","%",97,97
"GPU 1","device_busy_umc","%",31,31
"GPU 1","device_clock_gfx","MHz",2100,2100
"GPU 1","device_freq_2","MHz",900,900
"GPU 1","device_memory_usage","MB",2000,2000
"GPU 1","device_power","W",450,450
"GPU 1","device_temp","°C",61.5,61.5
"GPU 1","device_temp_edge","°C",-5,-5
,"cpu_frequency [0]","MHz",3200,3200
,"cpu_frequency [2]","MHz",2400.5,2400.5
END
    diff -u expected got || fail "other values"
    # 450 W for about 0.3 s are about 135 J.
    rows energy t.rocl | awk -F, '$2 == "\"device_power\"" && $5 > 449.999 && $5 < 450.001 && $6 / $4 * 1e9 > 449.999 { n++ } END { exit n != 1 }' ||
        fail "$(rows energy t.rocl)"
    [ "$(rocline query --format csv "SELECT uuid, pci FROM agent WHERE uuid IS NOT NULL" t.rocl | tail -n +2)" == '"GPU-978c81766b60554a","0000:c1:00.0"' ]
    rocpd2csv -d csv t.rocl
    grep -q gfx90a csv/out_agent_info.csv
    grep -q gfx942 csv/out_agent_info.csv
}

@test "hostile sysfs: what is no number is left out" {
    local card=sys/class/drm/card0/device
    put $card/vendor '0x1002\n'
    put $card/gpu_busy_percent '12\n'
    put $card/mem_busy_percent 'N/A\n'
    put $card/mem_info_vram_used '99999999999999999999999\n'
    mkdir -p $card/hwmon/hwmon0/power1_average $card/drm/renderDx
    put $card/hwmon/hwmon0/temp1_input ''
    put $card/hwmon/hwmon0/temp2_input '1 2 3\n'
    put $card/hwmon/hwmon0/temp3_input '40000\n'
    put $card/hwmon/hwmon0/temp3_label "../../..\033[2J\n"
    head -c 100000 /dev/zero | tr '\0' 9 >$card/hwmon/hwmon0/freq1_input
    head -c 100000 /dev/urandom >$card/hwmon/hwmon0/freq1_label
    ln -s loop $card/hwmon/hwmon0/loop
    mkdir -p sys/class/kfd/kfd/topology/nodes/0
    mkfifo sys/class/kfd/kfd/topology/nodes/0/properties
    for name in card card-1 card99999999999 cardx card0x; do
        put "sys/class/drm/$name/device/vendor" '0x1002\n'
    done
    try 0 rocrec -q --sample=100 --sample-sysfs sys -o t.rocl -- sleep 0.2
    [ -z "$stderr" ] || fail "nothing should be said"
    rows sample_tracks t.rocl | grep GPU | cut -d, -f4,7 >got
    [ "$(cat got)" = $'"device_busy_gfx",12\n"device_temp_3",40' ] || fail "$(cat got)"
}

@test "values that come and go, and change" {
    make_sysfs
    try 0 rocrec -q --sample=200 --sample-sysfs sys -o t.rocl -- sh -c 'sleep 0.2
        echo busy >sys/class/drm/card1/device/gpu_busy_percent; sleep 0.2
        echo 3 >sys/class/drm/card1/device/gpu_busy_percent; sleep 0.2'
    rows sample_tracks t.rocl | grep device_busy_gfx | cut -d, -f7,9 >got
    [ "$(cat got)" = 3,97 ] || fail "$(cat got)"
}

@test "a machine without an AMD GPU: this is said once, and the rest is sampled" {
    mkdir empty
    try 0 rocrec --sample=50 --sample-sysfs empty -o t.rocl -- sleep 0.2
    [ "$(grep -c "no AMD GPU" <<<"$stderr")" = 1 ] || fail "it should be said once"
    rows sample_tracks t.rocl | grep -q process_page
    # Their frequency is in /proc/cpuinfo, then.
    ! grep -q MHz /proc/cpuinfo || rows sample_tracks t.rocl | grep -q 'cpu_frequency \[0\]'
}

@test "all outputs have the samples; a database has the same as the recording" {
    make_sysfs
    try 0 rocrec -q --sample=100 --sample-sysfs sys -d raw -o t.rocl -- sh -c 'sleep 0.1 & sleep 0.2; wait'
    n=$(rocrec --dump t.rocl | grep -c '^  sample ')
    rocpd2csv -q -d csv t.rocl
    [ $(($(wc -l <csv/out_counter_sample_trace.csv) - 1)) -eq "$n" ]
    try 0 rocmerge -q -o t.db t.rocl
    rocstats --table sample_tracks,sample_timeline,energy,kernel_energy --format csv t.rocl >a
    rocstats --table sample_tracks,sample_timeline,energy,kernel_energy --format csv t.db >b
    diff a b
    rocstats --table sample_tracks,sample_timeline,energy,kernel_energy --format csv raw | diff a -
    rocpd2pftrace -q -z0 -o t.pftrace t.rocl
    for word in device_busy_gfx process_page "cpu_frequency \\[0\\]"; do
        grep -aq "$word" t.pftrace || fail "no $word"
    done
    needs "$BUILD/tests/otf2dump"
    rocpd2otf2 -q -d . -o t t.rocl
    "$BUILD/tests/otf2dump" t_results.otf2 >otf2
    grep -q device_power otf2
}

@test "samples and the ranges of the program are on one clock" {
    needs "$BUILD/tests/traced" sqlite3
    try 0 rocrec -q --sample=200 -o t.db -- sh -c '"$1" events 1000; sleep 0.2; "$1" events 1000' sh \
        "$BUILD/tests/traced"
    # Values before the first range, between the two programs, and none long before or after.
    sqlite3 t.db "SELECT (SELECT count(*) FROM rocpd_sample s WHERE s.timestamp BETWEEN
            (SELECT min(end) FROM rocpd_region) AND (SELECT max(start) FROM rocpd_region)
            AND s.event_id IN (SELECT event_id FROM rocpd_pmc_event)) > 20,
        (SELECT max(timestamp) - min(timestamp) FROM rocpd_sample) < 20e9" >got
    [ "$(cat got)" = "1|1" ] || fail "$(cat got)"
}

@test "many processes that come and go" {
    try 0 rocrec -q --sample=200 -o t.rocl -- sh -c 'for i in $(seq 150); do sleep 0.01 & sleep 0.002; done; wait'
    [ -z "$stderr" ] || fail "nothing should be said"
    [ "$(rows sample_tracks t.rocl | cut -d, -f2 | sort -u | wc -l)" -ge 20 ]
    # One whose parent is gone, in a session of its own.
    try 0 rocrec -q --sample=100 -o t.rocl -- sh -c '(setsid sleep 0.4 &) ; sleep 0.6'
    rocrec --dump t.rocl | grep -q 'subject .*"sleep 0.4"'
    # One that is met without parent and environment, as in the middle of an exec, and has one later.
    try 0 rocrec -q --sample=100 -o t.rocl -- sh -c '(setsid env -i sh -c \
        "sleep 0.2; exec env ROCLINE_SESSION=$ROCLINE_SESSION sleep 0.4" &) ; sleep 0.8'
    rocrec --dump t.rocl | grep -q 'subject .*"sleep 0.4"'
}

@test "signals and exit codes are those of the command" {
    try 143 rocrec -q --sample -o t.rocl -- sh -c 'kill -TERM $$'
    try 7 rocrec -q --sample -o t.rocl -- sh -c 'exit 7'
    try 127 rocrec -q --sample -o t.rocl -- no-such-program
    rocrec -q --sample -o t.rocl -- sh -c 'trap "exit 9" USR1; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; done' &
    pid=$!
    sleep 0.5
    kill -USR1 "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" -eq 9 ] || fail "exit code $code"
}

@test "-v tells what it cost" {
    try 0 rocrec -v --sample=50 -o t.rocl -- sleep 0.2
    [[ "$stderr" =~ [0-9]+" samples, read in "[0-9]+" rounds; "[0-9.]+" % of a core" ]] || fail "$stderr"
}

@test "what cannot be sampled is a usage error" {
    for hz in 0 x 10x 1e9 -1 nan; do
        try 2 rocrec --sample=$hz -- true
        says "--sample: \"$hz\" is not a number from 0.01 to 1000"
    done
    try 2 rocrec --sample-sysfs sys -- true
    says "--sample-sysfs is only for --sample"
}

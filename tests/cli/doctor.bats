#!/usr/bin/env bats
# rocstats doctor: every rule finds what it is for, in a sound database that was made unsound by SQL,
# and nothing else; it is quiet on sound traces.

load helper

db=$FIXTURES/rank0.db

requires() {
    needs "$db" sqlite3 jq
}

found() { # rocstats' arguments: rules in the order of the table
    rocstats doctor --format json "$@" 2>/dev/null | jq -r '.tables[] | select(.key == "findings").rows[].rule' | xargs
}

verdict() {
    rocstats doctor --format json "$@" 2>/dev/null | jq -r '.tables[] | select(.key == "doctor").rows[0].verdict'
}

# What the tables of a database are called, and some of its rows.
launch="(SELECT R.id FROM rocpd_region R JOIN rocpd_string S ON S.id = R.name_id WHERE S.string = 'hipLaunchKernel')"
of_launch="(SELECT E.stack_id FROM rocpd_event E JOIN rocpd_region R ON R.event_id = E.id WHERE R.id IN $launch)"
dispatch_stack="(SELECT stack_id FROM rocpd_event E WHERE E.id = event_id)"

change() { # SQL with names of the views: the tables behind them have a suffix
    local suffix sql=$1
    suffix=$(sqlite3 one.db "SELECT substr(name, 15) FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_metadata_%'")
    sqlite3 one.db "$(sed -E "s/\brocpd_(region|string|event|kernel_dispatch|memory_copy|pmc_event|info_process|info_node|info_pmc|arg|sample|memory_allocate)\b/rocpd_\1$suffix/g" <<<"$sql")"
}

# A trace of PyTorch of lines "CATEGORY NAME BEGIN DURATION [ID [STREAM [GPU]]]", times in us.
trace() { # FILE [RANK]
    awk -v rank="${2:-}" '
        BEGIN {
            printf "{\"schemaVersion\": 1, "
            if (rank != "") printf "\"distributedInfo\": {\"rank\": %d, \"world_size\": 8}, ", rank
            print "\"traceEvents\": ["
        }
        {
            gpu = $1 == "kernel" || $1 == "gpu_memcpy"
            printf "%s{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, " \
                "\"dur\": %.3f, \"args\": {%s%s}}\n", (NR > 1 ? "," : ""), $1, $2, gpu ? $7 : 70 + rank, gpu ? $6 : 70 + rank, $3, $4, \
                $5 ? "\"correlation\": " $5 : "\"x\": 0", gpu ? ", \"device\": " $7 + 0 ", \"stream\": " $6 + 0 : ""
        }
        END { print "]}" }' >"$1"
}

launches() { # N [GPUS [STREAMS]]: each with its kernel
    awk -v n="$1" -v gpus="${2:-1}" -v streams="${3:-1}" 'BEGIN {
        for (i = 0; i < n; i++)
            print "cuda_runtime hipLaunchKernel", 10 * i, 1, i + 1 "\nkernel k", 10 * i + 2, 5, i + 1, i % streams, i % gpus
    }'
}

places() { # RULE FILE...
    local rule=$1
    shift
    rocstats doctor --format json "$@" 2>/dev/null |
        jq -r --arg rule "$rule" '.tables[] | select(.key == "findings").rows[] | select(.rule == $rule) | "\(.where) \(.places)"'
}

@test "each rule finds what it is for" {
    while IFS='|' read -r rules code sql; do
        cp "$db" one.db
        change "$sql"
        run rocstats doctor one.db
        [ "$status" -eq "$code" ] || fail "$sql: exit code $code was expected"
        [ "$(found one.db)" = "$rules" ] || fail "$sql: $(found one.db)"
    done <<END
|0|SELECT 1
launches-without-kernels|1|DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch WHERE id IN (SELECT id FROM rocpd_kernel_dispatch ORDER BY start LIMIT 2)
cut-tail|1|DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch WHERE id IN (SELECT id FROM rocpd_kernel_dispatch ORDER BY $dispatch_stack DESC LIMIT 3)
no-gpu-work|3|DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch
captured-launches|0|DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch WHERE id IN (SELECT id FROM rocpd_kernel_dispatch ORDER BY start LIMIT 2); UPDATE rocpd_region SET name_id = (SELECT id FROM rocpd_string WHERE string = 'hipGraphInstantiate') WHERE name_id = (SELECT id FROM rocpd_string WHERE string = 'hipStreamIsCapturing')
graphs-without-kernels|1|UPDATE rocpd_region SET name_id = (SELECT id FROM rocpd_string WHERE string = 'hipGraphLaunch') WHERE name_id = (SELECT id FROM rocpd_string WHERE string = 'hipSetDevice')
kernels-without-calls|1|DELETE FROM rocpd_region WHERE id = (SELECT max(id) FROM rocpd_region R WHERE R.id IN $launch)
launched-before|0|DELETE FROM rocpd_region WHERE event_id IN (SELECT id FROM rocpd_event WHERE stack_id <= (SELECT min($dispatch_stack) FROM rocpd_kernel_dispatch))
no-calls|0|DELETE FROM rocpd_region
no-copies|0|DELETE FROM rocpd_memory_copy
before-launch|1|UPDATE rocpd_kernel_dispatch SET start = start - 1000000 WHERE id = (SELECT min(id) FROM rocpd_kernel_dispatch)
clocks-apart before-launch|3|UPDATE rocpd_kernel_dispatch SET start = start - 90000000000, end = end - 90000000000; UPDATE rocpd_memory_copy SET start = start - 90000000000, end = end - 90000000000; UPDATE rocpd_info_process SET init = init - 90000000000, start = start - 90000000000
after-end|1|UPDATE rocpd_info_process SET "end" = (SELECT max("end") FROM rocpd_kernel_dispatch) - 2000000, fini = (SELECT max("end") FROM rocpd_kernel_dispatch) - 2000000
no-durations|1|UPDATE rocpd_kernel_dispatch SET "end" = start WHERE id = 3
whole-us|0|UPDATE rocpd_kernel_dispatch SET start = (start + 999) / 1000 * 1000; UPDATE rocpd_kernel_dispatch SET "end" = start + max(0, ("end" - start) / 1000 * 1000); UPDATE rocpd_kernel_dispatch SET "end" = start WHERE id = 3
after-end long-kernels|1|UPDATE rocpd_kernel_dispatch SET "end" = "end" + 4000000000000 WHERE id = 3
counters-zero|1|UPDATE rocpd_pmc_event SET value = 0
counter-zero|0|UPDATE rocpd_pmc_event SET value = 0 WHERE pmc_id = (SELECT min(pmc_id) FROM rocpd_pmc_event); UPDATE rocpd_pmc_event SET value = 7 WHERE pmc_id != (SELECT min(pmc_id) FROM rocpd_pmc_event)
left-out|1|UPDATE rocpd_kernel_dispatch SET "end" = start - 5 WHERE id = 3; DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_region WHERE event_id IN (SELECT id FROM rocpd_event WHERE stack_id = (SELECT $dispatch_stack FROM rocpd_kernel_dispatch WHERE id = 3))
repaired|1|UPDATE rocpd_kernel_dispatch SET queue_id = 99999 WHERE id = 3
copy-directions|1|UPDATE rocpd_memory_copy SET src_agent_id = 4 WHERE id = 3
copy-directions|1|UPDATE rocpd_memory_copy SET dst_agent_id = 0 WHERE id = 1
impossible-sizes|1|UPDATE rocpd_kernel_dispatch SET workgroup_size_x = 1025, grid_size_x = 1025 WHERE id = 3
impossible-sizes|1|UPDATE rocpd_kernel_dispatch SET grid_size_x = 38 WHERE id = 3
memory-before|1|DELETE FROM rocpd_memory_allocate WHERE id = 1
ranges-as-points|1|UPDATE rocpd_region SET "end" = start WHERE name_id IN (SELECT id FROM rocpd_string WHERE string = 'roctxThreadRangeA')
clocks-apart before-launch|3|UPDATE rocpd_region SET start = start + 5000000000, "end" = "end" + 5000000000 WHERE id > 2; UPDATE rocpd_info_process SET "end" = 0, fini = 0
clocks-apart|3|UPDATE rocpd_region SET start = start - 5000000000, "end" = "end" - 5000000000 WHERE id > 2; UPDATE rocpd_info_process SET init = 0, start = 0
mostly-left-out|3|UPDATE rocpd_kernel_dispatch SET "end" = start - 5; UPDATE rocpd_region SET "end" = start - 5
END
}

@test "thresholds in databases: silent at one value, found at the next" {
    local work='(SELECT start, "end" FROM rocpd_kernel_dispatch UNION ALL SELECT start, "end" FROM rocpd_memory_copy)'
    local host="(SELECT max(R.\"end\") FROM rocpd_region R JOIN rocpd_string S ON S.id = R.name_id WHERE S.string GLOB 'hip[A-Z]*')"
    local first="(SELECT min(id) FROM rocpd_kernel_dispatch)"
    local call="(SELECT min(R.start) FROM rocpd_region R JOIN rocpd_event E ON E.id = R.event_id WHERE E.stack_id = (SELECT $dispatch_stack FROM rocpd_kernel_dispatch WHERE id = $first))"
    local no_end='UPDATE rocpd_info_process SET "end" = 0, fini = 0'
    while IFS='|' read -r rule silent loud sql; do
        for value in "$silent" "$loud"; do
            cp "$db" one.db
            change "${sql//@/$value}"
            [[ " $(found one.db) " == *" $rule "* ]] && code=1 || code=0
            [ "$code" = "$([ "$value" = "$loud" ] && echo 1 || echo 0)" ] || fail "$rule at $value: $(found one.db)"
        done
    done <<END
before-launch|1000|1001|UPDATE rocpd_kernel_dispatch SET start = $call - @ WHERE id = $first
after-end|1000000|1000001|UPDATE rocpd_info_process SET "end" = (SELECT max("end") FROM $work) - @, fini = 0
after-end|1000000|1000001|UPDATE rocpd_info_process SET "end" = 0, fini = (SELECT max("end") FROM $work) - @
long-kernels|3600000000000|3600000000001|$no_end; UPDATE rocpd_kernel_dispatch SET "end" = start + @ WHERE id = $first
clocks-apart|1000000000|1000000001|$no_end; CREATE TEMP TABLE far AS SELECT $host + @ - (SELECT min(start) FROM $work) AS ns; UPDATE rocpd_kernel_dispatch SET start = start + (SELECT ns FROM far), "end" = "end" + (SELECT ns FROM far); UPDATE rocpd_memory_copy SET start = start + (SELECT ns FROM far), "end" = "end" + (SELECT ns FROM far)
counters-zero|9|10|DELETE FROM rocpd_pmc_event WHERE id NOT IN (SELECT min(id) FROM rocpd_pmc_event GROUP BY event_id, pmc_id ORDER BY 1 LIMIT @); UPDATE rocpd_pmc_event SET value = 0
counter-zero|9|10|DELETE FROM rocpd_pmc_event WHERE id NOT IN (SELECT min(id) FROM rocpd_pmc_event GROUP BY event_id, pmc_id ORDER BY 1 LIMIT @); UPDATE rocpd_pmc_event SET value = 0; UPDATE rocpd_pmc_event SET value = 1 WHERE id = (SELECT max(id) FROM rocpd_pmc_event)
whole-us|1|0|UPDATE rocpd_kernel_dispatch SET start = start / 1000 * 1000, "end" = start / 1000 * 1000 + 1000; UPDATE rocpd_kernel_dispatch SET "end" = start + @ WHERE id = $first
no-copies|0|1|DELETE FROM rocpd_memory_copy WHERE id > 1 - @
impossible-sizes|1024|1025|UPDATE rocpd_kernel_dispatch SET workgroup_size_x = @, grid_size_x = 4096 WHERE id = 3
impossible-sizes|256|255|UPDATE rocpd_kernel_dispatch SET grid_size_x = @ WHERE id = 3
impossible-rates|1048|1047|UPDATE rocpd_memory_copy SET size = 20960000, "end" = start + @ WHERE id = 3
impossible-rates|1048575|1048576|UPDATE rocpd_memory_copy SET size = @, "end" = start WHERE id = 3
END
}

silent_and_loud() { # RULE: the file `silent` is sound to it, the file `loud` is not
    [[ " $(found silent.json) " != *" $1 "* ]] || fail "$1: $(found silent.json)"
    [[ " $(found loud.json) " == *" $1 "* ]] || fail "$1: $(found loud.json)"
}

with() { # FILE LINE...: the lines of stdin, and these
    cat - <(printf '%s\n' "${@:2}") | trace "$1.json"
}

@test "thresholds in JSON: silent at one value, found at the next" {
    launches 4095 | with silent "user_annotation end 90000 1"
    launches 4096 | with loud "user_annotation end 90000 1"
    silent_and_loud round-number
    # Kernels until 40957 us, or 204765 us: others go on for 1 ms, and for 1 % of the time.
    for rule in "1 40957 41957 41957.001" "5 204765 206833 206834"; do
        read -r times end silent loud <<<"$rule"
        for which in silent loud; do
            launches 4096 | awk -v times="$times" '{ $3 *= times } 1' |
                with $which "cuda_runtime hipFree $end 0 5000" "user_annotation all 0 ${!which}"
        done
        silent_and_loud round-number
    done
    for missing in 99 100; do
        awk -v missing=$missing 'BEGIN {
            for (i = 1; i <= 60; i++)
                print "cuda_runtime hipFree", i, 0.5, i + (i > 50 ? missing : 0)
        }' | trace $missing.json
    done
    [ -z "$(found 99.json)$(found 100.json)" ] # of 60 ids
    for missing in 99 100; do
        awk -v missing=$missing 'BEGIN {
            for (i = 1; i <= 160; i++)
                print "cuda_runtime hipFree", i, 0.5, i + (i > 150 ? missing : 0)
        }' | trace "$([ $missing = 99 ] && echo silent || echo loud).json"
    done
    silent_and_loud missing-ids
    for behind in 9 10; do # ids
        awk -v behind=$behind 'BEGIN {
            for (i = 1; i <= 150 + behind; i++)
                print "cuda_runtime hipFree", i, 0.5, i + (i > 150 ? 100 : 0)
        }' | trace "$([ $behind = 9 ] && echo silent || echo loud).json"
    done
    silent_and_loud missing-ids
    launches 5 | with silent "cuda_runtime hipFree -9 1"{,,,,}{,}
    launches 5 | with loud "cuda_runtime hipFree -9 1"{,,,,}{,} "cuda_runtime hipFree -9 1"
    silent_and_loud mostly-left-out
    launches 5 | with silent "cuda_runtime hipGraphAddMemcpyNode 90 1 9"
    launches 5 | with loud "cuda_runtime hipMemcpyAsync 90 1 9"
    silent_and_loud no-copies
    rocstats doctor loud.json | grep -q 'Evidence  *1 call to copy memory$'
}

@test "launches without kernels: of the last ones, of some, of all; nested calls launch once" {
    says_of() { # RULE EVIDENCE
        [ "$(found one.json)" = "$1" ] || fail "$(found one.json)"
        rocstats doctor one.json >out || true
        grep -q "Evidence  *$2\$" out || fail "$(cat out)"
    }
    launches 20 | head -n -1 | trace one.json
    says_of cut-tail "1 of 20 launches, at the end"
    launches 20 | sed '2d; 40d' | trace one.json
    says_of launches-without-kernels "2 of 20 launches, 1 of them at the end"
    launches 20 | awk '/kernel/ { $5 += 100 } 1' | trace one.json # ids that do not fit
    says_of "launches-without-kernels kernels-without-calls" "20 of 20 launches, 20 of them at the end"
    launches 20 | awk '/cuda/ { print; $2 = "hipModuleLaunchKernel"; $3 += 0.2; $4 = 0.5 } 1' | sed 3d | trace one.json
    says_of launches-without-kernels "1 of 20 launches, 0 of them at the end"
}

@test "ranks: half of them have it, or a part of the time" {
    for rank in 0 1 2 3; do
        { launches 40; echo "user_annotation end 1999 1"; } | trace with$rank.json $rank
        { launches 40 | grep kernel; echo "user_annotation end 1999 1"; } | trace without$rank.json $rank
    done
    [[ " $(found with0.json with1.json without2.json without3.json) " == *" rank-lacks "* ]]
    [[ " $(found with0.json without1.json without2.json without3.json) " != *" rank-lacks "* ]]
    for end in 1000 999.999; do
        { launches 40; echo "user_annotation end 500 $(awk -v e=$end 'BEGIN { print e - 500 }')"; } | trace short.json 4
        case " $(found with?.json short.json) " in
            *" rank-short "*) [ $end = 999.999 ] ;;
            *) [ $end = 1000 ] ;;
        esac || fail "$end: $(found with?.json short.json)"
    done
}

@test "long times have no exponents" {
    cp "$db" one.db
    change 'UPDATE rocpd_kernel_dispatch SET "end" = "end" + 3500000000000 WHERE id = 3'
    rocstats doctor one.db >out || true
    grep -q 'the last by 3500 s' out || fail "$(cat out)"
}

@test "ranks: what one has not, and the others do" {
    a=$FIXTURES/rank0.db b=$FIXTURES/rank1.db
    [ "$(found "$a" "$b")" = rank-steps ] || fail "$(found "$a" "$b")"
    cp "$b" one.db
    change "DELETE FROM rocpd_memory_copy"
    [[ " $(found "$a" one.db) " == *" rank-lacks "* ]] || fail "$(found "$a" one.db)"
    cp "$b" one.db
    change "DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch WHERE id > 5"
    [[ " $(found "$a" one.db) " == *" rank-short "* ]] || fail "$(found "$a" one.db)"
    for kept in 19 20; do # of 39 in the other rank
        cp "$b" one.db
        change "DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch WHERE id > $kept"
        case " $(found "$a" one.db) " in
            *" rank-short "*) [ "$kept" = 19 ] ;;
            *) [ "$kept" = 20 ] ;;
        esac || fail "$kept: $(found "$a" one.db)"
    done
    cp "$b" one.db
    change "DELETE FROM rocpd_pmc_event; DELETE FROM rocpd_kernel_dispatch"
    [[ " $(found "$a" one.db) " == *" process-without-kernels "* ]] || fail "$(found "$a" one.db)"
    cp "$b" one.db
    change "UPDATE rocpd_kernel_dispatch SET agent_id = (SELECT min(agent_id) FROM rocpd_kernel_dispatch); DELETE FROM rocpd_memory_copy"
    [[ " $(found "$a" one.db) " == *" rank-gpus "* ]] || fail "$(found "$a" one.db)"
    cp "$b" one.db
    change "UPDATE rocpd_kernel_dispatch SET stream_id = (SELECT min(stream_id) FROM rocpd_kernel_dispatch); DELETE FROM rocpd_memory_copy"
    [[ " $(found "$a" one.db) " == *" rank-streams "* ]] || fail "$(found "$a" one.db)"
    [[ " $(found "$FIXTURES"/node-rank[013].db) " == *" ranks-missing "* ]]
    [[ " $(found "$FIXTURES"/node-rank[0123].db) " != *" ranks-missing "* ]]
    launches 4 | trace first.json 0
    launches 4 | trace last.json 2147483647
    rocstats doctor first.json last.json | grep -q 'Evidence  *2147483646 of at least 2147483648, the first: rank 1$'
}

@test "ranks in one set of tables have GPUs and streams of their own" {
    cp "$db" one.db
    process="SELECT id + @, nid, ppid, pid + @, init, fini, start, \"end\", command, replace(environment, 'RANK\":\"0', 'RANK\":\"' || @)"
    change "DELETE FROM rocpd_memory_copy; DELETE FROM rocpd_pmc_event"
    for k in 1 2; do
        change "INSERT INTO rocpd_info_process(id, nid, ppid, pid, init, fini, start, \"end\", command, environment) ${process//@/$k} FROM rocpd_info_process WHERE id = (SELECT min(id) FROM rocpd_info_process)"
        change "UPDATE rocpd_kernel_dispatch SET pid = pid + 1 WHERE id > $((13 * k))"
    done
    [ "$(rocline info --format json one.db | jq -c '[.data.processes.rows[].rank]')" = '[0,1,2]' ]
    # All ranks on two GPUs and two streams; then one on a single one.
    change "UPDATE rocpd_kernel_dispatch SET agent_id = (SELECT min(agent_id) FROM rocpd_kernel_dispatch) + id % 2, stream_id = (SELECT min(stream_id) FROM rocpd_kernel_dispatch) + id % 2"
    [ "$(sqlite3 one.db 'SELECT count(DISTINCT agent_id), count(DISTINCT stream_id) FROM rocpd_kernel_dispatch GROUP BY pid' | xargs)" = '2|2 2|2 2|2' ]
    [[ " $(found one.db) " != *" rank-"[gs]* ]] || fail "$(found one.db)"
    change "UPDATE rocpd_kernel_dispatch SET agent_id = (SELECT min(agent_id) FROM rocpd_kernel_dispatch), stream_id = (SELECT min(stream_id) FROM rocpd_kernel_dispatch) WHERE pid = (SELECT min(pid) + 1 FROM rocpd_kernel_dispatch)"
    for jobs in 1 3; do
        [ "$(places rank-gpus -j $jobs one.db) $(places rank-streams -j $jobs one.db)" = "rank 1 1 rank 1 1" ] || fail "$(found one.db)"
    done
}

@test "a rank with several files: GPUs and streams that are in both count once" {
    for rank in 0 1; do
        launches 40 2 2 | trace rank$rank.json $rank
    done
    cp rank1.json again.json
    [ "$(found rank0.json rank1.json again.json)" = process-twice ] || fail "$(found rank0.json rank1.json again.json)"
}

@test "hosts whose events are never at the same time" {
    needs "$FIXTURES/node-rank0.db"
    cp "$FIXTURES/node-rank1.db" one.db
    change "UPDATE rocpd_info_node SET machine_id = 'other', hostname = 'other', hash = 77"
    first="SELECT min(start) FROM rocpd_region"
    together=$(($(sqlite3 "$FIXTURES/node-rank0.db" "$first") - $(sqlite3 one.db "$first")))
    shift_all() { # NS
        for table in kernel_dispatch memory_copy region memory_allocate info_process; do
            change "UPDATE rocpd_$table SET start = start + $1, \"end\" = \"end\" + $1"
        done
        change "UPDATE rocpd_info_process SET init = init + $1, fini = fini + $1; DELETE FROM rocpd_sample; DELETE FROM rocpd_pmc_event"
    }
    shift_all $together
    together=" $(found "$FIXTURES/node-rank0.db" one.db) "
    # Hosts that touch are not apart; 1 ns is.
    end() { # DATABASE first_ns|last_ns
        rocline info --format json "$1" | jq ".data.totals.rows[0].$2"
    }
    shift_all $(($(end "$FIXTURES/node-rank0.db" last_ns) - $(end one.db first_ns)))
    [[ " $(found "$FIXTURES/node-rank0.db" one.db) " != *" hosts-apart "* ]] || fail "$(found "$FIXTURES/node-rank0.db" one.db)"
    shift_all 1
    [[ "$together" != *" hosts-apart "* ]] || fail "$together"
    [[ " $(found "$FIXTURES/node-rank0.db" one.db) " == *" hosts-apart "* ]] || fail "$(found "$FIXTURES/node-rank0.db" one.db)"
    [ "$(places hosts-apart "$FIXTURES/node-rank0.db" one.db)" = "other 2" ] || fail "$(places hosts-apart "$FIXTURES/node-rank0.db" one.db)"
}

last() { # N DURATION...: launches, and in the middle of the stream kernels of these durations
    launches "$1" | awk -v n="$1" -v last="${*:2}" 'BEGIN { many = split(last, ns, " ") }
        $1 == "kernel" && (i = ++k - n / 2) > 0 && i <= many { $4 = ns[i] } 1'
}

@test "kernels that outlast those behind them: by the time of the stream, and of most kernels" {
    # 100 kernels, 5 us of each 10 us: one that is long may end last, a second one cannot.
    last 100 2500 | trace silent.json
    last 100 2500 2500 | trace loud.json # 98 x 5 + 5000 in 3010 us
    silent_and_loud outlasts
    grep -q '100 kernels of a stream take 5.49 ms, but run within 3.01 ms; the longest takes 2.5 ms, others typically 5.37 us' \
        <(rocstats doctor --format json loud.json) || fail "$(rocstats doctor loud.json)"
    last 100 520 520 | trace silent.json # 100 times the others, of which the second is one
    last 100 530 530 | trace loud.json
    silent_and_loud outlasts
    last 19 2500 2500 2500 | trace silent.json # of so few it says nothing
    last 20 2500 2500 2500 | trace loud.json
    silent_and_loud outlasts
    last 100 2500 2500 | with silent "cuda_runtime hipGraphLaunch 0 1" # graphs run several at once
    last 100 2500 2500 | awk '$1 == "kernel" { $6 = NR } 1' | trace loud.json # each on its own stream
    last 100 2500 2500 | grep kernel | trace graphs.json # without calls it is not known whether there are any
    [ "$(found graphs.json)" = no-calls ] || fail "$(found graphs.json)"
    [ -z "$(found silent.json)$(found loud.json)" ] || fail "$(found silent.json) $(found loud.json)"
    # Kernels that begin together, and overlap a little.
    launches 100 | awk '$1 == "kernel" { $4 = 10.9 } 1' | trace overlap.json
    [ -z "$(found overlap.json)" ] || fail "$(found overlap.json)"
}

@test "one call of a thousand times the others, and a tenth of the time" {
    last 19 5000 | with silent "user_annotation all 0 50000"
    last 20 5000 | with loud "user_annotation all 0 50000"
    silent_and_loud one-long-call
    last 20 4999.999 | with silent "user_annotation all 0 49999"
    silent_and_loud one-long-call
    last 20 5000 | with silent "user_annotation all 0 50001"
    silent_and_loud one-long-call
    grep -q '5 ms; the other 19 of its name and size typically take 5 us' <(rocstats doctor --format json loud.json)
    [ "$(verdict loud.json)" = doubts ]
    # Those of other names are not compared with it, nor with launches, for which it is a note.
    last 20 5000 | awk '$1 == "kernel" { $2 = "k" $4 } 1' | with silent "user_annotation all 0 50000"
    silent_and_loud one-long-call
    launches 20 | awk '$4 == 1 && ++n == 1 { $4 = 4096 } 1' | trace launch.json
    [ "$(found launch.json) $(verdict launch.json)" = "one-long-launch sound" ] || fail "$(found launch.json)"
}

@test "frames that were never closed" {
    for n in 199 200; do
        awk -v n=$n 'BEGIN { for (i = 0; i < n; i++) print "python_function f" i % 3, i, 1000 - i }' | trace $n.json
    done
    [ "$(found 199.json)" = "" ] || fail "$(found 199.json)"
    [ "$(found 200.json)" = never-closed ] || fail "$(found 200.json)"
    grep -q '200 of the 200 ranges of a thread end at once' <(rocstats doctor --format json 200.json)
    # One of 20.
    awk 'BEGIN { for (i = 0; i < 4020; i++) print "python_function f", i, i < 3820 ? 0.5 : 5000 - i }' >many
    trace silent.json <many
    [ "$(found silent.json)" = "" ] || fail "$(found silent.json)" # 200 of 4020
    tail -4000 many | trace loud.json
    [ "$(found loud.json)" = never-closed ] || fail "$(found loud.json)"
    # Points at the end are none, nor are ranges of many threads.
    awk 'BEGIN { for (i = 0; i < 400; i++) print "python_function f" i % 3, 1000, 0 }' | trace points.json
    awk 'BEGIN { for (i = 0; i < 400; i++) print "python_function f" i % 3, i, 1000 - i }' | trace threads.json
    awk '{ gsub("\"tid\": 70", "\"tid\": " NR % 4) } 1' threads.json >spread.json
    [ -z "$(found points.json)$(found spread.json)" ] || fail "$(found points.json) $(found spread.json)"
}

@test "clocks of a process that are apart: the evidence is the line that sets them" {
    cp "$db" one.db
    change "UPDATE rocpd_info_process SET init = 0, start = 0, fini = 0, \"end\" = 0"
    cp one.db right.db
    change "UPDATE rocpd_region SET start = start + 5000000000, \"end\" = \"end\" + 5000000000; UPDATE rocpd_memory_allocate SET start = start + 5000000000, \"end\" = \"end\" + 5000000000"
    rocstats doctor --format json one.db | jq -r '.tables[] | select(.key == "findings").rows[] | select(.rule == "clocks-apart").evidence' >evidence
    sed 's/.*; //' evidence >gpu.txt
    [[ "$(cat gpu.txt)" == "gpu 4200 +4"*ns ]] || fail "$(cat evidence)"
    [ -z "$(found --align offsets gpu.txt one.db)" ] || fail "$(found --align offsets gpu.txt one.db)"
    # The other clock is set likewise, by any number of workers, and in a merged database.
    echo "host 4200 -5s # back" >host.txt
    rocpd2csv -q -d right right.db
    for jobs in 1 7; do
        rocpd2csv -q -j$jobs --align offsets host.txt -d set$jobs one.db
        diff -r right set$jobs
    done
    rocmerge -q --align offsets host.txt -o merged.db one.db
    rocpd2csv -q -d merged merged.db
    diff -r right merged
    while IFS='|' read -r line words; do
        echo "$line" >wrong.txt
        try 3 rocstats doctor --align offsets wrong.txt one.db
        says "wrong.txt:1: $words"
    done <<'END'
gpu 4201 1s|"gpu 4201 1s": no process has this number
gpu 4200 soon|"soon": an offset is N
END
    echo "gpu 1s" >node.txt # a node of this name
    try 3 rocstats doctor --align offsets node.txt one.db
    says "node.txt: no line for the node"
}

@test "memory that was in use before the first event: a note" {
    for before in 0 100; do
        cat >memory$before.json <<END
{"schemaVersion": 1, "traceEvents": [
$(for i in 2 1 3; do # not in order of time
            echo "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":7,\"tid\":7,\"ts\":$i,\"args\":{\"Addr\":$((4096 * i)),\"Bytes\":8,\"Total Allocated\":$((8 * i + before)),\"Device Id\":0,\"Device Type\":1}},"
        done)
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":5,"dur":1,"args":{"device":0,"stream":0}}]}
END
    done
    [ "$(found memory0.json)" = no-calls ] || fail "$(found memory0.json)"
    [ "$(found memory100.json) $(verdict memory100.json)" = "no-calls memory-before sound" ] || fail "$(found memory100.json)"
    grep -q '100 bytes in use' <(rocstats doctor --format json memory100.json)
}

@test "most copies have no size: a note" {
    awk 'BEGIN { for (i = 0; i < 4; i++) print "gpu_memcpy CopyHostToDevice", 10 * i, 1 }' >copies
    trace 4.json <copies
    head -3 copies | trace 3.json
    [ "$(found 4.json) $(verdict 4.json)" = "copies-without-size sound" ] || fail "$(found 4.json)"
    [ -z "$(found 3.json)" ] || fail "$(found 3.json)"
}

@test "what a rule finds several times of one process, it counts once; of the whole trace it counts none" {
    { launches 4096; echo "user_annotation end 90000 1"; } | trace round.json # calls and kernels
    [ "$(places round-number round.json)" = "process 70 1" ] || fail "$(places round-number round.json)"
    for rank in 0 2 3; do
        { launches $((rank == 2 ? 40 : 100)); echo "user_annotation end $((rank == 2 ? 900 : 2000)) 1"; } |
            trace rank$rank.json $rank # fewer kernels, and a shorter time
    done
    [ "$(places rank-short rank?.json)" = "rank 2 1" ] || fail "$(places rank-short rank?.json)"
    [ "$(places ranks-missing rank?.json)" = "null null" ] || fail "$(places ranks-missing rank?.json)"
}

@test "steps of ranks" {
    for rank in 0 1 2; do
        cat <<END
{"schemaVersion": 1, "distributedInfo": {"rank": $rank, "world_size": 3}, "traceEvents": [
$(for step in 3 4 5; do
            [ "$rank$step" = 13 ] ||
                echo "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#$step\",\"pid\":$((rank + 7)),\"tid\":1,\"ts\":$step.000,\"dur\":0.9},"
        done)
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":$((rank + 7)),"tid":1,"ts":3.1,"dur":2.8}]}
END
    done | awk '/schemaVersion/ { n++ } { print > "rank" n ".json" }'
    [ "$(found rank1.json rank2.json rank3.json)" = rank-steps ] || fail "$(found rank?.json)"
    rocstats doctor rank?.json >out || true
    grep -q 'ProfilerStep#4 to 5; others have 3 to 5' out
    grep -q 'Where  *rank 1$' out
    [ "$(found rank1.json rank3.json)" = ranks-missing ]
    # Long names end with a whole character.
    sed -i "s/ProfilerStep#/x$(printf 'é%.0s' {1..60})step /" rank?.json
    rocstats doctor rank?.json >out || true
    tr -s '\n ' ' ' <out | grep -q 'Evidence xé* \?4 to 5; others have 3 to 5 ' || fail "$(cat out)"
}

@test "a process that is there twice, or has two recordings" {
    sqlite3 "$db" .dump | sed 's/00010910/00010911/g' | sqlite3 one.db # another GUID
    [[ " $(found "$db" one.db) " == *" process-twice "* ]] || fail "$(found "$db" one.db)"
    change "UPDATE rocpd_kernel_dispatch SET start = start + 1"
    [[ " $(found "$db" one.db) " == *" two-recordings "* ]] || fail "$(found "$db" one.db)"
    # One after the other, or of other ranks, they are none.
    launches 40 | trace first.json # until 397 us
    for begin in 397 396.999; do
        launches 40 | awk -v begin=$begin '{ $3 += begin } 1' | trace second.json
        [ "$(found first.json second.json)" = "$([ $begin = 397 ] || echo two-recordings)" ] || fail "$begin: $(found first.json second.json)"
    done
    launches 40 | trace rank0.json 0
    launches 40 | trace rank1.json 1
    sed -i 's/71/70/g' rank1.json
    [ -z "$(found rank0.json rank1.json)" ] || fail "$(found rank0.json rank1.json)"
}

@test "events that stop at a round number" {
    "$BUILD/tests/rocpd-gen" -o gen.db --rows 60000 --seed 1 --no-pmc
    [ -z "$(found gen.db)" ] || fail "$(found gen.db)"
    cp gen.db one.db
    change "DELETE FROM rocpd_kernel_dispatch WHERE id IN (SELECT id FROM rocpd_kernel_dispatch ORDER BY start LIMIT -1 OFFSET 4096)"
    [[ " $(found one.db) " == *" round-number "* ]] || fail "$(found one.db)"
}

@test "ids that are missing in a row" {
    awk 'BEGIN {
        print "{\"schemaVersion\": 1, \"traceEvents\": ["
        for (i = 1; i <= 400; i++)
            if (i <= 150 || i > 270)
                printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipFree\",\"pid\":7,\"tid\":7,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}}%s\n", 2 * i, i, i < 400 ? "," : ""
        print "]}"
    }' >ids.json
    [ "$(found ids.json)" = missing-ids ] || fail "$(found ids.json)"
    rocstats doctor ids.json | grep -q '120 in a row, of 280 calls'
    # Numbers that stand alone are of another kind: of records of the profiler, for example.
    awk 'BEGIN {
        print "{\"schemaVersion\": 1, \"traceEvents\": ["
        for (i = 1; i <= 400; i++)
            printf "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipFree\",\"pid\":7,\"tid\":7,\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%d}}%s\n", 2 * i, (i > 397 ? 1000 * (i - 396) : i), (i < 400 ? "," : "")
        print "]}"
    }' >alone.json
    [ -z "$(found alone.json)" ] || fail "$(found alone.json)"
    # Markers have numbers of the same kind.
    awk 'BEGIN {
        h = "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\""
        print h >"out_hip_api_trace.csv"
        print h >"out_marker_api_trace.csv"
        for (i = 1; i <= 400; i++)
            if (i <= 150 || i > 270)
                print "\"HIP_RUNTIME_API_EXT\",\"hipFree\",7,7," i "," 2 * i "," 2 * i + 1 >"out_hip_api_trace.csv"
            else
                print "\"MARKER_CORE_RANGE_API\",\"step\",7,7," i "," 2 * i "," 2 * i + 1 >"out_marker_api_trace.csv"
    }'
    [ -z "$(found out_hip_api_trace.csv out_marker_api_trace.csv)" ] || fail "$(found out_*.csv)"
    [ "$(found out_hip_api_trace.csv)" = missing-ids ]
}

@test "kernels of a format whose calls have no ids" {
    [ "$(found "$TOP/tests/fixtures/rtg/calls.txt")" = no-links ]
    rocstats doctor "$TOP/tests/fixtures/rtg/calls.txt" | grep -q '2 kernels, no call with an id'
}

@test "nothing at all, and what filters hide" {
    try 3 rocstats doctor "$FIXTURES/empty-tables.db"
    [[ "$output" == *"1 file without an event"* ]]
    [ "$(verdict "$FIXTURES/empty-tables.db")" = unusable ]
    [ "$(found "$FIXTURES/empty-tables.db")" = empty ]
    try 2 rocstats doctor --start 10% "$db"
    says "cannot be used with filters"
    rocstats all --start 10% --format json "$db" | jq -e '[.tables[] | select(.key == "doctor").rows[]] == []' >/dev/null
    # As one of all reports it does not decide.
    cp "$db" one.db
    change "UPDATE rocpd_pmc_event SET value = 0"
    try 0 rocstats all one.db
    try 1 rocstats doctor one.db
    try 1 rocstats doctor kernels one.db
}

@test "ids of findings are those of events, and any number of workers says the same" {
    cp "$db" one.db
    change "UPDATE rocpd_kernel_dispatch SET start = start - 1000000 WHERE id = 7"
    id=$(rocstats doctor --format json one.db | jq -r '.tables[] | select(.key == "findings").rows[0].event')
    try 0 rocline show "$id" one.db
    for jobs in 1 2 7; do
        rocstats doctor -j $jobs --format json "$FIXTURES/nasty-3.0.5.db" >out.$jobs 2>/dev/null || true
    done
    cmp out.1 out.2
    cmp out.1 out.7
}

@test "real traces" {
    needs "$SHARED/kineto"
    for trace in "$SHARED"/rocpd/*.db "$SHARED"/kineto/mi*.json.gz "$SHARED/kineto/two_ranks" \
        "$SHARED"/amd/e4.db "$SHARED"/amd/e4/csv/out_memory_allocation_trace.csv "$SHARED"/rpd/*.rpd* \
        "$SHARED"/rtg/{01,02,03,12,25}_*/in/rtg* "$SHARED/rocprof-v1/kokkos-a"; do
        [ "$(verdict "$trace")" = sound ] || fail "$trace: $(found "$trace")"
    done
}

@test "values that cannot be" {
    needs "$SHARED/cases3/values"
    while read -r file rules; do
        [ "$(found "$SHARED/cases3/$file")" = "$rules" ] || fail "$file: $(found "$SHARED/cases3/$file")"
    done <<END
values/impossible.json outlasts one-long-call
values/car17s.json one-long-call
values/copydir.db copy-directions
values/copysize.json copies-without-size
values/roctx0.db ranges-as-points
values/twoclocks.db clocks-apart before-launch
values/graphunder.json graphs-without-kernels
values/series2.json
values/zeroend.db left-out kernels-without-calls impossible-times no-durations
values/dominant.json
json/unclosed.json.gz never-closed
END
}

@test "compare: what differs besides times" {
    rocstats compare --format json "$db" "$db" >same.json
    jq -e '[.data.comparability.rows[].same] | unique == ["yes"]' same.json >/dev/null
    rocstats compare --format json "$db" "$FIXTURES/merged.db" >other.json
    [ "$(jq -r '[.data.comparability.rows[] | select(.same == "no").property] | index("processes") != null' other.json)" = true ]
    cp "$db" one.db
    change "DELETE FROM rocpd_region"
    rocstats compare "$db" one.db >out
    grep -q '^Comparability: with care, as these differ: recorded' out
}

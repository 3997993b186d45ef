#!/usr/bin/env bats
# Derived counters: rocstats counters --derive FILE. The expressions are in tests/unit/test_derive.c.

load helper

requires() {
    needs sqlite3 jq
}

# CSV, as rocprofv3 writes it: two kernels, a counter a row.
make_csv() {
    cat >counter_collection.csv <<'END'
"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
1,1,"Agent 1",1,70,70,64,1,"walk",64,0,0,16,0,16,"BUSY",10,1000,1100
1,1,"Agent 1",1,70,70,64,1,"walk",64,0,0,16,0,16,"CYCLES",20,1000,1100
2,2,"Agent 1",1,70,70,64,1,"walk",64,0,0,16,0,16,"BUSY",72,2000,2100
2,2,"Agent 1",1,70,70,64,1,"walk",64,0,0,16,0,16,"CYCLES",80,2000,2100
3,3,"Agent 1",1,70,70,64,2,"run",64,0,0,16,0,16,"BUSY",5,3000,3100
3,3,"Agent 1",1,70,70,64,2,"run",64,0,0,16,0,16,"CYCLES",0,3000,3100
4,4,"Agent 1",1,70,70,64,2,"run",64,0,0,16,0,16,"BUSY",6,4000,4100
4,4,"Agent 1",1,70,70,64,2,"run",64,0,0,16,0,16,"Share",33.5,4000,4100
END
    cat >defs.xml <<'END'
#include "hardware.xml"
# shares
<gfx42_expr>
  <metric name="Share" expr=100*BUSY/CYCLES descr="The percentage of cycles"></metric>
  <metric name="Odd" expr=BUSY-CYCLES+1 descr=""/>
  <metric name="Far" expr=BUSY/(FAR+NEAR)/>
  <metric name="Half" expr=Share/2/>
</gfx42_expr>
<gfx42b_expr base="gfx42_expr"></gfx42b_expr>
END
    echo '<gfx42><metric name="BUSY" block=SQ event=4></metric></gfx42>' >hardware.xml
    cat >defs.yaml <<'END'
rocprofiler-sdk:
  counters:
  - name: Far
    description: 'Unit: cycles'
    definitions:
    - architectures: [gfx42]
      expression: reduce(BUSY,sum)*2
  - name: Most
    definitions:
    - architectures: [gfx42]
      expression: reduce(BUSY,max)/reduce(CYCLES,sum)
END
}

derive() { # option or input...
    rocstats counters --derive-arch gfx42 --format json "$@"
}

rows() { # table, filter of its rows
    jq -c --arg key "$1" '.tables[] | select(.key == $key).rows[] | '"$2" <<<"$json"
}

@test "values by kernel: overall, mean, least and largest; collected; division by zero" {
    make_csv
    json=$(derive --derive defs.xml counter_collection.csv)
    [ "$(rows derived '[.counter,.kernel,.unit,.dispatches,.overall,.mean,.min,.max,.collected,.undefined]')" = \
        '["Half","walk",null,2,41,35,25,45,0,0]
["Half","run",null,1,null,16.75,16.75,16.75,0,1]
["Odd","run",null,1,6,6,6,6,0,0]
["Odd","walk",null,2,-17,-8,-9,-7,0,0]
["Share","walk","%",2,82,70,50,90,0,0]
["Share","run","%",1,null,33.5,33.5,33.5,1,1]' ] || fail "$(rows derived .)"
    [ "$(rows derived_missing '[.counter,.architecture,.missing,.expression]')" = \
        '["Far","gfx42","FAR, NEAR","BUSY/(FAR+NEAR)"]' ]
}

@test "the line on AMD's tools names the counters in which they differ" {
    make_csv
    try 0 rocstats counters --derive-arch gfx42 -E defs.xml counter_collection.csv
    [[ "$output" == *"a - b + c is computed as a - (b + c): Odd"*"a division by zero gives 0: Half, Share"* ]]
    json=$(derive -E defs.xml counter_collection.csv)
    [ "$(rows derived 'select(.kernel == "walk") | [.counter,.differs]')" = '["Half","division by zero"]
["Odd","order of + and -"]
["Share","division by zero"]' ]
}

@test "several files: the later definition replaces the former; both grammars" {
    make_csv
    json=$(derive -E defs.xml -E defs.yaml counter_collection.csv)
    [ "$(rows derived 'select(.counter == "Far" and .kernel == "walk") | [.unit,.overall,.mean]')" = '["cycles",164,82]' ]
    [ "$(rows derived_missing '[.counter,.missing]')" = '["Most","each instance of BUSY"]' ]
}

@test "each dispatch" {
    make_csv
    json=$(derive -E defs.xml --by-dispatch counter_collection.csv)
    [ "$(rows derived_dispatches 'select(.counter == "Share") | [.kernel,.pid,.dispatch,.value]')" = \
        '["walk",70,1,50]
["walk",70,2,90]
["run",70,4,33.5]' ]
}

@test "every format, --top, compressed definitions, any number of jobs" {
    make_csv
    for format in text csv tsv json md html; do
        try 0 rocstats counters --derive-arch gfx42 -E defs.xml --top 1 --format "$format" counter_collection.csv
        [[ "$output" == *Share* ]] || fail "$format"
    done
    json=$(derive -E defs.xml --top 1 counter_collection.csv)
    [ "$(rows derived 'select(.counter == "Share") | [.kernel,.dispatches,.mean]')" = '["walk",2,70]
["(1 others)",1,33.5]' ]
    json=$(derive -E defs.xml counter_collection.csv)
    gzip defs.xml hardware.xml
    [ "$(derive -E defs.xml.gz -j1 counter_collection.csv)" = "$json" ]
    [ "$(derive -E defs.xml.gz -j4 counter_collection.csv)" = "$json" ]
}

@test "the architecture and constants come from the agent_info beside the file" {
    make_csv
    mv counter_collection.csv run_counter_collection.csv
    cat >run_agent_info.csv <<'END'
"Node_Id","Logical_Node_Id","Agent_Type","Simd_Count","Wave_Front_Size","Num_Xcc","Simd_Per_Cu","Name","Vendor_Name","Product_Name","Model_Name"
0,0,"CPU",0,0,1,0,"Wren 7","CPU","Wren 7",""
1,1,"GPU",16,32,1,4,"gfx42","AMD","Finch","finch"
END
    cat >defs.xml <<'END'
<gfx42><metric name=CYCLES block=GRBM event=2/></gfx42>
<gfx42_expr><metric name=PerUnit expr=BUSY/CU_NUM/><metric name=Wide expr=MAX_WAVE_SIZE*BUSY/></gfx42_expr>
END
    echo "Top: {architectures: {gfx42: {expression: 'reduce(CYCLES,max)*simd_count'}}}" >defs.yaml
    json=$(rocstats -E defs.xml -E defs.yaml --format json run_counter_collection.csv)
    [ "$(rows derived 'select(.kernel == "walk") | [.counter,.architecture,.overall]')" = \
        '["PerUnit","gfx42",20.5]
["Top","gfx42",1600]
["Wide","gfx42",2624]' ] || fail "$json"
}

@test "instances, properties of the GPU, architecture: from a database" {
    needs "$FIXTURES/schema-3.0.0.db"
    db=$FIXTURES/schema-3.0.0.db
    [ "$(sqlite3 "$db" 'SELECT COUNT(*) FROM rocpd_pmc_event')" -gt 0 ] || skip "no counters"
    arch=$(sqlite3 "$db" "SELECT name FROM rocpd_info_agent WHERE type = 'GPU' LIMIT 1")
    name=$(sqlite3 "$db" "SELECT name FROM counters_collection c JOIN rocpd_info_pmc p ON p.id = c.counter_id LIMIT 1" 2>/dev/null || true)
    [ -n "$name" ] || name=$(rocstats counters --format json "$db" | jq -r '.tables[] | select(.key == "counters").rows[0].counter')
    [[ "$arch" == gfx* && "$name" != null ]] || skip "no counters of a GPU"
    cat >defs.yaml <<END
Twice: {architectures: {$arch: {expression: 'reduce($name,sum)*2'}}}
END
    json=$(rocstats counters -E defs.yaml --format json "$db")
    twice=$(rows derived 'select(.counter == "Twice") | .overall' | jq -s add)
    plain=$(rows counters "select(.counter == \"$name\") | .sum" | jq -s add)
    jq -en "$twice == 2 * $plain"
}

@test "dimensions: what a database stores of its instances, judged by SQL; what is not stored is said" {
    needs "$FIXTURES/everything.db"
    cp "$FIXTURES/everything.db" d.db
    s=$(suffix d.db)
    values="\"rocpd_pmc_event$s\"" dispatches="\"rocpd_kernel_dispatch$s\""
    # the two instances of a counter are of two XCCs
    sqlite3 d.db "UPDATE $values SET xcc = (SELECT count(*) FROM $values b WHERE b.event_id = $values.event_id
        AND b.pmc_id = $values.pmc_id AND b.id < $values.id) WHERE sample_id IS NULL"
    cat >defs.yaml <<'END'
rocprofiler-sdk:
  counters:
  - {name: First, definitions: [{architectures: [gfx942], expression: 'select(GRBM_GUI_ACTIVE,[DIMENSION_XCC=[0]])'}]}
  - {name: Second, definitions: [{architectures: [gfx942], expression: 'reduce(select(GRBM_GUI_ACTIVE,[DIMENSION_XCC=[1:7]]),sum)'}]}
  - {name: Most, definitions: [{architectures: [gfx942], expression: 'reduce(GRBM_GUI_ACTIVE,max,[DIMENSION_XCC])'}]}
  - {name: Part, definitions: [{architectures: [gfx942], expression: 'reduce(GRBM_GUI_ACTIVE/reduce(GRBM_GUI_ACTIVE,sum),max)'}]}
  - {name: Lacks, definitions: [{architectures: [gfx942], expression: 'reduce(GRBM_GUI_ACTIVE,max,[DIMENSION_WGP])'}]}
END
    of="FROM $values v JOIN $dispatches d ON d.event_id = v.event_id JOIN \"rocpd_info_pmc$s\" p ON p.id = v.pmc_id
        WHERE p.name = 'GRBM_GUI_ACTIVE' AND v.sample_id IS NULL"
    for j in 1 7; do
        json=$(rocstats counters --derive defs.yaml --by-dispatch --format json -j$j d.db)
        while IFS='|' read -r name sql; do
            diff <(rows derived_dispatches "select(.counter == \"$name\") | [.dispatch, .value * 1000 | round]" | tr -d '[]' | sort) \
                <(sqlite3 -readonly -separator , d.db "SELECT d.dispatch_id, CAST(round(1000 * $sql) AS INT) $of GROUP BY d.id" | sort) ||
                fail "$name"
        done <<'END'
First|sum(v.value * (v.xcc = 0))
Second|sum(v.value * (v.xcc = 1))
Most|max(v.value)
Part|max(v.value) / sum(v.value)
END
        [ "$(rows derived_missing '.missing')" = '"DIMENSION_WGP of each instance of GRBM_GUI_ACTIVE"' ]
        [ "$(rows derived 'select(.counter == "First") | .undefined' | jq -s add)" -eq 0 ]
    done
    # where they are not stored, no dimension is known
    json=$(rocstats counters --derive defs.yaml --format json "$FIXTURES/everything.db")
    [ "$(rows derived_missing 'select(.counter == "First") | .missing')" = '"DIMENSION_XCC of each instance of GRBM_GUI_ACTIVE"' ]
}

@test "what is wrong with definitions is said with file and line, before anything is read" {
    make_csv
    printf '<gfx42_expr>\n<metric name=A expr=B+/>\n</gfx42_expr>\n' >bad.xml
    try 3 rocstats counters -E bad.xml counter_collection.csv
    says 'bad.xml: line 2: A: expression "B+": column 3: it ends early'
    printf '<gfx42_expr>\n<metric name=A expr=B/><metric name=B expr=A*2/>\n</gfx42_expr>\n' >bad.xml
    try 3 rocstats counters --derive-arch gfx42 -E bad.xml counter_collection.csv
    says 'a derived counter depends on itself: A -> B -> A'
    try 3 rocstats counters -E none.xml counter_collection.csv
    says 'none.xml'
}

@test "GPUs without definitions; options without --derive" {
    make_csv
    try 0 rocstats counters -E defs.xml counter_collection.csv
    says 'the architecture of a GPU is not known; --derive-arch names it'
    try 0 rocstats counters -E defs.xml --derive-arch gfx43 counter_collection.csv
    says 'no definitions for the architecture gfx43'
    try 2 rocstats counters --by-dispatch counter_collection.csv
    says 'only for --derive'
    try 2 rocstats kernels -E defs.xml counter_collection.csv
    says 'only for the report counters'
    # Without a report, it is counters.
    [ "$(rocstats -E defs.xml --derive-arch gfx42 counter_collection.csv)" = \
        "$(rocstats counters -E defs.xml --derive-arch gfx42 counter_collection.csv)" ]
}

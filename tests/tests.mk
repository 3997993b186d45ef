# Test programs, fixtures, benchmarks, fuzzing and coverage; the targets are in `make help`.

# The stand-in with which tests run them where there is no GPU.
KMT := $(if $(HSA),$(wildcard $(ROCM)/include/hsakmt.h))

UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_COMMON := $(filter-out $(UNIT_SRC),$(sort $(wildcard tests/unit/*.c)))
GEN_SRC := $(sort $(wildcard tests/fixtures/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))

UNITS := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/%)
GEN := $(if $(GEN_SRC),$(O)/tests/rocpd-gen)
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))
BENCHES := $(BENCH_SRC:tests/bench/%.c=$(O)/tests/%)
FUZZERS := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/tests/%)
HELPER_SRC := $(sort $(filter-out $(if $(filter 1,$(OTF2)),,tests/tools/otf2dump.c), \
              $(wildcard tests/tools/*.c)))
HELPERS := $(HELPER_SRC:tests/tools/%.c=$(O)/tests/%)
# One program: damages inputs, and counts what goes in and comes out.
PROPERTY_SRC := $(sort $(wildcard tests/property/*.c))
SOAK := $(O)/tests/soak
# Programs that are recorded: they load what such programs load, and are not instrumented either.
TRACED_SRC := $(sort $(wildcard tests/capture/*.c))
TRACED := $(TRACED_SRC:tests/capture/%.c=$(O)/tests/%)
# Libraries that are loaded before a tool.
PRELOAD_SRC := $(sort $(wildcard tests/preload/*.c))
PRELOADS := $(PRELOAD_SRC:tests/preload/%.c=$(O)/tests/%.so)
# Optional: the benchmark of recording compares with LTTng.
LTTNG ?= $(shell $(PKG_CONFIG) --exists lttng-ust 2>/dev/null && echo 1)
TRACED_FLAGS := -I. $(if $(filter 1,$(LTTNG)),-DWITH_LTTNG)
TRACED_LIBS := $(if $(filter 1,$(LTTNG)),-llttng-ust -ldl)
# The same of HSA and HIP, and what they run on.
KMT_SRC := $(if $(KMT),$(sort $(wildcard tests/rocr/*.c)))
KMT_SO := $(if $(KMT),$(O)/tests/rocr/libhsakmt.so.1)
ROCR_SRC := $(if $(KMT),$(sort $(wildcard tests/rocr/programs/hsa*.c $(if $(HIP),tests/rocr/programs/hip*.c))))
ROCR := $(ROCR_SRC:tests/rocr/programs/%.c=$(O)/tests/rocr/%)
# Example programs, built as a user would: against what is installed.
EXAMPLE_SRC := $(sort $(wildcard examples/*.c))
EXAMPLES := $(EXAMPLE_SRC:examples/%.c=$(O)/examples/%)
FIXTURES := $(if $(wildcard tests/fixtures/make-fixtures.sh),$(O)/fixtures/.done)

# What the tools share, for tests of it.
COMMON_USERS := $(addprefix $(O)/tests/,test_job test_placeholders fuzz_job)
$(COMMON_USERS): $(call objects,$(COMMON_SRC))
$(patsubst %,$(OBJ)/tests/%.o,unit/test_job unit/test_placeholders fuzz/fuzz_job): ALL_CPPFLAGS += -Itools

# The command lines of all tools.
$(O)/tests/fuzz_text: $(call objects,$(call TOOL_OWN_SRC,rocline))
$(O)/tests/fuzz_text: LIBS += $(if $(filter 1,$(EDIT)),$(shell $(PKG_CONFIG) --libs libedit))
$(O)/tests/fuzz_text: LIBS += $(if $(filter 1,$(NCURSES)),$(shell $(PKG_CONFIG) --libs ncursesw))
$(OBJ)/tests/fuzz/fuzz_text.o: ALL_CPPFLAGS += -Itools

# The report that lib/README.md shows.
$(O)/gen/tests/recipe_report.h: lib/README.md
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && awk '/^#/ { report = /Add a report/ } /```/ { code = /```c/; next } \
	    report && code { sub(/^   /, ""); print }' $< > $@
$(OBJ)/tests/unit/test_recipe.o: $(O)/gen/tests/recipe_report.h
$(OBJ)/tests/unit/test_recipe.o: ALL_CPPFLAGS += -I$(O)/gen

# The texts that the sampler reads.
$(addprefix $(O)/tests/,test_sample fuzz_sample): $(call objects,lib/capture/sample/parse.c)
# The settings of the tracer.
$(O)/tests/fuzz_sample: $(call objects,lib/capture/rtg/settings.c)

$(O)/tests/test_%: $(OBJ)/tests/unit/test_%.o $(call objects,$(UNIT_COMMON)) $(LIB_INTERNAL) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LIBS)

$(O)/examples/%: examples/%.c $(HEADER) $(LIB_A) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I$(O)/include $(WARN) $(CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB_A) $(LIBS)

$(O)/tests/rocpd-gen: $(call objects,$(GEN_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

$(BENCHES): $(O)/tests/%: $(OBJ)/tests/bench/%.o $(LIB_INTERNAL) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

# They know nothing of the library: what they say is independent of it.
$(HELPERS): $(O)/tests/%: $(OBJ)/tests/tools/%.o $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

$(SOAK): $(call objects,$(PROPERTY_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

$(OBJ)/so/tests/capture/overhead.o: SO_CFLAGS := $(filter-out -Wconversion -Wshadow,$(SO_CFLAGS)) $(TRACED_FLAGS)
$(O)/tests/overhead: TRACED_MORE := $(TRACED_LIBS)
$(TRACED): $(O)/tests/%: $(OBJ)/so/tests/capture/%.o $(CAPTURE_SO) $(FRONT_SOS) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -pthread $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib/rocline' -o $@ $(filter %.o,$^) \
	    $(O)/lib/rocline/$(SO_roctx) $(CAPTURE_SO) $(TRACED_MORE)

$(call so-objects,$(PRELOAD_SRC)): SO_CFLAGS += -fvisibility=default -Wno-pedantic
$(PRELOADS): $(O)/tests/%.so: $(OBJ)/so/tests/preload/%.o $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared $(LDFLAGS) -o $@ $(filter %.o,$^)

$(KMT_SO): $(call so-objects,$(KMT_SRC)) tests/rocr/kmt.map $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SO_LDFLAGS) -Wl,-soname,$(@F) -Wl,--version-script=tests/rocr/kmt.map -o $@ \
	    $(filter %.o,$^)

$(ROCR): $(O)/tests/rocr/%: $(OBJ)/so/tests/rocr/programs/%.o $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $(filter %.o,$^) \
	    $(addprefix -L,$(ROCM)/lib $(dir $(HIP_LIB))) \
	    $(if $(findstring /hip_,$@),-lamdhip64) -lhsa-runtime64

$(O)/tests/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(if $(FUZZER),,$(OBJ)/tests/fuzz/driver.o) $(LIB_INTERNAL) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(FUZZER),-fsanitize=fuzzer) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(O)/fixtures/.done: tests/fixtures/make-fixtures.sh $(wildcard tests/fixtures/*.sql tests/fixtures/*.awk) $(GEN)
	$(call say,GEN,$(@D))
	$(Q)mkdir -p $(@D) && tests/fixtures/make-fixtures.sh $(GEN) $(@D) && touch $@

# ---- what can be asked for ----------------------------------------------------------------------------

tests: $(UNITS) $(GEN) $(BENCHES) $(FUZZERS) $(HELPERS) $(SOAK) $(TRACED) $(PRELOADS) $(KMT_SO) $(ROCR) $(EXAMPLES) $(MPI_SOS) ## test programs and the generator, without running them
units: $(UNITS) ## the unit tests alone, without running them
fixtures: $(FIXTURES) ## databases for the tests, in build/fixtures

check: all tests $(FIXTURES) ## run all tests; the last line says how many passed and failed
	@tests/run.sh $(O)

soak: all tests $(FIXTURES) ## rows in = rows out + rows counted, on damaged inputs; no growth; any -j; calls that fail (SECONDS=600, SEED=1)
	@tests/property/soak.sh $(O) $(or $(SECONDS),600) $(or $(SEED),1)
	@tests/bench/repeat.sh $(O) $(or $(SECONDS),600)
	@SOAK=1 tests/run.sh $(O) jobs
	@tests/faults.sh $(O) --seconds $(or $(SECONDS),600) --seed $(or $(SEED),1)

check-tsan: ## ThreadSanitizer over the command line tests (PARTS="csv stats": of these files only)
	@$(MAKE) O=$(O)/tsan SAN=thread CFLAGS='-O1 -g' all tests fixtures
	@tests/tsan.sh $(O)/tsan $(PARTS)

.PHONY: faults
faults: all tests $(FIXTURES) ## every call of every tool fails at each place it is made from (EVERY=211: each time, of allocations each 211th)
	@tests/faults.sh $(O) $(if $(EVERY),--every $(EVERY))

check-bare: ## README's commands in bare systems (SYSTEMS="bookworm trixie jammy noble" ONLY=demo); needs root and debootstrap
	@tests/bare.sh $(O)

check-machines: ## -pedantic, unit tests and outputs of clang, aarch64, s390x, musl (MACHINES="arm64 s390x musl"); needs root and debootstrap
	@tests/machines.sh $(O) $(MACHINES)

bench: all $(GEN) $(BENCHES) $(HELPERS) $(TRACED) ## measure against a bare read of the same input, and compare with the run before (ROWS=, RUNS=, KEEP=1)
	@for b in run cold text rocprofv3 profilers capture many merge; do \
	    tests/bench/$$b.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3) || exit 1; done
	@KEEP=$(KEEP) tests/bench/compare.sh $(O) $(or $(ROWS),1000000)

.PHONY: bench-table
bench-table: ## the table of speeds in README.md, of the last make bench on this machine
	@tests/bench/table.sh

bench-scale: all $(GEN) $(PRELOADS) ## what more cores would bring: serial parts, locks, Amdahl's law (ROWS=)
	@tests/bench/scale.sh $(O) $(or $(ROWS),1000000)

fuzz: ## fuzz every target for FUZZ_TIME seconds, or all for TOTAL seconds together (needs clang)
	@$(MAKE) CC=clang FUZZER=1 SAN=address,undefined O=$(O)/fuzz fuzz-run

fuzz-run: $(FUZZERS)
	@$(if $(SAN),,FLOORS=/dev/null) tests/fuzz/run.sh $(O) $(FUZZ_TIME)

coverage: ## after `make COVERAGE=1 check`: lines covered, file by file
	@for f in $(TOOL_SRC); do \
	    gcov -n -o $(OBJ)/$${f%.c}.o $$f 2>/dev/null | \
	        sed -n "/^File '$$(echo $$f | sed 's|/|.|g')'/{n;s|^Lines executed:\(.*\) of \(.*\)|\1 \2 $$f|p}"; \
	done | awk '{ n += $$2; c += $$1 * $$2 / 100; printf "%7s  %5d  %s\n", $$1, $$2, $$3 } \
	    END { if (n) printf "%6.2f%%  %5d  all\n", 100 * c / n, n }'

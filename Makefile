# rocline: build, test, install. `make help` lists the targets. GNU make; no configure step.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# ---- packages ------------------------------------------------------------------------------------

# The first line builds, the second tests.
DEBS := gcc libc6-dev make pkg-config libsqlite3-dev libcjson-dev zlib1g-dev libdeflate-dev libcsv-dev libyaml-dev libotf2-trace-dev \
        libcmocka-dev bats protobuf-compiler sqlite3 mandoc jq otf2-tools
SUDO = $(if $(filter-out 0,$(shell id -u)),sudo)

deps: ## install the Debian packages that building and testing need
	@missing=$$(for p in $(DEBS); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q ' installed' || echo $$p; done); \
	test -z "$$missing" || { \
	    $(SUDO) apt-get update -q && \
	    $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; }

# `make deps check`: packages first, also with -j, and the rest in a make that finds them.
ifneq ($(and $(filter deps,$(MAKECMDGOALS)),$(filter-out deps,$(MAKECMDGOALS))),)
$(filter-out deps,$(MAKECMDGOALS)): after-deps ; @:
after-deps: deps
	+@$(MAKE) --no-print-directory $(filter-out deps,$(MAKECMDGOALS))
.PHONY: deps after-deps $(filter-out deps,$(MAKECMDGOALS))
else

VERSION := $(shell sed -n 's/^\#define ROCLINE_VERSION "\([0-9.]*\)"/\1/p' lib/rocline.h)
SOMAJOR := $(firstword $(subst ., ,$(VERSION)))

# ---- what can be set on the command line -------------------------------------------------------

O ?= build# where everything goes
# One spelling of it, or the dependencies noted under another would be lost.
override O := $(patsubst $(CURDIR)/%,%,$(abspath $(O)))
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
SAN ?=# address,undefined | thread | ...
COVERAGE ?=# 1: instrument for gcov
WERROR ?= 1# 0: warnings do not stop the build
FUZZER ?=# 1: clang's libFuzzer; set by `make fuzz`
FUZZ_TIME ?= 60# seconds per fuzz target
ifeq ($(origin CC),default)
CC := gcc
endif
AR := $(if $(filter default undefined,$(origin AR)),ar,$(AR))
CFLAGS ?= -O3 -g
INSTALL ?= install
PKG_CONFIG ?= pkg-config

# ---- flags ---------------------------------------------------------------------------------------

PKGS := sqlite3 libcjson zlib yaml-0.1
# Optional: twice the speed of zlib. LIBDEFLATE=0 builds without.
LIBDEFLATE ?= $(shell $(PKG_CONFIG) --exists libdeflate 2>/dev/null && echo 1)
ifeq ($(LIBDEFLATE),1)
PKGS += libdeflate
endif
# Optional: rocpd2otf2 says so without. OTF2=0 builds without.
OTF2 ?= $(shell $(PKG_CONFIG) --atleast-version=3.0 otf2 2>/dev/null && echo 1)
ifeq ($(OTF2),1)
PKGS += otf2
endif
WARN := -Wall -Wextra -Wconversion -Wshadow $(if $(filter 1,$(WERROR)),-Werror)
INSTRUMENT := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
              $(if $(COVERAGE),--coverage -fprofile-update=atomic)
# One set of objects serves the static and the shared library: hidden symbols make -fPIC cheap.
ALL_CFLAGS := -std=c17 -D_GNU_SOURCE $(WARN) $(CFLAGS) -fPIC -fvisibility=hidden \
              -fno-semantic-interposition -pthread $(INSTRUMENT) \
              $(if $(FUZZER),-fsanitize=fuzzer-no-link)
ALL_CPPFLAGS := -Ilib $(if $(filter 1,$(LIBDEFLATE)),-DROCL_LIBDEFLATE) \
                $(if $(filter 1,$(OTF2)),-DROCL_OTF2) \
                $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
ALL_LDFLAGS := -pthread -Wl,--as-needed $(INSTRUMENT) $(LDFLAGS)
LIBS := $(or $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null),-lsqlite3 -lcjson -lz -lyaml $(if $(filter 1,$(LIBDEFLATE)),-ldeflate) $(if $(filter 1,$(OTF2)),-lotf2)) -lcsv -lm

# Optional: HSA and HIP of ROCm, or of Debian's libhsa-runtime-dev and libamdhip64-dev. ROCM= builds
# without.
ROCM ?= $(firstword $(patsubst %/include/hsa/hsa_api_trace.h,%,\
          $(wildcard /opt/rocm/include/hsa/hsa_api_trace.h /usr/include/hsa/hsa_api_trace.h)))
HSA := $(if $(ROCM),$(wildcard $(ROCM)/include/hsa/hsa_api_trace.h))
HIP_LIB := $(if $(HSA),$(firstword $(wildcard $(ROCM)/lib/libamdhip64.so $(ROCM)/lib/*/libamdhip64.so)))
HIP := $(if $(HIP_LIB),$(wildcard $(ROCM)/include/hip/hip_runtime_api.h))
# The stand-in with which tests run them where there is no GPU.
KMT := $(if $(HSA),$(wildcard $(ROCM)/include/hsakmt.h))
ROCM_CPPFLAGS := $(if $(filter-out /usr,$(ROCM)),-isystem $(ROCM)/include)

# Programs that are traced are not instrumented, so neither is what they load. It stays loaded, and
# needs nothing but libc.
SO_CFLAGS := $(filter-out $(INSTRUMENT) -fsanitize=%,$(ALL_CFLAGS)) -fno-plt -ftls-model=initial-exec
SO_LDFLAGS := -shared -pthread -Wl,--as-needed -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro \
              $(LDFLAGS)

# Objects of different compilers and flags never meet; what is linked follows the flags by a stamp.
FLAGS := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) | $(ALL_LDFLAGS) $(LIBS) | $(SO_CFLAGS) $(SO_LDFLAGS)
OBJ := $(O)/obj/$(shell printf '%s' '$(FLAGS)' | cksum | cut -d' ' -f1)
STAMP := $(O)/.flags

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s%s\n' $(1) $(2)
endif

# ---- what there is to build ------------------------------------------------------------------------

# What is loaded into traced programs is libraries of its own: the capture core, and a front end for
# each folder in it; those for HSA and HIP where these are installed.
GUARD_SRC := $(sort $(wildcard lib/capture/guard/*.c))
CAPTURE_SRC := $(sort $(wildcard lib/capture/*.c lib/capture/rtg/*.c)) $(GUARD_SRC) lib/base/crc32c.c
FRONT_ENDS := $(sort $(filter-out guard rtg $(if $(HSA),,hsa) $(if $(HIP),,hip), \
              $(patsubst lib/capture/%/,%,$(dir $(wildcard lib/capture/*/*.c)))))
SO_roctx := libroctx64.so.4
# What programs link with comes before the C library, and the core does not.
SO_MORE_roctx := $(GUARD_SRC)
# Other names under which programs look for it.
SO_LINKS_roctx := libroctx64.so librocprofiler-sdk-roctx.so librocprofiler-sdk-roctx.so.0 \
                  librocprofiler-sdk-roctx.so.1
so-name = $(or $(SO_$(1)),librocline-$(1).so)
LIB_SRC := $(sort $(filter-out lib/capture/% \
           $(if $(filter 1,$(OTF2)),lib/sink/otf2/none.c,$(filter-out %/none.c,$(wildcard lib/sink/otf2/*.c))), \
           $(wildcard lib/*.c lib/*/*.c lib/*/*/*.c)))
# A tool is called like its folder, but for those that have a name here.
NAME_stats := rocstats
NAME_merge := rocmerge
NAME_record := rocrec
tool-name = $(or $(NAME_$(1)),$(1))
# Programs that are other names of one.
ALIASES := rpt
ALIAS_rpt := rtg2json
TOOL_DIRS := $(sort $(patsubst tools/%/main.c,%,$(wildcard tools/*/main.c)))
TOOLS := $(foreach d,$(TOOL_DIRS),$(call tool-name,$(d)))
COMMON_SRC := $(sort $(wildcard tools/common/*.c))
SO_SRC := $(CAPTURE_SRC) $(foreach f,$(FRONT_ENDS),$(sort $(wildcard lib/capture/$(f)/*.c)))
TOOL_SRC = $(LIB_SRC) $(filter lib/capture/%,$(SO_SRC)) $(sort $(wildcard tools/*/*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_COMMON := $(filter-out $(UNIT_SRC),$(sort $(wildcard tests/unit/*.c)))
GEN_SRC := $(sort $(wildcard tests/fixtures/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
MAN := $(sort $(wildcard man/*.[0-9]))
SCRIPTS := .ci/run $(sort $(wildcard tests/*.sh tests/*/*.sh tests/*/*.bash))

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))
LIB_A := $(O)/lib/librocline.a
LIB_SO := $(O)/lib/librocline.so.$(VERSION)
PC := $(O)/lib/rocline.pc
HEADER := $(O)/include/rocline.h
CAPTURE_SO := $(O)/lib/rocline/librocline-capture.so.$(SOMAJOR)
FRONT_SOS := $(foreach f,$(FRONT_ENDS),$(O)/lib/rocline/$(call so-name,$(f)))
PROGRAMS := $(TOOLS) $(ALIASES)
BINS := $(TOOLS:%=$(O)/bin/%)
ALIAS_BINS := $(ALIASES:%=$(O)/bin/%)
COMPLETIONS := $(PROGRAMS:%=$(O)/share/bash/%) $(PROGRAMS:%=$(O)/share/zsh/_%)
UNITS := $(UNIT_SRC:tests/unit/%.c=$(O)/tests/%)
GEN := $(if $(GEN_SRC),$(O)/tests/rocpd-gen)
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))
BENCHES := $(BENCH_SRC:tests/bench/%.c=$(O)/tests/%)
FUZZERS := $(FUZZ_SRC:tests/fuzz/%.c=$(O)/tests/%)
HELPER_SRC := $(sort $(filter-out $(if $(filter 1,$(OTF2)),,tests/tools/otf2dump.c), \
              $(wildcard tests/tools/*.c)))
HELPERS := $(HELPER_SRC:tests/tools/%.c=$(O)/tests/%)
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
FIXTURES := $(if $(wildcard tests/fixtures/make-fixtures.sh),$(O)/fixtures/.done)

all: $(BINS) $(ALIAS_BINS) $(LIB_A) $(LIB_SO) $(CAPTURE_SO) $(FRONT_SOS) $(PC) $(HEADER) $(COMPLETIONS) ## tools in build/bin, libraries in build/lib
ifneq ($(OTF2),1)
	@echo '  NOTE    built without libotf2 (3.0 or newer): rocpd2otf2 will only say so'
endif
ifeq ($(and $(HSA),$(HIP)),)
	@echo '  NOTE    built without$(if $(HSA),, HSA and)$(if $(HIP),, HIP): rocrec will not record them'
endif

# ---- rules -----------------------------------------------------------------------------------------

$(OBJ)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(if $(filter tools/%,$<),-Itools) $(if $(filter tests/%,$<),-I.) \
	    $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

ALL_SRC := $(TOOL_SRC) $(UNIT_SRC) $(UNIT_COMMON) $(GEN_SRC) $(FUZZ_SRC) \
           $(wildcard tests/fuzz/driver.c) $(BENCH_SRC) $(HELPER_SRC) $(SO_SRC) $(TRACED_SRC) \
           $(KMT_SRC) $(ROCR_SRC) $(PRELOAD_SRC)
-include $(patsubst %.c,$(OBJ)/so/%.d,$(SO_SRC) $(TRACED_SRC) $(KMT_SRC) $(ROCR_SRC) $(PRELOAD_SRC))
-include $(patsubst %.c,$(OBJ)/%.d,$(ALL_SRC))

# The source lists are in the stamp as well: a deleted file must leave the libraries.
$(STAMP): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS)' '$(ALL_SRC)' | cmp -s - $@ || printf '%s\n' '$(FLAGS)' '$(ALL_SRC)' > $@

$(LIB_A): $(call objects,$(LIB_SRC)) $(STAMP)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(LIB_SO): $(call objects,$(LIB_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,librocline.so.$(SOMAJOR) $(if $(SAN)$(FUZZER),,-Wl,-z,defs) \
	    $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
	$(Q)ln -sf librocline.so.$(VERSION) $(@D)/librocline.so.$(SOMAJOR)
	$(Q)ln -sf librocline.so.$(SOMAJOR) $(@D)/librocline.so

so-objects = $(patsubst %.c,$(OBJ)/so/%.o,$(1))

$(OBJ)/so/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -I$(O)/gen $(ROCM_CPPFLAGS) $(SO_CFLAGS) -MMD -MP -c -o $@ $<

# The calls of HSA and HIP, as their headers have them.
DECLARATIONS := lib/capture/gen/declarations.awk
TO_GEN := $(CC) $(ROCM_CPPFLAGS) -D__HIP_PLATFORM_AMD__ -DAMD_INTERNAL_BUILD -E -P -xc

$(O)/gen/hsa_calls.h: $(DECLARATIONS) lib/capture/gen/hsa.awk $(HSA) $(STAMP)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && echo '#include "$(HSA)"' | $(TO_GEN) -I$(dir $(HSA)) - > $@.i
	$(Q)LC_ALL=C awk -f $(DECLARATIONS) -f lib/capture/gen/hsa.awk $@.i $(HSA) > $@

$(O)/gen/hip_calls.h: $(DECLARATIONS) lib/capture/gen/hip.awk $(HIP) $(HIP_LIB) $(STAMP)
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && printf '#include <hip/%s>\n' hip_runtime_api.h \
	    amd_detail/amd_hip_runtime_pt_api.h hip_ext.h | $(TO_GEN) - > $@.i
	$(Q)nm -D --defined-only $(HIP_LIB) | LC_ALL=C sort -k 3 | \
	    LC_ALL=C awk -f $(DECLARATIONS) -f lib/capture/gen/hip.awk $@.i - > $@

$(call so-objects,$(wildcard lib/capture/hsa/*.c) tests/rocr/programs/hsa_mock.c): $(if $(HSA),$(O)/gen/hsa_calls.h)
$(call so-objects,$(wildcard lib/capture/hip/*.c)): $(if $(HIP),$(O)/gen/hip_calls.h)

$(CAPTURE_SO): $(call so-objects,$(CAPTURE_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SO_LDFLAGS) -Wl,-soname,$(@F) -o $@ $(filter %.o,$^)

define front-end-rule
$(O)/lib/rocline/$(call so-name,$(1)): $(call so-objects,$(sort $(wildcard lib/capture/$(1)/*.c)) $(SO_MORE_$(1))) $(wildcard lib/capture/$(1)/exports.map) $(CAPTURE_SO) $(STAMP)
	$$(call say,LD,$$@)
	$(Q)$(CC) $(SO_LDFLAGS) -Wl,-soname,$$(@F) -Wl,-rpath,'$$$$ORIGIN' \
	    $$(addprefix -Wl$$(comma)--version-script=,$$(filter %.map,$$^)) -o $$@ $$(filter %.o,$$^) \
	    $(CAPTURE_SO)
	$(Q)for l in $(SO_LINKS_$(1)); do ln -sf $$(@F) $$(@D)/$$$$l; done
endef
comma := ,
$(foreach f,$(FRONT_ENDS),$(eval $(call front-end-rule,$(f))))

pc-subst = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
    -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@PKGS@|$(PKGS)|'

$(PC): lib/rocline.pc.in lib/rocline.h Makefile
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $(pc-subst) $< > $@

# The installed header: what lib/rocline.h includes of ours stands in it.
$(HEADER): lib/rocline.h lib/base/status.h
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && sed -e '/^#include "base\/status.h"/{r lib/base/status.h' -e 'd;}' $< > $@

define tool-rule
$(O)/bin/$(call tool-name,$(1)): $(call objects,$(sort $(wildcard tools/$(1)/*.c)) $(COMMON_SRC)) $(LIB_A) $(STAMP)
	$$(call say,LD,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $(LIBS)
endef
$(foreach d,$(TOOL_DIRS),$(eval $(call tool-rule,$(d))))

define alias-rule
$(O)/bin/$(1): $(O)/bin/$(ALIAS_$(1))
	$$(call say,LN,$$@)
	$(Q)ln -sf $(ALIAS_$(1)) $$@ && touch -h $$@
endef
$(foreach a,$(ALIASES),$(eval $(call alias-rule,$(a))))

$(O)/share/bash/%: $(O)/bin/%
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $< --completion bash > $@

$(O)/share/zsh/_%: $(O)/bin/%
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $< --completion zsh > $@

$(O)/tests/test_%: $(OBJ)/tests/unit/test_%.o $(call objects,$(UNIT_COMMON)) $(LIB_A) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) -lcmocka $(LIBS)

$(O)/tests/rocpd-gen: $(call objects,$(GEN_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

$(BENCHES): $(O)/tests/%: $(OBJ)/tests/bench/%.o $(LIB_A) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

# They know nothing of the library: what they say is independent of it.
$(HELPERS): $(O)/tests/%: $(OBJ)/tests/tools/%.o $(STAMP)
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

$(call so-objects,$(PRELOAD_SRC)): SO_CFLAGS += -fvisibility=default
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

$(O)/tests/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(if $(FUZZER),,$(OBJ)/tests/fuzz/driver.o) $(LIB_A) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(FUZZER),-fsanitize=fuzzer) -o $@ $(filter %.o %.a,$^) $(LIBS)

$(O)/fixtures/.done: tests/fixtures/make-fixtures.sh $(wildcard tests/fixtures/*.sql) $(GEN)
	$(call say,GEN,$(@D))
	$(Q)mkdir -p $(@D) && tests/fixtures/make-fixtures.sh $(GEN) $(@D) && touch $@

# ---- tests -------------------------------------------------------------------------------------------

tests: $(UNITS) $(GEN) $(BENCHES) $(FUZZERS) $(HELPERS) $(TRACED) $(PRELOADS) $(KMT_SO) $(ROCR) ## test programs and the generator, without running them
fixtures: $(FIXTURES) ## databases for the tests, in build/fixtures

check: all tests $(FIXTURES) ## run all tests; the last line says how many passed and failed
	@tests/run.sh $(O)

check-bare: ## README's commands in a bare Debian 12 (needs root and debootstrap, else it is skipped)
	@tests/bare.sh $(O)

bench: all $(GEN) $(BENCHES) $(HELPERS) $(TRACED) ## measure against a bare read of the same input (ROWS=, RUNS=)
	@tests/bench/run.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3)
	@tests/bench/cold.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3)
	@tests/bench/text.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3)
	@tests/bench/capture.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3)
	@tests/bench/many.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3)
	@tests/bench/merge.sh $(O) $(or $(ROWS),1000000) $(or $(RUNS),3)

demo: all ## convert the shipped trace and say how to look at it
	@tests/demo.sh $(O)

fuzz: ## fuzz every target for FUZZ_TIME seconds (needs clang)
	@$(MAKE) CC=clang FUZZER=1 SAN=address,undefined O=$(O)/fuzz fuzz-run

fuzz-run: $(FUZZERS)
	@for f in $(notdir $(FUZZERS)); do \
	    mkdir -p $(O)/corpus/$$f tests/fuzz/corpus/$$f && echo "  FUZZ    $$f" && \
	    $(O)/tests/$$f -max_total_time=$(FUZZ_TIME) -artifact_prefix=$(O)/$$f- -rss_limit_mb=1024 \
	        $(O)/corpus/$$f tests/fuzz/corpus/$$f || exit 1; \
	done

coverage: ## after `make COVERAGE=1 check`: lines covered, file by file
	@for f in $(TOOL_SRC); do \
	    gcov -n -o $(OBJ)/$${f%.c}.o $$f 2>/dev/null | \
	        sed -n "/^File '$$(echo $$f | sed 's|/|.|g')'/{n;s|^Lines executed:\(.*\) of \(.*\)|\1 \2 $$f|p}"; \
	done | awk '{ n += $$2; c += $$1 * $$2 / 100; printf "%7s  %5d  %s\n", $$1, $$2, $$3 } \
	    END { if (n) printf "%6.2f%%  %5d  all\n", 100 * c / n, n }'

# ---- install -------------------------------------------------------------------------------------------

INSTALLED = $(PROGRAMS:%=$(BINDIR)/%) $(LIBDIR)/librocline.a $(LIBDIR)/librocline.so.$(VERSION) \
    $(LIBDIR)/librocline.so.$(SOMAJOR) $(LIBDIR)/librocline.so $(LIBDIR)/pkgconfig/rocline.pc \
    $(INCLUDEDIR)/rocline.h $(LIBDIR)/rocline/$(notdir $(CAPTURE_SO)) \
    $(foreach f,$(FRONT_ENDS),$(addprefix $(LIBDIR)/rocline/,$(call so-name,$(f)) $(SO_LINKS_$(f)))) \
    $(foreach m,$(MAN),$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
    $(PROGRAMS:%=$(BASHDIR)/%) $(PROGRAMS:%=$(ZSHDIR)/_%)

install: all ## into PREFIX (/usr/local), below DESTDIR
	$(INSTALL) -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))))
	$(INSTALL) -m 755 $(BINS) $(DESTDIR)$(BINDIR)
	$(foreach a,$(ALIASES),ln -sf $(ALIAS_$(a)) $(DESTDIR)$(BINDIR)/$(a) &&) :
	$(INSTALL) -m 644 $(LIB_A) $(LIB_SO) $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 644 $(CAPTURE_SO) $(FRONT_SOS) $(DESTDIR)$(LIBDIR)/rocline
	$(foreach f,$(FRONT_ENDS),$(foreach l,$(SO_LINKS_$(f)),\
	    ln -sf $(call so-name,$(f)) $(DESTDIR)$(LIBDIR)/rocline/$(l) &&)) :
	ln -sf librocline.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librocline.so.$(SOMAJOR)
	ln -sf librocline.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/librocline.so
	$(pc-subst) lib/rocline.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/rocline.pc
	$(INSTALL) -m 644 $(HEADER) $(DESTDIR)$(INCLUDEDIR)
	$(foreach m,$(MAN),$(INSTALL) -m 644 $(m) $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m))) &&) :
	$(INSTALL) -m 644 $(PROGRAMS:%=$(O)/share/bash/%) $(DESTDIR)$(BASHDIR)
	$(INSTALL) -m 644 $(PROGRAMS:%=$(O)/share/zsh/_%) $(DESTDIR)$(ZSHDIR)

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(LIBDIR)/rocline 2>/dev/null

# ---- upkeep --------------------------------------------------------------------------------------------

format: ## clang-format everything
	clang-format -i $(ALL_SRC) $(wildcard lib/*.h lib/*/*.h lib/*/*/*.h tools/*/*.h tests/*/*.h tests/*/*/*.h)

lint: $(if $(HSA),$(O)/gen/hsa_calls.h) $(if $(HIP),$(O)/gen/hip_calls.h) ## clang-tidy, cppcheck, shellcheck, mandoc: those that are installed
	@tests/lint.sh '$(ALL_CPPFLAGS) -I$(O)/gen -Itools -I. -std=c17 -D_GNU_SOURCE' '$(TOOL_SRC)' '$(SCRIPTS)' \
	    '$(MAN)'

clean: ## remove everything that was built
	rm -rf $(O)

help: ## this list
	@echo 'Targets:'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | sort | expand -t 14
	@echo 'Variables: O=build PREFIX=/usr/local DESTDIR= CC= CFLAGS= LDFLAGS= SAN=address,undefined'
	@echo '  COVERAGE=1 WERROR=0 V=1 LIB_SRC="files" (of the library) FUZZ_TIME=60 ROWS=1000000 RUNS=3'

print-%:
	@echo '$($*)'

FORCE:
.PHONY: all tests fixtures check check-bare bench demo fuzz fuzz-run coverage install uninstall deps format \
        lint clean help FORCE
# Objects are kept, or every test program would be compiled again.
.SECONDARY:

endif

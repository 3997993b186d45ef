# rocline: build, test, install. `make help` lists the targets. GNU make; no configure step.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# ---- packages ------------------------------------------------------------------------------------

DEBS_BUILD := gcc libc6-dev make pkg-config libsqlite3-dev libcjson-dev zlib1g-dev libdeflate-dev libzstd-dev liblz4-dev libcsv-dev libyaml-dev \
              libotf2-trace-dev libedit-dev libncurses-dev
# Not in every release: what they are for is left out without them.
DEBS_OPTIONAL := libdeflate-dev libzstd-dev liblz4-dev libotf2-trace-dev libedit-dev libncurses-dev otf2-tools tmux valgrind
DEBS_TEST := libcmocka-dev bats protobuf-compiler sqlite3 mandoc jq otf2-tools tmux valgrind
# The demo tests nothing.
DEBS := $(DEBS_BUILD)
ifneq ($(sort $(MAKECMDGOALS)),demo deps)
DEBS += $(DEBS_TEST)
endif
SUDO = $(if $(filter-out 0,$(shell id -u)),sudo)

deps: ## install the Debian packages that building and testing need
	@missing=$$(for p in $(DEBS); do \
	    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q ' installed' || echo $$p; done); \
	test -z "$$missing" || { \
	    $(SUDO) apt-get update -q && \
	    for p in $(DEBS_OPTIONAL); do \
	        case " $$(echo $$missing) " in *" $$p "*) apt-cache show $$p >/dev/null 2>&1 || { \
	            echo "make deps: this release has no $$p"; missing=$$(echo "$$missing" | grep -vx $$p); };; esac; \
	    done; \
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
DATADIR ?= $(PREFIX)/share/rocline
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
SAN ?=# address,undefined | thread | ...
COVERAGE ?=# 1: instrument for gcov
WERROR ?=# 1: warnings are errors, as in .ci/run
FUZZER ?=# 1: clang's libFuzzer; set by `make fuzz`
FUZZ_TIME ?= 60# seconds per fuzz target
ifeq ($(origin CC),default)
CC := gcc
endif
AR := $(if $(filter default undefined,$(origin AR)),ar,$(AR))
# The demo is to be there soon, where nothing has been built yet.
ifeq ($(MAKECMDGOALS)$(wildcard $(O)/lib/librocline.a),demo)
CFLAGS ?= -O2
endif
# -O3 takes 5 to 12 % less CPU time than -O2 (pftrace -z0, CSV, statistics of 10^6 rows, gcc 12).
CFLAGS ?= -O3 -g
INSTALL ?= install
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
EMULATOR ?=# runs programs of another machine while they are built; see tests/machines.sh
STATIC ?=# 1: tools that need no shared libraries; set by `make static`

# ---- flags ---------------------------------------------------------------------------------------

PKGS := sqlite3 libcjson zlib yaml-0.1
# Optional: twice the speed of zlib. LIBDEFLATE=0 builds without.
LIBDEFLATE ?= $(shell $(PKG_CONFIG) --exists libdeflate 2>/dev/null && echo 1)
ifeq ($(LIBDEFLATE),1)
PKGS += libdeflate
endif
# Optional: reads inputs compressed with gzip at three times the speed of zlib, and compresses at twice
# that of libdeflate where --compress fast asks for it. ISAL=0 builds without. Only two files are
# compiled for it. Debian has no static library of it.
ISAL ?= $(if $(filter 1,$(STATIC)),,$(shell $(PKG_CONFIG) --exists libisal 2>/dev/null && echo 1))
ifeq ($(ISAL),1)
PKGS += libisal
endif
# Optional: reads inputs compressed with zstd. ZSTD=0 builds without.
ZSTD ?= $(shell $(PKG_CONFIG) --exists libzstd 2>/dev/null && echo 1)
ifeq ($(ZSTD),1)
PKGS += libzstd
endif
# Optional: reads what databases compress with LZ4. LZ4=0 builds without.
LZ4 ?= $(shell $(PKG_CONFIG) --exists liblz4 2>/dev/null && echo 1)
ifeq ($(LZ4),1)
PKGS += liblz4
endif
# Optional: lines of the shell of rocline query can be edited, and are kept. EDIT=0 builds without.
# Only that file is compiled for it. It looks up names of users, which programs that are static do by
# shared libraries of the machine that they were built on: no such program has it.
EDIT ?= $(if $(filter 1,$(STATIC)),,$(shell $(PKG_CONFIG) --exists libedit 2>/dev/null && echo 1))
# Optional: the browser of rocstats view. NCURSES=0 builds without. Only its files are compiled for it.
NCURSES ?= $(shell $(PKG_CONFIG) --exists ncursesw 2>/dev/null && echo 1)
# Optional: rocpd2otf2 says so without. OTF2=0 builds without.
OTF2 ?= $(shell $(PKG_CONFIG) --atleast-version=3.0 otf2 2>/dev/null && echo 1)
ifeq ($(OTF2),1)
PKGS += otf2
endif
WARN := -Wall -Wextra -Wconversion -Wshadow $(if $(filter 1,$(WERROR)),-Werror)
INSTRUMENT := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
              $(if $(COVERAGE),--coverage -fprofile-update=atomic)
# Comparisons are shown to the fuzzer where a sanitizer takes most of the time. Without one, a target of
# databases runs three times as often without them, and its inputs are programs, not bytes to guess.
FUZZ_CFLAGS := -fsanitize=fuzzer-no-link $(if $(SAN),,-fno-sanitize-coverage=trace-cmp)
# One set of objects serves the static and the shared library: hidden symbols make -fPIC cheap.
ALL_CFLAGS := -std=c17 -D_GNU_SOURCE $(WARN) $(CFLAGS) -fPIC -fvisibility=hidden \
              -fno-semantic-interposition -pthread $(INSTRUMENT) \
              $(if $(FUZZER),$(FUZZ_CFLAGS))
ALL_CPPFLAGS := -Ilib $(if $(filter 1,$(LIBDEFLATE)),-DROCL_LIBDEFLATE) \
                $(if $(filter 1,$(ZSTD)),-DROCL_ZSTD) $(if $(filter 1,$(LZ4)),-DROCL_LZ4) $(if $(filter 1,$(OTF2)),-DROCL_OTF2) \
                $(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null) $(CPPFLAGS)
ALL_LDFLAGS := -pthread -Wl,--as-needed $(INSTRUMENT) $(LDFLAGS)
LIBS := $(or $(shell $(PKG_CONFIG) $(if $(STATIC),--static) --libs $(PKGS) 2>/dev/null),-lsqlite3 -lcjson -lz -lyaml $(if $(filter 1,$(LIBDEFLATE)),-ldeflate) $(if $(filter 1,$(ISAL)),-lisal) $(if $(filter 1,$(ZSTD)),-lzstd) $(if $(filter 1,$(LZ4)),-llz4) $(if $(filter 1,$(OTF2)),-lotf2)) -lcsv -lm

# Objects of different compilers and flags never meet; what is linked follows the flags by a stamp.
FLAGS := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) | $(ALL_LDFLAGS) $(LIBS)
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

LIB_SRC := $(sort $(filter-out lib/capture/% lib/team/mpi/% lib/query/extension.c \
           $(if $(filter 1,$(OTF2)),lib/sink/otf2/none.c,$(filter-out %/none.c,$(wildcard lib/sink/otf2/*.c))), \
           $(wildcard lib/*/*.c lib/*/*/*.c)))
# A tool is called like its folder, but for those that have a name here.
NAME_stats := rocstats
NAME_merge := rocmerge
NAME_record := rocrec
tool-name = $(or $(NAME_$(1)),$(1))
# Programs that are other names of one.
ALIASES := rpt
ALIAS_rpt := rtg2json
# AMD's ROCm has a rocpd, too: ours is built, and installed where ROCPD=1 asks for it.
ROCPD ?=
ALIAS_rocpd := rocline
BUILT_ALIASES := $(ALIASES) rocpd
ALIASES += $(if $(filter 1,$(ROCPD)),rocpd)
TOOL_DIRS := $(sort $(patsubst tools/%/main.c,%,$(wildcard tools/*/main.c)))
TOOLS := $(foreach d,$(TOOL_DIRS),$(call tool-name,$(d)))
COMMON_SRC := $(sort $(wildcard tools/common/*.c))
# Files that are for an optional package alone.
TOOL_LEFT_OUT := $(if $(filter 1,$(NCURSES)),,$(wildcard tools/stats/browser*.c))
# rocline calls all others.
TOOL_OWN_SRC = $(filter-out $(TOOL_LEFT_OUT),$(sort $(wildcard $(if $(filter rocline,$(1)),tools/*/*.c,tools/$(1)/*.c tools/common/*.c))))
TOOL_SRC = $(LIB_SRC) $(filter lib/capture/%,$(SO_SRC)) $(filter-out $(TOOL_LEFT_OUT),$(sort $(wildcard tools/*/*.c))) tools/main.c
# Manual pages share the options that several tools have: man/options/.
MAN := $(patsubst %,$(O)/%,$(sort $(wildcard man/*.[0-9])))
MAN_INSTALLED = $(if $(filter 1,$(ROCPD)),$(MAN),$(filter-out %/rocpd.1,$(MAN)))
SCRIPTS := .ci/run $(sort $(wildcard docs/*.sh lib/*/*/*.sh packaging/*.sh packaging/debian/tests/[bd]* tests/*.sh tests/*.bash tests/*/*.sh tests/*/*.bash))

objects = $(patsubst %.c,$(OBJ)/%.o,$(1))
# Tools and tests are linked with all objects; what is installed shows the public names only.
LIB_INTERNAL := $(OBJ)/librocline.a
LIB_A := $(O)/lib/librocline.a
LIB_SO := $(O)/lib/librocline.so.$(VERSION)
PC := $(O)/lib/rocline.pc
# The loadable extension of SQLite: what calls SQLite for its host is compiled for that once more.
SQLITE_SO := $(O)/lib/librocline-sqlite.so
SQLITE_HOST_SRC := $(addprefix lib/query/,extension.c functions.c plan.c vtab.c)
SQLITE_SO_SRC := $(filter-out $(addprefix lib/query/,columns.c functions.c plan.c query.c rocpd.c rows.c vtab.c),$(LIB_SRC))
HEADER := $(O)/include/rocline.h
PROGRAMS := $(TOOLS) $(ALIASES)
BINS := $(TOOLS:%=$(O)/bin/%)
ALIAS_BINS := $(BUILT_ALIASES:%=$(O)/bin/%)
COMPLETIONS := $(PROGRAMS:%=$(O)/share/bash/%) $(PROGRAMS:%=$(O)/share/zsh/_%) \
    $(PROGRAMS:%=$(O)/share/fish/%.fish)

# A static program would hold the library once more for each tool: it is one, and the others are links
# to it, under whose names it is called.
ifeq ($(STATIC),1)
STATIC_LINKS := $(filter-out rocline,$(TOOLS))
$(foreach t,$(STATIC_LINKS),$(eval ALIAS_$(t) := rocline))
ALIASES := $(STATIC_LINKS) $(ALIASES)
BUILT_ALIASES := $(STATIC_LINKS) $(BUILT_ALIASES)
TOOLS := rocline
TOOL_DIRS := rocline
BINS := $(TOOLS:%=$(O)/bin/%)
endif

include lib/capture/capture.mk

# A plugin for each MPI whose compiler is there; MPICC=cc on machines whose cc is one, as on a Cray.
MPICC ?=
MPIS := $(if $(MPICC),$(if $(shell echo '\#include <mpi.h>' | $(MPICC) -E -dM -xc - 2>/dev/null | grep OPEN_MPI),openmpi,mpich),$(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m)),$(m))))
MPI_SOS := $(MPIS:%=$(O)/lib/rocline/librocline-mpi-%.so)

PROGRAM_FILES := $(BINS) $(ALIAS_BINS) $(CAPTURE_SO) $(FRONT_SOS) $(MAN) $(COMPLETIONS)

all: $(PROGRAM_FILES) $(LIB_A) $(LIB_SO) $(SQLITE_SO) $(PC) $(HEADER) ## tools in build/bin, libraries in build/lib
ifneq ($(OTF2),1)
	@echo '  NOTE    built without libotf2 (3.0 or newer): rocpd2otf2 will only say so'
endif
ifneq ($(EDIT),1)
	@echo '  NOTE    built without libedit: lines in the shell of rocline query are not edited, nor kept'
endif
ifneq ($(NCURSES),1)
	@echo '  NOTE    built without ncurses: rocstats view shows nothing on the terminal, it only writes pages'
endif
ifeq ($(and $(HSA),$(HIP)),)
	@echo '  NOTE    built without$(if $(HSA),, HSA and)$(if $(HIP),, HIP): rocrec will not record them'
endif

# ---- rules -----------------------------------------------------------------------------------------

# Before anything is compiled: sentences about what is missing, if any.
SUPPORTED := $(OBJ)/.supported
$(SUPPORTED): packaging/needs.h
	@mkdir -p $(@D)
	@missing=$$($(CC) $(ALL_CPPFLAGS) -std=c17 -E -P packaging/needs.h) && test -z "$$missing" && touch $@ || { \
	    echo "$${missing:-$(CC) does not run}" | sed 's/^"/make: /; s/"$$//' >&2; exit 3; }

$(OBJ)/%.o: %.c | $(SUPPORTED)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(if $(filter tools/%,$<),-Itools) $(if $(filter tests/%,$<),-I.) \
	    $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

include tests/tests.mk

# The style sheet and the script of the HTML page, as C strings.
HTML_ASSETS := $(addprefix $(O)/gen/table/html/,page.css.h page.js.h page.js.sha256)
$(O)/gen/table/html/%.h: lib/table/html/% lib/table/html/embed.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && LC_ALL=C awk -f lib/table/html/embed.awk $< > $@
$(O)/gen/table/html/%.sha256: lib/table/html/% lib/table/html/embed.awk lib/table/html/hash.sh
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && LC_ALL=C awk -v raw=1 -f lib/table/html/embed.awk $< | lib/table/html/hash.sh > $@
$(O)/gen/page/%.h: lib/page/% lib/table/html/embed.awk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && LC_ALL=C awk -f lib/table/html/embed.awk $< > $@
$(O)/gen/page/%.sha256: lib/page/% lib/table/html/embed.awk lib/table/html/hash.sh
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && LC_ALL=C awk -v raw=1 -f lib/table/html/embed.awk $< | lib/table/html/hash.sh > $@
$(OBJ)/lib/table/html/page.o: $(HTML_ASSETS)
$(OBJ)/lib/page/page.o: $(addprefix $(O)/gen/page/timeline.,html.h css.h js.h js.sha256)
# The rules that are shipped.
$(O)/gen/model/kernel-classes.h: lib/model/kernel-classes
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && LC_ALL=C awk 'BEGIN { print "static const char shipped_rules[] =" } \
	    { gsub(/[\\"]/, "\\\\&"); print "    \"" $$0 "\\n\"" } END { print "    ;" }' $< > $@
$(OBJ)/lib/model/kernel_class.o: $(O)/gen/model/kernel-classes.h
$(addprefix $(OBJ)/lib/,table/html/page.o page/page.o model/kernel_class.o): ALL_CPPFLAGS += -I$(O)/gen
ifeq ($(ISAL),1)
$(addprefix $(OBJ)/lib/base/,deflate.o unpack.o): ALL_CPPFLAGS += -DROCL_ISAL
endif

ALL_SRC := $(TOOL_SRC) $(UNIT_SRC) $(UNIT_COMMON) $(GEN_SRC) $(FUZZ_SRC) \
           $(wildcard tests/fuzz/driver.c) $(BENCH_SRC) $(HELPER_SRC) $(PROPERTY_SRC) $(SO_SRC) $(TRACED_SRC) \
           $(KMT_SRC) $(ROCR_SRC) $(PRELOAD_SRC) $(EXAMPLE_SRC)
-include $(patsubst %.c,$(OBJ)/so/%.d,$(SO_SRC) $(TRACED_SRC) $(KMT_SRC) $(ROCR_SRC) $(PRELOAD_SRC))
-include $(patsubst %.c,$(OBJ)/%.d,$(ALL_SRC))
-include $(patsubst %.c,$(OBJ)/sqlite/%.d,$(SQLITE_HOST_SRC))

# The source lists are in the stamp as well: a deleted file must leave the libraries. Objects are kept
# for the three sets of flags that were used last.
$(STAMP): FORCE
	@mkdir -p $(@D) $(OBJ)
	@printf '%s\n' '$(FLAGS)' '$(ALL_SRC)' | cmp -s - $@ || { \
	    printf '%s\n' '$(FLAGS)' '$(ALL_SRC)' > $@ && touch $(OBJ) && \
	    ls -dt $(O)/obj/*/ | tail -n +4 | xargs -r rm -rf; }

$(LIB_INTERNAL): $(call objects,$(LIB_SRC)) $(STAMP)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(LIB_A): $(call objects,$(LIB_SRC)) $(STAMP)
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@
	$(Q)$(CC) -nostdlib -r -o $(OBJ)/rocline.o $(filter %.o,$^)
	$(Q)$(OBJCOPY) --localize-hidden $(OBJ)/rocline.o
	$(Q)$(AR) rcs $@ $(OBJ)/rocline.o

# Public names have a version, one for each soname. ROCL_API in rocline.h says which names these are.
$(LIB_SO): $(call objects,$(LIB_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && echo 'ROCLINE_$(SOMAJOR) { global: rocl_*; local: *; };' >$(O)/lib/rocline.map
	$(Q)$(CC) -shared -Wl,-soname,librocline.so.$(SOMAJOR) -Wl,--version-script=$(O)/lib/rocline.map $(if $(SAN)$(FUZZER),,-Wl,-z,defs) \
	    $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)
	$(Q)ln -sf librocline.so.$(VERSION) $(@D)/librocline.so.$(SOMAJOR)
	$(Q)ln -sf librocline.so.$(SOMAJOR) $(@D)/librocline.so

$(OBJ)/sqlite/%.o: %.c | $(SUPPORTED)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -DROCL_SQLITE_EXTENSION $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(SQLITE_SO): $(patsubst %.c,$(OBJ)/sqlite/%.o,$(SQLITE_HOST_SRC)) $(call objects,$(SQLITE_SO_SRC)) $(STAMP)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D) && echo '{ global: sqlite3_extension_init; local: *; };' > $(OBJ)/sqlite/exports
	$(Q)$(CC) -shared -Wl,--version-script=$(OBJ)/sqlite/exports $(if $(SAN)$(FUZZER),,-Wl,-z,defs) \
	    $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBS)

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
$(O)/bin/$(call tool-name,$(1)): $(OBJ)/tools/main/$(1).o $(call objects,$(call TOOL_OWN_SRC,$(1))) $(LIB_INTERNAL) $(STAMP)
	$$(call say,LD,$$@)
	$(Q)mkdir -p $$(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(STATIC),-static-pie) -o $$@ $$(filter %.o %.a,$$^) $$(LIBS)

$(OBJ)/tools/main/$(1).o: tools/main.c tools/common/programs.h tools/common/options.h | $(SUPPORTED)
	$(Q)mkdir -p $$(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Itools -DPROGRAM=$(call tool-name,$(1))_program $(ALL_CFLAGS) -c -o $$@ $$<
endef
$(foreach d,$(TOOL_DIRS),$(eval $(call tool-rule,$(d))))
ifeq ($(EDIT),1)
$(OBJ)/tools/rocline/shell.o: ALL_CPPFLAGS += -DROCL_LIBEDIT $(shell $(PKG_CONFIG) --cflags libedit)
$(O)/bin/rocline: LIBS += $(shell $(PKG_CONFIG) --libs libedit)
endif
ifeq ($(NCURSES),1)
$(OBJ)/tools/stats/view.o $(OBJ)/tools/stats/browser%.o: ALL_CPPFLAGS += -DROCL_NCURSES $(shell $(PKG_CONFIG) --cflags ncursesw)
$(O)/bin/rocline $(O)/bin/rocstats: LIBS += $(shell $(PKG_CONFIG) $(if $(STATIC),--static) --libs ncursesw)
endif

$(O)/lib/rocline/librocline-mpi-%.so: lib/team/mpi/plugin.c lib/team/transport.h $(STAMP)
	$(call say,MPICC,$@)
	$(Q)mkdir -p $(@D) && $(or $(MPICC),mpicc.$*) -Ilib $(SO_CFLAGS) -Wno-conversion -shared $(LDFLAGS) -o $@ $<

mpi: $(MPI_SOS) ## plugins for teams of Open MPI and MPICH, where mpicc is (MPICC=cc: for that one)
	$(if $(MPI_SOS),,@echo 'make mpi: neither mpicc.openmpi nor mpicc.mpich is here; MPICC= names another' >&2; exit 3)

install-mpi: mpi ## these plugins
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)/rocline
	$(INSTALL) -m 644 $(MPI_SOS) $(DESTDIR)$(LIBDIR)/rocline

define alias-rule
$(O)/bin/$(1): $(O)/bin/$(ALIAS_$(1))
	$$(call say,LN,$$@)
	$(Q)ln -sf $(ALIAS_$(1)) $$@ && touch -h $$@
endef
$(foreach a,$(BUILT_ALIASES),$(eval $(call alias-rule,$(a))))

# Debian's folder for the libraries of this machine, below lib/; empty where there is none.
$(OBJ)/tools/record/child.o $(OBJ)/lib/team/launched.o: ALL_CPPFLAGS += -DMULTIARCH='"$(shell $(CC) -print-multiarch 2>/dev/null)"'

$(O)/man/%: man/% $(wildcard man/options/*)
	$(Q)mkdir -p $(@D) && awk -f man/options/expand.awk $< > $@

$(O)/share/bash/%: $(O)/bin/%
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $(EMULATOR) $< --completion bash > $@

$(O)/share/zsh/_%: $(O)/bin/%
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $(EMULATOR) $< --completion zsh > $@

$(O)/share/fish/%.fish: $(O)/bin/%
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D) && $(EMULATOR) $< --completion fish > $@

# ---- install -------------------------------------------------------------------------------------------

# What rocrec loads lies below the tools, wherever that is; the library is for programs of others.
INSTALLED_TOOLS = $(PROGRAMS:%=$(BINDIR)/%) $(LIBDIR)/rocline/$(notdir $(CAPTURE_SO)) \
    $(foreach f,$(FRONT_ENDS),$(addprefix $(LIBDIR)/rocline/,$(call so-name,$(f)) $(SO_LINKS_$(f)))) \
    $(foreach m,$(MAN_INSTALLED),$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
    $(PROGRAMS:%=$(BASHDIR)/%) $(PROGRAMS:%=$(ZSHDIR)/_%) $(PROGRAMS:%=$(FISHDIR)/%.fish) \
    $(DATADIR)/kernel-classes
INSTALLED_LIBRARY = $(LIBDIR)/librocline.a $(LIBDIR)/librocline.so.$(VERSION) \
    $(LIBDIR)/librocline.so.$(SOMAJOR) $(LIBDIR)/librocline.so $(LIBDIR)/librocline-sqlite.so \
    $(LIBDIR)/pkgconfig/rocline.pc $(INCLUDEDIR)/rocline.h
INSTALLED = $(INSTALLED_TOOLS) $(INSTALLED_LIBRARY)

install: install-tools install-library ## into PREFIX (/usr/local), below DESTDIR

install-tools: $(PROGRAM_FILES) ## the tools, manual pages, completion and what rocrec loads
	$(INSTALL) -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED_TOOLS))))
	$(INSTALL) -m 755 $(BINS) $(DESTDIR)$(BINDIR)
	$(foreach a,$(ALIASES),ln -sf $(ALIAS_$(a)) $(DESTDIR)$(BINDIR)/$(a) &&) :
	$(INSTALL) -m 644 $(CAPTURE_SO) $(FRONT_SOS) $(DESTDIR)$(LIBDIR)/rocline
	$(foreach f,$(FRONT_ENDS),$(foreach l,$(SO_LINKS_$(f)),\
	    ln -sf $(call so-name,$(f)) $(DESTDIR)$(LIBDIR)/rocline/$(l) &&)) :
	$(foreach m,$(MAN_INSTALLED),$(INSTALL) -m 644 $(m) $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(m))) &&) :
	$(INSTALL) -m 644 $(PROGRAMS:%=$(O)/share/bash/%) $(DESTDIR)$(BASHDIR)
	$(INSTALL) -m 644 $(PROGRAMS:%=$(O)/share/zsh/_%) $(DESTDIR)$(ZSHDIR)
	$(INSTALL) -m 644 $(PROGRAMS:%=$(O)/share/fish/%.fish) $(DESTDIR)$(FISHDIR)
	$(INSTALL) -m 644 lib/model/kernel-classes $(DESTDIR)$(DATADIR)

install-library: $(LIB_A) $(LIB_SO) $(SQLITE_SO) $(PC) $(HEADER) ## the library, its header and what pkg-config needs
	$(INSTALL) -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED_LIBRARY))))
	$(INSTALL) -m 644 $(LIB_A) $(LIB_SO) $(SQLITE_SO) $(DESTDIR)$(LIBDIR)
	ln -sf librocline.so.$(VERSION) $(DESTDIR)$(LIBDIR)/librocline.so.$(SOMAJOR)
	ln -sf librocline.so.$(SOMAJOR) $(DESTDIR)$(LIBDIR)/librocline.so
	$(pc-subst) lib/rocline.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/rocline.pc
	$(INSTALL) -m 644 $(HEADER) $(DESTDIR)$(INCLUDEDIR)

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(LIBDIR)/rocline 2>/dev/null

DEMO_TOOLS := $(addprefix $(O)/bin/,rocpd2pftrace rocpd2csv rocstats)
demo: ## convert the shipped trace and say how to look at it; builds what it needs on all cores
	+@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(nproc)) CFLAGS='$(CFLAGS)' $(DEMO_TOOLS)
	@tests/demo.sh $(O)

include packaging/packaging.mk

# ---- upkeep --------------------------------------------------------------------------------------------

format: ## clang-format everything
	clang-format -i $(ALL_SRC) $(wildcard lib/*.h lib/*/*.h lib/*/*/*.h tools/*/*.h tests/*/*.h tests/*/*/*.h)

lint: $(HTML_ASSETS) $(if $(HSA),$(O)/gen/hsa_calls.h) $(if $(HIP),$(O)/gen/hip_calls.h) ## clang-tidy, cppcheck, shellcheck, node, mandoc: those that are installed
	@tests/lint.sh '$(ALL_CPPFLAGS) -I$(O)/gen -Itools -I. -std=c17 -D_GNU_SOURCE' '$(TOOL_SRC)' '$(SCRIPTS)' \
	    '$(MAN)'

# Pages link to each other, and the index to all of them.
html: $(MAN) ## the manual pages for browsers, in build/html; needs mandoc
	@command -v mandoc >/dev/null || { echo 'make html: needs the package mandoc' >&2; exit 3; }
	$(call say,GEN,$(O)/html)
	$(Q)mkdir -p $(O)/html && for m in $(MAN); do f=$${m##*/}; \
	    mandoc -T html -O man=%N.%S.html "$$m" > "$(O)/html/$$f.html" || exit 1; done
	$(Q){ echo '<!doctype html><html lang="en"><meta charset="utf-8"><title>rocline</title><h1>rocline</h1><ul>'; \
	    for m in $(MAN); do f=$${m##*/}; \
	        echo "<li><a href=\"$$f.html\">$${f%.*}($${f##*.})</a>: $$(sed -n 's/^\.Nd //p' "$$m")</li>"; done; \
	    echo '</ul></html>'; } > $(O)/html/index.html

pictures: all ## the pictures of README.md, in docs/; needs chromium
	@docs/pictures.sh $(O)

compile_commands.json: FORCE ## for clangd and other tools that read C
	@for f in $(filter-out tests/capture/%,$(ALL_SRC)); do \
	    printf '  {"directory": "%s", "file": "%s", "command": "%s -c %s"}\n' '$(CURDIR)' "$$f" \
	        '$(subst ",\",$(CC) $(ALL_CPPFLAGS) -I$(O)/gen $(ROCM_CPPFLAGS) -Itools -I. $(ALL_CFLAGS))' "$$f"; \
	done | sed '$$!s/$$/,/; 1i[' > $@ && echo ']' >> $@

clean: ## remove everything that was built
	rm -rf $(O)

help: ## this list
	@echo 'Targets:'
	@sed -n 's/^\([a-z_.-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile tests/tests.mk packaging/packaging.mk | sort | expand -t 25
	@echo 'Variables: O=build PREFIX=/usr/local DESTDIR= CC= CFLAGS= LDFLAGS= SAN=address,undefined'
	@echo '  ROCPD=1 COVERAGE=1 WERROR=1 V=1 LIB_SRC="files" (of the library) FUZZ_TIME=60 ROWS=1000000 RUNS=3'

print-%:
	@echo '$($*)'

FORCE:
.PHONY: all mpi install-mpi tests units fixtures check soak check-tsan check-bare check-machines bench bench-scale demo fuzz fuzz-run coverage install install-tools install-library uninstall deps format html pictures \
        lint clean help FORCE
# Objects are kept, or every test program would be compiled again.
.SECONDARY:

endif

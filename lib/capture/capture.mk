# The libraries that are loaded into programs to record them: the capture core, and a front end for each
# folder here; those for HSA and HIP where their headers are installed.

# Optional: HSA and HIP of ROCm, or of Debian's libhsa-runtime-dev and libamdhip64-dev. ROCM= builds
# without.
ROCM ?= $(firstword $(patsubst %/include/hsa/hsa_api_trace.h,%,\
          $(wildcard /opt/rocm/include/hsa/hsa_api_trace.h /usr/include/hsa/hsa_api_trace.h)))
HSA := $(if $(ROCM),$(wildcard $(ROCM)/include/hsa/hsa_api_trace.h))
HIP_LIB := $(if $(HSA),$(firstword $(wildcard $(ROCM)/lib/libamdhip64.so $(ROCM)/lib/*/libamdhip64.so)))
HIP := $(if $(HIP_LIB),$(wildcard $(ROCM)/include/hip/hip_runtime_api.h))

ROCM_CPPFLAGS := $(if $(filter-out /usr,$(ROCM)),-isystem $(ROCM)/include)

# Programs that are traced are not instrumented, so neither is what they load. It stays loaded, and
# needs nothing but libc.
SO_CFLAGS := $(filter-out $(INSTRUMENT) -fsanitize=%,$(ALL_CFLAGS)) -fno-plt -ftls-model=initial-exec
SO_LDFLAGS := -shared -pthread -Wl,--as-needed -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro \
              $(LDFLAGS)

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

SO_SRC := $(CAPTURE_SRC) $(foreach f,$(FRONT_ENDS),$(sort $(wildcard lib/capture/$(f)/*.c)))

CAPTURE_SO := $(O)/lib/rocline/librocline-capture.so.$(SOMAJOR)
FRONT_SOS := $(foreach f,$(FRONT_ENDS),$(O)/lib/rocline/$(call so-name,$(f)))

so-objects = $(patsubst %.c,$(OBJ)/so/%.o,$(1))

$(OBJ)/so/%.o: %.c lib/capture/capture.mk | $(SUPPORTED)
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

comma := ,
define front-end-rule
$(O)/lib/rocline/$(call so-name,$(1)): $(call so-objects,$(sort $(wildcard lib/capture/$(1)/*.c)) $(SO_MORE_$(1))) $(wildcard lib/capture/$(1)/exports.map) $(CAPTURE_SO) $(STAMP)
	$$(call say,LD,$$@)
	$(Q)$(CC) $(SO_LDFLAGS) -Wl,-soname,$$(@F) -Wl,-rpath,'$$$$ORIGIN' \
	    $$(addprefix -Wl$$(comma)--version-script=,$$(filter %.map,$$^)) -o $$@ $$(filter %.o,$$^) \
	    $(CAPTURE_SO)
	$(Q)for l in $(SO_LINKS_$(1)); do ln -sf $$(@F) $$(@D)/$$$$l; done
endef
$(foreach f,$(FRONT_ENDS),$(eval $(call front-end-rule,$(f))))

# A static program cannot load the sampler: it has it.
ifeq ($(STATIC),1)
$(O)/bin/rocline: $(call so-objects,$(filter-out $(GUARD_SRC) lib/base/crc32c.c,$(CAPTURE_SRC)) $(wildcard lib/capture/sample/*.c))
$(OBJ)/tools/record/sample.o $(OBJ)/lib/query/functions.o: ALL_CPPFLAGS += -DROCL_STATIC
endif

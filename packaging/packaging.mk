# What is made of a release: the tarball, and packages of it. The targets are in `make help`.

DIST := rocline-$(VERSION)
TARBALL := $(O)/$(DIST).tar.gz

# Files as they are in the checkout, of those that git knows; the same bytes each time.
dist: ## a tarball of the files that git knows, in build/
	@git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { \
	    echo 'make dist: this is no git checkout; a tarball is made of one' >&2; exit 3; }
	$(call say,TAR,$(TARBALL))
	$(Q)mkdir -p $(O) && git ls-files -z | while IFS= read -r -d '' f; do \
	    [ ! -e "$$f" ] || printf '%s\0' "$$f"; done | LC_ALL=C sort -z | \
	    tar -c --null -T - --transform 's,^,$(DIST)/,' --owner=0 --group=0 --numeric-owner \
	        --mode=go=rX,u+rw --mtime="@$$(git log -1 --format=%ct)" --format=gnu | \
	    gzip -9n > $(TARBALL).new && mv $(TARBALL).new $(TARBALL)
dist: SHELL := bash

# NOCHECK=1 leaves the tests out.
DEB_DIR := $(O)/deb
deb: dist ## Debian packages, in build/deb; needs debhelper. NOCHECK=1: without tests
	@command -v dh >/dev/null || { echo 'make deb: needs the packages debhelper and dpkg-dev' >&2; exit 3; }
	@v=$$(dpkg-parsechangelog -l packaging/debian/changelog -S Version); \
	    [ "$${v%-*}" = '$(VERSION)' ] || { \
	    echo "make deb: packaging/debian/changelog is of $$v, lib/rocline.h of $(VERSION)" >&2; exit 3; }
	$(Q)rm -rf $(DEB_DIR) && mkdir -p $(DEB_DIR)
	$(Q)cp $(TARBALL) $(DEB_DIR)/rocline_$(VERSION).orig.tar.gz
	$(Q)tar -xf $(TARBALL) -C $(DEB_DIR) && cp -r packaging/debian $(DEB_DIR)/$(DIST)/debian
	$(Q)cd $(DEB_DIR)/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
	    DEB_BUILD_OPTIONS="parallel=$$(nproc) $(if $(filter 1,$(NOCHECK)),nocheck) $$DEB_BUILD_OPTIONS" \
	    dpkg-buildpackage -us -uc
	$(Q)rm -rf $(DEB_DIR)/$(DIST)
	@ls -l $(DEB_DIR)/*.deb

check-deb: dist ## build them in a clean chroot, twice, and test them in another (SYSTEMS="bookworm trixie"); needs root and debootstrap
	@NOCHECK=$(NOCHECK) SYSTEMS='$(SYSTEMS)' packaging/check-deb.sh $(O)

# Tools for machines on which nothing can be installed. What rocrec loads into programs stays shared,
# and needs nothing but libc. CJSON_SOURCE=: a folder with cJSON.c, where no libcjson.a is and apt-get cannot load its source.
STATIC_NAME := rocline-$(VERSION)-linux-$(shell uname -m)
STATIC_DIR := $(O)/static/$(STATIC_NAME)
CJSON_SOURCE ?=
static: ## tools without shared libraries, in build/static: for login nodes
	$(Q)case $$($(CC) -print-file-name=libcjson.a) in /*) ;; *) \
	    [ -e $(O)/static/cjson/libcjson.a ] || CC='$(CC)' packaging/libcjson.sh $(O)/static/cjson $(CJSON_SOURCE);; esac
	$(Q)rm -rf $(STATIC_DIR) && mkdir -p $(STATIC_DIR)/share/doc/rocline
	+$(Q)$(MAKE) --no-print-directory O=$(O)/static/build STATIC=1 LDFLAGS='-L$(CURDIR)/$(O)/static/cjson $(LDFLAGS)' \
	    DESTDIR= PREFIX=$(CURDIR)/$(STATIC_DIR) install-tools >$(O)/static/log 2>&1 || { tail -n 20 $(O)/static/log >&2; exit 1; }
	$(Q)strip $(STATIC_DIR)/bin/* 2>/dev/null; cp README.md LICENSE CHANGELOG.md tests/fixtures/demo.db $(STATIC_DIR)/share/doc/rocline
	$(Q)tar -C $(O)/static -c $(STATIC_NAME) --owner=0 --group=0 --sort=name --mtime="@$${SOURCE_DATE_EPOCH:-0}" | gzip -9n >$(O)/static/$(STATIC_NAME).tar.gz
	@du -sh $(STATIC_DIR) $(O)/static/$(STATIC_NAME).tar.gz

check-static: static all $(O)/tests/old_kernel ## run them in a root that holds nothing else, as on Linux 4.18; needs root
	@packaging/check-static.sh $(STATIC_DIR) $(O)

TAG ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
abi-check: $(LIB_SO) ## compare the library with that of the last tag, or TAG=, any commit; needs abidiff
	@command -v abidiff >/dev/null || { echo 'make abi-check: needs abidiff, of the package abigail-tools' >&2; exit 3; }
	+@$(if $(TAG),packaging/abi-check.sh $(O) $(TAG),echo 'abi-check: there is no tag to compare with; give TAG=, any commit')

# What has to pass before a release; each part says itself what it needs.
release-check: ## all of it: tests in the tarball outside git, lint, packages, static tools, the ABI
	+$(MAKE) lint
	+$(MAKE) dist
	rm -rf $(O)/release && mkdir -p $(O)/release && tar -xf $(TARBALL) -C $(O)/release
	+env -u MAKELEVEL $(MAKE) -C $(O)/release/$(DIST) -j$$(nproc) WERROR=1 O=build check
	+$(MAKE) deb NOCHECK=1
	! command -v lintian >/dev/null || lintian --fail-on error,warning $(DEB_DIR)/*.changes
	+$(MAKE) check-static
	+$(MAKE) abi-check
	+$(MAKE) check-deb NOCHECK=1
	+$(MAKE) check-machines
	+$(MAKE) check-bare SYSTEMS='bookworm trixie jammy noble' ONLY=demo

.PHONY: dist deb check-deb static check-static abi-check release-check

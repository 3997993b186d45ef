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

.PHONY: dist deb

#!/usr/bin/env bats
# The version stands in lib/rocline.h; whatever else has to name it says the same.

load helper

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    version=$(sed -n 's/^#define ROCLINE_VERSION "\([0-9.]*\)"/\1/p' lib/rocline.h)
}

@test "files of packages name the version of lib/rocline.h" {
    [ -n "$version" ]
    grep -q "^rocline ($version-" packaging/debian/changelog || fail "packaging/debian/changelog"
    grep -q "^version: $version\$" CITATION.cff || fail "CITATION.cff"
    grep -q "version(\"$version\")" packaging/spack/spack_repo/rocline/packages/rocline/package.py || fail "packaging/spack"
    grep -q "^version = '$version'" packaging/easybuild/rocline-"$version"-*.eb || fail "packaging/easybuild"
    grep -q "/$version\$" packaging/modulefile || fail "packaging/modulefile"
    grep -q "^## $version " CHANGELOG.md || fail "CHANGELOG.md"
}

@test "packages of Debian are built with what make deps installs" {
    for package in $(sed -n 's/^ *\(lib[a-z0-9-]*-dev\),$/\1/p' packaging/debian/control); do
        # Without them the parts that want them are left out, as make all says.
        case $package in libhsa-runtime-dev | libamdhip64-dev | libopenmpi-dev | libmpich-dev) continue ;; esac
        make -s print-DEBS | grep -qw -- "$package" || fail "$package is not in DEBS"
    done
    for package in $(make -s print-DEBS | tr ' ' '\n' | grep -- '-dev$'); do
        case $package in libc6-dev) continue ;; esac
        grep -q "^ *$package" packaging/debian/control || fail "$package is not in packaging/debian/control"
    done
}

"""libcsv, which Spack's own packages do not have."""

from spack.package import *


class Libcsv(AutotoolsPackage):
    """A small library that parses and writes CSV in pure ANSI C."""

    homepage = "https://github.com/rgamble/libcsv"
    git = "https://github.com/rgamble/libcsv.git"

    license("LGPL-2.1-or-later")

    version("3.0.3", tag="3.0.3")

    depends_on("c", type="build")
    depends_on("autoconf", type="build")
    depends_on("automake", type="build")
    depends_on("libtool", type="build")

    def autoreconf(self, spec, prefix):
        Executable("autoreconf")("-fi")

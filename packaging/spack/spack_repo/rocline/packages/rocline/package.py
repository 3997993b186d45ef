# `make dist` makes the tarball. In the folder where it is:
#     spack repo add PATH/packaging/spack/spack_repo/rocline
#     spack install --no-checksum rocline

import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Rocline(MakefilePackage):
    """Convert, merge and analyse traces of programs on AMD GPUs, offline: rocpd databases and what
    other profilers write, to Perfetto traces, OTF2 archives, JSON, CSV and statistics."""

    url = f"file://{os.getcwd()}/rocline-0.1.0.tar.gz"
    manual_download = True

    license("MIT")

    version("0.1.0")

    variant("otf2", default=True, description="Write OTF2 archives")
    variant("libdeflate", default=True, description="Compress with libdeflate: twice zlib's speed")
    variant("isal", default=False, description="gzip with ISA-L: three times zlib's speed")
    variant("zstd", default=True, description="Read inputs that are compressed with zstd")
    variant("lz4", default=True, description="Read what databases compress with LZ4")
    variant("libedit", default=True, description="Edit lines in the shell of rocline query")
    variant("ncurses", default=True, description="Show traces on the terminal: rocstats view")
    variant("rocm", default=False, description="Record calls of HSA and HIP")

    depends_on("c", type="build")
    depends_on("gmake@4.3:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite@3.37:")
    depends_on("cjson")
    depends_on("libcsv")
    depends_on("libyaml")
    depends_on("zlib-api")
    depends_on("libdeflate", when="+libdeflate")
    depends_on("isa-l", when="+isal")
    depends_on("zstd", when="+zstd")
    depends_on("lz4", when="+lz4")
    depends_on("otf2@3:", when="+otf2")
    depends_on("libedit", when="+libedit")
    depends_on("ncurses", when="+ncurses")
    depends_on("hsa-rocr-dev", when="+rocm")
    depends_on("hip", when="+rocm")

    @property
    def build_targets(self):
        return ["all", *self.settings()]

    @property
    def install_targets(self):
        return ["install", *self.settings()]

    def settings(self):
        spec = self.spec
        return [
            f"PREFIX={self.prefix}",
            f"CC={self.compiler.cc}",
            f"OTF2={int('+otf2' in spec)}",
            f"LIBDEFLATE={int('+libdeflate' in spec)}",
            f"ISAL={int('+isal' in spec)}",
            f"ZSTD={int('+zstd' in spec)}",
            f"LZ4={int('+lz4' in spec)}",
            f"EDIT={int('+libedit' in spec)}",
            f"NCURSES={int('+ncurses' in spec)}",
            "LTTNG=0",
            f"ROCM={spec['hip'].prefix if '+rocm' in spec else ''}",
        ]

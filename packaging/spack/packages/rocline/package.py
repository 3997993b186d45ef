"""rocline. Add these packages with `spack repo add packaging/spack`; `make dist` makes the tarball."""

from spack.package import *


class Rocline(MakefilePackage):
    """Convert, merge and analyse traces of programs on AMD GPUs, offline: rocpd databases and what
    other profilers write, to Perfetto traces, OTF2 archives, JSON, CSV and statistics."""

    # Spack looks for rocline-VERSION.tar.gz in the current folder and in mirrors.
    manual_download = True

    license("MIT")

    version("0.1.0")

    variant("otf2", default=True, description="Write OTF2 archives")
    variant("libdeflate", default=True, description="Compress with libdeflate: twice zlib's speed")
    variant("isal", default=False, description="Read gzip with ISA-L: three times zlib's speed")
    variant("zstd", default=True, description="Read inputs that are compressed with zstd")
    variant("rocm", default=False, description="Record calls of HSA and HIP")

    depends_on("c", type="build")
    depends_on("gmake@4.3:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite@3.38:")
    depends_on("cjson")
    depends_on("libcsv")
    depends_on("libyaml")
    depends_on("zlib-api")
    depends_on("libdeflate", when="+libdeflate")
    depends_on("isa-l", when="+isal")
    depends_on("zstd", when="+zstd")
    depends_on("otf2@3:", when="+otf2")
    depends_on("hsa-rocr-dev", when="+rocm")
    depends_on("hip", when="+rocm")

    def settings(self):
        spec = self.spec
        return [
            f"PREFIX={self.prefix}",
            f"CC={spack_cc}",
            f"OTF2={1 if '+otf2' in spec else 0}",
            f"LIBDEFLATE={1 if '+libdeflate' in spec else 0}",
            f"ISAL={1 if '+isal' in spec else 0}",
            f"ZSTD={1 if '+zstd' in spec else 0}",
            f"ROCM={spec['hip'].prefix if '+rocm' in spec else ''}",
        ]

    def build(self, spec, prefix):
        make("all", *self.settings())

    def install(self, spec, prefix):
        make("install", *self.settings())

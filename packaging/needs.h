/* What a compiler and a machine must have. The preprocessor reads this before anything is compiled;
 * each line that is left is a sentence about what is missing. */
#if !defined __GNUC__
"rocline is built with gcc or clang"
#elif (defined __clang__ && __clang_major__ < 11) || (!defined __clang__ && __GNUC__ < 10)
"rocline is built with gcc 10 or clang 11, or newer"
#endif
#ifndef __linux__
"rocline runs on Linux only: it reads and records what the kernel says of processes"
#endif
#ifndef __SIZEOF_INT128__
"rocline needs a 64-bit machine: traces are larger than what 32 bits address, and its exact sums have 128 bits"
#endif
#if !__has_include(<sqlite3.h>)
"sqlite3.h is missing: the package libsqlite3-dev; `make deps` installs all that is needed on Debian and Ubuntu"
#endif
#if !__has_include(<cjson/cJSON.h>)
"cjson/cJSON.h is missing: the package libcjson-dev; `make deps` installs all that is needed on Debian and Ubuntu"
#endif
#if !__has_include(<zlib.h>)
"zlib.h is missing: the package zlib1g-dev; `make deps` installs all that is needed on Debian and Ubuntu"
#endif
#if !__has_include(<csv.h>)
"csv.h is missing: the package libcsv-dev; `make deps` installs all that is needed on Debian and Ubuntu"
#endif
#if !__has_include(<yaml.h>)
"yaml.h is missing: the package libyaml-dev; `make deps` installs all that is needed on Debian and Ubuntu"
#endif

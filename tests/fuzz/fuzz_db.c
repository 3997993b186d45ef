/* Fuzz target: databases with damaged rows and pages, into all outputs that are streams. An input
 * is four bytes that choose the world, the output and options, and a program that changes the world
 * (see image.h). Tables and columns stay as they are, so that SQLite has nothing to explain and
 * thousands of databases are converted in a second; fuzz_db_whole damages schemas as well. */
#include "tests/fuzz/db.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The last one came late: bytes below 225 keep the meaning that they have in the corpus. */
static const output *choose_stream(unsigned byte)
{
    return &streams[byte < 225 ? byte % (STREAMS - 1) : STREAMS - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    if (!image_fd) {
        prepare_worlds();
        image_keeps_schemas = true;
    }
    const rocl_options o = choose_options(data[3], data[2]);
    make_input(data[0], data + 4, size - 4);
    convert(choose_stream(data[1]), data[2], &o, false);
    return 0;
}

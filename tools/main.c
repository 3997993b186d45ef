/* The main program of every tool: PROGRAM is its row in common/programs.h, set by the Makefile. */
#include "common/programs.h"

#include <malloc.h>

/* What is freed between inputs is kept for the next one: to give memory back and get it again takes
 * a fifth of the time of a small input. The threshold that grows by itself is not used any more
 * then. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 256 << 10);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

int main(int argc, char **argv)
{
    keep_freed_memory();
    return PROGRAM.run(&PROGRAM, argc, argv);
}

/* The main program of every tool: PROGRAM is its row in common/programs.h, set by the Makefile. */
#include "common/common.h"
#include "common/programs.h"

int main(int argc, char **argv)
{
    return common_end(PROGRAM.run(&PROGRAM, argc, argv));
}

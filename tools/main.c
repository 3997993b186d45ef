/* The main program of every tool: PROGRAM is its row in common/programs.h, set by the Makefile. */
#include "common/programs.h"

int main(int argc, char **argv)
{
    return PROGRAM.run(&PROGRAM, argc, argv);
}

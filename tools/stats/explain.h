/* rocstats --explain: what the rules of findings mean. */
#pragma once

/* The RULE of --explain in a command line, "" where nothing follows it; NULL: it has none. */
const char *find_explained(int argc, char **argv);
/* Prints the documentation of a rule, or, for "list", the names of all. Returns the exit code. */
int explain_rule(const char *called, const char *name);

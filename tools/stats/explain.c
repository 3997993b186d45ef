#include "stats/explain.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/common.h"

const char *find_explained(int argc, char **argv)
{
    static const char word[] = "--explain";
    const size_t n = sizeof word - 1;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strncmp(argv[i], word, n) && (!argv[i][n] || argv[i][n] == '='))
            return argv[i][n] ? argv[i] + n + 1 : i + 1 < argc ? argv[i + 1] : "";
    return NULL;
}

static void list_rules(FILE *to)
{
    const rocl_finding_rule *r;
    for (size_t i = 0; (r = rocl_finding_rule_at(i)); i++)
        fprintf(to, "%-22s %-14s %s\n", r->name, r->report, r->threshold);
}

/* In any case, with blanks for hyphens. */
static bool is_rule(const char *name, const char *given)
{
    for (; *name && *given; name++, given++)
        if (*name != tolower((unsigned char)*given) && !(*name == '-' && *given == ' '))
            return false;
    return !*name && !*given;
}

int explain_rule(const char *called, const char *name)
{
    const rocl_finding_rule *r;
    msg_init(called);
    if (!strcmp(name, "list")) {
        list_rules(stdout);
        return finish_stdout();
    }
    for (size_t i = 0; (r = rocl_finding_rule_at(i)); i++) {
        if (!is_rule(r->name, name))
            continue;
        printf("%s\n  meaning    %s\n  report     rocstats %s --findings\n  threshold  %s\n"
               "  formula    %s\n  try        %s\n",
               r->name, r->meaning, r->report, r->threshold, r->formula, r->remedy);
        return finish_stdout();
    }
    usage_error("--explain: no rule of findings is called \"%s\"; these are:", name);
    list_rules(stderr);
    return 2;
}

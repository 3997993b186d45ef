/* --team: the processes that make one result together. */
#pragma once

#include "common/common.h"

/* Call it before reading the command line: only one rank of a possible team reports errors in
 * it. */
void team_mute_others(const program *p, int argc, char **argv);

/* -1, or the exit code of a usage error: what --team is given. */
int team_check(const common *c);

/* Forms the team that c->team asks for, or that a launcher has started; *team NULL: none. With N
 * processes of this machine it returns in each of them. */
rocl_status team_form(const common *c, rocl_team **team, rocl_error *err);
/* There will be none of this process: those that it starts see to that. */
void team_settle(void);

/* A process ends with this code, and the team, if there is one, has not run. After a failure the
 * others do not wait for it. */
void team_end(rocl_team *team, int code);

/* --team: the processes that make one result together. */
#include "common/team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *tool;
static int arg_count;
static char **args;

static bool may_be_launched, asked_for_mpi; /* what the command line says, as far as it is known */
static bool is_settled;

void team_mute_others(const program *p, int argc, char **argv)
{
    tool = p->tool;
    arg_count = argc;
    args = argv;
    for (const opt_group *const *g = p->groups; g && *g; g++)
        may_be_launched |= *g == &team_group;
    for (int i = 1; i < argc; i++) {
        const size_t n = strlen("--team");
        if (strncmp(argv[i], "--team", n) != 0 || (argv[i][n] && argv[i][n] != '='))
            continue;
        const char *value = argv[i][n] ? argv[i] + n + 1 : argv[i + 1];
        if (!value)
            continue;
        asked_for_mpi = !strcmp(value, "mpi");
        may_be_launched &= asked_for_mpi;
    }
    msg_mute(may_be_launched && rocl_launched_rank(asked_for_mpi) > 0);
}

/* One text on all ranks, however the tool was found on each of them. */
static char *command_line(void)
{
    const size_t name = strlen(tool);
    size_t size = name + 2, n = name + 1;
    for (int i = 1; i < arg_count; i++)
        size += strlen(args[i]) + 1;
    char *text = must_have(malloc(size));
    memcpy(text, tool, name);
    text[name] = ' ';
    for (int i = 1; i < arg_count; i++) {
        const size_t len = strlen(args[i]);
        memcpy(text + n, args[i], len);
        n += len;
        text[n++] = ' ';
    }
    text[n] = '\0';
    return text;
}

/* ---- ranks that do not come ---- */

enum { PATIENCE = 10 /* seconds */ };

typedef struct waiting {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
} waiting;

static void *say_who_is_missing(void *ctx)
{
    waiting *w = ctx;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    pthread_mutex_lock(&w->lock);
    int rc = 0;
    while (!w->over && rc == 0)
        rc = pthread_cond_timedwait(&w->changed, &w->lock, &until);
    msg_mute(msg_is_mute() && !asked_for_mpi); /* a script may have started this rank alone */
    if (!w->over)
        msg_notice("waiting for the other ranks of the launcher; --team no: each on its own");
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* As rocl_team_join(); gives a notice if it waits for ranks that were started for something
 * else. */
static rocl_status join_all(rocl_team **team, const char *task, bool asked, rocl_error *err)
{
    waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    if (rocl_launched_rank(asked) < 0)
        return rocl_team_join(team, task, asked, err);
    const bool watched = pthread_create(&w.thread, NULL, say_who_is_missing, &w) == 0;
    const rocl_status s = rocl_team_join(team, task, asked, err);
    pthread_mutex_lock(&w.lock);
    w.over = true;
    pthread_cond_signal(&w.changed);
    pthread_mutex_unlock(&w.lock);
    if (watched)
        pthread_join(w.thread, NULL);
    return s;
}

/* Unless a team was requested, a launcher alone is no reason to fail. */
static rocl_status join_launched(bool asked, rocl_team **team, rocl_error *err)
{
    char *task = command_line();
    const rocl_status s = join_all(team, task, asked, err);
    free(task);
    if (s == ROCL_OK && *team && !asked && !rocl_team_rank(*team))
        msg_notice("a team of %u ranks (%s); --team no: each on its own", rocl_team_size(*team),
                   rocl_team_name(*team));
    if (s == ROCL_INTERNAL && !asked) {
        if (*rocl_error_text(err))
            msg_notice("%s", rocl_error_text(err));
        return ROCL_OK;
    }
    if (s == ROCL_OK && !*team && asked)
        msg_notice("--team mpi: no other rank was started with this one");
    return s;
}

int team_check(const common *c)
{
    if (!c->team || !strcmp(c->team, "mpi") || !strcmp(c->team, "no"))
        return -1;
    const size_t digits = strspn(c->team, "0123456789");
    const int n = digits && digits < 4 && !c->team[digits] ? atoi(c->team) : 0;
    return n >= 1 && n <= 256
               ? -1
               : usage_error("--team: \"%s\" is not known; a number from 1 to 256, mpi, or no",
                             c->team);
}

rocl_status team_form(const common *c, rocl_team **team, rocl_error *err)
{
    *team = NULL;
    is_settled = true;
    if (!c->team)
        return join_launched(false, team, err);
    if (!strcmp(c->team, "mpi"))
        return join_launched(true, team, err);
    if (!strcmp(c->team, "no"))
        return ROCL_OK;
    return rocl_team_fork(team, (unsigned)atoi(c->team), err);
}

void team_settle(void)
{
    is_settled = true;
}

void team_end(rocl_team *team, int code)
{
    if (team && code > ROCL_PARTIAL)
        rocl_team_leave(team, (rocl_status)code, msg_unsaid());
    else if (team)
        rocl_team_close(team);
    else if (may_be_launched && !is_settled && code > ROCL_PARTIAL &&
             !rocl_team_refuse((rocl_status)code, msg_unsaid(), asked_for_mpi) && msg_is_mute())
        sleep(1); /* a launcher ends all ranks when one has failed: rank 0 says it before */
    is_settled = true;
}

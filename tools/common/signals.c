/* Signals that end a program: unfinished outputs are removed first. */
#include "common/signals.h"

#include "rocline.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static sigset_t ends;
static _Atomic(void (*)(void)) before_end;

void signals_before_end(void (*fn)(void))
{
    before_end = fn;
}

static void *wait_for_end(void *unused)
{
    int number;
    (void)unused;
    if (sigwait(&ends, &number) != 0)
        return NULL;
    void (*fn)(void) = before_end;
    if (fn)
        fn();
    rocl_abandon_outputs();
    /* So that the shell sees what ended us. */
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    raise(number);
    return NULL;
}

void signals_prepare(void)
{
    /* All that end a program by default, except those for its own faults. */
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGXCPU,
                                  SIGALRM, SIGUSR1, SIGUSR2, SIGPWR,  SIGIO};
    pthread_t watcher;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&ends);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* One that is ignored, as nohup does, stays so; one that a preloaded library handles, too.
         */
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaddset(&ends, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    if (pthread_create(&watcher, NULL, wait_for_end, NULL) == 0)
        pthread_detach(watcher);
    else
        pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
}

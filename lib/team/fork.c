/* A team of processes of this machine: forks of this one, each at a pair of sockets to rank 0. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "team/team.h"

enum { FORKS_MAX = 256, BUFFER = 8192 };

/* What is sent before the bytes of a message. Both ends are this program on this machine. */
typedef uint64_t head;

/* What has come from it and was not taken yet lies in its buffer: most messages are short, and
 * several come with one call. */
typedef struct peer {
    pid_t pid; /* 0 when it was waited for */
    int fd;    /* -1: closed */
    char *buffer;
    size_t first, past;
} peer;

typedef struct forks {
    unsigned rank, size;
    peer *peers;          /* by rank; of those that are not 0 only [0] is used */
    struct pollfd *polls; /* of the open ones */
    unsigned *ranks;      /* whose they are */
    unsigned turn;        /* rank whose messages are looked for first */
    unsigned from;        /* of the message that was found */
    size_t length;
    char why[160];
} forks;

/* ---- a rank is gone ---- */

static void say_how_it_ended(forks *f, unsigned rank)
{
    peer *p = &f->peers[rank];
    int status = 0;
    if (f->rank) {
        snprintf(f->why, sizeof f->why, "rank 0 of the team has ended");
        return;
    }
    /* Its socket is closed: it has ended, or does so now. */
    const bool known = p->pid && waitpid(p->pid, &status, 0) == p->pid;
    p->pid = 0;
    if (known && WIFSIGNALED(status))
        snprintf(f->why, sizeof f->why, "rank %u of the team was ended by signal %d (%s)", rank,
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(f->why, sizeof f->why, "rank %u of the team has ended (exit code %d)", rank,
                 known ? WEXITSTATUS(status) : 0);
}

static const char *why(void *self)
{
    const forks *f = self;
    return *f->why ? f->why : "a rank of the team has ended";
}

/* ---- messages ---- */

/* 0 or -1. */
static int send_all(int fd, struct iovec *v, size_t count)
{
    struct msghdr message = {.msg_iov = v, .msg_iovlen = count};
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= (ssize_t)message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

static int send_message(void *self, unsigned to, const void *bytes, size_t n)
{
    forks *f = self;
    head length = n;
    struct iovec v[] = {{&length, sizeof length}, {(void *)(uintptr_t)bytes, n}};
    if (to >= f->size || f->peers[to].fd < 0)
        return -1;
    if (send_all(f->peers[to].fd, v, 2) == 0)
        return 0;
    if (!*f->why)
        say_how_it_ended(f, to);
    return -1;
}

/* Some bytes, at least one. 0 or -1. */
static ssize_t receive_some(int fd, void *bytes, size_t most)
{
    ssize_t got;
    do
        got = recv(fd, bytes, most, 0);
    while (got < 0 && errno == EINTR);
    return got > 0 ? got : -1;
}

static size_t bytes_buffered(const peer *p)
{
    return p->past - p->first;
}

static void take_buffered(peer *p, void *bytes, size_t n)
{
    memcpy(bytes, p->buffer + p->first, n);
    p->first += n;
}

static int find_message(forks *f, unsigned rank, unsigned *from, size_t *n)
{
    peer *p = &f->peers[rank];
    head length;
    f->from = *from = rank;
    f->turn = rank + 1;
    if (bytes_buffered(p) < sizeof length) {
        memmove(p->buffer, p->buffer + p->first, bytes_buffered(p));
        p->past -= p->first;
        p->first = 0;
    }
    while (bytes_buffered(p) < sizeof length) {
        const ssize_t got = receive_some(p->fd, p->buffer + p->past, BUFFER - p->past);
        if (got < 0) {
            say_how_it_ended(f, rank);
            return -1;
        }
        p->past += (size_t)got;
    }
    take_buffered(p, &length, sizeof length);
    f->length = *n = (size_t)length;
    return 1;
}

static int wait_for_message(void *self, int milliseconds, unsigned *from, size_t *n)
{
    forks *f = self;
    nfds_t count = 0;
    const unsigned others = f->rank ? 1 : f->size;
    for (unsigned k = 0; k < others; k++) { /* in turn, so that none is kept waiting */
        const unsigned r = (f->turn + k) % others;
        if (f->peers[r].fd < 0)
            continue;
        if (bytes_buffered(&f->peers[r]) >= sizeof(head))
            return find_message(f, r, from, n);
        f->ranks[count] = r;
        f->polls[count++] = (struct pollfd){.fd = f->peers[r].fd, .events = POLLIN};
    }
    const int ready = poll(f->polls, count, milliseconds);
    if (ready <= 0)
        return ready < 0 && errno != EINTR ? -1 : 0;
    nfds_t i = 0;
    while (!f->polls[i].revents)
        i++;
    return find_message(f, f->ranks[i], from, n);
}

static int take_message(void *self, void *bytes)
{
    forks *f = self;
    peer *p = &f->peers[f->from];
    const size_t here = bytes_buffered(p) < f->length ? bytes_buffered(p) : f->length;
    take_buffered(p, bytes, here);
    for (size_t n = here; n < f->length;) {
        const ssize_t got = receive_some(p->fd, (char *)bytes + n, f->length - n);
        if (got < 0) {
            say_how_it_ended(f, f->from);
            return -1;
        }
        n += (size_t)got;
    }
    return 0;
}

/* ---- begin and end ---- */

/* Those that still run have no more to do: their sockets close. */
static void close_forks(void *self, int broken)
{
    forks *f = self;
    (void)broken;
    for (unsigned r = 0; r < f->size; r++)
        if (f->peers[r].fd >= 0)
            close(f->peers[r].fd);
    for (unsigned r = 0; r < f->size; r++)
        while (f->peers[r].pid > 0 && waitpid(f->peers[r].pid, NULL, 0) < 0 && errno == EINTR)
            ;
    for (unsigned r = 0; r < f->size; r++)
        free(f->peers[r].buffer);
    free(f->peers);
    free(f->polls);
    free(f->ranks);
    free(f);
}

static rocl_status fork_rank(forks *f, unsigned rank, rocl_error *err)
{
    int pair[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return rocl_fail(err, ROCL_INTERNAL, "no process for rank %u: %s", rank, strerror(errno));
    const pid_t pid = fork();
    if (pid < 0) {
        const int no = errno;
        close(pair[0]);
        close(pair[1]);
        return rocl_fail(err, ROCL_INTERNAL, "no process for rank %u: %s", rank, strerror(no));
    }
    close(pair[pid == 0 ? 0 : 1]);
    if (pid > 0) {
        f->peers[rank].pid = pid;
        f->peers[rank].fd = pair[0];
        return ROCL_OK;
    }
    /* The child has its end of one pair, and ends with its parent. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(ROCL_INTERNAL);
    for (unsigned r = 1; r < rank; r++) {
        close(f->peers[r].fd);
        f->peers[r].pid = 0;
        f->peers[r].fd = -1;
    }
    f->rank = rank;
    f->peers[0].fd = pair[1];
    return ROCL_OK;
}

rocl_status rocl_team_fork(rocl_team **team, unsigned size, rocl_error *err)
{
    *team = NULL;
    if (size < 2)
        return ROCL_OK;
    if (size > FORKS_MAX)
        return rocl_fail(err, ROCL_USAGE, "a team of %u: at most %d", size, FORKS_MAX);
    forks *f = calloc(1, sizeof *f);
    if (!f)
        return rocl_fail_memory(err);
    f->size = size;
    f->peers = calloc(size, sizeof *f->peers);
    f->polls = calloc(size, sizeof *f->polls);
    f->ranks = calloc(size, sizeof *f->ranks);
    rocl_status st = f->peers && f->polls && f->ranks ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned r = 0; f->peers && r < size; r++) {
        f->peers[r].fd = -1;
        f->peers[r].buffer = malloc(BUFFER);
        if (!f->peers[r].buffer && st == ROCL_OK)
            st = rocl_fail_memory(err);
    }
    if (st != ROCL_OK) {
        f->size = f->peers ? size : 0;
        close_forks(f, 1);
        return st;
    }
    const rocl_transport t = {.size = size,
                              .local = size,
                              .self = f,
                              .send = send_message,
                              .wait = wait_for_message,
                              .take = take_message,
                              .why = why,
                              .close = close_forks};
    /* Before there are others: one that could not make it would take itself for rank 0. */
    rocl_team *made = rocl_team_new(&t, "processes of this machine");
    if (!made)
        return rocl_fail_memory(err);
    fflush(NULL); /* else each process would write what is buffered */
    for (unsigned r = 1; st == ROCL_OK && f->rank == 0 && r < size; r++)
        st = fork_rank(f, r, err);
    made->transport.rank = f->rank;
    if (st == ROCL_OK)
        *team = made;
    else
        rocl_team_close(made);
    return st;
}

/* Messages of a team, and its end. */
#include "team/team.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

rocl_team *rocl_team_new(const rocl_transport *transport, const char *name)
{
    rocl_team *team = calloc(1, sizeof *team);
    if (!team) {
        transport->close(transport->self, 1);
        return NULL;
    }
    team->transport = *transport;
    team->name = name;
    pthread_mutex_init(&team->run, NULL);
    pthread_mutex_init(&team->sending, NULL);
    pthread_mutex_init(&team->receiving, NULL);
    return team;
}

unsigned rocl_team_rank(const rocl_team *team)
{
    return team ? team->transport.rank : 0;
}

unsigned rocl_team_size(const rocl_team *team)
{
    return team ? team->transport.size : 1;
}

const char *rocl_team_name(const rocl_team *team)
{
    return team ? team->name : "";
}

unsigned rocl_team_jobs(const rocl_team *team)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const long local = team && team->transport.local ? (long)team->transport.local : 1;
    return cores > local ? (unsigned)(cores / local) : 1;
}

static rocl_status fail_broken(rocl_team *team, rocl_error *err)
{
    team->broken = true;
    return rocl_fail(err, ROCL_INTERNAL, "%s", team->transport.why(team->transport.self));
}

rocl_status rocl_team_send(rocl_team *team, unsigned to, const rocl_buf *b, rocl_error *err)
{
    if (b->failed)
        return rocl_fail_memory(err);
    if (team->transport.send(team->transport.self, to, b->data, b->len) != 0)
        return fail_broken(team, err);
    return ROCL_OK;
}

/* Why a rank leaves. */
static rocl_status take_last_words(rocl_team *team, unsigned from, const rocl_buf *message,
                                   rocl_error *err)
{
    rocl_byte_reader r = {message->data + 1, message->data + message->len, false};
    const uint64_t status = rocl_next_number(&r), n = rocl_next_number(&r);
    const uint8_t *text = rocl_next_bytes(&r, n);
    team->broken = true;
    if (!text)
        return rocl_team_bad_message(err);
    const rocl_status why = status ? (rocl_status)status : ROCL_INTERNAL;
    return n ? rocl_fail(err, why, "rank %u of the team: %.*s", from, (int)n, (const char *)text)
             : rocl_fail(err, why, "%s", "");
}

rocl_status rocl_team_receive(rocl_team *team, int milliseconds, rocl_buf *message, unsigned *from,
                              bool *there, rocl_error *err)
{
    const rocl_transport *t = &team->transport;
    size_t n = 0;
    message->len = 0;
    const int found = t->wait(t->self, milliseconds, from, &n);
    *there = found > 0;
    if (found == 0)
        return ROCL_OK;
    if (found < 0)
        return fail_broken(team, err);
    if (!rocl_buf_reserve(message, n + 1)) {
        team->broken = true; /* the message stays where it is */
        return rocl_fail_memory(err);
    }
    if (t->take(t->self, message->data) != 0)
        return fail_broken(team, err);
    message->data[n] = '\0';
    message->len = n;
    if (n && message->data[0] == ROCL_TEAM_GONE)
        return take_last_words(team, *from, message, err);
    team->over |= n && message->data[0] == ROCL_TEAM_BYE;
    return n ? ROCL_OK : rocl_team_bad_message(err);
}

rocl_status rocl_team_reply(rocl_team *team, rocl_buf *b, rocl_error *err)
{
    pthread_mutex_lock(&team->sending);
    const rocl_status st = rocl_team_send(team, 0, b, err);
    pthread_mutex_unlock(&team->sending);
    rocl_buf_free(b);
    return st;
}

rocl_status rocl_team_take_owed(rocl_team *team, rocl_team_message type, unsigned *rank,
                                rocl_buf *message, rocl_byte_reader *r, rocl_error *err)
{
    bool there = false;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&team->receiving);
    while (st == ROCL_OK && !there)
        st = rocl_team_receive(team, 100, message, rank, &there, err);
    pthread_mutex_unlock(&team->receiving);
    if (st == ROCL_OK && message->data[0] != type)
        st = rocl_team_bad_message(err);
    team->owed -= st == ROCL_OK;
    *r = (rocl_byte_reader){message->data + 1, message->data + message->len, false};
    return st;
}

void rocl_team_drain(rocl_team *team)
{
    rocl_buf message = {0};
    rocl_status st = ROCL_OK;
    while (team->owed && !team->broken && st == ROCL_OK) {
        unsigned rank;
        bool there;
        st = rocl_team_receive(team, 100, &message, &rank, &there, NULL);
        team->owed -= there && st == ROCL_OK;
    }
    rocl_buf_free(&message);
}

void rocl_team_put_gone(rocl_buf *b, rocl_status why, const char *text)
{
    rocl_buf_byte(b, ROCL_TEAM_GONE);
    rocl_buf_varint(b, why);
    rocl_team_put_text(b, text, strnlen(text, ROCL_ERROR_SIZE));
}

void rocl_team_say_gone(rocl_team *team, rocl_status why, const char *text)
{
    uint8_t space[ROCL_ERROR_SIZE + 1 + 2 * ROCL_VARINT_MAX]; /* memory may be out */
    rocl_buf b = ROCL_BUF_IN(space);
    rocl_team_put_gone(&b, why, text);
    team->broken = rocl_team_send(team, 0, &b, NULL) != ROCL_OK; /* else rank 0 ends all */
}

void rocl_team_leave(rocl_team *team, rocl_status why, const char *text)
{
    rocl_buf b = {0};
    unsigned from;
    bool there = false;
    rocl_status st = ROCL_OK;
    while (rocl_team_rank(team) && !team->over && st == ROCL_OK && !there)
        st = rocl_team_receive(team, 1000, &b, &from, &there, NULL);
    if (there && st == ROCL_OK && !team->over) /* rank 0 does not leave itself */
        rocl_team_say_gone(team, why, text);
    rocl_buf_free(&b);
    rocl_team_close(team);
}

rocl_status rocl_team_share(rocl_team *team, char *text, size_t size, rocl_error *err)
{
    rocl_buf b = {0};
    unsigned from;
    bool there = false;
    rocl_status st = ROCL_OK;
    if (!team)
        return ROCL_OK;
    if (rocl_team_rank(team) == 0) {
        rocl_buf_byte(&b, ROCL_TEAM_SHARE);
        rocl_buf_put(&b, text, strlen(text));
        for (unsigned r = 1; st == ROCL_OK && r < rocl_team_size(team); r++)
            st = rocl_team_send(team, r, &b, err);
        rocl_buf_free(&b);
        return st;
    }
    while (st == ROCL_OK && !there)
        st = rocl_team_receive(team, 1000, &b, &from, &there, err);
    if (st == ROCL_OK && team->over)
        st = rocl_fail(err, ROCL_USAGE, "%s", "");
    else if (st == ROCL_OK && (b.data[0] != ROCL_TEAM_SHARE || b.len > size))
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK) /* a 0 stands behind a message */
        memcpy(text, b.data + 1, b.len);
    rocl_buf_free(&b);
    return st;
}

/* Rank 0 ends the others. They wait for that, wherever they are: after a failure they were
 * stopped. */
void rocl_team_close(rocl_team *team)
{
    if (!team)
        return;
    uint8_t bye = ROCL_TEAM_BYE;
    const rocl_transport *t = &team->transport;
    for (unsigned r = 1; t->rank == 0 && r < t->size && !team->broken; r++)
        t->send(t->self, r, &bye, sizeof bye);
    rocl_team_free(team);
}

void rocl_team_free(rocl_team *team)
{
    team->transport.close(team->transport.self, team->broken);
    pthread_mutex_destroy(&team->run);
    pthread_mutex_destroy(&team->sending);
    pthread_mutex_destroy(&team->receiving);
    free(team);
}

/* ---- what messages are made of ---- */

char *rocl_team_text(rocl_byte_reader *r)
{
    const uint64_t n = rocl_next_number(r);
    const uint8_t *p = rocl_next_bytes(r, n);
    return p ? strndup((const char *)p, n) : NULL;
}

uint32_t rocl_team_intern_text(rocl_strings *texts, rocl_byte_reader *r)
{
    const uint64_t n = rocl_next_number(r);
    const char *p = (const char *)rocl_next_bytes(r, n);
    return p ? rocl_strings_put(texts, p, n) : 0;
}

void rocl_team_put_text(rocl_buf *b, const char *text, size_t n)
{
    rocl_buf_varint(b, n);
    rocl_buf_put(b, text, n);
}

void rocl_team_put_interned(rocl_buf *b, const rocl_strings *texts, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(texts, text, &n);
    rocl_team_put_text(b, p, n);
}

void rocl_team_put_bad_texts(rocl_buf *b, const rocl_strings *texts)
{
    uint32_t left = rocl_strings_not_utf8(texts);
    rocl_buf_varint(b, left);
    for (uint32_t i = 0; left && i < rocl_strings_count(texts); i++) {
        size_t n;
        const char *p = rocl_strings_get(texts, i, &n);
        if (rocl_utf8_valid(p, n))
            continue;
        rocl_team_put_text(b, p, n);
        left--;
    }
}

void rocl_team_take_bad_texts(rocl_strings *texts, rocl_byte_reader *r)
{
    for (uint64_t n = rocl_next_number(r); n && !r->bad; n--)
        rocl_team_intern_text(texts, r);
}

rocl_status rocl_team_bad_message(rocl_error *err)
{
    return rocl_fail(err, ROCL_INTERNAL,
                     "the ranks of the team do not understand each other: are "
                     "they of the same version?");
}

/* The members of the envelope, for its writer and its schema. */
#pragma once

#include <stdbool.h>

typedef struct rocl_answer_member {
    const char *key;
    const char *help; /* its description in the schema */
} rocl_answer_member;

enum {
    ROCL_ANSWER_ROCLINE,
    ROCL_ANSWER_SCHEMA_NUMBER,
    ROCL_ANSWER_COMMAND,
    ROCL_ANSWER_TRACE,
    ROCL_ANSWER_TRACE_B,
    ROCL_ANSWER_DATA,
    ROCL_ANSWER_WARNINGS,
    ROCL_ANSWER_ERRORS,
    ROCL_ANSWER_EXIT_CODE,
    ROCL_ANSWER_MEMBERS
};
extern const rocl_answer_member rocl_answer_members[ROCL_ANSWER_MEMBERS];
/* Has the answer of a command this member? NULL: of any command. */
bool rocl_answer_has(const char *command, unsigned member);

enum { ROCL_MESSAGE_MEMBERS = 4 };
extern const rocl_answer_member rocl_message_members[ROCL_MESSAGE_MEMBERS];

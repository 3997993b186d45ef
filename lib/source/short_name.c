/* Demangled signatures as GNU's and LLVM's demanglers write them. One pass from left to right over
 * the words and scopes of the text; groups in brackets are stepped over, never looked into twice,
 * and without recursion: kernel names of a megabyte exist, and hostile ones do. */
#include "source/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OPEN SIZE_MAX /* an unknown end */

typedef struct span {
    size_t begin, end;
} span;

typedef struct walk {
    const char *s;
    size_t n, i;
    span name;  /* the current component; its end is set before template arguments */
    span owner; /* the scope before it; end 0: none */
    bool plain; /* nothing of a signature so far */
} walk;

static bool is_at(const char *s, size_t n, size_t i, const char *word)
{
    size_t len = strlen(word);
    return i <= n && n - i >= len && memcmp(s + i, word, len) == 0;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The end of the symbol of "operator<<" when s[i] follows the word; i when there is none. */
static size_t operator_end(const char *s, size_t n, size_t i)
{
    static const char *const symbols[] = {
        "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "->",
        "++",  "--",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<",
        ">",   "=",   "!",   "+",   "-",  "*",  "/",  "%",  "^",  "&",  "|",  "~",  ","};
    for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++) {
        size_t end = i + strlen(symbols[k]);
        if (!is_at(s, n, i, symbols[k]))
            continue;
        /* "operator<<int>" is operator< with an argument. */
        if (end - i == 2 && s[end - 1] == '<' && end < n && in_word(s[end]))
            continue;
        return end;
    }
    return i;
}

static bool is_operator(const char *s, size_t n, size_t i)
{
    const size_t len = sizeof "operator" - 1;
    return is_at(s, n, i, "operator") && (i == 0 || !in_word(s[i - 1])) &&
           (n - i == len || !in_word(s[i + len]));
}

/* The end of the group that s[i] opens, one of ( [ {; OPEN when it has no end. In here < and > may
 * be comparisons, so they do not count. */
static size_t skip_group(const char *s, size_t n, size_t i)
{
    for (size_t depth = 0; i < n; i++) {
        if (s[i] == '(' || s[i] == '[' || s[i] == '{')
            depth++;
        else if ((s[i] == ')' || s[i] == ']' || s[i] == '}') && --depth == 0)
            return i + 1;
    }
    return OPEN;
}

/* The end of template arguments that s[i] opens; OPEN when they have none. */
static size_t skip_angles(const char *s, size_t n, size_t i)
{
    for (size_t depth = 0; i < n;) {
        if (s[i] == '(' || s[i] == '[' || s[i] == '{') {
            i = skip_group(s, n, i);
        } else if (s[i] == 'o' && is_operator(s, n, i)) {
            i = operator_end(s, n, i + sizeof "operator" - 1);
        } else {
            depth += s[i] == '<';
            if (s[i++] == '>' && --depth == 0)
                return i;
        }
    }
    return OPEN;
}

static void end_name(walk *w, size_t end)
{
    if (w->name.end == OPEN)
        w->name.end = end;
}

static void begin_name(walk *w, size_t begin)
{
    w->name = (span){begin, OPEN};
    w->i = begin;
}

/* Is the bracket that of "decltype(auto)" or "decltype (x)"? */
static bool after_decltype(const walk *w)
{
    const size_t len = sizeof "decltype" - 1;
    size_t end = w->i && w->s[w->i - 1] == ' ' ? w->i - 1 : w->i;
    return end >= len && is_at(w->s, end, end - len, "decltype") &&
           (end == len || !in_word(w->s[end - len - 1]));
}

/* Local names have functions as scopes: "f(int) const::{lambda()#1}". */
static size_t skip_qualifiers(const walk *w, size_t i)
{
    static const char *const words[] = {" const", " volatile", " &&", " &"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (is_at(w->s, w->n, i, words[k]))
            i += strlen(words[k]);
    }
    return i;
}

static bool read_parentheses(walk *w)
{
    size_t i = w->i;
    w->plain = false;
    /* void (*f(int))(char) */
    if (i == w->name.begin && (is_at(w->s, w->n, i, "(*") || is_at(w->s, w->n, i, "(&"))) {
        for (i++; i < w->n && (w->s[i] == '*' || w->s[i] == '&');)
            i++;
        begin_name(w, i);
        return true;
    }
    size_t end = skip_group(w->s, w->n, i);
    if (end != OPEN && after_decltype(w)) {
        w->i = end;
        return true;
    }
    size_t scope = end == OPEN ? OPEN : skip_qualifiers(w, end);
    if (scope != OPEN && is_at(w->s, w->n, scope, "::")) {
        w->i = scope;
        return true;
    }
    end_name(w, i);
    return false;
}

static void read_operator(walk *w)
{
    size_t word = w->i + sizeof "operator" - 1, end = operator_end(w->s, w->n, word);
    w->plain = false;
    if (end == word) { /* operator bool, operator new[], operator"" _s: up to the parameters */
        while (end < w->n && w->s[end] != '(')
            end = w->s[end] == '<' ? skip_angles(w->s, w->n, end) : end + 1;
        if (end == OPEN)
            end = w->n;
    }
    w->name.end = end;
    w->i = is_at(w->s, w->n, end, " <") ? end + 1 : end; /* operator< <int> */
}

/* Reads a token and moves behind it; false at the end of the name. */
static bool read_token(walk *w)
{
    size_t end;
    switch (w->s[w->i]) {
    case ' ':
        if (is_at(w->s, w->n, w->i, " [clone ")) {
            if (w->plain)
                w->name.begin = 0;
            w->plain = false;
            return false;
        }
        /* The text before the space was a return type, or belonged to one. */
        w->owner.end = 0;
        begin_name(w, w->i + 1);
        return true;
    case ':':
        if (!is_at(w->s, w->n, w->i, "::"))
            break;
        w->plain = false;
        end_name(w, w->i);
        w->owner = w->name;
        begin_name(w, w->i + 2);
        return true;
    case '<':
        end = skip_angles(w->s, w->n, w->i);
        w->plain = false;
        /* "main::<lambda()>" is a name; elsewhere a name begins with something else. */
        if (end == OPEN || w->i > w->name.begin || w->owner.end == 0)
            end_name(w, w->i);
        w->i = end;
        return end != OPEN;
    case '(':
        return read_parentheses(w);
    case '{': /* "{lambda(int)#1}", "f[abi:cxx11]": pieces of names */
    case '[':
        w->i = skip_group(w->s, w->n, w->i);
        return w->i != OPEN;
    case ')':
        return false;
    case 'o':
        if (w->i != w->name.begin || !is_operator(w->s, w->n, w->i))
            break;
        read_operator(w);
        return true;
    default:
        break;
    }
    w->i++;
    return true;
}

void rocl_short_name(rocl_buf *to, const char *s, size_t n)
{
    walk w = {.s = s, .n = n, .name = {0, OPEN}, .plain = true};
    while (w.i < n && read_token(&w))
        ;
    end_name(&w, w.i < n ? w.i : n);
    size_t len = w.name.end - w.name.begin;
    if (w.plain || len == 0) {
        rocl_buf_put(to, s, n);
        return;
    }
    if (w.owner.end > w.owner.begin && len == sizeof "operator()" - 1 &&
        is_at(s, n, w.name.begin, "operator()")) {
        rocl_buf_put(to, s + w.owner.begin, w.owner.end - w.owner.begin);
        rocl_buf_put(to, "::", 2);
    }
    rocl_buf_put(to, s + w.name.begin, len);
}

/* Which shape a line has: the first that matches, in the order of the script. */
#include "source/rtg/line_match.h"

#include "base/num.h"

typedef unsigned char v16 __attribute__((vector_size(16)));
typedef uint64_t v2 __attribute__((vector_size(16)));

enum { HAS_HIP = 1, HAS_HSA = 2, HAS_PROFILE = 4 };

static unsigned match_tag_before(const char *line, const char *colon)
{
    size_t n = (size_t)(colon - line);
    if (n >= 3 && !memcmp(colon - 3, "HIP", 3))
        return HAS_HIP;
    if (n >= 3 && !memcmp(colon - 3, "HSA", 3))
        return HAS_HSA;
    return n >= 7 && !memcmp(colon - 7, "profile", 7) ? HAS_PROFILE : 0;
}

static v16 load_vector(const char *p)
{
    v16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Which of "HIP:", "HSA:", "profile:" that end in one of three letters are anywhere in the line. A
 * line has many colons, and few that follow these. */
RTG_INLINE unsigned find_tags_ending(const char *p, const char *end, char a, char b, char c)
{
    unsigned tags = 0;
    const char *at = p + 1;
    for (; end - at >= 16; at += 16) {
        v16 before = load_vector(at - 1);
        v16 hit =
            (v16)(load_vector(at) == ':') & (v16)((before == a) | (before == b) | (before == c));
        v2 any = (v2)hit;
        if (__builtin_expect((any[0] | any[1]) != 0, 0))
            for (unsigned i = 0; i < 16; i++)
                if (hit[i])
                    tags |= match_tag_before(p, at + i);
    }
    for (; at < end; at++)
        if (*at == ':')
            tags |= match_tag_before(p, at);
    return tags;
}

/* If the line begins with a tag, only those before it in the order matter. */
static unsigned find_tags(const char *p, const char *end)
{
    if (rtg_lit(p, end, "HSA: "))
        return HAS_HSA | (find_tags_ending(p + 4, end, 'P', 'P', 'P') & HAS_HIP);
    if (rtg_lit(p, end, "profile:"))
        return HAS_PROFILE | find_tags_ending(p + 8, end, 'P', 'A', 'A');
    return find_tags_ending(p, end, 'P', 'A', 'e');
}

void rtg_parse_line(rtg_line *l, const char *p, size_t n, bool ended)
{
    const char *end = p + n;
    l->has_args = l->has_kernel = false;
    /* The commonest first, which no other shape can precede. */
    if (n && *p == 'H' && rtg_lit(p, end, "HIP: pid:") && rtg_match_hip(l, p, end))
        return;
    unsigned tags = n ? find_tags(p, end) : 0;
    if (tags & HAS_HIP) {
        if (!rtg_match_hip(l, p, end))
            l->shape = RTG_HIP_MISSED;
    } else if (tags & HAS_HSA) {
        if (!rtg_match_hsa(l, p, end))
            l->shape = RTG_HSA_MISSED;
    } else if (tags & HAS_PROFILE) {
        if (!rtg_match_hcc(l, p, end, ended))
            l->shape = RTG_HCC_MISSED;
    } else if (!rtg_match_strace(l, p, end)) {
        l->shape = RTG_TEXT;
    }
}

bool rtg_parse_newer_line(rtg_line *l, const char *p, size_t n)
{
    const char *end = p + n;
    rtg_line was = *l;
    bool is = was.shape == RTG_TEXT         ? rtg_match_rtx(l, p, end)
              : was.shape == RTG_HSA_MISSED ? rtg_match_vendor(l, p, end)
              : was.shape == RTG_HCC_TIMES  ? rtg_match_enqueued(l, p, end)
                                            : false;
    if (!is)
        *l = was;
    return is;
}

bool rtg_number(rocl_view s, uint64_t *value)
{
    const char *p = s.p, *end = s.p + s.n;
    uint64_t v = 0;
    if (s.n == 0)
        return false;
    if (s.n < 20) { /* cannot overflow */
        rocl_get_digits(p, end, value);
        return true;
    }
    for (; p < end; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return false;
    *value = v;
    return true;
}

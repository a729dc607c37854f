/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/fitset.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

#define USUAL_PARTS 65536
#define LACKS 4 /* failed searches kept per word */
#define HEAD 2  /* numbers of a word before its bounds: its bits, how many failed searches it keeps */

static int64_t words_at(int64_t size, int level)
{
    int64_t n = size;
    for (int l = 0; l <= level; l++)
        n = (n + 63) >> 6;
    return n;
}

static int32_t bounds(const struct fitset *s)
{
    return s->resources + (s->resources > 1);
}

static int64_t stride(const struct fitset *s)
{
    return HEAD + (int64_t)bounds(s);
}

/* The scarcer of the first two amounts, each in parts of what is usual. */
static int64_t scarcer(const struct fitset *s, const int64_t *amounts)
{
    int64_t a = amounts[0] >> s->shift[0], b = amounts[1] >> s->shift[1];
    return a < b ? a : b;
}

static uint64_t bits_of(const struct fitset *s, int level, int64_t w)
{
    return (uint64_t)s->word[level][w * stride(s)];
}

static int64_t *bound_of(const struct fitset *s, int level, int64_t w)
{
    return s->word[level] + w * stride(s) + HEAD;
}

static int64_t *lack_count(const struct fitset *s, int level, int64_t w)
{
    return s->word[level] + w * stride(s) + 1;
}

/* Amounts that nothing below the word has, lack_count of them, newest first. */
static int64_t *lacks_of(const struct fitset *s, int level, int64_t w)
{
    return s->lacks[level] + w * LACKS * s->resources;
}

void fitset_init(struct fitset *s)
{
    s->size = s->size > 0 ? s->size : 1;
    s->modulus = s->modulus > 0 ? s->modulus : 1;
    s->divisor = s->divisor > 0 ? s->divisor : 1;
    REQUIRE(s->resources <= FITSET_RESOURCES);
    int64_t words;
    for (int r = 0; r < 2 && s->resources > 1 && s->usual != NULL; r++)
        while (s->usual[r] >> s->shift[r] >= USUAL_PARTS)
            s->shift[r]++;
    if (s->ranked)
        s->copies = mem_zalloc((size_t)s->size, sizeof(*s->copies));
    do {
        REQUIRE(s->levels < FITSET_LEVELS);
        int l = s->levels++;
        words = words_at(s->size, l);
        s->word[l] = mem_zalloc((size_t)(words * stride(s)), sizeof(int64_t));
        if (s->resources > 0)
            s->lacks[l] = mem_zalloc((size_t)(words * LACKS * s->resources), sizeof(int64_t));
        if (s->ranked)
            s->count[l] = mem_zalloc((size_t)words, sizeof(int32_t));
    } while (words > 1);
}

void fitset_fini(struct fitset *s)
{
    for (int l = 0; l < s->levels; l++) {
        free(s->word[l]);
        free(s->lacks[l]);
        free(s->count[l]);
    }
    free(s->copies);
    *s = (struct fitset){0};
}

static const int64_t *row(const struct fitset *s, int64_t i)
{
    return s->amounts + i % s->modulus / s->divisor * s->resources;
}

static bool covers(const int64_t *have, const int64_t *need, int32_t resources)
{
    for (int32_t r = 0; r < resources; r++)
        if (have[r] < need[r])
            return false;
    return true;
}

static uint64_t bit_of(int64_t i)
{
    return UINT64_C(1) << (i & 63);
}

/* The element's word gets its bit, and every word above that was empty; new words start with an
 * exact bound. */
void fitset_add(struct fitset *s, int64_t i)
{
    CHECK(i >= 0 && i < s->size && !(bits_of(s, 0, i >> 6) & bit_of(i)));
    s->total++;
    bool empty = true; /* the word below was */
    int64_t child = i;
    for (int l = 0; l < s->levels && (empty || s->ranked); l++, child >>= 6) {
        int64_t w = child >> 6, *word = s->word[l] + w * stride(s);
        if (s->ranked)
            s->count[l][w]++;
        if (!empty)
            continue;
        empty = *word == 0;
        for (int32_t r = 0; empty && r < bounds(s); r++)
            word[HEAD + r] = INT64_MIN;
        if (empty)
            *lack_count(s, l, w) = 0;
        *word = (int64_t)((uint64_t)*word | bit_of(child));
    }
    fitset_raise(s, i);
}

void fitset_weigh(struct fitset *s, int64_t i, int32_t copies)
{
    CHECK(bits_of(s, 0, i >> 6) & bit_of(i));
    if (!s->ranked || copies - 1 == s->copies[i])
        return;
    REQUIRE(copies >= 1 && copies <= INT16_MAX);
    int32_t change = copies - 1 - s->copies[i];
    s->copies[i] = (int16_t)(copies - 1);
    s->total += change;
    for (int l = 0; l < s->levels; l++)
        s->count[l][(i >>= 6)] += change;
}

int32_t fitset_copies(const struct fitset *s, int64_t i)
{
    return s->ranked ? s->copies[i] + 1 : 1;
}

void fitset_remove(struct fitset *s, int64_t i)
{
    CHECK(i >= 0 && i < s->size && (bits_of(s, 0, i >> 6) & bit_of(i)));
    fitset_weigh(s, i, 1);
    s->total--;
    bool empty = true; /* the child is */
    int64_t child = i;
    for (int l = 0; l < s->levels && (empty || s->ranked); l++, child >>= 6) {
        int64_t w = child >> 6, *word = s->word[l] + w * stride(s);
        if (s->ranked)
            s->count[l][w]--;
        if (!empty)
            continue;
        *word = (int64_t)((uint64_t)*word & ~bit_of(child));
        empty = *word == 0;
    }
}

void fitset_fetch(const struct fitset *s, int64_t i)
{
    __builtin_prefetch(s->word[0] + (i >> 6) * stride(s), 1);
}

/* Is any bound lower than that? It is raised. */
static bool raise(int64_t *bound, const int64_t *have, int32_t count)
{
    bool raised = false;
    for (int32_t r = 0; r < count; r++)
        if (bound[r] < have[r]) {
            bound[r] = have[r];
            raised = true;
        }
    return raised;
}

/* The same for what an element has. */
static bool raise_to(const struct fitset *s, int64_t *bound, const int64_t *have)
{
    bool raised = raise(bound, have, s->resources);
    if (s->resources < 2)
        return raised;
    int64_t least = scarcer(s, have);
    return raise(bound + s->resources, &least, 1) || raised;
}

/* What something now has is not lacked any more. */
static void disprove(const struct fitset *s, int level, int64_t w, const int64_t *have)
{
    int64_t *count = lack_count(s, level, w), kept = 0;
    if (*count == 0)
        return;
    int64_t *lacks = lacks_of(s, level, w);
    for (int64_t k = 0; k < *count; k++) {
        const int64_t *lack = lacks + k * s->resources;
        if (covers(have, lack, s->resources))
            continue;
        if (kept < k)
            memcpy(lacks + kept * s->resources, lack, (size_t)s->resources * sizeof(*lacks));
        kept++;
    }
    *count = kept;
}

/* Bounds above are at least as high: where one holds already, so do they. */
void fitset_raise(struct fitset *s, int64_t i)
{
    const int64_t *have = row(s, i);
    bool raised = true;
    for (int l = 0; l < s->levels && s->resources > 0; l++) {
        i >>= 6;
        raised = raised && raise_to(s, bound_of(s, l, i), have);
        disprove(s, l, i, have);
    }
}

struct search {
    int64_t lo, hi; /* elements lo..hi-1 */
    const int64_t *need;
    int64_t scarcer; /* of need */
};

/* Children of word w at this level that can hold elements of lo..hi-1. */
static uint64_t window(const struct search *q, int level, int64_t w)
{
    int shift = 6 * level;
    int64_t first = (q->lo >> shift) - w * 64, last = ((q->hi - 1) >> shift) - w * 64;
    if (first > 63 || last < 0)
        return 0;
    uint64_t mask = ~UINT64_C(0);
    if (first > 0)
        mask &= ~UINT64_C(0) << first;
    if (last < 63)
        mask &= ~UINT64_C(0) >> (63 - last);
    return mask;
}

/* The new one goes first, the oldest leaves. */
static void remember(const struct fitset *s, int level, int64_t w, const int64_t *need)
{
    int64_t *count = lack_count(s, level, w), *lacks = lacks_of(s, level, w);
    size_t n = (size_t)s->resources;
    if (*count < LACKS)
        ++*count;
    memmove(lacks + n, lacks, (size_t)(*count - 1) * n * sizeof(*lacks));
    memcpy(lacks, need, n * sizeof(*lacks));
}

static bool known_lack(const struct fitset *s, int level, int64_t w, const int64_t *need)
{
    int64_t count = *lack_count(s, level, w);
    for (int64_t k = 0; k < count; k++)
        if (covers(need, lacks_of(s, level, w) + k * s->resources, s->resources))
            return true;
    return false;
}

/* The search has failed in all children of the word, which have at most so much. */
static void note_failure(struct fitset *s, const struct search *q, int level, int64_t w, const int64_t *most)
{
    int64_t span = INT64_C(64) << (6 * level);
    size_t bytes = (size_t)bounds(s) * sizeof(*most);
    memcpy(bound_of(s, level, w), most, bytes);
    if (q->lo <= w * span && (q->hi == s->size || q->hi >= (w + 1) * span))
        remember(s, level, w, q->need);
}

static bool may_hold(const struct fitset *s, const struct search *q, int level, int64_t w)
{
    if (s->resources == 0)
        return true;
    const int64_t *bound = bound_of(s, level, w);
    if (s->resources > 1 && bound[s->resources] < q->scarcer)
        return false;
    return covers(bound, q->need, s->resources) && !known_lack(s, level, w, q->need);
}

static int64_t search_word(struct fitset *s, const struct search *q, int level, int64_t w)
{
    ++*s->looks;
    if (!may_hold(s, q, level, w))
        return -1;
    int64_t most[FITSET_RESOURCES + 1];
    for (int32_t r = 0; r < bounds(s); r++)
        most[r] = INT64_MIN;
    uint64_t all = bits_of(s, level, w), seen = all & window(q, level, w);
    for (uint64_t bits = seen; bits != 0; bits &= bits - 1) {
        int64_t child = w * 64 + __builtin_ctzll(bits);
        if (level > 0) {
            int64_t found = search_word(s, q, level - 1, child);
            if (found >= 0)
                return found;
            raise(most, bound_of(s, level - 1, child), bounds(s));
            continue;
        }
        ++*s->looks;
        if (s->resources == 0 || covers(row(s, child), q->need, s->resources))
            return child;
        raise_to(s, most, row(s, child));
    }
    if (seen == all && s->resources > 0) /* else children were left out */
        note_failure(s, q, level, w, most);
    return -1;
}

int64_t fitset_first(struct fitset *s, int64_t lo, int64_t hi, const int64_t *need)
{
    if (s->total == 0 || lo >= hi)
        return -1;
    struct search q = {lo > 0 ? lo : 0, hi < s->size ? hi : s->size, need, 0};
    if (s->resources > 1)
        q.scarcer = scarcer(s, need);
    return q.lo < q.hi ? search_word(s, &q, s->levels - 1, 0) : -1;
}

static int64_t last_word(const struct fitset *s, int64_t hi, int level, int64_t w)
{
    struct search q = {0, hi, NULL, 0};
    uint64_t bits = bits_of(s, level, w) & window(&q, level, w);
    while (bits != 0) {
        int top = 63 - __builtin_clzll(bits);
        int64_t child = w * 64 + top;
        ++*s->looks;
        if (level == 0)
            return child;
        int64_t found = last_word(s, hi, level - 1, child);
        if (found >= 0)
            return found;
        bits &= ~(UINT64_C(1) << top);
    }
    return -1;
}

int64_t fitset_last(const struct fitset *s, int64_t hi)
{
    if (s->total == 0 || hi <= 0)
        return -1;
    return last_word(s, hi < s->size ? hi : s->size, s->levels - 1, 0);
}

int64_t fitset_rank(const struct fitset *s, int64_t i)
{
    REQUIRE(s->ranked);
    if (i >= s->size)
        return s->total;
    int64_t rank = 0;
    if (i <= 0)
        return 0;
    for (uint64_t bits = bits_of(s, 0, i >> 6) & (bit_of(i) - 1); bits != 0; bits &= bits - 1)
        rank += 1 + s->copies[(i & ~INT64_C(63)) + __builtin_ctzll(bits)];
    int64_t child = i >> 6;
    for (int l = 1; l < s->levels; l++, child >>= 6) {
        uint64_t bits = bits_of(s, l, child >> 6) & (bit_of(child) - 1);
        for (; bits != 0; bits &= bits - 1)
            rank += s->count[l - 1][(child & ~INT64_C(63)) + __builtin_ctzll(bits)];
    }
    return rank;
}

int64_t fitset_select(const struct fitset *s, int64_t k, int32_t *copy)
{
    REQUIRE(s->ranked && k >= 0 && k < s->total);
    int64_t w = 0;
    for (int l = s->levels - 1; l > 0; l--) {
        uint64_t bits = bits_of(s, l, w);
        int64_t child = w * 64 + __builtin_ctzll(bits);
        while (k >= s->count[l - 1][child]) {
            k -= s->count[l - 1][child];
            bits &= bits - 1;
            child = w * 64 + __builtin_ctzll(bits);
        }
        w = child;
    }
    uint64_t bits = bits_of(s, 0, w);
    int64_t i = w * 64 + __builtin_ctzll(bits);
    while (k > s->copies[i]) {
        k -= s->copies[i] + 1;
        bits &= bits - 1;
        i = w * 64 + __builtin_ctzll(bits);
    }
    *copy = (int32_t)k;
    return i;
}

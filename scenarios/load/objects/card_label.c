/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Card types as labels of nodes name them: NVIDIA's GPU feature discovery (nvidia.com/gpu.product:
 * NVIDIA-H100-80GB-HBM3, Tesla-V100-SXM2-16GB, with -SHARED or -MIG-... behind it), GKE
 * (nvidia-tesla-t4, nvidia-h100-80gb), EKS and Karpenter (h100). A name is cut into words; the words
 * that name a card of the catalogue decide, and a word such as 80GB which of its sizes.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/objects/objects.h"

enum { WORDS_MAX = 12, WORD_MAX = 32 };

struct words {
    char word[WORDS_MAX][WORD_MAX];
    int count;
    int64_t gib; /* of a word such as 80GB; 0 = none */
};

/* Lower case; "80gb" is a size, wherever it stands. */
static void cut(struct words *w, const char *text)
{
    while (*text != '\0' && w->count < WORDS_MAX) {
        size_t n = strcspn(text, "- _/");
        char *to = w->word[w->count], *end;
        const size_t kept = n < WORD_MAX ? n : WORD_MAX - 1;
        for (size_t i = 0; i < kept; i++)
            to[i] = (char)tolower((unsigned char)text[i]);
        to[kept] = '\0';
        const long v = strtol(to, &end, 10);
        if (v > 0 && v < 10000 && (strcmp(end, "gb") == 0 || strcmp(end, "gib") == 0)) {
            if (w->gib == 0)
                w->gib = v;
        } else if (n > 0) {
            w->count++;
        }
        text += n;
        text += *text != '\0';
    }
}

/* The words of a card's name, one after the other somewhere in the text. */
static bool names(const struct words *text, const char *card, int *length)
{
    struct words c = {.count = 0};
    cut(&c, card);
    *length = c.count;
    for (int at = 0; c.count > 0 && at + c.count <= text->count; at++) {
        int i = 0;
        while (i < c.count && strcmp(text->word[at + i], c.word[i]) == 0)
            i++;
        if (i == c.count)
            return true;
    }
    return false;
}

/* "A100-80" is the card A100 with 80 GiB: its name without the size. */
static size_t base_length(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash != NULL && dash[1] != '\0' && strspn(dash + 1, "0123456789") == strlen(dash + 1) && strtol(dash + 1, NULL, 10) < 1000
               ? (size_t)(dash - name)
               : strlen(name);
}

static int64_t distance(const struct card_type *c, int64_t mib)
{
    const int64_t d = c->memory_bytes / (INT64_C(1) << 20) - mib;
    return d < 0 ? -d : d;
}

struct found {
    int32_t card; /* -1 = none */
    int length;   /* words of its name: the longest name counts */
    bool ambiguous;
};

static void look_at(struct found *f, const struct words *w, int32_t i, int64_t mib)
{
    const struct card_type *cards = catalogue_builtin()->cards;
    char base[WORD_MAX];
    int length;
    const size_t n = base_length(cards[i].name);
    if (n >= sizeof base)
        return;
    memcpy(base, cards[i].name, n);
    base[n] = '\0';
    if (!names(w, base, &length) || length < f->length)
        return;
    if (f->card < 0 || length > f->length) {
        *f = (struct found){i, length, false};
    } else if (mib == 0) { /* the smaller one, if it is asked at all */
        f->ambiguous = true;
        f->card = cards[i].memory_bytes < cards[f->card].memory_bytes ? i : f->card;
    } else if (distance(&cards[i], mib) < distance(&cards[f->card], mib)) {
        f->card = i;
    }
}

int32_t ob_card_named(const char *text, int64_t memory_mib)
{
    static const char gke[] = "nvidia-tesla-"; /* there A100 is the one of 40 GB, V100 of 16 GB */
    const struct catalogue *c = catalogue_builtin();
    const int32_t exact = catalogue_find_card(c, text);
    struct words w = {.count = 0};
    struct found f = {.card = -1};
    if (exact >= 0)
        return exact;
    cut(&w, text);
    if (w.gib > 0)
        memory_mib = w.gib * 1024;
    for (int32_t i = 0; i < c->card_count; i++)
        look_at(&f, &w, i, memory_mib);
    if (f.card < 0 || (f.ambiguous && strncmp(text, gke, sizeof gke - 1) != 0))
        return -1;
    /* A size far from that of every card of the name is a card that the catalogue does not have. */
    return memory_mib > 0 && 4 * distance(&c->cards[f.card], memory_mib) > memory_mib ? -1 : f.card;
}

static const char *label_value(const struct policy_label *labels, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].value;
    return NULL;
}

int32_t ob_card_type(const struct policy_label *labels, uint32_t count, const struct policy_label **label)
{
    static const char *const keys[] = {"card", "nvidia.com/gpu.product", "cloud.google.com/gke-accelerator",
                                       "k8s.amazonaws.com/accelerator", "karpenter.k8s.aws/instance-gpu-name",
                                       "amd.com/gpu.product-name", "accelerator", NULL};
    const char *memory = label_value(labels, count, "nvidia.com/gpu.memory");
    const int64_t mib = memory == NULL ? 0 : strtol(memory, NULL, 10);
    *label = NULL;
    for (int k = 0; keys[k] != NULL; k++)
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(labels[i].key, keys[k]) != 0)
                continue;
            const int32_t card = ob_card_named(labels[i].value, mib > 0 && mib < 10000000 ? mib : 0);
            if (card >= 0 || *label == NULL)
                *label = &labels[i];
            if (card >= 0)
                return card;
        }
    return -1;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of profiles and layouts (gpu-sharing 1.2, 1.5, 1.7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/mig.h"

#define NAME_MAX_BYTES 48

static void list_profiles(const struct mig_card *card, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < card->profile_count && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", card->profiles[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* The name with '+' as '.', as resources are spelled. */
static void spell(char out[NAME_MAX_BYTES], const char *name)
{
    size_t n = 0;
    for (; n < NAME_MAX_BYTES - 1 && name[n] != '\0'; n++)
        out[n] = name[n] == '+' ? '.' : name[n];
    out[n] = '\0';
}

/* Behind the prefixes of a resource name and of a compute instance. */
static const char *bare(const char *name)
{
    static const char *const prefixes[] = {"nvidia.com/", "mig-"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    if (name[0] >= '1' && name[0] <= '7' && name[1] == 'c' && name[2] == '.')
        name += 3;
    return name;
}

int32_t mig_profile_find(const struct mig_card *card, const char *name, struct err *e)
{
    char wanted[NAME_MAX_BYTES], spelled[NAME_MAX_BYTES];
    spell(wanted, bare(name));
    for (int32_t i = 0; i < card->profile_count; i++) {
        spell(spelled, card->profiles[i].name);
        if (strcmp(spelled, wanted) == 0 && strlen(bare(name)) < NAME_MAX_BYTES)
            return i;
    }
    char legal[320];
    list_profiles(card, legal, sizeof(legal));
    err_set(e, ERR_INPUT, "%s has no MIG profile '%.40s': expected one of %s", card->name, name, legal);
    return -1;
}

void mig_resource_name(char out[64], const struct mig_profile *profile)
{
    char spelled[NAME_MAX_BYTES];
    spell(spelled, profile->name);
    snprintf(out, 64, "nvidia.com/mig-%s", spelled);
}

/* ---- layouts ---- */

static bool too_many(const struct mig_card *card, const char *text, struct err *e)
{
    return err_set(e, ERR_INPUT, "MIG layout '%.60s' does not fit on %s: %d compute and %d memory slices",
                   text, card->name, card->compute, card->memory);
}

/* As many instances of the profile as the card takes. */
static bool fill(const struct mig_card *card, const char *profile, struct mig_layout *out,
                 struct err *e)
{
    int32_t wanted[MIG_INSTANCES_MAX], p = mig_profile_find(card, profile, e);
    if (p < 0)
        return false;
    for (int i = 0; i < card->profiles[p].max; i++)
        wanted[i] = p;
    return mig_create(card, wanted, card->profiles[p].max, MIG_PERMUTE, out) ||
           too_many(card, profile, e);
}

/* The plain profile with so many compute slices and the least memory, or -1. */
static int32_t plain_profile(const struct mig_card *card, int compute)
{
    for (int32_t i = 0; i < card->profile_count; i++)
        if (card->profiles[i].compute == compute && card->profiles[i].media == MIG_MEDIA_PLAIN &&
            !card->profiles[i].graphics && (compute != 1 || card->profiles[i].size == 1))
            return i;
    return -1;
}

/* Two 1g, one 2g and, with seven slices, one 3g (mig-parted's default configuration). */
static bool balanced(const struct mig_card *card, struct mig_layout *out, struct err *e)
{
    int32_t wanted[4] = {plain_profile(card, 1), plain_profile(card, 1), plain_profile(card, 2), 0};
    int32_t count = 3;
    if (card->compute == 7)
        wanted[count++] = plain_profile(card, 3);
    for (int32_t i = 0; i < count; i++)
        if (wanted[i] < 0)
            return err_set(e, ERR_INPUT, "%s has no balanced MIG layout", card->name);
    return mig_create(card, wanted, count, MIG_PERMUTE, out) || too_many(card, "all-balanced", e);
}

/* One item "3g.20gb" or "1g.5gb*2" of length n, appended to wanted. */
static bool take_item(const struct mig_card *card, const char *item, size_t n, int32_t *wanted,
                      int32_t *count, struct err *e)
{
    char name[NAME_MAX_BYTES];
    while (n > 0 && item[0] == ' ')
        item++, n--;
    while (n > 0 && item[n - 1] == ' ')
        n--;
    snprintf(name, sizeof(name), "%.*s", (int)n, item);
    long times = 1;
    char *star = strchr(name, '*');
    if (star != NULL) {
        char *end;
        *star = '\0';
        times = strtol(star + 1, &end, 10);
        if (*end != '\0' || end == star + 1 || times < 1 || times > MIG_INSTANCES_MAX)
            return err_set(e, ERR_INPUT, "MIG layout: '%.*s': expected a count from 1 to %d after '*'",
                           (int)n, item, MIG_INSTANCES_MAX);
    }
    int32_t p = mig_profile_find(card, name, e);
    for (; p >= 0 && times > 0; times--) {
        if (*count == MIG_INSTANCES_MAX)
            return err_set(e, ERR_INPUT, "MIG layout: more than %d instances on one %s",
                           MIG_INSTANCES_MAX, card->name);
        wanted[(*count)++] = p;
    }
    return p >= 0;
}

static bool parse_list(const struct mig_card *card, const char *text, struct mig_layout *out,
                       struct err *e)
{
    int32_t wanted[MIG_INSTANCES_MAX], count = 0;
    for (const char *item = text; item != NULL;) {
        const char *comma = strchr(item, ',');
        if (!take_item(card, item, comma != NULL ? (size_t)(comma - item) : strlen(item), wanted,
                       &count, e))
            return false;
        item = comma != NULL ? comma + 1 : NULL;
    }
    return mig_create(card, wanted, count, MIG_PERMUTE, out) || too_many(card, text, e);
}

bool mig_layout_parse(const struct mig_card *card, const char *text, struct mig_layout *out,
                      struct err *e)
{
    *out = (struct mig_layout){.count = 0};
    if (strcmp(text, "all-disabled") == 0)
        return true;
    if (strcmp(text, "all-balanced") == 0)
        return balanced(card, out, e);
    if (strncmp(text, "all-", 4) == 0)
        return fill(card, text + 4, out, e);
    return parse_list(card, text, out, e);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cards and profiles (gpu-sharing 1.1, 1.2). Memory in MiB is what the driver or its mock prints
 * for the A100; elsewhere the card's memory by slices, marked assumed. SMs: A100 and A30 14 a
 * slice, H100 16 (3g 60, 7g 132), B200 18, RTX PRO 6000 as documented; others inferred.
 */
#include <string.h>

#include "models/fleet/sharing/mig.h"

#define PLACED(name_, compute_, size_, max_, media_, mib_, sms_) \
    .name = name_, .compute = compute_, .size = size_, .max = max_, .media = media_, \
    .memory_mib = mib_, .sms = sms_

/* The profiles of the seven-slice family; driver order where a listing shows it (1.4). */
#define ONE(name, max, media, mib, sms) \
    {PLACED(name, 1, 1, max, media, mib, sms), .starts = {0, 1, 2, 3, 4, 5, 6}, .start_count = 7, \
     .driver_starts = {6, 4, 5, 0, 1, 2, 3}}
#define ONE_DOUBLE(name, mib, sms) \
    {PLACED(name, 1, 2, 4, MIG_MEDIA_PLAIN, mib, sms), .starts = {0, 2, 4, 6}, .start_count = 4, \
     .driver_starts = {6, 4, 2, 0}}
#define TWO(name, mib, sms) \
    {PLACED(name, 2, 2, 3, MIG_MEDIA_PLAIN, mib, sms), .starts = {0, 2, 4}, .start_count = 3, \
     .driver_starts = {4, 2, 0}}
#define THREE(name, mib, sms) \
    {PLACED(name, 3, 4, 2, MIG_MEDIA_PLAIN, mib, sms), .starts = {0, 4}, .start_count = 2, \
     .driver_starts = {4, 0}}
#define FOUR(name, mib, sms) \
    {PLACED(name, 4, 4, 1, MIG_MEDIA_PLAIN, mib, sms), .start_count = 1}
#define SEVEN(name, mib, sms) \
    {PLACED(name, 7, 8, 1, MIG_MEDIA_PLAIN, mib, sms), .start_count = 1}

/* gb: card memory in GiB of the names; sm1..sm7: SMs of 1g, 2g, 3g, 4g, 7g. */
#define SLICES(gb, n) ((gb)*1024 * (n) / 8)
#define SEVEN_SLICES(...) SEVEN_EXPANDED(__VA_ARGS__) /* so that the SMs count as five */
#define SEVEN_EXPANDED(card, also, gb, whole, n1, nd, n2, n3, n4, n7, sm1, sm2, sm3, sm4, sm7) \
    {.name = card, .aliases = also, .compute = 7, .memory = 8, .sms = whole, .assumed = true, \
     .profile_count = 7, \
     .profiles = {ONE(n1, 7, MIG_MEDIA_PLAIN, SLICES(gb, 1), sm1), \
                  ONE(n1 "+me", 1, MIG_MEDIA_EXTRA, SLICES(gb, 1), sm1), \
                  ONE_DOUBLE(nd, SLICES(gb, 2), sm1), TWO(n2, SLICES(gb, 2), sm2), \
                  THREE(n3, SLICES(gb, 4), sm3), FOUR(n4, SLICES(gb, 4), sm4), \
                  SEVEN(n7, SLICES(gb, 8), sm7)}}
#define HOPPER_SMS 16, 32, 60, 64, 132
#define BLACKWELL_SMS 18, 36, 54, 72, 126

/* Four-slice cards: starts ascending, also for the driver. */
#define QUARTER(name, max, media, mib, sms, gfx) \
    {PLACED(name, 1, 1, max, media, mib, sms), .graphics = gfx, .starts = {0, 1, 2, 3}, \
     .start_count = 4, .driver_starts = {0, 1, 2, 3}}
#define HALF(name, max, media, mib, sms, gfx) \
    {PLACED(name, 2, 2, max, media, mib, sms), .graphics = gfx, .starts = {0, 2}, \
     .start_count = 2, .driver_starts = {0, 2}}
#define FULL(name, mib, sms, gfx) \
    {PLACED(name, 4, 4, 1, MIG_MEDIA_PLAIN, mib, sms), .graphics = gfx, .start_count = 1}

static const struct mig_card cards[] = {
    {.name = "A30", .aliases = "", .compute = 4, .memory = 4, .sms = 56, .reset = true,
     .assumed = true, .profile_count = 5,
     .profiles = {QUARTER("1g.6gb", 4, MIG_MEDIA_PLAIN, 6144, 14, false),
                  QUARTER("1g.6gb+me", 1, MIG_MEDIA_EXTRA, 6144, 14, false),
                  HALF("2g.12gb", 2, MIG_MEDIA_PLAIN, 12288, 28, false),
                  HALF("2g.12gb+me", 1, MIG_MEDIA_EXTRA, 12288, 28, false),
                  FULL("4g.24gb", 24576, 56, false)}},
    {.name = "A100-40", .aliases = "", .compute = 7, .memory = 8, .sms = 108, .reset = true,
     .profile_count = 7,
     .profiles = {ONE("1g.5gb", 7, MIG_MEDIA_PLAIN, 4864, 14),
                  ONE("1g.5gb+me", 1, MIG_MEDIA_EXTRA, 4864, 14), ONE_DOUBLE("1g.10gb", 9856, 14),
                  TWO("2g.10gb", 9856, 28), THREE("3g.20gb", 19968, 42),
                  FOUR("4g.20gb", 19968, 56), SEVEN("7g.40gb", 40192, 98)}},
    {.name = "A100-80", .aliases = "A800-80", .compute = 7, .memory = 8, .sms = 108, .reset = true,
     .profile_count = 7,
     .profiles = {ONE("1g.10gb", 7, MIG_MEDIA_PLAIN, 9856, 14),
                  ONE("1g.10gb+me", 1, MIG_MEDIA_EXTRA, 9856, 14), ONE_DOUBLE("1g.20gb", 19968, 14),
                  TWO("2g.20gb", 19968, 28), THREE("3g.40gb", 40192, 42),
                  FOUR("4g.40gb", 40192, 56), SEVEN("7g.80gb", 80384, 98)}},
    SEVEN_SLICES("H100", "H100-80", 80, 132, "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb",
                 "7g.80gb", HOPPER_SMS),
    SEVEN_SLICES("H100-94", "H100-NVL", 94, 132, "1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb",
                 "4g.47gb", "7g.94gb", HOPPER_SMS),
    SEVEN_SLICES("H100-96", "GH200-96", 96, 132, "1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb",
                 "4g.48gb", "7g.96gb", HOPPER_SMS),
    SEVEN_SLICES("H20", "", 96, 78, "1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb",
                 "7g.96gb", 11, 22, 33, 44, 78),
    SEVEN_SLICES("H200", "H200-141", 141, 132, "1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb",
                 "4g.71gb", "7g.141gb", HOPPER_SMS),
    SEVEN_SLICES("GH200-144", "", 144, 132, "1g.18gb", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb",
                 "7g.144gb", HOPPER_SMS),
    SEVEN_SLICES("B200", "B200-180", 180, 148, "1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb",
                 "4g.90gb", "7g.180gb", BLACKWELL_SMS),
    SEVEN_SLICES("GB200", "GB200-186", 186, 148, "1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb",
                 "4g.93gb", "7g.186gb", BLACKWELL_SMS),
    SEVEN_SLICES("B300", "", 269, 148, "1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb",
                 "7g.269gb", BLACKWELL_SMS),
    SEVEN_SLICES("GB300", "", 278, 148, "1g.35gb", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb",
                 "7g.278gb", BLACKWELL_SMS),
    {.name = "RTX-PRO-6000", .aliases = "", .compute = 4, .memory = 4, .sms = 188, .assumed = true,
     .profile_count = 11,
     .profiles = {QUARTER("1g.24gb", 4, MIG_MEDIA_PLAIN, 24187, 46, false),
                  QUARTER("1g.24gb+me", 1, MIG_MEDIA_EXTRA, 24187, 46, false),
                  QUARTER("1g.24gb+gfx", 4, MIG_MEDIA_PLAIN, 24187, 46, true),
                  QUARTER("1g.24gb+me.all", 1, MIG_MEDIA_ALL, 24187, 46, false),
                  QUARTER("1g.24gb-me", 4, MIG_MEDIA_NONE, 24187, 46, false),
                  HALF("2g.48gb", 2, MIG_MEDIA_PLAIN, 48517, 94, false),
                  HALF("2g.48gb+gfx", 2, MIG_MEDIA_PLAIN, 48517, 94, true),
                  HALF("2g.48gb+me.all", 1, MIG_MEDIA_ALL, 48517, 94, false),
                  HALF("2g.48gb-me", 2, MIG_MEDIA_NONE, 48517, 94, false),
                  FULL("4g.96gb", 97280, 188, false), FULL("4g.96gb+gfx", 97280, 188, true)}},
    {.name = "RTX-PRO-5000", .aliases = "", .compute = 4, .memory = 4, .sms = 110, .assumed = true,
     .media_max = 1, .profile_count = 7,
     .profiles = {QUARTER("1g.12gb", 1, MIG_MEDIA_PLAIN, 12288, 27, false),
                  QUARTER("1g.12gb+me", 1, MIG_MEDIA_EXTRA, 12288, 27, false),
                  QUARTER("1g.12gb+gfx", 1, MIG_MEDIA_PLAIN, 12288, 27, true),
                  QUARTER("1g.12gb-me", 3, MIG_MEDIA_NONE, 12288, 27, false),
                  HALF("2g.24gb-me", 1, MIG_MEDIA_NONE, 24576, 55, false),
                  FULL("4g.48gb", 49152, 110, false), FULL("4g.48gb+gfx", 49152, 110, true)}},
};

const struct mig_card *mig_cards(int32_t *count)
{
    *count = (int32_t)(sizeof(cards) / sizeof(cards[0]));
    return cards;
}

/* Is name one of the words of text? */
static bool is_word(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; n > 0 && (at = strstr(at, name)) != NULL; at++)
        if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

const struct mig_card *mig_card_find(const char *name)
{
    for (size_t i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
        if (strcmp(cards[i].name, name) == 0 || is_word(cards[i].aliases, name))
            return &cards[i];
    return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MIG layouts and profile names as users write them, for every card: what is accepted is legal. */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/mig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int32_t count;
    const struct mig_card *cards = mig_cards(&count);
    char text[256];
    if (size < 1 || size > sizeof(text))
        return 0;
    const struct mig_card *card = &cards[data[0] % count];
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct mig_layout layout;
    struct err e = {0};
    if (mig_layout_parse(card, text, &layout, &e) ? !mig_layout_ok(card, &layout)
                                                  : e.code != ERR_INPUT)
        abort();
    struct err one = {0};
    if (mig_profile_find(card, text, &one) >= card->profile_count)
        abort();
    return 0;
}

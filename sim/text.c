/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/text.h"

#include <stdio.h>

void text_vsay(struct text *t, const char *fmt, va_list args)
{
    const int n = vsnprintf(t->v + t->length, t->size - t->length, fmt, args);
    const size_t left = t->size - 1 - t->length;
    t->length += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left;
}

void text_say(struct text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_vsay(t, fmt, args);
    va_end(args);
}

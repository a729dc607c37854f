/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text put together piece by piece in a buffer of fixed size; what does not fit is cut. */
#ifndef SIM_TEXT_H
#define SIM_TEXT_H

#include <stdarg.h>
#include <stddef.h>

struct text {
    char *v;             /* the caller's; always ended by NUL */
    size_t size, length; /* bytes of v, and those used without the NUL */
};

/* An empty text in a char array, which must begin with NUL. */
#define TEXT(array) {(array), sizeof(array), 0}

void text_say(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vsay(struct text *t, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

#endif

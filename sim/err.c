/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"

bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    REQUIRE(code != ERR_NONE);
    if (e->code != ERR_NONE)
        return false;
    va_list args;
    va_start(args, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, args);
    va_end(args);
    e->code = code;
    return false;
}

bool err_errno(struct err *e, enum err_code code, const char *fmt, ...)
{
    int number = errno;
    char reason[128];
    REQUIRE(code != ERR_NONE);
    if (e->code != ERR_NONE)
        return false;
    /* strerror is not safe with threads; POSIX strerror_r is. */
    if (strerror_r(number, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", number);
    va_list args;
    va_start(args, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, args);
    va_end(args);
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %s", reason);
    e->code = code;
    return false;
}

int err_exit_status(const struct err *e)
{
    switch (e->code) {
    case ERR_NONE:
        return 0;
    case ERR_INPUT:
        return 2;
    case ERR_SYSTEM:
    case ERR_STOPPED:
        return 3;
    }
    return 3;
}

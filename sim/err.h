/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors of the environment (file, database, disk) and of input that has no position. A function
 * that can fail returns bool (true = done) and fills a struct err; the first error wins.
 */
#ifndef SIM_ERR_H
#define SIM_ERR_H

#include <stdbool.h>

enum err_code {
    ERR_NONE = 0,
    ERR_INPUT,  /* bad input: exit 2 */
    ERR_SYSTEM, /* the machine failed us (disk full, no permission on output): exit 3 */
    ERR_STOPPED /* interrupted by the user */
};

struct err {
    enum err_code code;
    char text[512]; /* git's wording: no capital, no full stop, the fact first */
};

/* Sets code and text unless an error is already set. Returns false, for `return err_set(...)`. */
bool err_set(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Like err_set, followed by ": strerror(errno)". */
bool err_errno(struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Exit status of the program for this error: 0, 2 or 3. */
int err_exit_status(const struct err *e);

#endif

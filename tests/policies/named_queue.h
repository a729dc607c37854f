/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named cases of Kueue's queue tests, under Kueue's names. */
#ifndef TESTS_POLICIES_NAMED_QUEUE_H
#define TESTS_POLICIES_NAMED_QUEUE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

extern const struct CMUnitTest named_queue_tests[];
extern const size_t named_queue_count;

#endif

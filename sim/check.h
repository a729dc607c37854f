/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Assertions about our own errors. REQUIRE stays in release builds (preconditions, closure of
 * the ledger); CHECK is for expensive invariants and compiles away under NDEBUG. Both print
 * file, line and text and abort: a simulation that broke an invariant has no result.
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

_Noreturn void check_failed(const char *file, int line, const char *text);

#define REQUIRE(cond)                                                                              \
    do {                                                                                           \
        if (!(cond))                                                                               \
            check_failed(__FILE__, __LINE__, #cond);                                               \
    } while (0)

#ifdef NDEBUG
#define CHECK(cond) ((void)0)
#else
#define CHECK(cond) REQUIRE(cond)
#endif

#endif

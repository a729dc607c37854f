/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Formulas of KEDA's advanced.scalingModifiers (the arithmetic part of the expr language):
 * numbers, trigger names, nil, true, false, parentheses, lists,
 *   ?:  ??  || or  && and  == != < <= > >=  + - * /  unary - + ! not
 *   min max sum mean (of a list or of arguments), abs ceil floor round float int, len.
 * A trigger without a value is nil: `a ?? b` takes the other, arithmetic with nil fails.
 * Not supported (refused when parsing): ^ and **, %, strings, ranges, closures, members.
 */
#ifndef MODELS_ELASTIC_FORMULA_H
#define MODELS_ELASTIC_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

enum { FORMULA_CODE_LIMIT = 128, FORMULA_DEPTH_LIMIT = 32, FORMULA_TEXT_LIMIT = 1024 };

enum formula_kind { FORMULA_NIL, FORMULA_NUMBER, FORMULA_BOOL, FORMULA_ERROR };

struct formula_value {
    enum formula_kind kind;
    double number; /* or 0/1 of a bool */
};

struct formula_op {
    uint8_t code;   /* enum in formula.c */
    uint8_t count;  /* arguments of a call, or function */
    uint16_t jump;  /* target of a jump, or index of a variable */
    double number;
};

/* A compiled formula: code for a small stack machine. A plain value; nothing to free. */
struct formula {
    uint32_t count; /* 0 = no formula */
    struct formula_op code[FORMULA_CODE_LIMIT];
};

/* Compiles text. names: the variables, count of them; NULL entries match nothing. On failure
 * returns false with ERR_INPUT: "column N: expected ..., found ...". */
bool formula_parse(struct formula *f, const char *text, const char *const *names, size_t count,
                   struct err *e);

/* Value for the variables, in the order of names. Never aborts: a failed operation (nil or bool
 * where a number is needed) gives FORMULA_ERROR. */
struct formula_value formula_eval(const struct formula *f, const struct formula_value *variables);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Codes shared by the compiler (formula.c) and the machine (formula_eval.c). */
#ifndef MODELS_ELASTIC_FORMULA_PRIV_H
#define MODELS_ELASTIC_FORMULA_PRIV_H

enum { FORMULA_STACK_LIMIT = 64 };

enum formula_code {
    OP_NUMBER,
    OP_NIL,
    OP_BOOL,
    OP_VARIABLE,
    OP_NEGATE,
    OP_NOT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_JUMP,
    OP_POP_JUMP_IF_FALSE, /* pops; anything but a bool is an error */
    OP_JUMP_IF_FALSE,     /* keeps the value */
    OP_JUMP_IF_TRUE,
    OP_JUMP_IF_NOT_NIL,
    OP_POP,
    OP_CALL
};

enum formula_function { FN_MIN, FN_MAX, FN_SUM, FN_MEAN, FN_LEN, FN_ABS, FN_CEIL, FN_FLOOR, FN_ROUND,
                FN_FLOAT, FN_INT, FN_COUNT };

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/formula.h"

#include "models/elastic/formula_priv.h"
#include "sim/dmath.h"

static struct formula_value number(double x)
{
    return (struct formula_value){FORMULA_NUMBER, x};
}

static struct formula_value boolean(bool b)
{
    return (struct formula_value){FORMULA_BOOL, b ? 1.0 : 0.0};
}

static struct formula_value error(void)
{
    return (struct formula_value){FORMULA_ERROR, 0};
}

static struct formula_value compare_equal(struct formula_value a, struct formula_value b, bool want)
{
    bool equal = a.kind == b.kind && (a.kind == FORMULA_NIL || a.number == b.number);
    return boolean(equal == want);
}

static struct formula_value binary(enum formula_code op, struct formula_value a, struct formula_value b)
{
    if (op == OP_EQUAL || op == OP_UNEQUAL)
        return compare_equal(a, b, op == OP_EQUAL);
    if (a.kind != FORMULA_NUMBER || b.kind != FORMULA_NUMBER)
        return error();
    if (op == OP_ADD)
        return number(a.number + b.number);
    if (op == OP_SUBTRACT)
        return number(a.number - b.number);
    if (op == OP_MULTIPLY)
        return number(a.number * b.number);
    if (op == OP_DIVIDE)
        return number(a.number / b.number);
    if (op == OP_LESS)
        return boolean(a.number < b.number);
    if (op == OP_LESS_EQUAL)
        return boolean(a.number <= b.number);
    if (op == OP_GREATER)
        return boolean(a.number > b.number);
    return boolean(a.number >= b.number);
}

static double single(enum formula_function fn, double x)
{
    if (fn == FN_ABS)
        return x < 0 ? -x : x;
    if (fn == FN_CEIL)
        return dm_ceil(x);
    if (fn == FN_FLOOR)
        return dm_floor(x);
    if (fn == FN_ROUND)
        return dm_round(x);
    if (fn == FN_INT)
        return x < 0 ? dm_ceil(x) : dm_floor(x);
    return x; /* float */
}

static struct formula_value call(enum formula_function fn, const struct formula_value *v, size_t n)
{
    if (fn == FN_LEN)
        return number((double)n);
    for (size_t i = 0; i < n; i++)
        if (v[i].kind != FORMULA_NUMBER)
            return error();
    if (fn >= FN_ABS)
        return number(single(fn, v[0].number));
    double r = fn == FN_SUM || fn == FN_MEAN ? 0.0 : v[0].number;
    for (size_t i = 0; i < n; i++) {
        double x = v[i].number;
        if (fn == FN_MIN)
            r = x < r ? x : r;
        else if (fn == FN_MAX)
            r = x > r ? x : r;
        else
            r += x;
    }
    return number(fn == FN_MEAN ? r / (double)n : r);
}

struct machine {
    struct formula_value stack[FORMULA_STACK_LIMIT + 1];
    size_t top; /* values */
    bool failed;
};

static void push(struct machine *m, struct formula_value v)
{
    if (v.kind == FORMULA_ERROR || m->top >= FORMULA_STACK_LIMIT)
        m->failed = true;
    else
        m->stack[m->top++] = v;
}

/* Where a jump goes on from i. */
static size_t jump(struct machine *m, const struct formula_op *op, size_t i)
{
    struct formula_value v = m->stack[m->top - 1];
    bool go = true;
    if (op->code == OP_JUMP_IF_NOT_NIL) {
        go = v.kind != FORMULA_NIL;
    } else if (op->code != OP_JUMP) {
        m->failed = v.kind != FORMULA_BOOL;
        go = (v.number == 0.0) == (op->code != OP_JUMP_IF_TRUE);
        m->top -= op->code == OP_POP_JUMP_IF_FALSE;
    }
    return go ? op->jump : i + 1;
}

static void step(struct machine *m, const struct formula_op *op,
                 const struct formula_value *variables)
{
    enum formula_code code = (enum formula_code)op->code;
    struct formula_value top = m->top > 0 ? m->stack[m->top - 1] : error();
    if (code == OP_NUMBER) {
        push(m, number(op->number));
    } else if (code == OP_NIL) {
        push(m, (struct formula_value){FORMULA_NIL, 0});
    } else if (code == OP_BOOL) {
        push(m, boolean(op->number != 0.0));
    } else if (code == OP_VARIABLE) {
        push(m, variables[op->jump]);
    } else if (code == OP_POP) {
        m->top--;
    } else if (code == OP_NEGATE || code == OP_NOT) {
        m->top--;
        enum formula_kind need = code == OP_NOT ? FORMULA_BOOL : FORMULA_NUMBER;
        push(m, top.kind != need ? error()
                : code == OP_NOT ? boolean(top.number == 0.0)
                                 : number(-top.number));
    } else if (code == OP_CALL) {
        m->top -= op->jump;
        push(m, call((enum formula_function)op->count, m->stack + m->top, op->jump));
    } else {
        m->top -= 2;
        push(m, binary(code, m->stack[m->top], top));
    }
}

struct formula_value formula_eval(const struct formula *f, const struct formula_value *variables)
{
    struct machine m = {.top = 0};
    for (size_t i = 0; i < f->count && !m.failed;) {
        const struct formula_op *op = &f->code[i];
        if (op->code >= OP_JUMP && op->code <= OP_JUMP_IF_NOT_NIL) {
            i = jump(&m, op, i);
        } else {
            step(&m, op, variables);
            i++;
        }
    }
    return m.failed || m.top != 1 ? error() : m.stack[0];
}

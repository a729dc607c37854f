/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/formula.h"

#include <stdlib.h>
#include <string.h>

#include "sim/dmath.h"

enum { STACK_LIMIT = 64 };

enum op_code {
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

enum function { FN_MIN, FN_MAX, FN_SUM, FN_MEAN, FN_LEN, FN_ABS, FN_CEIL, FN_FLOOR, FN_ROUND,
                FN_FLOAT, FN_INT, FN_COUNT };

static const char *const function_names[FN_COUNT] = {"min", "max",   "sum",   "mean",  "len", "abs",
                                                     "ceil", "floor", "round", "float", "int"};

/* --- parser: precedence climbing, emitting code ------------------------------------------------ */

struct parser {
    struct formula *f;
    const char *text, *at;
    const char *const *names;
    size_t name_count;
    int depth;       /* of recursion */
    int stack;       /* values on the stack at this point of the code */
    bool failed;
    struct err *err;
};

static bool fail(struct parser *p, const char *expected)
{
    if (!p->failed) {
        long column = (long)(p->at - p->text) + 1;
        if (*p->at == '\0')
            err_set(p->err, ERR_INPUT, "column %ld: expected %s, found the end of the formula",
                    column, expected);
        else
            err_set(p->err, ERR_INPUT, "column %ld: expected %s, found '%c'", column, expected,
                    *p->at);
    }
    p->failed = true;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void skip_space(struct parser *p)
{
    while (is_space(*p->at))
        p->at++;
}

/* Takes token if it comes next; a word must end there. */
static bool take(struct parser *p, const char *token)
{
    skip_space(p);
    size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0 || (is_word(token[0]) && is_word(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static uint32_t emit(struct parser *p, enum op_code code, double number, unsigned jump, int pushes)
{
    p->stack += pushes;
    if (p->f->count >= FORMULA_CODE_LIMIT || p->stack > STACK_LIMIT) {
        fail(p, "a shorter formula");
        return 0;
    }
    p->f->code[p->f->count] = (struct formula_op){
        .code = (uint8_t)code, .jump = (uint16_t)jump, .number = number};
    return p->f->count++;
}

static void patch(struct parser *p, uint32_t at)
{
    if (!p->failed)
        p->f->code[at].jump = (uint16_t)p->f->count;
}

static bool parse_ternary(struct parser *p);

/* Comma-separated values up to close; lists inside are flattened. Returns how many. */
static int parse_values(struct parser *p, const char *close)
{
    int n = 0;
    if (take(p, close))
        return 0;
    do {
        if (take(p, "[")) {
            n += parse_values(p, "]");
        } else {
            if (!parse_ternary(p))
                return 0;
            n++;
        }
    } while (!p->failed && take(p, ","));
    if (!p->failed && !take(p, close))
        fail(p, close[0] == ')' ? "',' or ')'" : "',' or ']'");
    return n;
}

static bool parse_call(struct parser *p, enum function fn)
{
    int before = p->stack;
    int n = parse_values(p, ")");
    if (p->failed)
        return false;
    bool one = fn >= FN_ABS;
    if (n == 0 && fn != FN_SUM && fn != FN_LEN)
        return fail(p, "an argument");
    if (one && n != 1)
        return fail(p, "one argument");
    uint32_t at = emit(p, OP_CALL, 0, (unsigned)n, 0);
    if (!p->failed)
        p->f->code[at].count = (uint8_t)fn;
    p->stack = before + 1;
    return !p->failed;
}

static bool parse_word(struct parser *p)
{
    const char *start = p->at;
    while (is_word(*p->at))
        p->at++;
    size_t n = (size_t)(p->at - start);
    for (size_t i = 0; i < p->name_count; i++) {
        if (p->names[i] && strlen(p->names[i]) == n && strncmp(p->names[i], start, n) == 0) {
            emit(p, OP_VARIABLE, 0, (unsigned)i, 1);
            return !p->failed;
        }
    }
    for (int fn = 0; fn < FN_COUNT; fn++) {
        if (strlen(function_names[fn]) == n && strncmp(function_names[fn], start, n) == 0 &&
            take(p, "("))
            return parse_call(p, (enum function)fn);
    }
    p->at = start;
    return fail(p, "a number, a trigger name or a function");
}

static bool parse_number(struct parser *p)
{
    char *end = NULL;
    /* Only plain decimal notation: strtod would also take hexadecimal, inf and nan. */
    double v = strtod(p->at, &end);
    for (const char *c = p->at; c < end; c++)
        if (*c == 'x' || *c == 'X')
            return fail(p, "a decimal number");
    if (is_word(*end))
        return fail(p, "a decimal number");
    p->at = end;
    emit(p, OP_NUMBER, v, 0, 1);
    return !p->failed;
}

static bool parse_primary(struct parser *p)
{
    skip_space(p);
    if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1])))
        return parse_number(p);
    if (take(p, "(")) {
        if (!parse_ternary(p))
            return false;
        return take(p, ")") || fail(p, "')'");
    }
    if (take(p, "nil"))
        emit(p, OP_NIL, 0, 0, 1);
    else if (take(p, "true"))
        emit(p, OP_BOOL, 1, 0, 1);
    else if (take(p, "false"))
        emit(p, OP_BOOL, 0, 0, 1);
    else if (is_word(*p->at))
        return parse_word(p);
    else
        return fail(p, "a value");
    return !p->failed;
}

enum { POWER_OR = 10, POWER_AND = 15, POWER_COMPARE = 20, POWER_SUM = 30, POWER_NOT = 50,
       POWER_PRODUCT = 60, POWER_SIGN = 90, POWER_COALESCE = 500 };

struct binary {
    const char *token;
    int power;
    enum op_code code;
};

/* Longer tokens first. Powers as in the expr language, where ?? binds tightest. */
static const struct binary binaries[] = {
    {"??", POWER_COALESCE, OP_JUMP_IF_NOT_NIL},
    {"||", POWER_OR, OP_JUMP_IF_TRUE},
    {"or", POWER_OR, OP_JUMP_IF_TRUE},
    {"&&", POWER_AND, OP_JUMP_IF_FALSE},
    {"and", POWER_AND, OP_JUMP_IF_FALSE},
    {"==", POWER_COMPARE, OP_EQUAL},
    {"!=", POWER_COMPARE, OP_UNEQUAL},
    {"<=", POWER_COMPARE, OP_LESS_EQUAL},
    {">=", POWER_COMPARE, OP_GREATER_EQUAL},
    {"<", POWER_COMPARE, OP_LESS},
    {">", POWER_COMPARE, OP_GREATER},
    {"+", POWER_SUM, OP_ADD},
    {"-", POWER_SUM, OP_SUBTRACT},
    {"*", POWER_PRODUCT, OP_MULTIPLY},
    {"/", POWER_PRODUCT, OP_DIVIDE},
};

static const struct binary *next_binary(struct parser *p, int least)
{
    skip_space(p);
    if (strncmp(p->at, "**", 2) == 0)
        return NULL; /* power is not supported; the caller finds it unexpected */
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        const char *before = p->at;
        if (!take(p, binaries[i].token))
            continue;
        if (binaries[i].power >= least)
            return &binaries[i];
        p->at = before;
        return NULL;
    }
    return NULL;
}

static bool parse_binary(struct parser *p, int least);

static bool parse_unary(struct parser *p)
{
    if (take(p, "-")) {
        if (!parse_binary(p, POWER_SIGN))
            return false;
        emit(p, OP_NEGATE, 0, 0, 0);
    } else if (take(p, "+")) {
        return parse_binary(p, POWER_SIGN);
    } else if (take(p, "not") || take(p, "!")) {
        if (!parse_binary(p, POWER_NOT))
            return false;
        emit(p, OP_NOT, 0, 0, 0);
    } else {
        return parse_primary(p);
    }
    return !p->failed;
}

/* Right operand of b, and its code. */
static bool parse_right(struct parser *p, const struct binary *b)
{
    bool jumps = b->code == OP_JUMP_IF_NOT_NIL || b->code == OP_JUMP_IF_TRUE ||
                 b->code == OP_JUMP_IF_FALSE;
    uint32_t jump = 0;
    if (jumps) {
        jump = emit(p, b->code, 0, 0, 0);
        emit(p, OP_POP, 0, 0, -1);
    }
    if (p->failed || !parse_binary(p, b->power + 1))
        return false;
    if (jumps)
        patch(p, jump);
    else
        emit(p, b->code, 0, 0, -1);
    return !p->failed;
}

static bool parse_binary(struct parser *p, int least)
{
    if (++p->depth > FORMULA_DEPTH_LIMIT)
        return fail(p, "a formula nested less deeply");
    bool ok = parse_unary(p);
    for (const struct binary *b; ok && (b = next_binary(p, least));)
        ok = parse_right(p, b);
    p->depth--;
    return ok;
}

static bool parse_ternary(struct parser *p)
{
    if (++p->depth > FORMULA_DEPTH_LIMIT)
        return fail(p, "a formula nested less deeply");
    bool ok = parse_binary(p, 0);
    if (ok && take(p, "?")) {
        uint32_t other = emit(p, OP_POP_JUMP_IF_FALSE, 0, 0, -1);
        ok = parse_ternary(p);
        uint32_t end = ok ? emit(p, OP_JUMP, 0, 0, -1) : 0;
        if (ok && !p->failed && !take(p, ":"))
            ok = fail(p, "':'");
        ok = ok && !p->failed;
        if (ok) {
            patch(p, other);
            ok = parse_ternary(p);
        }
        if (ok)
            patch(p, end);
    }
    p->depth--;
    return ok && !p->failed;
}

bool formula_parse(struct formula *f, const char *text, const char *const *names, size_t count,
                   struct err *e)
{
    memset(f, 0, sizeof *f);
    if (strlen(text) > FORMULA_TEXT_LIMIT)
        return err_set(e, ERR_INPUT, "formula is longer than %d characters", FORMULA_TEXT_LIMIT);
    struct parser p = {.f = f, .text = text, .at = text, .names = names, .name_count = count,
                       .err = e};
    if (parse_ternary(&p)) {
        skip_space(&p);
        if (*p.at != '\0')
            fail(&p, "an operator or the end");
    }
    if (p.failed)
        memset(f, 0, sizeof *f);
    return !p.failed;
}

/* --- evaluation -------------------------------------------------------------------------------- */

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

static struct formula_value binary(enum op_code op, struct formula_value a, struct formula_value b)
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

static double single(enum function fn, double x)
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

static struct formula_value call(enum function fn, const struct formula_value *v, size_t n)
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
    struct formula_value stack[STACK_LIMIT + 1];
    size_t top; /* values */
    bool failed;
};

static void push(struct machine *m, struct formula_value v)
{
    if (v.kind == FORMULA_ERROR || m->top >= STACK_LIMIT)
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
    enum op_code code = (enum op_code)op->code;
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
        push(m, call((enum function)op->count, m->stack + m->top, op->jump));
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

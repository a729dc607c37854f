/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/formula.h"

#include <stdlib.h>
#include <string.h>

#include "models/elastic/formula_priv.h"

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

static uint32_t emit(struct parser *p, enum formula_code code, double number, unsigned jump, int pushes)
{
    p->stack += pushes;
    if (p->f->count >= FORMULA_CODE_LIMIT || p->stack > FORMULA_STACK_LIMIT) {
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

static bool parse_call(struct parser *p, enum formula_function fn)
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
            return parse_call(p, (enum formula_function)fn);
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
    enum formula_code code;
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

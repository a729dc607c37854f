/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/manifest/mnode.h"

#include <string.h>

struct mnode *mnode_new(struct arena *a, enum mnode_kind kind, const char *text)
{
    struct mnode *n = arena_alloc(a, 1, sizeof *n);
    n->kind = kind;
    n->text = text;
    return n;
}

void mnode_hang(struct mnode *parent, struct mnode **tail, struct mnode *child)
{
    if (*tail == NULL)
        parent->first = child;
    else
        (*tail)->next = child;
    *tail = child;
    parent->count++;
}

const struct mnode *mnode_get(const struct mnode *n, const char *key)
{
    if (n == NULL || n->kind != MNODE_MAP)
        return NULL;
    const struct mnode *found = NULL;
    for (const struct mnode *c = n->first; c != NULL; c = c->next)
        if (strcmp(c->key, key) == 0)
            found = c; /* the last one counts */
    return found == NULL || found->kind == MNODE_NULL ? NULL : found;
}

const struct mnode *mnode_at(const struct mnode *n, const char *dotted)
{
    char key[64];
    while (n != NULL && *dotted != '\0') {
        const size_t length = strcspn(dotted, ".");
        if (length >= sizeof key)
            return NULL;
        memcpy(key, dotted, length);
        key[length] = '\0';
        n = mnode_get(n, key);
        dotted += length + (dotted[length] == '.' ? 1 : 0);
    }
    return n;
}

const char *mnode_text(const struct mnode *n, const char *key, const char *otherwise)
{
    const struct mnode *c = mnode_get(n, key);
    return c == NULL || c->kind == MNODE_MAP || c->kind == MNODE_LIST ? otherwise : c->text;
}

static bool is_utf8(const char *text, size_t length, size_t *at)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t i = 0;
    while (i < length) {
        const size_t more = s[i] < 0x80                         ? 0
                            : s[i] >= 0xc2 && s[i] <= 0xdf      ? 1
                            : (s[i] & 0xf0) == 0xe0             ? 2
                            : s[i] >= 0xf0 && s[i] <= 0xf4      ? 3
                                                                : length;
        if (s[i] == 0 || i + more >= length + (more == 0)) {
            *at = i;
            return false;
        }
        for (size_t k = 1; k <= more; k++)
            if ((s[i + k] & 0xc0) != 0x80) {
                *at = i;
                return false;
            }
        i += more + 1;
    }
    return true;
}

bool mnode_read(struct mnode_list *list, const char *name, const char *text, size_t length,
                struct arena *a, struct diag_list *diags)
{
    size_t bad = 0;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (!is_utf8(text, length, &bad)) {
        long line = 1, column = 1;
        for (size_t i = 0; i < bad; i++) {
            column = text[i] == '\n' ? 1 : column + 1;
            line += text[i] == '\n';
        }
        diag_add(diags, DIAG_ERROR, name, line, column, NULL, "byte %zu is not UTF-8 text", bad);
        return false;
    }
    const size_t blank = strspn(text, " \t\r\n");
    if (text[blank] == '{' || text[blank] == '[')
        return mnode_read_json(list, name, text, length, a, diags);
    return mnode_read_yaml(list, name, text, length, a, diags);
}

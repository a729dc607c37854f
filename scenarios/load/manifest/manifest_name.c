/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of objects, as the API server validates them (k8s.io/apimachinery, util/validation). */
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"

enum { SUBDOMAIN_MAX = 253, LABEL_MAX = 63 };

static bool alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])?, with dots any number of them */
static bool is_dns(const char *s, bool dots)
{
    const char *part = s;
    for (; *s != '\0'; s++) {
        const bool inside = s > part && s[1] != '\0' && s[1] != '.';
        if (dots && *s == '.' && s > part)
            part = s + 1;
        else if (!alphanumeric(*s) && !(*s == '-' && inside))
            return false;
    }
    return s > part;
}

static void check(struct mf *r, const struct mnode *at, const char *key, const char *name, bool dots)
{
    const int most = dots ? SUBDOMAIN_MAX : LABEL_MAX;
    if (strlen(name) > (size_t)most)
        mf_error(r, at, key, "Invalid value: \"%.80s...\": must be no more than %d bytes", name, most);
    else if (!is_dns(name, dots))
        mf_error(r, at, key, "Invalid value: \"%s\": a lowercase RFC 1123 %s must consist of lower case alphanumeric characters%s, "
                 "and must start and end with an alphanumeric character", name, dots ? "subdomain" : "label",
                 dots ? ", '-' or '.'" : " or '-'");
}

void mf_object_name(struct mf *r, const struct mnode *meta)
{
    const struct mnode *name = mnode_get(meta, "name"), *space = mnode_get(meta, "namespace");
    const size_t mark = mf_into(r, ".metadata");
    if (name != NULL && name->kind == MNODE_STRING && name->text[0] != '\0')
        check(r, name, "name", name->text, strcmp(r->kind, "Namespace") != 0);
    if (r->name_space != NULL && space != NULL && space->kind == MNODE_STRING)
        check(r, space, "namespace", space->text, false);
    mf_out(r, mark);
}

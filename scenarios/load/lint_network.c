/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement near each other, and speeds that depend on it, where one is there without the other. */
#include "scenarios/load/lint_priv.h"

struct network_facts {
    int32_t first_domains;   /* pool with network domains, -1: none has */
    int32_t first_model;     /* stream with a communication model, -1: none has */
    bool oversubscribed;     /* some level makes a difference to speed */
};

static struct network_facts look(const struct scenario *s)
{
    struct network_facts n = {.first_domains = -1, .first_model = -1};
    for (int32_t i = s->fleet.pool_count - 1; i >= 0; i--) {
        const struct node_pool_config *p = &s->fleet.pools[i];
        if (p->domain_count > 0)
            n.first_domains = i;
        for (int32_t k = 0; k < p->domain_count; k++)
            n.oversubscribed |= p->domains[k].oversubscription > 1;
    }
    for (int32_t i = s->demand.stream_count - 1; i >= 0; i--)
        if (s->demand.streams[i].communication.model != COMMUNICATION_NONE)
            n.first_model = i;
    return n;
}

static void lint_arbiter(struct lint *l, int32_t a, const struct network_facts *n)
{
    const struct arbiter_config *arb = &l->s->arbiters[a];
    if (n->first_domains < 0)
        lint_warn(l, "arbiters", a, "networkLocality",
                  "arbiter '%s': networkLocality has no effect: no node pool has network domains", arb->name);
    else if (arb->gang == GANG_PODS)
        lint_warn(l, "arbiters", a, "networkLocality",
                  "arbiter '%s': networkLocality has no effect: with gang: pods workers are placed one by one", arb->name);
    else if (n->first_model < 0)
        lint_warn(l, "arbiters", a, "networkLocality",
                  "arbiter '%s': networkLocality changes which nodes gangs get, but no training stream has a communication model: "
                  "none runs faster", arb->name);
    else if (!n->oversubscribed)
        lint_warn(l, "nodePools", n->first_domains, "network",
                  "arbiter '%s' keeps gangs in network domains, but no level has an oversubscription above 1: leaving a domain costs "
                  "no speed", arb->name);
}

void lint_network(struct lint *l)
{
    struct network_facts n = look(l->s);
    for (int32_t a = 0; a < l->s->arbiter_count; a++)
        if (l->s->arbiters[a].network_locality && l->s->arbiters[a].backend == BACKEND_FLEET)
            lint_arbiter(l, a, &n);
    for (int32_t i = 0; i < l->s->demand.stream_count && n.first_domains < 0; i++)
        if (l->s->demand.streams[i].communication.model != COMMUNICATION_NONE)
            lint_warn_stream(l, i, "communication",
                             "stream '%s' has a communication model, but no node pool has network domains: all nodes are equally "
                             "near", l->s->demand.streams[i].name);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Uniform among what fits: nodes with enough whole cards; for shares, every open card with enough
 * left and every node with a closed card. Drawn by rank among what has the cards, rejected when
 * the amounts do not fit; after RANDOM_TRIES rejections what fits is counted and drawn exactly.
 * Both ways give the same distribution.
 */
#include "models/fleet/placement.h"

#define RANDOM_TRIES 32
#define RANDOM_TRIES_TWO_BUDGETS 512 /* of cards with room for the smaller part few may have it for the other */

/* The candidates: nodes of free_nodes[least..], then open cards from a key on. */
struct candidates {
    int32_t least;
    int64_t first_key; /* -1 = no open cards */
};

static int64_t candidate_count(const struct fleet_pool *p, const struct candidates *c)
{
    int64_t n = 0;
    for (int32_t k = c->least; k <= p->cards_per_node; k++)
        n += p->free_nodes[k].total;
    if (c->first_key >= 0)
        n += p->open_cards.total - fitset_rank(&p->open_cards, c->first_key);
    return n;
}

static struct place_choice candidate_at(struct fleet *f, const struct fleet_pool *p,
                                        const struct candidates *c, int64_t i)
{
    for (int32_t k = c->least; k <= p->cards_per_node; k++) {
        const struct fitset *s = &p->free_nodes[k];
        if (i < s->total) {
            int32_t copy, node = p->first_node + (int32_t)fitset_select(s, i, &copy);
            return (struct place_choice){node, c->first_key >= 0 ? node_closed_card(f, node) : -1};
        }
        i -= s->total;
    }
    int64_t rank = fitset_rank(&p->open_cards, c->first_key);
    int32_t copy;
    int64_t key = fitset_select(&p->open_cards, rank + i, &copy);
    return place_open_card(f, p, key, copy);
}

static bool amounts_fit(struct fleet *f, const struct place_request *req, int32_t node)
{
    f->looks++;
    for (int32_t r = 0; r < f->resources; r++)
        if (f->node_amounts[(int64_t)node * f->resources + r] < req->resources[r])
            return false;
    return true;
}

/* Of cards with two budgets not all candidates have both. */
static bool card_fits(const struct fleet *f, const struct fleet_pool *p, struct place_choice c)
{
    return c.card < 0 || p->share == NULL || p->share->axes == NULL ||
           card_axes_fit(f, p, p->card_need, node_first_card(f, c.node) + c.card);
}

/* The i-th candidate whose amounts fit; i = -1 counts them into *count instead. */
static struct place_choice fitting_at(struct fleet *f, struct fleet_pool *p,
                                      const struct candidates *c, const struct place_request *req,
                                      int64_t i, int64_t *count)
{
    int64_t seen = 0;
    for (int32_t k = c->least; k <= p->cards_per_node; k++)
        for (int64_t local = -1;
             (local = fitset_first(&p->free_nodes[k], local + 1, p->node_count, req->resources)) >= 0;
             seen++)
            if (seen == i) {
                int32_t node = p->first_node + (int32_t)local;
                return (struct place_choice){node,
                                             c->first_key >= 0 ? node_closed_card(f, node) : -1};
            }
    for (int64_t key = c->first_key - 1;
         c->first_key >= 0 && (key = fitset_first(&p->open_cards, key + 1, p->open_cards.size,
                                                  p->card_need)) >= 0;
         seen += fitset_copies(&p->open_cards, key))
        if (i >= seen && i < seen + fitset_copies(&p->open_cards, key))
            return place_open_card(f, p, key, (int32_t)(i - seen));
    if (count != NULL)
        *count = seen;
    return (struct place_choice){-1, -1};
}

static struct place_choice draw(struct fleet *f, struct fleet_pool *p,
                                const struct place_request *req, const struct candidates *c)
{
    int64_t n = candidate_count(p, c);
    bool two_budgets = c->first_key >= 0 && p->share != NULL && p->share->axes != NULL;
    if (n == 0 || (two_budgets && fitting_at(f, p, c, req, 0, NULL).node < 0))
        return (struct place_choice){-1, -1};
    for (int tries = 0; tries < (two_budgets ? RANDOM_TRIES_TWO_BUDGETS : RANDOM_TRIES); tries++) {
        int64_t i = (int64_t)rng_below(&f->rng, (uint64_t)n);
        struct place_choice choice = candidate_at(f, p, c, i);
        if (amounts_fit(f, req, choice.node) && card_fits(f, p, choice))
            return choice;
    }
    fitting_at(f, p, c, req, -1, &n);
    if (n == 0)
        return (struct place_choice){-1, -1};
    return fitting_at(f, p, c, req, (int64_t)rng_below(&f->rng, (uint64_t)n), NULL);
}

static struct place_choice whole(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    if (p->score != NULL) /* across pools */
        return place_score_choose(f, p, req);
    return draw(f, p, req, &(struct candidates){req->cards, -1});
}

static struct place_choice share(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    if (p->score != NULL)
        return place_score_choose(f, p, req);
    return draw(f, p, req, &(struct candidates){1, p->least_milli * place_open_row(p)});
}

/* Of cached nodes the newest holder is taken. */
static int compare(int32_t free_a, int32_t free_b)
{
    (void)free_a;
    (void)free_b;
    return 0;
}

const struct place_rule place_random = {"random", whole, share, compare, NULL};

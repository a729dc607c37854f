/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/group.h"

static void place(struct kq *k, struct kq_heap *h, uint32_t slot, uint32_t id)
{
    h->v[slot] = id;
    kq_wl(k, id)->slot = slot;
}

static bool earlier(const struct kq *k, uint32_t a, uint32_t b)
{
    return kq_earlier(kq_wl(k, a), kq_wl(k, b));
}

static void sift_up(struct kq *k, struct kq_heap *h, uint32_t slot)
{
    const uint32_t id = h->v[slot];
    while (slot > 0 && earlier(k, id, h->v[(slot - 1) / 2])) {
        place(k, h, slot, h->v[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    place(k, h, slot, id);
}

static void sift_down(struct kq *k, struct kq_heap *h, uint32_t slot)
{
    const uint32_t id = h->v[slot];
    for (;;) {
        uint32_t child = 2 * slot + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && earlier(k, h->v[child + 1], h->v[child]))
            child++;
        if (!earlier(k, h->v[child], id))
            break;
        place(k, h, slot, h->v[child]);
        slot = child;
    }
    place(k, h, slot, id);
}

static void push(struct kq *k, struct kq_heap *h, uint8_t which, struct kq_wl *w)
{
    if (h->count == h->capacity)
        h->v = mem_grow(h->v, &h->capacity, h->count + 1, sizeof *h->v);
    w->which = which;
    h->v[h->count] = w->id;
    sift_up(k, h, (uint32_t)h->count++);
}

void kq_group_push(struct kq *k, uint32_t group, uint32_t which, struct kq_wl *w)
{
    w->group = group;
    push(k, &k->groups[group].items[which], (uint8_t)which, w);
}

void kq_group_remove(struct kq *k, struct kq_wl *w)
{
    struct kq_heap *h = &k->groups[w->group].items[w->which];
    const uint32_t slot = w->slot, last = h->v[--h->count];
    if (last == w->id)
        return;
    place(k, h, slot, last);
    sift_up(k, h, slot);
    sift_down(k, h, kq_wl(k, last)->slot);
}

size_t kq_group_move(struct kq *k, uint32_t group, bool to_active)
{
    struct kq_group *g = &k->groups[group];
    const uint8_t to = to_active ? g->active : !g->active, from = !to;
    const size_t moved = g->items[from].count;
    if (moved == 0)
        return 0;
    if (g->items[to].count < moved) { /* the larger one stays and changes its role */
        for (size_t i = 0; i < g->items[to].count; i++)
            push(k, &g->items[from], from, kq_wl(k, g->items[to].v[i]));
        g->items[to].count = 0;
        g->active = !g->active;
        return moved;
    }
    for (size_t i = 0; i < moved; i++)
        push(k, &g->items[to], to, kq_wl(k, g->items[from].v[i]));
    g->items[from].count = 0;
    return moved;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Named cases of Kueue's own tests (docs/kueue-fidelity.md) in tests/policies/kueue-named/, one
 * file a group, the format in its README. A case is played through the shipped policy: through its
 * interface where the case is one of scheduling cycles, through the function concerned where it is
 * one of a search, a share or an assignment.
 */
#ifndef TESTS_POLICIES_NAMED_H
#define TESTS_POLICIES_NAMED_H

#include <stdbool.h>
#include <stdint.h>

#include "models/policies/kueue/kq.h"
#include "models/policies/policy.h"
#include "sim/arena.h"

enum { NAMED_WORDS = 48, NAMED_MAX = 160, NAMED_SETS = 8, NAMED_GROUPS = 8 };
#define NAMED_S INT64_C(1000000000)

struct named_line {
    char *word[NAMED_WORDS];
    int count, number;
};

struct named_case {
    const char *test, *name;
    struct named_line *lines;
    size_t count, capacity;
};

struct named_file { /* the cases of one file; freed by the arena */
    struct arena mem;
    char path[512];
    struct named_case *cases;
    size_t count, capacity;
};

/* Reads a file of cases; fails the test program with a message where it cannot. */
void named_read(struct named_file *f, const char *path);
void named_file_fini(struct named_file *f);

struct named_names { /* names of one kind of object; the index is the id */
    const char *v[NAMED_MAX];
    uint32_t count;
};

struct named_held { /* what a workload holds: one pod set */
    uint32_t set;
    int64_t count;
    const struct named_line *line;
};

struct named_workload {
    struct policy_workload w;
    struct policy_pod_set sets[NAMED_SETS];
    uint32_t set_count, queue;
    const char *uid;
    int64_t reserved_s;
    struct named_held held[NAMED_SETS];
    uint32_t held_count;
    bool evicted, deleted;
};

struct named_builder { /* resource groups of the object being read */
    struct policy_resource_group *groups;
    uint32_t *group_count;
};

/* One case as a cluster. */
struct named {
    const struct named_case *c;
    struct arena mem;
    struct policy_config cfg;
    struct policy_gate gates[16];
    struct named_names resources, flavors, topologies, nodes, cohorts, queues, locals, workloads;
    struct policy_flavor flavor[NAMED_MAX];
    struct policy_topology topology[NAMED_MAX];
    struct policy_node node[NAMED_MAX];
    struct policy_cohort cohort[NAMED_MAX];
    struct policy_cluster_queue queue[NAMED_MAX];
    struct policy_local_queue local[2 * NAMED_MAX]; /* behind those of the case one for each queue */
    struct named_workload workload[NAMED_MAX];
    struct policy_amount foreign[NAMED_MAX][8];
    uint32_t foreign_count[NAMED_MAX];
    const struct policy_ops *ops;
    struct kq *k;
    struct policy_outputs out;
};

/* ---- named_objects.c ---- */

/* Reads the objects and workloads of a case into n (zeroed before). */
void named_objects(struct named *n, const struct named_case *c);

/* ---- named_words.c: the words of a line; lists live in n->mem ---- */

void named_refuse(const struct named *n, const struct named_line *l, const char *what);
uint32_t named_id(struct named_names *names, const char *name);
/* Text behind `key` in a word that begins with it; else NULL. */
const char *named_value(const char *word, const char *key);
/* "resource=rest" of a word: the resource, or POLICY_NONE where it is no such word. */
uint32_t named_resource(struct named *n, const char *word, const char **rest);
int64_t named_amount(const struct named *n, uint32_t resource, const char *text);
/* The value of the first word that begins with key; else otherwise. */
const char *named_word(const struct named_line *l, const char *key, const char *otherwise);
bool named_has(const struct named_line *l, const char *word);
double named_weight(const struct named_line *l); /* weight=, default 1 */
struct policy_label *named_labels(struct named *n, const struct named_line *l, const char *key, uint32_t *count);
struct policy_taint *named_taints(struct named *n, const struct named_line *l, uint32_t *count);
struct policy_toleration *named_tolerations(struct named *n, const struct named_line *l, uint32_t *count);
struct policy_amount *named_amounts(struct named *n, const struct named_line *l, uint32_t *count);

/* ---- named_play.c ---- */

/* Plays the case; NULL, or what differs (in n->mem). */
const char *named_play(struct named *n);
void named_start(struct named *n);
void named_stop(struct named *n);
/* (flavor, resource) of the tree of a queue. */
uint32_t named_fr(const struct named *n, uint32_t queue, const char *flavor, uint32_t resource);

/* ---- named_units.c: cases that are not of whole cycles ---- */
bool named_is_unit(const struct named *n);
const char *named_unit(struct named *n);

/* ---- the search for victims as a flavor assignment asks it (4.4), replaced where a case says
 * what it finds ---- */
struct named_oracle {
    struct named *n; /* NULL: the real search answers */
    uint32_t mine, others; /* workloads that stand for victims in the own and in another queue */
};
void named_oracle_set(const struct named_oracle *o);

#endif

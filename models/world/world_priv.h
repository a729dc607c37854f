/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of models/world: the records of a running world. One event queue, one fleet, one ledger,
 * one policy. Everything that is admitted is a `workload`; a workload belongs to a job (whole
 * gang, or one worker under `gang: pods`) or is a replica of a service.
 */
#ifndef MODELS_WORLD_WORLD_PRIV_H
#define MODELS_WORLD_WORLD_PRIV_H

#include "models/data/checkpoint.h"
#include "models/data/coldstart.h"
#include "models/demand/fluid.h"
#include "models/elastic/scaler.h"
#include "models/fleet/catalogue.h"
#include "models/ledger/ledger.h"
#include "models/policies/policy.h"
#include "models/policies/settle.h"
#include "models/world/demand_hash.h"
#include "models/world/world.h"
#include "sim/arena.h"
#include "sim/evq.h"
#include "sim/tally.h"

#define NONE32 UINT32_MAX
#define SPEED_ONE 1000000 /* ppm */

/* What happens first at one instant (design, section 3.5; oracle/kueue/README.md). */
enum event_class {
    EVC_PERIOD,   /* accounts are closed before anything changes */
    EVC_FINISH,
    EVC_FAULT,    /* of the GPU, by a tenant */
    EVC_RELEASE,  /* evicted or stopped workloads let go of their cards */
    EVC_STAGE,    /* starting -> loading -> running */
    EVC_TRAFFIC,
    EVC_ARRIVAL,
    EVC_SUBMIT,   /* reaches the policy after its decision delay */
    EVC_SCALE,
    EVC_WAKE
};

enum event_kind {
    EV_PERIOD,
    EV_FINISH,    /* rank = job */
    EV_RELEASE,   /* rank = workload */
    EV_STAGE,     /* rank = workload */
    EV_TRAFFIC,   /* rank = 0: all services */
    EV_ARRIVAL,   /* rank = stream */
    EV_SUBMIT,    /* rank = 0: the oldest delayed submission */
    EV_SCALE,     /* rank = service */
    EV_FAULT,     /* rank = workload */
    EV_RECONFIGURE, /* rank = planned change of a MIG layout */
    EV_LAYOUT,    /* rank = node */
    EV_WAKE
};

enum workload_kind { WL_JOB, WL_POD, WL_REPLICA, WL_BASE /* of LoRA tenants: world_lora.h */ };

enum workload_state {
    WL_FREE,
    WL_PENDING,   /* waits for quota */
    WL_UNPLACED,  /* has quota, no node: fragmentation */
    WL_GANG_WAIT, /* holds cards, waits for the other pods of its gang */
    WL_STARTING,
    WL_LOADING,
    WL_RUNNING,   /* job computing, or replica ready */
    WL_DRAINING   /* evicted or stopped, still holds its cards */
};

struct workload {
    uint32_t gen;
    uint8_t kind, state;
    bool undecided;            /* submitted, on its way to the policy */
    bool evicted;              /* the release ends an eviction, not a stop */
    uint32_t owner;            /* job or service */
    uint32_t shape;            /* of struct world.shapes */
    int32_t flavor, pool;
    int32_t workers;           /* admitted */
    int32_t speed_ppm;         /* beside its neighbours on a shared card; SPEED_ONE = alone */
    int64_t milli;             /* cards held; a tenant's part of its base's card */
    int64_t busy_milli;        /* of a tenant: what it computes with */
    uint32_t base;             /* tenant of this LoRA instance; NONE32: a workload of its own */
    bool sliced;               /* it has slots under a mechanism (world_sharing.h) */
    int32_t got_milli, lost_milli; /* of milli, when sliced and running: computing, and lost to sharing */
    uint64_t uid;              /* as the demand knows it */
    uint32_t runs;             /* starts that drew incidents (world_incidents.c) */
    sim_time fault_at;
    struct lease_id lease;
    sim_time since;            /* begin of the open ledger segment */
    uint32_t prev, next;       /* siblings: pods of a job, replicas of a service */
    uint32_t unplaced_next;
    sim_time loading;          /* length of the loading stage that follows `starting` */
    bool preempted;            /* the scheduler took its node: after draining it is unplaced */
    bool makes_room;           /* drains, and a preemptor is promised its room (promised.h) */
    int32_t promised;          /* nodes promised to it (promised.c); 0: none */
};

/* One gang in the system: from its arrival to its end, then the slot is reused. */
struct job {
    uint32_t gen;
    int32_t stream;
    struct job_spec spec;
    sim_time committed;        /* work saved by the last checkpoint: where it resumes. While it runs: as of
                                  the begin of the segment (job_speed.c) */
    sim_time high_water;       /* furthest work ever reached */
    sim_time fail_at;          /* work at which this attempt fails; SIM_NEVER: it does not */
    uint32_t failures;         /* attempts that ended so */
    uint32_t crashes;          /* incidents in a row */
    sim_time first_start;
    sim_time run_since;        /* begin of the current segment of the run, SIM_NEVER when not running */
    sim_time run_offset;       /* position in its cycle of computing and stall at run_since */
    sim_time run_work;         /* work reached at run_since */
    sim_time run_unsaved;      /* computing since the last checkpoint at run_since, wall time */
    sim_time booked;           /* wall time of the current segment that is in the ledger */
    int32_t speed_ppm;
    int32_t gang_ppm;          /* of it: what the network leaves, where the gang is now (gang_speed.c) */
    int32_t pods, pods_placed; /* workloads of the gang, and how many hold cards */
    uint32_t evictions;
    sim_time rework;           /* per card */
    uint32_t first_workload;
    uint32_t starting;         /* workloads still in starting/loading */
    bool in_use;
};

struct service_state {
    const struct service_config *cfg;
    struct fluid fluid;
    struct traffic_source *traffic;
    struct traffic_point point;
    struct fluid_result last;
    sim_time since;            /* last fluid step */
    int32_t wanted;            /* replicas asked for */
    int32_t live;              /* pending .. running, not those that go */
    int32_t ready;
    int64_t *ready_milli;      /* by pool */
    int64_t *ready_lost;       /* of it: lost to sharing while they serve */
    int64_t speed_sum;         /* of the ready replicas, ppm */
    double kv_part;            /* of the law's KV cache that a replica has */
    uint32_t head, tail;       /* live replicas, oldest first */
    uint32_t ordinal;          /* replicas ever made */
    uint32_t scale_gen;
    struct scaler *scaler;
    double rate_target;        /* requests/s one replica is asked to carry */
    double seen_metric;        /* at the last look of the scaler */
    int32_t seen_wanted;
    struct qhist latency, ttft;
    uint64_t cold_starts, preemptions;
    uint32_t crashes;          /* incidents in a row */
    double replica_seconds;
};

/* Shape of a workload as placement sees it; index = the policy's shape id. */
struct shape {
    bool known;
    int32_t source;            /* stream, or stream_count + service */
    int32_t workers, cards, share_milli; /* share_milli: what it holds, when less than a card */
    int64_t request_milli;     /* all workers */
    struct job_amounts amounts; /* of each worker, beside those of the source */
};

struct source_pools {          /* where a stream or service may run, per flavor */
    int32_t **pools;           /* [flavor] */
    int32_t *counts;
};

/* Waiting workloads of one (queue, shape, priority), as last told by the policy. */
struct pending_group {
    uint32_t queue, shape;
    int64_t priority;
    uint32_t count;
    bool quota;
    int32_t pool, first_pool;  /* where it counts as waiting; where it would before it was looked at */
};

/* Usage of one queue's quota of one flavor, milli-cards, and its integrals (world_quota.c). */
struct quota_cell {
    int64_t nominal, used;
    i128 used_mcns, borrowed_mcns, lent_mcns;
};

struct quota_use {
    struct quota_cell *cells;  /* [queue][flavor] */
    sim_time *since;           /* per flavor: integrated up to here */
    int32_t *root;             /* per queue: root cohort, -1 = alone */
    int64_t *borrowed, *unused; /* per cohort: scratch */
    int32_t flavors;
};

struct series;
struct gang_network;
struct sharing;
struct reconfigure;
struct world_record;
struct preemption;
struct promises;

struct input_buffer {
    struct policy_input *inputs;
    struct policy_workload *submits; /* same index as inputs */
    size_t count, capacity;
};

struct delayed_submit {
    struct policy_workload submit;
    uint32_t gen;              /* of the workload: differs when it was withdrawn meanwhile */
};

struct world {
    const struct scenario *s;
    const struct arbiter_config *arb;
    struct world_options opt;
    struct err *err;
    struct arena arena;
    sim_time now;
    struct evq events;
    struct ev *instant;        /* events of the instant being handled */
    size_t instant_capacity;

    const struct fleet_config *fleet_config; /* the scenario's, with this arbiter's sharing of pools */
    struct fleet *fleet;
    struct sharing *sharing;
    struct reconfigure *reconfigure; /* NULL: no layout changes */
    struct ledger *ledger;
    const struct policy_ops *ops;
    void *policy;
    struct settle *settle;
    struct input_buffer in[2]; /* of this instant: one collects while the other is applied */
    int in_use;
    sim_time next_wake;        /* EV_WAKE already scheduled for */
    struct delayed_submit *delayed; /* in order of submission */
    size_t delayed_first, delayed_count, delayed_capacity;

    struct workload *wl;
    size_t wl_count, wl_capacity;
    uint32_t wl_free;
    struct job *jobs;
    size_t job_count, job_capacity;
    uint32_t job_free;
    struct job_source **streams;
    struct job_spec *next_job; /* per stream: the arrival that is scheduled */
    struct service_state *services;
    struct shape *shapes;
    size_t shape_capacity;
    uint32_t *shape_map;       /* open addressing over shape keys */
    size_t shape_map_size, shape_map_used;
    uint64_t *shape_map_keys;
    struct source_pools *sources;
    struct pending_group *groups;
    size_t group_count, group_capacity;
    uint32_t *group_map;
    size_t group_map_size;
    uint32_t unplaced_head, unplaced_tail;
    bool freed;                /* some cards came free since the last placement pass */
    struct preemption *preemption; /* world_preempt.c; NULL: the scheduler preempts nobody */
    struct promises *promises; /* promised.c; the same */
    int64_t held_milli[3];     /* cards held, by workload_kind; those of a base count as its tenants' */
    int64_t pending_milli;     /* cards asked by waiting workloads */
    bool *cluster_cached;      /* per model: in the shared cache */
    struct coldstart_config coldstart;

    /* tallies */
    struct qhist wait[CLASS_COUNT];    /* started jobs */
    struct welford waited[CLASS_COUNT]; /* of those that waited at all */
    uint64_t submitted[CLASS_COUNT], started[CLASS_COUNT], finished[CLASS_COUNT],
        failed[CLASS_COUNT];           /* gave up after their last attempt */
    struct qhist *team_wait;
    uint64_t *team_evictions;
    i128 *team_rework;
    double *team_unfinished_h; /* card-hours */
    i128 lost;                 /* mcns, all classes */
    i128 rework_of[CLASS_COUNT], lost_of[CLASS_COUNT], abandoned[CLASS_COUNT];
    uint64_t preemptions[CLASS_COUNT], replica_preemptions, events_done, settles;
    i128 offered;              /* demand without limits, mcns: the same sum under every arbiter */
    i128 offered_drawn;        /* of it: by sources that are not files */
    struct quota_use quota;
    struct lora_world *lora;   /* NULL: no tenants, or an arbiter without loraBase */
    bool lora_tenants;         /* cards that they hold, also without sharing: */
    struct lora_cards *lora_cards; /* by pool, then of all */
    struct welford *lora_stretch; /* time from first start to end over work, finished LoRA jobs: by team,
                                     then of all */
    struct gang_network *network; /* gang_speed.c; NULL: no stream has a communication model */
    i128 *llm_held;            /* per node pool: card-time that replicas of LLM services held */
    i128 total[LEDGER_BUCKET_COUNT]; /* booked so far, for series */
    struct series *series;
    struct world_record *record; /* NULL: not --record full */
    struct pending_view *pending; /* NULL: summary only, or not replication 0 */
    const struct policy_config *pending_config;
    double *pending_units;
    uint64_t *demand_hash;     /* per stream, then per service */
    bool loops;
};

/* ---- world_admission.c: the policy ---- */
bool admission_init(struct world *w);
void admission_fini(struct world *w);
/* amounts: of one job, or NULL: those of its source. */
uint32_t admission_shape(struct world *w, int32_t source, int32_t workers, int32_t cards,
                         int32_t share_milli, const struct job_amounts *amounts);
void admission_submit(struct world *w, uint32_t wl, int32_t queue, int64_t priority,
                      sim_time created, uint64_t uid);
void admission_input(struct world *w, uint32_t wl, enum policy_input_kind kind);
void admission_decide(struct world *w);               /* the oldest delayed submission is due */
void admission_withdraw(struct world *w, uint32_t wl); /* whether the policy knows it or not */
void admission_quota_back(struct world *w, uint32_t wl); /* usage of its queue, for reports */
void admission_settle(struct world *w);
void admission_schedule_wake(struct world *w);

/* ---- world_quota.c: quota used, borrowed, lent over time ---- */
void quota_use_init(struct world *w);
void quota_use_advance(struct world *w, int32_t flavor); /* integrals up to now */
void quota_use_change(struct world *w, int32_t queue, int32_t flavor, int64_t delta_milli);

/* ---- world_place.c: quota to nodes ---- */
void place_admitted(struct world *w, uint32_t wl, int32_t flavor, int32_t workers);
void place_retry(struct world *w);
void place_release(struct world *w, uint32_t wl); /* gives the cards back */
void place_forget(struct world *w, uint32_t wl);  /* leaves the list of unplaced */
void place_again(struct world *w, uint32_t wl);   /* admitted, without cards: joins the list */
/* What one of its workers asks for, and where. */
void place_request_of(const struct world *w, uint32_t wl, struct place_request *req);
bool sources_init(struct world *w);
int32_t source_largest_node(const struct scenario *s, int32_t source); /* cards; 0: no node */
bool source_tolerates(const struct taint *tolerations, int32_t count, const struct taint *taint);

/* ---- world_book.c: the ledger ---- */
enum ledger_class book_class(const struct world *w, uint32_t wl);
int32_t book_team(const struct world *w, uint32_t wl);
void book_segment(struct world *w, uint32_t wl, enum ledger_bucket bucket); /* [since, now) */
void book_workload(struct world *w, uint32_t wl); /* one workload (a ready replica: its service) up to now */
i128 book_part(i128 mcns, double part);          /* rounded; never more than the whole */
void book_amount(struct world *w, struct ledger_account a, enum ledger_bucket b, i128 mcns);
void book_run(struct world *w, uint32_t job);    /* a running job up to now */
void book_everything(struct world *w);           /* all open segments up to now */
i128 ckpt_unit(int64_t milli, sim_time ns);
int64_t book_busy_milli(const struct world *w, uint32_t wl); /* of the cards a job's workload holds: computing */

/* ---- world_jobs.c ---- */
bool jobs_init(struct world *w);
void jobs_fini(struct world *w);
void job_arrive(struct world *w, uint32_t stream);
/* What one worker holds: a share only where the arbiter can slice cards. */
void job_worker_request(const struct world *w, const struct job_spec *spec, int32_t *cards, int32_t *share);
/* What one worker asks for beside cards, by resource; amounts: of the job. */
void source_resources(const struct world *w, int32_t source, const struct job_amounts *amounts, int64_t *by_resource);
/* Reads the jobs of the run ahead and tells the fleet, where the arbiter wants it. False: w->err. */
bool expected_pods_init(struct world *w);
void job_placed(struct world *w, uint32_t wl);
void job_stage(struct world *w, uint32_t wl);
void job_finish(struct world *w, uint32_t job);
void job_evicted(struct world *w, uint32_t wl);
void job_released(struct world *w, uint32_t wl);
i128 job_crashed(struct world *w, uint32_t wl); /* starts again; card-time lost */
/* The scheduler took the pod's node: it drains, then waits for another. Card-time lost (mcns). */
i128 job_preempted(struct world *w, uint32_t wl);
enum workload_class job_class(const struct world *w, uint32_t job);
sim_time job_reached(const struct world *w, const struct job *j); /* work done, lost or not */
void job_note_start(struct world *w, uint32_t job);    /* it has its cards */
void job_note_eviction(struct world *w, uint32_t job); /* what came after its last checkpoint is lost */

/* ---- job_speed.c: speeds that change during a run ---- */
struct job_progress {
    sim_time reached, saved;   /* work; saved: by the last checkpoint */
    sim_time unsaved;          /* computing since then, wall time */
};
struct checkpoint_plan job_checkpoints(const struct world *w, const struct job *j);
struct job_progress job_progress(const struct world *w, const struct job *j); /* now */
sim_time job_time_at(const struct job *j, sim_time work); /* computing time for so much work, rounded up */
void job_run_begin(struct world *w, uint32_t job);        /* from what is committed, at the speed of its workloads */
/* From now on this workload runs so fast (>= 1), in any state. A running job's end is planned anew,
 * a service's replicas are as fast as they are on average. */
void workload_speed_change(struct world *w, uint32_t wl, int32_t speed_ppm);
void service_speed_refresh(struct world *w, uint32_t service); /* its ready replicas or kv_part changed */

/* ---- world_services.c ---- */
bool services_init(struct world *w);
void services_fini(struct world *w);
void services_traffic(struct world *w);
void service_advance(struct world *w, uint32_t service); /* fluid up to now */
void service_scale(struct world *w, uint32_t service);
void replica_placed(struct world *w, uint32_t wl);
void replica_stage(struct world *w, uint32_t wl);
void replica_evicted(struct world *w, uint32_t wl);
void replica_released(struct world *w, uint32_t wl);
i128 replica_crashed(struct world *w, uint32_t wl); /* a new one takes its place; 0 */
void replica_interrupted(struct world *w, uint32_t wl); /* with its base: no longer ready */
void service_reconcile(struct world *w, uint32_t service);

/* ---- world.c: records ---- */
uint32_t workload_new(struct world *w, enum workload_kind kind, uint32_t owner, uint32_t shape);
void workload_free(struct world *w, uint32_t wl);
void world_event(struct world *w, sim_time t, enum event_class cls, uint32_t rank,
                 enum event_kind kind, uint32_t gen);

/* ---- world_series.c ---- */
struct series *series_create(const struct world *w);
void series_destroy(struct series *s);
void series_step(struct world *w);               /* at every traffic step */
void series_eviction(struct world *w, double lost_card_h);
void series_hour(struct world *w);               /* at the end of every hour, all settled */
void series_emit(struct world *w);

/* ---- world_pending.c: quota at every node over time, alarms ---- */
void world_pending_init(struct world *w, const struct policy_config *cfg); /* the policy exists */
void world_pending_output(struct world *w, const struct policy_output *o); /* before it is applied */
void world_pending_emit(struct world *w);

/* ---- world_results.c, world_cost.c ---- */
void results_emit(struct world *w);
void results_metric(struct world *w, const char *kind, const char *scope, const char *name,
                    double value, bool censored);
void cost_emit(struct world *w);
void assumptions_emit(struct world *w);


#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Speed of tenants that share a card, relative to each alone on the whole card (gpu-sharing 4.2,
 * 4.3). Closed forms with few parameters, fitted to public measurements; every parameter can be
 * overridden. More than 1 never comes out of one tenant; totals above 1 come from small duties.
 */
#ifndef MODELS_FLEET_SHARING_SPEED_H
#define MODELS_FLEET_SHARING_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#define SPEED_TENANTS_MAX 128

struct speed_tenant {
    double duty;      /* u: share of wall time with kernels to run when alone, 0..1 */
    double demand;    /* d: compute it can use, 0..1 of the whole card (knee form) */
    double parallel;  /* p: part of its work that slows down with fewer SMs (Amdahl form) */
    double bandwidth; /* b: part of the memory bandwidth it uses alone */
    double cap;       /* MPS: threads allowed, 0..1; HAMi: cores / 100; 0 = no limit */
    bool burst;       /* HAMi: its own cap is not in force, for it answers a request and is under it on average */
    double sm_share;  /* MIG: SMs of its instance over SMs of the whole card */
};

/* duty 1, demand 1, parallel 1, bandwidth 0.5 (assumption), no cap, the whole card. */
struct speed_tenant speed_tenant_default(void);

enum speed_hami_policy { SPEED_HAMI_DEFAULT, SPEED_HAMI_FORCE, SPEED_HAMI_DISABLE };

struct speed_params {
    double switch_loss;      /* c 0.08, range 0.01 to 0.16: time-slicing of two or more */
    double quantum_s;        /* q 0.002 (assumption which slice is the driver's default) */
    double mps_interference; /* g 0.15, range 0 to 0.4 */
    double mig_interference; /* e 0, up to 0.02: shared power cap */
    double hami_limiter;     /* h 0.9; 0.2 on cards with very many SMs */
    double hami_overhead;    /* o 0.02 (2.9.0), 0.09 (2.8.0) */
    enum speed_hami_policy hami_policy;
};

struct speed_params speed_params_default(void);

/* Slowdown of a job on a part s of the SMs: bandwidth cut too (MIG), or SMs only (MPS). */
double speed_knee(double demand, double s);
double speed_amdahl(double parallel, double s);

/* Hands out capacity in proportion to weight (NULL = equally), at most demand each; what one does
 * not want goes to the others. */
void speed_maxmin(double capacity, const double *demand, const double *weight, int32_t n,
                  double *out);

/* Rates of n tenants of one card, in their order; tenants without duty get 1 (MIG: what their
 * instance gives). Up to SPEED_TENANTS_MAX. */
void speed_whole(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate);
void speed_time_slicing(const struct speed_tenant *t, int32_t n, const struct speed_params *p,
                        double *rate);
void speed_mps(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate);
void speed_mig(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate);
void speed_hami(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate);

/* Time-slicing: added wait of a short burst of kernels of tenant i, in seconds. */
double speed_slice_wait_s(const struct speed_tenant *t, int32_t n, int32_t i,
                          const struct speed_params *p);

#endif

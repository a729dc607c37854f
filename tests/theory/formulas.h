/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Closed forms of queueing theory that the engine must reproduce. lambda: arrivals per second, mu:
 * services per second and server, c: servers; lambda < c mu. Sources: Erlang 1917, Khinchine 1932;
 * any textbook, for example Gross and Harris, "Fundamentals of Queueing Theory", chapters 2 and 5.
 */
#ifndef TESTS_THEORY_FORMULAS_H
#define TESTS_THEORY_FORMULAS_H

/* Probability that all of c servers are busy in M/G/c/c with offered load a (Erlang B). */
double erlang_b(unsigned c, double a);

/* Probability that an arrival waits in M/M/c with offered load a (Erlang C). */
double erlang_c(unsigned c, double a);

/* Mean wait before service in M/M/c. */
double mmc_wait_s(double lambda, double mu, unsigned c);

/* t with P(wait <= t) = p; 0 when the share that does not wait is at least p. */
double mmc_wait_quantile_s(double lambda, double mu, unsigned c, double p);

/* t with P(time in system <= t) = p, by bisection. */
double mmc_sojourn_quantile_s(double lambda, double mu, unsigned c, double p);

/* Mean wait in M/G/1 whose service times have squared coefficient of variation cs2
 * (Pollaczek-Khinchine); cs2 = 0 is M/D/1. */
double mg1_wait_s(double lambda, double mu, double cs2);

#endif

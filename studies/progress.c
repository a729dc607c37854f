/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/progress.h"

#include <stdio.h>
#include <time.h>

#define BAR_WIDTH 30

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_begin(struct progress *p, bool on, int runs)
{
    *p = (struct progress){.on = on, .runs = runs, .begun_s = seconds_now()};
}

void progress_show(struct progress *p, double part)
{
    double now = seconds_now();
    if (!p->on || now - p->shown_s < 0.25)
        return;
    p->shown_s = now;
    char bar[BAR_WIDTH + 1];
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < part * BAR_WIDTH ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    double left = part > 0.01 ? (now - p->begun_s) * (1 - part) / part : -1;
    if (left >= 0)
        fprintf(stderr, "\r%d runs [%s] %3.0f %%, %.0f s left ", p->runs, bar, part * 100, left);
    else
        fprintf(stderr, "\r%d runs [%s] %3.0f %% ", p->runs, bar, part * 100);
    (void)fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->on)
        fputs("\r\033[K", stderr);
}

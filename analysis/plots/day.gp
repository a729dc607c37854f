# SPDX-License-Identifier: GPL-3.0-or-later
# One day: what arrives, who holds the cards, what it costs. Columns of day.tsv:
# hour, rate, replicas, wanted, training, pending, evictions, rework
set multiplot
set lmargin at screen 0.08
set rmargin at screen 0.985
set xrange [0:24]
set xtics 0,3,24
set yrange [0:*]
if (HOUR >= 0) set arrow 1 from HOUR, graph 0 to HOUR, graph 1 nohead lc rgb 0x000021 dt (6,4) lw 1 back
set format x ""

set tmargin at screen 0.96
set bmargin at screen 0.80
set label 1 "requests per second" at graph 0, graph 1.1 left textcolor rgb TEXT
set ytics autofreq 0,RATE_TIC
plot "day.tsv" using 1:2 with filledcurves y1=0 lc rgb 0x00001f fs transparent solid 0.25, \
     "" using 1:2 with lines lc rgb 0x00001f lw 2

set tmargin at screen 0.74
set bmargin at screen 0.42
set label 1 "cards" at graph 0, graph 1.05
set yrange [0:CARD_MOST]
set ytics autofreq 0,CARD_TIC
plot "day.tsv" using 1:3 with filledcurves y1=0 lc rgb 0x00001f fs transparent solid 0.25, \
     "" using 1:3 with lines lc rgb 0x00001f lw 2, \
     "" using 1:4 with lines lc rgb 0x000020 lw 2 dt (2,3), \
     "" using 1:5 with lines lc rgb 0x00000b lw 2, \
     "" using 1:6 with lines lc rgb 0x000022 lw 2 dt (6,3)

set boxwidth STEP_H
set yrange [0:*]
set tmargin at screen 0.36
set bmargin at screen 0.25
set label 1 sprintf("workloads evicted in %g minutes", STEP_H*60) at graph 0, graph 1.15
set ytics autofreq 0,EVICTION_TIC
plot "day.tsv" using ($1+STEP_H/2):7 with boxes lc rgb 0x00000c

set tmargin at screen 0.19
set bmargin at screen 0.06
set format x "%02.0f:00"
set label 1 sprintf("card-hours of work lost in %g minutes", STEP_H*60) at graph 0, graph 1.13
set ytics autofreq 0,LOST_TIC
plot "day.tsv" using ($1+STEP_H/2):8 with boxes lc rgb 0x00000c
unset multiplot

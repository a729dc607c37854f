# SPDX-License-Identifier: GPL-3.0-or-later
# A week or less: traffic, and the cards that replicas hold under each arbiter. replicas.tsv: days,
# requests per second, then cards per arbiter (NaN when it has none)
set multiplot
set lmargin at screen 0.08
set rmargin at screen 0.985
set xrange [FROM:TO]
set xtics FROM,TIC
set yrange [0:*]
set format x ""
set tmargin at screen 0.93
set bmargin at screen 0.66
set label 1 "requests per second" at graph 0, graph 1.1 left textcolor rgb TEXT
set ytics autofreq 0,RATE_TIC
plot "replicas.tsv" using 1:2 with filledcurves y1=0 lc rgb 0x00001f fs transparent solid 0.25, \
     "" using 1:2 with lines lc rgb 0x00001f lw 2
set tmargin at screen 0.56
set bmargin at screen 0.12
set format x "%.0f"
if (DAYS) set xlabel "day" textcolor rgb TEXT offset 0,0.6; else set xlabel "hour" textcolor rgb TEXT offset 0,0.6
set label 1 "cards held by replicas"
set ytics autofreq 0,CARD_TIC
plot for [a=1:ARBITERS] "replicas.tsv" using 1:(column(a+2)) with lines lc rgb (0x000014+a) lw 2
unset multiplot

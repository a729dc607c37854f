# SPDX-License-Identifier: GPL-3.0-or-later
# Share of training jobs that started within a time. wait.tsv: seconds, then a column per arbiter
set lmargin at screen (52.0/W)
set rmargin at screen (1-14.0/W)
set tmargin at screen 0.96
set bmargin at screen (48.0/H)
set logscale x
set xrange [1:END]
set yrange [0:100]
set ytics 0,25,100
set format y "%.0f %%"
set xtics ("1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, "1 h" 3600, "6 h" 21600, "1 day" 86400, "1 week" 604800)
set xlabel "waited at most" textcolor rgb TEXT offset 0,0.5
set grid xtics lt 1 lc rgb GRID lw 1
plot for [a=1:ARBITERS] "wait.tsv" using 1:(column(a+1)) with lines lc rgb (0x000014+a) lw (a==1 ? 2 : 2.5)

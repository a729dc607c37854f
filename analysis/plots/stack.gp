# SPDX-License-Identifier: GPL-3.0-or-later
# Card time of one arbiter over the run. Columns of stack.tsv: time (days or hours), then the upper
# edges of the groups computing, rework, waiting, idle, offline in per cent, cumulated
set lmargin at screen (44.0/W)
set rmargin at screen (1-14.0/W)
set tmargin at screen 0.97
set bmargin at screen (42.0/H)
set yrange [0:100]
set ytics 0,25,100
set format y "%.0f %%"
set xrange [0:END]
set xtics 0,TIC
if (DAYS) set xlabel "day" textcolor rgb TEXT offset 0,0.6; else set xlabel "hour" textcolor rgb TEXT offset 0,0.6
set grid front ytics
plot "stack.tsv" using 1:6 with filledcurves y1=0 lc rgb 0x00000f, \
     "" using 1:5 with filledcurves y1=0 lc rgb 0x00000e, \
     "" using 1:4 with filledcurves y1=0 lc rgb 0x00000d, \
     "" using 1:3 with filledcurves y1=0 lc rgb 0x00000c, \
     "" using 1:2 with filledcurves y1=0 lc rgb 0x00000b

# SPDX-License-Identifier: GPL-3.0-or-later
# Quota of one root of the tree over the run. Columns of quota.tsv: time (days or hours), then the
# upper edges, cumulated: held within own nominal quota, held and borrowed from others of the tree,
# waiting; then the nominal quota of the tree. Cut off at MOST
set lmargin at screen (62.0/W)
set rmargin at screen (1-14.0/W)
set tmargin at screen 0.97
set bmargin at screen (42.0/H)
set yrange [0:MOST]
set ytics 0,QUOTA_TIC
set xrange [0:END]
set xtics 0,TIC
if (DAYS) set xlabel "day" textcolor rgb TEXT offset 0,0.6; else set xlabel "hour" textcolor rgb TEXT offset 0,0.6
set grid front ytics
plot "quota.tsv" using 1:4 with fillsteps lc rgb 0x000022, \
     "" using 1:3 with fillsteps lc rgb 0x00000d, \
     "" using 1:2 with fillsteps lc rgb 0x00000b, \
     "" using 1:5 with steps lc rgb 0x000004 lw 1.5

# SPDX-License-Identifier: GPL-3.0-or-later
# Utilisation against isolation: a row per arbiter and node pool, in groups of falling isolation.
# isolation.tsv: row, name token, per cent, text token, colour place, ring (1 = a finding, else NaN);
# groups.tsv: row, text token
set border 0
set ytics scale 0
set lmargin at screen 0.36
set rmargin at screen 0.86
set tmargin at screen 1-8.0/H
set bmargin at screen 48.0/H
set xrange [0:100]
set yrange [ROWS-0.4:-0.6]
set xtics 0,25,100
set format x "%.0f %%"
set xlabel "computing, of the time that its cards had a tenant" textcolor rgb TEXT offset 0,0.5
unset grid
set grid xtics lt 1 lc rgb GRID lw 1
unset ytics
set arrow 1 from 50, graph 0 to 50, graph 1 nohead lc rgb AXIS lw 1.5 dt (4,3)
plot "isolation.tsv" using (0):1:2 with labels right offset -0.8,0 textcolor rgb 0x000004, \
     "" using (0):1:3:(0):5 with vectors nohead lc rgb variable lw 1.5, \
     "" using 3:1:(1.4):5 with points pt 7 ps variable lc rgb variable, \
     "" using ($6 == 1 ? $3 : NaN):1 with points pt 6 ps 2.2 lw 2 lc rgb 0x00000c, \
     "" using 3:1:4 with labels left offset 1.6,0 textcolor rgb 0x000004, \
     "groups.tsv" using (0):1:2 with labels right offset -0.8,0 textcolor rgb TEXT font ",12"

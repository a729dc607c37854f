# SPDX-License-Identifier: GPL-3.0-or-later
# Money per arbiter, stacked by item. cost.tsv: row, label token, then from, to per item;
# totals.tsv: x, row, text token
set lmargin at screen 0.17
set rmargin at screen 0.985
set tmargin at screen 0.98
set bmargin at screen (50.0/H)
set xrange [0:MOST*1.12]
set yrange [ROWS-0.45:-0.55]
set xtics 0,TIC
set format x "%g"
if (UNIT == 1e6) set xlabel "million usd" textcolor rgb TEXT offset 0,0.4
if (UNIT == 1e3) set xlabel "thousand usd" textcolor rgb TEXT offset 0,0.4
if (UNIT == 1) set xlabel "usd" textcolor rgb TEXT offset 0,0.4
unset grid
set grid xtics lt 1 lc rgb GRID lw 1
set border 0
set ytics scale 0
T = 0.34
plot for [i=0:ITEMS-1] "cost.tsv" using ((column(3+2*i)+column(4+2*i))/2):1:(column(3+2*i)):(column(4+2*i)):($1-T):($1+T):ytic(2) \
     with boxxyerror lc rgb (0x000033+i), \
     "totals.tsv" using 1:2:3 with labels left offset 0.6,0 textcolor rgb TEXT

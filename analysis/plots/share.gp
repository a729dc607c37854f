# SPDX-License-Identifier: GPL-3.0-or-later
# Where the card time went: one bar per arbiter. Columns of share.tsv:
# row, label token, then per group (computing, rework, waiting, idle, offline) from, to in per cent;
# labels.tsv: x, row, group 0..4, text token
set lmargin at screen 0.17
set rmargin at screen 0.985
set tmargin at screen 0.98
set bmargin at screen (30.0/H)
set xrange [0:100]
set yrange [ROWS-0.45:-0.55]
set format x "%.0f %%"
unset grid
set border 0
set ytics scale 0
T = 0.34
plot for [g=0:4] "share.tsv" using ((column(3+2*g)+column(4+2*g))/2):1:(column(3+2*g)):(column(4+2*g)):($1-T):($1+T):ytic(2) \
     with boxxyerror lc rgb (0x00000b+g), \
     for [g=0:4] "labels.tsv" using ($3==g ? $1 : NaN):2:4 with labels center textcolor rgb (0x000029+g)

# SPDX-License-Identifier: GPL-3.0-or-later
# What each way of sharing costs: three panels of bars beside one another, a row per arbiter.
# whatif.tsv: row, name token, way token, colour place, then value and text token per panel
set border 0
unset grid
unset xtics
set ytics scale 0
set yrange [ROWS-0.4:-0.7]
set tmargin at screen 1-34.0/H
set bmargin at screen 6.0/H
T = 0.3
set multiplot
array LEFT[3] = [0.27, 0.52, 0.77]
array TITLE[3] = ["cards in use, at most", "latency, 99th percentile", "brought down by a neighbour"]
array MOST[3] = [MOST1, MOST2, MOST3]
do for [p=1:3] {
    set lmargin at screen LEFT[p]
    set rmargin at screen LEFT[p]+0.21
    set xrange [0:MOST[p]*1.45]
    unset label
    set label 1 TITLE[p] at screen LEFT[p],1-16.0/H left textcolor rgb TEXT
    unset ytics
    c = 3+2*p
    if (p == 1) {
        plot "whatif.tsv" using (0):1:2 with labels right offset -0.8,0.55 textcolor rgb 0x000004, \
             "" using (0):1:3 with labels right offset -0.8,-0.55 textcolor rgb TEXT font ",12", \
             "" using (column(c)/2):1:(0):(column(c)):($1-T):($1+T):4 with boxxyerror lc rgb variable, \
             "" using (column(c)):1:(strcol(c+1)) with labels left offset 0.6,0 textcolor rgb 0x000004
    } else {
        plot "whatif.tsv" using (column(c)/2):1:(0):(column(c)):($1-T):($1+T):4 with boxxyerror lc rgb variable, \
             "" using (column(c)):1:(strcol(c+1)) with labels left offset 0.6,0 textcolor rgb 0x000004
    }
}
unset multiplot

# SPDX-License-Identifier: GPL-3.0-or-later
# Waiting of each team under two arbiters. teams.tsv: row, label token, first seconds, second
# seconds where it is shorter, second seconds where it is longer (NaN otherwise)
set lmargin at screen 0.19
set rmargin at screen 0.985
set tmargin at screen 0.99
set bmargin at screen (48.0/H)
set logscale x
set xrange [LEAST:MOST]
set yrange [ROWS-0.4:-0.6]
set xtics ("1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, "1 h" 3600, "6 h" 21600, "1 day" 86400, "1 week" 604800, "30 days" 2592000)
if (log10(MOST/LEAST) < 2.6) set xtics add ("5 min" 300, "30 min" 1800, "3 h" 10800, "12 h" 43200, "3 days" 259200)
set xlabel "95th percentile of waiting" textcolor rgb TEXT offset 0,0.5
unset grid
set grid xtics lt 1 lc rgb GRID lw 1
set border 0
set ytics scale 0
set pointsize 0.9
plot "teams.tsv" using 3:1:($4-$3):(0):ytic(2) with vectors nohead lc rgb 0x000016 lw 2, \
     "" using 3:1:($5-$3):(0) with vectors nohead lc rgb 0x00000c lw 2, \
     "" using 3:1 with points pt 7 lc rgb 0x000015, \
     "" using 4:1 with points pt 7 lc rgb 0x000016, \
     "" using 5:1 with points pt 7 lc rgb 0x00000c

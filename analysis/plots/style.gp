# SPDX-License-Identifier: GPL-3.0-or-later
# Begins every plot. vars.gp holds numbers only; data files hold numbers and label tokens only.
load "vars.gp"
set terminal svg size W,H noenhanced font "system-ui,13"
set output "out.svg"
set datafile missing "NaN"
set datafile separator "\t"
AXIS = 0x000001
TEXT = 0x000002
GRID = 0x000003
set border 1 lc rgb AXIS lw 1
set tics textcolor rgb TEXT scale 0.4 nomirror
set grid ytics lt 1 lc rgb GRID lw 1
set key off
set style fill solid 1 noborder

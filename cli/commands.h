/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands of the program. Each parses its own options (argv[0] is "fleetsim NAME"), prints
 * results on stdout and diagnostics on stderr, and returns the exit status:
 *   0 done · 1 the answer is "no" · 2 bad input · 3 the machine failed us ·
 *   4 complete and stored, but workloads evict each other without end
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_conform(int argc, char **argv);
int cmd_hash(int argc, char **argv);
int cmd_regress(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_audit(int argc, char **argv);

#endif

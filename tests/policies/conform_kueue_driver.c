/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays recorded Kueue decisions: conform_kueue_driver FILES... */
#include "studies/conform_kueue.h"

int main(int argc, char **argv)
{
    return conform_kueue_main(argc - 1, argv + 1, stdout, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/file_hash.h"

#include <stdio.h>
#include <sys/stat.h>

#include "sim/fnv.h"

bool file_hash(const char *path, uint64_t *hash)
{
    unsigned char buffer[65536];
    FILE *f = fopen(path, "rb");
    *hash = FNV_START;
    if (f == NULL)
        return false;
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        *hash = fnv_add(*hash, buffer, n);
    const bool ok = ferror(f) == 0;
    (void)fclose(f);
    return ok;
}

uint64_t file_hash_or_none(const char *path)
{
    struct stat st;
    uint64_t hash;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && file_hash(path, &hash) ? hash : FILE_HASH_NONE;
}

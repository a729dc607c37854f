/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A directory of its own for a test, removed at the end with the files in it. */
#ifndef TESTS_STORE_SCRATCH_H
#define TESTS_STORE_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
    char directory[256];
    char path[8][512];
    int next;
};

static inline void scratch_open(struct scratch *s)
{
    const char *tmp = getenv("TMPDIR");
    memset(s, 0, sizeof *s);
    snprintf(s->directory, sizeof s->directory, "%.200s/fleetsim-test-XXXXXX",
             tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    if (mkdtemp(s->directory) == NULL)
        abort();
}

/* Name of a file inside; valid until eight more were asked for. */
static inline const char *scratch_file(struct scratch *s, const char *name)
{
    char directory[sizeof s->directory]; /* the compiler fears an overlap otherwise */
    char *path = s->path[s->next++ % 8];
    memcpy(directory, s->directory, sizeof directory);
    snprintf(path, 512, "%s/%.200s", directory, name);
    return path;
}

static inline int scratch_count(const struct scratch *s)
{
    DIR *d = opendir(s->directory);
    int count = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        count += e->d_name[0] != '.';
    if (d != NULL)
        closedir(d);
    return count;
}

static inline void scratch_close(struct scratch *s)
{
    DIR *d = opendir(s->directory);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", s->directory, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (d != NULL)
        closedir(d);
    rmdir(s->directory);
}

#endif

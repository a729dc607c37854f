/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/arena.h"

static bool in_place(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

bool out_file_open(struct out_file *f, const char *path, struct err *err)
{
    memset(f, 0, sizeof *f);
    if (strcmp(path, "-") == 0) {
        f->path = mem_strdup("standard output");
        f->stream = stdout;
        return true;
    }
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return err_set(err, ERR_SYSTEM, "cannot create '%s': it is a directory", path);
    }
    f->path = mem_strdup(path);
    if (!in_place(path)) {
        size_t n = strlen(path) + 32;
        f->temporary = mem_alloc(n, 1);
        snprintf(f->temporary, n, "%s.partial.%ld", path, (long)getpid());
    }
    f->stream = fopen(f->temporary != NULL ? f->temporary : path, "w");
    if (f->stream == NULL) {
        err_errno(err, ERR_SYSTEM, "cannot create '%s'", path);
        free(f->temporary);
        f->temporary = NULL;
        out_file_abandon(f);
        return false;
    }
    return true;
}

static bool fail(struct out_file *f, struct err *err)
{
    err_errno(err, ERR_SYSTEM, "cannot write '%s'", f->path);
    out_file_abandon(f);
    return false;
}

bool out_file_commit(struct out_file *f, struct err *err)
{
    errno = 0;
    if (fflush(f->stream) != 0 || ferror(f->stream)) {
        errno = errno != 0 ? errno : EIO;
        return fail(f, err);
    }
    if (f->temporary != NULL) {
        if (fsync(fileno(f->stream)) != 0 && errno != EINVAL && errno != EROFS) {
            return fail(f, err);
        }
        FILE *stream = f->stream;
        f->stream = NULL;
        if (fclose(stream) != 0 || rename(f->temporary, f->path) != 0) {
            return fail(f, err);
        }
        free(f->temporary);
        f->temporary = NULL;
    }
    out_file_abandon(f);
    return true;
}

void out_file_abandon(struct out_file *f)
{
    int kept = errno;
    if (f->stream != NULL && f->stream != stdout) {
        fclose(f->stream);
    }
    if (f->temporary != NULL) {
        unlink(f->temporary);
    }
    free(f->temporary);
    free(f->path);
    memset(f, 0, sizeof *f);
    errno = kept;
}

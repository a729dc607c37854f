/* SPDX-License-Identifier: GPL-3.0-or-later */
/* realpath(3) is in POSIX, but glibc shows it only to X/Open programs */
#define _XOPEN_SOURCE 700
#include "analysis/store/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/arena.h"

static char *temporary_name(const char *path, long pid)
{
    size_t size = strlen(path) + 32;
    char *name = mem_alloc(size, 1);
    snprintf(name, size, "%s.tmp-%ld", path, pid);
    return name;
}

/* The file behind links, so that a link stays a link; a name that does not exist as it is. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);
    if (real == NULL)
        return mem_strdup(path);
    char *copy = mem_strdup(real);
    free(real);
    return copy;
}

static void target_free(struct target *target)
{
    free(target->path);
    free(target->temporary);
    *target = (struct target){0};
}

bool target_open(struct target *target, const char *path, struct err *err)
{
    struct stat st;
    *target = (struct target){0};
    if (path[0] == '\0')
        return err_set(err, ERR_INPUT, "output file name is empty");
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s: is %s, expected the name of a file to write", path,
                       S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
    target->path = resolve(path);
    target->temporary = temporary_name(target->path, (long)getpid());
    unlink(target->temporary); /* left by a crash of an earlier process of this number */
    int fd = open(target->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) {
        err_errno(err, ERR_SYSTEM, "cannot write '%s'", path);
        target_free(target);
        return false;
    }
    close(fd);
    return true;
}

static bool sync_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, ERR_SYSTEM, "cannot open '%s'", path);
    if (fsync(fd) != 0) {
        err_errno(err, ERR_SYSTEM, "cannot flush '%s'", path);
        close(fd);
        return false;
    }
    if (close(fd) != 0)
        return err_errno(err, ERR_SYSTEM, "cannot flush '%s'", path);
    return true;
}

/* The rename itself lives in the directory; some file systems cannot sync one, which is no
 * reason to fail a file that is complete. */
static void sync_directory_of(const char *path)
{
    char *directory = mem_strdup(path);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        slash[slash == directory ? 1 : 0] = '\0';
    int fd = open(slash != NULL ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
}

bool target_commit(struct target *target, const char *path, struct err *err)
{
    if (path == NULL)
        path = target->path;
    bool ok = sync_file(target->temporary, err);
    if (ok && rename(target->temporary, path) != 0)
        ok = err_errno(err, ERR_SYSTEM, "cannot rename '%s' to '%s'", target->temporary, path);
    if (ok)
        sync_directory_of(path);
    else
        unlink(target->temporary);
    target_free(target);
    return ok;
}

void target_discard(struct target *target)
{
    if (target->temporary != NULL)
        unlink(target->temporary);
    target_free(target);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of a scenario: reading it whole, and refusing what is not text. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/load/ytree.h"

static bool refuse(struct diag_list *diags, const char *name, const char *what)
{
    diag_add(diags, DIAG_ERROR, name, 0, 0, NULL, "%s", what);
    return false;
}

/* Bytes of the UTF-8 sequence at p (at most n), 0 when it is none. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : 0;
    if (length == 0 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool outside = (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf4 && p[1] >= 0x90);
    return overlong || outside ? 0 : length;
}

/* A NUL byte anywhere, or a first line that is no text, makes the file binary; a single bad byte
 * elsewhere gets its place. */
static bool check_text(const struct ysource *s, struct diag_list *diags)
{
    struct yplace place = {s, 1, 1};
    if (memchr(s->text, '\0', s->length) != NULL)
        return refuse(diags, s->name,
                      "is a binary file (it has a NUL byte); expected a YAML text file");
    for (size_t i = 0; i < s->length;) {
        const unsigned char *p = (const unsigned char *)s->text + i;
        size_t n = utf8_length(p, s->length - i);
        bool control = (*p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r') || *p == 0x7f;
        if (n == 0 || control) {
            yplace_report(&place, DIAG_ERROR, diags,
                          n == 0 ? "byte 0x%02x is not UTF-8 text" : "control byte 0x%02x in the text", *p);
            return false;
        }
        place.line += *p == '\n';
        place.column = *p == '\n' ? 1 : place.column + (int32_t)n;
        i += n;
    }
    return true;
}

static bool is_blank(const char *text)
{
    while (*text != '\0') {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            break;
        text += strcspn(text, "\n");
    }
    return *text == '\0';
}

bool ysource_text(struct ysource *out, const char *name, const char *text, size_t length,
                  struct arena *a, struct diag_list *diags)
{
    *out = (struct ysource){.name = arena_strdup(a, name)};
    if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return refuse(diags, name, "is UTF-16 text; expected UTF-8");
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (length > YTREE_BYTES_MAX)
        return refuse(diags, name,
                      "is larger than 8 MiB, the limit of a scenario (jobs and traffic go into files of their own)");
    char *copy = arena_alloc(a, length + 1, 1);
    memcpy(copy, text, length);
    out->text = copy;
    out->length = length;
    if (!check_text(out, diags))
        return false;
    return !is_blank(copy) || refuse(diags, name, "is empty; expected a scenario");
}

static bool read_all(int fd, const char *path, char *buffer, size_t limit, size_t *length,
                     struct diag_list *diags)
{
    *length = 0;
    while (*length < limit) {
        ssize_t n = read(fd, buffer + *length, limit - *length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            diag_add(diags, DIAG_ERROR, path, 0, 0, NULL, "cannot read: %s", strerror(errno));
            return false;
        }
        if (n == 0)
            break;
        *length += (size_t)n;
    }
    return true;
}

bool ysource_read(struct ysource *out, const char *path, struct arena *a, struct diag_list *diags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        diag_add(diags, DIAG_ERROR, path, 0, 0, NULL, "cannot open: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return refuse(diags, path, "is a directory; expected a scenario file");
    }
    /* One byte more than allowed tells that the file is too large, whatever its size. */
    size_t limit = (size_t)YTREE_BYTES_MAX + 4, length;
    size_t room = S_ISREG(st.st_mode) && (size_t)st.st_size < limit ? (size_t)st.st_size + 1 : limit;
    char *buffer = mem_alloc(room, 1);
    bool ok = read_all(fd, path, buffer, room, &length, diags);
    close(fd);
    ok = ok && ysource_text(out, path, buffer, length, a, diags);
    free(buffer);
    return ok;
}

/* The source line of a place, cut to something printable. */
static const char *source_line(const struct yplace *place, char *buffer, size_t size)
{
    const char *p = place->source->text;
    for (int32_t line = 1; line < place->line && p != NULL; line++) {
        p = strchr(p, '\n');
        if (p != NULL)
            p++;
    }
    if (p == NULL)
        return NULL;
    size_t n = strcspn(p, "\r\n");
    if (n >= size)
        n = size - 1;
    memcpy(buffer, p, n);
    buffer[n] = '\0';
    return buffer;
}

void yplace_report(const struct yplace *place, enum diag_severity severity, struct diag_list *diags,
                   const char *fmt, ...)
{
    char text[1024], line[4096];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    /* What is cut from the list needs no excerpt: ten thousand problems stay cheap. */
    bool shown = severity != DIAG_ERROR || diags->error_count < (diags->limit > 0 ? diags->limit : 20);
    if (place->source == NULL)
        diag_add(diags, severity, NULL, 0, 0, NULL, "%s", text);
    else if (place->source->is_argument)
        diag_add(diags, severity, place->source->name, 0, 0, NULL, "%s", text);
    else
        diag_add(diags, severity, place->source->name, place->line, place->column,
                 shown ? source_line(place, line, sizeof line) : NULL, "%s", text);
}

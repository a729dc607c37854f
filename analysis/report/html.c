/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report/html.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void html_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\'')
            fputs("&#39;", out);
        else if (c >= ' ' && c != 0x7f)
            putc(c, out);
    }
}

/* Two palettes; the names are those of svg.c. Text on a fill has at least 4.5:1 contrast. */
#define LIGHT                                                                                      \
    "--page:#ffffff;--card:#f6f8fa;--text:#1c2128;--muted:#57606a;--axis:#8c959f;--grid:#e2e6ea;"  \
    "--line:#d0d7de;--accent:#0b5cad;--computing:#1f6fc0;--rework:#c9364f;--waiting:#eeb83f;"      \
    "--idle:#d3dae2;--offline:#7d8793;--on-computing:#ffffff;--on-rework:#ffffff;"                 \
    "--on-waiting:#1c2128;--on-idle:#1c2128;--on-offline:#10151b;--arbiter1:#68727d;"              \
    "--arbiter2:#1f6fc0;--arbiter3:#c2570c;--arbiter4:#7b3fc9;--arbiter5:#0f8064;"                 \
    "--traffic:#0e7a8c;--wanted:#073f49;--mark:#57606a;--pending:#7b3fc9;--item1:#1f6fc0;"         \
    "--item2:#eeb83f;--item3:#0f8064;--item4:#c2570c;--item5:#7b3fc9;--item6:#8c959f;"             \
    "--good:#0f7b4f;--bad:#b42338;"
#define DARK                                                                                       \
    "--page:#0f141a;--card:#181f27;--text:#e6edf3;--muted:#9fabb8;--axis:#6b7785;--grid:#27303a;"  \
    "--line:#323c47;--accent:#6db3f5;--computing:#4d9fe8;--rework:#f0687f;--waiting:#d6a437;"      \
    "--idle:#3b4653;--offline:#77828f;--on-computing:#08131f;--on-rework:#1d0508;"                 \
    "--on-waiting:#161003;--on-idle:#e6edf3;--on-offline:#0b0f14;--arbiter1:#a3afbb;"              \
    "--arbiter2:#58a8f0;--arbiter3:#f08b4a;--arbiter4:#b794f6;--arbiter5:#3dc2a0;"                 \
    "--traffic:#45c4d8;--wanted:#b5f0f8;--mark:#9fabb8;--pending:#b794f6;--item1:#58a8f0;"         \
    "--item2:#d6a437;--item3:#3dc2a0;--item4:#f08b4a;--item5:#b794f6;--item6:#77828f;"             \
    "--good:#4cc38a;--bad:#ff7b8e;"

static const char *const style[] = {
    ":root{color-scheme:light dark;" LIGHT "}"
    "@media (prefers-color-scheme:dark){:root{" DARK "}}"
    "@media print{:root{" LIGHT "}}",
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--page);color:var(--text);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    "main{max-width:940px;margin:0 auto;padding:40px 20px 72px}"
    "h1{font-size:15px;font-weight:600;color:var(--muted);margin:0 0 18px}"
    ".lead{font-size:27px;line-height:1.32;font-weight:600;letter-spacing:-.012em;margin:0 0 26px;"
    "text-wrap:pretty}"
    "h2{font-size:21px;line-height:1.35;margin:56px 0 6px;letter-spacing:-.008em;text-wrap:balance}"
    "h3{font-size:15px;margin:0 0 2px}"
    "p{margin:0 0 14px;max-width:72ch}.note{color:var(--muted);font-size:14px}"
    ".three{display:grid;grid-template-columns:repeat(auto-fit,minmax(240px,1fr));gap:14px;"
    "margin:0 0 18px}"
    ".three div{background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:16px 18px}"
    ".three b{display:block;font-size:23px;line-height:1.25;font-weight:650;letter-spacing:-.02em;"
    "font-variant-numeric:tabular-nums;margin:2px 0 4px}"
    ".three span{font-size:14px;color:var(--muted);display:block}"
    ".three .what{color:var(--text);font-weight:600}",
    "figure{margin:12px 0 0}svg{display:block;width:100%;height:auto;overflow:visible}"
    ".keys{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px;margin:10px 0 4px;padding:0;"
    "list-style:none}"
    ".keys i{display:inline-block;width:14px;height:14px;border-radius:3px;margin-right:7px;"
    "vertical-align:-2px}"
    ".keys i.line,.keys i.dash,.keys i.dots{height:0;border-radius:0;width:22px;vertical-align:4px;"
    "border-top:3px solid}.keys i.dash{border-top-style:dashed}"
    ".keys i.dots{border-top-style:dotted}"
    ".keys i.dot{border-radius:50%;width:12px;height:12px}"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(380px,1fr));gap:22px 20px}"
    ".scroll{overflow-x:auto}",
    "table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}"
    "th,td{padding:5px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left;white-space:normal;padding-left:0}"
    "td.text,th.text{text-align:left;white-space:normal}"
    "thead th{border-bottom:2px solid var(--axis);vertical-align:bottom}"
    "tr.group th{padding-top:16px;color:var(--muted);font-weight:600;border-bottom-color:var(--axis)}"
    "td small{color:var(--muted);font-size:12px}"
    ".good{color:var(--good)}.bad{color:var(--bad)}"
    "details{margin-top:14px}summary{cursor:pointer;color:var(--accent);font-size:15px}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;font-size:14px;margin:10px 0}"
    "dt{font-weight:600}dd{margin:0;color:var(--muted)}"
    ".missing{background:var(--card);border:1px dashed var(--axis);border-radius:8px;padding:12px 16px;"
    "font-size:14px;color:var(--muted);max-width:none;margin-top:12px}"
    "code{font-size:13px}"
    "@media (max-width:560px){dl{grid-template-columns:1fr}.two{grid-template-columns:1fr}"
    ".lead{font-size:22px}}"
    "@media print{h2{break-after:avoid}figure,.three{break-inside:avoid}details{display:block}}",
    NULL};

void html_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    html_text(out, title);
    fputs("</title>\n<style>", out);
    for (const char *const *part = style; *part != NULL; part++)
        fputs(*part, out);
    fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

void html_end(FILE *out)
{
    fputs("</main>\n</body>\n</html>\n", out);
}

void html_figure_text(char out[FIGURE_SIZE], const char *metric, double value)
{
    const struct metric_def *def = metric_defs_find(metric);
    enum metric_format format = def == NULL ? METRIC_AMOUNT : def->format;
    char plain[FIGURE_SIZE];
    figure_print(plain, format, value);
    size_t digits = strspn(plain, "-0123456789.");
    if (format == METRIC_PERCENT && isfinite(value))
        snprintf(out, FIGURE_SIZE, "%.20s %%", plain);
    else if (format == METRIC_DURATION && digits > 0)
        snprintf(out, FIGURE_SIZE, "%.*s %.10s", (int)digits, plain, plain + digits);
    else
        snprintf(out, FIGURE_SIZE, "%.24s%s", plain, format == METRIC_MONEY ? " usd" : "");
}

void html_figure(FILE *out, const char *metric, double value)
{
    char text[FIGURE_SIZE];
    html_figure_text(text, metric, value);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == ' ')
            fputs("&nbsp;", out);
        else
            putc(*p, out);
    }
}

void html_whole(FILE *out, double value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.0f", value);
    size_t n = strlen(digits);
    for (size_t i = 0; i < n; i++) {
        putc(digits[i], out);
        if ((n - i) % 3 == 1 && i + 1 < n && isdigit((unsigned char)digits[i]))
            putc(',', out);
    }
}

void html_key(FILE *out, const char *colour, const char *kind, const char *text)
{
    bool line = strcmp(kind, "line") == 0 || strcmp(kind, "dash") == 0 || strcmp(kind, "dots") == 0;
    fprintf(out, "<li><i class=\"%s\" style=\"%s:var(--%s)\"></i>", kind,
            line ? "border-color" : "background", colour);
    html_text(out, text);
    fputs("</li>", out);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report.h"

#include "analysis/report/page.h"
#include "analysis/store/target.h"

static void write_page(struct page *page)
{
    static void (*const sections[])(struct page *) = {
        section_day,  section_use,  section_waiting, section_quota, section_replicas, section_sharing,
        section_cost, section_teams, section_figures, section_about};
    html_begin(page->out, page->all.scenario);
    section_opening(page);
    if (page->about_sharing)
        section_sharing(page);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (page->err->code == ERR_NONE && !(page->about_sharing && sections[i] == section_sharing))
            sections[i](page);
    html_end(page->out);
}

static bool write_file(struct page *page, const char *path)
{
    struct target target;
    if (!target_open(&target, path, page->err))
        return false;
    page->out = fopen(target.temporary, "w");
    if (page->out == NULL) {
        err_errno(page->err, ERR_SYSTEM, "cannot write '%s'", path);
    } else {
        write_page(page);
        bool bad = ferror(page->out) != 0;
        if (fclose(page->out) != 0 || bad)
            err_errno(page->err, ERR_SYSTEM, "cannot write '%s'", path);
    }
    if (page->err->code == ERR_NONE)
        return target_commit(&target, NULL, page->err);
    target_discard(&target);
    return false;
}

bool report_write(const char *db_path, const char *html_path, struct err *err)
{
    struct results results;
    struct page page = {.results = &results, .err = err};
    if (!results_open(&results, db_path, err))
        return false;
    bool ok = page_read(&page) && write_file(&page, html_path);
    summary_data_fini(&page.all);
    summary_data_fini(&page.teams);
    compare_fini(&page.compare);
    results_close(&results);
    return ok;
}

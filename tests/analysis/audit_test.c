/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/figure.h"
#include "tests/analysis/shared_db.h"
#include "tests/store/fixture.h"
#include "tests/store/scratch.h"

struct context {
    struct scratch scratch;
    struct results results;
    struct audit audit;
    struct err err;
};

static bool begin(struct context *c, bool nameless)
{
    *c = (struct context){0};
    scratch_open(&c->scratch);
    const char *path = scratch_file(&c->scratch, "r.db");
    assert_true(shared_db(path, &(struct shared_db){.nameless = nameless}, &c->err));
    return results_open(&c->results, path, &c->err);
}

static void end(struct context *c)
{
    audit_fini(&c->audit);
    results_close(&c->results);
    scratch_close(&c->scratch);
}

static bool read_of(struct context *c, const char *arbiter, const char *tenant)
{
    struct audit_options o = {.arbiter = arbiter, .tenant = tenant};
    return audit_read(&c->audit, &c->results, &o, false, &c->err);
}

static char *printed(struct context *c, enum rows_format format, const char *tenant)
{
    char *text = NULL;
    size_t size = 0;
    struct audit_options o = {.tenant = tenant, .format = format};
    FILE *out = open_memstream(&text, &size);
    audit_print(out, &c->audit, &c->results, &o, &c->err);
    fclose(out);
    assert_int_equal(c->err.code, ERR_NONE);
    return text;
}

static void finding_names_tenant_cards_mechanism_and_hours(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, NULL, NULL));
    assert_int_equal(c.audit.finding_count, SHARED_FINDINGS);
    const struct audit_run *slicing = &c.audit.runs[2];
    assert_int_equal(slicing->finding_count, 2);
    const struct audit_finding *f = &slicing->findings[1]; /* chat, then fraud */
    assert_string_equal(f->tenant, "fraud");
    assert_string_equal(f->requires, "hardware");
    assert_string_equal(f->reason, "PCI-DSS");
    assert_string_equal(f->mechanism, "time-slicing");
    assert_string_equal(f->isolation, "none");
    assert_true(f->shared_s == 6 * 3600.0); /* 2 + 1 + 3 */
    assert_int_equal(f->card_count, 2);
    assert_int_equal(f->cards[0].card, 0);
    assert_true(f->cards[0].shared_s == 3 * 3600.0);
    assert_int_equal(f->cards[1].card, 1);
    assert_int_equal(f->other_count, 2);
    assert_string_equal(f->others[0].name, "tune-a"); /* 4 h, before chat's 2 */
    assert_true(f->others[0].shared_s == 4 * 3600.0);
    assert_int_equal(f->others[0].cards, 2);
    assert_int_equal(f->died_for_others, 1);
    assert_true(f->lost_card_s == 0.5 * 3600);
    end(&c);
}

static void isolation_by_hardware_satisfies_hardware(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, "mig", NULL));
    assert_int_equal(c.audit.finding_count, 0);
    const struct audit_run *mig = &c.audit.runs[0];
    assert_int_equal(mig->pair_count, 1);
    assert_false(mig->pairs[0].tenant_broken || mig->pairs[0].other_broken);
    assert_int_equal(mig->requirement_count, 3); /* chat, fraud, ledger */
    assert_true(mig->requirements[1].shared && !mig->requirements[1].broken);
    assert_false(mig->requirements[2].shared);
    end(&c);
}

static void pairs_add_up_over_cards_and_longest_stand_first(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, "slicing", NULL));
    const struct audit_run *r = &c.audit.runs[0];
    double sum = 0;
    assert_int_equal(r->pair_count, 4);
    for (size_t i = 0; i < r->pair_count; i++) {
        sum += r->pairs[i].shared_s;
        assert_true(i == 0 || r->pairs[i].shared_s <= r->pairs[i - 1].shared_s);
    }
    assert_true(sum == 12 * 3600.0); /* 2 + 1 + 3 + 1 + 5 */
    assert_string_equal(r->pairs[1].tenant, "fraud");
    assert_string_equal(r->pairs[1].other, "tune-a");
    assert_int_equal(r->pairs[1].cards, 2);
    assert_true(r->pairs[1].tenant_broken && !r->pairs[1].other_broken);
    end(&c);
}

static void incident_tells_its_blast_radius(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, "slicing", NULL));
    const struct audit_run *r = &c.audit.runs[0];
    assert_int_equal(r->incident_count, 2);
    assert_string_equal(r->incidents[0].culprit, "tune-a");
    assert_string_equal(r->incidents[0].victims, "chat, fraud, tune-a");
    assert_int_equal(r->incidents[0].victim_count, 3);
    assert_int_equal(r->incidents[0].others, 2);
    assert_true(r->incidents[0].lost_card_s == 3600.0);
    assert_int_equal(r->incidents[1].others, 1);
    end(&c);
}

static void one_tenant_sees_only_what_concerns_it(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, "slicing", "tune-b"));
    assert_int_equal(c.audit.finding_count, 0);
    assert_int_equal(c.audit.runs[0].pair_count, 1);
    assert_int_equal(c.audit.runs[0].incident_count, 1);
    end(&c);
}

static void table_says_it_in_words_within_80_columns(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, NULL, NULL));
    char *text = printed(&c, ROWS_TABLE, NULL);
    assert_non_null(strstr(text, "fraud requires hardware isolation (PCI-DSS), but shared 2 cards"));
    assert_non_null(strstr(text, "ledger requires hardware isolation (BACEN 4.893) and shared no card."));
    assert_non_null(strstr(text, "nobody shared a card"));
    assert_non_null(strstr(text, "runs no cards of its own"));
    assert_non_null(strstr(text, "2 findings"));
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (figure_columns(line) > 80)
            fail_msg("%zu columns: %s", figure_columns(line), line);
    free(text);
    end(&c);
}

static void csv_has_a_row_per_card_and_pair(void **state)
{
    struct context c;
    size_t lines = 0;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, NULL, NULL));
    char *text = printed(&c, ROWS_CSV, NULL);
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    assert_int_equal(lines, 1 + 1 + 5);
    assert_non_null(strstr(text, "slicing,a100,0,1,time-slicing,none,fraud,tune-a,3600,14400,3,1,hardware,none,1\n"));
    assert_non_null(strstr(text, "mig,a100,0,0,mig,hardware,chat,fraud,3600,18000,4,1,software,hardware,0\n"));
    free(text);
    end(&c);
}

static void json_holds_findings_with_every_card(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_true(read_of(&c, NULL, NULL));
    char *text = printed(&c, ROWS_JSON, NULL);
    sqlite3_stmt *q = results_query(&c.results, &c.err,
                                    "SELECT json_valid(%Q), json_extract(%Q, '$.findings'),"
                                    " json_extract(%Q, '$.runs[2].findings[1].cards[1].card'),"
                                    " json_array_length(%Q, '$.runs[2].sharing')",
                                    text, text, text, text);
    assert_true(results_next(&c.results, q, &c.err));
    assert_int_equal(sqlite3_column_int(q, 0), 1);
    assert_int_equal(sqlite3_column_int(q, 1), SHARED_FINDINGS);
    assert_int_equal(sqlite3_column_int(q, 2), 1);
    assert_int_equal(sqlite3_column_int(q, 3), 5);
    sqlite3_finalize(q);
    free(text);
    end(&c);
}

static void names_that_are_not_there_are_bad_input(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, false));
    assert_false(read_of(&c, "slicin", NULL));
    assert_int_equal(err_exit_status(&c.err), 2);
    assert_non_null(strstr(c.err.text, "no arbiter 'slicin'; did you mean 'slicing'?"));
    c.err = (struct err){0};
    audit_fini(&c.audit);
    assert_false(read_of(&c, NULL, "frau"));
    assert_non_null(strstr(c.err.text, "no tenant 'frau'; did you mean 'fraud'?"));
    end(&c);
}

static void summary_that_names_nobody_says_how_to_record_it(void **state)
{
    struct context c;
    (void)state;
    assert_true(begin(&c, true));
    assert_false(read_of(&c, NULL, NULL));
    assert_int_equal(err_exit_status(&c.err), 2);
    assert_non_null(strstr(c.err.text, "--record series"));
    c.err = (struct err){0};
    audit_fini(&c.audit);
    assert_true(read_of(&c, "whole", NULL)); /* nobody shared: true without names */
    assert_int_equal(c.audit.finding_count, 0);
    end(&c);
}

/* A database as it was before these tables: `sharing` was there, with other columns. */
static void older_database_is_named_as_such(void **state)
{
    struct scratch s;
    struct results results = {0};
    struct audit audit;
    struct err err = {0};
    sqlite3 *db;
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 1;
    const char *path = scratch_file(&s, "old.db");
    assert_true(fixture_write(path, &f, &err));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE tenant; DROP TABLE sharing_pool; DROP TABLE sharing;"
                                      "CREATE TABLE sharing(run INTEGER, t_s REAL, tenant TEXT) STRICT;",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    assert_true(results_open(&results, path, &err));
    assert_false(audit_read(&audit, &results, &(struct audit_options){0}, false, &err));
    assert_int_equal(err_exit_status(&err), 2);
    assert_non_null(strstr(err.text, "before fleetsim recorded who shares a card"));
    audit_fini(&audit);
    results_close(&results);
    scratch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finding_names_tenant_cards_mechanism_and_hours),
        cmocka_unit_test(isolation_by_hardware_satisfies_hardware),
        cmocka_unit_test(pairs_add_up_over_cards_and_longest_stand_first),
        cmocka_unit_test(incident_tells_its_blast_radius),
        cmocka_unit_test(one_tenant_sees_only_what_concerns_it),
        cmocka_unit_test(table_says_it_in_words_within_80_columns),
        cmocka_unit_test(csv_has_a_row_per_card_and_pair),
        cmocka_unit_test(json_holds_findings_with_every_card),
        cmocka_unit_test(names_that_are_not_there_are_bad_input),
        cmocka_unit_test(summary_that_names_nobody_says_how_to_record_it),
        cmocka_unit_test(older_database_is_named_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

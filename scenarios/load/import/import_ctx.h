/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of the importers: the import under way, the records they produce, and a reader of CSV rows
 * that keeps the account. An importer of a CSV format is a list of columns and a function that
 * takes one row (see philly.c for the shortest).
 */
#ifndef SCENARIOS_LOAD_IMPORT_IMPORT_CTX_H
#define SCENARIOS_LOAD_IMPORT_IMPORT_CTX_H

#include "scenarios/load/csv.h"
#include "scenarios/load/import/account.h"
#include "scenarios/load/import/chunks.h"
#include "scenarios/load/import/clock.h"
#include "scenarios/load/import/import.h"
#include "scenarios/load/import/names.h"
#include "scenarios/load/row_error.h"

#define IMPORT_WAIT_UNKNOWN (-1)

/* One job; texts are numbers in import.names, 0 = not given. */
struct import_job {
    int64_t submit;   /* ns on the clock of the trace; first member: chunks_order */
    int64_t duration; /* ns, >= 1 */
    int64_t wait;     /* what the trace says it waited, IMPORT_WAIT_UNKNOWN */
    uint32_t team, queue, user, id, state, model, card_type, cls;
    int32_t workers, cards; /* cards per worker; 0 with a share */
    int32_t share_milli;    /* 1..999, or 0 = whole cards */
    int32_t priority;
    int64_t cpu_milli, memory_mib; /* of each worker, -1 = not known */
    uint32_t line;
};

#define IMPORT_NO_TOKENS (-1)

/* One request; counts IMPORT_NO_TOKENS when not given. */
struct import_request {
    int64_t time; /* ns on the clock of the trace */
    int32_t input, output;
    uint32_t line;
};

/* A rate over a window of time. */
struct import_rate {
    int64_t time;
    int64_t length;  /* ns */
    uint32_t client; /* number in import.names */
    uint32_t line;
    double rate_per_s;
    double input, output; /* mean tokens, NaN = not known */
};

/* Mean tokens of one client's requests in a window (ServeGen). */
struct import_length {
    int64_t time;
    uint32_t client;
    uint32_t is_output;
    double mean;
};

/* One input file, for the provenance of the output. */
struct import_source {
    char *name;
    char sha256[65];
    uint64_t bytes; /* unpacked */
};

enum { IMPORT_NOTES_MAX = 8 };

struct import {
    const struct importer *which;
    const struct import_options *o;
    enum import_form form;
    struct account account;
    struct clock clock;
    struct names names;
    struct chunks jobs, requests, rates, lengths;
    struct import_source *sources;
    size_t source_count, source_capacity;
    const char *file;           /* being read */
    bool sequential;            /* the format has no times: arrivals are made up */
    char note[IMPORT_NOTES_MAX][160]; /* lines for account and header */
    int note_count;
    char cut[256];              /* what was cut and scaled */
    int64_t origin;             /* the instant that became second 0 */
};

/* Adds a line to account and header; beyond the eighth they are dropped. */
void import_note(struct import *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Counts a bad row; true when it is tolerated, else err is set with file, line and column. */
bool import_bad_row(struct import *x, enum import_reason r, long line, const struct row_error *e,
                    struct err *err);

/* Counts a row that is dropped or repaired; false and err with --strict. `got` is for the message. */
bool import_odd_row(struct import *x, enum import_reason r, long line, const char *got, struct err *err);

/* Adds a record after checking its limits; NULL and err when the table is full. */
struct import_job *import_add_job(struct import *x, struct err *err);
struct import_request *import_add_request(struct import *x, struct err *err);

/* ---- CSV rows ---- */

struct import_column {
    const char *name;
    bool required; /* in the header */
};

struct import_rows {
    struct import *x;
    struct csv csv;
    int at[32]; /* position of each column, -1 = absent */
    const struct import_column *columns;
    int column_count;
    /* set by the row function through the helpers below */
    enum import_reason reason;
    struct row_error error;
    struct err *err;
};

enum import_verdict {
    ROW_USED,
    ROW_BAD,    /* reason and error are set */
    ROW_DROPPED, /* reason is set */
    ROW_FAILED  /* err is set */
};

typedef enum import_verdict (*import_row_fn)(struct import_rows *r);

/* Reads a headed CSV file row by row into fn, keeping the account. */
bool import_rows_run(struct import *x, struct text_input *in, const struct import_column *columns,
                     int column_count, import_row_fn fn, struct err *err);
/* The loop alone, over rows prepared by the caller (csv started, columns found). */
bool import_rows_loop(struct import_rows *r, import_row_fn fn);
/* Finds the columns by exact name; false and err when a required one is missing. */
bool import_rows_find(struct import_rows *r);

/* Text of a field without blanks around it, "" when absent; import_text also when it is marked
 * missing, which free texts are not (a user may be called NA). */
const char *import_free_text(struct import_rows *r, int c);
const char *import_text(struct import_rows *r, int c);
/* False with reason and error set when the field cannot be read or is missing. */
bool import_time(struct import_rows *r, int c, int64_t *ns);
bool import_decimal(struct import_rows *r, int c, int digits, int64_t least, int64_t most,
                    const char *expected, int64_t *out);
bool import_real(struct import_rows *r, int c, double least, double most, const char *expected,
                 double *out);
/* A duration in the time unit of the options, checked >= 0. */
bool import_duration(struct import_rows *r, int c, int64_t *ns);
bool import_duration_unit(struct import_rows *r, int c, int64_t unit_ns, int64_t *ns);
/* Sets reason and error; returns ROW_BAD. */
enum import_verdict import_row_bad(struct import_rows *r, enum import_reason reason, int c,
                                   const char *expected);
enum import_verdict import_row_drop(struct import_rows *r, enum import_reason reason);
/* The number of a field's text. */
uint32_t import_name(struct import_rows *r, int c);
/* Counts a repair of this row; false and err set with --strict. */
bool import_repair(struct import_rows *r, enum import_reason reason, int c);

/* Checks a run time: above 100 years is bad; 0 is lifted to 1 s, or dropped. ROW_USED when *duration
 * is good afterwards. */
enum import_verdict import_check_duration(struct import_rows *r, int64_t *duration, int c);

/* ---- the end of an import (jobs_out.c, traffic_out.c) ---- */

bool import_write_jobs(struct import *x, FILE *out, FILE *account, struct err *err);
bool import_write_traffic(struct import *x, FILE *out, FILE *account, struct err *err);
/* A CSV field, quoted when it must be; control bytes become '?'. */
void import_put_text(FILE *out, const char *text);
void import_write_header(const struct import *x, FILE *out, const char *kind);
/* Settles origin and end of the cut for records in order; false and err for a bad --start. */
bool import_cut_times(struct import *x, int64_t first, int64_t last, int64_t *end, struct err *err);
/* True when the record is kept by --sample; key is its number. */
bool import_sampled(const struct import *x, uint64_t key);
/* (ns - origin) / scale of arrivals. */
int64_t import_scale_arrival(const struct import *x, int64_t ns);

/* The importers of table.c. */
bool philly_run(struct import *x, struct text_input *in, struct err *err);
bool philly_detect(const char *head, uint64_t n);
bool philly_json_run(struct import *x, struct text_input *in, struct err *err);
enum { PHILLY_CARDS_PER_NODE = 8 };
int32_t philly_workers(int64_t gpus);
bool servegen_run(struct import *x, struct text_input *in, struct err *err);
bool servegen_finish(struct import *x, struct err *err);
bool servegen_detect(const char *head, uint64_t n);
bool azure_llm_run(struct import *x, struct text_input *in, struct err *err);
bool azure_llm_detect(const char *head, uint64_t n);
bool genai_lora_run(struct import *x, struct text_input *in, struct err *err);
bool genai_lora_detect(const char *head, uint64_t n);
bool openb_run(struct import *x, struct text_input *in, struct err *err);
bool openb_detect(const char *head, uint64_t n);
bool kueue_workloads_run(struct import *x, struct text_input *in, struct err *err);
bool kueue_workloads_detect(const char *head, uint64_t n);
bool kueue_generator_detect(const char *head, uint64_t n);
bool generic_csv_run(struct import *x, struct text_input *in, struct err *err);
bool generic_csv_detect(const char *head, uint64_t n);

/* True when the first line of head holds the word. */
bool import_head_has(const char *head, uint64_t n, const char *word);

#endif

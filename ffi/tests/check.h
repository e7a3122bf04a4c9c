/* The smallest runner that serves: CHECK counts, RUN names, and the last line is `N passed, N failed`. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "seawall.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

static int check_passed, check_failed, check_bad;

#define CHECK(condition)                                                                                       \
    do {                                                                                                       \
        if (!(condition)) {                                                                                    \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                     \
            check_bad = 1;                                                                                     \
        }                                                                                                      \
    } while (0)

/* Two numbers, told apart when they differ. */
#define EQUAL(got, want)                                                                                       \
    do {                                                                                                       \
        int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);                                                \
        if (got_ != want_) {                                                                                   \
            printf("%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", __FILE__, __LINE__, #got, got_, want_);      \
            check_bad = 1;                                                                                     \
        }                                                                                                      \
    } while (0)

#define TEXT(got, want)                                                                                        \
    do {                                                                                                       \
        if (strcmp(got, want) != 0) {                                                                          \
            printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got, got, want);                  \
            check_bad = 1;                                                                                     \
        }                                                                                                      \
    } while (0)

#define RUN(test)                                                                                              \
    do {                                                                                                       \
        check_bad = 0;                                                                                         \
        test();                                                                                                \
        printf("%s %s\n", check_bad ? "FAILED" : "ok", #test);                                                 \
        check_bad ? check_failed++ : check_passed++;                                                           \
    } while (0)

static inline int check_end(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed != 0;
}

#endif

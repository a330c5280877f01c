/* Ends a test program unless a condition holds. */
#include <stdio.h>
#include <stdlib.h>

#include "aqm.h"

#define EXPECT(condition)                                                                      \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, aqm_error()); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

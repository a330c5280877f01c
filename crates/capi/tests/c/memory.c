/* A discipline whose tables do not fit in memory is refused in words; the program lives on. The argument is the mebibytes
   that the system still gives: with few a single table fails, with more their sum. */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/resource.h>

#include "expect.h"

static const aqm_link LINK = {.rate = 10000000, .mean_packet = 1000, .seed = 7};

/* Leaves the program `mebibytes` of addresses beyond those that it has. */
static void leave(unsigned long mebibytes) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file && fscanf(file, "%lu", &pages) == 1 && fclose(file) == 0);
    const rlim_t most = pages * 4096 + (mebibytes << 20);
    const struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
    EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* `classes` disciplines of 6.3 MB each. */
static char *many(unsigned classes) {
    static const char CLASS[] = "fq_codel:flows=65536; ";
    char *text = malloc(16 + classes * sizeof CLASS);
    EXPECT(text);
    strcpy(text, "drr:classes=[");
    for (unsigned n = 0; n < classes; n++)
        strcat(text, CLASS);
    strcpy(text + strlen(text) - 2, "]");
    return text;
}

int main(int count, char **words) {
    EXPECT(count == 2);
    /* 57 MB, which are taken in pieces, and 2.5 GB. */
    char *texts[] = {many(9), many(400)};
    leave(strtoul(words[1], NULL, 10));
    for (int n = 0; n < 2; n++) {
        aqm_queue *queue = (aqm_queue *)&LINK;
        EXPECT(aqm_new(texts[n], &LINK, &queue) == AQM_DISCIPLINE && !queue);
        EXPECT(strstr(aqm_error(), "B of memory, more than the system gives"));
        EXPECT(strstr(aqm_error(), "use fewer or smaller disciplines in `classes`"));
        free(texts[n]);
    }
    EXPECT(strstr(aqm_error(), "2.5 GB"));
    aqm_queue *queue = NULL;
    EXPECT(aqm_new("fq_codel:flows=65536", &LINK, &queue) == AQM_OK && queue);
    EXPECT(aqm_free(queue) == AQM_OK);
    return 0;
}

/* Ten lines of a queue: one flow sends too much, and FABA drops its packets.
 *
 * cc queue.c -I../include -L../../../target/release -laqm -o queue */
#include <inttypes.h>
#include <stdio.h>

#include "aqm.h"

static void count_drop(void *context, const aqm_packet *packet, const char *reason, uint64_t now) {
    (void)reason, (void)now;
    ++((unsigned *)context)[packet->flow];
}

int main(void) {
    unsigned drops[10] = {0};
    aqm_link link = {.rate = 10000000, .mean_packet = 1000, .seed = 1};
    aqm_queue *queue;
    if (aqm_new("faba:limit=100p", &link, &queue) != AQM_OK) {
        fprintf(stderr, "%s\n", aqm_error());
        return 1;
    }
    aqm_set_on_drop(queue, count_drop, drops);
    /* A packet leaves every 800 us. Each flow sends its share of the link, and flow 9 four times as much. */
    for (uint64_t slot = 0; slot < 20000; ++slot) {
        uint64_t now = slot * 800000;
        aqm_packet packet = {.flow = slot % 10, .bytes = 1000};
        aqm_enqueue(queue, &packet, now);
        for (int more = 0; slot % 10 == 9 && more < 3; ++more) aqm_enqueue(queue, &packet, now);
        aqm_dequeue(queue, now, &packet);
    }
    for (int flow = 0; flow < 10; ++flow) printf("flow %d: %u drops\n", flow, drops[flow]);
    return aqm_free(queue) == AQM_OK ? 0 : 1;
}

/* count DISCIPLINE STEPS: what `steps_in_rust` of cost.rs does, by the library's functions. */
#include <stdio.h>
#include <stdlib.h>

#include "aqm.h"

int main(int count, char **words) {
    char qdisc[64];
    aqm_queue *queue;
    aqm_link link = {.rate = 10000000, .mean_packet = 1000, .seed = 1};
    if (count != 4) return 2;
    snprintf(qdisc, sizeof qdisc, "%s:limit=1000p", words[2]);
    if (aqm_new(qdisc, &link, &queue) != AQM_OK) return 1;
    uint64_t steps = 500 + strtoull(words[3], NULL, 10);
    for (uint64_t step = 0; step < steps; ++step) {
        uint64_t now = step * 800000;
        aqm_packet packet = {.flow = step % 100, .bytes = 1000};
        if (aqm_enqueue(queue, &packet, now) != AQM_OK) return 1;
        if (step >= 500) aqm_dequeue(queue, now, &packet);
    }
    aqm_free(queue);
    return 0;
}

/* Queues share nothing: threads make, use and free their own side by side. */
#include <pthread.h>

#include "expect.h"

enum { THREADS = 4, ROUNDS = 400, PACKETS = 20 };

static void *work(void *seed) {
    const aqm_link link = {.rate = 10000000, .mean_packet = 1000, .seed = (uintptr_t)seed};
    for (unsigned round = 0; round < ROUNDS; ++round) {
        aqm_queue *queue;
        aqm_packet packet = {.bytes = 1000};
        EXPECT(aqm_new(round % 2 ? "sfb" : "red", &link, &queue) == AQM_OK);
        for (packet.flow = 0; packet.flow < PACKETS; ++packet.flow)
            EXPECT(aqm_enqueue(queue, &packet, packet.flow) == AQM_OK);
        EXPECT(aqm_dequeue(queue, PACKETS, &packet) == AQM_OK);
        EXPECT(aqm_free(queue) == AQM_OK);
    }
    EXPECT(aqm_free(NULL) == AQM_OK && aqm_new("rde", &link, &(aqm_queue *){NULL}) == AQM_DISCIPLINE);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (uintptr_t each = 0; each < THREADS; ++each) EXPECT(pthread_create(&threads[each], NULL, work, (void *)each) == 0);
    for (unsigned each = 0; each < THREADS; ++each) EXPECT(pthread_join(threads[each], NULL) == 0);
    return 0;
}

/* The laws of every call: what is offered is sent, dropped or held; misuse gives a status; nothing leaks. */
#include <inttypes.h>
#include <string.h>

#include "expect.h"

static const aqm_link LINK = {.rate = 10000000, .mean_packet = 1000, .seed = 7};

typedef struct {
    aqm_queue *queue;
    uint64_t drops, marks, frees;
    aqm_status inside;
} seen;

static void on_drop(void *context, const aqm_packet *packet, const char *reason, uint64_t now) {
    seen *all = context;
    (void)now;
    all->drops++;
    all->frees += strcmp(reason, "freed") == 0;
    all->inside = aqm_enqueue(all->queue, packet, 0);
    free(packet->user);
}

static void on_mark(void *context, const aqm_packet *packet, const char *reason, uint64_t now) {
    (void)now;
    EXPECT(packet->ecn == 3 && reason[0] != 0);
    ((seen *)context)->marks++;
}

static void on_gauge(void *context, const char *name, double value) {
    (void)value;
    EXPECT(name[0] != 0);
    ++*(unsigned *)context;
}

/* Offers packets with memory of their own in random order; every one comes back once. */
static void conserves(const char *qdisc, int steps) {
    seen all = {0};
    aqm_packet packet;
    aqm_counts counts;
    uint64_t sent = 0, offered = 0, now = 0, next, random = 88172645463325252u;
    EXPECT(aqm_new(qdisc, &LINK, &all.queue) == AQM_OK);
    EXPECT(aqm_set_on_drop(all.queue, on_drop, &all) == AQM_OK);
    EXPECT(aqm_set_on_mark(all.queue, on_mark, &all) == AQM_OK);
    for (int step = 0; step < steps; ++step) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        now += random % 700000;
        if (random % 5 < 3) {
            packet = (aqm_packet){.flow = random % 23, .user = malloc(1), .bytes = 40 + random % 1461, .ecn = random >> 62,
                                  .traffic_class = random >> 40 & 0xffff};
            EXPECT(aqm_enqueue(all.queue, &packet, now) == AQM_OK);
            offered++;
        } else if (aqm_dequeue(all.queue, now, &packet) == AQM_OK) {
            sent++;
            free(packet.user);
        }
    }
    EXPECT(aqm_count(all.queue, &counts) == AQM_OK);
    EXPECT(counts.arrived == offered && counts.sent == sent && counts.dropped == all.drops);
    EXPECT(counts.marked == all.marks && offered == sent + all.drops + counts.packets);
    EXPECT(aqm_next_event(all.queue, now, &next) == AQM_OK && (counts.packets == 0 || next >= now));
    EXPECT(all.drops == 0 || all.inside == AQM_BUSY);
    unsigned gauges = 0;
    EXPECT(aqm_gauges(all.queue, on_gauge, &gauges) == AQM_OK);
    uint64_t held = counts.packets, before = all.frees;
    EXPECT(aqm_free(all.queue) == AQM_OK);
    EXPECT(all.frees == before + held);
}

static void misuse(void) {
    aqm_queue *queue = (aqm_queue *)&queue;
    aqm_packet packet = {.flow = 1, .bytes = 1000};
    uint64_t number;
    EXPECT(aqm_new("no-such", &LINK, &queue) == AQM_DISCIPLINE && queue == NULL && strlen(aqm_error()) > 0);
    EXPECT(aqm_new("red:maxp=2", &LINK, &queue) == AQM_DISCIPLINE);
    EXPECT(aqm_new("\xff\xfe", &LINK, &queue) == AQM_DISCIPLINE);
    EXPECT(aqm_new(NULL, &LINK, &queue) == AQM_NULL);
    EXPECT(aqm_new("red", NULL, &queue) == AQM_NULL);
    EXPECT(aqm_new("red", &LINK, NULL) == AQM_NULL);
    EXPECT(aqm_new("red", &(aqm_link){.rate = 0, .mean_packet = 1}, &queue) == AQM_INVALID);
    EXPECT(aqm_enqueue(NULL, &packet, 0) == AQM_NULL);
    EXPECT(aqm_free(NULL) == AQM_OK);
    EXPECT(aqm_new("red", &LINK, &queue) == AQM_OK);
    EXPECT(aqm_enqueue(queue, NULL, 0) == AQM_NULL);
    EXPECT(aqm_enqueue(queue, &(aqm_packet){.bytes = 0}, 0) == AQM_INVALID);
    EXPECT(aqm_enqueue(queue, &(aqm_packet){.bytes = 1, .ecn = 4}, 0) == AQM_INVALID);
    EXPECT(aqm_enqueue(queue, &packet, 100) == AQM_OK);
    EXPECT(aqm_enqueue(queue, &packet, 99) == AQM_INVALID);
    EXPECT(aqm_enqueue(queue, &packet, UINT64_MAX) == AQM_INVALID);
    EXPECT(aqm_dequeue(queue, 100, NULL) == AQM_NULL);
    EXPECT(aqm_next_event(queue, 100, NULL) == AQM_NULL && aqm_count(queue, NULL) == AQM_NULL);
    EXPECT(aqm_gauges(queue, NULL, NULL) == AQM_NULL);
    EXPECT(aqm_flow(queue, NULL, 4, &number) == AQM_NULL);
    EXPECT(aqm_dequeue(queue, 100, &packet) == AQM_OK && packet.flow == 1);
    EXPECT(aqm_dequeue(queue, 100, &packet) == AQM_EMPTY);
    EXPECT(aqm_next_event(queue, 100, &number) == AQM_OK && number == UINT64_MAX);
    EXPECT(aqm_free(queue) == AQM_OK);
}

/* A freed queue stays freed while as many as 256 others come and go, and memory of other origin is no queue. */
static void freed(void) {
    aqm_queue *queue, *other;
    aqm_packet packet = {.flow = 1, .bytes = 1000};
    aqm_counts counts;
    uint64_t number, words[512] = {0};
    EXPECT(aqm_new("red", &LINK, &queue) == AQM_OK && aqm_enqueue(queue, &packet, 1) == AQM_OK);
    EXPECT(aqm_free(queue) == AQM_OK);
    for (int each = 0; each < 256; ++each) {
        EXPECT(aqm_free(queue) == AQM_FREED && strstr(aqm_error(), "freed"));
        EXPECT(aqm_new("droptail", &LINK, &other) == AQM_OK && other != queue);
        EXPECT(aqm_free(other) == AQM_OK);
    }
    EXPECT(aqm_enqueue(queue, &packet, 2) == AQM_FREED && aqm_dequeue(queue, 2, &packet) == AQM_FREED);
    EXPECT(aqm_next_event(queue, 2, &number) == AQM_FREED && aqm_count(queue, &counts) == AQM_FREED);
    EXPECT(aqm_set_on_drop(queue, NULL, NULL) == AQM_FREED && aqm_set_on_mark(queue, NULL, NULL) == AQM_FREED);
    EXPECT(aqm_gauges(queue, on_gauge, &number) == AQM_FREED && aqm_flow(queue, "a", 1, &number) == AQM_FREED);
    EXPECT(aqm_free((aqm_queue *)words) == AQM_FREED && strstr(aqm_error(), "aqm_new did not make it"));
    EXPECT(aqm_count((aqm_queue *)((char *)words + 1), &counts) == AQM_FREED);
    aqm_queue *many[600];
    for (int each = 0; each < 600; ++each) EXPECT(aqm_new("droptail", &LINK, &many[each]) == AQM_OK);
    for (int each = 0; each < 600; ++each) EXPECT(aqm_free(many[each]) == AQM_OK);
}

static void hashes(void) {
    aqm_queue *one, *other;
    uint64_t first, second, third;
    aqm_link next = LINK;
    next.seed++;
    EXPECT(aqm_new("sfb", &LINK, &one) == AQM_OK && aqm_new("sfb", &next, &other) == AQM_OK);
    EXPECT(aqm_flow(one, "0123456789abc", 13, &first) == AQM_OK && aqm_flow(one, "0123456789abd", 13, &second) == AQM_OK);
    EXPECT(aqm_flow(other, "0123456789abc", 13, &third) == AQM_OK);
    EXPECT(first != second && first != third);
    EXPECT(aqm_flow(one, "0123456789abc", 13, &second) == AQM_OK && first == second);
    EXPECT(aqm_free(one) == AQM_OK && aqm_free(other) == AQM_OK);
}

/* STEPS DISCIPLINE... */
int main(int count, char **words) {
    misuse();
    freed();
    hashes();
    for (int each = 2; each < count; ++each) conserves(words[each], atoi(words[1]));
    return 0;
}

/* Headgate's queue disciplines for programs in C: link with -laqm.
 *
 * Made from crates/capi/src by cbindgen: `BLESS=1 cargo test -p headgate-capi --test all header` writes it.
 *
 * A queue is used by one thread at a time. Time is in nanoseconds of any clock that never goes back. A function that
 * can fail returns an aqm_status, and aqm_error() then says why in words. Nothing is allocated per packet. */

#ifndef AQM_H
#define AQM_H

#include <stddef.h>
#include <stdint.h>

// What a call returns. Zero is success, a negative number a mistake of the caller or a failure.
enum aqm_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  AQM_OK = 0,
  // No packet may leave now.
  AQM_EMPTY = 1,
  // A pointer that must not be null is null.
  AQM_NULL = -1,
  // An argument has a value that it cannot have.
  AQM_INVALID = -2,
  // The discipline or one of its settings is unknown or wrong.
  AQM_DISCIPLINE = -3,
  // A callback of the queue called the queue.
  AQM_BUSY = -4,
  // A defect of the library. The queue can only be freed.
  AQM_DEFECT = -5,
  // The queue was freed, or the pointer is none that aqm_new made.
  AQM_FREED = -6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum aqm_status aqm_status;
#else
typedef int32_t aqm_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A queue with its discipline.
typedef struct aqm_queue aqm_queue;

// The link behind the queue.
typedef struct {
  // Its rate in bit/s; above zero.
  uint64_t rate;
  // The size of a typical packet in bytes; above zero.
  uint32_t mean_packet;
  // The start of all random decisions: the same seed and the same calls give the same decisions.
  uint64_t seed;
} aqm_link;

// A packet. The queue stores a copy of this descriptor, never the packet's data.
typedef struct {
  // Its flow: a number of yours, or a hash from aqm_flow.
  uint64_t flow;
  // Your reference to the packet. The queue never follows it.
  void *user;
  // Its size in bytes, headers included; above zero.
  uint32_t bytes;
  // Its class, for disciplines with classes; else 0.
  uint16_t traffic_class;
  // The ECN field of its IP header, 0 to 3: 3 if it is marked.
  uint8_t ecn;
} aqm_packet;

// Receives a dropped or marked packet. `reason` is a word such as "early", `now` the time of the call in nanoseconds.
// It must not call the queue, and must not throw.
typedef void (*aqm_on_packet)(void *context, const aqm_packet *packet, const char *reason, uint64_t now);

// Counts of a queue since it was made, and what it holds now.
typedef struct {
  // Packets offered.
  uint64_t arrived;
  // Packets that left.
  uint64_t sent;
  // Bytes that left.
  uint64_t sent_bytes;
  // Packets dropped.
  uint64_t dropped;
  // Packets marked with ECN's codepoint 3.
  uint64_t marked;
  // Packets held.
  uint32_t packets;
  // Bytes held.
  uint64_t bytes;
} aqm_counts;

// Receives a gauge, such as "average". It must not call the queue, and must not throw.
typedef void (*aqm_on_gauge)(void *context, const char *name, double value);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, such as "0.2.0".
const char *aqm_version(void);

// Makes a queue with the discipline `qdisc`, such as "faba:limit=780p" (`headgate list` has all), and writes it to
// `queue`. A discipline without a limit of its own holds 1000 packets.
aqm_status aqm_new(const char *qdisc, const aqm_link *link, aqm_queue **queue);

// Frees a queue. Its packets go to the callback for drops, with the reason "freed". Null is ignored. Later calls with this
// pointer return AQM_FREED, as long as fewer than 256 others were freed since.
aqm_status aqm_free(aqm_queue *queue);

// Calls `function` with `context` for every dropped packet from now on; null for no function. An arriving packet can be
// dropped by its own aqm_enqueue.
aqm_status aqm_set_on_drop(aqm_queue *queue, aqm_on_packet function, void *context);

// Calls `function` with `context` for every marked packet from now on; null for no function.
aqm_status aqm_set_on_mark(aqm_queue *queue, aqm_on_packet function, void *context);

// Offers a packet to the queue at `now` ns. Afterwards the queue holds it, or it was given to the callback for drops;
// both are AQM_OK.
aqm_status aqm_enqueue(aqm_queue *queue, const aqm_packet *packet, uint64_t now);

// Takes the next packet to send at `now` ns and writes it to `packet`; AQM_EMPTY if none may leave now. Call it
// whenever the link is free, even if the queue is empty: disciplines detect idle periods by it.
aqm_status aqm_dequeue(aqm_queue *queue, uint64_t now, aqm_packet *packet);

// Writes to `next` when to call aqm_dequeue again, in ns: `now` if a packet may leave now, later if the discipline
// shapes, UINT64_MAX if the queue is empty.
aqm_status aqm_next_event(const aqm_queue *queue, uint64_t now, uint64_t *next);

// Writes the queue's counts to `counts`.
aqm_status aqm_count(const aqm_queue *queue, aqm_counts *counts);

// Calls `function` with `context` for every gauge of the discipline, such as an average queue or a probability.
aqm_status aqm_gauges(const aqm_queue *queue, aqm_on_gauge function, void *context);

// Writes to `flow` a hash of the `length` bytes at `bytes` that identify a flow, such as addresses, ports and protocol.
// The hash is keyed by the queue's seed, so others cannot choose bytes that share a flow.
aqm_status aqm_flow(const aqm_queue *queue, const void *bytes, size_t length, uint64_t *flow);

// Why the last call of this thread that failed did so, in words. The text stays until the thread's next failure.
const char *aqm_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AQM_H */

// A queue in Go, through cgo. Packets are indices into a slice: Go's pointers must not be kept in C.
//
//	CGO_CFLAGS=-I../include CGO_LDFLAGS="../../../target/release/libaqm_capi.a -lm -ldl -lpthread" go run queue.go
package main

/*
#include <stdlib.h>
#include "aqm.h"
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func main() {
	qdisc := C.CString("fq_codel:limit=100p,quantum=1000B")
	defer C.free(unsafe.Pointer(qdisc))
	link := C.aqm_link{rate: 10_000_000, mean_packet: 1000, seed: 1}
	var queue *C.aqm_queue
	if C.aqm_new(qdisc, &link, &queue) != C.AQM_OK {
		fmt.Fprintln(os.Stderr, C.GoString(C.aqm_error()))
		os.Exit(1)
	}
	defer C.aqm_free(queue)
	// Flow 0 sends three packets, flow 1 one. The flows take turns, so the second packet to leave is of flow 1.
	for _, flow := range []C.uint64_t{0, 0, 0, 1} {
		packet := C.aqm_packet{flow: flow, bytes: 1000}
		C.aqm_enqueue(queue, &packet, 0)
	}
	var packet C.aqm_packet
	for now := C.uint64_t(0); C.aqm_dequeue(queue, now, &packet) == C.AQM_OK; now += 800_000 {
		fmt.Println("flow", packet.flow)
	}
}

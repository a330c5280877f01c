// The queue as a C++ object: it frees itself, drops reach a lambda, and a mistake is an exception.
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>

#include "aqm.h"

class Queue {
   public:
    using OnDrop = std::function<void(const aqm_packet &, const char *reason)>;

    Queue(const char *qdisc, const aqm_link &link, OnDrop on_drop)
        : on_drop_(std::make_unique<OnDrop>(std::move(on_drop))) {
        aqm_queue *made = nullptr;
        check(aqm_new(qdisc, &link, &made));
        queue_.reset(made);
        check(aqm_set_on_drop(made, &Queue::dropped, on_drop_.get()));
    }

    void push(const aqm_packet &packet, std::uint64_t now) { check(aqm_enqueue(queue_.get(), &packet, now)); }

    bool pop(aqm_packet &packet, std::uint64_t now) { return check(aqm_dequeue(queue_.get(), now, &packet)) == AQM_OK; }

   private:
    static aqm_status check(aqm_status status) {
        if (status < 0) throw std::runtime_error(aqm_error());
        return status;
    }

    static void dropped(void *context, const aqm_packet *packet, const char *reason, std::uint64_t) {
        (*static_cast<OnDrop *>(context))(*packet, reason);
    }

    struct Free {
        void operator()(aqm_queue *queue) const { aqm_free(queue); }
    };

    // The callback outlives the queue, which tells of its last packets when it is freed.
    std::unique_ptr<OnDrop> on_drop_;
    std::unique_ptr<aqm_queue, Free> queue_;
};

int main() {
    unsigned drops = 0;
    Queue queue("red:minth=5p,maxth=15p,limit=20p", {10'000'000, 1000, 1},
                [&](const aqm_packet &, const char *) { ++drops; });
    for (std::uint64_t slot = 0; slot < 10'000; ++slot) {
        // Three packets arrive while two leave.
        aqm_packet packet{slot % 4, nullptr, 1000, 0, 0};
        queue.push(packet, slot * 800'000);
        if (slot % 3 != 0) queue.pop(packet, slot * 800'000);
    }
    std::printf("%u of 10000 packets were dropped\n", drops);
    try {
        Queue("rde", {10'000'000, 1000, 1}, [](const aqm_packet &, const char *) {});
    } catch (const std::runtime_error &error) {
        std::printf("%s\n", error.what());
    }
}

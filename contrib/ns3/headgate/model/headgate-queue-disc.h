// Any of Headgate's queue disciplines as a queue disc of ns-3.

#ifndef HEADGATE_QUEUE_DISC_H
#define HEADGATE_QUEUE_DISC_H

#include "aqm.h"

#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/random-variable-stream.h"

#include <string>

namespace ns3
{

/// Where the packets are: a queue from which any packet can be taken, so that ns-3 counts them and its traces fire.
class HeadgateStore : public Queue<QueueDiscItem>
{
  public:
    using Queue<QueueDiscItem>::Iterator;

    static TypeId GetTypeId();

    /// Stores an item and returns its place.
    Iterator Put(Ptr<QueueDiscItem> item);
    /// Takes the item at a place.
    Ptr<QueueDiscItem> Take(Iterator place);

    bool Enqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> Dequeue() override;
    Ptr<QueueDiscItem> Remove() override;
    Ptr<const QueueDiscItem> Peek() const override;
};

/**
 * A queue disc whose attribute `Discipline` names one of Headgate's disciplines with its settings, as on Headgate's
 * command line: "faba:limit=780p". The limit is one of these settings.
 *
 * Packet filters classify packets into flows; without a filter, or for a packet that none matches, the hash of
 * addresses, ports and protocol does. The ECN field is read from the IP header. Drops and marks have Headgate's reasons
 * in ns-3's statistics.
 */
class HeadgateQueueDisc : public QueueDisc
{
  public:
    static TypeId GetTypeId();

    HeadgateQueueDisc();
    ~HeadgateQueueDisc() override;

    /// Fixes the random stream from which the discipline's seed is drawn; returns the number of streams used.
    int64_t AssignStreams(int64_t stream);

    /// A gauge of the discipline by name, such as "average" of RED; NaN if it has no such gauge.
    double GetGauge(const std::string& name) const;

  protected:
    void DoDispose() override;

  private:
    struct Held;

    bool DoEnqueue(Ptr<QueueDiscItem> item) override;
    Ptr<QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    Ptr<HeadgateStore> Store() const;
    void WakeAtNextEvent();

    static void Dropped(void* self, const aqm_packet* packet, const char* reason, uint64_t now);
    static void Marked(void* self, const aqm_packet* packet, const char* reason, uint64_t now);

    std::string m_discipline;
    DataRate m_rate;
    uint32_t m_meanPacket;
    Ptr<UniformRandomVariable> m_random;
    aqm_queue* m_queue{nullptr};
    /// The packet that arrives in the call that is under way.
    Held* m_arriving{nullptr};
    EventId m_wake;
};

} // namespace ns3

#endif // HEADGATE_QUEUE_DISC_H

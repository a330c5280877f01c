#include "headgate-queue-disc.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <limits>
#include <memory>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("HeadgateQueueDisc");
NS_OBJECT_ENSURE_REGISTERED(HeadgateStore);
NS_OBJECT_ENSURE_REGISTERED(HeadgateQueueDisc);

TypeId
HeadgateStore::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HeadgateStore")
                            .SetParent<Queue<QueueDiscItem>>()
                            .SetGroupName("TrafficControl")
                            .AddConstructor<HeadgateStore>();
    return tid;
}

HeadgateStore::Iterator
HeadgateStore::Put(Ptr<QueueDiscItem> item)
{
    Iterator place;
    const bool stored = DoEnqueue(GetContainer().end(), item, place);
    NS_ASSERT_MSG(stored, "the store has no limit of its own");
    return place;
}

Ptr<QueueDiscItem>
HeadgateStore::Take(Iterator place)
{
    return DoDequeue(place);
}

bool
HeadgateStore::Enqueue(Ptr<QueueDiscItem> item)
{
    Put(item);
    return true;
}

Ptr<QueueDiscItem>
HeadgateStore::Dequeue()
{
    return DoDequeue(GetContainer().begin());
}

Ptr<QueueDiscItem>
HeadgateStore::Remove()
{
    return DoRemove(GetContainer().begin());
}

Ptr<const QueueDiscItem>
HeadgateStore::Peek() const
{
    return DoPeek(GetContainer().begin());
}

/// What Headgate holds of a packet.
struct HeadgateQueueDisc::Held
{
    Ptr<QueueDiscItem> item;
    HeadgateStore::Iterator place;
};

TypeId
HeadgateQueueDisc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::HeadgateQueueDisc")
            .SetParent<QueueDisc>()
            .SetGroupName("TrafficControl")
            .AddConstructor<HeadgateQueueDisc>()
            .AddAttribute("Discipline",
                          "A discipline of Headgate with its settings, as in \"faba:limit=780p\".",
                          StringValue("faba"),
                          MakeStringAccessor(&HeadgateQueueDisc::m_discipline),
                          MakeStringChecker())
            .AddAttribute("LinkBandwidth",
                          "The rate of the link behind the queue.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&HeadgateQueueDisc::m_rate),
                          MakeDataRateChecker())
            .AddAttribute("MeanPktSize",
                          "The size of a typical packet in bytes.",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&HeadgateQueueDisc::m_meanPacket),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

HeadgateQueueDisc::HeadgateQueueDisc()
    : QueueDisc(QueueDiscSizePolicy::NO_LIMITS),
      m_random(CreateObject<UniformRandomVariable>())
{
}

HeadgateQueueDisc::~HeadgateQueueDisc() = default;

void
HeadgateQueueDisc::DoDispose()
{
    m_wake.Cancel();
    if (m_queue != nullptr)
    {
        // Packets that remain come back with the reason "freed", so that none leaks.
        aqm_set_on_drop(
            m_queue,
            [](void*, const aqm_packet* packet, const char*, uint64_t) { delete static_cast<Held*>(packet->user); },
            nullptr);
        aqm_free(m_queue);
        m_queue = nullptr;
    }
    QueueDisc::DoDispose();
}

int64_t
HeadgateQueueDisc::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

double
HeadgateQueueDisc::GetGauge(const std::string& name) const
{
    std::pair<const std::string&, double> found(name, std::numeric_limits<double>::quiet_NaN());
    aqm_gauges(
        m_queue,
        [](void* context, const char* gauge, double value) {
            auto& wanted = *static_cast<std::pair<const std::string&, double>*>(context);
            wanted.second = wanted.first == gauge ? value : wanted.second;
        },
        &found);
    return found.second;
}

bool
HeadgateQueueDisc::CheckConfig()
{
    // ns-3's own message does not say what is wrong, and a build without assertions would go on.
    NS_ABORT_MSG_IF(GetNQueueDiscClasses() > 0 || GetNInternalQueues() > 0,
                    "HeadgateQueueDisc has no classes, and makes its internal queue itself");
    const auto bits = static_cast<uint32_t>(m_random->GetInteger(0, std::numeric_limits<uint32_t>::max() - 1));
    const aqm_link link{m_rate.GetBitRate(), m_meanPacket, bits};
    const aqm_status status = aqm_new(m_discipline.c_str(), &link, &m_queue);
    NS_ABORT_MSG_IF(status != AQM_OK, "HeadgateQueueDisc: Discipline \"" << m_discipline << "\": " << aqm_error());
    aqm_set_on_drop(m_queue, &HeadgateQueueDisc::Dropped, this);
    aqm_set_on_mark(m_queue, &HeadgateQueueDisc::Marked, this);
    Ptr<HeadgateStore> store = CreateObject<HeadgateStore>();
    store->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, std::numeric_limits<uint32_t>::max()));
    AddInternalQueue(store);
    return true;
}

void
HeadgateQueueDisc::InitializeParams()
{
}

Ptr<HeadgateStore>
HeadgateQueueDisc::Store() const
{
    return StaticCast<HeadgateStore>(GetInternalQueue(0));
}

bool
HeadgateQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item)
{
    // Packet filters may classify; else the hash of the 5-tuple does. Other protocols than IP hash to 0.
    const int32_t matched = Classify(item);
    const uint64_t flow = matched == PacketFilter::PF_NO_MATCH ? item->Hash() : static_cast<uint32_t>(matched);
    uint8_t field = 0;
    item->GetUint8Value(QueueItem::IP_DSFIELD, field);
    auto held = std::make_unique<Held>(Held{item, {}});
    aqm_packet packet{};
    packet.flow = flow;
    packet.user = held.get();
    packet.bytes = item->GetSize();
    packet.ecn = field & 3;
    m_arriving = held.release();
    const aqm_status status = aqm_enqueue(m_queue, &packet, Simulator::Now().GetNanoSeconds());
    NS_ABORT_MSG_IF(status != AQM_OK, aqm_error());
    if (m_arriving == nullptr)
    {
        return false; // it was dropped
    }
    m_arriving->place = Store()->Put(item);
    m_arriving = nullptr;
    return true;
}

Ptr<QueueDiscItem>
HeadgateQueueDisc::DoDequeue()
{
    aqm_packet packet;
    const aqm_status status = aqm_dequeue(m_queue, Simulator::Now().GetNanoSeconds(), &packet);
    NS_ABORT_MSG_IF(status < 0, aqm_error());
    if (status == AQM_EMPTY)
    {
        WakeAtNextEvent();
        return nullptr;
    }
    const std::unique_ptr<Held> held(static_cast<Held*>(packet.user));
    return Store()->Take(held->place);
}

/// A shaper holds packets that may not leave yet: ns-3 asks again when the next one may.
void
HeadgateQueueDisc::WakeAtNextEvent()
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    uint64_t next;
    const aqm_status status = aqm_next_event(m_queue, now, &next);
    NS_ABORT_MSG_IF(status != AQM_OK, aqm_error());
    if (next != std::numeric_limits<uint64_t>::max() && !m_wake.IsRunning())
    {
        m_wake = Simulator::Schedule(NanoSeconds(next > now ? next - now : 1), &QueueDisc::Run, this);
    }
}

void
HeadgateQueueDisc::Dropped(void* self, const aqm_packet* packet, const char* reason, uint64_t)
{
    auto* disc = static_cast<HeadgateQueueDisc*>(self);
    const std::unique_ptr<Held> held(static_cast<Held*>(packet->user));
    if (held.get() == disc->m_arriving)
    {
        disc->m_arriving = nullptr;
        disc->DropBeforeEnqueue(held->item, reason);
        return;
    }
    disc->DropAfterDequeue(disc->Store()->Take(held->place), reason);
}

void
HeadgateQueueDisc::Marked(void* self, const aqm_packet* packet, const char* reason, uint64_t)
{
    static_cast<HeadgateQueueDisc*>(self)->Mark(static_cast<Held*>(packet->user)->item, reason);
}

} // namespace ns3

// Tests of HeadgateQueueDisc: `./test.py -s headgate-queue-disc`; here, tests/contrib runs them against Debian's ns-3.

#include "../model/headgate-queue-disc.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/red-queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <vector>

using namespace ns3;

namespace
{

Ptr<Ipv4QueueDiscItem>
Packet1000(Ipv4Address source, Ipv4Header::EcnType ecn)
{
    Ipv4Header header;
    header.SetSource(source);
    header.SetDestination("10.1.1.1");
    header.SetProtocol(17);
    header.SetPayloadSize(980);
    header.SetEcn(ecn);
    return Create<Ipv4QueueDiscItem>(Create<Packet>(980), Mac48Address(), 0x0800, header);
}

Ptr<HeadgateQueueDisc>
Disc(const std::string& discipline)
{
    auto disc = CreateObjectWithAttributes<HeadgateQueueDisc>("Discipline", StringValue(discipline));
    disc->Initialize();
    return disc;
}

/// What arrives is sent, dropped or held, by ns-3's own counts, with every discipline.
class Conservation : public TestCase
{
  public:
    explicit Conservation(const std::string& discipline)
        : TestCase("conservation with " + discipline),
          m_discipline(discipline)
    {
    }

  private:
    void DoRun() override
    {
        auto disc = Disc(m_discipline);
        auto random = CreateObject<UniformRandomVariable>();
        uint32_t sent = 0;
        for (uint32_t step = 0; step < 5000; step++)
        {
            Simulator::Schedule(MicroSeconds(300 * step), [&, step]() {
                const Ipv4Address source(0x0a000001 + step % 13);
                disc->Enqueue(Packet1000(source, step % 2 ? Ipv4Header::ECN_ECT0 : Ipv4Header::ECN_NotECT));
                sent += random->GetValue() < 0.6 && disc->Dequeue();
            });
        }
        // A shaper asks ns-3 to run the queue disc, which needs a device: the test has none.
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        const auto& stats = disc->GetStats();
        NS_TEST_EXPECT_MSG_EQ(stats.nTotalReceivedPackets, 5000, "all are offered");
        NS_TEST_EXPECT_MSG_EQ(sent + stats.nTotalDroppedPackets + disc->GetNPackets(), 5000, "none is lost or made");
        NS_TEST_EXPECT_MSG_EQ(disc->GetNBytes(), 1000 * disc->GetNPackets(), "bytes follow packets");
        disc->Dispose();
        Simulator::Destroy();
    }

    std::string m_discipline;
};

/// Marks go to packets whose IP header allows them, and their reason into ns-3's statistics.
class Marks : public TestCase
{
  public:
    Marks()
        : TestCase("marks")
    {
    }

  private:
    void DoRun() override
    {
        auto disc = Disc("step:k=3p,limit=100p");
        for (int each = 0; each < 10; each++)
        {
            disc->Enqueue(Packet1000("10.0.0.1", Ipv4Header::ECN_ECT0));
        }
        uint32_t marked = 0;
        while (auto item = disc->Dequeue())
        {
            uint8_t field = 0;
            item->GetUint8Value(QueueItem::IP_DSFIELD, field);
            marked += (field & 3) == 3;
        }
        NS_TEST_EXPECT_MSG_GT(marked, 0, "some packets are marked");
        NS_TEST_EXPECT_MSG_EQ(marked, disc->GetStats().nTotalMarkedPackets, "ns-3 counts them");
        disc->Dispose();
        Simulator::Destroy();
    }
};

/// RED decides as ns-3's does, packet for packet, where chance decides nothing: between drops by chance at a maxp of
/// almost 0 and forced drops above maxth.
class RedBesideRed : public TestCase
{
  public:
    RedBesideRed()
        : TestCase("red beside ns-3's RedQueueDisc")
    {
    }

  private:
    void DoRun() override
    {
        auto ours = Disc("red:minth=5p,maxth=15p,maxp=0.000001,wq=0.02,limit=40p,gentle=off,spacing=wait,"
                         "spare_first=on,spare_below=2,mean_packet=1000B");
        auto theirs = CreateObjectWithAttributes<RedQueueDisc>("MinTh", DoubleValue(5),
                                                               "MaxTh", DoubleValue(15),
                                                               "LInterm", DoubleValue(1e6),
                                                               "QW", DoubleValue(0.02),
                                                               "Gentle", BooleanValue(false),
                                                               "MeanPktSize", UintegerValue(1000),
                                                               "LinkBandwidth", StringValue("10Mbps"),
                                                               "MaxSize", StringValue("40p"));
        theirs->Initialize();
        std::vector<std::vector<bool>> kept(2);
        const std::vector<Ptr<QueueDisc>> both{ours, theirs};
        for (uint32_t each = 0; each < 2; each++)
        {
            // A packet leaves every 800 us. Bursts arrive twice as fast, then the queue drains to two packets: ns-3 rounds
            // an idle period down to whole packets, so the link is never idle.
            auto disc = both[each];
            for (uint32_t slot = 0; slot < 4000; slot++)
            {
                Simulator::Schedule(MicroSeconds(800 * slot), [&kept, disc, each, slot]() {
                    const uint32_t arrivals = slot % 50 < 30 || disc->GetNPackets() < 3 ? 2 : 0;
                    for (uint32_t more = 0; more < arrivals; more++)
                    {
                        kept[each].push_back(disc->Enqueue(Packet1000("10.0.0.1", Ipv4Header::ECN_NotECT)));
                    }
                    disc->Dequeue();
                });
            }
        }
        Simulator::Run();
        uint32_t different = 0;
        uint32_t dropped = 0;
        for (std::size_t packet = 0; packet < std::min(kept[0].size(), kept[1].size()); packet++)
        {
            different += kept[0][packet] != kept[1][packet];
            dropped += !kept[0][packet];
        }
        NS_TEST_EXPECT_MSG_GT(dropped, 100, "some packets are dropped");
        NS_TEST_EXPECT_MSG_LT(dropped, 4000, "most are not");
        NS_TEST_EXPECT_MSG_EQ(different, 0, "both drop the same packets");
        ours->Dispose();
        theirs->Dispose();
        Simulator::Destroy();
    }
};

class HeadgateTestSuite : public TestSuite
{
  public:
    HeadgateTestSuite()
        : TestSuite("headgate-queue-disc", UNIT)
    {
        for (const char* each : {"droptail:limit=50p", "red:limit=50p,ecn=on", "blue:limit=50p", "sfb:limit=50p",
                                 "faba:limit=50p", "fred:limit=50p", "choke:limit=50p", "codel:limit=50p",
                                 "fq_codel:limit=50p", "drr:limit=50p", "red_pd:limit=50p", "breathe:limit=50p"})
        {
            AddTestCase(new Conservation(each), TestCase::QUICK);
        }
        AddTestCase(new Marks, TestCase::QUICK);
        AddTestCase(new RedBesideRed, TestCase::QUICK);
    }
};

HeadgateTestSuite g_headgateTestSuite;

} // namespace

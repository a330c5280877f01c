// One run of a scenario in ns-3: a dumbbell of two routers, with TCP and constant flows.
//
//     ns3 KEY VALUE ... group "KEY VALUE ..." ...
//
// peers/ns3.py compiles this file, derives the arguments from a case and reads the answer, one line of JSON. Times are
// in seconds, rates in bit/s, packets in bytes. Everything is measured after the warm-up.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

using Words = std::map<std::string, std::string>;

static const uint16_t PORT = 5001;
/// Bytes that a point-to-point device adds to an IP packet.
static const uint32_t FRAME = 2;

static Words
words(const std::string& text)
{
    std::istringstream in(text);
    Words found;
    for (std::string key, value; in >> key >> value;)
    {
        found[key] = value;
    }
    return found;
}

static double
number(const Words& from, const std::string& key)
{
    return std::stod(from.at(key));
}

/// Reno's window. ns-3's halves what is in flight without the segments that SACK reports. RFC 5681 (equation 4) halves
/// FlightSize, which includes them. FlightSize is in whole segments: the fraction of `cwnd` has not been sent. A mark
/// halves `cwnd` itself (RFC 3168, section 6.1.2).
class Reno : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId type = TypeId("Reno").SetParent<TcpNewReno>().AddConstructor<Reno>();
        return type;
    }

    std::string GetName() const override
    {
        return "Reno";
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        const uint32_t segment = state->m_segmentSize;
        const bool lost = state->m_congState == TcpSocketState::CA_RECOVERY;
        const uint32_t cwnd = state->m_cWnd;
        const uint32_t halved = lost ? cwnd / segment * segment : cwnd;
        return std::max(2 * segment, halved / 2);
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Reno>(this);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Reno);

/// Attributes from "Name=Value;Name=Value".
static void
set_all(ObjectFactory& factory, const std::string& text)
{
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ';');)
    {
        const auto at = part.find('=');
        factory.Set(part.substr(0, at), StringValue(part.substr(at + 1)));
    }
}

/// Counts at the bottleneck, and the sum of queue length times time.
struct Bottleneck
{
    Ptr<QueueDisc> queue;
    Ptr<NetDeviceQueue> gate;
    uint32_t length = 0;
    double area = 0.0;
    Time changed;
    uint64_t sent = 0;
    uint64_t sent_bytes = 0;

    void changed_to(uint32_t now)
    {
        area += length * (Simulator::Now() - changed).GetSeconds();
        changed = Simulator::Now();
        length = now;
    }

    void on_length(uint32_t, uint32_t now)
    {
        changed_to(now);
    }

    // A device of ns-3 has a queue of its own behind the discipline. The gate keeps that queue empty: the discipline
    // hands over a packet when the one before has left, as a router's does in ns-2.
    void on_begin(Ptr<const Packet>)
    {
        gate->Stop();
    }

    void on_end(Ptr<const Packet> packet)
    {
        sent++;
        sent_bytes += packet->GetSize();
        Simulator::ScheduleNow(&NetDeviceQueue::Wake, gate);
    }
};

struct Counts
{
    std::map<std::string, uint64_t> delivered;
    QueueDisc::Stats queue;
    double area;
    uint64_t sent_bytes;
};

/// Datagrams at a constant rate; each interval is drawn from 1 - jitter to 1 + jitter times the nominal one.
class Datagrams
{
  public:
    Datagrams(Ptr<Socket> socket, uint32_t bytes, double interval, double jitter)
        : m_socket(socket),
          m_bytes(bytes),
          m_interval(interval),
          m_jitter(jitter),
          m_random(CreateObject<UniformRandomVariable>())
    {
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(m_bytes));
        const double factor = m_random->GetValue(1.0 - m_jitter, 1.0 + m_jitter);
        Simulator::Schedule(Seconds(m_interval * factor), &Datagrams::Send, this);
    }

  private:
    Ptr<Socket> m_socket;
    uint32_t m_bytes;
    double m_interval;
    double m_jitter;
    Ptr<UniformRandomVariable> m_random;
};

class Run
{
  public:
    explicit Run(const Words& options)
        : m_options(options)
    {
        SeedManager::SetSeed(20101);
        SeedManager::SetRun(static_cast<uint64_t>(number(options, "seed")));
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("Reno"));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue(options.at("recovery")));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::Sack", StringValue(options.at("sack")));
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(options.at("ecn")));
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(number(options, "segment")));
        const UintegerValue window(number(options, "segment") * number(options, "window"));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", window);
        Config::SetDefault("ns3::TcpSocket::SndBufSize", window);
        m_routers.Create(2);
        m_internet.Install(m_routers);
        build_bottleneck();
    }

    void add(const Words& group)
    {
        auto start = CreateObject<UniformRandomVariable>();
        for (int i = 0; i < number(group, "flows"); i++)
        {
            const double at = number(group, "start") + start->GetValue(0.0, number(group, "within"));
            add_flow(group, Seconds(at));
        }
    }

    void run()
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        const double warmup = number(m_options, "warmup");
        const double duration = number(m_options, "duration");
        Simulator::Schedule(Seconds(warmup), &Run::warm, this);
        Simulator::Stop(Seconds(duration));
        Simulator::Run();
        report(duration - warmup);
        Simulator::Destroy();
    }

  private:
    void build_bottleneck()
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(number(m_options, "rate")));
        link.SetChannelAttribute("Delay", TimeValue(Seconds(number(m_options, "delay"))));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
        NetDeviceContainer devices = link.Install(m_routers);
        ObjectFactory factory(m_options.at("qdisc"));
        set_all(factory, m_options.at("settings"));
        m_bottleneck.queue = factory.Create<QueueDisc>();
        m_routers.Get(0)->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(devices.Get(0), m_bottleneck.queue);
        address(devices);
        TrafficControlHelper().Uninstall(devices.Get(1));
        m_bottleneck.gate = devices.Get(0)->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
        auto device = DynamicCast<PointToPointNetDevice>(devices.Get(0));
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Bottleneck::on_begin, &m_bottleneck));
        device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Bottleneck::on_end, &m_bottleneck));
        m_bottleneck.queue->TraceConnectWithoutContext("PacketsInQueue",
                                                       MakeCallback(&Bottleneck::on_length, &m_bottleneck));
    }

    Ipv4InterfaceContainer address(const NetDeviceContainer& devices)
    {
        m_subnets++;
        std::ostringstream base;
        base << "10." << m_subnets / 250 << "." << m_subnets % 250 << ".0";
        return Ipv4AddressHelper(base.str().c_str(), "255.255.255.0").Assign(devices);
    }

    /// A host behind a router; its address is returned.
    Ipv4Address host(Ptr<Node> node, int router, const Words& group, const char* delay)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(number(group, "access")));
        link.SetChannelAttribute("Delay", TimeValue(Seconds(number(group, delay))));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        m_internet.Install(node);
        NetDeviceContainer devices = link.Install(node, m_routers.Get(router));
        const Ipv4InterfaceContainer interfaces = address(devices);
        TrafficControlHelper().Uninstall(devices);
        return interfaces.GetAddress(0);
    }

    void add_flow(const Words& group, Time at)
    {
        Ptr<Node> from = CreateObject<Node>();
        Ptr<Node> to = CreateObject<Node>();
        host(from, 0, group, "near");
        const InetSocketAddress target(host(to, 1, group, "far"), PORT);
        const bool tcp = group.at("kind") == "tcp";
        const std::string sockets = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        const InetSocketAddress any(Ipv4Address::GetAny(), PORT);
        PacketSinkHelper sink(sockets, any);
        m_sinks[group.at("name")].push_back(DynamicCast<PacketSink>(sink.Install(to).Get(0)));
        if (tcp)
        {
            BulkSendHelper bulk(sockets, target);
            bulk.SetAttribute("SendSize", UintegerValue(number(m_options, "segment")));
            bulk.Install(from).Start(at);
            return;
        }
        Ptr<Socket> socket = Socket::CreateSocket(from, TypeId::LookupByName(sockets));
        socket->Connect(target);
        const double bytes = number(group, "packet");
        // UDP, IP and the device add 8, 20 and 2 bytes.
        const uint32_t data = static_cast<uint32_t>(bytes) - 28 - FRAME;
        auto* source = new Datagrams(socket, data, 8.0 * bytes / number(group, "rate"), number(group, "jitter"));
        Simulator::Schedule(at, &Datagrams::Send, source);
    }

    Counts counts()
    {
        m_bottleneck.changed_to(m_bottleneck.length);
        Counts now{{}, m_bottleneck.queue->GetStats(), m_bottleneck.area, m_bottleneck.sent_bytes};
        for (const auto& [name, sinks] : m_sinks)
        {
            for (const auto& sink : sinks)
            {
                now.delivered[name] += sink->GetTotalRx();
            }
        }
        return now;
    }

    void warm()
    {
        m_warm = counts();
    }

    void report(double time)
    {
        Counts end = counts();
        const char* separator = "";
        std::printf("{\"goodput_bps\": {");
        for (const auto& [name, bytes] : end.delivered)
        {
            std::printf("%s\"%s\": %.17g", separator, name.c_str(), 8.0 * (bytes - m_warm.delivered[name]) / time);
            separator = ", ";
        }
        const auto& was = m_warm.queue;
        const auto since = [](uint64_t now, uint64_t then) { return static_cast<unsigned long long>(now - then); };
        std::printf("}, \"arrived\": %llu, \"dropped\": %llu, \"marked\": %llu, ",
                    since(end.queue.nTotalReceivedPackets, was.nTotalReceivedPackets),
                    since(end.queue.nTotalDroppedPackets, was.nTotalDroppedPackets),
                    since(end.queue.nTotalMarkedPackets, was.nTotalMarkedPackets));
        std::printf("\"queue_packets\": %.17g, \"utilization\": %.17g, \"packets\": %llu}\n",
                    (end.area - m_warm.area) / time,
                    8.0 * (end.sent_bytes - m_warm.sent_bytes) / time / number(m_options, "rate"),
                    static_cast<unsigned long long>(m_bottleneck.sent));
    }

    Words m_options;
    NodeContainer m_routers;
    InternetStackHelper m_internet;
    Bottleneck m_bottleneck;
    int m_subnets = 0;
    std::map<std::string, std::vector<Ptr<PacketSink>>> m_sinks;
    Counts m_warm;
};

int
main(int count, char** arguments)
{
    Words options;
    std::vector<Words> groups;
    for (int i = 1; i + 1 < count; i += 2)
    {
        const std::string key = arguments[i];
        if (key == "group")
        {
            groups.push_back(words(arguments[i + 1]));
        }
        else
        {
            options[key] = arguments[i + 1];
        }
    }
    Run run(options);
    for (const auto& group : groups)
    {
        run.add(group);
    }
    run.run();
    return 0;
}

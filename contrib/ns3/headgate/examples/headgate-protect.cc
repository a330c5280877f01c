// Nine NewReno flows and one datagram flow of 5 Mbit/s share 10 Mbit/s, as in the FABA paper's section 5.3: which
// discipline protects the nine?
//
//     headgate-protect --discipline=faba:limit=780p

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/headgate-queue-disc.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string discipline = "faba:limit=780p";
    double duration = 50.0;
    CommandLine cmd(__FILE__);
    cmd.AddValue("discipline", "a discipline of Headgate with its settings", discipline);
    cmd.AddValue("duration", "simulated seconds", duration);
    cmd.Parse(argc, argv);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(472));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(472 * 1000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(472 * 1000));

    NodeContainer routers(2);
    NodeContainer senders(10);
    NodeContainer receivers(10);
    InternetStackHelper internet;
    internet.InstallAll();

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("14ms"));
    // The device keeps one packet: the others wait in the queue disc.
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    NetDeviceContainer link = bottleneck.Install(routers);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::HeadgateQueueDisc",
                             "Discipline",
                             StringValue(discipline),
                             "MeanPktSize",
                             UintegerValue(512));
    Ptr<QueueDisc> queue = control.Install(link.Get(0)).Get(0);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(link);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    ApplicationContainer sinks;
    for (uint32_t flow = 0; flow < 10; flow++)
    {
        addresses.NewNetwork();
        addresses.Assign(access.Install(senders.Get(flow), routers.Get(0)));
        addresses.NewNetwork();
        Ipv4InterfaceContainer far = addresses.Assign(access.Install(receivers.Get(flow), routers.Get(1)));
        const bool tcp = flow < 9;
        const std::string sockets = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        InetSocketAddress to(far.GetAddress(0), 5001);
        sinks.Add(PacketSinkHelper(sockets, to).Install(receivers.Get(flow)));
        if (tcp)
        {
            BulkSendHelper bulk(sockets, to);
            bulk.SetAttribute("SendSize", UintegerValue(472));
            bulk.Install(senders.Get(flow)).Start(Seconds(0.1 * flow));
        }
        else
        {
            OnOffHelper cbr(sockets, to);
            cbr.SetConstantRate(DataRate("5Mbps"), 484);
            cbr.Install(senders.Get(flow)).Start(Seconds(1.0));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    for (uint32_t flow = 0; flow < 10; flow++)
    {
        const auto bytes = DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx();
        std::cout << (flow < 9 ? "tcp " : "udp ") << flow << ": " << 8e-6 * bytes / duration << " Mbit/s\n";
    }
    std::cout << queue->GetStats() << std::endl;
    Simulator::Destroy();
    return 0;
}

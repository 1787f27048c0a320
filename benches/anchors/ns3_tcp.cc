// Bulk transfers over TCP in ns-3: the anchor for hosts with applications.
//
//   a ---- r0 ---- r1 ---- r2 ---- b      point-to-point, 10 Gbit/s, 1 ms each
//
// As many BulkSendApplications as asked for, NewReno, segments of 1448 bytes, and buffers of 8 MB in all, so that the
// links are nearly full and nothing is lost. Queues of devices are long enough, and have no queue discipline.
// Only Simulator::Run is timed. Prints one JSON object with the bytes that reached the programs at b.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdint>
#include <cstdio>

using namespace ns3;

namespace
{

constexpr uint16_t kFirstPort = 5001;
constexpr uint32_t kBuffers = 8192000;
constexpr uint32_t kMss = 1448;

/// Connects neighbours in a chain, one /24 for each link; the last node's address is returned.
Ipv4Address
BuildChain(NodeContainer& nodes)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    link.SetChannelAttribute("Delay", StringValue("1ms"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4Address last;
    for (uint32_t i = 0; i + 1 < nodes.GetN(); ++i)
    {
        NetDeviceContainer devices = link.Install(nodes.Get(i), nodes.Get(i + 1));
        last = addresses.Assign(devices).GetAddress(1);
        TrafficControlHelper().Uninstall(devices);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return last;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t connections = 1000;
    double seconds = 1.0;
    CommandLine cmd(__FILE__);
    cmd.AddValue("connections", "connections, 1 to 10000", connections);
    cmd.AddValue("seconds", "seconds to simulate", seconds);
    cmd.Parse(argc, argv);
    if (connections < 1 || connections > 10000 || seconds <= 0)
    {
        std::fprintf(stderr, "ns3_tcp: connections must be 1 to 10000 and seconds above 0\n");
        return 2;
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kBuffers / connections));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBuffers / connections));

    NodeContainer nodes;
    nodes.Create(5);
    const Ipv4Address destination = BuildChain(nodes);
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < connections; ++i)
    {
        const auto port = static_cast<uint16_t>(kFirstPort + i);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(nodes.Get(4)));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(destination, port));
        source.SetAttribute("SendSize", UintegerValue(kMss)); // more than a buffer is refused
        source.Install(nodes.Get(0)).Start(Seconds(0));
    }

    Simulator::Stop(Seconds(seconds));
    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    Simulator::Destroy();
    std::printf("{\"connections\":%u,\"bytes\":%llu,\"wall_s\":%.6f,\"bytes_per_s\":%.1f,\"ns_per_segment\":%.1f}\n",
                connections,
                static_cast<unsigned long long>(bytes),
                wall.count(),
                static_cast<double>(bytes) / wall.count(),
                wall.count() * 1e9 * kMss / static_cast<double>(bytes));
    return 0;
}

// Chain of nodes in ns-3: the anchor for the virtual-time engine.
//
//   node 0 ---- node 1 ---- ... ---- node N-1      point-to-point, 1 Gbit/s, 1 us each
//   source                            sink
//
// One constant-bit-rate UDP flow of 64-byte payloads crosses the chain over global static routes.
// A packet-hop is one packet carried over one link, so a packet that arrives counts N - 1 of them.
// Only Simulator::Run is timed: building the network and computing routes are not.
// Prints one JSON object. Exit code 1 if a packet was lost, since lost packets would flatter no one.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

constexpr uint16_t kPort = 9;
constexpr uint32_t kPayloadBytes = 64;

/// Connects neighbours in a chain, one /24 for each link; the sink's address is returned.
Ipv4Address
BuildChain(NodeContainer& nodes, bool queueDisc)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    link.SetChannelAttribute("Delay", StringValue("1us"));

    InternetStackHelper stack;
    stack.Install(nodes);

    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4Address last;
    for (uint32_t i = 0; i + 1 < nodes.GetN(); ++i)
    {
        NetDeviceContainer devices = link.Install(nodes.Get(i), nodes.Get(i + 1));
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        if (!queueDisc)
        {
            // Assign installs FqCoDel by default; without it a device's own FIFO is all there is.
            TrafficControlHelper().Uninstall(devices);
        }
        last = interfaces.GetAddress(1);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return last;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t nodeCount = 10;
    uint64_t packets = 50000;
    bool queueDisc = true;
    CommandLine cmd(__FILE__);
    cmd.AddValue("nodes", "nodes in the chain, at least 2", nodeCount);
    cmd.AddValue("packets", "packets to send, at least 1", packets);
    cmd.AddValue("queueDisc", "keep the default queue discipline (FqCoDel)", queueDisc);
    cmd.Parse(argc, argv);
    if (nodeCount < 2 || nodeCount > 200 || packets < 1)
    {
        std::fprintf(stderr, "ns3_chain: nodes must be 2 to 200 and packets at least 1\n");
        return 2;
    }

    NodeContainer nodes;
    nodes.Create(nodeCount);
    const Ipv4Address destination = BuildChain(nodes, queueDisc);

    // One packet each microsecond: 94 bytes on a link that could carry one each 752 ns.
    OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(destination, kPort));
    source.SetConstantRate(DataRate(kPayloadBytes * 8 * 1000000ULL), kPayloadBytes);
    source.SetAttribute("MaxBytes", UintegerValue(packets * kPayloadBytes));
    source.Install(nodes.Get(0)).Start(Seconds(0));

    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
    ApplicationContainer sinks = sink.Install(nodes.Get(nodeCount - 1));

    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

    const uint64_t events = Simulator::GetEventCount();
    const uint64_t received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() / kPayloadBytes;
    const uint64_t hops = received * (nodeCount - 1);
    Simulator::Destroy();

    std::printf("{\"nodes\":%u,\"packets\":%llu,\"received\":%llu,\"wall_s\":%.6f,"
                "\"packet_hops\":%llu,\"events\":%llu,"
                "\"packet_hops_per_s\":%.1f,\"events_per_s\":%.1f}\n",
                nodeCount,
                static_cast<unsigned long long>(packets),
                static_cast<unsigned long long>(received),
                wall.count(),
                static_cast<unsigned long long>(hops),
                static_cast<unsigned long long>(events),
                static_cast<double>(hops) / wall.count(),
                static_cast<double>(events) / wall.count());
    if (received != packets)
    {
        std::fprintf(stderr,
                     "ns3_chain: %llu of %llu packets arrived\n",
                     static_cast<unsigned long long>(received),
                     static_cast<unsigned long long>(packets));
        return 1;
    }
    return 0;
}

// Four flows through three routers with queue disciplines in ns-3: the anchor for ports with classes.
//
//   source ---- router 1 ---- router 2 ---- router 3 ---- sink
//        1 Gbit/s     100 Mbit/s    100 Mbit/s     1 Gbit/s
//        1 us         1 ms          1 ms           1 us
//
// Four constant-bit-rate UDP flows of 1000-byte IP packets, 30 Mbit/s each, fill the links between routers
// to 120 %. Every egress port of a router has a RED queue discipline (ns-3 has no CBQ, so it does less
// than what it is compared with). A packet-hop is one packet carried over one link; a packet that RED
// drops counts the links that it crossed before. Only Simulator::Run is timed.
// Prints one JSON object. Exit code 1 if nothing was dropped or the queues did not see what was sent.

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
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t kPort = 9;
constexpr uint32_t kFlows = 4;
constexpr uint64_t kFlowBps = 30000000;
constexpr uint32_t kIpBytes = 1000;
constexpr uint32_t kPayloadBytes = kIpBytes - 28;
constexpr uint32_t kNodes = 5;

/// RED as in the description that this is compared with: thresholds of 15 and 45 packets.
TrafficControlHelper
Red(const std::string& rate, const std::string& delay)
{
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("ns3::RedQueueDisc",
                            "MaxSize",
                            StringValue("60p"),
                            "MinTh",
                            DoubleValue(15),
                            "MaxTh",
                            DoubleValue(45),
                            "MeanPktSize",
                            UintegerValue(kIpBytes),
                            "LInterm",
                            DoubleValue(10),
                            "QW",
                            DoubleValue(0.002),
                            "LinkBandwidth",
                            StringValue(rate),
                            "LinkDelay",
                            StringValue(delay));
    return helper;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint64_t packets = 50000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("packets", "packets to send, at least 1000", packets);
    cmd.Parse(argc, argv);
    if (packets < 1000)
    {
        std::fprintf(stderr, "ns3_tc: packets must be at least 1000\n");
        return 2;
    }

    NodeContainer nodes;
    nodes.Create(kNodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4Address destination;
    QueueDiscContainer forth;
    for (uint32_t i = 0; i + 1 < kNodes; ++i)
    {
        const bool core = i == 1 || i == 2;
        const std::string rate = core ? "100Mbps" : "1Gbps";
        const std::string delay = core ? "1ms" : "1us";
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue(delay));
        // What the device itself keeps: little, so that packets wait where they can be dropped.
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
        NetDeviceContainer devices = link.Install(nodes.Get(i), nodes.Get(i + 1));
        TrafficControlHelper red = Red(rate, delay);
        if (i > 0)
        {
            forth.Add(red.Install(devices.Get(0)));
        }
        if (i + 2 < kNodes)
        {
            red.Install(devices.Get(1));
        }
        destination = addresses.Assign(devices).GetAddress(1);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const uint64_t perFlow = packets / kFlows;
    std::vector<ApplicationContainer> sinks;
    const DataRate payloadRate(kFlowBps * kPayloadBytes / kIpBytes);
    for (uint32_t flow = 0; flow < kFlows; ++flow)
    {
        const uint16_t port = kPort + flow;
        OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(destination, port));
        source.SetConstantRate(payloadRate, kPayloadBytes);
        source.SetAttribute("MaxBytes", UintegerValue(perFlow * kPayloadBytes));
        source.Install(nodes.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(sink.Install(nodes.Get(kNodes - 1)));
    }

    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

    const uint64_t events = Simulator::GetEventCount();
    uint64_t received = 0;
    for (const ApplicationContainer& sink : sinks)
    {
        received += DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx() / kPayloadBytes;
    }
    // The first link carries what the first router is given; each further one what its queue sent.
    uint64_t hops = forth.Get(0)->GetStats().nTotalReceivedPackets;
    const bool whole = hops == perFlow * kFlows;
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < forth.GetN(); ++i)
    {
        const QueueDisc::Stats& stats = forth.Get(i)->GetStats();
        hops += stats.nTotalSentPackets;
        dropped += stats.nTotalDroppedPackets;
    }
    Simulator::Destroy();

    std::printf("{\"packets\":%llu,\"received\":%llu,\"dropped\":%llu,\"wall_s\":%.6f,"
                "\"packet_hops\":%llu,\"events\":%llu,"
                "\"packet_hops_per_s\":%.1f,\"events_per_s\":%.1f}\n",
                static_cast<unsigned long long>(perFlow * kFlows),
                static_cast<unsigned long long>(received),
                static_cast<unsigned long long>(dropped),
                wall.count(),
                static_cast<unsigned long long>(hops),
                static_cast<unsigned long long>(events),
                static_cast<double>(hops) / wall.count(),
                static_cast<double>(events) / wall.count());
    if (!whole || dropped == 0 || received + dropped != perFlow * kFlows)
    {
        std::fprintf(stderr,
                     "ns3_tc: of %llu packets %llu arrived and %llu were dropped\n",
                     static_cast<unsigned long long>(perFlow * kFlows),
                     static_cast<unsigned long long>(received),
                     static_cast<unsigned long long>(dropped));
        return 1;
    }
    return 0;
}

// A workload of `networks.py` in ns-3: point-to-point links without queue discipline, UDP, static routes.
//
// Each node knows, for each destination whose packets pass it, the next one on the way. Only Simulator::Run is
// timed. Prints one JSON object; exit code 1 if a packet was lost.

#include "workload.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <map>
#include <set>

using namespace ns3;

namespace
{

constexpr uint16_t kFirstPort = 1024;
// IPv4, UDP and PPP headers are part of the size of a packet on the wire.
constexpr uint32_t kHeaderBytes = 20 + 8 + 2;

/// A flow: sends packets at constant or exponentially distributed gaps, and counts those that arrive.
class Traffic
{
  public:
    Traffic(const Flow& flow, uint64_t stopPs) : m_flow(flow), m_stopPs(stopPs)
    {
        m_gap = CreateObject<ExponentialRandomVariable>();
        m_gap->SetAttribute("Mean", DoubleValue(static_cast<double>(flow.periodPs)));
    }
    void Install(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port)
    {
        m_sink = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
        m_sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_sink->SetRecvCallback(MakeCallback(&Traffic::Receive, this));
        m_source = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        m_source->Bind();
        m_source->Connect(InetSocketAddress(address, port));
        m_source->ShutdownRecv();
        const uint64_t start = m_flow.startPs + (m_flow.isPoisson ? Gap() : 0);
        if (start < m_stopPs)
        {
            Simulator::ScheduleWithContext(from->GetId(), PicoSeconds(start), &Traffic::Send, this);
        }
    }
    uint64_t sent = 0, received = 0;

  private:
    uint64_t Gap()
    {
        return m_flow.isPoisson ? static_cast<uint64_t>(m_gap->GetValue()) : m_flow.periodPs;
    }
    void Send()
    {
        m_source->Send(Create<Packet>(m_flow.size - kHeaderBytes));
        ++sent;
        const uint64_t gap = Gap();
        if (static_cast<uint64_t>(Simulator::Now().GetPicoSeconds()) + gap < m_stopPs)
        {
            Simulator::Schedule(PicoSeconds(gap), &Traffic::Send, this);
        }
    }
    void Receive(Ptr<Socket> socket)
    {
        while (socket->Recv())
        {
            ++received;
        }
    }
    const Flow& m_flow;
    uint64_t m_stopPs;
    Ptr<ExponentialRandomVariable> m_gap;
    Ptr<Socket> m_source, m_sink;
};

} // namespace

int
main(int argc, char* argv[])
{
    std::string path;
    bool nix = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("workload", "file that networks.py wrote", path);
    cmd.AddValue("nix", "routes of packets in nix vectors instead of static routes of nodes", nix);
    cmd.Parse(argc, argv);
    const Workload workload = ReadWorkload(path);
    Time::SetResolution(Time::PS);

    NodeContainer nodes;
    nodes.Create(workload.nodes);
    InternetStackHelper stack;
    if (nix)
    {
        Ipv4NixVectorHelper routing;
        stack.SetRoutingHelper(routing);
    }
    else
    {
        Ipv4StaticRoutingHelper routing;
        stack.SetRoutingHelper(routing);
    }
    stack.Install(nodes);

    // By sender and receiver: the interface that leads there.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> interfaces;
    std::vector<Ipv4Address> own(workload.nodes);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    for (const Link& said : workload.links)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(said.rateBps)));
        link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(said.delayPs)));
        NetDeviceContainer devices = link.Install(nodes.Get(said.a), nodes.Get(said.b));
        Ipv4InterfaceContainer pair = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        interfaces[{said.a, said.b}] = pair.Get(0).second;
        interfaces[{said.b, said.a}] = pair.Get(1).second;
        own[said.a] = pair.GetAddress(0);
        own[said.b] = pair.GetAddress(1);
        addresses.NewNetwork();
    }
    std::set<std::pair<uint32_t, uint32_t>> known;
    Ipv4StaticRoutingHelper routes;
    std::vector<std::unique_ptr<Traffic>> traffic;
    std::vector<uint16_t> ports(workload.nodes, kFirstPort);
    for (const Flow& flow : workload.flows)
    {
        const uint32_t to = flow.way.back();
        for (size_t hop = 0; !nix && hop + 1 < flow.way.size(); ++hop)
        {
            if (known.insert({flow.way[hop], to}).second)
            {
                Ptr<Ipv4> ipv4 = nodes.Get(flow.way[hop])->GetObject<Ipv4>();
                routes.GetStaticRouting(ipv4)->AddHostRouteTo(own[to], interfaces.at({flow.way[hop], flow.way[hop + 1]}));
            }
        }
        traffic.push_back(std::make_unique<Traffic>(flow, workload.stopPs));
        traffic.back()->Install(nodes.Get(flow.way.front()), nodes.Get(to), own[to], ports[to]++);
    }

    Simulator::Stop(PicoSeconds(workload.endPs));
    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

    uint64_t sent = 0, received = 0, hops = 0;
    for (size_t i = 0; i < traffic.size(); ++i)
    {
        sent += traffic[i]->sent;
        received += traffic[i]->received;
        hops += traffic[i]->received * (workload.flows[i].way.size() - 1);
    }
    PrintResult(sent, received, hops, wall.count());
    return sent == received ? 0 : 1;
}

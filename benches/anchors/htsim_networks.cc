// A workload of `networks.py` in htsim: a queue and a pipe for each direction of a link, packets with their route.
//
// Only the run is timed. Prints one JSON object; exit code 1 if a packet was lost.

#include "workload.h"

#include "cbrpacket.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"

#include <chrono>
#include <map>
#include <memory>
#include <random>

/// Packets that reached the end of their way.
class Sink : public PacketSink
{
  public:
    Sink() : m_name("sink")
    {
    }
    void receivePacket(Packet& packet) override
    {
        ++received;
        packet.free();
    }
    const string& nodename() override
    {
        return m_name;
    }
    uint64_t received = 0;

  private:
    string m_name;
};

/// A source of packets at constant or exponentially distributed gaps.
class Source : public EventSource
{
  public:
    Source(EventList& events, const Flow& flow, uint64_t stop, unsigned seed)
        : EventSource(events, "source"),
          m_packets(nullptr),
          m_flow(flow),
          m_stop(stop),
          m_random(seed),
          m_gap(1.0 / static_cast<double>(flow.periodPs))
    {
        uint64_t start = flow.startPs;
        if (flow.isPoisson)
        {
            start += static_cast<uint64_t>(m_gap(m_random));
        }
        if (start < stop)
        {
            events.sourceIsPending(*this, start);
        }
    }
    void doNextEvent() override
    {
        Packet* packet = CbrPacket::newpkt(m_packets, route, static_cast<int>(++sent), static_cast<int>(m_flow.size));
        packet->sendOn();
        const uint64_t gap = m_flow.isPoisson ? static_cast<uint64_t>(m_gap(m_random)) : m_flow.periodPs;
        if (eventlist().now() + gap < m_stop)
        {
            eventlist().sourceIsPendingRel(*this, gap);
        }
    }
    route_t route;
    uint64_t sent = 0;

  private:
    PacketFlow m_packets;
    const Flow& m_flow;
    uint64_t m_stop;
    std::mt19937_64 m_random;
    std::exponential_distribution<double> m_gap;
};

int
main(int argc, char* argv[])
{
    if (argc != 2)
    {
        std::fprintf(stderr, "usage: htsim_networks WORKLOAD\n");
        return 2;
    }
    const Workload workload = ReadWorkload(argv[1]);
    EventList& events = EventList::getTheEventList();
    EventList::setEndtime(workload.endPs);

    std::map<std::pair<uint32_t, uint32_t>, std::pair<Queue*, Pipe*>> lanes;
    for (const Link& link : workload.links)
    {
        for (const auto& ends : {std::make_pair(link.a, link.b), std::make_pair(link.b, link.a)})
        {
            lanes[ends] = {new Queue(link.rateBps, 1000000, events, nullptr), new Pipe(link.delayPs, events)};
        }
    }
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<std::unique_ptr<Sink>> sinks;
    for (size_t i = 0; i < workload.flows.size(); ++i)
    {
        const Flow& flow = workload.flows[i];
        sources.push_back(std::make_unique<Source>(events, flow, workload.stopPs, static_cast<unsigned>(i + 1)));
        sinks.push_back(std::make_unique<Sink>());
        for (size_t hop = 0; hop + 1 < flow.way.size(); ++hop)
        {
            const auto lane = lanes.at({flow.way[hop], flow.way[hop + 1]});
            sources.back()->route.push_back(lane.first);
            sources.back()->route.push_back(lane.second);
        }
        sources.back()->route.push_back(sinks.back().get());
    }

    const auto begin = std::chrono::steady_clock::now();
    while (events.doNextEvent())
    {
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

    uint64_t sent = 0, received = 0, hops = 0;
    for (size_t i = 0; i < sources.size(); ++i)
    {
        sent += sources[i]->sent;
        received += sinks[i]->received;
        hops += sinks[i]->received * (workload.flows[i].way.size() - 1);
    }
    PrintResult(sent, received, hops, wall.count());
    return sent == received ? 0 : 1;
}

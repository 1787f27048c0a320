// The workload that `networks.py` writes, as both simulators in C++ read it.
//
// A text of words: `nodes N`, `begin PS`, `stop PS`, `end PS`, then a line for each link (`link A B BPS DELAY_PS`)
// and each flow (`flow PERIOD_PS START_PS SIZE ARRIVALS COUNT NODE...`: ARRIVALS is `constant` or `poisson`, SIZE is
// in bytes, and the nodes are those of its way).

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

struct Link
{
    uint32_t a, b;
    uint64_t rateBps, delayPs;
};

struct Flow
{
    uint64_t periodPs, startPs;
    uint32_t size;
    bool isPoisson;
    std::vector<uint32_t> way;
};

struct Workload
{
    uint32_t nodes = 0;
    uint64_t beginPs = 0, stopPs = 0, endPs = 0;
    std::vector<Link> links;
    std::vector<Flow> flows;
};

inline Workload
ReadWorkload(const std::string& path)
{
    std::ifstream file(path);
    Workload read;
    std::string word;
    while (file >> word)
    {
        if (word == "nodes")
            file >> read.nodes;
        else if (word == "begin")
            file >> read.beginPs;
        else if (word == "stop")
            file >> read.stopPs;
        else if (word == "end")
            file >> read.endPs;
        else if (word == "link")
        {
            Link link;
            file >> link.a >> link.b >> link.rateBps >> link.delayPs;
            read.links.push_back(link);
        }
        else if (word == "flow")
        {
            Flow flow;
            size_t count = 0;
            std::string arrivals;
            file >> flow.periodPs >> flow.startPs >> flow.size >> arrivals >> count;
            flow.isPoisson = arrivals == "poisson";
            flow.way.resize(count);
            for (uint32_t& node : flow.way)
                file >> node;
            read.flows.push_back(flow);
        }
        else
            break;
    }
    if (!file.eof() || read.nodes == 0 || read.flows.empty())
    {
        std::fprintf(stderr, "%s is no workload: make it with networks.py\n", path.c_str());
        std::exit(2);
    }
    return read;
}

/// One JSON object: what went over links, and how long that took.
inline void
PrintResult(uint64_t sent, uint64_t received, uint64_t hops, double seconds)
{
    std::printf("{\"sent\":%llu,\"received\":%llu,\"packet_hops\":%llu,\"wall_s\":%.6f,\"packet_hops_per_s\":%.1f}\n",
                static_cast<unsigned long long>(sent),
                static_cast<unsigned long long>(received),
                static_cast<unsigned long long>(hops),
                seconds,
                static_cast<double>(hops) / seconds);
}

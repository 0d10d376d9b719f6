// The reference work in ns-3: work CASE SECONDS
//
// CASE is w1, w2 or w3; SECONDS is the simulated time, near 0 for the cost of set-up alone. Prints one line of JSON.
// Nix-vector routing, since the lookup of the others is linear in the number of hosts; no queue disciplines above the
// devices, so that the bottleneck is a plain drop-tail queue; the largest writes that the socket takes.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/nix-vector-helper.h>
#include <ns3/point-to-point-module.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

struct Flow {
    double rtt_s;
    double start_s;
};

struct Work {
    std::string rate;
    std::string access;
    std::uint32_t buffer_packets;
    std::string algorithm;
    std::vector<Flow> flows;
};

std::uint64_t packets = 0;
std::uint64_t dropped = 0;

void Sent(Ptr<const Packet>) { ++packets; }
void Dropped(Ptr<const Packet>) { ++dropped; }

bool Find(const std::string& name, Work& work)
{
    if (name == "w1") {
        work = {"250Mbps", "1Gbps", 175, "ns3::TcpHighSpeed", {{0.042, 0.0}, {0.042, 5.0}}};
    } else if (name == "w2") {
        work = {"1Gbps", "10Gbps", 12500, "ns3::TcpHighSpeed", {{0.2, 0.0}}};
    } else if (name == "w3") {
        work = {"1Gbps", "10Gbps", 8333, "ns3::TcpLinuxReno", {}};
        for (int i = 0; i < 200; ++i) {
            work.flows.push_back({0.02 + 0.18 * i / 199.0, 0.0});
        }
    } else {
        return false;
    }
    return true;
}

std::uint64_t PeakMemoryKib()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    std::uint64_t kib = 0;
    while (status >> word) {
        if (word == "VmHWM:") {
            status >> kib;
        }
    }
    return kib;
}

PointToPointHelper Link(const std::string& rate, double delay_s, std::uint32_t limit_packets)
{
    PointToPointHelper link;
    link.DisableFlowControl(); // else what a full device refuses is dropped above it, unseen by the queue's trace
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay_s)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, limit_packets)));
    return link;
}

} // namespace

int main(int argc, char** argv)
{
    Work work;
    if (argc != 3 || !Find(argv[1], work)) {
        std::cerr << "work w1|w2|w3 SECONDS\n";
        return 2;
    }
    const double seconds = std::atof(argv[2]);
    const std::uint32_t ample_packets = 1'000'000;
    const std::uint32_t ample_bytes = 1u << 29;

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(work.algorithm)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(3));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(ample_bytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(ample_bytes));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    Ptr<Node> left = CreateObject<Node>();
    Ptr<Node> right = CreateObject<Node>();
    NodeContainer senders;
    NodeContainer receivers;
    senders.Create(work.flows.size());
    receivers.Create(work.flows.size());

    InternetStackHelper stack;
    Ipv4NixVectorHelper routing;
    stack.SetRoutingHelper(routing);
    stack.Install(left);
    stack.Install(right);
    stack.Install(senders);
    stack.Install(receivers);

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto join = [&](Ptr<Node> a, Ptr<Node> b, const PointToPointHelper& link) {
        PointToPointHelper helper = link;
        NetDeviceContainer devices = helper.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        return std::make_pair(devices, interfaces);
    };

    auto bottleneck = join(left, right, Link(work.rate, 0.0, work.buffer_packets)).first.Get(0);
    bottleneck->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));
    DynamicCast<PointToPointNetDevice>(bottleneck)
        ->GetQueue()
        ->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));

    const std::uint16_t port = 9;
    for (std::uint32_t i = 0; i < work.flows.size(); ++i) {
        // the round-trip time is spread over the access links: a quarter each way on each side
        const auto access = Link(work.access, work.flows[i].rtt_s / 4.0, ample_packets);
        join(senders.Get(i), left, access);
        const auto address = join(right, receivers.Get(i), access).second.GetAddress(1);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(receivers.Get(i)).Start(Seconds(0.0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, port));
        bulk.SetAttribute("SendSize", UintegerValue(64 * 1448));
        bulk.Install(senders.Get(i)).Start(Seconds(work.flows[i].start_s));
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << "{\"case\":\"" << argv[1] << "\",\"duration_s\":" << seconds << ",\"packets\":" << packets
              << ",\"packets_dropped\":" << dropped << ",\"peak_memory_kib\":" << PeakMemoryKib() << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}

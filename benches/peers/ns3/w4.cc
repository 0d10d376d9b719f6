// W4 in ns-3: w4 ramp|step SECONDS [echo]
//
// The network of figure 17 of the DCTCP paper (Alizadeh et al., SIGCOMM 2010) as ns-3's dctcp-example has it:
// 62 links, 40 DCTCP flows of three hops. `ramp` has the RED curve of the example, `step` the paper's
// thresholds. SECONDS is the simulated time, near 0 for the cost of set-up alone; rates and queues are those of
// its last fifth. Prints one line of JSON. Nix-vector routing and the largest writes that the socket takes
// replace the example's global routing and its 125,000 writes a second and flow.
//
// With `echo`, receivers acknowledge what came before a change of the mark with the old state, as Linux does
// (dctcp_ece_ack_update). ns-3 3.37 sends the sequence number that it kept at the change before that instead, so
// the echo of a single mark acknowledges nothing, and its own sender ignores it.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/nix-vector-helper.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

/// The receiver of DCTCP with the right sequence number.
class ExactEcho : public TcpDctcp {
public:
    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("ns3::ExactEcho").SetParent<TcpDctcp>().SetGroupName("Internet").AddConstructor<ExactEcho>();
        return id;
    }

    Ptr<TcpCongestionOps> Fork() override { return CopyObject<ExactEcho>(this); }

    // comes before the packet joins the receiver's buffer
    void CwndEvent(Ptr<TcpSocketState> socket, const TcpSocketState::TcpCAEvent_t event) override
    {
        if (event == TcpSocketState::CA_EVENT_DELAYED_ACK || event == TcpSocketState::CA_EVENT_NON_DELAYED_ACK) {
            pending = event == TcpSocketState::CA_EVENT_DELAYED_ACK;
        } else if (event == TcpSocketState::CA_EVENT_ECN_IS_CE || event == TcpSocketState::CA_EVENT_ECN_NO_CE) {
            const bool now = event == TcpSocketState::CA_EVENT_ECN_IS_CE;
            if (now != marked && pending) {
                socket->m_sendEmptyPacketCallback(marked ? TcpHeader::ACK | TcpHeader::ECE : TcpHeader::ACK);
                pending = false;
            }
            marked = now;
            const auto state = socket->m_ecnState.Get();
            if (marked) {
                socket->m_ecnState = TcpSocketState::ECN_CE_RCVD;
            } else if (state == TcpSocketState::ECN_CE_RCVD || state == TcpSocketState::ECN_SENDING_ECE) {
                socket->m_ecnState = TcpSocketState::ECN_IDLE;
            }
        }
    }

private:
    bool marked = false;
    bool pending = false;
};

NS_OBJECT_ENSURE_REGISTERED(ExactEcho);

struct Group {
    std::string name;
    std::uint32_t flows;
    std::vector<std::uint64_t> bytes;
};

struct Thresholds {
    double min;
    double max;
};

const double share_measured = 0.2;
const Time sample = MicroSeconds(100);

std::vector<Group> groups = {{"S1", 10, {}}, {"S2", 20, {}}, {"S3", 10, {}}};
std::uint64_t transmissions = 0;
std::uint64_t packets = 0;
std::uint64_t dropped = 0;
std::uint64_t samples = 0;
std::vector<double> queued = {0.0, 0.0};
std::vector<double> below = {0.0, 0.0};

void Transmitted(Ptr<const Packet>) { ++transmissions; }
void Crossed(Ptr<const Packet>) { ++packets; }
void Dropped(Ptr<const QueueDiscItem>) { ++dropped; }

void Received(std::uint64_t* bytes, Ptr<const Packet> packet, const Address&) { *bytes += packet->GetSize(); }

void Begin()
{
    for (auto& group : groups) {
        group.bytes.assign(group.flows, 0);
    }
}

void Sample(
    Ptr<QueueDisc> disc1, Ptr<Queue<Packet>> device1, Ptr<QueueDisc> disc2, Ptr<Queue<Packet>> device2)
{
    ++samples;
    queued[0] += disc1->GetNPackets();
    queued[1] += disc2->GetNPackets();
    below[0] += device1->GetNPackets();
    below[1] += device2->GetNPackets();
    Simulator::Schedule(sample, &Sample, disc1, device1, disc2, device2);
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

TrafficControlHelper Red(const std::string& rate, const Thresholds& thresholds, double linterm)
{
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth", StringValue(rate), "LinkDelay",
        StringValue("10us"), "MinTh", DoubleValue(thresholds.min), "MaxTh", DoubleValue(thresholds.max), "LInterm",
        DoubleValue(linterm));
    return red;
}

} // namespace

int main(int argc, char** argv)
{
    const std::string form = argc >= 3 ? argv[1] : "";
    const bool echo = argc == 4 && std::string(argv[3]) == "echo";
    if ((form != "ramp" && form != "step") || argc > (echo ? 4 : 3)) {
        std::cerr << "w4 ramp|step SECONDS [echo]\n";
        return 2;
    }
    const bool step = form == "step";
    const double seconds = std::atof(argv[2]);
    // the example's: from 50 to 150 and from 20 to 60 packets, 1/50 at the upper one; the paper's: 65 and 20
    const Thresholds fast = step ? Thresholds{65.0, 66.0} : Thresholds{50.0, 150.0};
    const Thresholds slow = step ? Thresholds{20.0, 21.0} : Thresholds{20.0, 60.0};
    const double linterm = step ? 1.0 : 50.0;

    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
        StringValue(echo ? "ns3::ExactEcho" : "ns3::TcpDctcp"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(1500));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize", QueueSizeValue(QueueSize("2666p"))); // 4 MB
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1.0));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));

    NodeContainer s1, s2, s3, r2;
    Ptr<Node> t1 = CreateObject<Node>();
    Ptr<Node> t2 = CreateObject<Node>();
    Ptr<Node> r1 = CreateObject<Node>();
    s1.Create(10);
    s2.Create(20);
    s3.Create(10);
    r2.Create(20);
    InternetStackHelper stack;
    Ipv4NixVectorHelper routing;
    stack.SetRoutingHelper(routing);
    stack.InstallAll();

    // each switch has RED on its ports; hosts have ns-3's default, FQ-CoDel
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto join = [&](Ptr<Node> a, Ptr<Node> b, const std::string& rate) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue("10us"));
        NetDeviceContainer devices = link.Install(a, b);
        for (std::uint32_t i = 0; i < 2; ++i) {
            devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Transmitted));
        }
        return devices;
    };
    auto named = [&](const NetDeviceContainer& devices) {
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        return interfaces;
    };
    const TrafficControlHelper red10 = Red("10Gbps", fast, linterm);
    const TrafficControlHelper red1 = Red("1Gbps", slow, linterm);
    auto host = [&](Ptr<Node> of, Ptr<Node> at) {
        NetDeviceContainer devices = join(of, at, "1Gbps");
        TrafficControlHelper(red1).Install(devices.Get(1));
        return named(devices).GetAddress(0);
    };

    NetDeviceContainer between = join(t1, t2, "10Gbps");
    QueueDiscContainer discs = TrafficControlHelper(red10).Install(between);
    named(between);
    NetDeviceContainer last = join(r1, t2, "1Gbps");
    discs.Add(TrafficControlHelper(red1).Install(last.Get(1)));
    const Ipv4Address r1_address = named(last).GetAddress(0);
    between.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Crossed));
    discs.Get(0)->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    discs.Get(2)->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));

    Begin();
    const std::vector<NodeContainer> senders = {s1, s2, s3};
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        for (std::uint32_t i = 0; i < groups[g].flows; ++i) {
            host(senders[g].Get(i), g == 2 ? t2 : t1);
            const Ptr<Node> receiver = g == 1 ? r2.Get(i) : r1;
            const Ipv4Address address = g == 1 ? host(receiver, t2) : r1_address;
            const std::uint16_t port = 50000 + i + (g == 2 ? 10 : 0);
            PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
            ApplicationContainer sinks = sink.Install(receiver);
            sinks.Start(Seconds(0.0));
            sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, &groups[g].bytes[i]));
            BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, port));
            bulk.SetAttribute("SendSize", UintegerValue(64 * 1448));
            // over the first second; 5 ms more for each flow of a receiver
            const double start_s = static_cast<double>(i) / groups[g].flows + 0.005 * (port - 50000);
            bulk.Install(senders[g].Get(i)).Start(Seconds(start_s));
        }
    }

    Simulator::Schedule(Seconds((1.0 - share_measured) * seconds), &Begin);
    auto below_disc = [](Ptr<NetDevice> device) {
        return DynamicCast<PointToPointNetDevice>(device)->GetQueue();
    };
    Simulator::Schedule(Seconds((1.0 - share_measured) * seconds), &Sample, discs.Get(0),
        below_disc(between.Get(0)), discs.Get(2), below_disc(last.Get(1)));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    std::cout << "{\"case\":\"w4\",\"form\":\"" << form << "\",\"duration_s\":" << seconds
              << ",\"packets\":" << packets << ",\"transmissions\":" << transmissions
              << ",\"packets_dropped\":" << dropped << ",\"groups\":{";
    for (const auto& group : groups) {
        double sum = 0.0;
        double squares = 0.0;
        for (const std::uint64_t bytes : group.bytes) {
            sum += static_cast<double>(bytes);
            squares += static_cast<double>(bytes) * static_cast<double>(bytes);
        }
        const double mbps = 8e-6 * sum / group.flows / (share_measured * seconds);
        std::cout << (&group == &groups[0] ? "" : ",") << "\"" << group.name << "\":{\"mbit_per_s\":" << mbps
                  << ",\"jain\":" << (squares > 0.0 ? sum * sum / (group.flows * squares) : 0.0) << "}";
    }
    const double n = samples > 0 ? static_cast<double>(samples) : 1.0;
    std::cout << "},\"red_packets\":[" << queued[0] / n << "," << queued[1] / n << "],\"device_packets\":["
              << below[0] / n << "," << below[1] / n << "],\"peak_memory_kib\":" << PeakMemoryKib() << "}"
              << std::endl;
    Simulator::Destroy();
    return 0;
}

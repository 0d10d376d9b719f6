//! A run: checks that a kernel can do what the plan asks for, sets up the ends, and runs routers and hosts
//! side by side.

use crate::connection::{carrier, packet_bytes};
use crate::error::LiveError;
use crate::flow::Flow;
use crate::guests::{ConnectionReport, Guests};
use crate::guided::{self, Guided, is_guided};
use crate::hosts::Hosts;
use crate::iperf::{self, Iperf, Traffic};
use crate::layout::Layout;
use crate::namespace::{self, Ends, Families, GUEST_PACKET_BYTES, HostSetup};
use crate::network::Network;
use crate::outside::Gate;
use crate::planned::{Planned, connections, most};
use crate::programs::{ProgramReport, Programs};
use crate::router::{Report, Router, Times};
use crate::sys::clock::{Clock, thread_cpu};
use crate::sys::process::inherited;
use crate::sys::{scheduling, socket};
use crate::sysctl::TcpSetup;
use crate::until::Until;
use crate::validity::{Outside, Validity};
use longfat_bpf_loader::{KERNEL_FORMS, KernelForm, ROUTERS, Registration, Source};
use longfat_capture::{Interface, LiveRecorder, Recording, Watch, Written, said};
use longfat_sim::{CheckedLink, CheckedPlan, Control, Link, LinkPlan, Messages, Outcome, PlanError, Summary};
use longfat_units::parameters::Value;
use longfat_units::{Interval, Time};
use longfat_wire::Carrier;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc;

/// Time between the end of the setup and the start of the clock.
const LEAD: Interval = Interval::from_millis(20);
/// A socket may buffer this many times what the path and its queues hold, because the kernel counts more than
/// payload.
const BUFFER_FACTOR: f64 = 6.0;
const LEAST_BUFFER_BYTES: f64 = 6.0 * 1024.0 * 1024.0; // Linux's default for the largest buffer
const LARGEST_BUFFER_BYTES: f64 = 2_147_483_647.0;
/// A device holds this many times the packets of the path and its queues, because slow-start may overshoot.
const DEVICE_FACTOR: f64 = 4.0;
const LEAST_DEVICE_PACKETS: f64 = 5000.0;
/// The kernel refuses a TUN device a longer queue than its largest allocation, 4 MiB of pointers
/// (ptr_ring.h).
const LARGEST_DEVICE_PACKETS: f64 = 524_288.0;
const LEAST_PACKET_BYTES: u32 = 576;

/// The results of a live run.
pub struct Live {
    /// The same results as a simulation's.
    pub outcome: Outcome,
    /// Whether the results can be trusted.
    pub validity: Validity,
    /// What became of the capture, if there was one.
    pub capture: Option<Written>,
    /// What there is to say of programs, if the run had any.
    pub programs: Option<ProgramsRan>,
}

/// What there is to say of the programs of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramsRan {
    /// When the run ended, s.
    pub end_s: f64,
    /// How each ran.
    pub programs: Vec<ProgramReport>,
    /// Their connections, in the order in which they appeared.
    pub connections: Vec<ConnectionReport>,
}

/// What the kernel runs for the connections of a plan.
#[derive(Clone, Debug, Default)]
pub struct Congestion {
    /// The name of the algorithm of each flow and background source over TCP: the kernel's, or one of
    /// `objects`.
    pub names: BTreeMap<String, String>,
    /// The folder with the objects of `bpf/`, from which Longfat's own algorithms are registered.
    pub forms: PathBuf,
    /// Users' own objects, by the names that `names` has for them.
    pub objects: BTreeMap<String, Source>,
    /// Percent of cwnd / srtt at which the kernel paces outside of slow-start (net.ipv4.tcp_pacing_ca_ratio);
    /// `None` for 100 if one of Longfat's own algorithms relies on it, else the kernel's default.
    pub pacing_ratio: Option<u32>,
}

/// Runs a plan on this machine. The calling thread changes its namespace for good. A process without the
/// right to make namespaces must not have another thread. `traffic` says what makes the traffic of
/// connections over TCP. `capture` asks for the packets that the routers see. `programs` run on the path too;
/// such a process must not have another thread in any case.
///
/// # Errors
/// One line: a plan that cannot be run live, a machine that lacks something, or a kernel that refused
/// something in the middle of the run.
pub fn run(
    plan: CheckedPlan,
    congestion: &Congestion,
    traffic: &Traffic,
    capture: Option<&Recording<'_>>,
    programs: Option<Programs>,
) -> Result<Live, LiveError> {
    check(&plan, programs.is_some())?;
    iperf::check(&plan, traffic)?;
    // opened before the process changes what it may open
    let (recorder, watches) = match capture {
        None => (None, plan.links.iter().map(|_| None).collect()),
        Some(asked) => {
            let (recorder, watches) = record(asked, &plan).map_err(|error| cannot_write(asked, &error))?;
            (Some(recorder), watches)
        }
    };
    let own = own_forms(&congestion.names);
    let rtt_s = programs.as_ref().map(|programs| programs.rtt_s);
    let outside = programs.as_ref().and_then(|programs| programs.outside.clone());
    let mut messages = messages(&plan);
    let layout = Layout::new(&plan, plan.links.len(), programs.is_some(), messages.is_some());
    let mut setup = setup(&plan, &layout, rtt_s)?;
    setup.outside =
        outside.as_ref().map(|outside| if outside.ipv6 { Families::Both } else { Families::Four });
    let relies_on_pacing = own.iter().any(|form| form.paced);
    setup.tcp.pacing_ratio = congestion.pacing_ratio.or(relies_on_pacing.then_some(100));
    // registered before the process leaves the user namespace that has the right to, and held to the end
    let registered = register(&own, congestion)?;
    let packet_bytes = setup.packet_bytes;
    let made = namespace::ends(&setup)?;
    let programs = programs.map(|programs| Ok::<_, LiveError>((programs.clone(), programs.ready(&made)?)));
    let programs = programs.transpose()?;
    let Ends { ends, sysctls, .. } = made;
    let guided = Guided::set_up(&plan, &congestion.names, &congestion.forms, &ends, &layout)?;
    let congestion = &as_registered(&congestion.names, &registered, &guided);
    check_offered(&ends[0], congestion)?;
    let CheckedPlan { links, run, .. } = plan;
    let plan = &Planned {
        links: links.iter().map(|link| LinkPlan::clone(link)).collect(),
        run,
        layout,
        programs_rtt_s: rtt_s,
    };
    let times = Times {
        period_s: plan.run.sample.links_s,
        measured: (Time::from_secs_f64(plan.run.window_s.0), Time::from_secs_f64(plan.run.window_s.1)),
        end: Time::from_secs_f64(plan.run.duration_s),
        rest: plan.rest(),
    };
    let iperf = Iperf::new(traffic, &ends, &plan.run, &plan.layout)?;
    let clock = Clock::starting_in(LEAD);
    let devices = [ends[0].device(), ends[1].device()];
    let (mut announce, mut routers) = (Vec::new(), Vec::new());
    let writer = recorder
        .map(|recorder| recorder.start(clock.began()))
        .transpose()
        .map_err(LiveError::setup("the writer of the capture"))?;
    let guests = programs.as_ref().map(|(given, _)| given.path(plan.run.seed, &plan.links)).transpose()?;
    let mut guests = guests.map_or([None, None], |path| Guests::of_both(path).map(Some));
    let mut outside = outside
        .map(|outside| Ok(Gate::new(&ends[1], inherited(outside.forwarder)?)))
        .transpose()
        .map_err(LiveError::setup("the forwarder"))?;
    let all = links.len();
    let links = links.into_iter().map(|link| Link::new(link, true));
    let mut links: Vec<_> = links.zip(watches).map(Some).collect();
    for (sides, own) in plan.layout.threads() {
        let taken =
            own.into_iter().filter_map(|index| links[index].take().map(|(link, watch)| (index, link, watch)));
        // with messages, one thread has all links
        let network = Network::new(taken.collect(), all, times.measured).talking(messages.take());
        let (announcing, news) = mpsc::channel();
        announce.push(announcing);
        // with programs, each side has a router of its own
        let (guests, outside) = (guests[sides[0]].take(), outside.take());
        routers.push(Router::new(clock, sides, devices, network, news, times).hosting(guests, outside));
    }
    let mut hosts = Hosts::new(&ends, plan, congestion, times, announce, clock, iperf)
        .and_then(|mut hosts| hosts.guide(guided).map(|()| hosts))
        .map_err(LiveError::setup("the hosts' sockets"))?;
    if let Some((_, ready)) = programs {
        hosts.host(ready).map_err(LiveError::setup("programs"))?;
    }
    let until = Until::planned(times.end);
    let drops = || ends.iter().map(|end| end.device_drops().unwrap_or(0)).sum::<u64>();
    let before = drops();
    let (ran, reports) = std::thread::scope(|scope| {
        let routing: Vec<_> = routers
            .into_iter()
            .map(|mut router| {
                scope.spawn(|| {
                    clock.wait_for_start();
                    let ran = router.run(&until);
                    if ran.is_err() {
                        until.fail();
                    }
                    ran.map(|()| router)
                })
            })
            .collect();
        clock.wait_for_start();
        // it holds a socket while it sends or looks: if it were preempted then, the socket would take nothing
        // from routers
        scheduling::prioritize_hosts();
        let before = thread_cpu();
        let ran = hosts.run(&until).map(|()| thread_cpu().saturating_sub(before));
        if ran.is_err() {
            until.fail();
        }
        (ran, routing.into_iter().map(|thread| thread.join()).collect::<Vec<_>>())
    });
    let device_drops = drops() - before; // afterwards nobody reads what programs still send
    let programs = hosts.end_programs();
    let hosts_cpu = ran.map_err(LiveError::broken("the hosts"))?;
    hosts.look_last();
    let reports = reports
        .into_iter()
        .map(|report| {
            report
                .map_err(|_| LiveError::Broken("a router panicked".to_owned()))?
                .and_then(Router::report)
                .map_err(LiveError::broken("a router"))
        })
        .collect::<Result<Vec<Report>, _>>()?;
    let written = writer
        .map(|writer| {
            writer.join().map_err(|_| LiveError::Broken("the capture's writer panicked".to_owned()))
        })
        .transpose()?;
    let end_s = until.end().as_secs_f64();
    let outside = Outside { missing: hosts.missing(), device_drops, hosts_cpu, duration_s: end_s };
    let reported = hosts.iperf.finish().map_err(LiveError::broken("iperf3"))?;
    let validity = Validity::of(plan, &hosts, &reports, outside, packet_bytes, &sysctls, reported);
    let transfers = hosts.take_transfers();
    let flows = hosts.flows.iter_mut().filter_map(Flow::take_summary).collect();
    let connections = reports.first().and_then(|report| Some(report.guests.as_ref()?.reports()));
    let programs =
        programs.zip(connections).map(|(programs, connections)| ProgramsRan { end_s, programs, connections });
    let messages = reports.iter().find_map(|report| report.messages);
    let mut links: Vec<_> = reports.into_iter().flat_map(|report| report.links).collect();
    links.sort_by_key(|link| link.index);
    let packets = links.first().map_or(0, |link| link.packets);
    let (links, series) = links.into_iter().map(|link| (link.summary, (link.name, link.series))).unzip();
    let summary = Summary { flows, links, background: hosts.background_summaries, packets, messages };
    let outcome = Outcome {
        summary,
        flows: hosts.flows.into_iter().map(|flow| (flow.name, flow.series)).collect(),
        links: series,
        internals: Vec::new(),
        transfers,
        events: hosts.events,
        events_handled: packets,
        driver: "live",
        servers: Vec::new(),
    };
    Ok(Live { outcome, validity, capture: written, programs })
}

fn cannot_write(asked: &Recording<'_>, error: &io::Error) -> LiveError {
    let (path, why) = (asked.path.display(), said(error));
    LiveError::Machine(format!("--pcap {path}: {why}; accepted: a file that can be written"))
}

/// Begins a capture of what the routers see.
fn record(asked: &Recording<'_>, plan: &CheckedPlan) -> io::Result<(LiveRecorder, Vec<Option<Watch>>)> {
    let interfaces: Vec<Interface> = plan
        .links
        .iter()
        .map(|link| Interface {
            name: link.name.clone(),
            description: "a link of a live run".to_owned(),
            bps: None,
        })
        .collect();
    let (recorder, watches) = LiveRecorder::create(asked, &interfaces)?;
    Ok((recorder, watches.into_iter().map(Some).collect()))
}

fn refuse<T>(at: String, what: &str) -> Result<T, LiveError> {
    Err(LiveError::Plan(PlanError { at, what: what.to_owned() }))
}

/// Checks that hosts and routers can do what a plan asks for.
fn check(plan: &CheckedPlan, programs: bool) -> Result<(), LiveError> {
    if programs && (plan.links.len() != 2 || plan.links.iter().any(|link| link.delay_s != 0.0)) {
        return refuse("links".to_owned(), "with programs, a live run has the two links of a dumbbell");
    }
    for router in plan.links.iter().filter_map(|link| link.plan.router.as_ref()) {
        let protocol = router.parameters.get("protocol");
        let speaks = protocol.is_none_or(
            |given| matches!(given, Value::Word(name) if guided::PROTOCOLS.contains(&name.as_str())),
        );
        if !ROUTERS.contains(&router.kind.as_str()) || !speaks {
            return refuse(
                "links.router".to_owned(),
                "no kernel has hosts that understand such routers; the simulator does",
            );
        }
    }
    for (at, connection) in connections(plan) {
        if is_guided(connection) && at.starts_with("background") {
            return refuse(
                format!("{at}.algorithm"),
                "in a live run, routers set the rate of flows only; accepted in the background: other algorithms",
            );
        }
        if matches!(connection.control(), Control::Udp(protocol, _) if protocol.answered) {
            return refuse(format!("{at}.algorithm"), "no kernel has this algorithm; the simulator does");
        }
    }
    Ok(())
}

/// Returns the messages between the routers of a plan, if some of them send any.
fn messages(plan: &CheckedPlan) -> Option<Messages> {
    let mut routers = plan.links.iter().filter_map(|link| link.plan.router.as_ref());
    let talks = routers.any(|router| guided::TALKING.contains(&router.kind.as_str()));
    talks.then(|| Messages::new(&plan.links)).flatten()
}

/// Returns the kernel forms of Longfat's own algorithms that were asked for.
fn own_forms(congestion: &BTreeMap<String, String>) -> Vec<&'static KernelForm> {
    let asked: BTreeSet<&str> = congestion.values().map(String::as_str).collect();
    KERNEL_FORMS.iter().filter(|form| asked.contains(form.name)).collect()
}

/// Registers algorithms with the kernel, beside those of other runs. Each stays registered while this run
/// holds it, even if other runs end. Returns them by the names that were asked for.
fn register(
    own: &[&KernelForm],
    congestion: &Congestion,
) -> Result<BTreeMap<String, Registration>, LiveError> {
    let forms = own.iter().map(|form| (form.name.to_owned(), Source::only(&form.object(&congestion.forms))));
    let objects = congestion.objects.iter().map(|(asked, source)| (asked.clone(), source.clone()));
    forms
        .chain(objects)
        .map(|(asked, source)| Ok((asked, Registration::beside_others(&source, &std::env::temp_dir())?)))
        .collect::<Result<_, longfat_bpf_loader::Error>>()
        .map_err(|error| LiveError::Machine(error.to_string()))
}

/// Returns the kernel's names, with the names under which algorithms were registered for this run.
fn as_registered(
    names: &BTreeMap<String, String>,
    registered: &BTreeMap<String, Registration>,
    guided: &Guided,
) -> BTreeMap<String, String> {
    let registered_as = |asked: &str| {
        let name = registered.get(asked).map(Registration::name).or_else(|| guided.registered_as(asked));
        name.unwrap_or(asked).to_owned()
    };
    names.iter().map(|(name, asked)| (name.clone(), registered_as(asked))).collect()
}

/// Checks that the kernel has the algorithms.
fn check_offered(end: &namespace::End, congestion: &BTreeMap<String, String>) -> Result<(), LiveError> {
    for (name, algorithm) in congestion {
        let socket = end.within(socket::tcp).map_err(LiveError::setup("a socket"))?;
        if let Err(error) = socket.set_tcp_congestion(algorithm.as_bytes()) {
            let names = longfat_bpf_loader::available().unwrap_or_default();
            return Err(LiveError::Machine(format!(
                "{name}: this kernel does not offer the congestion control {algorithm:?} ({error}); it has: {}; if it \
                 has the module, `modprobe tcp_{algorithm}` as root loads it",
                names.join(", ")
            )));
        }
    }
    Ok(())
}

/// Returns how the hosts have to be set up for this plan. `rtt_s` is that of programs' connections, if
/// programs run.
fn setup(plan: &CheckedPlan, layout: &Layout, rtt_s: Option<f64>) -> Result<HostSetup, LiveError> {
    let of_programs = rtt_s.map(|_| GUEST_PACKET_BYTES);
    let packet_bytes =
        connections(plan).map(|(_, c)| packet_bytes(c)).chain(of_programs).max().unwrap_or_default();
    let longest_s = connections(plan).map(|(_, c)| most(c)).chain(rtt_s).fold(0.0, f64::max);
    let queue =
        |link: &CheckedLink| link.plan.queue.limit().in_packets(1500) as f64 * f64::from(packet_bytes);
    let held = |path: &[usize]| {
        let links = path.iter().map(|&link| &plan.links[link]);
        let rate_bps = links.clone().map(|link| link.rate_bps).fold(0.0, f64::max);
        rate_bps * longest_s / 8.0 + links.map(queue).sum::<f64>()
    };
    let paths = connections(plan).flat_map(|(_, c)| [&c.forward[..], &c.reverse[..]]);
    let of_programs: [&[usize]; 2] = [&[0], &[1]];
    let paths = paths.chain(of_programs.into_iter().filter(|_| rtt_s.is_some()));
    let held_bytes = paths.map(held).fold(0.0, f64::max);
    let mut initial_window = [None; 2];
    for (at, connection) in connections(plan).filter(|(_, c)| carrier(c) == Carrier::Tcp) {
        let segments = connection.initial_window as u32;
        let side = layout.side(connection);
        if initial_window[side].is_some_and(|other| other != segments) {
            let what = "in a live run, all connections of one direction have the same initial window; \
                        accepted: one for all";
            return refuse(format!("{at}.initial_window"), what);
        }
        initial_window[side] = Some(segments);
    }
    Ok(HostSetup {
        packet_bytes: packet_bytes.max(LEAST_PACKET_BYTES),
        queue_packets: (DEVICE_FACTOR * held_bytes / f64::from(packet_bytes.max(1)))
            .clamp(LEAST_DEVICE_PACKETS, LARGEST_DEVICE_PACKETS) as u32,
        tcp: TcpSetup {
            buffer_bytes: (BUFFER_FACTOR * held_bytes).clamp(LEAST_BUFFER_BYTES, LARGEST_BUFFER_BYTES) as u64,
            ecn: connections(plan).any(|(_, c)| c.negotiates_ecn()),
            pacing_ratio: None,
            guests: rtt_s.is_some(),
        },
        initial_window,
        guests: rtt_s.is_some(),
        outside: None,
        // each packet needs an explicit header of its own
        trains: !connections(plan).any(|(_, c)| is_guided(c)),
    })
}

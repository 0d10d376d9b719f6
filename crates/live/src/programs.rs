//! Programs on the path: what runs where and when, as whom, and how it ended.

use crate::error::LiveError;
use crate::guests::GuestPath;
use crate::namespace::{ADDRESSES, Ends};
use crate::sys::init::{self, Handle, Identity, Order, Setup, Told};
use longfat_sim::LinkPlan;
use longfat_units::{Interval, Rate, Time};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// How long a program waits for its peer, at most (chosen here: interpreters take a second to start a server
/// on a busy machine).
const LONGEST_WAIT: Interval = Interval::from_millis(3000);

/// The programs of a run, and the path that their connections have.
#[derive(Clone, Debug, Deserialize)]
pub struct Programs {
    /// Two-way propagation delay, s.
    pub rtt_s: f64,
    /// The rate of the hosts' own links, bit/s.
    pub access_bps: f64,
    /// User, group and further groups that programs run as; those of this process if `None`.
    pub user: Option<(u32, u32, Vec<u32>)>,
    /// The standard streams for a program in front, inherited under these numbers.
    pub streams: Option<[i32; 3]>,
    /// The process group of the terminal's foreground, for a program in front.
    pub group: Option<i32>,
    /// The machine's own network for side A, if it is to have it.
    pub outside: Option<OutsidePlan>,
    /// The programs.
    pub programs: Vec<Program>,
}

/// The machine's own network for side A.
#[derive(Clone, Debug, Deserialize)]
pub struct OutsidePlan {
    /// Where the forwarder takes sockets of side B, inherited under this number.
    pub forwarder: i32,
    /// Whether there is IPv6 too.
    pub ipv6: bool,
    /// The text of programs' /etc/resolv.conf.
    pub resolver: String,
}

/// A program.
#[derive(Clone, Debug, Deserialize)]
pub struct Program {
    /// Its name in results.
    pub name: String,
    /// What is run, and where.
    #[serde(flatten)]
    pub order: Order,
    /// When it starts, s.
    pub start_s: f64,
    /// When it is asked to end, s; with the run if `None`.
    pub stop_s: Option<f64>,
    /// Whether the run ends with it.
    pub ends_run: bool,
    /// Whether it starts only when something on the other side waits for connections or datagrams, or nothing
    /// else runs there, but soon in any case.
    pub awaits_peer: bool,
}

/// How a program ran.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramReport {
    /// Its name.
    pub name: String,
    /// Its side: "a" or "b".
    pub side: char,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// When it was started, s; `None` if the run ended before.
    pub start_s: Option<f64>,
    /// When it ended, s.
    pub end_s: Option<f64>,
    /// Its exit code, 128 and the signal's number after a signal; `None` if it was asked to end.
    pub exit_code: Option<i32>,
    /// The last of what it has printed, if it had not the caller's own streams.
    pub output: String,
}

impl ProgramReport {
    fn of(program: &Program) -> Self {
        ProgramReport {
            name: program.name.clone(),
            side: if program.order.side == 0 { 'a' } else { 'b' },
            command: program.order.command.clone(),
            start_s: None,
            end_s: None,
            exit_code: None,
            output: String::new(),
        }
    }
}

/// What ends a run before its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// Nothing does.
    Nothing,
    /// The program that the run was for has ended.
    Over,
}

impl Programs {
    /// Returns what the path is like for their connections.
    pub fn path(&self, seed: u64, links: &[LinkPlan]) -> std::result::Result<GuestPath, LiveError> {
        let access = Rate::from_bps(self.access_bps)
            .ok_or_else(|| LiveError::Machine(format!("programs: no rate: {} bit/s", self.access_bps)))?;
        Ok(GuestPath { rtt: Interval::from_secs_f64(self.rtt_s), access, seed, links: links.to_vec() })
    }

    /// Starts the process that starts them. The caller must not have another thread.
    pub fn ready(self, ends: &Ends) -> std::result::Result<Ready, LiveError> {
        let identity = match (ends.as_user, &self.user) {
            (Some((user, group)), _) => Identity::Outside(user, group),
            (None, Some((user, group, groups))) => Identity::User(*user, *group, groups.clone()),
            (None, None) => Identity::Own,
        };
        let setup = Setup {
            orders: self.programs.iter().map(|program| program.order.clone()).collect(),
            networks: ends.ends.each_ref().map(|end| end.namespace()),
            not_mine: ends
                .ends
                .iter()
                .map(|end| end.device().tun.as_raw_fd())
                .chain(self.outside.iter().map(|outside| outside.forwarder))
                .collect(),
            identity,
            streams: self.streams,
            group: self.group,
            resolver: self.outside.as_ref().map(|outside| outside.resolver.clone()),
        };
        let handle = init::start(&setup).map_err(LiveError::setup("a process namespace for programs"))?;
        handle.orders.set_nonblocking(true).map_err(LiveError::setup("programs"))?;
        let reports = self.programs.iter().map(ProgramReport::of).collect();
        let ended = vec![false; self.programs.len()];
        Ok(Ready { handle, programs: self.programs, reports, ended, lines: Vec::new() })
    }
}

/// Programs that can be started.
pub struct Ready {
    handle: Handle,
    programs: Vec<Program>,
    reports: Vec<ProgramReport>,
    ended: Vec<bool>,
    lines: Vec<u8>,
}

impl Ready {
    /// Returns when each program starts and when it is asked to end.
    pub fn times(&self) -> impl Iterator<Item = (usize, Time, Time)> {
        self.programs.iter().enumerate().map(|(i, program)| {
            (i, Time::from_secs_f64(program.start_s), program.stop_s.map_or(Time::NEVER, Time::from_secs_f64))
        })
    }

    /// Returns the end at which something has to wait for connections or datagrams before a program starts,
    /// if any.
    pub fn awaited(&self, now: Time, program: usize) -> Option<usize> {
        let this = &self.programs[program];
        let other = 1 - this.order.side;
        let early = now.since(Time::from_secs_f64(this.start_s)) < LONGEST_WAIT;
        let runs = |(other_one, ended): (&Program, &bool)| other_one.order.side == other && !ended;
        (this.awaits_peer && early && self.programs.iter().zip(&self.ended).any(runs)).then_some(other)
    }

    /// Starts a program.
    pub fn start(&mut self, now: Time, program: usize) -> Result<()> {
        self.reports[program].start_s = Some(now.as_secs_f64());
        self.tell(Told::Start(program))
    }

    /// Asks a program to end, and kills it if it does not.
    pub fn stop(&mut self, program: usize) -> Result<()> {
        self.tell(Told::Stop(program))
    }

    fn tell(&mut self, told: Told) -> Result<()> {
        let mut line = serde_json::to_vec(&told)?;
        line.push(b'\n');
        self.handle.orders.write_all(&line).or_else(|error| {
            self.look(Time::ZERO)?; // which may know why
            Err(error)
        })
    }

    /// Takes what there is to know about programs.
    pub fn look(&mut self, now: Time) -> Result<News> {
        let mut chunk = [0; 4096];
        loop {
            match self.handle.orders.read(&mut chunk) {
                Ok(0) => return self.take_lines(now).and(Err(ErrorKind::UnexpectedEof.into())),
                Ok(n) => self.lines.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.take_lines(now)
    }

    fn take_lines(&mut self, now: Time) -> Result<News> {
        let mut news = News::Nothing;
        while let Some(end) = self.lines.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.lines.drain(..=end).collect();
            let ended = match serde_json::from_slice(&line)? {
                init::Report::Ended(ended) => ended,
                init::Report::Failed(why) => return Err(Error::other(format!("programs: {why}"))),
            };
            let report = &mut self.reports[ended.program];
            report.output = ended.output;
            report.end_s = Some(now.as_secs_f64());
            report.exit_code = (!ended.asked).then_some(ended.code);
            self.ended[ended.program] = true;
            if self.programs[ended.program].ends_run {
                news = News::Over;
            }
        }
        Ok(news)
    }

    /// Ends all programs, waits until they are gone, and returns how they ran.
    pub fn finish(mut self, now: Time) -> Vec<ProgramReport> {
        // nothing more is told, so everything ends; what is told in return comes before the end of the stream
        let _ = self.handle.orders.shutdown(std::net::Shutdown::Write);
        let _ = self.handle.orders.set_nonblocking(false);
        let _ = self.handle.orders.read_to_end(&mut self.lines);
        let _ = self.take_lines(now);
        self.handle.wait();
        self.reports
    }
}

/// Whether a program in the calling thread's network namespace waits for connections or datagrams.
pub fn somebody_waits() -> Result<bool> {
    const LISTENING: &str = "0A";
    // a datagram socket without a peer has the state of a closed connection
    const BOUND: &str = "07";
    // /proc writes addresses in the machine's order of bytes
    let own = ADDRESSES.map(|address| format!("{:08X}:", u32::from_ne_bytes(address.octets())));
    for (file, waiting) in [("tcp", LISTENING), ("tcp6", LISTENING), ("udp", BOUND), ("udp6", BOUND)] {
        let table = match fs::read_to_string(format!("/proc/thread-self/net/{file}")) {
            Ok(table) => table,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        // number: local_address:port remote_address:port state ...
        let waits = |line: &str| {
            let mut fields = line.split_whitespace().skip(1);
            let local = fields.next().unwrap_or_default();
            fields.nth(1) == Some(waiting) && !own.iter().any(|own| local.starts_with(own))
        };
        if table.lines().any(waits) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl AsFd for Ready {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.orders.as_fd()
    }
}

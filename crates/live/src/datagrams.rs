//! Sources of UDP datagrams: the simulator's sender of a protocol without reports, on a socket.

use crate::connection::Owner;
use crate::sys::socket;
use longfat_transport::udp::Sender;
use longfat_units::Time;
use longfat_wire::{Kind, SimPacket};
use socket2::Socket;

/// IP and UDP headers.
const HEADERS: usize = 28;

/// A source of datagrams.
pub struct Source {
    /// Whose datagrams they are.
    pub owner: Owner,
    sender: Sender,
    socket: Socket,
    planned_for: Time,
}

impl Source {
    /// A source that has not started, on a connected socket.
    pub fn new(owner: Owner, sender: Sender, socket: Socket) -> Self {
        Source { owner, sender, socket, planned_for: Time::NEVER }
    }

    /// Begins to send. Like the calls below, returns when the source's timer is to run.
    pub fn start(&mut self, now: Time, zeros: &[u8]) -> Time {
        self.drive(zeros, |sender, out| sender.start(now, out))
    }

    /// Runs the timer, unless the source has since asked for another time.
    pub fn on_timer(&mut self, now: Time, zeros: &[u8]) -> Time {
        if self.planned_for != now {
            return Time::NEVER;
        }
        self.drive(zeros, |sender, out| sender.on_timer(now, out))
    }

    /// Sends nothing new from now on.
    pub fn stop(&mut self, now: Time) {
        self.sender.stop(now);
    }

    fn drive(&mut self, zeros: &[u8], act: impl FnOnce(&mut Sender, &mut dyn FnMut(SimPacket))) -> Time {
        let socket = &self.socket;
        act(&mut self.sender, &mut |packet| {
            if packet.kind == Kind::Data {
                let payload = usize::from(packet.bytes).saturating_sub(HEADERS);
                // a datagram that the kernel does not take is lost, like any other
                let _ = socket::send(socket, &zeros[..payload]);
            }
        });
        self.planned_for = self.sender.wake();
        self.planned_for
    }
}

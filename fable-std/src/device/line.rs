//! The line to a device: requests go out, each until its reply has come or its deadline has passed.
//!
//! A request is sent up to three times, and no longer waited for than its deadline allows, whatever comes in the meantime: noise
//! without end, sound frames about something else, a byte now and then, nothing. A port that has to be asked again says
//! `Interrupted` every now and then, as those of [`port`](super::port) do; one that blocks for longer is waited for that much longer.
//!
//! With a key every request is sealed. A device that was reset has lost its session: another one is opened, and the request goes
//! out again under the same sequence number, so that the device knows it.

use super::DeviceError;
use fable_wire::{DELIMITER, Draft, Fault, Frame, Key, MAX_FRAME, Reply, Request, Session};
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// How often a request is sent before it is given up when no answer comes in time.
pub(super) const ATTEMPTS: u32 = 3;
/// How often it is sent when the device could not read something: it may have been noise before the request.
const UNREAD: u32 = 8;

/// A port, and what was said over it.
pub(super) struct Line<P> {
    pub(super) port: P,
    sequence: u32,
    received: VecDeque<u8>,
    /// The longest that a request may take.
    deadline: Duration,
    key: Option<Key>,
    session: Option<Open>,
}

/// A session, and the counter of the last frame that was sent in it.
struct Open {
    session: Session,
    counter: u32,
}

/// What came after a request.
enum Heard {
    Reply(Reply, Vec<u8>),
    /// Nothing, in its time.
    Nothing,
    /// The device could not read something.
    Unread(Fault),
    /// The device knows nothing of the session.
    Lost,
}

/// Until when one attempt may take.
struct Clock(Instant);

impl Clock {
    fn is_over(&self) -> bool {
        Instant::now() >= self.0
    }
}

fn random<const N: usize>() -> Result<[u8; N], DeviceError> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(bytes)
}

impl<P: Read + Write> Line<P> {
    /// The first sequence number is random, so that no request is taken for one of
    /// an earlier host.
    pub(super) fn new(port: P, deadline: Duration, key: Option<Key>) -> Result<Self, DeviceError> {
        let sequence = u32::from_le_bytes(random()?);
        Ok(Self { port, sequence, received: VecDeque::new(), deadline, key, session: None })
    }

    fn next(&mut self) -> u32 {
        self.sequence = self.sequence.checked_add(1).unwrap_or(1);
        self.sequence
    }

    /// Sends a request and returns the reply to it with its payload.
    pub(super) fn ask(&mut self, request: &Request, payload: &[u8]) -> Result<(Reply, Vec<u8>), DeviceError> {
        let (sequence, end) = (self.next(), Instant::now() + self.deadline);
        let (mut silent, mut unread, mut first) = (0, 0, None);
        loop {
            if self.key.is_some() && self.session.is_none() {
                self.open(end)?;
                first = None;
            }
            let frame = self.frame(sequence, request, payload)?;
            let counter = self.session.as_ref().map_or(0, |open| open.counter);
            let counters = *first.get_or_insert(counter)..=counter;
            match self.exchange(sequence, &frame, end, &counters)? {
                Heard::Reply(Reply::Fault(fault), _) => return Err(DeviceError::Refused(fault)),
                Heard::Reply(reply, payload) => return Ok((reply, payload)),
                Heard::Nothing if silent + 1 < ATTEMPTS && Instant::now() < end => silent += 1,
                Heard::Nothing => return Err(DeviceError::Silent),
                Heard::Lost if unread + 1 < UNREAD => (unread, self.session) = (unread + 1, None),
                Heard::Unread(_) if unread + 1 < UNREAD => unread += 1,
                Heard::Unread(fault) => return Err(DeviceError::Refused(fault)),
                Heard::Lost => return Err(DeviceError::Refused(Fault::Session)),
            }
        }
    }

    /// The bytes of a request; in a session each time with another counter.
    fn frame(&mut self, sequence: u32, request: &Request, payload: &[u8]) -> Result<Vec<u8>, DeviceError> {
        let mut buffer = [0; MAX_FRAME];
        let mut draft = Draft::request(&mut buffer, sequence, request);
        if !draft.push(payload) {
            return Err(DeviceError::Refused(Fault::Oversized));
        }
        let Some(open) = &mut self.session else { return Ok(draft.seal().to_vec()) };
        open.counter = open.counter.checked_add(1).ok_or(DeviceError::Unexpected)?;
        Ok(draft.seal_by(&open.session, open.counter).to_vec())
    }

    /// Opens a session with the key.
    fn open(&mut self, end: Instant) -> Result<(), DeviceError> {
        let Some(key) = self.key else { return Ok(()) };
        let (sequence, host) = (self.next(), u64::from_le_bytes(random()?));
        let frame = self.frame(sequence, &Request::Open { nonce: host }, &[])?;
        for _ in 0..UNREAD {
            self.send(&frame, end)?;
            let clock = self.clock(end);
            while let Some(mut bytes) = self.receive(&clock)? {
                let Ok(frame) = Frame::open(&mut bytes) else { continue };
                if !frame.is_reply() || frame.sequence != sequence {
                    continue;
                }
                match frame.reply() {
                    Ok((Reply::Opened { nonce, count }, [])) => {
                        let session = Session::new(&key, host, nonce, count);
                        frame.sealed_by(&session).filter(|counter| *counter == 0).ok_or(DeviceError::Key)?;
                        self.session = Some(Open { session, counter: 0 });
                        return Ok(());
                    }
                    Ok((Reply::Fault(fault), _)) => return Err(DeviceError::Refused(fault)),
                    Err(Fault::Version { found }) => return Err(DeviceError::Version { found }),
                    _ => return Err(DeviceError::Unexpected),
                }
            }
            if Instant::now() >= end {
                break;
            }
        }
        Err(DeviceError::Silent)
    }

    fn clock(&self, end: Instant) -> Clock {
        Clock(end.min(Instant::now() + self.deadline / ATTEMPTS))
    }

    /// Sends a frame and waits for the reply to it. In a session the reply is sealed, with the counter of one of the frames that
    /// the request was sent in.
    fn exchange(
        &mut self,
        sequence: u32,
        frame: &[u8],
        end: Instant,
        counters: &RangeInclusive<u32>,
    ) -> Result<Heard, DeviceError> {
        self.send(frame, end)?;
        let clock = self.clock(end);
        while let Some(mut bytes) = self.receive(&clock)? {
            let Ok(frame) = Frame::open(&mut bytes) else { continue };
            if !frame.is_reply() || (frame.sequence != sequence && frame.sequence != 0) {
                continue;
            }
            let sealed = match &self.session {
                Some(open) => {
                    frame.sealed_by(&open.session).is_some_and(|counter| counters.contains(&counter))
                }
                None => !frame.is_sealed(),
            };
            let (reply, payload) = match frame.reply() {
                Ok((reply, payload)) => (reply, payload.to_vec()),
                Err(Fault::Version { found }) => return Err(DeviceError::Version { found }),
                Err(_) if sealed => return Err(DeviceError::Unexpected),
                Err(_) => continue,
            };
            match reply {
                Reply::Fault(fault) if frame.sequence == 0 => return Ok(Heard::Unread(fault)),
                _ if frame.sequence == 0 => {}
                reply if sealed => return Ok(Heard::Reply(reply, payload)),
                Reply::Fault(Fault::Session | Fault::Locked) if self.session.is_some() => {
                    return Ok(Heard::Lost);
                }
                Reply::Fault(Fault::Keyless) => return Err(DeviceError::Refused(Fault::Keyless)),
                _ => {} // anybody may have sent it
            }
        }
        Ok(Heard::Nothing)
    }

    /// Sends bytes, after the end of whatever was sent before.
    fn send(&mut self, frame: &[u8], end: Instant) -> Result<(), DeviceError> {
        let clock = Clock(end);
        let bytes = [&[DELIMITER], frame].concat();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match self.port.write(rest) {
                Ok(0) => return Err(DeviceError::Closed),
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted && !clock.is_over() => {}
                Err(error) if is_late(&error) => return Err(DeviceError::Stuck),
                Err(error) => return Err(error.into()),
            }
        }
        match self.port.flush() {
            Err(error) if is_late(&error) => Err(DeviceError::Stuck),
            flushed => Ok(flushed?),
        }
    }

    /// The bytes up to the next delimiter; `None` when they do not come in time.
    fn receive(&mut self, clock: &Clock) -> Result<Option<Vec<u8>>, DeviceError> {
        let mut bytes = Vec::new();
        loop {
            while let Some(byte) = self.received.pop_front() {
                if byte != DELIMITER {
                    bytes.push(byte);
                    bytes.truncate(MAX_FRAME); // longer is garbage, and stays so
                } else if !bytes.is_empty() {
                    return Ok(Some(bytes));
                }
            }
            if clock.is_over() {
                return Ok(None);
            }
            let mut chunk = [0; 512];
            match self.port.read(&mut chunk) {
                Ok(0) => return Err(DeviceError::Closed),
                Ok(count) => self.received.extend(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_late(&error) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

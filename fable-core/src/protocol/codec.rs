//! The device's half of the messages, read and written by hand as postcard has them.
//!
//! Hosts write requests and read replies with postcard itself. Its code is generic, though, and takes twice as much of a device's
//! flash. `tests/it/protocol.rs` sends every message from the one to the other.

use super::{Fault, Hello, Kept, Reply, Request, Statistics, StorageFault, WireContext, WireShare};
use crate::record::{Input, Output};
use crate::user::{Assessment, Gap, Trial};

impl Input<'_> {
    fn wire_context(&mut self) -> WireContext {
        let mut context = WireContext { task: self.byte(), signals: heapless::Vec::new() };
        for _ in 0..self.varint() {
            if context.signals.push(self.f32()).is_err() {
                self.refuse();
                break;
            }
        }
        context
    }

    /// A request; what is left is its payload.
    #[inline(never)]
    pub(super) fn request(&mut self) -> Request {
        match self.byte() {
            0 => Request::Hello,
            1 => Request::Onboard { response: self.f64(), precision: self.f64() },
            2 => Request::Decide { context: self.wire_context(), time: self.varint() },
            3 => Request::Feedback {
                incarnation: self.varint(),
                round: self.varint(),
                reward: self.f64(),
                weight: self.f32(),
                time: self.varint(),
            },
            4 => Request::Observe {
                context: self.wire_context(),
                action: self.short(),
                reward: self.f64(),
                weight: self.f32(),
            },
            5 => Request::Unlearn {
                context: self.wire_context(),
                action: self.short(),
                baseline: self.f64(),
                reward: self.f64(),
                weight: self.f32(),
                imputed: self.flag(),
                kept: self.f32(),
                probed: [self.varint(), self.varint()],
            },
            6 => Request::Explain {
                incarnation: self.varint(),
                round: self.varint(),
                other: if self.flag() { Some(self.short()) } else { None },
                first: self.short(),
            },
            7 => Request::Assess { contrast: self.byte() },
            8 => Request::Compare {
                context: self.wire_context(),
                prefer: self.short(),
                over: self.short(),
                total: self.flag(),
            },
            9 => Request::Profile { index: self.short() },
            10 => Request::Promote { time: self.varint() },
            11 => Request::Statistics,
            12 => Request::Expire { time: self.varint() },
            13 => Request::Snapshot { offset: self.varint() },
            14 => Request::Stage { offset: self.varint() },
            15 => Request::Commit { length: self.varint() },
            16 => Request::Event { index: self.varint() },
            17 => Request::Forget,
            18 => Request::Prior { next: self.flag(), offset: self.varint() },
            19 => Request::CommitPrior { length: self.varint() },
            20 => Request::Trial { contrast: self.byte() },
            21 => Request::Recommend { context: self.wire_context() },
            22 => Request::UserRule { code: self.varint(), stands: self.flag() },
            23 => Request::Open { nonce: self.u64() },
            _ => {
                self.refuse();
                Request::Hello
            }
        }
    }
}

impl Output<'_> {
    fn shorts(&mut self, numbers: &[u16]) {
        for number in numbers {
            self.varint((*number).into());
        }
    }

    fn varints(&mut self, numbers: &[u32]) {
        for number in numbers {
            self.varint(*number);
        }
    }

    fn numbers(&mut self, numbers: &[f64]) {
        for number in numbers {
            self.f64(*number);
        }
    }

    /// A number that may be missing.
    fn maybe(&mut self, number: Option<u32>) {
        self.byte(number.is_some().into());
        if let Some(number) = number {
            self.varint(number);
        }
    }

    /// A reply without its payload.
    #[inline(never)]
    pub(super) fn reply(&mut self, reply: &Reply) {
        match reply {
            Reply::Fault(fault) => self.fault(fault),
            Reply::Hello(hello) => self.hello(hello),
            Reply::Done { count } => self.tagged(2, *count),
            Reply::Decided { round, action, baseline, probes } => {
                self.tagged(3, *round);
                self.shorts(&[*action]);
                self.f64(*baseline);
                self.varint(u32::try_from(probes.len()).unwrap_or(0)); // a few
                for probe in probes {
                    self.put(&[probe.contrast, probe.preferred.into()]);
                    self.f32(probe.expected);
                }
            }
            Reply::Explanation {
                chosen,
                intended,
                probed,
                other,
                feasible,
                explored,
                chosen_score,
                other_score,
                shares,
            } => {
                self.byte(4);
                self.shorts(&[*chosen, *intended]);
                self.varints(probed);
                self.shorts(&[*other]);
                self.put(&[(*feasible).into(), (*explored).into()]);
                self.f32(*chosen_score);
                self.f32(*other_score);
                self.shorts(&[*shares]);
            }
            Reply::Assessment(assessment) => self.assessment(assessment),
            Reply::Promotion { count, entry } => {
                self.tagged(6, (*count).into());
                self.byte(entry.is_some().into());
                if let Some((promotion, standing)) = entry {
                    self.promotion(promotion);
                    self.byte(*standing as u8);
                }
            }
            Reply::Statistics(Statistics {
                rounds,
                observations,
                waiting,
                promotions,
                answered,
                refused,
                kept,
            }) => {
                let Kept { generation, events, free, erases } = *kept;
                self.byte(7);
                self.varints(&[
                    *rounds,
                    *observations,
                    (*waiting).into(),
                    (*promotions).into(),
                    *answered,
                    *refused,
                ]);
                self.varints(&[generation, events, free, erases]);
            }
            Reply::Chunk { offset } => self.tagged(8, *offset),
            Reply::Event { index } => self.tagged(9, *index),
            Reply::Trial(Trial { trials, e_value, needed, average, certified, valid }) => {
                self.tagged(10, (*trials).into());
                self.numbers(&[*e_value, *needed, average.mean, average.lower, average.upper]);
                self.put(&[*certified as u8, (*valid).into()]);
            }
            Reply::Opened { nonce, count } => {
                self.byte(11);
                self.put(&nonce.to_le_bytes());
                self.varint(*count);
            }
        }
    }

    /// What a reply begins with.
    fn tagged(&mut self, tag: u8, number: u32) {
        self.byte(tag);
        self.varint(number);
    }

    fn fault(&mut self, fault: &Fault) {
        let (tag, more) = match fault {
            Fault::Malformed => (0, None),
            Fault::Oversized => (1, None),
            Fault::Version { found } => (2, Some(*found)),
            Fault::UnknownRequest => (3, None),
            Fault::Content => (4, None),
            Fault::Missing => (5, None),
            Fault::Learner(code) => (6, Some(*code)),
            Fault::Context(code) => (7, Some(*code)),
            Fault::Record(code) => (8, Some(*code)),
            Fault::Storage(fault) => {
                let fault = match fault {
                    StorageFault::Unsupported => 0,
                    StorageFault::Full => 1,
                    StorageFault::Medium => 2,
                    StorageFault::Damaged => 3,
                    StorageFault::Order => 4,
                };
                (9, Some(fault))
            }
            Fault::Limited => (10, None),
            Fault::Locked => (11, None),
            Fault::Session => (12, None),
            Fault::Keyless => (13, None),
        };
        self.put(&[0, tag]);
        if let Some(more) = more {
            self.byte(more);
        }
    }

    fn hello(&mut self, hello: &Hello) {
        self.put(&[1, hello.protocol, hello.record]);
        self.put(&hello.fingerprint.to_le_bytes());
        self.u32(hello.guarantee_fingerprint);
        self.put(&hello.catalog.to_le_bytes());
        self.byte(hello.digits);
        self.shorts(&[hello.actions, hello.dimension]);
        self.put(&[hello.tasks, hello.signals, hello.contrasts]);
        self.shorts(&[hello.ring]);
        self.put(&hello.user.to_le_bytes());
        self.varints(&[hello.incarnation, hello.site, hello.rounds, hello.observations]);
    }

    fn assessment(&mut self, known: &Assessment) {
        let Gap { distance, rounds } = known.gap;
        self.byte(5);
        self.numbers(&[known.mean, known.sd, known.probability, known.beta]);
        self.numbers(&[known.radius, known.lower, known.upper, known.threshold]);
        self.varint(known.evidence);
        self.byte(known.verdict as u8);
        self.f64(distance);
        self.maybe(rounds);
        self.byte(known.valid.into());
    }

    /// One share of an explanation.
    pub(super) fn share(&mut self, share: &WireShare) {
        self.byte(share.part);
        self.f32(share.chosen);
        self.f32(share.other);
        self.maybe(share.chosen_coordinate.map(u32::from));
        self.maybe(share.other_coordinate.map(u32::from));
    }
}

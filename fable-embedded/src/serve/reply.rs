//! What a device answers: the replies to questions, and the frames of all replies.

use super::{Answer, Device};
use crate::protocol::{Draft, Fault, Hello, Kept, MAX_FRAME, Reply, Request, Statistics, VERSION, WireShare};
use fable_core::event::DecisionId;
use fable_core::record;
use fable_core::trust::{Comparison, Explanation};
use fable_core::{Action, Learner, Policy, Scalar, Storage};

impl<T: Scalar, S: Storage<T>, W: Storage<T>, const R: usize> Device<'_, '_, T, S, W, R> {
    #[inline(never)]
    pub(super) fn statistics(&self, [answered, refused]: [u32; 2], kept: Kept) -> Reply {
        Reply::Statistics(Statistics {
            rounds: self.learner.rounds(),
            observations: self.learner.observations(),
            waiting: short(self.learner.waiting(self.policy, 0).count()),
            promotions: short(self.learner.profile().len()),
            answered,
            refused,
            kept,
        })
    }

    /// The frame of an answer that needs nothing from storage.
    #[inline(never)]
    pub(super) fn write(&mut self, buffer: &mut [u8; MAX_FRAME], sequence: u8, answer: Answer) -> Result<usize, Fault> {
        let draft = match answer {
            Answer::Reply(reply) => Draft::reply(buffer, sequence, &reply),
            Answer::Acknowledged(reply) => Draft::reply(buffer, sequence, &reply.into()),
            Answer::Explanation { id, other, first } => return self.write_explanation(buffer, sequence, id, other, first),
            Answer::Hello | Answer::Chunk { .. } | Answer::Event { .. } => {
                let mut draft = Draft::reply(buffer, sequence, &Reply::Hello(hello(self.policy, self.learner)));
                draft.push(self.policy.catalog().definition().name.as_bytes());
                draft
            }
        };
        Ok(seal(draft, 0))
    }

    #[inline(never)]
    fn write_explanation(
        &mut self,
        buffer: &mut [u8; MAX_FRAME],
        sequence: u8,
        id: DecisionId,
        other: Option<Action>,
        first: u16,
    ) -> Result<usize, Fault> {
        let explanation = self.learner.explain(self.policy, self.workspace, id, None, other)?;
        let mut draft = Draft::reply(buffer, sequence, &summary(&explanation));
        for share in explanation.shares().skip(usize::from(first)) {
            if !draft.write(&WireShare::new(&share)) {
                break;
            }
        }
        Ok(seal(draft, 0))
    }

    /// The answer to a request that changes nothing.
    #[inline(never)]
    pub(super) fn question(&mut self, request: &Request) -> Result<Answer, Fault> {
        let Self { policy, learner, workspace } = self;
        let comparison = match request {
            Request::Explain { incarnation, round, other, first } => {
                let id = DecisionId { user: learner.user(), incarnation: *incarnation, round: *round };
                return Ok(Answer::Explanation { id, other: other.map(Action), first: *first });
            }
            Request::Profile { index } => {
                let profile = learner.profile();
                let count = short(profile.len());
                let entry = match profile.get(usize::from(*index)) {
                    Some(promotion) => Some((*promotion, learner.standing(policy, workspace, promotion)?)),
                    None if *index == 0 => None,
                    None => return Err(Fault::Missing),
                };
                return Ok(Answer::Reply(Reply::Promotion { count, entry }));
            }
            Request::Snapshot { offset } => return Ok(Answer::Chunk { offset: *offset }),
            Request::Event { index } => return Ok(Answer::Event { index: *index }),
            Request::Assess { contrast } => {
                Comparison::declared(policy.catalog(), usize::from(*contrast)).ok_or(Fault::Missing)?
            }
            Request::Compare { context, prefer, over, total } => {
                let (context, prefer, over) = (context.context(policy.catalog())?, Action(*prefer), Action(*over));
                Comparison { context, prefer, over, total: *total }
            }
            _ => return Ok(Answer::Hello),
        };
        Ok(Answer::Reply(Reply::Assessment(learner.assess(policy, workspace, &comparison)?)))
    }
}

/// The length of the frame with `count` bytes of payload that were written into its room.
#[inline(never)]
pub(super) fn seal(mut draft: Draft<'_>, count: usize) -> usize {
    draft.extend(count);
    draft.seal().len()
}

fn hello<T: Scalar, S: Storage<T>, const R: usize>(policy: &Policy<'_, T>, learner: &Learner<T, S, R>) -> Hello {
    let catalog = policy.catalog();
    let definition = catalog.definition();
    let byte = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
    Hello {
        protocol: VERSION,
        record: record::VERSION,
        fingerprint: policy.fingerprint(),
        promise: policy.promise(),
        digits: byte(T::DIGITS as usize),
        actions: short(catalog.actions()),
        dimension: short(catalog.dimension()),
        tasks: byte(definition.tasks.len()),
        signals: byte(definition.signals.len()),
        contrasts: byte(definition.contrasts.len()),
        ring: short(R),
        user: learner.user(),
        incarnation: learner.incarnation(),
        rounds: learner.rounds(),
        observations: learner.observations(),
    }
}

fn summary<T: Scalar>(explanation: &Explanation<'_, T>) -> Reply {
    Reply::Explanation {
        chosen: explanation.chosen.0,
        other: explanation.other.0,
        feasible: explanation.feasible,
        explored: explanation.explored,
        chosen_score: explanation.chosen_score as f32,
        other_score: explanation.other_score as f32,
        shares: short(explanation.shares().count()),
    }
}

pub(super) fn short(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

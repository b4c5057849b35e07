//! `POST /feedback`: a metric of a decision, in the shape of TensorZero.
//!
//! What is answered is on disk, except what is answered with `pending`: that waits in memory for other metrics of its decision.

use super::fault::Fault;
use super::feedback_id;
use super::front::{Front, News, Refused, respond_json};
use crate::rewards::{Gathered, Gathering, MetricError, Metrics, Next, Scored, Unheld, Value};
use crate::serve::incoming::Incoming;
use crate::serve::json::{Name, Object, refuse};
use crate::serve::op::Op;
use crate::serve::refusal::{Code, Refusal};
use crate::serve::service::Answered;
use axum::response::Response;
use fable_core::DecisionId;
use serde::Deserialize;
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How often it is looked whether decisions have waited long enough.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said<'a> {
    #[serde(default, borrow)]
    inference_id: Option<Name<'a>>,
    #[serde(default, borrow)]
    episode_id: Option<Name<'a>>,
    #[serde(borrow)]
    metric_name: Name<'a>,
    value: Measured,
    /// Looked at and not kept.
    #[serde(default, rename = "tags")]
    _tags: Option<HashMap<String, String>>,
    #[serde(default)]
    dryrun: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "true, false, a number or a text")]
enum Measured {
    Boolean(bool),
    Number(f64),
    Text(String),
}

impl From<MetricError> for Refused {
    fn from(error: MetricError) -> Self {
        let code = match error {
            MetricError::Unknown { .. } => Code::UnknownName,
            MetricError::Kind { .. } => Code::BadRequest,
            MetricError::NotFinite => Code::OutOfRange,
        };
        Refusal::new(code, error).into()
    }
}

impl From<Unheld> for Refused {
    fn from(unheld: Unheld) -> Self {
        match unheld {
            Unheld::Twice => {
                Self::new(Fault::Code(Code::DuplicateFeedback), "the decision has had this metric")
            }
            Unheld::Full => Self::new(Fault::Busy, "too many decisions wait for their metrics"),
        }
    }
}

/// Whose metric it is, and what it says.
fn decision(said: &Said<'_>) -> Result<DecisionId, Refused> {
    match (&said.inference_id, &said.episode_id) {
        (Some(id), None) | (None, Some(id)) => Ok(id.0.parse().map_err(Refusal::from)?),
        _ => Err(Refused::new(
            Fault::Code(Code::BadRequest),
            "either 'inference_id' or 'episode_id' is the id of a decision",
        )),
    }
}

/// What a body says: whose metric it is, what it is worth, and whether it is only tried.
fn read(metrics: &Metrics, body: &[u8]) -> Result<(DecisionId, Scored, bool), Refused> {
    let said: Result<Object<Said<'_>>, _> = serde_json::from_slice(body);
    let Object(said) = said.map_err(|error| refuse(body, &error))?;
    let decision = decision(&said)?;
    let value = match &said.value {
        Measured::Boolean(value) => Value::Boolean(*value),
        Measured::Number(value) => Value::Float(*value),
        Measured::Text(value) => Value::Text(value),
    };
    Ok((decision, metrics.score(&said.metric_name.0, value)?, said.dryrun == Some(true)))
}

/// What the body of a `POST /feedback` says: whose metric it is and what it is worth, or what is wrong with it.
///
/// ```
/// use fable_std::rewards::Metrics;
/// use fable_std::serve::http::metric_in;
///
/// let metrics = Metrics::default();
/// let wrong = metric_in(&metrics, br#"{"inference_id":"e6f79c19051ffb05-0-1","metric_name":"luck","value":true}"#);
/// assert!(wrong.unwrap_err().contains("luck"));
/// ```
///
/// # Errors
/// A body that is not one, a decision that cannot be, or a metric or value that is not among these metrics.
pub fn metric_in(metrics: &Metrics, body: &[u8]) -> Result<(DecisionId, Scored), String> {
    read(metrics, body).map(|(decision, scored, _)| (decision, scored)).map_err(Refused::into_message)
}

impl Front {
    /// Answers a metric.
    pub(super) async fn feedback(&self, body: &[u8]) -> Result<Response, Refused> {
        let (decision, scored, dryrun) = read(&self.metrics, body)?;
        if dryrun {
            return self.rehearse(decision, scored).await;
        }
        if !self.metrics.waits() {
            return self.learn(decision, self.metrics.reward(&[scored])).await;
        }
        // What waits is not known to the learners: they are asked whether it makes sense to wait.
        let checked = self.ask(check(decision))?.await.map_err(|_| Refused::GONE)?;
        if checked.code.is_some() {
            return Ok(self.answered(checked));
        }
        let next = self.gathering().add(&self.metrics, decision, scored, Instant::now())?;
        match next {
            Next::Waits(missing) => Ok(self.accepted(Some(&missing), None)),
            Next::Ready(gathered) => {
                let learned = self.learn(decision, self.metrics.reward(&gathered.came)).await;
                if learned.as_ref().map_or(true, |response| response.status().is_server_error()) {
                    self.gathering().put_back(gathered);
                }
                learned
            }
        }
    }

    /// Says what would be said.
    async fn rehearse(&self, decision: DecisionId, scored: Scored) -> Result<Response, Refused> {
        let (missing, came) = {
            let gathering = self.gathering();
            let missing = if self.metrics.waits() {
                gathering.look(&self.metrics, decision, scored)?
            } else {
                Vec::new()
            };
            (missing, gathering.with(decision, scored))
        };
        let checked = self.ask(check(decision))?.await.map_err(|_| Refused::GONE)?;
        if checked.code.is_some() {
            return Ok(self.answered(checked));
        }
        let missing = Some(&missing).filter(|missing| !missing.is_empty());
        Ok(self.accepted(missing, self.metrics.reward(&came)))
    }

    /// Gives a decision its reward. Without one nothing is learned, but the decision has to be there.
    async fn learn(&self, decision: DecisionId, reward: Option<f64>) -> Result<Response, Refused> {
        let incoming = reward.map_or_else(|| check(decision), |reward| rewarded(decision, reward));
        let answered = self.ask(incoming)?.await.map_err(|_| Refused::GONE)?;
        if answered.code.is_some() {
            return Ok(self.answered(answered));
        }
        if let Some(reward) = reward {
            self.tell(News::Rewarded(decision, reward));
        }
        Ok(self.accepted(None, reward))
    }

    fn accepted(&self, pending: Option<&Vec<&str>>, reward: Option<f64>) -> Response {
        let id = feedback_id::new(&self.random, SystemTime::now());
        respond_json(&match pending {
            Some(missing) => json!({"feedback_id": id, "pending": missing}),
            None => json!({"feedback_id": id, "reward": reward}),
        })
    }

    fn gathering(&self) -> MutexGuard<'_, Gathering> {
        self.gathering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives decisions that have waited long enough the reward of what came, for ever.
    pub(super) async fn keep_looking(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            loop {
                let Some(gathered) = self.gathering().due(&self.metrics, Instant::now()) else { break };
                if let Err(gathered) = self.settle(gathered).await {
                    self.gathering().hold_again(gathered);
                    break; // it will be looked at again
                }
            }
        }
    }

    /// Gives all that wait their reward, at the end.
    pub(super) async fn finish(&self) {
        let rest: Vec<Gathered> = self.gathering().rest().collect();
        let mut asked = VecDeque::new();
        for gathered in rest {
            loop {
                match self.given(&gathered) {
                    None => {}
                    Some(Ok(answer)) => asked.push_back(answer),
                    // There is room when the oldest is answered.
                    Some(Err(_)) => match asked.pop_front() {
                        Some(oldest) => {
                            self.note(oldest.await.ok().as_ref());
                            continue;
                        }
                        None => self.note(None),
                    },
                }
                break;
            }
        }
        for answer in asked {
            self.note(answer.await.ok().as_ref());
        }
    }

    /// Gives the reward of what came; what could not be given just now comes back.
    async fn settle(&self, gathered: Gathered) -> Result<(), Gathered> {
        let Some(asked) = self.given(&gathered) else { return Ok(()) };
        let answered = match asked {
            Ok(answer) => answer.await.ok(),
            Err(_) => return Err(gathered),
        };
        if answered
            .as_ref()
            .is_some_and(|answered| matches!(answered.code, Some(Code::Storage | Code::Uncertain)))
        {
            return Err(gathered);
        }
        self.note(answered.as_ref());
        Ok(())
    }

    fn given(
        &self,
        gathered: &Gathered,
    ) -> Option<Result<tokio::sync::oneshot::Receiver<Answered>, Refused>> {
        let reward = self.metrics.reward(&gathered.came)?;
        Some(self.ask(rewarded(gathered.decision, reward)))
    }

    fn note(&self, answered: Option<&Answered>) {
        if answered.is_none_or(|answered| answered.code.is_some()) {
            let code = answered.and_then(|answered| answered.code);
            tracing::warn!(?code, "the reward of metrics that waited could not be given");
            self.counters.late();
        }
    }
}

fn check(decision: DecisionId) -> Incoming {
    Incoming { id: None, op: Ok(Op::Check { decision }) }
}

fn rewarded(decision: DecisionId, reward: f64) -> Incoming {
    Incoming { id: None, op: Ok(Op::Feedback { decision, reward, weight: 1.0, at: 0 }) }
}

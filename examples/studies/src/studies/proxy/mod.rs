//! The proxy from end to end: people in words on one side, an assistant over HTTP on the other, `fable proxy` between them.

mod assistant;
mod talk;

use crate::parallel;
use crate::plot::Plot;
use crate::report::{Report, Table, with_interval};
use crate::setup::{Setup, StudyError};
use crate::statistics::{mean, mean_interval};
use assistant::Assistant;
use fable_core::catalog::AGENT;
use fable_core::{Settings, user_hash};
use fable_std::proxy::{Mode, Options, serve_proxy};
use fable_std::serve::http::{HttpOptions, HttpStop};
use fable_std::serve::{self, Service};
use fable_std::text::Rules;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use talk::{Person, TURNS, form_of};
use ureq::Agent;

/// The line in the list of studies.
pub const ABOUT: &str =
    "people who talk to an assistant through `fable proxy`: how soon they are answered in the form they like";

const ROUNDS: u32 = 60;
const STEP: usize = 10;
/// People that nothing was chosen on.
const FIRST: u64 = 700_000;
/// Nobody is to be hurried by a busy machine.
const PATIENT: Duration = Duration::from_mins(10);

/// How people and the assistant come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The assistant alone: requests pass.
    Alone,
    /// What people say next is the reward.
    Words,
    /// The application reports a thumb for every answer.
    Thumbs,
}

const WAYS: [(&str, Way); 3] = [
    ("the assistant alone", Way::Alone),
    ("with `fable proxy`, from what people say", Way::Words),
    ("with `fable proxy`, from thumbs that the application reports", Way::Thumbs),
];

/// What came of somebody's requests.
#[derive(Clone, Debug, Default)]
struct Life {
    /// Whether the answer had the form that was liked, by round.
    liked: Vec<f64>,
    /// What was sent, by its hash.
    sent: Vec<u64>,
    /// Requests that had no decision.
    bypassed: usize,
    /// Reactions that were said, or thumbs that were reported.
    said: u64,
    /// Rewards that were learned.
    learned: u64,
}

/// What came back.
struct Answer {
    status: u16,
    decision: Option<String>,
    body: Value,
}

/// Posts JSON to a service, over a connection that the agent keeps.
fn post(agent: &Agent, url: &str, body: &Value) -> Result<Answer, StudyError> {
    let mut answer = agent.post(url).header("content-type", "application/json").send(body.to_string())?;
    let decision =
        answer.headers().get("x-fable-decision").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let body = serde_json::from_str(&answer.body_mut().read_to_string()?)?;
    Ok(Answer { status: answer.status().as_u16(), decision, body })
}

/// Talks through the proxy at an address.
fn live(proxy: &str, person: &Person, way: Way) -> Result<Life, StudyError> {
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    let agent = Agent::from(config.build());
    let mut life = Life::default();
    let (mut messages, mut said): (Vec<Value>, Option<&str>) = (Vec::new(), None);
    for round in 1..=ROUNDS {
        if (round - 1).is_multiple_of(TURNS) {
            // A new conversation, in which nothing is said about the old one.
            (messages, said) = (vec![json!({"role": "system", "content": "You help people."})], None);
        }
        life.said += u64::from(said.is_some());
        let words = [said.unwrap_or_default(), &person.question(round)].join(" ");
        messages.push(json!({"role": "user", "content": words.trim()}));
        let body = json!({"model": "any", "user": person.name(), "messages": messages});
        life.sent.push(user_hash(&body.to_string()));
        let Answer { decision, body: mut given, .. } =
            post(&agent, &format!("{proxy}/v1/chat/completions"), &body)?;
        let message = given["choices"][0]["message"].take();
        let form = form_of(message["content"].as_str().unwrap_or_default());
        let liked = form == Some(person.wanted(round));
        life.liked.push(f64::from(u8::from(liked)));
        messages.push(message);
        life.bypassed += usize::from(decision.is_none());
        said = None;
        match (way, decision) {
            (Way::Words, _) => said = person.reaction(round, form),
            (Way::Thumbs, Some(id)) => {
                let thumb = if liked { 1.0 } else { -1.0 };
                let report = json!({"inference_id": id, "metric_name": "reward", "value": thumb});
                life.said += u64::from(post(&agent, &format!("{proxy}/feedback"), &report)?.status == 200);
            }
            _ => {}
        }
    }
    let known = post(&agent, &format!("{proxy}/fable/v1/posterior"), &json!({"user": person.name()}))?.body;
    life.learned = known["observations"].as_u64().unwrap_or_default();
    Ok(life)
}

/// Everybody's life one way, through a proxy of its own; how many requests reached the assistant with anything else in them than
/// the application sent and an instruction at the end.
fn lives(setup: &Setup, way: Way) -> Result<(Vec<Life>, usize), StudyError> {
    let assistant = Assistant::start()?;
    let mode = if way == Way::Alone { Mode::Bypass } else { Mode::Apply };
    let address = format!("http://{}", assistant.address).parse()?;
    let options = Options { mode, patience: PATIENT, ..Options::new(address) };
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let http = HttpOptions { address: Some(loopback), timeout: PATIENT, ..HttpOptions::default() };
    let settings =
        Settings { context_adapter: Rules::CONTEXT, feedback_adapter: Rules::FEEDBACK, ..Settings::DEFAULT };
    let (stop, (ready, listening)) = (HttpStop::default(), mpsc::channel());
    let lives = thread::scope(|scope| {
        let serving = scope.spawn(|| {
            Service::run::<f64>(&AGENT, settings, &serve::Options::default(), |service| {
                serve_proxy(service, http, options, &stop, |at| drop(ready.send(at.to_vec())))
            })
        });
        // Ends with an error when the proxy ends before it listens.
        let at = listening.recv().map_err(|_| StudyError::Failed("the proxy does not listen".into()));
        let lives = at.and_then(|at| {
            let at = at.first().map(String::as_str).unwrap_or_default();
            parallel::map(setup, "proxy", setup.scale(100, 2), |index| {
                live(at, &Person::new(FIRST + index as u64), way)
            })
        });
        stop.stop();
        serving.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        lives
    })?;
    let sent: BTreeSet<u64> = lives.iter().flat_map(|life| life.sent.iter().copied()).collect();
    let as_sent = |asked: Value| sent.contains(&user_hash(&without_instruction(asked, way).to_string()));
    let other = assistant.asked().into_iter().filter(|asked| !as_sent(asked.clone())).count();
    Ok((lives, other))
}

/// What the assistant was asked, without the one message of the system at its end that tells it something, where there has to be one.
fn without_instruction(mut body: Value, way: Way) -> Value {
    if way != Way::Alone
        && let Some(messages) = body["messages"].as_array_mut()
        && let Some(last) = messages.pop()
        && last["role"] != "system"
    {
        messages.push(last);
    }
    body
}

/// Shares of liked answers in some rounds, by life.
fn shares(lives: &[Life], rounds: Range<usize>) -> Vec<f64> {
    lives.iter().map(|life| mean(life.liked.get(rounds.clone()).unwrap_or_default())).collect()
}

/// Runs the study.
///
/// # Errors
/// There is no port to listen at, or what the proxy says.
pub fn run(setup: &Setup) -> Result<Report, StudyError> {
    let mut report = Report::new("people who talk to an assistant through `fable proxy`");
    report.text(&format!(
        "The proxy as it ships, over HTTP on this machine, with the catalog `agent`; a hundred people, {ROUNDS} requests each in
         conversations of {TURNS}, of two kinds (Python functions and plans), in words. For each kind a person likes one of four
         forms of an answer: brief, direct, in detail, step by step. The assistant stands for a model: it gives the form that the
         last instruction tells, except that once in ten times, by a die, it does not listen and answers in detail, as it does
         alone. So 90% is about what can be had where something else than details is liked. The person sees the answer and no
         action, and says something about every second one, with the next request, \"Thanks, perfect.\", \"That was too long.\",
         \"That was too short.\" or, to a question, \"No, that is not what I asked for.\"; after the last request of a
         conversation nobody says anything. Requests and reactions are read by the rules of `fable-text`, nothing is stated
         beforehand, no tools are offered. It is a replica of an assistant and of people, not a measurement of either. The goals
         were written down before the first full run.",
    ));
    let mut outcomes = Vec::new();
    for (_, way) in WAYS {
        outcomes.push(lives(setup, way)?);
    }
    let windows: Vec<Range<usize>> =
        (0..ROUNDS as usize).step_by(STEP).map(|first| first..first + STEP).collect();
    let heads = windows.iter().map(|window| format!("requests {} to {}", window.start + 1, window.end));
    let heads: Vec<String> =
        ["answers in the form that is liked".to_owned()].into_iter().chain(heads).collect();
    let mut table = Table::new("liked", &heads);
    let mut plot =
        Plot::new("liked", "Share of answers in the form that is liked, by request", "request", "share");
    for ((name, way), (lives, _)) in WAYS.iter().zip(&outcomes) {
        let values: Vec<f64> = windows.iter().map(|window| mean(&shares(lives, window.clone()))).collect();
        table.row(
            [(*name).to_owned()]
                .into_iter()
                .chain(values.iter().map(|share| format!("{:.0}%", 100.0 * share))),
        );
        let points =
            windows.iter().zip(&values).map(|(window, share)| (window.start as f64 + 5.5, *share)).collect();
        let name = name.replace('`', "");
        if *way == Way::Alone {
            plot.dashed(&name, points);
        } else {
            plot.curve(&name, points);
        }
        for (window, share) in windows.iter().zip(values) {
            report.number(format!("{name}: {} to {}", window.start + 1, window.end), share);
        }
    }
    report.table(table);
    report.plot(plot);
    let mut loops = Table::new(
        "loop",
        &["", "requests", "without a decision", "said or reported", "rewards learned", "otherwise changed"],
    );
    for ((name, _), (lives, other)) in WAYS.iter().zip(&outcomes) {
        let sum = |of: fn(&Life) -> u64| lives.iter().map(of).sum::<u64>();
        let (said, learned) = (sum(|life| life.said), sum(|life| life.learned));
        let bypassed: usize = lives.iter().map(|life| life.bypassed).sum();
        let requests = lives.len() * ROUNDS as usize;
        let counts = [
            requests.to_string(),
            bypassed.to_string(),
            said.to_string(),
            learned.to_string(),
            other.to_string(),
        ];
        loops.row([(*name).to_owned()].into_iter().chain(counts));
        report.number(format!("{}: said", name.replace('`', "")), said as f64);
        report.number(format!("{}: learned", name.replace('`', "")), learned as f64);
    }
    report.table(loops);
    report.text(
        "The last column counts requests that reached the assistant with anything else changed than one instruction after the
         last message. People here say what the rules understand. In a small run before the goals were set, two people said
         instead which form they wished for (\"No, just answer directly.\"); 14 of 53 such reactions were learned from, and
         hardly anything was learned. So the second row is for people who are understood; an application that has buttons is
         better off with the third.",
    );
    goals(&mut report, &outcomes);
    Ok(report)
}

fn goals(report: &mut Report, outcomes: &[(Vec<Life>, usize)]) {
    report.goals_set("2026-11-18");
    let [(alone, _), (words, in_words), (thumbs, by_thumbs)] = outcomes else { return };
    let all = 0..ROUNDS as usize;
    let gained: Vec<f64> = shares(words, all.clone())
        .iter()
        .zip(shares(alone, all))
        .map(|(with, without)| with - without)
        .collect();
    report.goal(
        "from what people say, requests 1 to 60: more liked answers than the assistant alone, beyond chance",
        with_interval(mean(&gained), mean_interval(&gained)),
        mean_interval(&gained).0 > 0.0,
    );
    let last = ROUNDS as usize - STEP..ROUNDS as usize;
    for (name, lives, least) in [("from what people say", words, 0.7), ("from thumbs", thumbs, 0.75)] {
        let share = mean(&shares(lives, last.clone()));
        let what = format!(
            "{name}, requests 51 to 60: at least {:.0}% of answers in the form that is liked",
            100.0 * least
        );
        report.goal(&what, format!("{:.0}%", 100.0 * share), share >= least);
    }
    let bypassed: usize = words.iter().chain(thumbs).map(|life| life.bypassed).sum();
    report.goal("no request without a decision", bypassed.to_string(), bypassed == 0);
    let other = in_words + by_thumbs;
    report.goal(
        "no request changed otherwise than by one instruction at its end",
        other.to_string(),
        other == 0,
    );
    let (said, learned) =
        words.iter().fold((0, 0), |(said, learned), life| (said + life.said, learned + life.learned));
    let heard = learned as f64 / said.max(1) as f64;
    report.goal(
        "rewards learned from words: 95% to 105% of the reactions that were said",
        format!("{learned} of {said}"),
        (0.95..=1.05).contains(&heard),
    );
    let (said, learned) =
        thumbs.iter().fold((0, 0), |(said, learned), life| (said + life.said, learned + life.learned));
    report.goal(
        "rewards learned from thumbs: every one that was reported",
        format!("{learned} of {said}"),
        learned == said,
    );
}

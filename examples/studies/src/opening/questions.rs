//! The table of questions: question, result, data.

use super::Results;

type Row = [String; 3];

/// As many questions are asked.
#[cfg(test)]
pub(super) const ASKED: usize = QUESTIONS.len();

const QUESTIONS: &[fn(&Results) -> Option<Row>] =
    &[learns, published, people, prompts, talks, changes, wrongly, fails];

/// The questions that the results answer.
pub(super) fn rows(results: &Results) -> Vec<Row> {
    QUESTIONS.iter().filter_map(|question| question(results)).collect()
}

fn row(asked: &str, came_out: String, on: &str) -> Row {
    [asked.into(), came_out, on.into()]
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn learns(results: &Results) -> Option<Row> {
    let reward = |when, who| results.cell("overview-curves", when, who);
    let (first, last) = ("1 to 5", "56 to 60");
    Some(row(
        "Does it learn the taste of a new user?",
        format!(
            "The mean reward grows from {} in the first five requests to {} in the last five of 60. Rules alone have {}; the best \
             possible is {}",
            reward(first, "Fable")?,
            reward(last, "Fable")?,
            reward(last, "rules")?,
            reward(last, "best")?
        ),
        "simulated users with 180 ways to be answered (`overview`)",
    ))
}

fn published(results: &Results) -> Option<Row> {
    let regret = |column| results.cell("adapt-regret", "as shipped", column);
    Some(row(
        "Is it better than the method as it was published?",
        format!(
            "Over 200 requests its regret is {} of that of the published draw with graded reactions, and {} with thumbs up or down",
            regret("`agent`, graded, 200")?,
            regret("`agent`, thumbs, 200")?
        ),
        "other simulated users (`adapt`); in brackets 95% intervals",
    ))
}

fn people(results: &Results) -> Option<Row> {
    let hits = |column| results.number("people-camera", "as shipped", column);
    let regret = |column| results.number("people-computer", "as shipped", column);
    let (alone, with) = (regret("base")?, regret("fitted")?);
    Some(row(
        "Does it find the choices of real people, from the first request on?",
        format!(
            "Cameras: it picks the one of four that the person took in {} of up to 16 choices, and in {} with a prior from other people; \
             chance has 25%. Computers: regret per request is {alone:.3}, and {with:.3} with a prior from other people",
            percent(hits("base")?),
            percent(hits("fitted")?),
        ),
        "265 people who chose cameras, 190 who rated computers (`people`)",
    ))
}

fn prompts(results: &Results) -> Option<Row> {
    let share = |policy, column| results.cell("prompts-outcomes", policy, column);
    Some(row(
        "Does it find the right prompt style for each kind of exam?",
        format!(
            "It closes {} of the gap between the one best style and the best style of each exam in 300 questions, and {} in 3,000. Tuned \
             for that, it closes {} and {}",
            share("Fable, shipped", "300 rounds")?,
            share("Fable, shipped", "3000 rounds")?,
            share("Fable, tuned for the frozen", "300 rounds")?,
            share("Fable, tuned for the frozen", "3000 rounds")?
        ),
        "recorded answers of a language model to ten exams (`prompts`)",
    ))
}

fn talks(results: &Results) -> Option<Row> {
    let share = |who, when| results.cell("proxy-liked", who, when);
    let (first, last) = ("requests 1 to 10", "requests 51 to 60");
    Some(row(
        "Does it work around an assistant, from the words of users alone?",
        format!(
            "Answers in the form that the user likes grow from {} in the first ten requests to {} in the last ten of 60. The assistant \
             alone has {}",
            share("with `fable proxy`, from what people say", first)?,
            share("with `fable proxy`, from what people say", last)?,
            share("the assistant alone", last)?
        ),
        "`fable proxy` over HTTP, between simulated users and a simulated assistant (`proxy`)",
    ))
}

fn changes(results: &Results) -> Option<Row> {
    let noticed = |who| results.cell("drift-noticed", who, "noticed");
    Some(row(
        "Does it notice when a user changes?",
        format!(
            "A change of all tastes is noticed within 50 reactions in {} lives; a change in one of three components in {}. A reset on a \
             change has {} of the regret of no reset, after all tastes have changed",
            noticed("`agent`, changes altogether")?,
            noticed("`agent`, changes in one component")?,
            results.cell("drift-agent", "as shipped, reset", "changes altogether")?
        ),
        "other simulated users (`drift`)",
    ))
}

fn wrongly(results: &Results) -> Option<Row> {
    let lives = |row| results.cell("probes-false", row, "lives with a certificate");
    Some(row(
        "How often is a preference certified that no user has?",
        format!(
            "In {} of lives with graded reactions and {} with thumbs; at most 5% are allowed. If users are silent whenever they are \
             displeased, in {}",
            lives("tau2, graded, noise of sd 0.3, coins in every round")?,
            lives("tau2, thumbs, coins in every round")?,
            lives("tau2, silence that is chosen, coins in every round")?
        ),
        "simulated users without any preference (`probes`)",
    ))
}

fn fails(results: &Results) -> Option<Row> {
    const SHIPPED: &str = "Fable (full), shipped defaults";
    const LEARNING: &str = "3: learning after the drift";
    const HELD_OUT: &str = "4: held out";
    let quality =
        |row, phase| results.number("pahf-shopping-quality", row, phase).map(|value| format!("{value:.2}"));
    Some(row(
        "Where does it do badly?",
        format!(
            "Shoppers who mostly want nothing on offer after a change of tastes. Held out, the paper's settings have a quality of {}, the \
             shipped ones {}, always buying nothing {}, the best possible {}. While the new tastes are learned, the shipped settings have {} \
             and buying nothing {}",
            quality("Fable (full)", HELD_OUT)?,
            quality(SHIPPED, HELD_OUT)?,
            quality("Rule-only", HELD_OUT)?,
            quality("Oracle", HELD_OUT)?,
            quality(SHIPPED, LEARNING)?,
            quality("Rule-only", LEARNING)?
        ),
        "20 shoppers of a published benchmark (`pahf-shopping`)",
    ))
}

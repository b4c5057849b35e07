//! What a run costs, before it starts.
//!
//! How many calls there are is known; what they are about is known but for the instruction that will be chosen. So prompts are
//! written with an action that stands for all and counted at four characters per token; the length of answers is assumed.

use super::wording::Role;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

/// Characters of English or TeX in a token, roughly.
const CHARACTERS: usize = 4;

/// Calls of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    /// The kind, the last part of their places.
    pub kind: &'static str,
    /// Who is asked.
    pub role: Role,
    /// How many, as far as is known.
    pub count: usize,
    /// How many there may be if the model wants more turns.
    pub most: usize,
    /// Tokens of a request and of an answer, on average.
    pub tokens: (f64, f64),
}

impl Calls {
    /// Tokens of all requests and answers.
    fn sums(&self) -> (f64, f64) {
        let count = self.count as f64;
        (count * self.tokens.0, count * self.tokens.1)
    }
}

/// Roughly the tokens of a text.
#[must_use]
pub const fn tokens(text: &str) -> usize {
    text.len().div_ceil(CHARACTERS)
}

/// The mean number of tokens of some texts.
#[must_use]
pub fn mean_tokens(texts: impl IntoIterator<Item = String>) -> f64 {
    let (sum, count) =
        texts.into_iter().fold((0, 0_usize), |(sum, count), text| (sum + tokens(&text), count + 1));
    sum as f64 / count.max(1) as f64
}

/// What an experiment will ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The experiment.
    pub name: &'static str,
    /// The calls by kind.
    pub calls: Vec<Calls>,
}

impl Plan {
    /// How many calls there are in all, as far as is known.
    #[must_use]
    pub fn count(&self) -> usize {
        self.calls.iter().map(|calls| calls.count).sum()
    }

    /// What is left when these calls have been answered.
    #[must_use]
    pub fn without(mut self, cached: &BTreeMap<String, usize>) -> Self {
        for calls in &mut self.calls {
            let done = cached.get(calls.kind).copied().unwrap_or_default();
            // The last turn may be missing even where there were more than were expected.
            calls.count = calls.count.saturating_sub(done);
            calls.most = calls.most.saturating_sub(done);
        }
        self
    }
}

/// Money for a million tokens of requests and of answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Of the model that is measured.
    pub host: (f64, f64),
    /// Of the judge.
    pub judge: (f64, f64),
}

/// A number with its thousands apart.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The plans as a table with its sum, and the price where prices are known.
#[must_use]
pub fn table(plans: &[Plan], prices: Option<Prices>) -> String {
    let mut text = String::new();
    let mut row = |calls: &str, asks: &str, numbers: [String; 4]| {
        let [number, most, sent, received] = numbers;
        let _ = writeln!(text, "  {calls:<24} {asks:<6} {number:>8} {most:>8} {sent:>14} {received:>14}");
    };
    row("calls", "asks", ["number", "at most", "prompt tokens", "answer tokens"].map(str::to_owned));
    let (mut all, mut price) = ([0.0; 4], 0.0);
    for (plan, calls) in plans.iter().flat_map(|plan| plan.calls.iter().map(move |calls| (plan, calls))) {
        let (sent, received) = calls.sums();
        let numbers = [calls.count as f64, calls.most as f64, sent, received];
        let (who, (per_sent, per_received)) = match calls.role {
            Role::Host => ("model", prices.map_or((0.0, 0.0), |prices| prices.host)),
            Role::Judge => ("judge", prices.map_or((0.0, 0.0), |prices| prices.judge)),
        };
        price += (sent * per_sent + received * per_received) / 1e6;
        row(&format!("{} {}", plan.name, calls.kind), who, numbers.map(grouped));
        all = std::array::from_fn(|part| all[part] + numbers[part]);
    }
    row("in all", "", all.map(grouped));
    let _ = match prices {
        Some(_) => writeln!(text, "  price: about {price:.2} at the prices given"),
        None => writeln!(text, "  price: not known; --price-in and --price-out give it"),
    };
    text + "  Tokens are estimates: four characters each in prompts, usual lengths for answers; thoughts of a model come on top."
}

/// Where a run talks to a person.
pub struct Console<'c> {
    /// Whether somebody is there who can be asked.
    pub terminal: bool,
    /// What they say.
    pub input: &'c mut dyn BufRead,
    /// What they are told.
    pub output: &'c mut dyn Write,
}

impl Console<'_> {
    /// Says something. Nobody listening is not a reason to stop.
    pub fn say(&mut self, text: &str) {
        let _ = writeln!(self.output, "{text}");
    }

    /// Whether to go on: `--yes`, or a yes on a terminal. `None` when there is nobody to ask.
    ///
    /// # Errors
    /// What the terminal says.
    pub fn confirmed(&mut self, yes: bool) -> io::Result<Option<bool>> {
        if yes {
            return Ok(Some(true));
        }
        if !self.terminal {
            return Ok(None);
        }
        write!(self.output, "Go on? [y/N] ")?;
        self.output.flush()?;
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        Ok(Some(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_adds_up_and_says_its_price() {
        let answers =
            Calls { kind: "answer", role: Role::Host, count: 1000, most: 4000, tokens: (250.0, 500.0) };
        let judge =
            Calls { kind: "judge", role: Role::Judge, count: 1000, most: 3000, tokens: (1000.0, 50.0) };
        let plan = Plan { name: "tau2", calls: vec![answers, judge] };
        let prices = |judge| Some(Prices { host: (0.5, 2.0), judge });
        let text = table(std::slice::from_ref(&plan), prices((0.5, 2.0)));
        for part in ["tau2 judge ", " 2,000    7,000      1,250,000        550,000", "about 1.73 at"] {
            assert!(text.contains(part), "{text}");
        }
        // 0.125 + 1 for answers, 3 + 0.5 for the judge
        assert!(table(std::slice::from_ref(&plan), prices((3.0, 10.0))).contains("about 4.62 at"));
        assert!(table(&[plan.clone(), plan.clone()], None).contains(" 4,000   14,000 "));
        assert!(table(std::slice::from_ref(&plan), None).contains("not known"));
        let rest = plan.without(&BTreeMap::from([("answer".to_owned(), 1500), ("judge".to_owned(), 999)]));
        assert_eq!((rest.count(), rest.calls[0].most), (1, 2500));
        assert_eq!([tokens(""), tokens("a"), tokens("abcde")], [0, 1, 2]);
    }

    #[test]
    fn only_a_yes_is_a_yes() {
        let answer = |yes, terminal, text: &str| {
            let mut shown = Vec::new();
            let answer =
                Console { terminal, input: &mut text.as_bytes(), output: &mut shown }.confirmed(yes).unwrap();
            (answer, !shown.is_empty())
        };
        assert_eq!(answer(true, false, ""), (Some(true), false));
        assert_eq!(answer(false, false, "y\n"), (None, false));
        for (text, expected) in
            [("y\n", true), ("YES\n", true), ("\n", false), ("", false), ("n\n", false), ("yep\n", false)]
        {
            assert_eq!(answer(false, true, text), (Some(expected), true), "{text:?}");
        }
    }
}

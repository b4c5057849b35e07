//! The options of a run against a model.

use super::cost::Prices;
use super::wording::Wording;
use clap::Args;
use std::num::NonZero;
use std::path::PathBuf;

/// Against a real model.
#[expect(clippy::struct_excessive_bools, reason = "switches, each on its own")]
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Against a real model")]
pub struct Options {
    /// The address before `/chat/completions`, like `https://api.openai.com/v1`. Asks a model there in `two-direction`,
    /// `rubric` (Math500) and `tau2`, or in those that are named.
    #[arg(long, value_name = "URL", requires = "model")]
    pub endpoint: Option<String>,
    /// The model that is measured.
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    pub model: Option<String>,
    /// The model that judges and plays the customers of tau2; without it the same.
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    pub judge: Option<String>,
    /// Where every answer is kept, by the hash of its request; without it OUT/transcripts. A run goes on where it stopped.
    #[arg(long, value_name = "DIR", requires = "endpoint")]
    pub transcripts: Option<PathBuf>,
    /// The environment variable with the API key. The key is sent to the endpoint and is never stored, logged or shown; a
    /// server of one's own needs none.
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY", requires = "endpoint")]
    pub key_env: String,
    /// Says what the run would cost, and stops: nothing is asked.
    #[arg(long, requires = "endpoint")]
    pub dry_run: bool,
    /// Starts without asking whether the cost is fine.
    #[arg(long, requires = "endpoint")]
    pub yes: bool,
    /// Money for a million tokens of requests; makes a price of the estimate.
    #[arg(long, value_name = "PRICE", value_parser = price, requires = "price_out")]
    pub price_in: Option<f64>,
    /// Money for a million tokens of answers.
    #[arg(long, value_name = "PRICE", value_parser = price, requires = "price_in", requires = "endpoint")]
    pub price_out: Option<f64>,
    /// The same for the judge; without it that of the model.
    #[arg(long, value_name = "PRICE", value_parser = price, requires = "price_in")]
    pub judge_price_in: Option<f64>,
    /// The same for the judge; without it that of the model.
    #[arg(long, value_name = "PRICE", value_parser = price, requires = "price_in")]
    pub judge_price_out: Option<f64>,
    /// Only so many prompts, problems or tasks in each phase.
    #[arg(long, value_name = "N", requires = "endpoint")]
    pub limit: Option<NonZero<usize>>,
    /// Only so many of the paper's seeds.
    #[arg(long, value_name = "N", requires = "endpoint")]
    pub seeds: Option<NonZero<usize>>,
    /// Equal requests share one answer: fewer calls, and policies that choose the same do not differ by luck.
    #[arg(long, requires = "endpoint")]
    pub share: bool,
    /// The temperature, or `none` to leave it out, for models that refuse it.
    #[arg(long, value_name = "T", default_value = "0", value_parser = temperature, requires = "endpoint")]
    pub temperature: Temperature,
    /// Calls the limit of tokens `max_completion_tokens`, for models that refuse `max_tokens`.
    #[arg(long, requires = "endpoint")]
    pub max_completion_tokens: bool,
    /// Tokens on top of the experiments' limits, for a model that thinks before it answers.
    #[arg(long, value_name = "TOKENS", default_value_t = 0, requires = "endpoint")]
    pub thoughts: u32,
    /// How many seconds a call may take.
    #[arg(long, value_name = "SECONDS", default_value = "120", requires = "endpoint")]
    pub timeout: NonZero<u32>,
    /// How often a call is tried again after a status 429 or 5xx, a time-out, a broken connection or an answer that is not one.
    #[arg(long, value_name = "N", default_value_t = 6, requires = "endpoint")]
    pub retries: u32,
    /// Milliseconds before the first such try, twice as many before the next, unless the server says how long.
    #[arg(long, value_name = "MS", default_value_t = 1000, requires = "endpoint")]
    pub wait: u64,
    /// The paper's source, from which the prompts of `two-direction` are read.
    #[arg(long, value_name = "PATH", default_value = "../shared/paper/fable.tex", requires = "endpoint")]
    pub paper: PathBuf,
}

impl Options {
    /// The prices, where they are given.
    #[must_use]
    pub fn prices(&self) -> Option<Prices> {
        let host = self.price_in.zip(self.price_out)?;
        let judge = (self.judge_price_in.unwrap_or(host.0), self.judge_price_out.unwrap_or(host.1));
        Some(Prices { host, judge })
    }

    /// How requests are written.
    #[must_use]
    pub fn wording(&self) -> Wording {
        let host = self.model.clone().unwrap_or_default();
        Wording {
            judge: self.judge.clone().unwrap_or_else(|| host.clone()),
            host,
            temperature: self.temperature.0,
            new_limit: self.max_completion_tokens,
            thoughts: self.thoughts,
            share: self.share,
        }
    }

    /// Where a run goes that was not told: a folder for each model.
    #[must_use]
    pub fn usual_out(&self) -> PathBuf {
        let name = self.model.as_deref().unwrap_or_default();
        let safe = |letter: char| {
            if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }
        };
        PathBuf::from("runs").join(name.chars().map(safe).collect::<String>().trim_start_matches('.'))
    }
}

/// A temperature, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperature(pub Option<f64>);

fn temperature(text: &str) -> Result<Temperature, String> {
    if text == "none" {
        return Ok(Temperature(None));
    }
    match text.parse::<f64>() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(Temperature(Some(value))),
        _ => Err("a number from 0 to 2, or none".into()),
    }
}

fn price(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|price| price.is_finite() && *price >= 0.0)
        .ok_or_else(|| "a price from 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }

    fn parsed(arguments: &[&str]) -> Result<Options, clap::Error> {
        let start = ["studies", "--endpoint", "http://localhost:1/v1", "--model", "qwen/../qwen3:8b"];
        Command::try_parse_from(start.iter().chain(arguments)).map(|command| command.options)
    }

    #[test]
    fn what_is_not_said_has_a_sensible_default() {
        let options = parsed(&[]).unwrap();
        let wording = options.wording();
        assert_eq!((wording.judge, wording.temperature, wording.thoughts), (wording.host, Some(0.0), 0));
        assert_eq!((options.usual_out(), options.prices()), (PathBuf::from("runs/qwen-..-qwen3-8b"), None));
        let options =
            parsed(&["--judge", "big", "--price-in", "1", "--price-out", "2", "--judge-price-out", "9"])
                .unwrap();
        assert_eq!((options.wording().judge.as_str(), options.prices().unwrap().judge), ("big", (1.0, 9.0)));
        // Half a price would be a wrong one.
        assert!(parsed(&["--price-in", "1"]).is_err());
        assert!(parsed(&["--judge-price-in", "1"]).is_err());
        assert!(Command::try_parse_from(["studies", "--yes"]).is_err());
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(["0", "none", "2"].map(|text| temperature(text).unwrap().0), [Some(0.0), None, Some(2.0)]);
        assert!(["-1", "NaN", "3", "", "hot"].iter().all(|text| temperature(text).is_err()));
        assert_eq!(price("0.27"), Ok(0.27));
        assert!(["-1", "NaN", "inf", "much"].iter().all(|text| price(text).is_err()));
    }
}

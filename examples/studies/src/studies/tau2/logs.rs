//! The recorded runs of tau2-bench as text: rows, pass rates, steps and splits, each with the line of what is wrong in it.

use serde::Deserialize;
use std::collections::BTreeSet;
use std::str::FromStr;

/// The domains, as the files name them and in the order of the study.
pub const NAMES: [&str; 4] = ["airline", "retail", "telecom", "banking_knowledge"];

/// A recorded simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub domain: usize,
    /// `default`, or `no-user` where the agent has the customer's tools and nobody to talk to.
    pub mode: String,
    pub arm: String,
    pub task: String,
    pub solved: bool,
    /// Words of the agent per turn in which it says something.
    pub words: f64,
    pub calls: f64,
}

/// The named columns of every row, with the number of its line.
fn columns<'a, const N: usize>(
    text: &'a str,
    names: [&str; N],
) -> Result<Vec<(usize, [&'a str; N])>, String> {
    let heads: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        *place = heads
            .iter()
            .position(|head| *head == name)
            .ok_or_else(|| format!("line 1: there is no column {name}"))?;
    }
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() != heads.len() {
            return Err(format!("line {}: {} fields instead of {}", number + 1, cells.len(), heads.len()));
        }
        rows.push((number + 1, places.map(|place| cells.get(place).copied().unwrap_or_default())));
    }
    Ok(rows)
}

/// The number in a cell.
fn number<T: FromStr>(line: usize, what: &str, cell: &str) -> Result<T, String> {
    cell.parse().map_err(|_| format!("line {line}: '{cell}' is not a number ({what})"))
}

/// A number that is not negative.
fn amount(line: usize, what: &str, cell: &str) -> Result<f64, String> {
    let value: f64 = number(line, what, cell)?;
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!("line {line}: '{cell}' is not an amount ({what})"))
    }
}

fn domain(line: usize, cell: &str) -> Result<usize, String> {
    NAMES
        .iter()
        .position(|name| *name == cell)
        .ok_or_else(|| format!("line {line}: there is no domain '{cell}'"))
}

/// The simulations in the repository's own branches and tags, and how many of pull requests were left out.
pub fn episodes(text: &str) -> Result<(Vec<Row>, usize), String> {
    let names =
        ["domain", "mode", "arm", "task_id", "reward", "agent_words_per_turn", "agent_tool_calls", "ref"];
    let (mut rows, mut left_out, mut seen) = (Vec::new(), 0, BTreeSet::new());
    for (line, [in_domain, mode, arm, task, reward, words, calls, reference]) in columns(text, names)? {
        if !matches!(mode, "default" | "no-user") {
            return Err(format!("line {line}: there is no mode '{mode}'"));
        }
        let solved = match amount(line, "reward", reward)? {
            0.0 => false,
            1.0 => true,
            _ => return Err(format!("line {line}: a reward of {reward} instead of 0 or 1")),
        };
        let row = Row {
            domain: domain(line, in_domain)?,
            mode: mode.into(),
            arm: arm.into(),
            task: task.into(),
            solved,
            words: amount(line, "words per turn", words)?,
            calls: amount(line, "tool calls", calls)?,
        };
        if !seen.insert((row.domain, row.mode.clone(), row.arm.clone(), row.task.clone())) {
            return Err(format!("line {line}: a second trial of task {task} by {arm}"));
        }
        if reference.starts_with("refs/pull/") {
            left_out += 1;
        } else {
            rows.push(row);
        }
    }
    Ok((rows, left_out))
}

/// The shares of tasks of a domain that a submission solved in one trial and in two of two.
pub fn passes(text: &str, submission: &str, wanted: usize) -> Result<(f64, f64), String> {
    for (line, [name, in_domain, one, two]) in columns(text, ["submission", "domain", "pass_1", "pass_2"])? {
        if name != submission || domain(line, in_domain)? != wanted {
            continue;
        }
        let (one, two) = (amount(line, "pass_1", one)? / 100.0, amount(line, "pass_2", two)? / 100.0);
        // What is solved twice is solved once, and at least as often as by independent trials.
        if one <= 0.0 || one >= 1.0 || two > one || two < one * one {
            return Err(format!("line {line}: pass_1 {one} and pass_2 {two} cannot be"));
        }
        return Ok((one, two));
    }
    Err(format!("there is no submission {submission} with the domain {}", NAMES.get(wanted).unwrap_or(&"")))
}

/// The share of steps that a model did in a mode; a step counts as often as tasks need it. Two lines of heads.
pub fn steps(text: &str, model: &str, mode: &str) -> Result<f64, String> {
    let mut lines =
        text.lines().enumerate().map(|(number, line)| (number + 1, line.split(',').collect::<Vec<_>>()));
    let (Some((_, models)), Some((_, modes))) = (lines.next(), lines.next()) else {
        return Err("line 1: there are no two lines of heads".into());
    };
    let place = models.iter().zip(&modes).position(|head| head == (&model, &mode));
    let place = place.ok_or_else(|| format!("line 1: there is no column {model} with {mode}"))?;
    let (mut done, mut all) = (0.0, 0.0);
    for (line, cells) in lines {
        let (Some(rate), Some(frequency)) = (cells.get(place), cells.get(models.len() - 1)) else {
            return Err(format!("line {line}: {} fields instead of {}", cells.len(), models.len()));
        };
        let (rate, frequency) = (amount(line, "rate", rate)?, amount(line, "frequency", frequency)?);
        if rate > 1.0 {
            return Err(format!("line {line}: a rate of {rate}"));
        }
        done += rate * frequency;
        all += frequency;
    }
    if all > 0.0 { Ok(done / all) } else { Err("line 3: there are no steps".into()) }
}

/// How long answers were when brevity was asked for, and when a plan and a summary were, compared with plain steps.
pub fn instructed(text: &str) -> Result<(f64, f64), String> {
    let mut sums = [(0.0, 0.0); 3];
    for (line, [prompt, attempts, tokens]) in columns(text, ["prompt", "n_attempts", "output_tokens"])? {
        let Some(place) =
            ["chain_of_thought", "concise", "composite"].iter().position(|name| *name == prompt)
        else {
            continue;
        };
        let Some((sum, count)) = sums.get_mut(place) else { continue };
        *sum += amount(line, "output tokens", tokens)?;
        *count += amount(line, "attempts", attempts)?;
    }
    let [plain, concise, composite] = sums.map(|(sum, count)| sum / count);
    let ratios = (concise / plain, composite / plain);
    if ratios.0 > 0.0 && ratios.1.is_finite() { Ok(ratios) } else { Err("a prompt without answers".into()) }
}

/// The names of the tasks for training and for tests.
pub fn split(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
    #[derive(Deserialize)]
    struct Split {
        train: Vec<String>,
        test: Vec<String>,
    }
    let split: Split = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match split.train.iter().find(|task| split.test.contains(task)) {
        Some(task) => Err(format!("task {task} is for training and for tests")),
        None => Ok((split.train, split.test)),
    }
}

/// How many tasks are in a list of them.
pub fn count(text: &str) -> Result<usize, String> {
    #[derive(Deserialize)]
    struct Task {
        id: String,
    }
    let tasks: Vec<Task> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    if names.len() == tasks.len() { Ok(names.len()) } else { Err("two tasks have one name".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: &str = "domain,mode,arm,task_id,reward,agent_words_per_turn,agent_tool_calls,ref";

    fn failure(rows: &str) -> String {
        episodes(&format!("{HEADS}\nairline,default,a,1,1.0,60.5,3,refs/heads/x\n{rows}\n")).unwrap_err()
    }

    #[test]
    fn rows_are_read_and_those_of_pull_requests_are_left_out() {
        let text = format!(
            "{HEADS}\ntelecom,no-user,a,[x|y],0.0,1,14,refs/tags/v1\nretail,default,b,7,1.0,50,2,refs/pull/3/head\n"
        );
        let (rows, left_out) = episodes(&text).unwrap();
        assert_eq!((rows.len(), left_out), (1, 1));
        let row = &rows[0];
        assert_eq!((row.domain, row.mode.as_str(), row.task.as_str()), (2, "no-user", "[x|y]"));
        assert_eq!((row.solved, row.words, row.calls), (false, 1.0, 14.0));
    }

    #[test]
    fn a_bad_row_is_named_by_its_line() {
        for (rows, reason) in [
            ("airline,default,a,2,1.0,60.5,3", "line 3: 7 fields instead of 8"),
            ("hotel,default,a,2,1.0,60.5,3,r", "line 3: there is no domain 'hotel'"),
            ("airline,solo,a,2,1.0,60.5,3,r", "line 3: there is no mode 'solo'"),
            ("airline,default,a,2,0.5,60.5,3,r", "line 3: a reward of 0.5 instead of 0 or 1"),
            ("airline,default,a,2,1.0,many,3,r", "line 3: 'many' is not a number (words per turn)"),
            ("airline,default,a,2,1.0,-4,3,r", "line 3: '-4' is not an amount (words per turn)"),
            ("airline,default,a,2,1.0,NaN,3,r", "line 3: 'NaN' is not an amount (words per turn)"),
            (
                "airline,default,a,2,1.0,60,3,r\nairline,default,a,1,0.0,60,3,r",
                "line 4: a second trial of task 1 by a",
            ),
        ] {
            assert_eq!(failure(rows), reason);
        }
        assert_eq!(episodes("domain,mode\n").unwrap_err(), "line 1: there is no column arm");
    }

    #[test]
    fn pass_rates_are_of_one_submission_and_domain_and_can_be() {
        let text =
            |two: &str| format!("submission,domain,pass_1,pass_2\nx,retail,80,70\nx,airline,50,{two}\n");
        assert_eq!(passes(&text("40"), "x", 0), Ok((0.5, 0.4)));
        assert_eq!(passes(&text("60"), "x", 0).unwrap_err(), "line 3: pass_1 0.5 and pass_2 0.6 cannot be");
        assert_eq!(passes(&text("10"), "x", 0).unwrap_err(), "line 3: pass_1 0.5 and pass_2 0.1 cannot be");
        assert_eq!(passes(&text(""), "x", 0).unwrap_err(), "line 3: '' is not a number (pass_2)");
        assert!(passes(&text("40"), "x", 2).unwrap_err().ends_with("with the domain telecom"));
    }

    #[test]
    fn steps_are_weighted_and_lengths_compared() {
        let text = "action_name,m,m,frequency\n,default,plan,\na,0.5,1,0.75\nb,1,1,0.25\n";
        assert_eq!(steps(text, "m", "default"), Ok(0.625));
        assert_eq!(steps(text, "m", "plan"), Ok(1.0));
        assert_eq!(steps(&text.replace("b,1", "b,2"), "m", "default").unwrap_err(), "line 4: a rate of 2");
        assert_eq!(steps(text, "n", "default").unwrap_err(), "line 1: there is no column n with default");
        let text = "prompt,n_attempts,output_tokens\nbaseline,1,9\nchain_of_thought,2,400\nconcise,1,100\ncomposite,1,300\n";
        assert_eq!(instructed(text), Ok((0.5, 1.5)));
        assert_eq!(
            instructed("prompt,n_attempts,output_tokens\nconcise,1,x\n").unwrap_err(),
            "line 2: 'x' is not a number (output tokens)"
        );
    }

    #[test]
    fn no_task_is_on_both_sides_or_twice() {
        assert_eq!(
            split(r#"{"train": ["1"], "test": ["2"], "base": ["1", "2"]}"#),
            Ok((vec!["1".into()], vec!["2".into()]))
        );
        assert_eq!(
            split(r#"{"train": ["1"], "test": ["1"]}"#).unwrap_err(),
            "task 1 is for training and for tests"
        );
        assert_eq!(count(r#"[{"id": "a"}, {"id": "b"}]"#), Ok(2));
        assert_eq!(count(r#"[{"id": "a"}, {"id": "a"}]"#).unwrap_err(), "two tasks have one name");
        assert!(count("[{]").unwrap_err().contains("line 1"));
    }
}

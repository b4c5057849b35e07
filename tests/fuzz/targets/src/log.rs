//! Any bytes are a log for `fable evaluate` or a mistake with its line.
//! A log is written and read again as it was, and can be evaluated.

use fable_core::Settings;
use fable_core::catalog::TAU2;
use fable_golden::LAMP;
use fable_std::evaluate::{EvaluateError, LogFlaw, Options, Record, evaluate, read};

pub fn log(data: &[u8]) {
    for catalog in [&LAMP, &TAU2] {
        let log = match read(catalog, "fuzz.jsonl", data) {
            Ok(log) => log,
            Err(error) => {
                let lines = data.split(|byte| *byte == b'\n').count();
                assert!((1..=lines).contains(&error.line) && error.to_string().starts_with("fuzz.jsonl:"));
                continue;
            }
        };
        for record in &log {
            let again = Record::read(catalog, record.write(catalog).as_bytes()).unwrap();
            assert_eq!(Record { line: record.line, ..again }, *record);
        }
        let options = Options { draws: 2, ..Options::default() };
        match evaluate(catalog, Settings::default(), "fuzz.jsonl", &log, &options) {
            Ok(report) => assert_eq!(report.lines, log.len()),
            Err(EvaluateError::TooShort { lines, .. }) => assert!(lines == log.len() && lines < 2),
            Err(EvaluateError::Log(error)) => assert!(matches!(error.flaw, LogFlaw::Learner(_)), "{error}"),
            Err(error) => panic!("{error}"),
        }
    }
}

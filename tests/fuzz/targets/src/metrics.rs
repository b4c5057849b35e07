//! Any text is a file of metrics or a mistake with its place.
//! A measured value is worth something from -1 to 1, or is refused.

use fable_std::rewards::{Kind, MetricError, Metrics, Value};

/// A file, and after a zero the number and the comment that are measured.
pub fn metrics(data: &[u8]) {
    let text = crate::prefix(data);
    let (file, measured) = text.split_once('\0').unwrap_or((text, ""));
    let metrics = match Metrics::read("metrics.toml", file) {
        Ok(metrics) => metrics,
        Err(mistake) => {
            let line = file.split('\n').nth(mistake.line - 1).unwrap();
            assert!(
                line.starts_with(&mistake.excerpt) && mistake.column <= 1 + line.chars().count(),
                "{mistake:?}"
            );
            assert!(mistake.to_string().ends_with('^') && !mistake.flaw.to_string().is_empty());
            return;
        }
    };
    let mut bits = [0; 8];
    bits.iter_mut().zip(measured.bytes()).for_each(|(slot, byte)| *slot = byte);
    let number = measured.parse().unwrap_or(f64::from_le_bytes(bits));
    let mut came = Vec::new();
    for metric in metrics.metrics() {
        for value in
            [Value::Boolean(true), Value::Boolean(false), Value::Float(number), Value::Text(measured)]
        {
            let fits = matches!(
                (metric.kind, value),
                (Kind::Boolean, Value::Boolean(_))
                    | (Kind::Float { .. }, Value::Float(_))
                    | (Kind::Comment, Value::Text(_))
            );
            match metrics.score(&metric.name, value) {
                Ok(scored) => {
                    assert!(
                        fits && scored.score.is_none_or(|score| score.abs() <= 1.0),
                        "{metric:?} {value:?} {scored:?}"
                    );
                    assert!(scored.score.is_some() || metric.kind == Kind::Comment);
                    came.push(scored);
                }
                Err(MetricError::NotFinite) => assert!(fits && !number.is_finite()),
                Err(MetricError::Kind { .. }) => assert!(!fits),
                Err(error) => panic!("{error}"),
            }
        }
    }
    for from in 0..came.len() {
        let reward = metrics.reward(&came[from..]);
        assert_eq!(reward.is_some(), came[from..].iter().any(|scored| scored.score.is_some()));
        assert!(reward.is_none_or(|reward| reward.abs() <= 1.0), "{reward:?}");
    }
    let unknown = metrics.metrics().iter().all(|metric| metric.name != measured);
    assert_eq!(
        unknown,
        matches!(metrics.score(measured, Value::Boolean(true)), Err(MetricError::Unknown { .. }))
    );
}

//! Any body of a `POST /feedback` is a metric of a decision or is refused in words.
//! The metric is worth something from -1 to 1.

use fable_core::DecisionId;
use fable_std::rewards::Metrics;
use fable_std::serve::http::metric_in;
use serde_json::Value;
use std::sync::LazyLock;

static METRICS: LazyLock<Metrics> = LazyLock::new(|| {
    let file = "[metrics.solved]\nkind = \"boolean\"\n[metrics.stars]\nkind = \"float\"\nrange = [1, 5]\n";
    Metrics::read("metrics.toml", file).expect("metrics")
});

pub fn feedback(body: &[u8]) {
    match metric_in(&METRICS, body) {
        Ok((decision, scored)) => {
            assert!(scored.score.is_none_or(|score| score.abs() <= 1.0), "{scored:?}");
            // It is what another reader finds in it.
            let said: Value = serde_json::from_slice(body).expect("JSON");
            let id = said.get("inference_id").filter(|id| !id.is_null()).or(said.get("episode_id"));
            assert_eq!(
                id.and_then(Value::as_str).and_then(|id| id.parse::<DecisionId>().ok()),
                Some(decision)
            );
            assert!(METRICS.metrics().iter().any(|metric| said["metric_name"] == metric.name));
        }
        Err(told) => assert!(!told.is_empty()),
    }
}

//! Which exchanges match a request by the vectors that a model makes of texts: the cosine between them.
//!
//! Vectors are not stored. They are asked for when they are needed, all that are missing in one call, and stay in a [`Cache`] of this process.

use super::words::best_first;
use super::{EXCHANGE_BYTES, Exchange};
use lru::LruCache;
use std::num::NonZeroUsize;

/// Exchanges whose vectors stay in memory. With 3072 numbers each that is 12 MiB.
const CACHED: usize = 1024;
/// Below this cosine an exchange does not match.
pub const LEAST: f64 = 0.2;

/// The vectors of exchanges.
#[derive(Debug)]
pub struct Cache {
    vectors: LruCache<Exchange, Vec<f32>>,
}

impl Default for Cache {
    fn default() -> Self {
        Self { vectors: LruCache::new(NonZeroUsize::new(CACHED).unwrap_or(NonZeroUsize::MIN)) }
    }
}

impl Cache {
    /// The positions of exchanges that are near a request, the nearest first; of two that are equally near the newer one. `embed` makes a vector
    /// of each text, all of the same length.
    ///
    /// ```
    /// use fable_std::memory::{Exchange, vectors::Cache};
    /// let exchanges = ["cats", "tax"].map(|request| Exchange::new(request, "", 0));
    /// let embed = |texts: &[String]| Ok::<_, ()>(texts.iter().map(|text| vec![f32::from(text.contains("cat")), 0.1]).collect());
    /// assert_eq!(Cache::default().rank(&exchanges, "my cat", embed), Ok(vec![0]));
    /// ```
    ///
    /// # Errors
    /// What `embed` says.
    pub fn rank<E>(
        &mut self,
        exchanges: &[Exchange],
        request: &str,
        embed: impl FnOnce(&[String]) -> Result<Vec<Vec<f32>>, E>,
    ) -> Result<Vec<usize>, E> {
        if exchanges.is_empty() {
            return Ok(Vec::new());
        }
        let missing: Vec<&Exchange> =
            exchanges.iter().filter(|exchange| !self.vectors.contains(*exchange)).collect();
        let asked = super::cut(request, EXCHANGE_BYTES).to_owned();
        let texts: Vec<String> = std::iter::once(asked)
            .chain(missing.iter().map(|exchange| format!("{}\n{}", exchange.request, exchange.answer)))
            .collect();
        let mut made = embed(&texts)?.into_iter();
        let asked = made.next().unwrap_or_default();
        for (exchange, vector) in missing.into_iter().zip(made) {
            self.vectors.put(exchange.clone(), vector);
        }
        let near =
            |exchange: &Exchange| self.vectors.peek(exchange).map_or(0.0, |vector| cosine(&asked, vector));
        let scores: Vec<(usize, f64)> = exchanges.iter().map(near).enumerate().collect();
        Ok(best_first(scores.into_iter().filter(|(_, score)| *score >= LEAST).collect()))
    }
}

/// The cosine of the angle between two vectors; 0 if one of them has no direction or they have different lengths.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let lengths = (dot(one, one) * dot(other, other)).sqrt();
    if one.len() == other.len() && lengths > 0.0 { dot(one, other) / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_asked_about_once() {
        let exchanges: Vec<Exchange> =
            (0..5).map(|number| Exchange::new(&number.to_string(), "x", number)).collect();
        let mut cache = Cache::default();
        let mut asked = Vec::new();
        for count in [3, 5, 5] {
            let ranked = cache.rank(&exchanges[..count], "4", |texts| {
                asked.push(texts.len());
                let number = |text: &String| text.split('\n').next().unwrap().parse::<f32>().unwrap();
                Ok::<_, ()>(texts.iter().map(|text| vec![number(text).cos(), number(text).sin()]).collect())
            });
            let mut expected: Vec<(usize, f64)> = (0..count)
                .map(|number| (number, (number as f64 - 4.0).cos()))
                .filter(|(_, near)| *near >= LEAST)
                .collect();
            expected.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            assert_eq!(ranked.unwrap(), expected.iter().map(|(number, _)| *number).collect::<Vec<_>>());
        }
        assert_eq!(asked, [4, 3, 1]);
        assert_eq!(cache.rank(&exchanges, "4", |_| Err("away")), Err("away"));
        assert_eq!(cache.rank(&[], "4", |_| Err("not asked")), Ok(vec![]));
    }

    #[test]
    fn vectors_without_a_direction_match_nothing() {
        assert_eq!(
            [cosine(&[0.0, 0.0], &[1.0, 0.0]), cosine(&[1.0], &[1.0, 0.0]), cosine(&[], &[])],
            [0.0; 3]
        );
        assert_eq!((cosine(&[2.0, 0.0], &[3.0, 0.0]), cosine(&[2.0], &[-1.0])), (1.0, -1.0));
        // No overflow on the way.
        assert!((cosine(&[f32::MAX; 4], &[f32::MAX; 4]) - 1.0).abs() < 1e-12);
    }
}

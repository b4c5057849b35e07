//! Standard normal draws, and the keys of their streams.
//!
//! A [`Key`] names a stream: seed, user, incarnation, site, round and purpose. Equal keys give equal draws,
//! so nothing random is stored and any decision can be replayed alone.
//!
//! Draws come from a 128-layer ziggurat on xoshiro128++ (Marsaglia and Tsang 2000). Layer, sign and magnitude
//! have separate bits. One 32-bit word and one product make 98.8% of the draws. Values are `f32`, exact in
//! `f64`, so states of both scalars see the same draws.
//!
//! ```
//! use fable_core::posterior::{Key, Purpose};
//! let key = Key { seed: 7, user: 1, incarnation: 0, site: 0, round: 3, purpose: Purpose::Decision };
//! let mut stream = key.stream();
//! let first = stream.normal();
//! assert_eq!(key.stream().normal(), first);
//! assert_ne!(Key { round: 4, ..key }.stream().normal(), first);
//! ```

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro128PlusPlus;

/// The purpose of a stream. Different purposes never share draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Purpose {
    /// The draw of a decision.
    Decision,
    /// Draw number n of an estimate of propensities.
    Propensity(u32),
    /// The probes of a decision.
    ProbeOutcome,
}

/// The name of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Key {
    /// The installation's seed.
    pub seed: u64,
    /// [`user_hash`](crate::user_hash) of the user.
    pub user: u64,
    /// Number of times that the user was forgotten.
    pub incarnation: u32,
    /// The site that decides.
    pub site: u32,
    /// The round.
    pub round: u32,
    /// The purpose.
    pub purpose: Purpose,
}

/// The finalizer of `SplitMix64`: every input bit reaches every output bit.
#[inline(never)]
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key {
    /// The start of the stream.
    #[must_use]
    pub fn stream(&self) -> Stream {
        let purpose = match self.purpose {
            Purpose::Decision => 0,
            Purpose::Propensity(draw) => 1 + u64::from(draw),
            Purpose::ProbeOutcome => 1 << 40,
        };
        let position = u64::from(self.incarnation) << 32 | u64::from(self.round);
        let mut state = 0;
        for word in [self.seed, self.user, position, purpose] {
            state = mix((state ^ word).wrapping_add(GOLDEN));
        }
        // A word that only sites other than 0 add. So a user of one site has the same draws with and without
        // other sites.
        if self.site != 0 {
            state = mix((state ^ u64::from(self.site)).wrapping_add(GOLDEN));
        }
        let low = mix(state.wrapping_add(GOLDEN)).to_le_bytes();
        let high = mix(state.wrapping_add(GOLDEN.wrapping_mul(2))).to_le_bytes();
        let mut seed = [0; 16];
        for (slot, byte) in seed.iter_mut().zip(low.into_iter().chain(high)) {
            *slot = byte;
        }
        Stream(Xoshiro128PlusPlus::from_seed(seed))
    }
}

/// A stream of standard normals, or of fair bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Xoshiro128PlusPlus);

const LAYERS: usize = 128;
/// Start of the tail: x[1].
const TAIL: f32 = 3.442_619_9;

impl Stream {
    /// The next 32 fair bits.
    #[inline]
    pub fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// The next standard normal.
    #[inline]
    pub fn normal(&mut self) -> f32 {
        loop {
            // 7 bits choose the layer, 1 the sign, 24 the magnitude.
            let word = self.0.next_u32();
            let layer = (word & 127) as usize;
            let magnitude = word >> 8;
            let (Some(&inside), Some(&width)) = (INSIDE.get(layer), WIDTH.get(layer)) else { continue };
            #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
            let x = magnitude as f32 * width;
            let signed = f32::from_bits(x.to_bits() | (word & 128) << 24);
            if magnitude < inside {
                return signed;
            }
            // The generator goes by value both ways, so its state can stay in registers.
            let (generator, accepted) = edge(self.0.clone(), layer, x);
            self.0 = generator;
            if let Some(accepted) = accepted {
                return f32::from_bits(accepted.to_bits() | (word & 128) << 24);
            }
        }
    }
}

/// The rare cases: a wedge beside a rectangle, or the tail beyond the base layer.
#[cold]
fn edge(mut generator: Xoshiro128PlusPlus, layer: usize, x: f32) -> (Xoshiro128PlusPlus, Option<f32>) {
    if layer == 0 {
        // Marsaglia's tail: x = -ln(u) / TAIL, accepted with probability exp(-x^2 / 2).
        loop {
            let x = -libm::logf(uniform(&mut generator)) / TAIL;
            let y = -libm::logf(uniform(&mut generator));
            if y + y > x * x {
                return (generator, Some(TAIL + x));
            }
        }
    }
    let height = |layer| HEIGHT.get(layer).copied().unwrap_or(1.0);
    let (low, high) = (height(layer), height(layer + 1));
    let under = low + uniform(&mut generator) * (high - low) < libm::expf(-0.5 * x * x);
    (generator, under.then_some(x))
}

/// Uniform on (0, 1].
fn uniform(generator: &mut Xoshiro128PlusPlus) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "24 bits and one fit")]
    let steps = ((generator.next_u32() >> 8) + 1) as f32;
    steps * (1.0 / 16_777_216.0)
}

/// Magnitudes below this are inside the layer's rectangle: floor(2^24 x[i+1] / x[i]).
#[rustfmt::skip]
static INSIDE: [u32; LAYERS] = [
    15_555_140, 15_707_337, 16_049_218, 16_208_407, 16_302_110, 16_364_393, 16_409_025, 16_442_689,
    16_469_044, 16_490_264, 16_507_732, 16_522_367, 16_534_808, 16_545_510, 16_554_811, 16_562_964,
    16_570_162, 16_576_558, 16_582_272, 16_587_401, 16_592_024, 16_596_205, 16_599_998, 16_603_448,
    16_606_592, 16_609_464, 16_612_090, 16_614_493, 16_616_695, 16_618_713, 16_620_562, 16_622_256,
    16_623_807, 16_625_225, 16_626_519, 16_627_697, 16_628_767, 16_629_736, 16_630_608, 16_631_389,
    16_632_084, 16_632_697, 16_633_230, 16_633_688, 16_634_074, 16_634_389, 16_634_636, 16_634_816,
    16_634_933, 16_634_986, 16_634_978, 16_634_909, 16_634_780, 16_634_592, 16_634_345, 16_634_040,
    16_633_676, 16_633_253, 16_632_772, 16_632_232, 16_631_633, 16_630_973, 16_630_252, 16_629_469,
    16_628_623, 16_627_712, 16_626_734, 16_625_689, 16_624_574, 16_623_386, 16_622_124, 16_620_785,
    16_619_366, 16_617_864, 16_616_275, 16_614_596, 16_612_821, 16_610_948, 16_608_971, 16_606_884,
    16_604_681, 16_602_357, 16_599_904, 16_597_313, 16_594_578, 16_591_687, 16_588_632, 16_585_400,
    16_581_979, 16_578_356, 16_574_514, 16_570_436, 16_566_103, 16_561_495, 16_556_586, 16_551_350,
    16_545_757, 16_539_771, 16_533_355, 16_526_461, 16_519_041, 16_511_033, 16_502_371, 16_492_973,
    16_482_746, 16_471_580, 16_459_345, 16_445_882, 16_431_004, 16_414_481, 16_396_028, 16_375_293,
    16_351_833, 16_325_080, 16_294_297, 16_258_510, 16_216_401, 16_166_149, 16_105_157, 16_029_596,
    15_933_579, 15_807_563, 15_635_011, 15_384_586, 14_988_941, 14_272_655, 12_590_646, 0,
];

/// x[i] / 2^24.
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "a table")]
static WIDTH: [f32; LAYERS] = [
    2.2131718e-7, 2.0519613e-7, 1.9211083e-7, 1.8377476e-7, 1.7754414e-7, 1.7251635e-7, 1.6827138e-7,
    1.6457852e-7, 1.6129694e-7, 1.5833416e-7, 1.5562607e-7, 1.5312634e-7, 1.5080033e-7, 1.4862147e-7,
    1.4656891e-7, 1.4462594e-7, 1.4277902e-7, 1.4101693e-7, 1.3933034e-7, 1.3771138e-7, 1.3615335e-7,
    1.3465045e-7, 1.3319769e-7, 1.3179073e-7, 1.3042572e-7, 1.2909929e-7, 1.2780846e-7, 1.2655053e-7,
    1.2532313e-7, 1.2412407e-7, 1.229514e-7, 1.2180338e-7, 1.2067837e-7, 1.1957489e-7, 1.1849163e-7,
    1.17427305e-7, 1.163808e-7, 1.15351035e-7, 1.1433705e-7, 1.1333791e-7, 1.12352794e-7, 1.11380885e-7,
    1.10421446e-7, 1.09473795e-7, 1.0853726e-7, 1.0761123e-7, 1.0669511e-7, 1.05788374e-7, 1.0489048e-7,
    1.0400093e-7, 1.0311926e-7, 1.0224502e-7, 1.01377765e-7, 1.00517084e-7, 9.9662586e-8, 9.8813885e-8,
    9.797061e-8, 9.7132414e-8, 9.629894e-8, 9.546986e-8, 9.464484e-8, 9.3823566e-8, 9.300573e-8, 9.219103e-8,
    9.137916e-8, 9.056983e-8, 8.976275e-8, 8.8957634e-8, 8.8154195e-8, 8.7352156e-8, 8.6551225e-8,
    8.575113e-8, 8.4951594e-8, 8.4152326e-8, 8.335304e-8, 8.255345e-8, 8.1753264e-8, 8.09522e-8, 8.014993e-8,
    7.934618e-8, 7.854061e-8, 7.773291e-8, 7.692275e-8, 7.6109785e-8, 7.5293656e-8, 7.447401e-8, 7.365045e-8,
    7.282259e-8, 7.199e-8, 7.115225e-8, 7.0308886e-8, 6.945942e-8, 6.860333e-8, 6.7740075e-8, 6.686908e-8,
    6.598971e-8, 6.510132e-8, 6.420318e-8, 6.329453e-8, 6.2374525e-8, 6.144227e-8, 6.0496774e-8, 5.9536948e-8,
    5.856161e-8, 5.7569448e-8, 5.6559003e-8, 5.5528652e-8, 5.4476573e-8, 5.3400715e-8, 5.2298752e-8,
    5.1168016e-8, 5.000545e-8, 4.8807497e-8, 4.7569994e-8, 4.628801e-8, 4.495565e-8, 4.3565745e-8,
    4.2109466e-8, 4.057574e-8, 3.895036e-8, 3.7214672e-8, 3.5343344e-8, 3.3300648e-8, 3.103352e-8,
    2.8457512e-8, 2.542424e-8, 2.1628823e-8, 1.6231589e-8,
];

/// exp(-x[i]^2 / 2), and 1 at the end.
#[rustfmt::skip]
#[expect(clippy::unreadable_literal, reason = "a table")]
static HEIGHT: [f32; LAYERS + 1] = [
    1.0143525e-3, 2.6696292e-3, 5.548995e-3, 8.624485e-3, 1.1839478e-2, 1.5167298e-2, 1.8592102e-2,
    2.2103304e-2, 2.5693292e-2, 2.9356318e-2, 3.3087887e-2, 3.688439e-2, 4.0742867e-2, 4.4660863e-2,
    4.8636295e-2, 5.26674e-2, 5.6752663e-2, 6.089077e-2, 6.508058e-2, 6.932112e-2, 7.3611505e-2, 7.7950984e-2,
    8.23389e-2, 8.677467e-2, 9.12578e-2, 9.5787846e-2, 1.0036444e-1, 1.04987256e-1, 1.0965602e-1,
    1.1437051e-1, 1.19130544e-1, 1.2393598e-1, 1.2878671e-1, 1.3368265e-1, 1.3862377e-1, 1.4361008e-1,
    1.4864157e-1, 1.5371831e-1, 1.5884037e-1, 1.6400786e-1, 1.692209e-1, 1.7447963e-1, 1.7978427e-1,
    1.8513499e-1, 1.9053204e-1, 1.9597565e-1, 2.0146611e-1, 2.0700371e-1, 2.1258877e-1, 2.1822165e-1,
    2.239027e-1, 2.2963232e-1, 2.3541094e-1, 2.41239e-1, 2.4711695e-1, 2.530453e-1, 2.5902456e-1, 2.650553e-1,
    2.7113807e-1, 2.772735e-1, 2.834622e-1, 2.8970486e-1, 2.9600215e-1, 3.0235484e-1, 3.0876362e-1,
    3.152294e-1, 3.217529e-1, 3.283351e-1, 3.3497685e-1, 3.4167916e-1, 3.4844297e-1, 3.5526937e-1,
    3.621595e-1, 3.6911446e-1, 3.7613547e-1, 3.832238e-1, 3.903808e-1, 3.9760786e-1, 4.0490642e-1,
    4.1227803e-1, 4.1972435e-1, 4.27247e-1, 4.3484783e-1, 4.4252872e-1, 4.5029163e-1, 4.581387e-1,
    4.6607214e-1, 4.740943e-1, 4.8220766e-1, 4.9041483e-1, 4.9871865e-1, 5.0712204e-1, 5.156282e-1,
    5.2424055e-1, 5.329627e-1, 5.4179835e-1, 5.507518e-1, 5.598274e-1, 5.6903e-1, 5.783647e-1, 5.8783704e-1,
    5.974532e-1, 6.072195e-1, 6.171434e-1, 6.272325e-1, 6.3749546e-1, 6.479418e-1, 6.58582e-1, 6.694277e-1,
    6.8049186e-1, 6.9178915e-1, 7.033361e-1, 7.151515e-1, 7.272569e-1, 7.3967725e-1, 7.524416e-1, 7.655842e-1,
    7.791461e-1, 7.93177e-1, 8.077383e-1, 8.229072e-1, 8.387836e-1, 8.555006e-1, 8.7324303e-1, 8.9228165e-1,
    9.130436e-1, 9.362827e-1, 9.635997e-1, 1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key { seed: 1, user: 2, incarnation: 3, site: 0, round: 4, purpose: Purpose::Decision };

    #[test]
    fn tables_are_what_their_comments_say() {
        let (tail, area) = (3.442_619_855_899_f64, 9.912_563_035_262_17e-3_f64);
        let density = |x: f64| (-0.5 * x * x).exp();
        let mut edges = vec![area / density(tail), tail];
        while edges.len() < LAYERS {
            let x = edges[edges.len() - 1];
            edges.push((-2.0 * (area / x + density(x)).ln()).sqrt());
        }
        edges.push(0.0);
        for layer in 0..LAYERS {
            let inside = (16_777_216.0 * edges[layer + 1] / edges[layer]).floor();
            assert!((f64::from(INSIDE[layer]) - inside).abs() <= 1.0, "{layer}");
            assert_eq!(WIDTH[layer], (edges[layer] / 16_777_216.0) as f32);
            assert_eq!(HEIGHT[layer], density(edges[layer]) as f32);
        }
        assert_eq!(HEIGHT[LAYERS], 1.0);
        assert_eq!(TAIL, tail as f32);
    }

    #[test]
    fn values_are_stable() {
        let mut stream = KEY.stream();
        let first: Vec<u32> = (0..4).map(|_| stream.normal().to_bits()).collect();
        assert_eq!(first, PINNED);
        // A million draws go through wedges and tails. Their sum is pinned bit for bit.
        let sum: f64 = (0..1_000_000).map(|_| f64::from(stream.normal())).sum();
        assert_eq!(sum.to_bits(), PINNED_SUM);
    }

    const PINNED: [u32; 4] = [1_071_697_616, 3_209_426_487, 1_076_328_506, 3_201_702_991];
    const PINNED_SUM: u64 = 4_646_813_749_367_595_680;

    #[test]
    fn keys_that_differ_anywhere_differ() {
        let others = [
            Key { seed: 0, ..KEY },
            Key { user: 0, ..KEY },
            Key { incarnation: 0, ..KEY },
            Key { round: 0, ..KEY },
            Key { incarnation: 4, round: 3, ..KEY },
            Key { seed: 2, user: 1, ..KEY },
            Key { purpose: Purpose::Propensity(0), ..KEY },
            Key { purpose: Purpose::Propensity(1), ..KEY },
            Key { purpose: Purpose::Propensity(u32::MAX), ..KEY },
            Key { purpose: Purpose::ProbeOutcome, ..KEY },
            Key { site: 1, ..KEY },
            Key { site: 2, ..KEY },
            Key { site: u32::MAX, ..KEY },
            Key { site: 1, purpose: Purpose::Propensity(0), ..KEY },
            Key { site: 2, purpose: Purpose::Propensity(0), ..KEY },
            Key { site: 1, purpose: Purpose::ProbeOutcome, ..KEY },
            Key { site: 2, purpose: Purpose::ProbeOutcome, ..KEY },
            Key { site: 4, round: 0, ..KEY },
            Key { site: 3, incarnation: 0, ..KEY },
        ];
        let words = |key: &Key| {
            let mut stream = key.stream();
            (0..4).map(|_| stream.normal().to_bits()).collect::<Vec<_>>()
        };
        for (index, key) in others.iter().enumerate() {
            assert_ne!(words(key), words(&KEY));
            assert!(others[..index].iter().all(|other| words(other) != words(key)));
        }
    }

    /// Chi-square over 64 cells of equal probability, tails included; 4e6 draws, 63 degrees of freedom.
    #[test]
    fn draws_follow_the_normal_law() {
        let count = 4_000_000;
        let mut stream = KEY.stream();
        let mut cells = [0_u32; 64];
        let (mut squares, mut fourth) = (0.0, 0.0);
        for _ in 0..count {
            let x = f64::from(stream.normal());
            let probability = 0.5 * libm::erfc(-x / core::f64::consts::SQRT_2);
            cells[((probability * 64.0) as usize).min(63)] += 1;
            squares += x * x;
            fourth += x * x * x * x;
        }
        let expected = f64::from(count) / 64.0;
        let chi_square: f64 = cells.iter().map(|&cell| (f64::from(cell) - expected).powi(2) / expected).sum();
        assert!(chi_square < 114.0, "{chi_square}"); // the 0.9999 quantile
        assert!((squares / f64::from(count) - 1.0).abs() < 0.004);
        assert!((fourth / f64::from(count) - 3.0).abs() < 0.03);
    }

    /// Only Marsaglia's tail draws beyond the last layer: a share of erfc(TAIL / sqrt 2) = 5.76e-4.
    #[test]
    fn tail_has_its_share() {
        let mut stream = KEY.stream();
        let beyond = (0..10_000_000).filter(|_| stream.normal().abs() > TAIL).count();
        let expected = 1e7 * libm::erfc(f64::from(TAIL) / core::f64::consts::SQRT_2);
        assert!((beyond as f64 - expected).abs() < 4.0 * expected.sqrt(), "{beyond} {expected}");
    }
}

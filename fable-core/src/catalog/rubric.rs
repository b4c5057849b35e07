//! `rubric`: the Math500 catalog, three criteria with levels 1, 3 and 5: 27 actions, main effects only, d =
//! 9.
//!
//! The default score of this study is estimated per problem, and supplied by the caller in each round. A
//! level costs 0.1, 0.3 or 0.5. The cost of an action is the mean of its levels' costs.
//!
//! ```
//! use fable_core::catalog::rubric::{self, Level, RUBRIC};
//! assert_eq!((RUBRIC.actions(), RUBRIC.dimension()), (27, 9));
//! assert_eq!(rubric::action([Level::One, Level::Three, Level::Five]).index(), 5);
//! ```

use super::{Action, Block, Catalog, Component, Contrast, Definition, Value};
use crate::values;

/// A level of a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Level {
    /// Level 1: as little as possible.
    One,
    /// Level 3: a moderate amount.
    Three,
    /// Level 5: as much as possible.
    Five,
}

impl Level {
    /// Every level in catalog order.
    pub const ALL: &'static [Self] = &[Self::One, Self::Three, Self::Five];

    /// Position of this level in a component.
    #[must_use]
    pub const fn index(self) -> u8 {
        self as u8
    }

    /// The level at a position.
    #[must_use]
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

/// The catalog of the Math500 study.
pub const RUBRIC: Catalog<'static> = Catalog::new(Definition {
    name: "rubric",
    components: &[
        Component::new(
            "rigor",
            &[
                Value::new("level_1", "Give the argument informally.", 0.1 / 3.0),
                Value::new("level_3", "Justify the main steps.", 0.3 / 3.0),
                Value::new("level_5", "Justify every step rigorously.", 0.5 / 3.0),
            ],
        ),
        Component::new(
            "steps",
            &[
                Value::new("level_1", "Show only the result and the key idea.", 0.1 / 3.0),
                Value::new("level_3", "Show the main steps.", 0.3 / 3.0),
                Value::new("level_5", "Show every intermediate step.", 0.5 / 3.0),
            ],
        ),
        Component::new(
            "examples",
            &[
                Value::new("level_1", "Give no examples.", 0.1 / 3.0),
                Value::new("level_3", "Give a short example where it helps.", 0.3 / 3.0),
                Value::new("level_5", "Illustrate each idea with an example.", 0.5 / 3.0),
            ],
        ),
    ],
    blocks: &[Block::main(0), Block::main(1), Block::main(2)],
    contrasts: &[
        Contrast::new(
            "rigor_5_over_1",
            values![Level::Five, Level::Three, Level::Three],
            values![Level::One, Level::Three, Level::Three],
        ),
        Contrast::new(
            "rigor_5_over_3",
            values![Level::Five, Level::Three, Level::Three],
            values![Level::Three, Level::Three, Level::Three],
        ),
        Contrast::new(
            "rigor_3_over_1",
            values![Level::Three, Level::Three, Level::Three],
            values![Level::One, Level::Three, Level::Three],
        ),
        Contrast::new(
            "steps_5_over_1",
            values![Level::Three, Level::Five, Level::Three],
            values![Level::Three, Level::One, Level::Three],
        ),
        Contrast::new(
            "steps_5_over_3",
            values![Level::Three, Level::Five, Level::Three],
            values![Level::Three, Level::Three, Level::Three],
        ),
        Contrast::new(
            "steps_3_over_1",
            values![Level::Three, Level::Three, Level::Three],
            values![Level::Three, Level::One, Level::Three],
        ),
        Contrast::new(
            "examples_5_over_1",
            values![Level::Three, Level::Three, Level::Five],
            values![Level::Three, Level::Three, Level::One],
        ),
        Contrast::new(
            "examples_5_over_3",
            values![Level::Three, Level::Three, Level::Five],
            values![Level::Three, Level::Three, Level::Three],
        ),
        Contrast::new(
            "examples_3_over_1",
            values![Level::Three, Level::Three, Level::Three],
            values![Level::Three, Level::Three, Level::One],
        ),
    ],
    ..Definition::EMPTY
});

/// The action with these levels of rigor, steps and examples.
#[must_use]
pub const fn action(levels: [Level; 3]) -> Action {
    let [rigor, steps, examples] = levels;
    Action((rigor as u16 * 3 + steps as u16) * 3 + examples as u16)
}

/// The levels of an action of this catalog.
#[must_use]
pub fn parts(action: Action) -> Option<[Level; 3]> {
    let values = RUBRIC.values(action)?;
    let [rigor, steps, examples] = values.as_slice() else { return None };
    Some([Level::from_index(*rigor)?, Level::from_index(*steps)?, Level::from_index(*examples)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_actions_round_trip() {
        for index in 0..27 {
            assert_eq!(action(parts(Action(index)).unwrap()), Action(index));
        }
        assert_eq!(parts(Action(27)), None);
    }
}

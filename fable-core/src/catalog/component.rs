//! Components of an action, their values, and the macro that declares a component as a typed enum.

/// A value of a component.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Value<'a> {
    /// Canonical name: letters, digits, `_` and `-`.
    pub name: &'a str,
    /// Instruction for the assistant if this value is chosen; may be empty.
    pub instruction: &'a str,
    /// Operational cost, at least 0.
    pub cost: f64,
}

impl<'a> Value<'a> {
    /// A value with its instruction and cost.
    #[must_use]
    pub const fn new(name: &'a str, instruction: &'a str, cost: f64) -> Self {
        Self { name, instruction, cost }
    }
}

/// One factor of the action: a name and its values in a fixed order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Component<'a> {
    /// Canonical name, for example `style`.
    pub name: &'a str,
    /// The values. Their order is part of the catalog's shape.
    pub values: &'a [Value<'a>],
    /// Position of the null value, such as `no_memory`, if there is one. Blocks can leave out the null value.
    pub null: Option<u8>,
}

impl<'a> Component<'a> {
    /// A component without a null value.
    #[must_use]
    pub const fn new(name: &'a str, values: &'a [Value<'a>]) -> Self {
        Self { name, values, null: None }
    }

    /// Sets the position of the null value.
    #[must_use]
    pub const fn with_null(mut self, value: u8) -> Self {
        self.null = Some(value);
        self
    }
}

/// A set of values of one component. In a [`Rule`](crate::Rule) all parts must match; in a
/// [`Term`](super::Term) one part is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Part<'a> {
    /// Position of the component in the catalog.
    pub component: u8,
    /// Positions of the values.
    pub values: &'a [u8],
}

impl<'a> Part<'a> {
    /// The part with these values.
    #[must_use]
    pub const fn new(component: u8, values: &'a [u8]) -> Self {
        Self { component, values }
    }

    /// True if `value` is one of the values.
    #[must_use]
    pub const fn contains(&self, value: u8) -> bool {
        let mut values = self.values;
        while let [first, rest @ ..] = values {
            if *first == value {
                return true;
            }
            values = rest;
        }
        false
    }
}

/// The positions of typed values.
///
/// A [`Contrast`](super::Contrast) takes one value per component, in catalog order. A [`Part`] takes values
/// of one component.
///
/// ```
/// use fable_core::catalog::tau2::{Memory, Style, Tool};
/// use fable_core::catalog::Contrast;
/// const BRIEF: Contrast = Contrast::new(
///     "brief_over_guided",
///     fable_core::values![Memory::Conversation, Tool::Standard, Style::Concise],
///     fable_core::values![Memory::Conversation, Tool::Standard, Style::Guided],
/// );
/// assert_eq!(BRIEF.component(), Some(2));
/// ```
#[macro_export]
macro_rules! values {
    ($($value:expr),+ $(,)?) => {
        &[$($value.index()),+]
    };
}

/// Makes a typed enum and the matching [`Component`] from one list.
///
/// Each line is `Variant = "name", cost, "instruction";`. The enum gets `ALL`, `COMPONENT`, `index` and
/// `from_index`. The null value, if any, follows the component's name.
///
/// ```
/// fable_core::component! {
///     /// Volume of the assistant's voice.
///     pub enum Volume: "volume", null Silent {
///         Silent = "silent", 0.0, "Do not speak.";
///         Normal = "normal", 0.02, "Speak at normal volume.";
///     }
/// }
/// assert_eq!(Volume::Normal.index(), 1);
/// assert_eq!(Volume::from_index(0), Some(Volume::Silent));
/// assert_eq!(Volume::COMPONENT.null, Some(0));
/// ```
#[macro_export]
macro_rules! component {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident : $text:literal $(, null $null:ident)? {
            $($variant:ident = $value_name:literal, $cost:expr, $instruction:expr;)+
        }
    ) => {
        $(#[$meta])*
        #[allow(dead_code)]
        #[allow(clippy::enum_variant_names)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        $vis enum $name {
            $(#[doc = ::core::concat!("`", $value_name, "`")] $variant,)+
        }

        #[allow(dead_code)]
        #[allow(clippy::approx_constant, clippy::excessive_precision, clippy::unreadable_literal)]
        #[allow(clippy::unicode_not_nfc)]
        impl $name {
            /// Every value in catalog order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The component as catalog data.
            pub const COMPONENT: $crate::catalog::Component<'static> = $crate::catalog::Component::new(
                $text,
                &[$($crate::catalog::Value::new($value_name, $instruction, $cost)),+],
            )$(.with_null(Self::$null.index()))?;

            /// Position of this value in the component.
            #[must_use]
            pub const fn index(self) -> u8 {
                self as u8
            }

            /// The value at a position.
            #[must_use]
            pub const fn from_index(index: u8) -> ::core::option::Option<Self> {
                match Self::ALL.split_at_checked(index as usize) {
                    ::core::option::Option::Some((_, [value, ..])) => ::core::option::Option::Some(*value),
                    _ => ::core::option::Option::None,
                }
            }
        }

        $crate::format_component!($name);
    };
}

//! Values as bytes in both directions: each tag and each order of fields is stated once, in a table of a
//! macro.
//!
//! The bytes are those of [postcard](https://postcard.jamesmunns.com/wire-format). A `u8`, a bool and a tag
//! are one byte. `u16` and `u32` are varints. `u64` and floats are little-endian with all their bytes. An
//! option is a flag and its value. A list has its length in front. The functions of [`fable_core::record`]
//! that read and write them take half of postcard's flash.

use fable_core::preference::{Assessment, Average, Gap, ProbeOutcome, Promotion, Standing, Trial, Verdict};
use fable_core::record::{Input, Output};

/// A value on the wire.
pub(crate) trait Wire: Sized {
    /// Writes the value.
    fn write(&self, out: &mut Output<'_>);

    /// Reads a value. If the bytes are none, the input notes that and the value means nothing.
    fn read(input: &mut Input<'_>) -> Self;
}

/// Declares an enum, and implements [`Wire`] by its table of tags and fields. One of the tags is 0.
macro_rules! messages {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $(
                $(#[$variant_attribute:meta])*
                $tag:literal => $variant:ident
                $( ( $inner:ident: $inner_type:ty ) )?
                $( { $( $(#[$field_attribute:meta])* $field:ident: $field_type:ty, )+ } )?
            ,)+
        }
    ) => {
        $(#[$attribute])*
        pub enum $name {
            $(
                $(#[$variant_attribute])*
                $variant $( ($inner_type) )? $( { $( $(#[$field_attribute])* $field: $field_type, )+ } )?,
            )+
        }

        impl $name {
            /// Returns true if this version has the tag.
            #[allow(clippy::manual_range_patterns, reason = "each tag is stated by itself")]
            pub(crate) const fn has_tag(tag: u8) -> bool {
                matches!(tag, $($tag)|+)
            }
        }

        const _: () = assert!($name::has_tag(0));

        impl crate::codec::Wire for $name {
            #[inline(never)]
            fn write(&self, out: &mut fable_core::record::Output<'_>) {
                match self {
                    $(
                        Self::$variant $( ($inner) )? $( { $($field),+ } )? => {
                            out.byte($tag);
                            $( $inner.write(out); )?
                            $( $( $field.write(out); )+ )?
                        }
                    )+
                }
            }

            #[inline(never)]
            fn read(input: &mut fable_core::record::Input<'_>) -> Self {
                match input.byte() {
                    $(
                        $tag => Self::$variant
                            $( (<$inner_type>::read(input)) )?
                            $( { $( $field: <$field_type>::read(input) ),+ } )?,
                    )+
                    _ => {
                        input.refuse();
                        Self::read(input) // from zeros: tag 0
                    }
                }
            }
        }
    };
}
pub(crate) use messages;

/// Implements [`Wire`] for an enum without fields that is declared elsewhere.
macro_rules! tags {
    ($name:ident { $($tag:literal => $variant:ident),+ }) => {
        impl Wire for $name {
            fn write(&self, out: &mut Output<'_>) {
                out.byte(match self {
                    $( Self::$variant => $tag, )+
                });
            }

            fn read(input: &mut Input<'_>) -> Self {
                match input.byte() {
                    $( $tag => Self::$variant, )+
                    _ => {
                        input.refuse();
                        Self::read(input) // from zeros: tag 0
                    }
                }
            }
        }
    };
}

/// Implements [`Wire`] for a struct: its fields, in the order of the table.
macro_rules! fields {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl crate::codec::Wire for $name {
            fn write(&self, out: &mut fable_core::record::Output<'_>) {
                $( self.$field.write(out); )+
            }

            fn read(input: &mut fable_core::record::Input<'_>) -> Self {
                Self { $( $field: crate::codec::Wire::read(input) ),+ }
            }
        }
    };
}
pub(crate) use fields;

tags! { Verdict { 0 => Against, 1 => Open, 2 => For } }
tags! { Standing { 0 => Holds, 1 => Doubtful, 2 => Revoked } }

fields! { Gap { distance, rounds } }
fields! { Average { mean, lower, upper } }
fields! { Trial { trials, e_value, needed, average, certified, valid } }
fields! { ProbeOutcome { contrast, preferred, expected } }
fields! { Assessment {
    mean, sd, probability, beta, radius, lower, upper, threshold, evidence, verdict, gap, valid,
} }

/// As in a record.
impl Wire for Promotion {
    fn write(&self, out: &mut Output<'_>) {
        out.promotion(self);
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.promotion()
    }
}

impl Wire for u8 {
    fn write(&self, out: &mut Output<'_>) {
        out.byte(*self);
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.byte()
    }
}

impl Wire for bool {
    fn write(&self, out: &mut Output<'_>) {
        out.byte((*self).into());
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.flag()
    }
}

impl Wire for u16 {
    #[inline(never)]
    fn write(&self, out: &mut Output<'_>) {
        out.varint((*self).into());
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.short()
    }
}

impl Wire for u32 {
    fn write(&self, out: &mut Output<'_>) {
        out.varint(*self);
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.varint()
    }
}

impl Wire for u64 {
    #[inline(never)]
    fn write(&self, out: &mut Output<'_>) {
        out.put(&self.to_le_bytes());
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.u64()
    }
}

impl Wire for f32 {
    #[inline(never)]
    fn write(&self, out: &mut Output<'_>) {
        out.f32(*self);
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.f32()
    }
}

impl Wire for f64 {
    #[inline(never)]
    fn write(&self, out: &mut Output<'_>) {
        out.f64(*self);
    }

    fn read(input: &mut Input<'_>) -> Self {
        input.f64()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn write(&self, out: &mut Output<'_>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }

    fn read(input: &mut Input<'_>) -> Self {
        if input.flag() { Some(T::read(input)) } else { None }
    }
}

impl<T: Wire> Wire for [T; 2] {
    fn write(&self, out: &mut Output<'_>) {
        let [first, second] = self;
        first.write(out);
        second.write(out);
    }

    fn read(input: &mut Input<'_>) -> Self {
        [T::read(input), T::read(input)]
    }
}

impl<T: Wire, U: Wire> Wire for (T, U) {
    fn write(&self, out: &mut Output<'_>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(input: &mut Input<'_>) -> Self {
        (T::read(input), U::read(input))
    }
}

impl<T: Wire, const N: usize> Wire for heapless::Vec<T, N> {
    fn write(&self, out: &mut Output<'_>) {
        out.varint(u32::try_from(self.len()).unwrap_or(0)); // a few
        for value in self {
            value.write(out);
        }
    }

    /// A list that is too long is refused.
    fn read(input: &mut Input<'_>) -> Self {
        let mut list = Self::new();
        for _ in 0..input.varint() {
            if list.push(T::read(input)).is_err() {
                input.refuse();
                break;
            }
        }
        list
    }
}

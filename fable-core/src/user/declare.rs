//! The macro that makes a module of a declared catalog.

/// Makes what a program needs of a catalog that is known when it is compiled. For a module of its own.
///
/// The declaration has a name, one `enum` for each component as in [`component!`](crate::component!), and
/// these parts in this order. All but `blocks` may be left out:
///
/// | Part | Entry | Name in the later parts |
/// |---|---|---|
/// | `tasks` | `Dinner = "dinner";` | `Task::Dinner` |
/// | `signals` | `DAYLIGHT = "daylight";` | `DAYLIGHT`, a position |
/// | `blocks` | a [`Block`](crate::catalog::Block) | |
/// | `terms` | a [`Term`](crate::catalog::Term) | |
/// | `contrasts` | `WARM_OVER_COLD = ` a [`Contrast`](crate::catalog::Contrast)`;` | |
/// | `rules` | `NEVER_COLD = ` a [`StandingRule`](crate::catalog::StandingRule)`;` | |
/// | `settings` | the [`Settings`](crate::Settings); `Settings::DEFAULT` if left out | |
/// | `fingerprints` | those of catalog and policy; others do not compile | |
///
/// In `blocks`, `terms`, `contrasts` and `rules` the name of a component is also its position:
/// `Block::main(Light)`.
///
/// | Item of the module | Meaning |
/// |---|---|
/// | `CATALOG`, `SETTINGS`, `POLICY` | the [`Catalog`](crate::Catalog), its settings, and both together |
/// | `ALL` | the [`Feasible`](crate::Feasible) set of all actions |
/// | `Light`, one enum for each component | its values; `Light::of(action)` is the value in an action |
/// | `action(light, ..)` | the action with these values |
/// | `Task` | the tasks |
/// | `context(task, [daylight, ..])` | the [`Context`](crate::Context) of a request |
/// | `signal`, `contrast`, `rule` | modules with the positions |
/// | `Memory<WAITING>` | [`typed::Memory`](crate::typed::Memory) of this catalog |
/// | `Policy` | [`typed::Policy`](crate::typed::Policy) of this catalog |
///
/// ```
/// mod lamp {
///     fable_core::catalog! {
///         name = "lamp";
///         enum Light: "light" {
///             Warm = "warm", 0.0, "Use warm light.";
///             Cold = "cold", 0.1, "Use cold light.";
///         }
///         enum Level: "level", null Off {
///             Off = "off", 0.0, "";
///             Dim = "dim", 0.0, "";
///             Full = "full", 0.05, "";
///         }
///         tasks { Reading = "reading"; Dinner = "dinner"; }
///         signals { DAYLIGHT = "daylight"; }
///         blocks = [Block::main(Light).per_task(), Block::main(Level).scaled_by(DAYLIGHT).without_null()];
///         terms = [
///             Term::new(0.5, Condition::Above(DAYLIGHT, 0.8), &[Part::new(Level, values![Level::Off])]),
///         ];
///         contrasts { WARM_OVER_COLD = Contrast::new("warm_over_cold",
///             values![Light::Warm, Level::Dim], values![Light::Cold, Level::Dim])
///             .when(Some(Task::Dinner.index()), &[0.5]); }
///         rules { DARK_DINNERS = Rule::forbid("dark_dinners", &[Part::new(Level, values![Level::Off])])
///             .when(Condition::Tasks(values![Task::Dinner])); }
///         settings = Settings { seed: 7, ..Settings::DEFAULT };
///     }
/// }
/// assert_eq!((lamp::CATALOG.actions(), lamp::CATALOG.dimension()), (6, 6));
/// let action = lamp::action(lamp::Light::Cold, lamp::Level::Full);
/// assert_eq!((action.0, lamp::Level::of(action)), (5, Some(lamp::Level::Full)));
/// assert_eq!(lamp::CATALOG.contrasts()[lamp::contrast::WARM_OVER_COLD].name, "warm_over_cold");
/// assert_eq!(lamp::POLICY.get().settings().seed, 7);
/// ```
#[macro_export]
macro_rules! catalog {
    (
        name = $name:literal;
        $(
            $(#[$meta:meta])*
            enum $component:ident : $component_name:literal $(, null $null:ident)? { $($values:tt)+ }
        )+
        $(tasks { $($task:ident = $task_name:literal;)* })?
        $(signals { $($signal:ident = $signal_name:literal;)* })?
        blocks = [$($block:expr),+ $(,)?];
        $(terms = [$($term:expr),* $(,)?];)?
        $(contrasts { $($contrast:ident = $contrast_value:expr;)* })?
        $(rules { $($rule:ident = $rule_value:expr;)* })?
        $(settings = $settings:expr;)?
        $(fingerprints = ($catalog_print:literal, $policy_print:literal);)?
    ) => {
        $(
            $crate::component! {
                $(#[$meta])*
                pub enum $component: $component_name $(, null $null)? { $($values)+ }
            }

            #[allow(dead_code)]
            impl $component {
                /// Position of the component in the catalog.
                pub const POSITION: usize = Position::$component as usize;

                /// The value in an action; `None` past the last action.
                #[must_use]
                pub const fn of(action: $crate::Action) -> ::core::option::Option<Self> {
                    match CATALOG.value_of(action, Self::POSITION) {
                        ::core::option::Option::Some(value) => Self::from_index(value),
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                }
            }
        )+

        #[repr(u8)]
        enum Position { $($component),+ }

        $crate::declared_tasks! { $($($task = $task_name;)*)? }
        $crate::declared_positions! { "Positions of the signals." signal $($($signal)*)? }
        $crate::declared_positions! { "Positions of the contrasts." contrast $($($contrast)*)? }
        $crate::declared_positions! { "Positions of the rules." rule $($($rule)*)? }

        /// The catalog.
        #[allow(dead_code)]
        #[allow(clippy::approx_constant, clippy::excessive_precision, clippy::unreadable_literal)]
        #[allow(clippy::unicode_not_nfc)]
        pub const CATALOG: $crate::Catalog<'static> = {
            #[allow(unused_imports)]
            use $crate::{Rule, catalog::{Block, Condition, Contrast, Definition, Part, Term}, values};
            $(
                #[allow(dead_code, non_upper_case_globals)]
                const $component: u8 = Position::$component as u8;
            )+
            $($(
                #[allow(dead_code, clippy::cast_possible_truncation)]
                const $signal: u8 = signal::$signal as u8;
            )*)?
            $crate::Catalog::new(Definition {
                name: $name,
                components: &[$($component::COMPONENT),+],
                tasks: &[$($($task_name),*)?],
                signals: &[$($($signal_name),*)?],
                blocks: &[$($block),+],
                terms: &[$($($term),*)?],
                contrasts: &[$($($contrast_value),*)?],
                rules: &[$($($rule_value),*)?],
            })
        };

        /// The settings of the learner.
        #[allow(dead_code)]
        #[allow(clippy::approx_constant, clippy::excessive_precision, clippy::unreadable_literal)]
        pub const SETTINGS: $crate::Settings<'static> = {
            #[allow(unused_imports)]
            use $crate::{Exploration, Settings, catalog::BlockSet, settings::{Deadline, Expiry, OnChange, Scale}};
            $crate::declared_settings!($($settings)?)
        };

        /// The catalog as a type.
        #[derive(Clone, Copy, Debug)]
        pub enum ThisCatalog {}

        impl $crate::typed::ConstCatalog for ThisCatalog {
            const CATALOG: &'static $crate::Catalog<'static> = &CATALOG;
        }

        /// A policy of this catalog.
        #[allow(dead_code)]
        pub type Policy<'a> = $crate::typed::Policy<'a, ThisCatalog>;

        /// The memory of one user of this catalog.
        #[allow(dead_code)]
        pub type Memory<const WAITING: usize> =
            $crate::typed::Memory<ThisCatalog, { CATALOG.state_len() }, { CATALOG.workspace_len() }, WAITING>;

        /// The catalog with the settings and the isotropic prior.
        #[allow(dead_code)]
        pub static POLICY: Policy<'static> = match Policy::new(SETTINGS) {
            ::core::result::Result::Ok(policy) => policy,
            ::core::result::Result::Err(_) => {
                ::core::panic!("a setting is out of its range or needs a feature that fable-core was built without")
            }
        };

        /// The feasible set of all actions.
        #[allow(dead_code)]
        pub static ALL: $crate::Feasible = $crate::Feasible::all(&CATALOG);

        /// Number of signals.
        #[allow(dead_code)]
        pub const SIGNALS: usize = CATALOG.definition().signals.len();

        /// The context of a request: its task, if there is one, and its signals in order.
        ///
        /// # Errors
        /// A signal outside [0, 1].
        #[allow(dead_code)]
        pub fn context(
            task: ::core::option::Option<Task>,
            signals: [f32; SIGNALS],
        ) -> ::core::result::Result<$crate::Context, $crate::catalog::ContextError> {
            $crate::Context::new(&CATALOG, task.map(|task| ::core::primitive::usize::from(task.index())), &signals)
        }

        /// The action with these values.
        #[allow(dead_code, non_snake_case)]
        #[allow(clippy::cast_possible_truncation, clippy::cast_lossless)]
        #[allow(clippy::many_single_char_names, clippy::similar_names, clippy::too_many_arguments)]
        #[must_use]
        pub const fn action($($component: $component),+) -> $crate::Action {
            let index = 0;
            $(let index = index * $component::ALL.len() as u16 + $component.index() as u16;)+
            $crate::Action(index)
        }

        $(
            const _: () = ::core::assert!(
                CATALOG.fingerprint() == $catalog_print && POLICY.get().fingerprint() == $policy_print,
                "the declaration was changed, or this fable-core understands it differently: generate the file again"
            );
        )?
    };
}

/// The enum of the tasks; without tasks it has no value.
#[doc(hidden)]
#[macro_export]
macro_rules! declared_tasks {
    () => {
        /// This catalog has no tasks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(dead_code)]
        pub enum Task {}

        impl Task {
            /// Position of the task.
            #[must_use]
            pub const fn index(self) -> u8 {
                match self {}
            }
        }
    };
    ($($task:ident = $name:literal;)+) => {
        /// The tasks of requests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(dead_code)]
        #[allow(clippy::enum_variant_names)]
        #[repr(u8)]
        pub enum Task {
            $(#[doc = ::core::concat!("`", $name, "`")] $task,)+
        }

        impl Task {
            /// Position of the task.
            #[must_use]
            pub const fn index(self) -> u8 {
                self as u8
            }
        }
    };
}

/// A module of positions.
#[doc(hidden)]
#[macro_export]
macro_rules! declared_positions {
    ($doc:literal $module:ident) => {};
    ($doc:literal $module:ident $($name:ident)+) => {
        #[doc = $doc]
        #[allow(dead_code)]
        pub mod $module {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Position { $($name),+ }
            $(
                /// A position.
                pub const $name: usize = Position::$name as usize;
            )+
        }
    };
}

/// The given settings, or the default ones.
#[doc(hidden)]
#[macro_export]
macro_rules! declared_settings {
    () => {
        Settings::DEFAULT
    };
    ($settings:expr) => {
        $settings
    };
}

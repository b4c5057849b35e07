//! Status numbers and their texts.

use core::ffi::{CStr, c_char};
use core::num::NonZeroI32;
use fable_core::UserError;
use fable_core::catalog::{CatalogError, OnboardingError};
use fable_core::catalog::{ContextError, FeasibleError};
use fable_core::posterior::PosteriorError;
#[cfg(feature = "record")]
use fable_core::record::RecordError;
use fable_core::settings::{SettingsError, table};

/// A status other than success. The number is never 0, so a result fits in one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(NonZeroI32);

impl Status {
    const fn new(number: i32) -> Self {
        match NonZeroI32::new(number) {
            Some(number) => Self(number),
            None => Self(NonZeroI32::MAX),
        }
    }
}

macro_rules! statuses {
    ($($name:ident = $number:literal, $text:literal;)+) => {
        impl Status {
            $(
                #[allow(dead_code, reason = "depends on features")]
                pub(crate) const $name: Self = Self::new($number);
            )+

            /// Every status: name without the prefix of the header, and number.
            pub const ALL: &'static [(&'static str, i32)] = &[("OK", 0), $((stringify!($name), $number)),+];
        }

        const fn text(status: i32) -> &'static CStr {
            match status {
                0 => c"done",
                $($number => $text,)+
                _ => c"unknown status",
            }
        }
    };
}

statuses! {
    NULL = 1, c"a required pointer is null";
    MISALIGNED = 2, c"memory must begin at a multiple of FABLE_ALIGNMENT";
    TOO_SMALL = 3, c"the memory or the buffer is too small";
    NOT_A_POLICY = 4, c"the memory holds no policy, or it was moved";
    NOT_A_USER = 5, c"the memory holds no user, or it was moved";
    NOT_STARTED = 6, c"the user was neither started nor loaded";
    BAD_TEXT = 7, c"a text is not UTF-8";
    BAD_KIND = 8, c"a kind is not one of its constants";
    UNSUPPORTED = 9, c"this build lacks the feature that the call needs";
    SINK = 10, c"the sink did not take the bytes";
    INTERNAL = 11, c"an internal error of the library";
    OVERLAP = 12, c"the memory of a user and its workspace overlap";
    FOREIGN_POLICY = 20, c"the user belongs to another catalog or other settings";
    UNKNOWN_TASK = 21, c"the catalog has no such task";
    UNKNOWN_SIGNAL = 22, c"the catalog has no such signal";
    SIGNAL_COUNT = 23, c"a context needs each signal of the catalog once";
    SIGNAL_RANGE = 24, c"a signal must be a number from 0 to 1";
    UNKNOWN_ACTION = 25, c"the catalog has no such action";
    UNKNOWN_VALUE = 26, c"the catalog has no such component or value, or a component is missing or repeated";
    UNKNOWN_COORDINATE = 27, c"the catalog has no such coordinate";
    UNKNOWN_CONTRAST = 28, c"the catalog has no such contrast";
    NOTHING_FEASIBLE = 29, c"the rules leave nothing to choose";
    REWARD = 30, c"a reward must be a number from -1 to 1";
    WEIGHT = 31, c"a weight must be a number from 0.001 to 100";
    DEFAULT_COUNT = 32, c"there must be exactly one default score per action";
    DEFAULT_RANGE = 33, c"a default score must be a number from -100 to 100";
    UNKNOWN_DECISION = 34, c"there is no such decision";
    EXPIRED_DECISION = 35, c"the decision has expired";
    DUPLICATE_FEEDBACK = 36, c"the decision has had its feedback";
    DECIDED_ELSEWHERE = 37, c"the decision was made at another site, which learns its reward";
    STALE = 38, c"the state, the defaults or the settings have changed since the decision";
    COMPARISON = 39, c"the two actions compared must differ in exactly one component";
    OFF = 40, c"the user has switched this off";
    UNKNOWN_RULE = 41, c"users of this catalog cannot have this rule";
    RULES_FULL = 42, c"the user has the maximum number of rules";
    EXHAUSTED = 43, c"a counter of this user has reached its maximum";
    DIRECTION = 44, c"a statement needs 1 to 24 different coordinates, of one task at most";
    COEFFICIENT = 45, c"a coefficient must be a number from -100 to 100 and not 0";
    RESPONSE = 46, c"a response must be a number from -1 to 1";
    PRECISION = 47, c"a precision must be 0 or a number from 0.000001 to 1000000";
    NO_COORDINATE = 48, c"the dictionary has no coordinate for this combination of values";
    RULE_EXISTS = 49, c"the user has this rule";
    RULE_MISSING = 50, c"the user does not have this rule";
    RECORD_TRUNCATED = 60, c"the snapshot ends too early";
    RECORD_TOO_LONG = 61, c"there are bytes after the end of the snapshot";
    RECORD_FOREIGN = 62, c"the bytes are not a snapshot";
    RECORD_DAMAGED = 63, c"the snapshot is damaged";
    RECORD_VERSION = 64, c"the snapshot was written by another version";
    RECORD_SCALAR = 65, c"the snapshot is in f64, this library is in f32";
    RECORD_POLICY = 66, c"the snapshot belongs to this catalog with other settings";
    RECORD_CONTENT = 67, c"the snapshot is intact, but its content is not valid here";
    RECORD_CAPACITY = 68, c"the snapshot has more waiting decisions or promotions than FABLE_CAPACITY";
    RECORD_CATALOG = 69, c"the snapshot belongs to another catalog";
    SETTING_NOISE_VARIANCE = 80, c"noise_variance must be a number from 0.0001 to 10000";
    SETTING_PRECISION_PER_FEATURE = 81, c"precision_per_feature must be a number from 0.00001 to 10000";
    SETTING_BASE_PRECISION = 82, c"base_precision must be a number from 0.001 to 10000";
    SETTING_COST_WEIGHT = 83, c"cost_weight must be a number from 0 to 10";
    SETTING_EXPLORATION = 84,
        c"explore must be a number from 0 to 1000 for optimism, from 0.000001 to 1000 for a draw, up to \
          0.5 for the theorem";
    SETTING_ALPHA = 85, c"alpha must be a number from 0.000000000001 to 0.5";
    SETTING_PRIOR_RADIUS = 86, c"prior_radius must be a number up to 1000000";
    SETTING_NOISE_PROXY = 87, c"noise_proxy must be 0 or a number from 0.0001 to 10000";
    SETTING_PROBE = 88, c"probe must be a number from 0 to 1";
    SETTING_MIN_EVIDENCE = 89, c"min_evidence must be a number from 1 to 1000000000";
    SETTING_HALF_LIFE = 90, c"half_life must be a number up to 65535";
    SETTING_EXPIRY = 91, c"an imputed reward must be a number from -1 to 1";
    SETTING_RETAINED = 92, c"retained must keep at least one block and only blocks that the catalog has";
    SETTING_OTHER = 93, c"a setting is out of its range";
    CATALOG_COMPONENT_COUNT = 100, c"a catalog needs between 1 and 8 components";
    CATALOG_VALUE_COUNT = 101, c"a component needs between 1 and 256 values";
    CATALOG_ACTION_COUNT = 102, c"a catalog can have at most 1024 complete actions";
    CATALOG_TASK_COUNT = 103, c"a catalog can have at most 64 tasks";
    CATALOG_SIGNAL_COUNT = 104, c"a catalog can have at most 16 signals";
    CATALOG_BLOCK_COUNT = 105, c"a dictionary needs between 1 and 128 blocks";
    CATALOG_TERM_COUNT = 106, c"a default score can have at most 64 terms";
    CATALOG_DIMENSION = 107, c"a dictionary can have at most 8192 coordinates";
    CATALOG_BAD_NAME = 108, c"a name must not be empty and may use only letters, digits, '_' and '-'";
    CATALOG_DUPLICATE_NAME = 109,
        c"two components, values, tasks, signals, contrasts or rules have the same name";
    CATALOG_RESERVED_NAME = 110, c"'task' cannot be the name of a component or of a signal";
    CATALOG_UNKNOWN_NULL = 111, c"the null value of a component is not one of its values";
    CATALOG_BLOCK_COMPONENTS = 112, c"a block has no component, or an unknown component";
    CATALOG_BLOCK_SIGNAL = 113, c"a block is scaled by a signal that the catalog does not have";
    CATALOG_BLOCK_TASK = 114, c"a block is per task but the catalog has no tasks";
    CATALOG_BLOCK_NULL = 115,
        c"a block leaves out the null value but none of its components has one, or nothing would be left";
    CATALOG_DUPLICATE_BLOCK = 116, c"two blocks of the dictionary are the same";
    CATALOG_BAD_COST = 117, c"a cost must be a number from 0 to 100";
    CATALOG_BAD_WEIGHT = 118, c"the weight of a term must be a number from -100 to 100";
    CATALOG_BAD_THRESHOLD = 119, c"a threshold must be a number from 0 to 1";
    CATALOG_TERM_CONDITION = 120,
        c"the condition of a term names a signal or task that the catalog does not have";
    CATALOG_TERM_VALUES = 121, c"a term has no value, an unknown value, or a component or value twice";
    CATALOG_CONTRAST_COUNT = 122, c"a catalog can declare at most 64 contrasts";
    CATALOG_CONTRAST_CONTEXT = 123,
        c"a contrast needs a task of the catalog, or none, and each of its signals from 0 to 1";
    CATALOG_CONTRAST_ACTIONS = 124,
        c"a contrast needs two complete actions that differ in exactly one component";
    CATALOG_RULE_COUNT = 125, c"a catalog can declare at most 32 rules";
    CATALOG_RULE_CONDITION = 126,
        c"the condition of a rule names a signal or task that the catalog does not have";
    CATALOG_RULE_VALUES = 127, c"a rule has no value, an unknown value, or a component or value twice";
    CATALOG_RULE_LEAVES_NOTHING = 128,
        c"where this rule holds, it and the rules that hold everywhere leave nothing to choose";
    CATALOG_RULE_UNENFORCED = 129, c"the catalog has rules, and the library was built without `rules`";
    CATALOG_OTHER = 130, c"the catalog cannot be used";
}

/// The status of a result.
pub(crate) fn number(result: Result<(), Status>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(Status(number)) => number.get(),
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub extern "C" fn fable_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

impl From<UserError> for Status {
    fn from(error: UserError) -> Self {
        match error {
            UserError::ForeignPolicy => Self::FOREIGN_POLICY,
            UserError::ForeignContext => Self::SIGNAL_COUNT,
            UserError::UnknownAction => Self::UNKNOWN_ACTION,
            UserError::Feasible(error) => error.into(),
            UserError::Onboarding(error) => error.into(),
            UserError::Reward => Self::REWARD,
            UserError::Weight => Self::WEIGHT,
            UserError::DefaultCount { .. } => Self::DEFAULT_COUNT,
            UserError::DefaultRange { .. } => Self::DEFAULT_RANGE,
            UserError::DecidedElsewhere => Self::DECIDED_ELSEWHERE,
            UserError::UnknownDecision => Self::UNKNOWN_DECISION,
            UserError::ExpiredDecision => Self::EXPIRED_DECISION,
            UserError::DuplicateFeedback => Self::DUPLICATE_FEEDBACK,
            UserError::Stale => Self::STALE,
            UserError::Comparison => Self::COMPARISON,
            UserError::UnknownContrast => Self::UNKNOWN_CONTRAST,
            UserError::Off => Self::OFF,
            UserError::UnknownRule => Self::UNKNOWN_RULE,
            UserError::RuleExists => Self::RULE_EXISTS,
            UserError::RuleMissing => Self::RULE_MISSING,
            UserError::RulesFull => Self::RULES_FULL,
            UserError::Exhausted => Self::EXHAUSTED,
            UserError::Unsupported => Self::UNSUPPORTED,
            UserError::Posterior(PosteriorError::NotStarted) => Self::NOT_STARTED,
            UserError::Posterior(PosteriorError::StorageLength { .. } | PosteriorError::WorkspaceLength) => {
                Self::TOO_SMALL
            }
            _ => Self::INTERNAL,
        }
    }
}

impl From<FeasibleError> for Status {
    fn from(error: FeasibleError) -> Self {
        match error {
            FeasibleError::Empty => Self::NOTHING_FEASIBLE,
            FeasibleError::UnknownAction => Self::UNKNOWN_ACTION,
            _ => Self::UNKNOWN_VALUE,
        }
    }
}

impl From<ContextError> for Status {
    fn from(error: ContextError) -> Self {
        match error {
            ContextError::UnknownTask => Self::UNKNOWN_TASK,
            ContextError::UnknownSignal => Self::UNKNOWN_SIGNAL,
            ContextError::SignalRange { .. } => Self::SIGNAL_RANGE,
            _ => Self::SIGNAL_COUNT,
        }
    }
}

impl From<OnboardingError> for Status {
    fn from(error: OnboardingError) -> Self {
        match error {
            OnboardingError::UnknownCoordinate => Self::UNKNOWN_COORDINATE,
            OnboardingError::Coefficient => Self::COEFFICIENT,
            OnboardingError::UnknownValue => Self::UNKNOWN_VALUE,
            OnboardingError::UnknownCondition => Self::UNKNOWN_TASK,
            OnboardingError::NoCoordinate => Self::NO_COORDINATE,
            OnboardingError::Response => Self::RESPONSE,
            OnboardingError::Precision => Self::PRECISION,
            _ => Self::DIRECTION,
        }
    }
}

#[cfg(feature = "record")]
impl From<RecordError> for Status {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Truncated => Self::RECORD_TRUNCATED,
            RecordError::TooLong => Self::RECORD_TOO_LONG,
            RecordError::Foreign => Self::RECORD_FOREIGN,
            RecordError::Checksum => Self::RECORD_DAMAGED,
            RecordError::Version { .. } => Self::RECORD_VERSION,
            RecordError::Scalar { .. } => Self::RECORD_SCALAR,
            RecordError::Catalog => Self::RECORD_CATALOG,
            RecordError::Policy => Self::RECORD_POLICY,
            RecordError::Content => Self::RECORD_CONTENT,
            RecordError::Capacity { .. } => Self::RECORD_CAPACITY,
            RecordError::Unsupported => Self::UNSUPPORTED,
            _ => Self::INTERNAL,
        }
    }
}

impl From<SettingsError> for Status {
    fn from(error: SettingsError) -> Self {
        let numbers: [(&str, Self); 14] = [
            (table::NOISE_VARIANCE.name, Self::SETTING_NOISE_VARIANCE),
            (table::PRECISION_PER_FEATURE.name, Self::SETTING_PRECISION_PER_FEATURE),
            (table::BASE_PRECISION.name, Self::SETTING_BASE_PRECISION),
            (table::COST_WEIGHT.name, Self::SETTING_COST_WEIGHT),
            (table::NU.name, Self::SETTING_EXPLORATION),
            (table::DELTA.name, Self::SETTING_EXPLORATION),
            (table::OPTIMISM.name, Self::SETTING_EXPLORATION),
            (table::ALPHA.name, Self::SETTING_ALPHA),
            (table::PRIOR_RADIUS.name, Self::SETTING_PRIOR_RADIUS),
            (table::NOISE_PROXY.name, Self::SETTING_NOISE_PROXY),
            (table::PROBE.name, Self::SETTING_PROBE),
            (table::MIN_EVIDENCE.name, Self::SETTING_MIN_EVIDENCE),
            (table::HALF_LIFE.name, Self::SETTING_HALF_LIFE),
            (table::EXPIRY.name, Self::SETTING_EXPIRY),
        ];
        match error {
            SettingsError::OutOfRange(name) => numbers
                .iter()
                .find(|(known, _)| *known == name)
                .map_or(Self::SETTING_OTHER, |(_, status)| *status),
            SettingsError::Unsupported(_) => Self::UNSUPPORTED,
            SettingsError::Retained => Self::SETTING_RETAINED,
            _ => Self::SETTING_OTHER,
        }
    }
}

impl From<CatalogError> for Status {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::ComponentCount => Self::CATALOG_COMPONENT_COUNT,
            CatalogError::ValueCount => Self::CATALOG_VALUE_COUNT,
            CatalogError::ActionCount => Self::CATALOG_ACTION_COUNT,
            CatalogError::TaskCount => Self::CATALOG_TASK_COUNT,
            CatalogError::SignalCount => Self::CATALOG_SIGNAL_COUNT,
            CatalogError::BlockCount => Self::CATALOG_BLOCK_COUNT,
            CatalogError::TermCount => Self::CATALOG_TERM_COUNT,
            CatalogError::DimensionTooLarge => Self::CATALOG_DIMENSION,
            CatalogError::BadName => Self::CATALOG_BAD_NAME,
            CatalogError::DuplicateName => Self::CATALOG_DUPLICATE_NAME,
            CatalogError::ReservedName => Self::CATALOG_RESERVED_NAME,
            CatalogError::UnknownNull => Self::CATALOG_UNKNOWN_NULL,
            CatalogError::BlockComponents => Self::CATALOG_BLOCK_COMPONENTS,
            CatalogError::BlockSignal => Self::CATALOG_BLOCK_SIGNAL,
            CatalogError::BlockTask => Self::CATALOG_BLOCK_TASK,
            CatalogError::BlockNull => Self::CATALOG_BLOCK_NULL,
            CatalogError::DuplicateBlock => Self::CATALOG_DUPLICATE_BLOCK,
            CatalogError::BadCost => Self::CATALOG_BAD_COST,
            CatalogError::BadWeight => Self::CATALOG_BAD_WEIGHT,
            CatalogError::BadThreshold => Self::CATALOG_BAD_THRESHOLD,
            CatalogError::TermCondition => Self::CATALOG_TERM_CONDITION,
            CatalogError::TermValues => Self::CATALOG_TERM_VALUES,
            CatalogError::ContrastCount => Self::CATALOG_CONTRAST_COUNT,
            CatalogError::ContrastContext => Self::CATALOG_CONTRAST_CONTEXT,
            CatalogError::ContrastActions => Self::CATALOG_CONTRAST_ACTIONS,
            CatalogError::RuleCount => Self::CATALOG_RULE_COUNT,
            CatalogError::RuleCondition => Self::CATALOG_RULE_CONDITION,
            CatalogError::RuleValues => Self::CATALOG_RULE_VALUES,
            CatalogError::RuleLeavesNothing => Self::CATALOG_RULE_LEAVES_NOTHING,
            CatalogError::RuleUnenforced => Self::CATALOG_RULE_UNENFORCED,
            _ => Self::CATALOG_OTHER,
        }
    }
}

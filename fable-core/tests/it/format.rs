//! A device can log whatever it holds: with the feature `defmt` every public type has a `defmt::Format`.

use crate::common::declared;
use std::path::Path;

/// Compiles if every type has a format.
#[cfg(all(feature = "defmt", feature = "analysis", feature = "protocol"))]
mod listed {
    use defmt::Format;
    use fable_core::analysis::{Program, ProgramError, Prototype, Rate, Selection, Span, SpanError, SpcaError};
    use fable_core::catalog::{self, ActionName, Block, BlockSet, Component, Condition, Contrast, CoordinateName};
    use fable_core::catalog::{Definition, LonePart, Rename, RenameKind, Term, Value, Values, agent, rubric, tau2};
    use fable_core::posterior::dense::{Dense, NotGaussian};
    use fable_core::protocol::{
        self, Draft, Fault, Frame, Hello, Kept, Reply, Session, Statistics, StorageFault, WireContext, WireShare,
    };
    use fable_core::record::{Header, Kind, Loader, PriorVerifier, RecordError, Snapshot, Verified, Verifier};
    use fable_core::{Action, ActionSet, Arrow, Assessment, Bits, Catalog, CatalogError, Choice, Command, Comparison, Context};
    use fable_core::{Average, Certifier, Coin, MigrateError, Migrated, Migration, Probe, Trial};
    use fable_core::{ContextError, CoordinateSet, Deadline, Decision, DecisionId, Direction, Effect, Estimate, Event, Expiry};
    use fable_core::{
        Deed, Elsewhere, Explanation, Exploration, Factor, Feasible, FeasibleError, Gap, Key, Learner, Observation, OnChange,
        OnboardingError,
    };
    use fable_core::{ParseDecisionIdError, Policy, Posterior, PosteriorError, Prior, PriorError, Promotion, Purpose, Range};
    use fable_core::{
        Request, Rule, Scale, Scores, Setting, Settings, SettingsError, Share, Source, Standing, StandingRule, State, Statement,
        Step, Wish,
    };
    use fable_core::{Stream, Thousandths, Update, User, UserError, Verdict, When, Workspace};

    const fn has<T: Format>() {}

    const _: () = {
        has::<Arrow>();
        has::<CoordinateSet>();
        has::<Bits<9>>();
        has::<Posterior<f32, [f32; 9]>>();
        has::<Update<f32>>();
        has::<Estimate<f32>>();
        has::<PosteriorError>();
        has::<Dense<f32, 9>>();
        has::<NotGaussian>();
        has::<Prior<'_, f32>>();
        has::<Factor<'_, f32>>();
        has::<PriorError>();
        has::<Key>();
        has::<Purpose>();
        has::<Stream>();
        has::<Workspace<f32, [f32; 9]>>();
    };

    const _: () = {
        has::<Catalog<'_>>();
        has::<CatalogError>();
        has::<Definition<'_>>();
        has::<Action>();
        has::<Values>();
        has::<ActionName<'_>>();
        has::<CoordinateName<'_>>();
        has::<Component<'_>>();
        has::<Value<'_>>();
        has::<catalog::Part<'_>>();
        has::<Block>();
        has::<BlockSet>();
        has::<Contrast<'_>>();
        has::<Term<'_>>();
        has::<Condition<'_>>();
        has::<(agent::Memory, agent::Tool, agent::Style)>();
        has::<(tau2::Memory, tau2::Tool, tau2::Style)>();
        has::<rubric::Level>();
    };

    const _: () = {
        has::<Context>();
        has::<ContextError>();
        has::<Feasible>();
        has::<FeasibleError>();
        has::<ActionSet>();
        has::<Rule<'_>>();
        has::<Effect>();
        has::<Request<'_>>();
        has::<Policy<'_, f32>>();
        has::<Settings<'_>>();
        has::<SettingsError>();
        has::<Setting>();
        has::<Range>();
        has::<Exploration>();
        has::<OnChange>();
        has::<Scale>();
        has::<Deadline>();
        has::<Expiry>();
    };

    const _: () = {
        has::<Learner<f32, [f32; 9], 8>>();
        has::<UserError>();
        // has::<HostUser>(), which no device has
        has::<State>();
        has::<User<'_, f32>>();
        has::<Step<'_, f32>>();
        has::<Command<'_>>();
        has::<Scores>();
        has::<Choice>();
        // has::<Round>(), which is private: nobody holds one
        has::<Decision>();
        has::<DecisionId>();
        has::<ParseDecisionIdError>();
        has::<Event>();
        has::<Observation>();
        has::<Statement>();
        has::<StandingRule<'_>>();
        has::<Wish>();
        has::<Direction>();
        has::<When>();
        has::<OnboardingError>();
        has::<Assessment>();
        has::<Comparison>();
        has::<Gap>();
        has::<Verdict>();
        has::<Promotion>();
        has::<Standing>();
        has::<Certifier>();
        has::<Coin>();
        has::<Probe>();
        has::<Trial>();
        has::<Average>();
        has::<Explanation<'_, f32>>();
        has::<Share>();
        has::<Source>();
        has::<Thousandths>();
        has::<Deed>();
        has::<Elsewhere>();
        has::<Migration<'_, f32>>();
        has::<Migrated>();
        has::<MigrateError>();
        has::<Rename<'_>>();
        has::<RenameKind>();
        has::<LonePart<'_>>();
        // has::<Teller>(), has::<Telling>(), has::<Woven>() and has::<MergeError>(), which are hosts'
    };

    const _: () = {
        has::<Header>();
        has::<Kind>();
        has::<RecordError>();
        has::<Snapshot<'_, f32>>();
        has::<PriorVerifier<'_, f32>>();
        has::<Verifier<'_, f32>>();
        has::<Verified>();
        has::<Loader<'_, f32>>();
        has::<WireContext>();
        has::<protocol::Request>();
        has::<Reply>();
        has::<Hello>();
        has::<Statistics>();
        has::<Kept>();
        has::<WireShare>();
        has::<Frame<'_>>();
        has::<Draft<'_>>();
        has::<Fault>();
        has::<StorageFault>();
        has::<protocol::Key>();
        has::<Session>();
    };

    const _: () = {
        has::<Span<[f64; 9]>>();
        has::<SpanError>();
        has::<Program<'_>>();
        has::<ProgramError>();
        has::<Selection>();
        has::<Prototype>();
        has::<SpcaError>();
        has::<Rate>();
    };
}

/// A type that is added has to be added above.
#[test]
fn every_public_type_is_listed() {
    let unlisted = declared::unlisted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), include_str!("format.rs"));
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

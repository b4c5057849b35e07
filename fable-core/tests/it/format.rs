//! A device can log whatever it holds: with the feature `defmt` every public type has a `defmt::Format`.

use crate::common::declared;
use std::path::Path;

/// Compiles if every type has a format.
#[cfg(all(feature = "defmt", feature = "analysis", feature = "record"))]
mod listed {
    use defmt::Format;
    use fable_core::analysis::{
        Program, ProgramError, Prototype, Rate, Selection, Span, SpanError, SpcaError,
    };
    use fable_core::catalog::StandingRule;
    use fable_core::catalog::When;
    use fable_core::catalog::{
        self, ActionName, Block, BlockSet, Component, Condition, Contrast, CoordinateName,
    };
    use fable_core::catalog::{ActionSet, CatalogError};
    use fable_core::catalog::{ContextError, CoordinateSet, Direction, Effect};
    use fable_core::catalog::{
        Definition, LonePart, Rename, RenameKind, Term, Value, Values, agent, rubric, tau2,
    };
    use fable_core::catalog::{FeasibleError, OnboardingError};
    use fable_core::explain::Explanation;
    use fable_core::explain::{Share, Source};
    use fable_core::journal::Command;
    use fable_core::journal::Event;
    use fable_core::journal::KeptDecision;
    use fable_core::journal::ParseDecisionIdError;
    use fable_core::journal::{Observation, RemoteChange, RemoteEvent};
    use fable_core::journal::{Scores, State, Step};
    use fable_core::migrate::{MigrateError, Migrated, Migration};
    use fable_core::posterior::Estimate;
    use fable_core::posterior::Layout;
    use fable_core::posterior::Update;
    use fable_core::posterior::dense::{Dense, NotGaussian};
    use fable_core::posterior::{Factor, Key};
    use fable_core::posterior::{Posterior, PosteriorError, Prior, PriorError, Purpose};
    use fable_core::preference::Gap;
    use fable_core::preference::Verdict;
    use fable_core::preference::{Assessment, Comparison};
    use fable_core::preference::{Average, Certifier, Probe, ProbeOutcome, Trial};
    use fable_core::preference::{Standing, UserRule};
    use fable_core::record::{
        Header, Input, Kind, Loader, Output, PriorVerifier, RecordError, Snapshot, Verified, Verifier,
    };
    use fable_core::settings::OnChange;
    use fable_core::settings::Range;
    use fable_core::settings::{Deadline, Expiry};
    use fable_core::settings::{Scale, Setting, SettingsError};
    use fable_core::{Action, Catalog, Context};
    use fable_core::{Decision, DecisionId};
    use fable_core::{Exploration, Feasible, Learner};
    use fable_core::{Policy, Promotion};
    use fable_core::{Request, Rule, Settings, Statement};
    use fable_core::{User, UserError, Workspace};

    const fn has<T: Format>() {}

    const _: () = {
        has::<Layout>();
        has::<CoordinateSet>();
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
        // has::<ThisCatalog>() and has::<Task>(), which catalog! makes for programs
        // has::<Bits>(), which has names like ActionSet
        // has::<Stream>(), which no caller can name
        has::<State>();
        has::<User<'_, f32>>();
        has::<Step<'_, f32>>();
        has::<Command<'_>>();
        has::<Scores>();
        // has::<Round>(), which is private: nobody holds one
        has::<Decision>();
        has::<KeptDecision>();
        has::<DecisionId>();
        has::<ParseDecisionIdError>();
        has::<Event>();
        has::<Observation>();
        has::<Statement>();
        has::<StandingRule<'_>>();
        has::<UserRule>();
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
        has::<Probe>();
        has::<ProbeOutcome>();
        has::<Trial>();
        has::<Average>();
        has::<Explanation<'_, f32>>();
        has::<Share>();
        has::<Source>();
        has::<RemoteChange>();
        has::<RemoteEvent>();
        has::<Migration<'_, f32>>();
        has::<Migrated>();
        has::<MigrateError>();
        has::<Rename<'_>>();
        has::<RenameKind>();
        has::<LonePart<'_>>();
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
        has::<Output<'_>>();
        has::<Input<'_>>();
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
    let unlisted =
        declared::unlisted(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), include_str!("format.rs"));
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

//! What is served where: the one table that requests are answered by, that is counted by, and that the OpenAPI document is made of.

use super::fault::Fault;
use super::tokens::Role;
use crate::serve::refusal::Code;
use axum::http::Method;

/// What a path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An op of the protocol.
    Op(&'static str),
    /// A metric of a decision.
    Feedback,
    /// Counts for Prometheus.
    Metrics,
    /// Whether the service is there.
    Health,
    /// The OpenAPI document.
    Document,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub(super) path: &'static str,
    /// What it is counted under.
    pub(super) label: &'static str,
    pub(super) kind: Kind,
    /// Who may.
    pub(super) role: Role,
    pub(super) summary: &'static str,
    /// What can be refused beside what can go wrong with every request of its method.
    codes: &'static [Code],
}

impl Route {
    pub(super) fn method(&self) -> Method {
        if matches!(self.kind, Kind::Op(_) | Kind::Feedback) { Method::POST } else { Method::GET }
    }

    /// Everything that can be refused here, tokens aside.
    pub(super) fn faults(&self) -> impl Iterator<Item = Fault> {
        let post = self.method() == Method::POST;
        let common = [Fault::Forbidden, Fault::MethodNotAllowed].into_iter();
        let posted = [
            Fault::Timeout,
            Fault::UnsupportedMediaType,
            Fault::Busy,
            Fault::Code(Code::BadJson),
            Fault::Code(Code::BadRequest),
            Fault::Code(Code::TooLong),
            Fault::Code(Code::OutOfRange),
            Fault::Code(Code::Storage),
            Fault::Code(Code::Uncertain),
            Fault::Code(Code::Internal),
        ];
        let posted = posted.into_iter().filter(move |_| post);
        common.chain(posted).chain(self.codes.iter().copied().map(Fault::Code))
    }
}

const fn op(
    path: &'static str,
    name: &'static str,
    role: Role,
    summary: &'static str,
    codes: &'static [Code],
) -> Route {
    Route { path, label: name, kind: Kind::Op(name), role, summary, codes }
}

const fn get(
    path: &'static str,
    label: &'static str,
    kind: Kind,
    role: Role,
    summary: &'static str,
) -> Route {
    Route { path, label, kind, role, summary, codes: &[] }
}

/// What can be wrong with a decision that is to have its reward.
const REWARDED: &[Code] = &[
    Code::UnknownDecision,
    Code::Expired,
    Code::DuplicateFeedback,
    Code::Off,
    Code::Damaged,
    Code::Exhausted,
];

/// What can be wrong with a rule.
const RULED: &[Code] =
    &[Code::UnknownName, Code::BadPattern, Code::Infeasible, Code::Damaged, Code::Exhausted];

/// All of them.
pub(super) const ROUTES: &[Route] = &[
    op(
        "/v1/decide",
        "decide",
        Role::Decide,
        "Choose an action",
        &[
            Code::UnknownName,
            Code::BadContext,
            Code::BadPattern,
            Code::Infeasible,
            Code::Off,
            Code::Damaged,
            Code::Exhausted,
        ],
    ),
    op(
        "/v1/recommend",
        "recommend",
        Role::Decide,
        "The best action by what is known, with nothing remembered",
        &[Code::UnknownName, Code::BadContext, Code::BadPattern, Code::Infeasible, Code::Damaged],
    ),
    op("/v1/feedback", "feedback", Role::Decide, "How a decision went", REWARDED),
    op(
        "/v1/remember",
        "remember",
        Role::All,
        "Keep an exchange with a user, if memory is on",
        &[Code::Damaged],
    ),
    op(
        "/v1/recall",
        "recall",
        Role::All,
        "What a memory mode brings back",
        &[Code::UnknownName, Code::Damaged],
    ),
    op(
        "/v1/memories",
        "memories",
        Role::All,
        "All that is kept of what was exchanged with a user",
        &[Code::Damaged],
    ),
    op("/v1/unremember", "unremember", Role::All, "Erase what was exchanged with a user", &[Code::Damaged]),
    op(
        "/v1/onboard",
        "onboard",
        Role::All,
        "Stated preferences, all or none",
        &[
            Code::UnknownName,
            Code::BadPattern,
            Code::BadDirection,
            Code::NoCoordinate,
            Code::Off,
            Code::Damaged,
            Code::Exhausted,
        ],
    ),
    op(
        "/v1/observe",
        "observe",
        Role::All,
        "How an action went that was chosen elsewhere",
        &[
            Code::UnknownName,
            Code::IncompleteAction,
            Code::BadContext,
            Code::Off,
            Code::Damaged,
            Code::Exhausted,
        ],
    ),
    op(
        "/v1/unlearn",
        "unlearn",
        Role::All,
        "Take the reward of a decision back",
        &[Code::UnknownDecision, Code::NotLearned, Code::Damaged, Code::Exhausted],
    ),
    op(
        "/v1/waiting",
        "waiting",
        Role::All,
        "The decisions that wait for their reward, oldest first",
        &[Code::Damaged],
    ),
    op(
        "/v1/posterior",
        "posterior",
        Role::All,
        "Mean and standard deviation of every coordinate",
        &[Code::Damaged],
    ),
    op(
        "/v1/contrast",
        "contrast",
        Role::All,
        "How sure a preference is",
        &[
            Code::UnknownName,
            Code::IncompleteAction,
            Code::BadContext,
            Code::BadPattern,
            Code::Infeasible,
            Code::BadContrast,
            Code::Damaged,
        ],
    ),
    op(
        "/v1/explain",
        "explain",
        Role::All,
        "Why this action and not another one",
        &[
            Code::UnknownDecision,
            Code::UnknownName,
            Code::IncompleteAction,
            Code::Expired,
            Code::DuplicateFeedback,
            Code::Stale,
            Code::Damaged,
        ],
    ),
    op("/v1/profile", "profile", Role::All, "The promoted preferences", &[Code::Damaged]),
    op("/v1/promote", "promote", Role::All, "Promote what is certain now", &[Code::Damaged, Code::Exhausted]),
    op(
        "/v1/rules",
        "rules",
        Role::All,
        "A user's own rules and switches, and the catalog's rules",
        &[Code::Damaged],
    ),
    op("/v1/forbid", "forbid", Role::All, "Values that are never chosen for a user", RULED),
    op("/v1/require", "require", Role::All, "Values of which one is always chosen for a user", RULED),
    op("/v1/allow", "allow", Role::All, "Lift what stands against values", RULED),
    op(
        "/v1/switch",
        "switch",
        Role::All,
        "Switch the layer or its memory on or off for a user",
        &[Code::Damaged, Code::Exhausted],
    ),
    op("/v1/forget", "forget", Role::All, "Erase a user", &[Code::Damaged]),
    op("/v1/export", "export", Role::All, "Everything about a user, as a file in base64", &[Code::Damaged]),
    op(
        "/v1/backup",
        "backup",
        Role::All,
        "Copy the store to a new file of the server, or tell how far that is",
        &[],
    ),
    op(
        "/v1/read",
        "read",
        Role::Decide,
        "A request, preferences or a reaction in words, in the catalog's terms",
        &[Code::Unreadable, Code::UnknownName, Code::IncompleteAction, Code::BadPattern, Code::Infeasible],
    ),
    op("/v1/stats", "stats", Role::All, "Counts", &[]),
    Route {
        path: "/feedback",
        label: "metric",
        kind: Kind::Feedback,
        role: Role::Decide,
        summary: "A metric of a decision, in the shape of TensorZero",
        codes: &[
            Code::UnknownName,
            Code::UnknownDecision,
            Code::Expired,
            Code::DuplicateFeedback,
            Code::Off,
            Code::Damaged,
            Code::Exhausted,
        ],
    },
    get("/metrics", "metrics", Kind::Metrics, Role::All, "Counts in the text format of Prometheus"),
    get("/healthz", "healthz", Kind::Health, Role::Anyone, "Whether the service is there"),
    get("/openapi.json", "openapi", Kind::Document, Role::Decide, "This document"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::OPS;
    use std::collections::BTreeSet;

    #[test]
    fn every_op_has_its_path_and_only_clients_ops_are_theirs() {
        let ops =
            ROUTES.iter().filter_map(|route| if let Kind::Op(op) = route.kind { Some(op) } else { None });
        assert_eq!(ops.collect::<BTreeSet<_>>(), OPS.into_iter().collect());
        for route in ROUTES {
            assert!(!matches!(route.kind, Kind::Op(op) if route.path != format!("/v1/{op}")), "{route:?}");
        }
        let open = |role| {
            ROUTES.iter().filter(move |route| route.role == role).map(|route| route.path).collect::<Vec<_>>()
        };
        assert_eq!(open(Role::Anyone), ["/healthz"]);
        assert_eq!(
            open(Role::Decide),
            ["/v1/decide", "/v1/recommend", "/v1/feedback", "/v1/read", "/feedback", "/openapi.json"]
        );
        assert_eq!(ROUTES.iter().map(|route| route.label).collect::<BTreeSet<_>>().len(), ROUTES.len());
    }
}

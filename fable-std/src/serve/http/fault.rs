//! Why a request over HTTP is refused: the codes of the protocol and those of HTTP alone, each with its status.

use crate::serve::refusal::Code;
use axum::http::StatusCode;

/// A reason, with one code for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A code of the protocol.
    Code(Code),
    /// No token, or one that is not known.
    Unauthorized,
    /// A token that does not allow this, or a name of this host that only a strange page would use.
    Forbidden,
    /// There is nothing at this path.
    NotFound,
    /// The path knows other methods.
    MethodNotAllowed,
    /// The body did not come in time.
    Timeout,
    /// The body is not said to be JSON.
    UnsupportedMediaType,
    /// So much is under way that it is better to come again.
    Busy,
}

impl Fault {
    /// Those that are not codes of the protocol.
    pub(super) const OWN: [Self; 7] = [
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Timeout,
        Self::UnsupportedMediaType,
        Self::Busy,
    ];

    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Code::ALL.into_iter().map(Self::Code).chain(Self::OWN)
    }

    /// Its position in [`all`](Self::all).
    pub(super) fn position(self) -> usize {
        Self::all().position(|fault| fault == self).unwrap_or(0)
    }

    /// The code for programs.
    pub(super) fn name(self) -> String {
        match self {
            Self::Code(code) => serde_json::to_value(code)
                .ok()
                .and_then(|name| Some(name.as_str()?.to_owned()))
                .unwrap_or_default(),
            Self::Unauthorized => "unauthorized".into(),
            Self::Forbidden => "forbidden".into(),
            Self::NotFound => "not_found".into(),
            Self::MethodNotAllowed => "method_not_allowed".into(),
            Self::Timeout => "timeout".into(),
            Self::UnsupportedMediaType => "unsupported_media_type".into(),
            Self::Busy => "busy".into(),
        }
    }

    /// What HTTP calls it: whatever a client can do something about is a 4xx.
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Code(code) => match code {
                Code::BadJson | Code::BadRequest => StatusCode::BAD_REQUEST,
                Code::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
                Code::UnknownName
                | Code::OutOfRange
                | Code::IncompleteAction
                | Code::BadContext
                | Code::BadPattern
                | Code::Infeasible
                | Code::BadDirection
                | Code::NoCoordinate
                | Code::Unreadable
                | Code::BadContrast => StatusCode::UNPROCESSABLE_ENTITY,
                Code::UnknownOp | Code::UnknownDecision => StatusCode::NOT_FOUND,
                Code::Expired => StatusCode::GONE,
                Code::DuplicateFeedback | Code::Stale | Code::NotLearned | Code::Exhausted | Code::Off => {
                    StatusCode::CONFLICT
                }
                Code::Damaged => StatusCode::LOCKED,
                Code::Storage | Code::Uncertain => StatusCode::SERVICE_UNAVAILABLE,
                Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            },
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_only_what_nobody_can_help_is_a_5xx() {
        let names: HashSet<String> = Fault::all().map(Fault::name).collect();
        assert_eq!(names.len(), Code::ALL.len() + Fault::OWN.len());
        let server = Fault::all().filter(|fault| fault.status().is_server_error()).map(Fault::name);
        assert_eq!(server.collect::<Vec<_>>(), ["storage", "uncertain", "internal", "busy"]);
        assert!(Fault::all().enumerate().all(|(position, fault)| fault.position() == position));
    }
}

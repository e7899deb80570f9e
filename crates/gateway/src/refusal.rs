//! Why a request is answered with an error: the one place where failures become wire codes.
//!
//! Invariant: what a person reads names what happened, to what, and what to do; texts of the database, of Git or of an
//! agent never get here unreviewed, they go to the log. A foreign id and a made-up id give the same answer.

use serde_json::Value;
use store::error::StoreError;
use wire::envelope::{ErrorCode, ErrorPayload, Retry};

/// A request that is not carried out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal(ErrorPayload);

impl Refusal {
    fn new(code: ErrorCode, retry: Retry, message: impl Into<String>) -> Self {
        Self(ErrorPayload {
            code,
            message: message.into(),
            details: None,
            retry,
        })
    }

    /// The frame or its payload is not what the action takes.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, Retry::Never, message)
    }

    /// The payload has the right shape and a wrong value.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationError, Retry::Never, message)
    }

    /// No such thing, or none that this person may know of. The text is the same for both.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(
            ErrorCode::NotFound,
            Retry::Never,
            format!("There is no such {what}."),
        )
    }

    pub(crate) fn forbidden() -> Self {
        Self::new(
            ErrorCode::Forbidden,
            Retry::Never,
            "Viewers of this workspace may read, not change anything.",
        )
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, Retry::Never, message)
    }

    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Busy, Retry::SameId, message)
    }

    pub(crate) fn unknown_action() -> Self {
        Self::new(
            ErrorCode::UnknownAction,
            Retry::Never,
            "This version of the server has no such action.",
        )
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            ErrorCode::InternalError,
            Retry::SameId,
            "The server failed to do this. Its log says why; trying again is safe.",
        )
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    pub(crate) const fn payload(&self) -> &ErrorPayload {
        &self.0
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => Self::busy("The database is busy. Try again in a moment."),
            StoreError::NotFound { what } => Self::not_found(what),
            error => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the store failed under a request"
                );
                Self::internal()
            }
        }
    }
}

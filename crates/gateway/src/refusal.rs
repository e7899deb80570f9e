//! Why a request is answered with an error: the one place where failures become wire codes.
//!
//! Invariant: what a person reads names what happened, to what, and what to do; texts of the database, of Git or of an
//! agent never get here unreviewed, they go to the log. A foreign id and a made-up id give the same answer.

use orchestrator::error::CommandError;
use serde_json::Value;
use store::error::StoreError;
use wire::envelope::{ErrorCode, ErrorPayload, Retry};

/// A request that is not carried out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal(Box<ErrorPayload>);

impl Refusal {
    fn new(code: ErrorCode, retry: Retry, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorPayload {
            code,
            message: message.into(),
            details: None,
            retry,
        }))
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

    /// A bound is reached that only somebody's doing changes.
    pub(crate) fn later(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Busy, Retry::Later, message)
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

    pub(crate) fn payload(&self) -> &ErrorPayload {
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

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::Invalid(words) => Self::invalid(sentence(&words)),
            CommandError::NotFound(what) => Self::not_found(what),
            CommandError::Conflict { message, details } => {
                let refusal = Self::conflict(sentence(&message));
                if let Some(details) = details {
                    refusal.with_details(details)
                } else {
                    refusal
                }
            }
            CommandError::Busy(words) => Self::later(sentence(&words)),
            CommandError::Git(words) => {
                Self::new(ErrorCode::Conflict, Retry::Later, sentence(&words))
            }
            CommandError::Store(error) => error.into(),
        }
    }
}

/// A command's words as a sentence.
fn sentence(words: &str) -> String {
    let mut chars = words.trim().chars();
    let Some(first) = chars.next() else {
        return String::new();
    };
    let mut sentence: String = first.to_uppercase().chain(chars).collect();
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commands_words_become_a_sentence() {
        assert_eq!(sentence("the queue is full"), "The queue is full.");
        assert_eq!(sentence("Is it there?"), "Is it there?");
        assert_eq!(sentence(" "), "");
    }

    #[test]
    fn what_the_store_says_stays_in_the_log() {
        let refusal = Refusal::from(CommandError::Store(StoreError::Corrupt {
            column: "secret_column",
        }));
        assert_eq!(refusal.payload().code, ErrorCode::InternalError);
        assert!(!refusal.payload().message.contains("secret_column"));
        // Nothing was stored, so the same request may be sent again under its id, whoever met the lock.
        let met_by_command = Refusal::from(CommandError::from(StoreError::Busy));
        for busy in [Refusal::from(StoreError::Busy), met_by_command] {
            assert_eq!(
                (busy.payload().code, busy.payload().retry),
                (ErrorCode::Busy, Retry::SameId)
            );
        }
    }
}

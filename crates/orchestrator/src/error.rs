//! Why a command failed, in words for the person who gave it.

use git::error::GitError;
use serde_json::Value;
use store::error::StoreError;

/// A refused or failed command.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A value is wrong; the text says which and what is expected.
    #[error("{0}")]
    Invalid(String),
    /// It does not exist.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// It contradicts what is already so.
    #[error("{message}")]
    Conflict {
        /// What is in the way and what to do.
        message: String,
        /// More, for programs.
        details: Option<Value>,
    },
    /// A bound is reached; later it works.
    #[error("{0}")]
    Busy(String),
    /// Git could not do it.
    #[error("{0}")]
    Git(String),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}

impl CommandError {
    /// A conflict without details.
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict {
            message: message.into(),
            details: None,
        }
    }

    /// A wrong value.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid(message.into())
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => Self::NotFound(what),
            other => Self::Store(other),
        }
    }
}

impl From<GitError> for CommandError {
    fn from(error: GitError) -> Self {
        let explanation = error
            .explanation()
            .map(|words| model::text::preview(words, 300));
        Self::Git(
            explanation.map_or_else(|| error.to_string(), |words| format!("{error}: {words}")),
        )
    }
}

/// What commands return.
pub type Result<T> = std::result::Result<T, CommandError>;

//! One registry of typed ids.
//!
//! Each kind of id is its own type, so a session id cannot be passed where an environment id is wanted (law 7:
//! identity is explicit). All are printable ASCII of at most [`bounds::ID_BYTES`]; ids that the server makes are
//! UUIDv7 text, so they sort by creation. A message's id is chosen by the client and is checked by
//! [`MessageId::from_client`].
//!
//! Invariant: no conversion exists from one kind of id to another.

use crate::bounds;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Why a text is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// The text is empty.
    #[error("an id must not be empty")]
    Empty,
    /// The text is longer than its kind allows.
    #[error("an id may have at most {limit} characters")]
    TooLong {
        /// The limit in bytes; ids are ASCII, so also in characters.
        limit: usize,
    },
    /// The text has a space, a control character or anything beyond ASCII.
    #[error("an id may only hold printable ASCII characters without spaces")]
    NotPrintable,
}

fn check(text: &str, limit: usize) -> Result<(), InvalidId> {
    if text.is_empty() {
        return Err(InvalidId::Empty);
    }
    if limit < text.len() {
        return Err(InvalidId::TooLong { limit });
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(InvalidId::NotPrintable);
    }
    Ok(())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, type = "string"))]
        pub struct $name(Arc<str>);

        impl $name {
            /// A fresh id: UUIDv7 text, later than every earlier one of this process.
            #[must_use]
            pub fn generate() -> Self {
                Self(uuid::Uuid::now_v7().to_string().into())
            }

            /// Checks a text from outside.
            ///
            /// # Errors
            /// [`InvalidId`] when it is empty, too long or not printable ASCII.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                check(text, bounds::ID_BYTES)?;
                Ok(Self(text.into()))
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::parse(&text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    )+};
}

ids! {
    /// A workspace: the authorization boundary.
    WorkspaceId,
    /// A person.
    UserId,
    /// A workflow, the board of a workspace.
    WorkflowId,
    /// A step of a workflow, a column of its board.
    StepId,
    /// A registered local Git repository.
    RepositoryId,
    /// A unit of work.
    TaskId,
    /// A repository attached to a task: the exact target of a recovery.
    TaskRepositoryId,
    /// A workspace on disk with a worktree per repository; owns Git status.
    EnvironmentId,
    /// One repository's worktree in an environment.
    EnvironmentRepositoryId,
    /// One conversation with one agent.
    SessionId,
    /// From a prompt to the agent's stop.
    TurnId,
    /// A row of a transcript.
    MessageId,
    /// The identity of one pending request; a server UUID, because JSON-RPC ids repeat.
    PendingId,
    /// A live agent process.
    ExecutionId,
    /// One run of the server; marks rows that name a process.
    InstanceId,
    /// How an agent is started.
    AgentProfileId,
    /// One observation of one repository of one environment.
    SnapshotId,
    /// A pull request that is linked to a task.
    PullRequestId,
    /// A file that a person attached, or is about to attach, to a message.
    AttachmentId,
}

impl MessageId {
    /// Checks the id that a client chose for its message (API-06): 1 to 128 characters `U+0021`–`U+007E`, exact.
    ///
    /// # Errors
    /// [`InvalidId`] when it breaks that rule; nothing is trimmed or repaired.
    pub fn from_client(text: &str) -> Result<Self, InvalidId> {
        check(text, bounds::CLIENT_MESSAGE_ID_BYTES)?;
        Ok(Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_outside_is_checked() {
        assert_eq!(TaskId::parse(""), Err(InvalidId::Empty));
        assert_eq!(TaskId::parse("a b"), Err(InvalidId::NotPrintable));
        assert_eq!(TaskId::parse("é"), Err(InvalidId::NotPrintable));
        assert_eq!(
            TaskId::parse(&"x".repeat(257)),
            Err(InvalidId::TooLong { limit: 256 })
        );
        assert_eq!(
            TaskId::parse("t-1").map(|id| id.to_string()),
            Ok("t-1".to_owned())
        );
    }

    #[test]
    fn a_client_message_id_has_128_characters_at_most() {
        assert!(MessageId::from_client(&"m".repeat(128)).is_ok());
        assert_eq!(
            MessageId::from_client(&"m".repeat(129)),
            Err(InvalidId::TooLong { limit: 128 })
        );
        assert_eq!(MessageId::from_client("m\n"), Err(InvalidId::NotPrintable));
    }

    #[test]
    fn generated_ids_sort_by_creation() {
        let first = TaskId::generate();
        let second = TaskId::generate();
        assert!(first < second);
    }
}

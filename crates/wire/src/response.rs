//! Payloads of responses. A request whose answer says nothing more is answered with [`Done`].

use model::agent::KnownAgent;
use model::clock::Timestamp;
use model::git::FileChange;
use model::message::{Message, PendingRequest};
use model::session::Session;
use model::task::Task;
use serde::{Deserialize, Serialize};

macro_rules! payloads {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $ty:ty),* $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
        pub struct $name { $($(#[$fdoc])* pub $field: $ty),* }
    )+};
}

payloads! {
    /// Nothing to say beyond success.
    Done {}
    /// `task.list`
    TaskPage {
        /// The rows.
        tasks: Vec<Task>,
        /// Where the next page starts; absent: this was the last.
        #[serde(skip_serializing_if = "Option::is_none")] cursor: Option<String>,
        /// How many tasks belong here and are left out, because the database holds what cannot be read; absent: none.
        #[serde(skip_serializing_if = "Option::is_none")] unreadable: Option<u32>,
    }
    /// `task.pending`
    PendingList {
        /// Open requests, newest first, at most 20.
        requests: Vec<PendingRequest>,
    }
    /// `session.list`
    SessionList {
        /// In the order they were made.
        sessions: Vec<Session>,
    }
    /// `message.list`
    MessagePage {
        /// In `seq` order.
        messages: Vec<Message>,
        /// The `seq` to go on from in the same direction.
        #[serde(skip_serializing_if = "Option::is_none")] cursor: Option<i64>,
        /// Whether there are more in that direction.
        has_more: bool,
    }
    /// `message.queue.list`, `message.queue.reorder`
    QueueList {
        /// Queued prompts in order.
        messages: Vec<Message>,
    }
    /// `git.changes`
    GitChangesPage {
        /// When the observation began to look.
        timestamp: Timestamp,
        /// Changed files.
        files: Vec<FileChange>,
        /// Where the next page starts.
        #[serde(skip_serializing_if = "Option::is_none")] cursor: Option<String>,
        /// These names come from a listing made just now, not from the stored observation.
        live: bool,
    }
    /// `git.diff`
    GitDiffFile {
        /// The file.
        path: String,
        /// Its path before a rename.
        #[serde(skip_serializing_if = "Option::is_none")] old_path: Option<String>,
        /// A unified diff; empty when skipped.
        patch: String,
        /// Why there is none: `binary filtered source_too_large diff_too_large submodule unreadable`.
        #[serde(skip_serializing_if = "Option::is_none")] skipped: Option<String>,
    }
    /// `git.merge_into_base`
    GitMerged {
        /// `merged`, `fast_forward` or `already_up_to_date`.
        outcome: String,
        /// The base branch.
        base_branch: String,
        /// The commit it is at now.
        head_commit: String,
    }
    /// `repository.inspect`
    RepositoryFacts {
        /// Its top level.
        path: String,
        /// The folder's name.
        name: String,
        /// What new tasks would start from.
        #[serde(skip_serializing_if = "Option::is_none")] default_branch: Option<String>,
        /// Local branches, bounded.
        branches: Vec<String>,
        /// Whether it has no commit yet.
        is_empty: bool,
    }
    /// `repository.suggest`
    RepositorySuggestions {
        /// Folders that look like repositories and are not registered.
        paths: Vec<String>,
    }
    /// `repository.branches`
    BranchList {
        /// What new tasks start from.
        #[serde(skip_serializing_if = "Option::is_none")] default_branch: Option<String>,
        /// Branches, most recent first, bounded.
        branches: Vec<String>,
    }
    /// `agent.known`
    KnownAgents {
        /// Found ones first.
        agents: Vec<KnownAgent>,
    }
}

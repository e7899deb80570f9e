//! One conversation: its settings, and its history for a later process.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is kept of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// The worktree.
    pub cwd: PathBuf,
    /// `ask` or `auto`.
    pub mode: String,
    /// The chosen model.
    pub model: String,
    /// The updates of all turns, consecutive chunks joined.
    pub history: Vec<Value>,
}

/// The modes on offer: id, name, description.
pub const MODES: [(&str, &str, &str); 2] = [
    ("ask", "Ask first", "Asks before edits and commands"),
    (
        "auto",
        "Automatic",
        "Edits and runs commands without asking",
    ),
];

/// The models on offer: id, name, description.
pub const MODELS: [(&str, &str, &str); 2] = [
    ("demo-quick", "Demo quick", "Short answers"),
    ("demo-thorough", "Demo thorough", "Thinks a little longer"),
];

impl Session {
    /// A new session.
    #[must_use]
    pub fn new(id: String, cwd: PathBuf) -> Self {
        let first = |choices: &[(&str, &str, &str)]| {
            choices.first().map_or("", |choice| choice.0).to_owned()
        };
        Self {
            id,
            cwd,
            mode: first(&MODES),
            model: first(&MODELS),
            history: Vec::new(),
        }
    }

    /// Whether edits and commands need a person's word.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.mode != "auto"
    }

    /// Adds an update to the history.
    pub fn remember(&mut self, update: &Value) {
        if !joins(self.history.last_mut(), update) {
            self.history.push(update.clone());
        }
    }

    /// Models and modes as the protocol reports them.
    #[must_use]
    pub fn report(&self) -> Value {
        let list = |choices: &[(&str, &str, &str)], id_key: &str| -> Vec<Value> {
            choices
                .iter()
                .map(|(id, name, about)| json!({ id_key: id, "name": name, "description": about }))
                .collect()
        };
        json!({
            "modes": { "currentModeId": self.mode, "availableModes": list(&MODES, "id") },
            "models": { "currentModelId": self.model, "availableModels": list(&MODELS, "modelId") },
        })
    }

    /// Reads a session that an earlier process kept in `state`.
    #[must_use]
    pub fn load(state: &Path, id: &str) -> Option<Self> {
        serde_json::from_slice(&fs::read(file(state, id)?).ok()?).ok()
    }

    /// Keeps the session in `state`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn save(&self, state: &Path) -> io::Result<()> {
        fs::create_dir_all(state)?;
        let Some(path) = file(state, &self.id) else {
            return Ok(());
        };
        // Replaced in one step: a kill in between leaves the earlier file.
        let draft = path.with_extension("draft");
        fs::write(&draft, serde_json::to_vec(self)?)?;
        fs::rename(draft, path)
    }
}

/// Ids come from the client on load; only ours name a file.
fn file(state: &Path, id: &str) -> Option<PathBuf> {
    let plain = !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    plain.then(|| state.join(format!("{id}.json")))
}

/// Joins a chunk to the last one of the same kind.
fn joins(last: Option<&mut Value>, update: &Value) -> bool {
    let kind = update.get("sessionUpdate");
    let chunk = kind
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.starts_with("agent_"));
    let Some(last) = last.filter(|last| chunk && last.get("sessionUpdate") == kind) else {
        return false;
    };
    let Some(more) = update.pointer("/content/text").and_then(Value::as_str) else {
        return false;
    };
    match last.pointer_mut("/content/text") {
        Some(Value::String(text)) => {
            text.push_str(more);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_outlives_its_process() {
        let state = tempfile::tempdir().expect("a folder");
        let mut session = Session::new("s-1".into(), "/w".into());
        let chunk = |text: &str| json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
        session.remember(&chunk("a"));
        session.remember(&chunk("b"));
        session.save(state.path()).expect("saved");
        let loaded = Session::load(state.path(), "s-1").expect("loaded");
        assert_eq!(loaded.history, [chunk("ab")]);
        assert_eq!(Session::load(state.path(), "../s-1"), None);
    }
}

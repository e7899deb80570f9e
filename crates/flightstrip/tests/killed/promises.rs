//! What the server promised before it was killed: by an answer, or by showing it.

use crate::support::Bench;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that somebody was told.
#[derive(Debug, Default)]
pub(crate) struct Promises {
    /// Tasks that were made.
    pub(crate) tasks: BTreeSet<String>,
    /// Sessions that were seen, with their task.
    pub(crate) sessions: BTreeMap<String, String>,
    /// Tasks whose deletion was asked for: with or without an answer, it may have happened.
    pub(crate) deleting: BTreeSet<String>,
    /// Tasks whose deletion was answered.
    pub(crate) deleted: BTreeSet<String>,
    /// Messages that were accepted: by id, the session and the text.
    pub(crate) sent: BTreeMap<String, (String, String)>,
    /// Queued messages whose removal was asked for.
    pub(crate) removing: BTreeSet<String>,
    /// Permissions that were answered: by row, the session.
    pub(crate) answered: BTreeMap<String, String>,
    /// Pieces of an agent's text that were shown: by row, the session, and each piece with its place.
    pub(crate) shown: BTreeMap<String, Shown>,
}

/// Pieces of one row.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    session: String,
    pieces: Vec<(usize, String)>,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) messages: usize,
    pub(crate) answers: usize,
    pub(crate) rows: usize,
    pub(crate) pieces: usize,
}

impl Promises {
    /// Takes over what another person was told.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.tasks.extend(other.tasks);
        self.sessions.extend(other.sessions);
        self.deleting.extend(other.deleting);
        self.deleted.extend(other.deleted);
        self.sent.extend(other.sent);
        self.removing.extend(other.removing);
        self.answered.extend(other.answered);
        for (row, shown) in other.shown {
            let mine = self.shown.entry(row).or_default();
            mine.session = shown.session;
            mine.pieces.extend(shown.pieces);
        }
    }

    /// Notes what a notification shows of an agent's text.
    pub(crate) fn notice(&mut self, frame: &Value) {
        let payload = &frame["payload"];
        let (row, place, text) = match frame["action"].as_str() {
            Some("session.message.appended") => {
                (&payload["message_id"], &payload["offset"], &payload["text"])
            }
            Some("session.message.added" | "session.message.updated") => {
                let message = &payload["message"];
                let grows = message["author"] == "agent"
                    && (message["type"] == "message" || message["type"] == "thought");
                if !grows || message["content_truncated"] == true {
                    return;
                }
                (&message["id"], &Value::Null, &message["content"])
            }
            _ => return,
        };
        let (Some(row), Some(text)) = (row.as_str(), text.as_str()) else {
            return;
        };
        let session = payload["session_id"]
            .as_str()
            .or_else(|| payload["message"]["session_id"].as_str());
        let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
        let shown = self.shown.entry(row.to_owned()).or_default();
        session.unwrap_or_default().clone_into(&mut shown.session);
        shown.pieces.push((place.unwrap_or(0), text.to_owned()));
    }

    fn may_be_gone(&self, session: &str) -> bool {
        self.sessions
            .get(session)
            .is_none_or(|task| self.deleting.contains(task))
    }

    /// Checks that all of it was kept.
    pub(crate) async fn check(&self, bench: &mut Bench) -> Result<Kept> {
        let mut kept = Kept::default();
        for task in self.tasks.difference(&self.deleting) {
            let asked = json!({ "task_id": task });
            bench
                .client
                .request("task.get", asked)
                .await
                .with_context(|| format!("task {task}, which was made, is missing"))?;
        }
        for task in &self.deleted {
            let asked = json!({ "task_id": task });
            let refused = bench.client.refused("task.get", asked).await?;
            ensure!(
                refused["code"] == "NOT_FOUND",
                "task {task}, which was deleted: {refused}"
            );
        }
        let sessions: Vec<&String> = self.sessions.keys().collect();
        for session in sessions {
            if !self.may_be_gone(session) {
                self.check_session(bench, session, &mut kept)
                    .await
                    .with_context(|| format!("session {session}"))?;
            }
        }
        Ok(kept)
    }

    async fn check_session(&self, bench: &mut Bench, session: &str, kept: &mut Kept) -> Result<()> {
        let mut rows = bench.transcript(session).await?;
        let asked = json!({ "session_id": session });
        let queue = bench.client.request("message.queue.list", asked).await?;
        rows.extend(queue["messages"].as_array().into_iter().flatten().cloned());
        let mut by_id: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for row in &rows {
            by_id
                .entry(row["id"].as_str().context("a row without an id")?)
                .or_default()
                .push(row);
        }
        let found = |id: &str| by_id.get(id).map(Vec::as_slice).unwrap_or_default();
        for (id, (_, content)) in self.sent.iter().filter(|(_, (of, _))| of == session) {
            let rows = found(id);
            if rows.is_empty() && self.removing.contains(id) {
                continue;
            }
            ensure!(
                rows.len() == 1,
                "message {id}, which was accepted, is there {} times",
                rows.len()
            );
            ensure!(
                rows[0]["content"] == content.as_str(),
                "message {id} changed: {}",
                rows[0]
            );
            kept.messages += 1;
        }
        for (id, _) in self.answered.iter().filter(|&(_, of)| of == session) {
            let status = found(id).first().map(|row| row["status"].clone());
            let status =
                status.with_context(|| format!("request {id}, which was answered, is missing"))?;
            ensure!(
                status == "approved",
                "the answer to request {id} became {status}"
            );
            kept.answers += 1;
        }
        for (id, shown) in self
            .shown
            .iter()
            .filter(|(_, shown)| shown.session == session)
        {
            let rows = found(id);
            ensure!(
                rows.len() == 1,
                "row {id}, which was shown, is there {} times",
                rows.len()
            );
            let stored = rows[0]["content"].as_str().context("no content")?;
            for (place, text) in &shown.pieces {
                // The demo agent speaks ASCII here, so a place in UTF-16 is one in bytes.
                let there = stored.get(*place..place + text.len());
                ensure!(
                    there == Some(text.as_str()),
                    "row {id} has {} bytes and lacks {} that were shown at {place}",
                    stored.len(),
                    text.len()
                );
                kept.pieces += 1;
            }
            kept.rows += 1;
        }
        Ok(())
    }
}

//! People who use a server until it is gone: they make tasks, send, answer, stop, move, archive and delete, as the
//! dice have it, and remember what they were told.

use crate::dice::Dice;
use crate::promises::Promises;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use testkit::client::Client;

/// Tasks that are worked on at once: each may have an agent, and all of them share two cores.
const LIVING_TASKS: usize = 6;

/// What an agent is asked for. Text is ASCII, and no answer is so long that a list cuts it.
const PROMPTS: &[&str] = &[
    "/stream 400 40 1",
    "/think first this\n/stream 100 100 5\n/say and done",
    "/thoughts 50 40\n/tool read Look at it\n/say seen",
    "/permission Write it as edit\n/edit NOTES.md one two\n/say written",
    "/permissions 2\n/say both",
    "/subagent start helper\n/stream 50 20 10\n/subagent end helper\n/say all done",
    "/edit a.txt some text\n/append a.txt more\n/run echo hello > b.txt\n/say edited",
    "/say going\n/exit 1",
    "/say going\n/crash on purpose",
    "/ignore-eof\n/say stays\n/sleep 600000",
    "/stream 20 10 1\n/sleep 600000",
    "/plan a; b; c\n/usage\n/say planned",
];

/// What all people share: which tasks there are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) workspace_id: String,
    pub(crate) repository_id: String,
    pub(crate) steps: Vec<String>,
    /// Tasks that are neither deleted nor archived, each once.
    pub(crate) living: Arc<Mutex<Vec<String>>>,
}

impl Place {
    fn living<T>(&self, change: impl FnOnce(&mut Vec<String>) -> T) -> T {
        change(&mut self.living.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One of them.
pub(crate) struct Person {
    client: Client,
    place: Place,
    dice: Dice,
    name: String,
    acts: u64,
    open: BTreeSet<String>,
    told: Promises,
}

impl Person {
    /// Someone with a fresh connection; the name must be new, because message ids begin with it.
    pub(crate) fn new(client: Client, place: Place, dice: Dice, name: String) -> Self {
        Self {
            client,
            place,
            dice,
            name,
            acts: 0,
            open: BTreeSet::new(),
            told: Promises::default(),
        }
    }

    /// Acts until the server is gone; gives what was promised by then.
    pub(crate) async fn live(mut self) -> Promises {
        // The error is the end of the connection: what this is about.
        while self.act().await.is_ok() {}
        for frame in std::mem::take(&mut self.client.notifications) {
            self.told.notice(&frame);
        }
        self.told
    }

    /// Asks; gives the answer's payload, or nothing when it was refused. An error is a connection that ended.
    async fn ask(&mut self, action: &str, payload: Value) -> Result<Option<Value>> {
        let answer = self.client.ask(action, payload).await?;
        Ok((answer["type"] != "error").then(|| answer["payload"].clone()))
    }

    async fn act(&mut self) -> Result<()> {
        self.acts += 1;
        let living = self.place.living(|living| living.clone());
        let Some(task) = self.dice.of(&living).cloned() else {
            return self.make().await;
        };
        match self.dice.below(100) {
            0..8 if living.len() < LIVING_TASKS => self.make().await,
            0..50 => self.send(&task).await,
            50..75 => self.answer(&task).await,
            75..80 => self.stop(&task).await,
            80..86 => self.shift(&task).await,
            86..92 => self.unqueue(&task).await,
            92..93 => self.archive(&task).await,
            93..94 => self.delete(&task).await,
            _ => self.look(&task).await,
        }
    }

    fn prompt(&mut self) -> &'static str {
        self.dice.of(PROMPTS).copied().unwrap_or("/say hello")
    }

    async fn make(&mut self) -> Result<()> {
        let prompt = self.prompt();
        let wanted = json!({
            "workspace_id": self.place.workspace_id,
            "client_id": format!("{}-{}", self.name, self.acts),
            "title": format!("Task {} of {}", self.acts, self.name),
            "repositories": [{ "repository_id": self.place.repository_id }],
            "start_agent": true,
            "prompt": prompt,
        });
        let made = self.ask("task.create", wanted).await?;
        if let Some(id) = made.as_ref().and_then(|made| made["task"]["id"].as_str()) {
            self.told.tasks.insert(id.to_owned());
            self.place.living(|living| living.push(id.to_owned()));
        }
        Ok(())
    }

    /// The sessions of a task; whoever sees one opens it.
    async fn sessions(&mut self, task: &str) -> Result<Vec<String>> {
        let listed = self.ask("session.list", json!({ "task_id": task })).await?;
        let sessions: Vec<String> = listed
            .iter()
            .flat_map(|listed| listed["sessions"].as_array().into_iter().flatten())
            .filter_map(|session| session["id"].as_str().map(str::to_owned))
            .collect();
        for session in &sessions {
            self.told.sessions.insert(session.clone(), task.to_owned());
            if self.open.insert(session.clone()) {
                let wanted = json!({ "session_id": session });
                self.ask("session.subscribe", wanted).await?;
            }
        }
        Ok(sessions)
    }

    async fn session(&mut self, task: &str) -> Result<Option<String>> {
        let sessions = self.sessions(task).await?;
        Ok(self.dice.of(&sessions).cloned())
    }

    async fn send(&mut self, task: &str) -> Result<()> {
        let Some(session) = self.session(task).await? else {
            return Ok(());
        };
        let (id, content) = (format!("{}-{}", self.name, self.acts), self.prompt());
        let message = json!({
            "task_id": task, "session_id": session, "client_message_id": id, "content": content,
        });
        if self.ask("message.add", message).await?.is_some() {
            self.told.sent.insert(id, (session, content.to_owned()));
        }
        Ok(())
    }

    async fn answer(&mut self, task: &str) -> Result<()> {
        let Some(pending) = self.ask("task.pending", json!({ "task_id": task })).await? else {
            return Ok(());
        };
        let request = pending["requests"][0].clone();
        let options = request["options"].as_array().into_iter().flatten();
        let mut allowing = options.filter(|option| option["kind"] == "allow_once");
        let (Some(option), Some(row), Some(session)) = (
            allowing.next(),
            request["message_id"].as_str(),
            request["session_id"].as_str(),
        ) else {
            return Ok(());
        };
        let answer = json!({
            "session_id": session,
            "message_id": row,
            "pending_id": request["pending_id"],
            "option_id": option["id"],
        });
        if self.ask("permission.respond", answer).await?.is_some() {
            self.told
                .sessions
                .insert(session.to_owned(), task.to_owned());
            self.told
                .answered
                .insert(row.to_owned(), session.to_owned());
        }
        Ok(())
    }

    async fn stop(&mut self, task: &str) -> Result<()> {
        if let Some(session) = self.session(task).await? {
            let wanted = json!({ "session_id": session });
            self.ask("agent.cancel", wanted).await?;
        }
        Ok(())
    }

    async fn shift(&mut self, task: &str) -> Result<()> {
        let step = self.dice.of(&self.place.steps).cloned();
        let wanted = json!({ "task_id": task, "step_id": step });
        self.ask("task.move", wanted).await?;
        Ok(())
    }

    async fn unqueue(&mut self, task: &str) -> Result<()> {
        let Some(session) = self.session(task).await? else {
            return Ok(());
        };
        let wanted = json!({ "session_id": session });
        let Some(queue) = self.ask("message.queue.list", wanted).await? else {
            return Ok(());
        };
        if let Some(id) = queue["messages"][0]["id"].as_str() {
            self.told.removing.insert(id.to_owned());
            let wanted = json!({ "session_id": session, "message_id": id });
            self.ask("message.queue.remove", wanted).await?;
        }
        Ok(())
    }

    async fn archive(&mut self, task: &str) -> Result<()> {
        self.place.living(|living| living.retain(|one| one != task));
        let wanted = json!({ "task_id": task });
        self.ask("task.archive", wanted).await?;
        Ok(())
    }

    async fn delete(&mut self, task: &str) -> Result<()> {
        self.place.living(|living| living.retain(|one| one != task));
        self.told.deleting.insert(task.to_owned());
        let wanted = json!({ "task_id": task, "discard_changes": true });
        if self.ask("task.delete", wanted).await?.is_some() {
            self.told.deleted.insert(task.to_owned());
        }
        Ok(())
    }

    async fn look(&mut self, task: &str) -> Result<()> {
        if let Some(session) = self.session(task).await? {
            let wanted = json!({ "session_id": session });
            self.ask("message.list", wanted).await?;
        }
        Ok(())
    }
}

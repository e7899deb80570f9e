//! What a careful client makes of the frames it gets: the tolerant append rules, revisions, and one list per resync.

use crate::server::Client;
use anyhow::{Context, Result, ensure};
use model::ids::SessionId;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
struct Row {
    revision: i64,
    text: String,
}

/// A transcript as one client holds it.
#[derive(Debug)]
pub(crate) struct Replica {
    session: SessionId,
    rows: BTreeMap<String, Row>,
    pub(crate) resyncs: usize,
    pub(crate) appends: usize,
}

impl Replica {
    pub(crate) fn new(session: &SessionId) -> Self {
        Self {
            session: session.clone(),
            rows: BTreeMap::new(),
            resyncs: 0,
            appends: 0,
        }
    }

    pub(crate) fn text(&self, id: &str) -> Option<&str> {
        self.rows.get(id).map(|row| row.text.as_str())
    }

    pub(crate) fn holds(&self, texts: &BTreeMap<String, String>) -> bool {
        texts.iter().all(|(id, text)| self.text(id) == Some(text))
    }

    /// Reads frames until it holds exactly these texts.
    pub(crate) async fn read_until(
        &mut self,
        client: &mut Client,
        texts: &BTreeMap<String, String>,
    ) -> Result<()> {
        while !self.holds(texts) {
            let frame = client.next().await?;
            self.apply(client, &frame).await?;
        }
        Ok(())
    }

    async fn apply(&mut self, client: &mut Client, frame: &Value) -> Result<()> {
        let payload = &frame["payload"];
        match frame["action"].as_str().unwrap_or_default() {
            "session.message.added" | "session.message.updated" => {
                self.take(&payload["message"])?
            }
            "session.message.appended" => {
                self.appends += 1;
                if !self.append(payload)? {
                    let wanted =
                        json!({ "session_id": self.session, "message_id": payload["message_id"] });
                    self.fetch(client, "message.get", wanted).await?;
                }
            }
            "session.resync" => {
                self.resyncs += 1;
                self.list(client).await?;
            }
            _ => {}
        }
        Ok(())
    }

    fn take(&mut self, message: &Value) -> Result<()> {
        let id = message["id"].as_str().context("an id")?.to_owned();
        let revision = message["revision"].as_i64().context("a revision")?;
        let row = self.rows.entry(id).or_default();
        if row.revision <= revision {
            row.revision = revision;
            message["content"]
                .as_str()
                .context("a content")?
                .clone_into(&mut row.text);
        }
        Ok(())
    }

    /// `false`: there is a gap.
    fn append(&mut self, payload: &Value) -> Result<bool> {
        let id = payload["message_id"].as_str().context("an id")?;
        let offset = usize::try_from(payload["offset"].as_u64().context("an offset")?)?;
        let row = self.rows.entry(id.to_owned()).or_default();
        let held = model::text::utf16_len(&row.text);
        if held < offset {
            return Ok(false);
        }
        let units: Vec<u16> = payload["text"]
            .as_str()
            .context("a text")?
            .encode_utf16()
            .collect();
        if let Some(missing) = units.get(held - offset..) {
            row.text.push_str(&String::from_utf16(missing)?);
            row.revision = row.revision.max(payload["revision"].as_i64().unwrap_or(0));
        }
        Ok(true)
    }

    /// The whole transcript, page by page.
    async fn list(&mut self, client: &mut Client) -> Result<()> {
        let mut wanted = json!({ "session_id": self.session });
        loop {
            let page = self.fetch(client, "message.list", wanted.clone()).await?;
            if page["has_more"] != true {
                return Ok(());
            }
            wanted["before"] = page["cursor"].clone();
        }
    }

    async fn fetch(&mut self, client: &mut Client, action: &str, payload: Value) -> Result<Value> {
        let (answer, before) = client.ask(action, payload).await?;
        ensure!(answer["type"] == "response", "{action}: {answer}");
        for frame in &before {
            Box::pin(self.apply(client, frame)).await?;
        }
        let payload = answer["payload"].clone();
        for message in payload["messages"].as_array().into_iter().flatten() {
            self.take(message)?;
        }
        if payload["message"].is_object() {
            self.take(&payload["message"])?;
        }
        Ok(payload)
    }
}

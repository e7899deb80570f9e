//! Tool calls, plans, and what the agent reports about itself.

use crate::emit;
use crate::orchestrator::Orchestrator;
use crate::runtime::Runtime;
use crate::runtime::rows::ToolRow;
use crate::runtime::stream::NewRow;
use crate::runtime::tool_call;
use agentctl::event::{self as agent, ToolCallUpdate};
use model::agent::{AgentCommandInfo, AgentSettings, AgentUsage};
use model::bounds;
use model::event::Event;
use model::ids::{MessageId, SessionId};
use model::message::{Author, MessageType, Plan, PlanEntry, ToolCall};
use model::text::cut;
use model::turn_machine::change::Act;
use model::turn_machine::input::Input;
use serde_json::Value;
use std::sync::Arc;
use store::{messages, sessions};

fn as_json(call: &ToolCall) -> Value {
    serde_json::to_value(call).unwrap_or_default()
}

impl Runtime {
    pub(super) async fn on_tool_call(&mut self, update: ToolCallUpdate) {
        let known = self.rows.tools.get(&update.id).map(|row| row.call.clone());
        let is_new = known.is_none();
        if known.as_ref().is_some_and(ToolCall::is_terminal) {
            return; // ended: a late word about it neither changes nor revives it
        }
        let mut call = known.unwrap_or_default();
        tool_call::merge(&mut call, &update);
        let ends = call.is_terminal();
        if is_new {
            self.row_barrier().await;
            self.add_tool_row(&update.id, call.clone()).await;
        } else if let Some(row) = self.rows.tools.get_mut(&update.id) {
            row.dirty = true;
            row.call = call.clone();
            if ends {
                // Said before the result, stored before it (STR-03); it splits no row.
                self.flush_window().await;
            } else {
                let now = self.now();
                self.rows.tool_changed(now);
            }
        }
        self.follow_subagent(&update.id, &call).await;
    }

    pub(super) async fn add_tool_row(&mut self, id: &str, call: ToolCall) {
        let new = NewRow {
            metadata: as_json(&call),
            ..NewRow::new(Author::Agent, MessageType::ToolCall, &call.title)
        };
        let message_id = new.id.clone();
        if self.insert(&new).await {
            let mut row = ToolRow {
                message_id,
                call,
                dirty: false,
            };
            row.lighten();
            self.rows.add_tool(id, row);
        }
    }

    /// Stores changed tool rows.
    pub(super) async fn flush_tools(&mut self) {
        self.rows.tools_due = None;
        let changed: Vec<(MessageId, ToolCall)> = self
            .rows
            .tools
            .values_mut()
            .filter_map(|row| {
                let was_dirty = std::mem::take(&mut row.dirty);
                was_dirty.then(|| (row.message_id.clone(), row.call.clone()))
            })
            .collect();
        self.rows.tools.values_mut().for_each(ToolRow::lighten);
        if changed.is_empty() {
            return;
        }
        self.persist("tool calls", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                let now = tx.now();
                for (id, call) in &changed {
                    messages::replace(&mut tx, id, &call.title, &as_json(call), now).await?;
                    emit::message_updated(&mut tx, id).await?;
                }
                self.o.commit(tx).await
            })
        })
        .await;
    }

    /// A subagent's start or end changes count and activity; its progress changes nothing.
    async fn follow_subagent(&mut self, id: &str, call: &ToolCall) {
        if !call.subagent {
            return;
        }
        let Some(live) = &mut self.live else { return };
        let changed = if call.is_terminal() {
            live.subagents.remove(id)
        } else {
            live.subagents.insert(id.to_owned())
        };
        if !changed {
            return;
        }
        let count = live.subagent_count();
        let plan = self.follow("activity", Input::Subagents(count)).await;
        if plan.is_some_and(|plan| plan.after.contains(&Act::Withdraw)) {
            self.withdraw_tickets().await;
        }
    }

    /// The plan is one row per turn, in its newest version.
    pub(super) async fn on_plan(&mut self, entries: Vec<agent::PlanEntry>) {
        let plan = Plan {
            entries: entries
                .into_iter()
                .take(bounds::PLAN_ENTRIES)
                .map(|entry| PlanEntry {
                    content: cut(&entry.content, bounds::TOOL_WORD_BYTES).to_owned(),
                    priority: entry.priority.unwrap_or_else(|| "medium".to_owned()),
                    status: entry.status,
                })
                .collect(),
        };
        let metadata = serde_json::to_value(&plan).unwrap_or_default();
        if let Some(id) = self.rows.plan.clone() {
            self.persist("plan", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.write().await?;
                    let now = tx.now();
                    messages::replace(&mut tx, &id, "Plan", &metadata, now).await?;
                    emit::message_updated(&mut tx, &id).await?;
                    self.o.commit(tx).await
                })
            })
            .await;
            return;
        }
        self.row_barrier().await;
        let new = NewRow {
            metadata,
            ..NewRow::new(Author::Agent, MessageType::Plan, "Plan")
        };
        let id = new.id.clone();
        if self.insert(&new).await {
            self.rows.plan = Some(id);
        }
    }

    pub(super) async fn keep_settings(&mut self, settings: AgentSettings) {
        let session_id = self.session_id.clone();
        self.persist("settings", || {
            Box::pin(async { self.o.keep_settings(&session_id, &settings).await })
        })
        .await;
    }

    pub(super) async fn keep_commands(&mut self, commands: Vec<AgentCommandInfo>) {
        let commands = Arc::new(commands);
        self.persist("commands", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                sessions::set_commands(&mut tx, &self.session_id, &commands).await?;
                let session_id = self.session_id.clone();
                tx.emit(Event::Commands {
                    session_id,
                    commands: Arc::clone(&commands),
                });
                self.o.commit(tx).await
            })
        })
        .await;
    }

    pub(super) async fn keep_usage(&mut self, usage: AgentUsage) {
        self.persist("usage", || {
            Box::pin(async {
                let mut tx = self.o.inner.store.write().await?;
                sessions::set_usage(&mut tx, &self.session_id, &usage).await?;
                tx.emit(Event::Usage {
                    session_id: self.session_id.clone(),
                    usage: usage.clone(),
                });
                self.o.commit(tx).await
            })
        })
        .await;
    }
}

impl Orchestrator {
    /// Keeps and publishes what an agent offers now.
    pub(crate) async fn keep_settings(
        &self,
        session_id: &SessionId,
        settings: &AgentSettings,
    ) -> store::error::Result<()> {
        let mut tx = self.inner.store.write().await?;
        sessions::set_settings(&mut tx, session_id, settings).await?;
        tx.emit(Event::Settings {
            session_id: session_id.clone(),
            settings: Arc::new(settings.clone()),
        });
        self.commit(tx).await
    }
}

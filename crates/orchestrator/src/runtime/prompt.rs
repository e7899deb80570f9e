//! What a reserved turn says to the agent: the texts of its prompts and their files.

use crate::attachments::delivery::Delivery;
use crate::environments::StartFailure;
use crate::runtime::Runtime;
use agentctl::request::PromptPart;
use model::attachment::Accepts;
use model::error::ErrorCategory;
use model::turn::Turn;
use std::path::PathBuf;
use store::{attachments, environments, messages};

impl Runtime {
    /// The prompt of a turn, ready to be written; nothing for a turn without a message. Nothing is marked yet: what
    /// fails here leaves it undelivered.
    pub(super) async fn prompt_parts(&self, turn: &Turn) -> Result<Vec<PromptPart>, StartFailure> {
        let loaded = self
            .persist("prompt", || {
                Box::pin(async {
                    let mut tx = self.o.inner.store.read().await?;
                    let prompts = messages::prompts_of_turn(&mut tx, &turn.id).await?;
                    let mut files = Vec::new();
                    for prompt in prompts
                        .iter()
                        .filter(|prompt| !prompt.attachments.is_empty())
                    {
                        files.extend(attachments::of_message(&mut tx, &prompt.id).await?);
                    }
                    let texts: Vec<String> =
                        prompts.into_iter().map(|prompt| prompt.content).collect();
                    Ok((texts.join("\n\n"), files))
                })
            })
            .await;
        let (text, files) = loaded.ok_or_else(|| unreadable("the prompt could not be read"))?;
        if files.is_empty() {
            return Ok((!text.is_empty())
                .then_some(PromptPart::Text(text))
                .into_iter()
                .collect());
        }
        let delivery = self.delivery().await?;
        let parts = tokio::task::spawn_blocking(move || delivery.parts(&text, &files)).await;
        parts.map_err(|_| unreadable("the attached files could not be read"))?
    }

    /// Where this session's agent gets files, and what it takes in a prompt.
    async fn delivery(&self) -> Result<Delivery, StartFailure> {
        let gone = || unreadable("the agent has ended");
        let live = self.live.as_ref().ok_or_else(gone)?;
        let info = live.connection.info();
        let accepts = Accepts {
            images: info.image,
            texts: info.embedded_context,
        };
        let mut tx = self.o.inner.store.read().await?;
        let environment = environments::get(&mut tx, &live.environment_id).await?;
        let environment = environment.ok_or_else(|| {
            StartFailure::new(
                ErrorCategory::WorkspaceMissing,
                "the session's worktree is not there any more",
            )
        })?;
        Ok(Delivery {
            attachments_dir: self.o.inner.config.attachments_dir(),
            workspace: PathBuf::from(environment.path),
            accepts,
        })
    }
}

fn unreadable(text: &str) -> StartFailure {
    StartFailure::new(ErrorCategory::GenericLaunchFailure, text)
}

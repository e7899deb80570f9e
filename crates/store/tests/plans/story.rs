//! What a server does all day, function by function. Lists have two of each, so that they are asked for as lists.

mod rows;
mod seldom;
mod sessions;
mod surroundings;

use crate::asked::Plans;
use anyhow::Result;
use model::ids::{EnvironmentId, MessageId, SessionId, TaskId, TurnId};
use testkit::story::Story;
use testkit::story::transcript::Asked;

const OPEN: &str = "task_session_messages_open_requests";
const REQUESTS: &str = "task_session_messages_requests";
const CURRENT: &str = "task_session_git_snapshots_current";

/// Two tasks in the middle of their work.
struct Cast {
    ids: Vec<TaskId>,
    task: TaskId,
    environment: EnvironmentId,
    session: SessionId,
    turn: TurnId,
    prompt: MessageId,
    queued: MessageId,
    streaming: MessageId,
    asked: Asked,
    question: Asked,
}

impl Cast {
    async fn of(story: &Story) -> Result<Self> {
        let (task, other) = (story.task().await?, story.task().await?);
        let environment = story.environment(&task, &["root", "docs"]).await?;
        story.bind(&other, &environment).await?;
        let session = story.session(&task, Some(&environment)).await?;
        let (turn, prompt) = story.prompt(&session, "go").await?;
        Ok(Self {
            queued: story.queue(&session, "then").await?,
            streaming: story.stream(&session, &turn, "text").await?,
            asked: story.permission(&session, &turn).await?,
            question: story.question(&session, &turn).await?,
            ids: vec![task.clone(), other],
            task,
            environment,
            session,
            turn,
            prompt,
        })
    }
}

/// Everything, on both engines.
pub(crate) async fn tell(plans: &mut Plans) -> Result<()> {
    let cast = Cast::of(&plans.story).await?;
    rows::summaries_of(plans, &cast).await?;
    rows::lists(plans, &cast).await?;
    sessions::requests_of(plans, &cast).await?;
    sessions::sends(plans, &cast).await?;
    sessions::streams(plans, &cast).await?;
    surroundings::git(plans, &cast).await?;
    surroundings::forge(plans, &cast).await?;
    surroundings::files(plans, &cast).await?;
    surroundings::doors(plans, &cast).await?;
    seldom::seldom(plans, &cast).await?;
    seldom::start(plans, &cast).await
}

//! One fault for each truth about what belongs to what.

use crate::planted::{Cast, Fault, cast};
use anyhow::Result;
use model::attachment::Attachment;
use model::ids::{AttachmentId, MessageId};
use store::attachments;
use store::sql::sql;
use testkit::story::Story;

/// A file of the prompt of this task, or one that waits.
async fn file(story: &Story, of: &Cast, message: Option<&MessageId>) -> Result<AttachmentId> {
    let file = Attachment {
        id: AttachmentId::generate(),
        name: "notes.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        size: 5,
    };
    story
        .change(&[], async |tx| {
            let now = tx.now();
            attachments::insert(tx, &file, &of.task, "00ff", now).await?;
            if let Some(message) = message {
                assert!(attachments::claim(tx, &file.id, &of.task, message, 0).await?);
            }
            Ok(())
        })
        .await?;
    Ok(file.id)
}

pub(crate) async fn faults(story: &Story) -> Result<Vec<Fault>> {
    let mut all = over_the_border(story).await?;
    all.extend(of_files(story).await?);
    all.extend(of_turns(story).await?);
    Ok(all)
}

/// Rows that reach into another workspace.
async fn over_the_border(story: &Story) -> Result<Vec<Fault>> {
    let mut all = Vec::new();
    let one = cast(story).await?;
    let workspace =
        sql("INSERT INTO workspaces (id, revision, name, created_at) VALUES ('far', 1, 'Far', 1)");
    let repository = sql(
        "INSERT INTO repositories (id, workspace_id, revision, name, path, created_at)
         VALUES ('far-repository', 'far', 1, 'far', '/far', 1)",
    );
    let plant = sql(
        "INSERT INTO task_repositories (id, task_id, repository_id, position)
                     VALUES ('far-of-task', $1, 'far-repository', 1)",
    );
    all.push(Fault {
        truth: "task_repository_in_its_workspace",
        offender: "far-of-task".to_owned(),
        plant: vec![workspace, repository, plant.bind(&one.task)],
    });
    let one = cast(story).await?;
    let plant = sql(
        "INSERT INTO task_environment_repos (id, environment_id, repository_id, position, repository_name,
                     display_name, worktree_path, branch)
         SELECT 'far-of-environment', task_environment_id, 'far-repository', 9, 'far', 'far', '/far', 'work'
         FROM task_sessions WHERE id = $1",
    );
    all.push(Fault::of(
        "environment_repository_in_its_workspace",
        "far-of-environment",
        plant.bind(&one.session),
    ));
    let one = cast(story).await?;
    let environment = sql(
        "INSERT INTO task_environments (id, workspace_id, state, path, created_at)
         VALUES ('far-environment', 'far', 'ready', '/far', 1)",
    );
    let plant = sql(
        "INSERT INTO task_environment_bindings (task_id, environment_id, created_at)
                     VALUES ($1, 'far-environment', 1)",
    );
    all.push(Fault {
        truth: "binding_in_its_workspace",
        offender: format!("{} far-environment", one.task),
        plant: vec![environment, plant.bind(&one.task)],
    });
    let one = cast(story).await?;
    let profile = sql(
        "INSERT INTO agent_profiles (id, workspace_id, revision, name, command, args, env, created_at)
         VALUES ('far-profile', 'far', 1, 'far', 'far', '[]', '{}', 1)",
    );
    let plant = sql("UPDATE task_sessions SET agent_profile_id = 'far-profile' WHERE id = $1");
    all.push(Fault {
        truth: "profile_in_its_workspace",
        offender: one.session.to_string(),
        plant: vec![profile, plant.bind(&one.session)],
    });
    let one = cast(story).await?;
    let plant = sql("UPDATE tasks SET parent_id = id WHERE id = $1");
    all.push(Fault::of(
        "parent_in_its_workspace",
        one.task.as_str(),
        plant.bind(&one.task),
    ));
    let (one, other) = (cast(story).await?, cast(story).await?);
    let repository = sql(
        "INSERT INTO task_repositories (id, task_id, repository_id, position) VALUES ('others', $1, $2, 1)",
    );
    let plant = sql("UPDATE task_sessions SET error_task_repository_id = 'others' WHERE id = $1");
    all.push(Fault {
        truth: "error_repository_is_its_tasks",
        offender: one.session.to_string(),
        plant: vec![
            repository.bind(&other.task).bind(&story.repository),
            plant.bind(&one.session),
        ],
    });
    Ok(all)
}

async fn of_files(story: &Story) -> Result<Vec<Fault>> {
    let mut all = Vec::new();
    let (one, other) = (cast(story).await?, cast(story).await?);
    let id = file(story, &one, Some(&one.prompt)).await?;
    let plant = sql("UPDATE message_attachments SET task_id = $2 WHERE id = $1");
    all.push(Fault::of(
        "attachment_task_is_its_messages",
        id.as_str(),
        plant.bind(&id).bind(&other.task),
    ));
    let one = cast(story).await?;
    let id = file(story, &one, Some(&one.prompt)).await?;
    let plant = sql("UPDATE message_attachments SET message_id = $2 WHERE id = $1");
    all.push(Fault::of(
        "attachment_is_a_prompts",
        id.as_str(),
        plant.bind(&id).bind(&one.answer),
    ));
    let one = cast(story).await?;
    let id = file(story, &one, Some(&one.prompt)).await?;
    let plant = sql("UPDATE task_session_messages SET removed = TRUE WHERE id = $1");
    all.push(Fault::of(
        "removed_prompt_has_no_files",
        id.as_str(),
        plant.bind(&one.prompt),
    ));
    let one = cast(story).await?;
    let id = file(story, &one, None).await?;
    let plant = sql("UPDATE message_attachments SET position = 3 WHERE id = $1");
    all.push(Fault::of(
        "attachment_has_place",
        id.as_str(),
        plant.bind(&id),
    ));
    Ok(all)
}

async fn of_turns(story: &Story) -> Result<Vec<Fault>> {
    let mut all = Vec::new();
    let one = cast(story).await?;
    let plant = sql("UPDATE task_session_turns SET authoritative = FALSE WHERE id = $1");
    all.push(Fault::of(
        "prompted_turn_is_authoritative",
        one.turn.as_str(),
        plant.bind(&one.turn),
    ));
    let (one, other) = (cast(story).await?, cast(story).await?);
    let first = story.question(&one.session, &one.turn).await?;
    let second = story.question(&other.session, &other.turn).await?;
    let plant = sql("UPDATE task_session_messages SET pending_id = $2 WHERE id = $1");
    all.push(Fault::of(
        "request_identity_is_one",
        first.pending_id.as_str(),
        plant.bind(&second.message_id).bind(&first.pending_id),
    ));
    let one = cast(story).await?;
    let first = story.question(&one.session, &one.turn).await?;
    let second = story.question(&one.session, &one.turn).await?;
    let plant =
        sql("UPDATE task_session_messages SET pending_id = $2, turn_id = NULL WHERE id = $1");
    all.push(Fault::of(
        "questions_in_one_turn",
        first.pending_id.as_str(),
        plant.bind(&second.message_id).bind(&first.pending_id),
    ));
    let one = cast(story).await?;
    let plant = sql(
        "INSERT INTO executors_running (id, session_id, task_environment_id, pid, process_started,
                     instance_id, started_at) VALUES ('p', $1, 'no such environment', 1, '1', 'i', 1)",
    );
    all.push(Fault::of(
        "process_has_environment",
        one.session.as_str(),
        plant.bind(&one.session),
    ));
    Ok(all)
}

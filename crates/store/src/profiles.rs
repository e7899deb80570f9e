//! Agent profiles.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql};
use model::agent::AgentProfile;
use model::clock::Timestamp;
use model::ids::{AgentProfileId, WorkspaceId};

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("lists and maps of texts serialise")
}

/// Stores a profile.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert(link: &mut Link, profile: &AgentProfile, now: Timestamp) -> Result<()> {
    let insert = sql(
        "INSERT INTO agent_profiles (id, workspace_id, revision, name, command, args, env, default_mode,
                                     default_model, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    );
    link.execute(
        insert
            .bind(&profile.id)
            .bind(&profile.workspace_id)
            .bind(profile.revision)
            .bind(profile.name.as_str())
            .bind(profile.command.as_str())
            .bind(json(&profile.args))
            .bind(json(&profile.env))
            .bind(profile.default_mode.as_deref())
            .bind(profile.default_model.as_deref())
            .bind(now),
    )
    .await?;
    Ok(())
}

/// Replaces everything but id, workspace and revision; the revision rises by one.
///
/// # Errors
/// As [`insert`].
pub async fn replace(link: &mut Link, profile: &AgentProfile) -> Result<()> {
    let update = sql(
        "UPDATE agent_profiles SET revision = revision + 1, name = $2, command = $3, args = $4, env = $5,
                default_mode = $6, default_model = $7 WHERE id = $1",
    );
    link.execute(
        update
            .bind(&profile.id)
            .bind(profile.name.as_str())
            .bind(profile.command.as_str())
            .bind(json(&profile.args))
            .bind(json(&profile.env))
            .bind(profile.default_mode.as_deref())
            .bind(profile.default_model.as_deref()),
    )
    .await?;
    Ok(())
}

/// Whether any session uses it.
///
/// # Errors
/// As [`insert`].
pub async fn in_use(link: &mut Link, id: &AgentProfileId) -> Result<bool> {
    let query =
        sql("SELECT EXISTS (SELECT 1 FROM task_sessions WHERE agent_profile_id = $1) AS used");
    link.one(query.bind(id), "agent profile")
        .await?
        .truth("used")
}

/// Deletes it.
///
/// # Errors
/// As [`insert`].
pub async fn remove(link: &mut Link, id: &AgentProfileId) -> Result<()> {
    link.execute(sql("DELETE FROM agent_profiles WHERE id = $1").bind(id))
        .await?;
    Ok(())
}

/// One profile.
///
/// # Errors
/// As [`insert`].
pub async fn get(link: &mut Link, id: &AgentProfileId) -> Result<Option<AgentProfile>> {
    let row = link
        .maybe(sql("SELECT * FROM agent_profiles WHERE id = $1").bind(id))
        .await?;
    row.as_ref().map(profile).transpose()
}

/// All of a workspace, oldest first: the first is the default.
///
/// # Errors
/// As [`insert`].
pub async fn of_workspace(
    link: &mut Link,
    workspace_id: &WorkspaceId,
) -> Result<Vec<AgentProfile>> {
    let query = sql("SELECT * FROM agent_profiles WHERE workspace_id = $1 ORDER BY created_at, id");
    link.all(query.bind(workspace_id))
        .await?
        .iter()
        .map(profile)
        .collect()
}

fn profile(row: &Row) -> Result<AgentProfile> {
    Ok(AgentProfile {
        id: row.id("id")?,
        workspace_id: row.id("workspace_id")?,
        revision: row.int("revision")?,
        name: row.text("name")?,
        command: row.text("command")?,
        args: row.json("args")?,
        env: row.json("env")?,
        default_mode: row.maybe_text("default_mode")?,
        default_model: row.maybe_text("default_model")?,
    })
}

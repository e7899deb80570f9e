//! Users, workspaces, members and workflows.

use crate::error::Result;
use crate::row::Row;
use crate::sql::{Link, sql};
use model::clock::Timestamp;
use model::ids::{StepId, TaskId, UserId, WorkflowId, WorkspaceId};
use model::workspace::{Role, Step, User, Workflow, Workspace};

/// Stores a person.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn insert_user(link: &mut Link, user: &User, now: Timestamp) -> Result<()> {
    let insert = sql("INSERT INTO users (id, name, created_at) VALUES ($1, $2, $3)");
    link.execute(insert.bind(&user.id).bind(user.name.as_str()).bind(now))
        .await?;
    Ok(())
}

/// A person, if they exist.
///
/// # Errors
/// As [`insert_user`].
pub async fn user(link: &mut Link, id: &UserId) -> Result<Option<User>> {
    let row = link
        .maybe(sql("SELECT id, name FROM users WHERE id = $1").bind(id))
        .await?;
    row.map(|row| {
        Ok(User {
            id: row.id("id")?,
            name: row.text("name")?,
        })
    })
    .transpose()
}

/// The first person of this server: its owner.
///
/// # Errors
/// As [`insert_user`].
pub async fn first_user(link: &mut Link) -> Result<Option<User>> {
    let row = link
        .maybe(sql(
            "SELECT id, name FROM users ORDER BY created_at, id LIMIT 1",
        ))
        .await?;
    row.map(|row| {
        Ok(User {
            id: row.id("id")?,
            name: row.text("name")?,
        })
    })
    .transpose()
}

/// Stores a workspace with its first owner.
///
/// # Errors
/// As [`insert_user`].
pub async fn insert(link: &mut Link, workspace: &Workspace, owner: &UserId) -> Result<()> {
    let insert =
        sql("INSERT INTO workspaces (id, revision, name, created_at) VALUES ($1, $2, $3, $4)");
    link.execute(
        insert
            .bind(&workspace.id)
            .bind(workspace.revision)
            .bind(workspace.name.as_str())
            .bind(workspace.created_at),
    )
    .await?;
    let member =
        sql("INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)");
    link.execute(
        member
            .bind(&workspace.id)
            .bind(owner)
            .bind(Role::Owner.as_str()),
    )
    .await?;
    Ok(())
}

/// The workspaces of a person with their role, oldest first.
///
/// # Errors
/// As [`insert_user`].
pub async fn of_user(link: &mut Link, user_id: &UserId) -> Result<Vec<(Workspace, Role)>> {
    let query = sql(
        "SELECT w.id, w.revision, w.name, w.created_at, m.role FROM workspaces w
                     JOIN workspace_members m ON m.workspace_id = w.id
                     WHERE m.user_id = $1 ORDER BY w.created_at, w.id",
    );
    let rows = link.all(query.bind(user_id)).await?;
    rows.iter()
        .map(|row| Ok((workspace(row)?, Role::parse(&row.text("role")?))))
        .collect()
}

/// What a person may do in a workspace; nothing when they are no member or it does not exist.
///
/// # Errors
/// As [`insert_user`].
pub async fn role(
    link: &mut Link,
    workspace_id: &WorkspaceId,
    user_id: &UserId,
) -> Result<Option<Role>> {
    let query = sql("SELECT role FROM workspace_members WHERE workspace_id = $1 AND user_id = $2");
    let row = link.maybe(query.bind(workspace_id).bind(user_id)).await?;
    row.map(|row| Ok(Role::parse(&row.text("role")?)))
        .transpose()
}

/// Stores a workflow with its steps.
///
/// # Errors
/// As [`insert_user`].
pub async fn insert_workflow(link: &mut Link, workflow: &Workflow, position: i64) -> Result<()> {
    let insert = sql(
        "INSERT INTO workflows (id, workspace_id, revision, name, position) VALUES ($1, $2, $3, $4, $5)",
    );
    link.execute(
        insert
            .bind(&workflow.id)
            .bind(&workflow.workspace_id)
            .bind(workflow.revision)
            .bind(workflow.name.as_str())
            .bind(position),
    )
    .await?;
    for step in &workflow.steps {
        let insert = sql(
            "INSERT INTO workflow_steps (id, workflow_id, name, position, on_turn_start, on_turn_complete)
             VALUES ($1, $2, $3, $4, $5, $6)",
        );
        link.execute(
            insert
                .bind(&step.id)
                .bind(&workflow.id)
                .bind(step.name.as_str())
                .bind(step.position)
                .bind(step.on_turn_start.as_ref())
                .bind(step.on_turn_complete.as_ref()),
        )
        .await?;
    }
    Ok(())
}

/// The workflows of a workspace with their steps, in order.
///
/// # Errors
/// As [`insert_user`].
pub async fn workflows(link: &mut Link, workspace_id: &WorkspaceId) -> Result<Vec<Workflow>> {
    let query = sql("SELECT id, workspace_id, revision, name FROM workflows
                     WHERE workspace_id = $1 ORDER BY position, id");
    let rows = link.all(query.bind(workspace_id)).await?;
    let steps = link
        .all(
            sql(
                "SELECT s.* FROM workflow_steps s JOIN workflows w ON w.id = s.workflow_id
                 WHERE w.workspace_id = $1 ORDER BY s.position, s.id",
            )
            .bind(workspace_id),
        )
        .await?;
    with_steps(&rows, &steps)
}

/// One workflow with its steps.
///
/// # Errors
/// As [`insert_user`].
pub async fn workflow(link: &mut Link, id: &WorkflowId) -> Result<Option<Workflow>> {
    let rows = link
        .all(sql("SELECT id, workspace_id, revision, name FROM workflows WHERE id = $1").bind(id))
        .await?;
    let steps = sql("SELECT * FROM workflow_steps WHERE workflow_id = $1 ORDER BY position, id");
    let steps = link.all(steps.bind(id)).await?;
    Ok(with_steps(&rows, &steps)?.pop())
}

/// The workflow of a task and the step it stands on, if that step may move tasks by itself: when a turn begins, or when
/// one ends. Most do not, and then one statement has said so.
///
/// # Errors
/// As [`insert_user`].
pub async fn acting_step(link: &mut Link, task_id: &TaskId) -> Result<Option<(Workflow, StepId)>> {
    let query = sql(
        "SELECT t.workflow_id, t.step_id FROM tasks t JOIN workflow_steps p ON p.id = t.step_id
         WHERE t.id = $1 AND (p.on_turn_start IS NOT NULL OR p.on_turn_complete IS NOT NULL)",
    );
    let Some(row) = link.maybe(query.bind(task_id)).await? else {
        return Ok(None);
    };
    let step_id: StepId = row.id("step_id")?;
    let workflow = workflow(link, &row.id("workflow_id")?).await?;
    Ok(workflow.map(|workflow| (workflow, step_id)))
}

fn with_steps(rows: &[Row], steps: &[Row]) -> Result<Vec<Workflow>> {
    let mut workflows = Vec::with_capacity(rows.len());
    for row in rows {
        let id: WorkflowId = row.id("id")?;
        let mut own = Vec::new();
        for step in steps {
            if step.id::<WorkflowId>("workflow_id")? == id {
                own.push(Step {
                    id: step.id("id")?,
                    name: step.text("name")?,
                    position: step.int("position")?,
                    on_turn_start: step.maybe_id::<StepId>("on_turn_start")?,
                    on_turn_complete: step.maybe_id::<StepId>("on_turn_complete")?,
                });
            }
        }
        workflows.push(Workflow {
            id,
            workspace_id: row.id("workspace_id")?,
            revision: row.int("revision")?,
            name: row.text("name")?,
            steps: own,
        });
    }
    Ok(workflows)
}

fn workspace(row: &Row) -> Result<Workspace> {
    Ok(Workspace {
        id: row.id("id")?,
        revision: row.int("revision")?,
        name: row.text("name")?,
        created_at: row.time("created_at")?,
    })
}

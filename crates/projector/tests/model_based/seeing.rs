//! Environments and what Git looked like in them.

use crate::change::{GitChange, Looking, Pick, When};
use crate::facts::{EnvironmentFact, LookFact, LookKind};
use crate::scene::{Scene, chosen, chosen_of};
use model::clock::Timestamp;
use model::environment::EnvironmentRepository;
use model::git::{FileChange, FileChangeKind, GitSnapshot, GitStatus, GitTotals, SnapshotTrigger};
use model::ids::{EnvironmentId, EnvironmentRepositoryId, SnapshotId, TaskId};
use store::environments;
use store::error::Result;
use store::snapshots::{self, RecordOutcome};
use store::sql::sql;
use store::tx::WriteTx;

/// The repositories an environment may have; the first is the root.
const NAMES: [&str; 3] = ["", "docs", "web"];

pub(crate) async fn git(tx: &mut WriteTx, scene: &mut Scene, what: &GitChange) -> Result<()> {
    match what {
        GitChange::EnvironmentMade(n, count) => match chosen(&scene.facts.tasks, *n) {
            Some(task) => make(tx, scene, task, *count).await,
            None => Ok(()),
        },
        GitChange::Bound(task, n) => bind(tx, scene, *task, *n).await,
        GitChange::Unbound(task, n) => unbind(tx, scene, *task, *n).await,
        GitChange::EnvironmentDeleted(n)
        | GitChange::RepositoryAdded(n, _)
        | GitChange::RepositoryRemoved(n, _)
        | GitChange::Looked(n, _) => {
            let Some(id) = chosen(&scene.facts.environments, *n) else {
                return Ok(());
            };
            match what {
                GitChange::RepositoryAdded(_, name) => add(tx, scene, &id, *name).await,
                GitChange::RepositoryRemoved(_, name) => remove(tx, scene, &id, *name).await,
                GitChange::Looked(_, looking) => look(tx, scene, &id, looking).await,
                _ => delete(tx, scene, &id).await,
            }
        }
    }
}

async fn make(tx: &mut WriteTx, scene: &mut Scene, task: TaskId, count: usize) -> Result<()> {
    let now = tx.now();
    let id = scene.name(EnvironmentId::parse);
    environments::insert(tx, &id, &scene.story.workspace, "/environments/one", now).await?;
    environments::bind(tx, &task, &id, now).await?;
    let mut fact = EnvironmentFact::default();
    fact.bound.insert(task);
    scene.facts.environments.insert(id.clone(), fact);
    for name in 0..count {
        add(tx, scene, &id, name).await?;
    }
    Scene::touch_bound(tx, &id).await
}

async fn bind(tx: &mut WriteTx, scene: &mut Scene, task: Pick, n: Pick) -> Result<()> {
    let now = tx.now();
    let found = chosen(&scene.facts.tasks, task).zip(chosen(&scene.facts.environments, n));
    let Some((task, id)) = found else {
        return Ok(());
    };
    environments::bind(tx, &task, &id, now).await?;
    tx.touch(&task);
    let environment = scene.facts.environments.entry(id);
    environment.and_modify(|environment| {
        environment.bound.insert(task);
    });
    Ok(())
}

/// Nothing in the product lets a living task go of an environment yet; a summary must follow when something does.
async fn unbind(tx: &mut WriteTx, scene: &mut Scene, task: Pick, n: Pick) -> Result<()> {
    let Some(task) = chosen(&scene.facts.tasks, task) else {
        return Ok(());
    };
    let bound = |environment: &EnvironmentFact| environment.bound.contains(&task);
    let Some(id) = chosen_of(&scene.facts.environments, n, bound) else {
        return Ok(());
    };
    let unbind =
        sql("DELETE FROM task_environment_bindings WHERE task_id = $1 AND environment_id = $2");
    tx.execute(unbind.bind(&task).bind(&id)).await?;
    tx.touch(&task);
    let environment = scene.facts.environments.entry(id);
    environment.and_modify(|environment| {
        environment.bound.remove(&task);
    });
    Ok(())
}

async fn delete(tx: &mut WriteTx, scene: &mut Scene, id: &EnvironmentId) -> Result<()> {
    Scene::touch_bound(tx, id).await?;
    environments::remove(tx, id).await?;
    scene.facts.environments.remove(id);
    scene.facts.looks.retain(|_, look| look.environment != *id);
    Ok(())
}

async fn add(tx: &mut WriteTx, scene: &mut Scene, id: &EnvironmentId, name: Pick) -> Result<()> {
    let name_there = NAMES[name];
    if scene.facts.environments[id]
        .repositories
        .contains(name_there)
    {
        return Ok(());
    }
    let repository = EnvironmentRepository {
        id: scene.name(EnvironmentRepositoryId::parse),
        repository_id: scene.story.repository.clone(),
        repository_name: Some(name_there.to_owned()).filter(|name| !name.is_empty()),
        display_name: format!("repository {name}"),
        worktree_path: format!("/environments/one/{name}"),
        branch: "work".to_owned(),
        base_branch: Some("main".to_owned()),
    };
    let position = i64::try_from(name).expect("a small number");
    environments::add_repository(tx, id, &repository, position).await?;
    let environment = scene.facts.environments.entry(id.clone());
    environment.and_modify(|environment| {
        environment.repositories.insert(name_there.to_owned());
    });
    Scene::touch_bound(tx, id).await
}

/// As [`unbind`]: a repository leaves with its observations.
async fn remove(tx: &mut WriteTx, scene: &mut Scene, id: &EnvironmentId, name: Pick) -> Result<()> {
    let name = NAMES[name];
    let repository =
        "DELETE FROM task_environment_repos WHERE environment_id = $1 AND repository_name = $2";
    let observations = "DELETE FROM task_session_git_snapshots WHERE task_environment_id = $1 AND repository_name = $2";
    for text in [repository, observations] {
        tx.execute(sql(text).bind(id).bind(name)).await?;
    }
    let environment = scene.facts.environments.entry(id.clone());
    environment.and_modify(|environment| {
        environment.repositories.remove(name);
    });
    let looks = &mut scene.facts.looks;
    looks.retain(|_, look| look.environment != *id || look.repository != name);
    Scene::touch_bound(tx, id).await
}

async fn look(
    tx: &mut WriteTx,
    scene: &mut Scene,
    id: &EnvironmentId,
    looking: &Looking,
) -> Result<()> {
    let name = NAMES[looking.repository];
    let current = scene.facts.current_look(id, name);
    let current = current.map(|look| scene.facts.looks[&look].at);
    let fact = LookFact {
        environment: id.clone(),
        repository: name.to_owned(),
        kind: [LookKind::Live, LookKind::Completed, LookKind::Archive][looking.kind],
        at: match (looking.when, current) {
            (When::Now, _) | (_, None) => tx.now(),
            (When::AtTheSameTime, Some(at)) => at,
            (When::Before, Some(at)) => Timestamp::from_micros(at.as_micros() - 5),
        },
        detailed: looking.detailed,
        resolvable: looking.resolvable,
        totals: GitTotals {
            additions: looking.additions,
            deletions: looking.additions / 2,
            changed_files: looking.additions + 1,
            ahead: looking.ahead,
            behind: looking.ahead.map(|ahead| ahead + 1),
        },
    };
    let snapshot_id = scene.name(SnapshotId::parse);
    let snapshot = snapshot(&snapshot_id, &fact);
    if fact.kind == LookKind::Archive {
        archive(tx, &snapshot, name).await?;
    } else {
        // Not newer than what is there: skipped. The look at a turn's end may be the very look of the monitor.
        let late = current.is_some_and(|current| match fact.kind {
            LookKind::Completed => fact.at < current,
            _ => fact.at <= current,
        });
        let outcome = snapshots::record(tx, &snapshot).await?;
        assert_eq!(outcome == RecordOutcome::NotNewer, late);
        if late {
            return Ok(());
        }
        scene.facts.looks.retain(|_, old| {
            let same = old.environment == *id && old.repository == name;
            let replaced = old.kind == LookKind::Live
                || (old.kind == LookKind::Completed && fact.kind == LookKind::Completed);
            !(same && replaced && old.at <= fact.at)
        });
    }
    scene.facts.looks.insert(snapshot_id, fact);
    Scene::touch_bound(tx, id).await
}

fn snapshot(id: &SnapshotId, fact: &LookFact) -> GitSnapshot {
    let file = FileChange {
        path: "src/lib.rs".to_owned(),
        old_path: None,
        kind: FileChangeKind::Modified,
        additions: fact.totals.additions,
        deletions: 0,
        binary: false,
    };
    GitSnapshot {
        id: id.clone(),
        environment_id: fact.environment.clone(),
        session_id: None,
        triggered_by: match fact.kind {
            LookKind::Completed => SnapshotTrigger::AgentCompleted,
            _ => SnapshotTrigger::LiveMonitor,
        },
        status: GitStatus {
            repository_name: Some(fact.repository.clone()).filter(|name| !name.is_empty()),
            timestamp: fact.at,
            branch: Some("work".to_owned()),
            remote_branch: None,
            head_commit: None,
            base_commit: None,
            base_branch: Some("main".to_owned()),
            base_resolvable: fact.resolvable,
            totals: fact.totals,
            files: fact.detailed.then(|| vec![file]),
            truncated: false,
        },
    }
}

/// Nothing in the product stores an archive row yet, but older databases have them: they obey the same order.
async fn archive(tx: &mut WriteTx, snapshot: &GitSnapshot, name: &str) -> Result<()> {
    let status = &snapshot.status;
    let count = |n: Option<u64>| n.map(|n| i64::try_from(n).expect("a small number"));
    let metadata = serde_json::json!({
        "additions": status.totals.additions,
        "deletions": status.totals.deletions,
        "changed_files": status.totals.changed_files,
        "base_resolvable": status.base_resolvable,
    });
    let files = if status.files.is_some() {
        r#"{"src/lib.rs":{"path":"src/lib.rs","kind":"modified","additions":1,"deletions":0}}"#
    } else {
        "{}"
    };
    let insert = sql(
        "INSERT INTO task_session_git_snapshots (id, task_environment_id, snapshot_type, branch, ahead, behind,
                files, metadata, repository_name, created_at)
         VALUES ($1, $2, 'archive', 'work', $3, $4, $5, $6, $7, $8)",
    );
    let insert = insert
        .bind(&snapshot.id)
        .bind(&snapshot.environment_id)
        .bind(count(status.totals.ahead))
        .bind(count(status.totals.behind))
        .bind(files)
        .bind(metadata.to_string())
        .bind(name)
        .bind(status.timestamp);
    tx.execute(insert).await?;
    Ok(())
}

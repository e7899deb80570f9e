//! What goes on beside all that and no summary may depend on: text that grows, what agents report, processes, names.
//!
//! None of it marks its task, so a summary that does depend on it is wrong and nothing says so.

use crate::change::Pick;
use crate::facts::TurnFact;
use crate::scene::{Scene, chosen, chosen_of};
use crate::talking::Row;
use model::agent::{AgentSettings, AgentUsage};
use model::environment::EnvironmentState;
use model::ids::{EnvironmentId, ExecutionId, InstanceId, SessionId};
use model::message::MessageType;
use model::task::TaskState;
use proptest::prelude::*;
use proptest::sample::select;
use store::error::Result;
use store::executions::{self, Execution};
use store::messages;
use store::segments::{self, Segment};
use store::tx::WriteTx;
use store::{environments, sessions, tasks, turns};

#[derive(Clone, Debug)]
pub(crate) enum BesideChange {
    /// The agent goes on with a row, or begins one.
    Streamed(Pick),
    /// Its rows settle, and one of them grows once more.
    Settled(Pick),
    /// Settings, commands, usage, the conversation's own id, a choice, a name.
    Reported(Pick),
    Process(Pick, bool),
    /// The agent showed that it got a prompt.
    Acknowledged(Pick),
    TaskState(Pick, TaskState),
    Interrupted(Pick, bool),
    EnvironmentState(Pick, EnvironmentState),
}

pub(crate) fn beside() -> impl Strategy<Value = BesideChange> {
    use BesideChange::*;
    let pick = || 0..12usize;
    prop_oneof![
        3 => pick().prop_map(Streamed),
        1 => pick().prop_map(Settled),
        2 => pick().prop_map(Reported),
        2 => (pick(), any::<bool>()).prop_map(|(n, lives)| Process(n, lives)),
        4 => pick().prop_map(Acknowledged),
        1 => (pick(), select(model::task::TaskState::ALL)).prop_map(|(n, state)| TaskState(n, state)),
        1 => (pick(), any::<bool>()).prop_map(|(n, now)| Interrupted(n, now)),
        1 => (pick(), select(model::environment::EnvironmentState::ALL)).prop_map(|(n, state)| EnvironmentState(n, state)),
    ]
}

pub(crate) async fn change(tx: &mut WriteTx, scene: &mut Scene, what: &BesideChange) -> Result<()> {
    let now = tx.now();
    match *what {
        BesideChange::Streamed(n)
        | BesideChange::Settled(n)
        | BesideChange::Reported(n)
        | BesideChange::Process(n, _) => match chosen(&scene.facts.sessions, n) {
            Some(session) => of_session(tx, scene, what, &session).await,
            None => Ok(()),
        },
        BesideChange::Acknowledged(n) => {
            // Mostly one that does not count as conversation yet.
            let empty = |turn: &TurnFact| !turn.authoritative && !turn.lifecycle;
            let empty = chosen_of(&scene.facts.turns, n, empty);
            match empty.or_else(|| chosen(&scene.facts.turns, n)) {
                Some(turn) => turns::mark_acknowledged(tx, &turn).await,
                None => Ok(()),
            }
        }
        BesideChange::TaskState(n, state) => match chosen(&scene.facts.tasks, n) {
            Some(task) => tasks::set_state(tx, &task, state, now).await,
            None => Ok(()),
        },
        BesideChange::Interrupted(n, so) => match chosen(&scene.facts.tasks, n) {
            Some(task) => tasks::set_interrupted(tx, &task, so.then_some(now)).await,
            None => Ok(()),
        },
        BesideChange::EnvironmentState(n, state) => match chosen(&scene.facts.environments, n) {
            Some(environment) => environments::set_state(tx, &environment, state).await,
            None => Ok(()),
        },
    }
}

async fn of_session(
    tx: &mut WriteTx,
    scene: &mut Scene,
    what: &BesideChange,
    session: &SessionId,
) -> Result<()> {
    let now = tx.now();
    match *what {
        BesideChange::Streamed(_) => stream(tx, scene, session).await,
        BesideChange::Settled(_) => {
            for id in segments::unsettled(tx, std::slice::from_ref(session)).await? {
                segments::fold(tx, &id, now).await?;
                messages::append_settled(tx, &id, "late words", now).await?;
            }
            Ok(())
        }
        BesideChange::Reported(_) => report(tx, session).await,
        BesideChange::Process(_, true) => {
            let execution = Execution {
                id: scene.name(ExecutionId::parse),
                session_id: session.clone(),
                environment_id: scene.name(EnvironmentId::parse),
                pid: 1,
                process_started: "long ago".to_owned(),
                instance_id: scene.name(InstanceId::parse),
            };
            executions::insert(tx, &execution, now).await
        }
        _ => executions::remove(tx, session).await,
    }
}

async fn stream(tx: &mut WriteTx, scene: &mut Scene, session: &SessionId) -> Result<()> {
    let turn = scene.facts.current_turn(session);
    let unsettled = segments::unsettled(tx, std::slice::from_ref(session)).await?;
    let Some(message_id) = unsettled.into_iter().next() else {
        let row = Row {
            turn: turn.as_ref(),
            streaming: true,
            ..Row::of(session, MessageType::Thought)
        };
        scene.row(tx, row).await?;
        return Ok(());
    };
    // Reading counts segments into the revision, which begins with 1.
    let row = messages::get(tx, &message_id).await?;
    let segment = Segment {
        number: row.expect("it is unsettled").revision,
        text: "more words".to_owned(),
        message_id,
    };
    segments::append(tx, &segment).await?;
    Ok(())
}

async fn report(tx: &mut WriteTx, session: &SessionId) -> Result<()> {
    let usage = AgentUsage {
        used: 7,
        size: 9,
        cost: None,
    };
    sessions::set_settings(tx, session, &AgentSettings::default()).await?;
    sessions::set_commands(tx, session, &[]).await?;
    sessions::set_usage(tx, session, &usage).await?;
    sessions::set_acp_session(tx, session, Some("a conversation")).await?;
    sessions::set_choice(tx, session, Some("a model"), None).await?;
    sessions::rename(tx, session, "another name").await?;
    sessions::raise_pending_revision(tx, session).await
}

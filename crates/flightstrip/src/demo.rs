//! `serve --demo`: a sample repository and tasks in every state a row can be in, so that a newcomer sees the product
//! alive within a minute.
//!
//! Nothing is faked: the tasks are made by the ordinary commands and worked on by the demo agent, started in
//! different ways. A server that has tasks already is left as it is.

mod sample;

use anyhow::Context;
use model::agent::DEMO_COMMAND;
use model::ids::{AgentProfileId, MessageId, RepositoryId, UserId, WorkspaceId};
use model::task::{Task, TaskState};
use model::workspace::Workflow;
use orchestrator::orchestrator::Orchestrator;
use orchestrator::profiles::ProfileFields;
use orchestrator::sends::NewPrompt;
use orchestrator::tasks::{CreateTask, StartAgent};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use store::{profiles, sessions, tasks, workspaces};

/// How the demo agent is started for a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hands {
    /// Asks before it edits.
    Asking,
    /// Edits without asking, and finishes.
    Trusted,
    /// Takes its time.
    Unhurried,
    /// Leaves helpers at work when its turn is over.
    Delegating,
    /// Has done half of its work and asks before it touches anything outside.
    Careful,
    /// Ends as soon as it starts.
    Broken,
}

impl Hands {
    const ALL: [Self; 6] = [
        Self::Asking,
        Self::Trusted,
        Self::Unhurried,
        Self::Delegating,
        Self::Careful,
        Self::Broken,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Asking => "Demo agent",
            Self::Trusted => "Demo agent (trusted)",
            Self::Unhurried => "Demo agent (unhurried)",
            Self::Delegating => "Demo agent (delegating)",
            Self::Careful => "Demo agent (careful)",
            Self::Broken => "Broken agent",
        }
    }

    fn fields(self) -> ProfileFields {
        let mut env = BTreeMap::new();
        let mut args = Vec::new();
        let mut mode = None;
        match self {
            Self::Asking => {}
            Self::Trusted => mode = Some("auto".to_owned()),
            Self::Unhurried => {
                env.insert("FLIGHTSTRIP_DEMO_SCRIPT".to_owned(), UNHURRIED.to_owned());
            }
            Self::Delegating => {
                env.insert("FLIGHTSTRIP_DEMO_SCRIPT".to_owned(), DELEGATING.to_owned());
            }
            Self::Careful => {
                env.insert("FLIGHTSTRIP_DEMO_SCRIPT".to_owned(), CAREFUL.to_owned());
            }
            Self::Broken => args = vec!["--exit-at-once".to_owned(), "3".to_owned()],
        }
        ProfileFields {
            name: self.name().to_owned(),
            command: DEMO_COMMAND.to_owned(),
            args,
            env,
            default_mode: mode,
            default_model: None,
        }
    }
}

const UNHURRIED: &str = "/think The pieces belong together in one place. I will move them step by step and keep every \
     test green on the way.\n/plan Find what belongs together; Move it behind one type; Update the callers\n\
     /say I read the module first, then move one piece at a time.\\n\\n\n/tool read src/billing.rs\n\
     /append src/billing.rs \\n/// Cents in a unit of the currency.\\npub const CENTS: u64 = 100;\\n\n\
     /stream 3600 6 1000";
const DELEGATING: &str = "/say Two helpers look for invoices without a number; I go on when they are back.\n\
     /subagent start Look through 2024\n/subagent start Look through 2025\n\
     /append docs/invoices.md - Numbers are given in order and never twice.\\n";

const CAREFUL: &str = "/think Receivers verify against a single key today. If the verifier accepts a small ring of \
     keys, the newest can sign at once and the old one can expire when nobody uses it any more.\n\
     /plan Let the verifier accept a ring of keys; Sign with the newest; Publish the next key\n\
     /tool read src/lib.rs\n\
     /say Receivers verify against a single key today, so I let the verifier accept a small **ring of keys** and sign \
     with the newest. Old keys expire after an overlap.\\n\\n\n\
     /edit src/webhooks.rs //! Webhooks are signed with the newest key and verified with any live one.\\n\\n\
     /// Keys that are accepted, newest first.\\npub struct KeyRing {\\n    live: Vec<Key>,\\n}\\n\\n\
     /// A signing key.\\npub struct Key(pub [u8; 32]);\\n\\nimpl KeyRing {\\n    \
     /// The key that signs.\\n    pub fn newest(&self) -> Option<&Key> {\\n        self.live.first()\\n    }\\n\\n    \
     /// Whether any live key made this signature.\\n    \
     pub fn verifies(&self, matches: impl Fn(&Key) -> bool) -> bool {\\n        self.live.iter().any(matches)\\n    \
     }\\n}\\n\n\
     /append src/lib.rs pub mod webhooks;\\n\n\
     /append docs/invoices.md - A receiver accepts every live key, so a rotation needs no downtime.\\n\n\
     /run git diff --stat\n\
     /say The code is ready. The next key has to be published where receivers find it.\n\
     /permission vault kv put secret/webhooks/next key=@next.pem\n\
     /say Published.";

/// One task of the demo.
struct Scene {
    title: &'static str,
    description: &'static str,
    hands: Option<Hands>,
    base: Option<&'static str>,
    then: Then,
}

/// What happens to it once it was made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Queue(&'static str),
    State(TaskState),
    /// Finished by a person.
    Done,
}

const fn scene(title: &'static str, description: &'static str, hands: Hands) -> Scene {
    Scene {
        title,
        description,
        hands: Some(hands),
        base: None,
        then: Then::Nothing,
    }
}

const fn idle(title: &'static str, description: &'static str, then: Then) -> Scene {
    Scene {
        title,
        description,
        hands: None,
        base: None,
        then,
    }
}

/// From the bottom of the list to its top: later ones are newer.
const SCENES: &[Scene] = &[
    idle(
        "Vendor the PDF library",
        "The mirror is gone, so this cannot be built.",
        Then::State(TaskState::Failed),
    ),
    idle(
        "Move to the old queue",
        "Superseded by the new queue.",
        Then::State(TaskState::Cancelled),
    ),
    idle(
        "Dark mode for charts",
        "The axes are unreadable on a dark page.",
        Then::Nothing,
    ),
    idle(
        "Rate-limit the public API",
        "Waits for the numbers from support.",
        Then::State(TaskState::Blocked),
    ),
    idle(
        "Choose the retry policy",
        "Ask the team that runs the importer.",
        Then::State(TaskState::WaitingForInput),
    ),
    Scene {
        title: "Remove the legacy exporter",
        description: "Nobody has called it since spring. Say so in the README.",
        hands: Some(Hands::Trusted),
        base: None,
        then: Then::Done,
    },
    scene(
        "Document the cart",
        "Describe in the docs what a cart is and how totals are rounded.",
        Hands::Trusted,
    ),
    scene(
        "Add a test for empty carts",
        "An empty cart must total zero.",
        Hands::Trusted,
    ),
    scene(
        "Split the billing module",
        "Refactor billing: one type for money, one for invoices.",
        Hands::Unhurried,
    ),
    Scene {
        title: "Translate onboarding to Portuguese",
        description: "Start with the welcome mail.",
        hands: Some(Hands::Unhurried),
        base: None,
        then: Then::Queue("And then the invoice mail, please."),
    },
    scene(
        "Backfill invoice numbers",
        "Find invoices without a number and give them one.",
        Hands::Delegating,
    ),
    scene(
        "Import last year's orders",
        "Read the CSV files of last year.",
        Hands::Broken,
    ),
    Scene {
        title: "Upgrade the database in CI",
        description: "Use the release branch.",
        hands: Some(Hands::Asking),
        base: Some("release/9"),
        then: Then::Nothing,
    },
    scene(
        "Fix the rounding of totals",
        "Totals differ by a cent. Add a test that shows it first.",
        Hands::Asking,
    ),
    scene(
        "Rotate the webhook signing keys",
        "Rotate the webhook signing keys without breaking receivers that still verify with the old one.",
        Hands::Careful,
    ),
];

/// Fills an empty server.
pub(crate) async fn seed(
    orchestrator: &Orchestrator,
    owner: &UserId,
    dir: &Path,
) -> anyhow::Result<()> {
    let store = orchestrator.store();
    let (workspace_id, workflow) = {
        let mut tx = store.read().await?;
        let (workspace, _) = workspaces::of_user(&mut tx, owner)
            .await?
            .into_iter()
            .next()
            .context("no workspace")?;
        if !tasks::page(&mut tx, &workspace.id, None, false, None, 1)
            .await?
            .is_empty()
        {
            return Ok(());
        }
        let workflow = workspaces::workflows(&mut tx, &workspace.id)
            .await?
            .into_iter()
            .next();
        (workspace.id, workflow.context("no workflow")?)
    };
    let path = sample::make(&dir.join("sample").join("webshop")).await?;
    let repository = orchestrator
        .add_repository(&workspace_id, &path, None, None)
        .await?;
    let hands = all_hands(orchestrator, &workspace_id).await?;
    for (number, scene) in SCENES.iter().enumerate() {
        let task = create(
            orchestrator,
            &workspace_id,
            &repository.id,
            &hands,
            number,
            scene,
        )
        .await?;
        follow_up(orchestrator, &workflow, &task, scene.then).await?;
    }
    Ok(())
}

/// A profile for every way the demo agent is started; the plain one is there already.
async fn all_hands(
    orchestrator: &Orchestrator,
    workspace_id: &WorkspaceId,
) -> anyhow::Result<BTreeMap<Hands, AgentProfileId>> {
    let existing = {
        let mut tx = orchestrator.store().read().await?;
        profiles::of_workspace(&mut tx, workspace_id).await?
    };
    let mut all = BTreeMap::new();
    for hands in Hands::ALL {
        let known = existing
            .iter()
            .find(|profile| profile.name == hands.name())
            .map(|profile| profile.id.clone());
        let id = match known {
            Some(id) => id,
            None => {
                orchestrator
                    .create_profile(workspace_id, hands.fields())
                    .await?
                    .id
            }
        };
        all.insert(hands, id);
    }
    Ok(all)
}

async fn create(
    orchestrator: &Orchestrator,
    workspace_id: &WorkspaceId,
    repository_id: &RepositoryId,
    hands: &BTreeMap<Hands, AgentProfileId>,
    number: usize,
    scene: &Scene,
) -> anyhow::Result<Task> {
    let new = CreateTask {
        workspace_id: workspace_id.clone(),
        client_id: format!("demo-{number}"),
        title: scene.title.to_owned(),
        description: scene.description.to_owned(),
        workflow_id: None,
        step_id: None,
        repositories: vec![(repository_id.clone(), scene.base.map(str::to_owned))],
        inherit_environment: false,
        parent_id: None,
        start: scene.hands.map(|wanted| StartAgent {
            agent_profile_id: hands.get(&wanted).cloned(),
            prompt: Some(scene.description.to_owned()),
        }),
    };
    Ok(orchestrator.create_task(new).await?)
}

async fn follow_up(
    orchestrator: &Orchestrator,
    workflow: &Workflow,
    task: &Task,
    then: Then,
) -> anyhow::Result<()> {
    match then {
        Then::Nothing => {}
        Then::State(state) => {
            orchestrator
                .update_task(&task.id, None, None, Some(state), None)
                .await?;
        }
        Then::Queue(prompt) => {
            let session_id = session_of(orchestrator, task).await?;
            let prompt = NewPrompt {
                task_id: task.id.clone(),
                session_id,
                message_id: MessageId::generate(),
                content: prompt.to_owned(),
                attachments: Vec::new(),
            };
            orchestrator.add_message(prompt).await?;
        }
        Then::Done => {
            let done = workflow.last_step().context("no last step")?.id.clone();
            let (orchestrator, id) = (orchestrator.clone(), task.id.clone());
            tokio::spawn(async move {
                if finished(&orchestrator, &id).await
                    && let Err(error) = orchestrator.move_task(&id, &done, None).await
                {
                    tracing::warn!(%error, "the demo could not finish a task");
                }
            });
        }
    }
    Ok(())
}

/// How long the demo waits for one of its own steps.
const STEP: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(200);

async fn session_of(
    orchestrator: &Orchestrator,
    task: &Task,
) -> anyhow::Result<model::ids::SessionId> {
    let look = async {
        loop {
            let mut tx = orchestrator.store().read().await?;
            if let Some(session) = sessions::of_task(&mut tx, &task.id)
                .await?
                .into_iter()
                .next()
            {
                return anyhow::Ok(session.id);
            }
            drop(tx);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(STEP, look)
        .await
        .context("the demo's session did not start")?
}

/// Waits until the task is to be reviewed.
async fn finished(orchestrator: &Orchestrator, id: &model::ids::TaskId) -> bool {
    let look = async {
        loop {
            let state = async {
                let mut tx = orchestrator.store().read().await?;
                tasks::get(&mut tx, id).await.map(|task| task.state)
            };
            if matches!(state.await, Ok(TaskState::Review)) {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(STEP, look).await.is_ok()
}

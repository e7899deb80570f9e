//! Who may upload, read and take back files: members of the workspace change, viewers read, and to everybody else
//! there is no such file.

use crate::server::{Answer, Server, add_member, add_user, add_workspace};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use model::ids::{TaskId, UserId};
use model::workspace::Role;
use serde_json::{Value, json};
use store::sql::sql;

testkit::on_every_engine!(crate::server::Server =>
    without_a_secret_there_is_nothing_to_ask,
    to_a_stranger_a_file_is_as_one_that_never_was,
    a_viewer_reads_files_and_changes_none,
    a_member_takes_back_what_waits_and_nothing_else,
    a_stranger_cannot_claim_a_file,
    who_is_no_member_any_more_reads_nothing,
);

/// Somebody who asks, perhaps with a secret.
struct Person<'a> {
    server: &'a Server,
    headers: Vec<(&'static str, String)>,
}

impl<'a> Person<'a> {
    async fn new(server: &'a Server, user: &UserId) -> Result<Self> {
        Ok(Self::with(server, &server.sign_in(user).await?))
    }

    fn with(server: &'a Server, secret: &str) -> Self {
        let headers = vec![("authorization", format!("Bearer {secret}"))];
        Self { server, headers }
    }

    const fn nobody(server: &'a Server) -> Self {
        Self {
            server,
            headers: Vec::new(),
        }
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> Result<Answer> {
        let headers = self.headers.iter();
        let headers: Vec<_> = headers
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        self.server.http(method, path, &headers, body).await
    }

    async fn upload(&self, task: &TaskId) -> Result<Answer> {
        let path = format!("/api/v1/attachments?task_id={task}&name=a.txt");
        self.ask("POST", &path, "the text").await
    }

    async fn read(&self, file: &str) -> Result<Answer> {
        self.ask("GET", &format!("/api/v1/attachments/{file}"), "")
            .await
    }

    async fn take_back(&self, file: &str) -> Result<Answer> {
        self.ask("DELETE", &format!("/api/v1/attachments/{file}"), "")
            .await
    }
}

/// The id of a file that was just uploaded.
fn id_of(uploaded: &Answer) -> Result<String> {
    ensure!(uploaded.status == 201, "{uploaded:?}");
    let answer: Value = serde_json::from_str(&uploaded.body)?;
    Ok(answer["attachment"]["id"]
        .as_str()
        .context("an id")?
        .to_owned())
}

/// How many files lie on disk.
fn on_disk(server: &Server) -> usize {
    let folder = std::fs::read_dir(server.dir.path().join("data/attachments"));
    folder.map_or(0, Iterator::count)
}

/// What the same request of the same person says of an id that nobody has.
async fn expect_as_made_up(person: &Person<'_>, file: &str) -> Result<()> {
    for method in ["GET", "DELETE"] {
        let [real, made_up] = [file, "made-up"].map(|id| format!("/api/v1/attachments/{id}"));
        let real = person.ask(method, &real, "").await?;
        let made_up = person.ask(method, &made_up, "").await?;
        assert_eq!((real.status, real.body), (404, made_up.body), "{method}");
    }
    Ok(())
}

async fn without_a_secret_there_is_nothing_to_ask(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let owner = Person::new(&server, &server.user).await?;
    let file = id_of(&owner.upload(&world.task).await?)?;
    let secret = server.sign_in(&server.user).await?;
    let signed_out = Person::with(&server, &secret);
    assert_eq!(
        signed_out.ask("POST", "/api/v1/sign-out", "").await?.status,
        204
    );
    let guessed = Person::with(&server, &"0".repeat(64));
    for nobody in [Person::nobody(&server), signed_out, guessed] {
        assert_eq!(nobody.upload(&world.task).await?.status, 401);
        assert_eq!(nobody.read(&file).await?.status, 401);
        assert_eq!(nobody.take_back(&file).await?.status, 401);
    }
    assert_eq!(owner.read(&file).await?.body, "the text");
    assert_eq!(on_disk(&server), 1);
    Ok(())
}

async fn to_a_stranger_a_file_is_as_one_that_never_was(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let owner = Person::new(&server, &server.user).await?;
    let file = id_of(&owner.upload(&world.task).await?)?;
    let stranger = add_user(&server.store, "stranger").await?;
    add_workspace(&server.store, "theirs", &stranger).await?;
    let stranger = Person::new(&server, &stranger).await?;
    expect_as_made_up(&stranger, &file).await?;
    let refused = stranger.upload(&world.task).await?;
    let nowhere = stranger.upload(&TaskId::generate()).await?;
    assert_eq!((refused.status, refused.body), (404, nowhere.body));
    assert_eq!(owner.read(&file).await?.body, "the text");
    assert_eq!(on_disk(&server), 1);
    Ok(())
}

async fn a_viewer_reads_files_and_changes_none(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let owner = Person::new(&server, &server.user).await?;
    let file = id_of(&owner.upload(&world.task).await?)?;
    let viewer = add_user(&server.store, "viewer").await?;
    add_member(&server.store, &server.workspace, &viewer, Role::Viewer).await?;
    let viewer = Person::new(&server, &viewer).await?;
    assert_eq!(viewer.read(&file).await?.body, "the text");
    for refused in [
        viewer.upload(&world.task).await?,
        viewer.take_back(&file).await?,
    ] {
        let error: Value = serde_json::from_str(&refused.body)?;
        assert_eq!((refused.status, &error["code"]), (403, &json!("FORBIDDEN")));
    }
    assert_eq!(owner.read(&file).await?.body, "the text");
    assert_eq!(on_disk(&server), 1);
    Ok(())
}

async fn a_member_takes_back_what_waits_and_nothing_else(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    world.open_turn(&server, &world.session).await?;
    let member = add_user(&server.store, "member").await?;
    add_member(&server.store, &server.workspace, &member, Role::Member).await?;
    let (owner, member) = (
        Person::new(&server, &server.user).await?,
        Person::new(&server, &member).await?,
    );
    let waiting = id_of(&owner.upload(&world.task).await?)?;
    let claimed = id_of(&member.upload(&world.task).await?)?;
    let mut client = server.client().await?;
    let prompt = json!({
        "task_id": world.task, "session_id": world.session, "client_message_id": "m-1", "content": "look",
        "attachments": [claimed],
    });
    client.request("message.add", prompt).await?;
    assert_eq!(member.take_back(&waiting).await?.status, 200);
    for person in [&owner, &member] {
        assert_eq!(person.read(&waiting).await?.status, 404);
        assert_eq!(person.take_back(&claimed).await?.status, 404);
        assert_eq!(person.read(&claimed).await?.body, "the text");
    }
    Ok(())
}

async fn a_stranger_cannot_claim_a_file(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let other_task = world.add_task(&server, "other", "").await?;
    let owner = Person::new(&server, &server.user).await?;
    let file = id_of(&owner.upload(&other_task).await?)?;
    let stranger = add_user(&server.store, "stranger").await?;
    let mut client = server
        .client_with(&server.sign_in(&stranger).await?)
        .await?;
    let mut prompt = json!({
        "task_id": other_task, "session_id": world.session, "client_message_id": "m-1", "content": "mine",
        "attachments": [file],
    });
    assert_eq!(
        client.refused("message.add", prompt.clone()).await?,
        "NOT_FOUND"
    );
    // Nor does a member get it into a task that it was not uploaded for.
    prompt["task_id"] = json!(world.task);
    let mut client = server.client().await?;
    assert_eq!(client.refused("message.add", prompt).await?, "NOT_FOUND");
    assert_eq!(owner.take_back(&file).await?.status, 200, "it waits still");
    Ok(())
}

async fn who_is_no_member_any_more_reads_nothing(server: Server) -> Result<()> {
    let world = World::new(&server).await?;
    let owner = Person::new(&server, &server.user).await?;
    let file = id_of(&owner.upload(&world.task).await?)?;
    let leaver = add_user(&server.store, "leaver").await?;
    add_member(&server.store, &server.workspace, &leaver, Role::Member).await?;
    let person = Person::new(&server, &leaver).await?;
    assert_eq!(person.read(&file).await?.status, 200);
    let mut tx = server.store.write().await?;
    let leave = sql("DELETE FROM workspace_members WHERE user_id = $1");
    assert_eq!(tx.execute(leave.bind(&leaver)).await?, 1);
    let _ = tx.commit().await?;
    expect_as_made_up(&person, &file).await?;
    assert_eq!(person.upload(&world.task).await?.status, 404);
    Ok(())
}

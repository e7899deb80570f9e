//! Files on their way up: nobody keeps a place for ever, and nobody has them all.

use crate::server::{Answer, Server, add_member, add_user};
use crate::world::World;
use anyhow::{Context, Result, ensure};
use gateway::uploads::UploadLimits;
use model::bounds;
use model::workspace::Role;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::store::Engine;
use testkit::waiting::until;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

testkit::on_every_engine!(testkit::store::Engine =>
    a_file_that_drips_is_given_up_and_its_place_is_free,
    a_file_that_stops_coming_is_given_up_and_its_place_is_free,
    a_refused_file_is_not_read_for_ever,
    a_person_has_a_share_and_others_have_theirs,
    who_hangs_up_gives_the_place_back,
);

/// Longer than any test takes: what this bounds does not happen.
const NEVER: Duration = Duration::from_secs(600);
/// Soon over, and long enough for a few requests.
const SOON: Duration = Duration::from_millis(300);

/// A gateway with a task, and one person's secret.
struct Scene {
    server: Server,
    world: World,
    secret: String,
}

impl Scene {
    async fn new(engine: Engine, limits: UploadLimits) -> Result<Self> {
        let server = Server::with_uploads(engine, limits).await?;
        let world = World::new(&server).await?;
        let secret = server.sign_in(&server.user).await?;
        Ok(Self {
            server,
            world,
            secret,
        })
    }

    /// Sends the head of an upload that is to have so many bytes.
    async fn begin(&self, secret: &str, bytes: u64) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.server.gateway.address()).await?;
        let head = format!(
            "POST /api/v1/attachments?task_id={}&name=a.txt HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             authorization: Bearer {secret}\r\ncontent-length: {bytes}\r\n\r\n",
            self.world.task,
            self.server.host(),
        );
        stream.write_all(head.as_bytes()).await?;
        Ok(stream)
    }

    /// Uploads a small file whole.
    async fn upload(&self, secret: &str) -> Result<Answer> {
        let mut stream = self.begin(secret, 3).await?;
        stream.write_all(b"abc").await?;
        answer(&mut stream).await
    }

    /// The names of what lies on disk.
    fn on_disk(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.server.dir.path().join("data/attachments"));
        let entries = folder.into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect()
    }

    /// Waits until so many files have begun to be written.
    async fn under_way(&self, count: usize) -> Result<()> {
        until("uploads under way", async || {
            let parts = self.on_disk();
            let parts = parts.iter().filter(|name| name.ends_with(".part"));
            Ok((parts.count() == count).then_some(()))
        })
        .await
    }
}

async fn answer(stream: &mut TcpStream) -> Result<Answer> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    Answer::read(&bytes)
}

/// Sends one byte after the other until the server answers; gives the answer, and how many it took.
async fn drip(stream: &mut TcpStream) -> Result<(Answer, u64)> {
    let mut sent = 0;
    while sent < bounds::ATTACHMENT_BYTES {
        let mut first = [0; 1];
        tokio::select! {
            biased;
            read = stream.peek(&mut first) => {
                read?;
                return Ok((answer(stream).await?, sent));
            }
            ready = stream.writable() => ready?,
        }
        match stream.try_write(b"x") {
            Ok(_) => sent += 1,
            Err(full) if full.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        // None of this waits, and the server runs in this thread too.
        tokio::task::yield_now().await;
    }
    anyhow::bail!("all of it was taken")
}

fn error(answer: &Answer) -> Result<(u16, Value)> {
    let body: Value = serde_json::from_str(&answer.body).context("an error")?;
    Ok((answer.status, body))
}

fn expect(answer: &Answer, status: u16, words: &str) -> Result<()> {
    let (found, body) = error(answer)?;
    ensure!(
        (found, &body["code"], &body["retry"]) == (status, &json!("BUSY"), &json!("later")),
        "{answer:?}"
    );
    let message = body["message"].as_str().unwrap_or_default();
    ensure!(message.contains(words), "{message}");
    Ok(())
}

async fn a_file_that_drips_is_given_up_and_its_place_is_free(engine: Engine) -> Result<()> {
    let limits = UploadLimits {
        of_user: 1,
        stall: NEVER,
        time: SOON,
    };
    let scene = Scene::new(engine, limits).await?;
    let mut slow = scene.begin(&scene.secret, bounds::ATTACHMENT_BYTES).await?;
    let (answer, sent) = drip(&mut slow).await?;
    expect(&answer, 408, "took too long")?;
    ensure!(0 < sent, "it was coming");
    assert_eq!(scene.on_disk(), Vec::<String>::new());
    assert_eq!(scene.upload(&scene.secret).await?.status, 201);
    Ok(())
}

async fn a_file_that_stops_coming_is_given_up_and_its_place_is_free(engine: Engine) -> Result<()> {
    let limits = UploadLimits {
        of_user: 1,
        stall: SOON,
        time: NEVER,
    };
    let scene = Scene::new(engine, limits).await?;
    let mut half = scene.begin(&scene.secret, 6).await?;
    half.write_all(b"abc").await?;
    expect(&answer(&mut half).await?, 408, "stopped coming")?;
    assert_eq!(scene.on_disk(), Vec::<String>::new());
    assert_eq!(scene.upload(&scene.secret).await?.status, 201);
    Ok(())
}

async fn a_refused_file_is_not_read_for_ever(engine: Engine) -> Result<()> {
    let limits = UploadLimits {
        of_user: 1,
        stall: SOON,
        time: NEVER,
    };
    let scene = Scene::new(engine, limits).await?;
    let mut large = scene
        .begin(&scene.secret, 2 * bounds::ATTACHMENT_BYTES)
        .await?;
    let (answer, sent) = drip(&mut large).await?;
    let (status, body) = error(&answer)?;
    assert_eq!((status, &body["code"]), (422, &json!("VALIDATION_ERROR")));
    ensure!(0 < sent, "it was read on for a while");
    assert_eq!(scene.on_disk(), Vec::<String>::new());
    Ok(())
}

async fn a_person_has_a_share_and_others_have_theirs(engine: Engine) -> Result<()> {
    let limits = UploadLimits {
        of_user: 2,
        stall: NEVER,
        time: NEVER,
    };
    let scene = Scene::new(engine, limits).await?;
    let colleague = add_user(&scene.server.store, "colleague").await?;
    let workspace = &scene.server.workspace;
    add_member(&scene.server.store, workspace, &colleague, Role::Member).await?;
    let theirs = scene.server.sign_in(&colleague).await?;
    // A second page of the same person has another secret and the same share.
    let second_page = scene.server.sign_in(&scene.server.user).await?;
    let mut one = scene.begin(&scene.secret, 3).await?;
    let mut two = scene.begin(&second_page, 3).await?;
    scene.under_way(2).await?;
    for secret in [&scene.secret, &second_page] {
        let refused = scene.upload(secret).await?;
        expect(&refused, 429, "uploading other files")?;
    }
    assert_eq!(scene.upload(&theirs).await?.status, 201);
    one.write_all(b"abc").await?;
    assert_eq!(answer(&mut one).await?.status, 201);
    assert_eq!(scene.upload(&scene.secret).await?.status, 201);
    two.write_all(b"abc").await?;
    assert_eq!(answer(&mut two).await?.status, 201);
    Ok(())
}

async fn who_hangs_up_gives_the_place_back(engine: Engine) -> Result<()> {
    let limits = UploadLimits {
        of_user: 1,
        stall: NEVER,
        time: NEVER,
    };
    let scene = Scene::new(engine, limits).await?;
    let half = scene.begin(&scene.secret, 3).await?;
    scene.under_way(1).await?;
    expect(&scene.upload(&scene.secret).await?, 429, "other files")?;
    drop(half);
    until("the place to be free", async || {
        let answer = scene.upload(&scene.secret).await?;
        Ok((answer.status == 201).then_some(()))
    })
    .await?;
    scene.under_way(0).await
}

//! A socket in the data directory, for this machine's own commands: whoever may enter the directory owns the server.
//!
//! One word in, lines out. `sign-in` answers with a fresh address; `status` with the gates of readiness.

use crate::data_dir;
use anyhow::Context;
use gateway::gateway::Gateway;
use gateway::readiness::Readiness;
use model::bounds;
use model::clock::Clock;
use model::ids::UserId;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

/// Asks for an address that signs a browser in.
pub(crate) const SIGN_IN: &str = "sign-in";
/// Asks what the server is doing.
pub(crate) const STATUS: &str = "status";

fn socket(dir: &Path) -> PathBuf {
    dir.join("control.sock")
}

/// What the answers are made from.
pub(crate) struct Control {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) owner: UserId,
    pub(crate) clock: Arc<dyn Clock>,
}

/// Listens in `dir`; a socket that an ended server left is replaced (the instance lock is held).
pub(crate) fn listen(dir: &Path) -> anyhow::Result<UnixListener> {
    let path = socket(dir);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).context("an old control socket cannot be removed");
        }
        _ => {}
    }
    UnixListener::bind(&path).context("the control socket cannot be made; its path may be too long")
}

/// Answers until it is dropped, one exchange after the other.
pub(crate) async fn answer(listener: UnixListener, control: Control) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        // A caller that hangs up or dawdles gets nothing; the next one is served.
        let _ = tokio::time::timeout(bounds::CONTROL_EXCHANGE, exchange(stream, &control)).await;
    }
}

async fn exchange(stream: UnixStream, control: &Control) -> std::io::Result<()> {
    let (input, mut output) = stream.into_split();
    let mut word = String::new();
    BufReader::new(input.take(bounds::CONTROL_WORD_BYTES))
        .read_line(&mut word)
        .await?;
    let answer = match word.trim() {
        SIGN_IN => match control
            .gateway
            .sign_in_url(&control.owner, control.clock.now())
        {
            Ok(url) => format!("{url}\n"),
            Err(error) => format!("{error}\n"),
        },
        STATUS => status(control),
        _ => "unknown command\n".to_owned(),
    };
    output.write_all(answer.as_bytes()).await
}

fn status(control: &Control) -> String {
    let report = control.readiness.report();
    let mut text = format!("listening on {}\n", control.gateway.address());
    for (gate, open) in &report.gates {
        let _ = writeln!(text, "{gate}: {}", if *open { "yes" } else { "no" }); // a String takes every write
    }
    text
}

/// Asks the running server of a data directory, and prints its answer.
pub(crate) async fn ask(dir: Option<PathBuf>, word: &str) -> anyhow::Result<ExitCode> {
    let dir = data_dir::choose(dir, "flightstrip")?;
    let mut stream = UnixStream::connect(socket(&dir)).await.with_context(|| {
        format!(
            "no server runs on {}; start one with `flightstrip serve`",
            dir.display()
        )
    })?;
    stream
        .write_all(format!("{word}\n").as_bytes())
        .await
        .context("the server does not listen")?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .await
        .context("the server did not answer")?;
    write!(std::io::stdout(), "{answer}").context("the answer cannot be printed")?;
    Ok(ExitCode::SUCCESS)
}

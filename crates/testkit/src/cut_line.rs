//! A line to PostgreSQL that breaks at the worst moment: when a transaction is to be committed.
//!
//! What goes over it is passed on unchanged until it is told to break. Then a `COMMIT` is the last thing that its
//! connection carries, or does not even carry; new connections are let through.

use anyhow::Result;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// Part of the socket's file name, as PostgreSQL's clients make it of a port.
const PORT: u16 = 5432;

/// How a client says it, as one message of the simple protocol.
const COMMIT: &[u8] = b"COMMIT\0";

/// Where the line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    /// The commit does not arrive.
    Before,
    /// The commit happens, and its answer does not arrive.
    After,
}

/// The line; it goes with this value.
#[derive(Debug)]
pub struct CutLine {
    url: String,
    breaks: Arc<Breaks>,
    listening: JoinHandle<()>,
    _folder: TempDir,
}

/// What is to break, and what did.
#[derive(Debug, Default)]
struct Breaks {
    armed: Mutex<Armed>,
    done: AtomicU64,
}

#[derive(Debug, Default)]
struct Armed {
    /// How many of the next commits lose their answer.
    unanswered: u32,
    /// A transaction that carries this text is lost with its commit.
    lost: Option<Vec<u8>>,
}

impl Breaks {
    fn armed(&self) -> MutexGuard<'_, Armed> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether these bytes are of a transaction that is to be lost.
    fn names(&self, bytes: &[u8]) -> bool {
        let armed = self.armed();
        let lost = armed.lost.as_deref();
        lost.is_some_and(|text| contains(bytes, text))
    }

    /// Where the line breaks for the commit that comes now.
    fn take(&self, named: bool) -> Option<Break> {
        let mut armed = self.armed();
        let at = if named && armed.lost.take().is_some() {
            Break::Before
        } else if 0 < armed.unanswered {
            armed.unanswered -= 1;
            Break::After
        } else {
            return None;
        };
        self.done.fetch_add(1, Ordering::SeqCst);
        Some(at)
    }
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

enum Server {
    Socket(PathBuf),
    Network(String, u16),
}

impl CutLine {
    /// A line to the database at `url`.
    ///
    /// # Errors
    /// When the URL is not understood or no socket can be made.
    pub fn to(url: &str) -> Result<Self> {
        let options = PgConnectOptions::from_str(url)?;
        let server = Arc::new(match options.get_socket() {
            Some(folder) => Server::Socket(folder.join(format!(".s.PGSQL.{}", options.get_port()))),
            None => Server::Network(options.get_host().to_owned(), options.get_port()),
        });
        let folder = tempfile::tempdir()?;
        let listener = UnixListener::bind(folder.path().join(format!(".s.PGSQL.{PORT}")))?;
        let breaks = Arc::<Breaks>::default();
        let shared = Arc::clone(&breaks);
        let listening = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, breaks) = (Arc::clone(&server), Arc::clone(&shared));
                tokio::spawn(async move {
                    // However it ends, both sides are closed, which is all that a broken line is.
                    let _ = match &*server {
                        Server::Socket(path) => match UnixStream::connect(path).await {
                            Ok(server) => carry(client, server, &breaks).await,
                            Err(error) => Err(error),
                        },
                        Server::Network(host, port) => {
                            match TcpStream::connect((host.as_str(), *port)).await {
                                Ok(server) => carry(client, server, &breaks).await,
                                Err(error) => Err(error),
                            }
                        }
                    };
                });
            }
        });
        let over_us = options.socket(folder.path()).port(PORT);
        Ok(Self {
            url: over_us.to_url_lossy().to_string(),
            breaks,
            listening,
            _folder: folder,
        })
    }

    /// What a store is given to use the line.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The next so many commits happen, and their answers get lost with the connections that they came by.
    pub fn lose_answers(&self, commits: u32) {
        self.breaks.armed().unanswered = commits;
    }

    /// The next transaction that carries this text does not happen: its commit gets lost with its connection.
    pub fn lose_commit_of(&self, text: &str) {
        self.breaks.armed().lost = Some(text.as_bytes().to_vec());
    }

    /// How often it has broken.
    #[must_use]
    pub fn broken(&self) -> u64 {
        self.breaks.done.load(Ordering::SeqCst)
    }
}

impl Drop for CutLine {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn carry(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    mut server: impl AsyncRead + AsyncWrite + Unpin,
    breaks: &Breaks,
) -> std::io::Result<()> {
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut named = false;
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let bytes = &up[..read?];
                if bytes.is_empty() {
                    return Ok(());
                }
                named |= breaks.names(bytes);
                let broken = if contains(bytes, COMMIT) {
                    breaks.take(std::mem::take(&mut named))
                } else {
                    None
                };
                if broken == Some(Break::Before) {
                    return Ok(());
                }
                server.write_all(bytes).await?;
                if broken == Some(Break::After) {
                    // It has happened when there is an answer, of whatever length.
                    return server.read(&mut down).await.map(drop);
                }
            }
            read = server.read(&mut down) => {
                let bytes = &down[..read?];
                if bytes.is_empty() {
                    return Ok(());
                }
                client.write_all(bytes).await?;
            }
        }
    }
}

//! Recordings of four real agents, played through the real connection.
//!
//! A player takes the agent's part over in-memory pipes: what the client said in the recording is said again through
//! our interface, what the agent wrote is written again. The normalised events are snapshots, and every recorded line
//! must end as an event, a reply or a counted skip.

mod describe;
mod pipes;
mod player;

use player::play;

/// One test per recording: `name: file`.
macro_rules! recordings {
    ($($name:ident),+ $(,)?) => {$(
        #[tokio::test(start_paused = true)]
        async fn $name() {
            let name = stringify!($name);
            insta::assert_snapshot!(name, play(name).await);
        }
    )+};
}

recordings!(
    claude,
    claude_load,
    codex,
    codex_load,
    gemini,
    gemini_fs,
    gemini_load,
    opencode,
    opencode_load
);

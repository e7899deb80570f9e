//! One connection's life after the start, owned by one task.
//!
//! The writer, the reader and whoever waits for the process run side by side until all three are done; then the last
//! event is pushed. Asking for the end (a cancelled `ending`) closes the agent's input, and everything else follows from
//! that: the process ends, its output ends, the reader ends.
//!
//! Invariant: the exit is known to [`crate::connection::AgentConnection::stop`] when the process has ended, even while
//! a stalled runtime keeps the reader waiting.

use crate::event::{AgentExit, ExitHow};
use crate::outgoing::OutgoingLines;
use crate::process::AgentProcess;
use crate::reader::{Reader, Stopped};
use model::bounds;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What [`run`] needs beside the reader.
pub(crate) struct Life<W> {
    pub(crate) lines: OutgoingLines,
    pub(crate) to_agent: W,
    pub(crate) process: Option<AgentProcess>,
    pub(crate) ending: CancellationToken,
    pub(crate) end: watch::Sender<Option<AgentExit>>,
}

/// One connection's life: writes, reads to the end, sees the process to its end, says so.
pub(crate) async fn run(
    mut reader: Reader,
    input: impl AsyncBufRead + Unpin,
    life: Life<impl AsyncWrite + Unpin>,
) {
    let Life {
        lines,
        to_agent,
        process,
        ending,
        end,
    } = life;
    let has_process = process.is_some();
    let exited = CancellationToken::new();
    let waiting = async {
        let exit = match process {
            Some(process) => process.see_to_its_end(ending.clone()).await,
            None => {
                ending.cancelled().await;
                no_process(ExitHow::Unasked)
            }
        };
        exited.cancel();
        ending.cancel();
        end.send_replace(Some(exit.clone()));
        exit
    };
    let reading = async {
        let stopped = reader.read_all(input, &exited).await;
        if has_process && matches!(stopped, Stopped::EndOfOutput) {
            // The shim keeps the pipe open as long as it lives, so the exit follows at once and tells more.
            let _ = timeout(bounds::STDIN_CLOSE_GRACE, exited.cancelled()).await;
        }
        let asked = ending.is_cancelled();
        ending.cancel();
        (stopped, asked)
    };
    let (mut exit, (stopped, asked), ()) = tokio::join!(waiting, reading, lines.write_to(to_agent));
    if let Stopped::Fault(fault) = stopped {
        exit.fault = Some(fault);
    }
    if !has_process && asked {
        exit.how = ExitHow::Asked;
    }
    reader.finish(exit);
}

/// The end of a connection that had no process.
pub(crate) fn no_process(how: ExitHow) -> AgentExit {
    AgentExit {
        status: None,
        stderr_tail: String::new(),
        how,
        fault: None,
    }
}

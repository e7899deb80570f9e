//! Lines on their way to an agent's stdin.
//!
//! Requests, cancels and answers of ours are handed over without waiting and refused when the queue is full: an agent
//! that does not read its input must not grow memory here. Refusals of what the *agent* asks for wait instead, which
//! stops reading its stdout: an agent that floods requests without reading the answers blocks only itself.
//!
//! Invariant: lines leave in the order in which they were handed over; once closed, nothing is accepted, what waits
//! gets a moment to be written, and the pipe is closed even while a write hangs.

use crate::error::AgentError;
use model::bounds;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The way in, shared by the handle and the reader.
#[derive(Clone, Debug)]
pub struct Outgoing {
    lines: mpsc::Sender<String>,
    closing: CancellationToken,
}

/// The lines that wait; [`OutgoingLines::write_to`] writes them.
#[derive(Debug)]
pub struct OutgoingLines {
    lines: mpsc::Receiver<String>,
    closing: CancellationToken,
}

/// A new queue; cancelling `closing` closes it.
#[must_use]
pub fn outgoing(closing: CancellationToken) -> (Outgoing, OutgoingLines) {
    let (sender, lines) = mpsc::channel(bounds::AGENT_OUTGOING_LINES);
    (
        Outgoing {
            lines: sender,
            closing: closing.clone(),
        },
        OutgoingLines { lines, closing },
    )
}

impl Outgoing {
    /// Hands a line over.
    ///
    /// # Errors
    /// [`AgentError::NotReading`] when the queue is full, [`AgentError::Gone`] when it is closed.
    pub fn send(&self, line: String) -> Result<(), AgentError> {
        if self.closing.is_cancelled() {
            return Err(AgentError::Gone);
        }
        self.lines.try_send(line).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => AgentError::NotReading,
            mpsc::error::TrySendError::Closed(_) => AgentError::Gone,
        })
    }

    /// Hands a line over, waiting for room. A closed queue swallows it: the agent's input is gone with the agent.
    pub async fn send_waiting(&self, line: String) {
        tokio::select! {
            _ = self.lines.send(line) => {}
            () = self.closing.cancelled() => {}
        }
    }
}

impl OutgoingLines {
    /// Writes lines until the queue is closed or the pipe breaks; then drops `pipe`, which closes the agent's input.
    pub async fn write_to(mut self, mut pipe: impl AsyncWrite + Unpin) {
        let closing = self.closing.clone();
        let cut_off = async {
            closing.cancelled().await;
            sleep(bounds::AGENT_LAST_LINES).await;
        };
        // What is not written by then is lost with the agent that does not read it.
        tokio::select! {
            () = self.write_all(&mut pipe) => {}
            () = cut_off => {}
        }
    }

    async fn write_all(&mut self, pipe: &mut (impl AsyncWrite + Unpin)) {
        loop {
            let line = tokio::select! {
                biased;
                line = self.lines.recv() => line,
                () = self.closing.cancelled() => {
                    self.lines.close();
                    self.lines.recv().await
                }
            };
            let Some(line) = line else { return };
            if write_line(pipe, &line).await.is_err() {
                return;
            }
        }
    }
}

async fn write_line(pipe: &mut (impl AsyncWrite + Unpin), line: &str) -> std::io::Result<()> {
    pipe.write_all(line.as_bytes()).await?;
    pipe.write_all(b"\n").await?;
    pipe.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn lines_leave_in_order_and_the_pipe_closes_after_them() {
        let closing = CancellationToken::new();
        let (outgoing, lines) = outgoing(closing.clone());
        outgoing.send("a".into()).expect("room");
        outgoing.send("b".into()).expect("room");
        closing.cancel();
        assert_eq!(outgoing.send("c".into()), Err(AgentError::Gone));
        let (ours, mut theirs) = tokio::io::duplex(64);
        lines.write_to(ours).await;
        let mut written = String::new();
        theirs.read_to_string(&mut written).await.expect("readable");
        assert_eq!(written, "a\nb\n");
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_hanging_write_does_not_hold_the_pipe_open() {
        let closing = CancellationToken::new();
        let (outgoing, lines) = outgoing(closing.clone());
        let (ours, mut theirs) = tokio::io::duplex(1);
        let writing = tokio::spawn(lines.write_to(ours));
        let mut accepted = 0;
        while outgoing.send("x".repeat(100)).is_ok() {
            accepted += 1;
            tokio::task::yield_now().await;
        }
        assert!(bounds::AGENT_OUTGOING_LINES <= accepted);
        assert_eq!(outgoing.send("y".into()), Err(AgentError::NotReading));
        closing.cancel();
        writing.await.expect("the writer ends");
        let mut rest = Vec::new();
        theirs
            .read_to_end(&mut rest)
            .await
            .expect("closed, not hanging");
    }
}

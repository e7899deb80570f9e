//! Keeps the end of what an agent writes to stderr, for the session error it may become.
//!
//! Invariant: memory is bounded by [`bounds::STDERR_TAIL_BYTES`] whatever the agent writes. The text is never logged.

use model::bounds;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The tail; clones share it.
#[derive(Clone, Debug, Default)]
pub struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
}

impl StderrTail {
    /// Reads `pipe` to its end.
    pub async fn collect(self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 8 * 1024];
        // A broken pipe ends the text like its end does.
        while let Ok(count) = pipe.read(&mut buffer).await {
            if count == 0 {
                return;
            }
            self.append(buffer.get(..count).unwrap_or_default());
        }
    }

    fn append(&self, bytes: &[u8]) {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(bounds::STDERR_TAIL_BYTES);
        kept.drain(..surplus);
    }

    /// The last [`bounds::STDERR_TAIL_LINES`] lines, without blank ones at the end.
    #[must_use]
    pub fn last_lines(&self) -> String {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous());
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let from = lines.len().saturating_sub(bounds::STDERR_TAIL_LINES);
        lines.get(from..).unwrap_or_default().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_lines_are_kept_within_the_bound() {
        let tail = StderrTail::default();
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        tail.clone().collect(text.as_bytes()).await;
        let lines = tail.last_lines();
        assert_eq!(lines.lines().count(), bounds::STDERR_TAIL_LINES);
        assert!(lines.ends_with("line 19999"));
        assert_eq!(tail.bytes.lock().unwrap().len(), bounds::STDERR_TAIL_BYTES);
        assert_eq!(StderrTail::default().last_lines(), "");
    }
}

//! Cuts an agent's stdout into lines of bounded length.
//!
//! Invariant: no more than one line and one read buffer is in memory; a line beyond the bound ends the connection,
//! because nobody can tell where the next message starts inside it.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// After a line longer than this the buffer is given back instead of kept.
const KEPT_CAPACITY: usize = 256 * 1024;

/// Reads lines from `R`.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    line: Vec<u8>,
    limit: usize,
}

/// Why there is no next line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The line is longer than the bound.
    #[error("line longer than {0} bytes")]
    TooLong(usize),
    /// The pipe failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    /// A reader with lines of at most `limit` bytes, without their end.
    pub const fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            line: Vec::new(),
            limit,
        }
    }

    /// The next line without its end; `None` at the end of input. A last line without an end is a line.
    ///
    /// # Errors
    /// [`LineError`] when the line is too long or the pipe fails.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        if KEPT_CAPACITY < self.line.capacity() {
            self.line = Vec::new();
        }
        self.line.clear();
        loop {
            let buffer = self.input.fill_buf().await?;
            if buffer.is_empty() {
                return Ok((!self.line.is_empty()).then_some(self.line.as_slice()));
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = buffer
                .get(..end.unwrap_or(buffer.len()))
                .unwrap_or_default();
            if self.limit < self.line.len() + part.len() {
                return Err(LineError::TooLong(self.limit));
            }
            self.line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(&self.line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], limit: usize) -> (Vec<String>, bool) {
        let mut reader = LineReader::new(input, limit);
        let mut found = Vec::new();
        loop {
            match reader.next().await {
                Ok(Some(line)) => found.push(String::from_utf8_lossy(line).into_owned()),
                Ok(None) => return (found, true),
                Err(LineError::TooLong(_)) => return (found, false),
                Err(LineError::Io(error)) => panic!("{error}"),
            }
        }
    }

    #[tokio::test]
    async fn lines_end_at_a_newline_or_at_the_end() {
        assert_eq!(
            lines(b"a\n\nbc", 10).await,
            (vec!["a".into(), String::new(), "bc".into()], true)
        );
        assert_eq!(lines(b"", 10).await, (vec![], true));
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_the_bound_and_no_longer() {
        assert_eq!(
            lines(b"1234\n5", 4).await,
            (vec!["1234".into(), "5".into()], true)
        );
        assert_eq!(lines(b"1\n12345\n", 4).await, (vec!["1".into()], false));
    }
}

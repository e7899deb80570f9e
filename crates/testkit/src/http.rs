//! Plain HTTP/1.1, one request a connection: enough to be exact about what is sent and what comes back.

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its head, lower case.
    pub head: String,
    /// Its body as text.
    pub body: String,
    /// Its body as it came.
    pub bytes: Vec<u8>,
}

/// Sends a request with these header lines and reads the answer to its end.
///
/// # Errors
/// When the server cannot be reached or does not speak HTTP.
pub async fn send(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl AsRef<[u8]>,
) -> Result<Answer> {
    let body = body.as_ref();
    let mut stream = TcpStream::connect(("127.0.0.1", port))
        .await
        .context("the server is not reached")?;
    let mut request = format!("{method} {path} HTTP/1.1\r\n");
    if !headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("host"))
    {
        request.push_str(&format!("Host: 127.0.0.1:{port}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!(
        "Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    ));
    stream.write_all(request.as_bytes()).await?;
    // A server that refuses a body need not read it to its end.
    let _ = stream.write_all(body).await;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let head_end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let raw = head_end
        .and_then(|at| bytes.get(at + 4..))
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .with_context(|| format!("no HTTP answer to {method} {path}: {text:?}"))?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .context("no status")?;
    let head = head.to_ascii_lowercase();
    let body = if head.contains("transfer-encoding: chunked") {
        dechunk(body)
    } else {
        body.to_owned()
    };
    let bytes = raw.to_vec();
    Ok(Answer {
        status,
        head,
        body,
        bytes,
    })
}

fn dechunk(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else {
            break;
        };
        let Some(chunk) = rest.get(..size) else { break };
        if size == 0 {
            break;
        }
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or("");
    }
    whole
}

//! The agent's ends of the in-memory pipes, and the messages on them.

use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// What the client writes, by line.
pub(crate) type FromClient = Lines<BufReader<ReadHalf<DuplexStream>>>;
/// Where the agent writes.
pub(crate) type ToClient = WriteHalf<DuplexStream>;

/// What stands at a JSON pointer; null when nothing does.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// Sets the id of a message.
pub(crate) fn put_id(message: &mut Value, id: Value) {
    message
        .as_object_mut()
        .expect("a message")
        .insert("id".to_owned(), id);
}

/// The next line of the client.
pub(crate) async fn next_line(lines: &mut FromClient) -> Value {
    let line = lines.next_line().await.expect("readable").expect("a line");
    serde_json::from_str(&line).expect("a message")
}

/// Writes a line to the client.
pub(crate) async fn write(to_client: &mut ToClient, message: &Value) {
    to_client
        .write_all(format!("{message}\n").as_bytes())
        .await
        .expect("room");
}

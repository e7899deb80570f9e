//! `/api/v1/attachments`: files go up here before the message that names them, and come down inert.
//!
//! A file is streamed to disk as it comes, counted and bounded in bytes and in time ([`Uploads`]); nothing of it is kept
//! in memory until its end, and nothing on disk when it does not come whole. What comes down was written by people and
//! by the agents they work with, so a browser must neither run nor guess it: it is a download of a type that runs
//! nothing, in a sandbox.

use super::sign_in::Signed;
use super::{State, refused};
use crate::api::Api;
use crate::refusal::Refusal;
use crate::uploads::Uploads;
use axum::Json;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{self, Extension, Path, Query};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::try_unfold;
use futures_util::{Stream, StreamExt};
use model::attachment::{Attachment, UNKNOWN_TYPE, is_image};
use model::bounds;
use model::ids::{AttachmentId, TaskId};
use serde::Deserialize;
use std::sync::Arc;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout, timeout_at};
use wire::http::Uploaded;
use wire::response::Done;

/// Bytes read from disk at a time.
const CHUNK: usize = 64 * 1024;

/// Whoever opens the address itself gets nothing that could act.
const INERT: &str = "default-src 'none'; sandbox";

/// What an upload says beside its bytes.
#[derive(Debug, Deserialize)]
pub(super) struct UploadOf {
    task_id: TaskId,
    #[serde(default)]
    name: String,
}

/// Why a file was not taken.
enum Untaken {
    /// As a request on the socket is refused.
    Refused(Refusal),
    /// This person uploads as many as one may.
    TooMany,
    /// Nothing of it came any more.
    Stalled,
    /// It kept coming, for too long.
    Late,
}

impl<E: Into<Refusal>> From<E> for Untaken {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

/// `POST /api/v1/attachments?task_id=…&name=…`, the bytes as the body, their type as `Content-Type`.
pub(super) async fn upload(
    extract::State(state): extract::State<Arc<State>>,
    Extension(api): Extension<Arc<Api>>,
    Extension(signed): Extension<Signed>,
    Query(of): Query<UploadOf>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let mut body = body.into_data_stream();
    let uploads = &state.uploads;
    match receive(&api, uploads, &signed, &of, &headers, &mut body).await {
        Ok(attachment) => (StatusCode::CREATED, Json(Uploaded { attachment })).into_response(),
        Err(untaken) => {
            if matches!(untaken, Untaken::Refused(_) | Untaken::TooMany) {
                // Over before its end, or not, the answer is the same.
                let _ = timeout(uploads.limits.stall, drain(&mut body)).await;
            }
            untaken.answer()
        }
    }
}

async fn receive(
    api: &Api,
    uploads: &Arc<Uploads>,
    signed: &Signed,
    of: &UploadOf,
    headers: &HeaderMap,
    body: &mut BodyDataStream,
) -> Result<Attachment, Untaken> {
    require(api, signed, Some(&of.task_id), true, "task").await?;
    let _place = uploads.place(&signed.user_id).ok_or(Untaken::TooMany)?;
    let end = Instant::now() + uploads.limits.time;
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let announced = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| bounds::ATTACHMENT_BYTES < length) {
        return Err(too_large().into());
    }
    let declared = text(header::CONTENT_TYPE).unwrap_or("");
    let mut upload = api
        .orchestrator
        .begin_upload(&of.task_id, &of.name, declared)
        .await?;
    loop {
        let stalled = Instant::now() + uploads.limits.stall;
        match timeout_at(stalled.min(end), body.next()).await {
            // A body that is always there would otherwise never be looked at as late.
            Ok(Some(Ok(_))) | Err(_) if end <= Instant::now() => return Err(Untaken::Late),
            Ok(Some(Ok(chunk))) => upload.write(&chunk).await?,
            Ok(Some(Err(_))) => {
                return Err(Refusal::bad_request("The file did not come whole.").into());
            }
            Ok(None) => return Ok(upload.finish().await?),
            Err(_) => return Err(Untaken::Stalled),
        }
    }
}

/// Reads on: a peer that is still sending when the connection closes does not see why it was refused.
async fn drain(body: &mut BodyDataStream) {
    let mut left = bounds::ATTACHMENT_BYTES;
    while let Some(Ok(chunk)) = body.next().await {
        match left.checked_sub(chunk.len() as u64) {
            Some(less) => left = less,
            None => return,
        }
    }
}

impl Untaken {
    fn answer(self) -> Response {
        let (status, words) = match self {
            Self::Refused(refusal) => return refused(&refusal),
            Self::TooMany => (
                StatusCode::TOO_MANY_REQUESTS,
                "You are uploading other files. Try again when one of them is there.",
            ),
            Self::Stalled => (
                StatusCode::REQUEST_TIMEOUT,
                "The file stopped coming. Try again.",
            ),
            Self::Late => (
                StatusCode::REQUEST_TIMEOUT,
                "The file took too long to come. Try again over a faster line, or send a smaller one.",
            ),
        };
        (status, Json(Refusal::later(words).payload())).into_response()
    }
}

/// `GET /api/v1/attachments/{id}`
pub(super) async fn download(
    Extension(api): Extension<Arc<Api>>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Response {
    match open(&api, &signed, &id).await {
        Ok((attachment, file)) => inert(&attachment, Body::from_stream(bytes_of(file))),
        Err(refusal) => refused(&refusal),
    }
}

async fn open(api: &Api, signed: &Signed, id: &str) -> Result<(Attachment, File), Refusal> {
    let attachment = permitted(api, signed, id, false).await?;
    let file = api.orchestrator.open_attachment(&attachment.id).await?;
    Ok((attachment, file))
}

/// `DELETE /api/v1/attachments/{id}`: takes back a file that no message has.
pub(super) async fn discard(
    Extension(api): Extension<Arc<Api>>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Response {
    let discarded = async {
        let attachment = permitted(&api, &signed, &id, true).await?;
        api.orchestrator.discard_upload(&attachment.id).await?;
        Ok::<_, Refusal>(Done {})
    };
    match discarded.await {
        Ok(done) => Json(done).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// The file of this id, if this person may read (or change) it. A foreign id and a made-up one are alike.
async fn permitted(
    api: &Api,
    signed: &Signed,
    id: &str,
    write: bool,
) -> Result<Attachment, Refusal> {
    let not_found = || Refusal::not_found("attachment");
    let id = AttachmentId::parse(id).map_err(|_| not_found())?;
    let stored = {
        let mut tx = api.store.read().await?;
        store::attachments::get(&mut tx, &id).await?
    };
    let task_id = stored.as_ref().map(|stored| &stored.task_id);
    require(api, signed, task_id, write, "attachment").await?;
    stored.map(|stored| stored.attachment).ok_or_else(not_found)
}

/// That this person may read, or change, what belongs to this task.
async fn require(
    api: &Api,
    signed: &Signed,
    task_id: Option<&TaskId>,
    write: bool,
    noun: &str,
) -> Result<(), Refusal> {
    let not_found = || Refusal::not_found(noun);
    let mut tx = api.store.read().await?;
    let task_id = task_id.ok_or_else(not_found)?;
    let workspace_id = store::scope::of_task(&mut tx, task_id).await?;
    let workspace_id = workspace_id.ok_or_else(not_found)?;
    let role = store::workspaces::role(&mut tx, &workspace_id, &signed.user_id).await?;
    let role = role.ok_or_else(not_found)?;
    if write && !role.may_write() {
        return Err(Refusal::forbidden());
    }
    Ok(())
}

fn bytes_of(file: File) -> impl Stream<Item = std::io::Result<Bytes>> {
    try_unfold(file, async |mut file| {
        let mut chunk = vec![0; CHUNK];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok((read != 0).then(|| (Bytes::from(chunk), file)))
    })
}

fn inert(attachment: &Attachment, body: Body) -> Response {
    let kind = if is_image(&attachment.media_type) {
        attachment.media_type.as_str()
    } else {
        UNKNOWN_TYPE
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    let mut set = |name, text: &str| {
        // Built from checked or encoded text, so it is a header's value; without one there is only less to go by.
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, kind);
    set(header::CONTENT_LENGTH, &attachment.size.to_string());
    set(header::CONTENT_SECURITY_POLICY, INERT);
    set(header::CONTENT_DISPOSITION, &disposition(&attachment.name));
    response
}

/// The name in the form that holds any character.
fn disposition(name: &str) -> String {
    let mut text = "attachment; filename*=UTF-8''".to_owned();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn too_large() -> Refusal {
    Refusal::invalid(format!(
        "A file may have {} MiB at most.",
        bounds::ATTACHMENT_BYTES / (1024 * 1024)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        assert_eq!(
            disposition("a b\"\r\nX: y;.png"),
            "attachment; filename*=UTF-8''a%20b%22%0D%0AX%3A%20y%3B.png"
        );
    }
}

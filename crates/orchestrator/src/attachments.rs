//! Files that people attach: uploaded first, then claimed by the message that names them.
//!
//! The bytes lie in the data directory, one file per row, named by the row's id. A file is written and flushed before
//! its row is, and removed after its row is: a crash in between leaves a file without a row, which the next start
//! removes, and never a row without its file.
//!
//! Where to read next: [`delivery`] for how an agent gets them.

pub(crate) mod delivery;

use crate::error::{CommandError, Result};
use crate::orchestrator::Orchestrator;
use model::attachment::{Attachment, media_type, safe_name};
use model::bounds;
use model::clock::Timestamp;
use model::ids::{AttachmentId, MessageId, TaskId};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::attachments;
use store::tx::WriteTx;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio::sync::OwnedSemaphorePermit;

/// The mark of a file whose upload has not ended.
const PART: &str = ".part";

/// A file that is being uploaded. Dropped unfinished, nothing of it is left.
pub struct Upload {
    orchestrator: Orchestrator,
    id: AttachmentId,
    task_id: TaskId,
    name: String,
    declared: String,
    file: File,
    part: Part,
    size: u64,
    _place: OwnedSemaphorePermit,
}

/// A file on disk that goes with this value.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // When it was renamed it is not there, and whatever else fails is swept at the next start.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Upload {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// `Invalid` beyond [`bounds::ATTACHMENT_BYTES`]; `Busy` when the disk does not take them.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        if bounds::ATTACHMENT_BYTES < self.size {
            return Err(too_large());
        }
        self.file.write_all(bytes).await.map_err(|e| disk(&e))
    }

    /// The file is complete: it is looked through, and waits for its message from now on.
    ///
    /// # Errors
    /// `Busy` when too many wait or the disk fails; `NotFound` when its task is gone.
    pub async fn finish(mut self) -> Result<Attachment> {
        self.file.flush().await.map_err(|e| disk(&e))?;
        self.file.sync_all().await.map_err(|e| disk(&e))?;
        // Whoever uploads may go away meanwhile; from here on file and row are one.
        let tasks = self.orchestrator.inner.tasks.clone();
        tasks.spawn(self.keep()).await.map_err(|_| stopping())?
    }

    async fn keep(mut self) -> Result<Attachment> {
        let (part, place) = (
            self.part.0.clone(),
            self.orchestrator.attachment_file(&self.id),
        );
        let declared = std::mem::take(&mut self.declared);
        let looked = tokio::task::spawn_blocking(move || {
            let bytes = std::fs::read(&part)?;
            std::fs::rename(&part, &place)?;
            Ok((media_type(&declared, &bytes), sha256_hex(&bytes)))
        });
        let (media_type, sha256) = looked
            .await
            .map_err(|_| stopping())?
            .map_err(|e| disk(&e))?;
        let attachment = Attachment {
            id: self.id.clone(),
            name: self.name.clone(),
            media_type,
            size: self.size,
        };
        let kept = self
            .orchestrator
            .keep_upload(&attachment, &self.task_id, &sha256)
            .await;
        // A failed commit may have happened all the same; then the next start knows better what to do with the file.
        if kept.is_err() && !matches!(kept, Err(CommandError::Store(_))) {
            self.orchestrator.remove_files(vec![self.id.clone()]);
        }
        kept.map(|()| attachment)
    }
}

impl Orchestrator {
    /// Begins an upload for a task. The caller has checked who may.
    ///
    /// # Errors
    /// `Busy` when too many are under way or wait, or the disk fails.
    pub async fn begin_upload(
        &self,
        task_id: &TaskId,
        name: &str,
        declared: &str,
    ) -> Result<Upload> {
        let place = Arc::clone(&self.inner.uploads)
            .try_acquire_owned()
            .map_err(|_| {
                CommandError::Busy("other files are being uploaded; try again in a moment".into())
            })?;
        {
            let mut tx = self.inner.store.read().await?;
            refuse_beyond_bounds(attachments::unclaimed(&mut tx, task_id).await?)?;
        }
        let id = AttachmentId::generate();
        let mut part = self.attachment_file(&id).into_os_string();
        part.push(PART);
        let part = PathBuf::from(part);
        let folder = self.inner.config.attachments_dir();
        let mut made = tokio::fs::DirBuilder::new();
        made.recursive(true).mode(0o700);
        made.create(&folder).await.map_err(|e| disk(&e))?;
        let mut options = tokio::fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&part).await.map_err(|e| disk(&e))?;
        Ok(Upload {
            orchestrator: self.clone(),
            id,
            task_id: task_id.clone(),
            name: safe_name(name),
            declared: declared.to_owned(),
            file,
            part: Part(part),
            size: 0,
            _place: place,
        })
    }

    async fn keep_upload(
        &self,
        attachment: &Attachment,
        task_id: &TaskId,
        sha256: &str,
    ) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        let now = tx.now();
        let expired = attachments::remove_waiting_since(&mut tx, waiting_limit(now)).await?;
        store::tasks::get(&mut tx, task_id).await?;
        refuse_beyond_bounds(attachments::unclaimed(&mut tx, task_id).await?)?;
        attachments::insert(&mut tx, attachment, task_id, sha256, now).await?;
        self.commit(tx).await?;
        self.remove_files(expired);
        Ok(())
    }

    /// Removes a file that waits for a message.
    ///
    /// # Errors
    /// `NotFound` when there is none that waits.
    pub async fn discard_upload(&self, id: &AttachmentId) -> Result<()> {
        let mut tx = self.inner.store.write().await?;
        if !attachments::remove_waiting(&mut tx, id).await? {
            return Err(CommandError::NotFound("attachment"));
        }
        self.commit(tx).await?;
        self.remove_files(vec![id.clone()]);
        Ok(())
    }

    /// Opens the bytes of a file, for reading.
    ///
    /// # Errors
    /// `NotFound` when they are not there.
    pub async fn open_attachment(&self, id: &AttachmentId) -> Result<File> {
        File::open(self.attachment_file(id))
            .await
            .map_err(|_| CommandError::NotFound("attachment"))
    }

    /// Gives waiting files to a message that is just being accepted, inside that transaction.
    pub(crate) async fn claim_attachments(
        &self,
        tx: &mut WriteTx,
        task_id: &TaskId,
        message_id: &MessageId,
        ids: &[AttachmentId],
    ) -> Result<()> {
        if bounds::MESSAGE_ATTACHMENTS < ids.len() {
            return Err(CommandError::Invalid(format!(
                "a message takes {} files at most",
                bounds::MESSAGE_ATTACHMENTS
            )));
        }
        // A file that is named twice is not there the second time.
        for (id, position) in ids.iter().zip(0..) {
            if !attachments::claim(tx, id, task_id, message_id, position).await? {
                return Err(CommandError::NotFound("attachment"));
            }
        }
        Ok(())
    }

    /// Removes files whose rows are gone, beside the caller.
    pub(crate) fn remove_files(&self, ids: Vec<AttachmentId>) {
        if ids.is_empty() {
            return;
        }
        let this = self.clone();
        self.spawn(async move {
            for id in ids {
                if let Err(error) = tokio::fs::remove_file(this.attachment_file(&id)).await
                    && error.kind() != std::io::ErrorKind::NotFound
                {
                    tracing::warn!(attachment = %id, kind = %error.kind(), "a file could not be removed; the next start tries again");
                }
            }
        });
    }

    /// At start-up: uploads that waited too long go, and files without a row. Gives how many files.
    pub(crate) async fn sweep_attachments(&self) -> store::error::Result<usize> {
        let mut tx = self.inner.store.write().await?;
        if !attachments::ever_used(&mut tx).await? {
            return Ok(0); // a server that is given the wrong database must not clear the right one's files away
        }
        let now = tx.now();
        let _ = attachments::remove_waiting_since(&mut tx, waiting_limit(now)).await?;
        let kept: BTreeSet<String> = attachments::all(&mut tx)
            .await?
            .iter()
            .map(ToString::to_string)
            .collect();
        self.commit(tx).await?;
        let Ok(mut folder) = tokio::fs::read_dir(self.inner.config.attachments_dir()).await else {
            return Ok(0); // nobody ever attached anything
        };
        let mut removed = 0;
        while let Ok(Some(entry)) = folder.next_entry().await {
            if kept.contains(&*entry.file_name().to_string_lossy()) {
                continue;
            }
            match tokio::fs::remove_file(entry.path()).await {
                Ok(()) => removed += 1,
                Err(error) => {
                    tracing::warn!(kind = %error.kind(), "a file without a row could not be removed");
                }
            }
        }
        Ok(removed)
    }

    pub(crate) fn attachment_file(&self, id: &AttachmentId) -> PathBuf {
        file_of(&self.inner.config.attachments_dir(), id)
    }
}

fn file_of(folder: &Path, id: &AttachmentId) -> PathBuf {
    folder.join(id.as_str())
}

fn waiting_limit(now: Timestamp) -> Timestamp {
    let life = i64::try_from(bounds::UNCLAIMED_LIFE.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_sub(life))
}

fn refuse_beyond_bounds((here, everywhere): (usize, usize)) -> Result<()> {
    if bounds::UNCLAIMED_OF_TASK <= here || bounds::UNCLAIMED <= everywhere {
        return Err(CommandError::Busy(
            "too many uploaded files wait for their message; send or remove some".to_owned(),
        ));
    }
    Ok(())
}

fn too_large() -> CommandError {
    CommandError::Invalid(format!(
        "a file may have {} MiB at most",
        bounds::ATTACHMENT_BYTES / (1024 * 1024)
    ))
}

fn stopping() -> CommandError {
    CommandError::Busy("the server is stopping".to_owned())
}

fn disk(error: &std::io::Error) -> CommandError {
    tracing::warn!(kind = %error.kind(), "an uploaded file could not be stored");
    CommandError::Busy("the server could not store the file; its disk may be full".to_owned())
}

/// SHA-256 in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}"); // a String takes every write
    }
    hex
}

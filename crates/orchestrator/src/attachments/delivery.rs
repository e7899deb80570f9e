//! How an agent gets the files of a prompt: in the prompt itself where it takes them, else as files of the worktree
//! that the prompt names and links.
//!
//! Invariant: everything that can fail is done before the turn is marked as attempted, so a file that cannot be had
//! leaves the prompt undelivered, never half delivered.
//! Invariant: Git never shows these files: their folder ignores all of itself.

use crate::attachments::{file_of, sha256_hex};
use crate::environments::StartFailure;
use agentctl::request::PromptPart;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use model::attachment::{Accepts, Attachment, Carriage};
use model::error::ErrorCategory;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use store::attachments::StoredAttachment;

/// The folder of a worktree that is ours.
const FOLDER: &str = ".flightstrip";

/// Where files are, where they go, and what the agent takes.
pub(crate) struct Delivery {
    /// The folder of the stored bytes.
    pub(crate) attachments_dir: PathBuf,
    /// The folder the agent works in.
    pub(crate) workspace: PathBuf,
    /// What may stand in the prompt.
    pub(crate) accepts: Accepts,
}

impl Delivery {
    /// The parts of a prompt with this text and these files. Blocks: it reads and writes files.
    pub(crate) fn parts(
        &self,
        text: &str,
        files: &[StoredAttachment],
    ) -> Result<Vec<PromptPart>, StartFailure> {
        let mut used = 0;
        let mut parts = Vec::new();
        let mut listed = Vec::new();
        for file in files {
            let attachment = &file.attachment;
            let bytes = self.bytes(file)?;
            match attachment.carriage(self.accepts, used) {
                Carriage::Image => {
                    used += attachment.size;
                    parts.push(PromptPart::Image {
                        mime_type: attachment.media_type.clone(),
                        base64: BASE64_STANDARD.encode(&bytes),
                    });
                }
                Carriage::Text => {
                    used += attachment.size;
                    parts.push(PromptPart::File {
                        uri: format!("attachment:///{}", encoded(&attachment.name)),
                        text: String::from_utf8_lossy(&bytes).into_owned(),
                    });
                }
                Carriage::File => {
                    let path = self
                        .place(attachment, &bytes)
                        .map_err(|error| unplaced(&self.workspace, attachment, &error))?;
                    listed.push(format!("- {path} ({})", attachment.media_type));
                    let whole = self.workspace.join(&path);
                    parts.push(PromptPart::Link {
                        name: attachment.name.clone(),
                        uri: format!("file://{}", encoded(&whole.to_string_lossy())),
                    });
                }
            }
        }
        let text = worded(text, files, &listed);
        Ok(std::iter::once(PromptPart::Text(text))
            .chain(parts)
            .collect())
    }

    fn bytes(&self, file: &StoredAttachment) -> Result<Vec<u8>, StartFailure> {
        let name = &file.attachment.name;
        let failure = |what: &str| {
            let text = format!(
                "the attached file {name} {what}; delete the message and attach the file again"
            );
            StartFailure::new(ErrorCategory::GenericLaunchFailure, text)
        };
        let bytes = fs::read(file_of(&self.attachments_dir, &file.attachment.id))
            .map_err(|_| failure("is not there any more"))?;
        if sha256_hex(&bytes) != file.sha256 {
            return Err(failure("is damaged"));
        }
        Ok(bytes)
    }

    /// Writes a file below our folder of the worktree; gives its path from there. Links are not followed: a worktree is
    /// an agent's, and may hold anything. (Against an agent that swaps a folder at this very moment nothing is gained:
    /// it may write wherever we may.)
    fn place(&self, attachment: &Attachment, bytes: &[u8]) -> io::Result<String> {
        let ours = self.workspace.join(FOLDER);
        folder(&ours)?;
        ignore_all(&ours)?;
        let all = ours.join("attachments");
        folder(&all)?;
        if !ignores_all(&ours) {
            ignore_all(&all)?; // somebody else's folder of this name stays as it is
        }
        let own = all.join(attachment.id.as_str());
        folder(&own)?;
        let file = own.join(&attachment.name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(file)?;
        file.write_all(bytes)?;
        Ok(format!(
            "{FOLDER}/attachments/{}/{}",
            attachment.id, attachment.name
        ))
    }
}

/// Makes a folder, or finds it. Anything else of that name is an error.
fn folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::ErrorKind::NotADirectory.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(path),
        Err(error) => Err(error),
    }
}

fn ignore_all(folder: &Path) -> io::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(folder.join(".gitignore"));
    match made {
        Ok(mut file) => file.write_all(b"*\n"),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether the folder's `.gitignore` is ours. An agent may have put anything there: a link is not followed, a pipe not
/// waited for, and no more is read than the answer takes.
fn ignores_all(folder: &Path) -> bool {
    const OURS: &[u8] = b"*\n";
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(opened) = rustix::fs::open(folder.join(".gitignore"), flags, Mode::empty()) else {
        return false;
    };
    let file = fs::File::from(opened);
    let mut rules = Vec::new();
    file.metadata().is_ok_and(|found| found.is_file())
        && file
            .take(OURS.len() as u64 + 1)
            .read_to_end(&mut rules)
            .is_ok()
        && rules == OURS
}

/// The text with what has to be said about the files.
fn worded(text: &str, files: &[StoredAttachment], listed: &[String]) -> String {
    let mut parts = Vec::new();
    if !text.trim().is_empty() {
        parts.push(text.to_owned());
    } else if listed.is_empty() {
        let names: Vec<_> = files.iter().map(|file| &*file.attachment.name).collect();
        parts.push(format!("Attached: {}", names.join(", ")));
    }
    if !listed.is_empty() {
        parts.push(format!(
            "Attached files, from the working folder:\n{}",
            listed.join("\n")
        ));
    }
    parts.join("\n\n")
}

fn unplaced(workspace: &Path, attachment: &Attachment, error: &io::Error) -> StartFailure {
    if !workspace.is_dir() {
        return StartFailure::new(
            ErrorCategory::WorkspaceMissing,
            "the session's worktree is not there any more",
        );
    }
    StartFailure::new(
        ErrorCategory::WorkspaceInvalid,
        format!(
            "the attached file {} could not be written to {FOLDER} in the worktree: {}",
            attachment.name,
            error.kind()
        ),
    )
}

/// A path as it stands in an address: everything but the plainest characters as `%xx`.
fn encoded(path: &str) -> String {
    path.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;

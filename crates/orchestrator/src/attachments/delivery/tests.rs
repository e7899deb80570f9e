//! What a prompt with files consists of, for agents of every kind.

use super::*;
use model::ids::{AttachmentId, TaskId};
use rustix::fs::{CWD, FileType};
use std::os::unix::fs::symlink;
use tempfile::TempDir;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

struct Place {
    stored: TempDir,
    worktree: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            stored: tempfile::tempdir().unwrap(),
            worktree: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, name: &str, media_type: &str, bytes: &[u8]) -> StoredAttachment {
        let id = AttachmentId::generate();
        fs::write(file_of(self.stored.path(), &id), bytes).unwrap();
        StoredAttachment {
            attachment: Attachment {
                id,
                name: name.to_owned(),
                media_type: media_type.to_owned(),
                size: bytes.len() as u64,
            },
            task_id: TaskId::generate(),
            message_id: None,
            sha256: sha256_hex(bytes),
        }
    }

    fn delivery(&self, all: bool) -> Delivery {
        Delivery {
            attachments_dir: self.stored.path().to_path_buf(),
            workspace: self.worktree.path().to_path_buf(),
            accepts: Accepts {
                images: all,
                texts: all,
            },
        }
    }
}

#[test]
fn what_an_agent_takes_stands_in_the_prompt() {
    let place = Place::new();
    let files = [
        place.file("a.png", "image/png", PNG),
        place.file("b c.txt", "text/plain", "größer".as_bytes()),
    ];
    let parts = place.delivery(true).parts("look", &files).unwrap();
    let expected = [
        PromptPart::Text("look".to_owned()),
        PromptPart::Image {
            mime_type: "image/png".to_owned(),
            base64: "iVBORw0KGgo=".to_owned(),
        },
        PromptPart::File {
            uri: "attachment:///b%20c.txt".to_owned(),
            text: "größer".to_owned(),
        },
    ];
    assert_eq!(parts, expected);
    assert!(!place.worktree.path().join(FOLDER).exists());
    let wordless = place.delivery(true).parts(" ", &files).unwrap();
    assert_eq!(
        wordless.first(),
        Some(&PromptPart::Text("Attached: a.png, b c.txt".to_owned()))
    );
}

#[test]
fn what_it_does_not_take_is_a_named_file() {
    let place = Place::new();
    let file = place.file("a.png", "image/png", PNG);
    let path = format!(".flightstrip/attachments/{}/a.png", file.attachment.id);
    for _ in 0..2 {
        // Twice, as when a prompt is sent again.
        let parts = place
            .delivery(false)
            .parts("look", std::slice::from_ref(&file))
            .unwrap();
        let [PromptPart::Text(text), PromptPart::Link { name, uri }] = parts.as_slice() else {
            panic!("{parts:?}");
        };
        assert_eq!(
            *text,
            format!("look\n\nAttached files, from the working folder:\n- {path} (image/png)")
        );
        assert_eq!(name, "a.png");
        assert!(
            uri.starts_with("file:///") && uri.ends_with("/a.png"),
            "{uri}"
        );
        let ours = place.worktree.path();
        assert_eq!(fs::read(ours.join(&path)).unwrap(), PNG);
        assert_eq!(
            fs::read(ours.join(FOLDER).join(".gitignore")).unwrap(),
            b"*\n"
        );
    }
}

#[test]
fn a_folder_of_somebody_else_stays_as_it_is() {
    let place = Place::new();
    let theirs = place.worktree.path().join(FOLDER);
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join(".gitignore"), "*.log\n").unwrap();
    let file = place.file("a.bin", "application/zip", b"PK");
    place.delivery(true).parts("", &[file]).unwrap();
    assert_eq!(fs::read(theirs.join(".gitignore")).unwrap(), b"*.log\n");
    assert_eq!(
        fs::read(theirs.join("attachments/.gitignore")).unwrap(),
        b"*\n"
    );
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), place.worktree.path().join(FOLDER)).unwrap();
    let file = place.file("a.bin", "application/zip", b"PK");
    let refused = place.delivery(true).parts("", &[file]).unwrap_err();
    assert_eq!(refused.category, ErrorCategory::WorkspaceInvalid);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_or_missing_file_is_not_delivered() {
    let place = Place::new();
    let file = place.file("a.txt", "text/plain", b"one");
    let stored = file_of(place.stored.path(), &file.attachment.id);
    fs::write(&stored, b"two").unwrap();
    let files = [file];
    let refused = place.delivery(true).parts("", &files).unwrap_err();
    assert!(
        refused.text.contains("a.txt is damaged"),
        "{}",
        refused.text
    );
    fs::remove_file(&stored).unwrap();
    let refused = place.delivery(true).parts("", &files).unwrap_err();
    assert!(refused.text.contains("is not there"), "{}", refused.text);
}

/// A pipe would be waited for, a device or a large file read without end.
#[test]
fn whatever_stands_for_our_gitignore_holds_nothing_up() {
    type Plant = fn(&Path);
    let plants: [Plant; 4] = [
        |path| rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
        |path| symlink("/dev/zero", path).unwrap(),
        |path| fs::create_dir(path).unwrap(),
        |path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
    ];
    for plant in plants {
        let place = Place::new();
        let theirs = place.worktree.path().join(FOLDER);
        fs::create_dir(&theirs).unwrap();
        plant(&theirs.join(".gitignore"));
        let file = place.file("a.bin", "application/zip", b"PK");
        place.delivery(true).parts("", &[file]).unwrap();
        let own = fs::read(theirs.join("attachments/.gitignore")).unwrap();
        assert_eq!(own, b"*\n");
    }
}

//! Files that people attach to messages: what is known of one, and the rules for its name and its kind.
//!
//! Name and media type come from a browser and may be anything. The name becomes one that is safe in a header and as
//! a file's; the media type is kept only as far as the bytes bear it out, so that nothing is handed to an agent as an
//! image that is none.

use crate::bounds;
use crate::ids::AttachmentId;
use crate::text;
use serde::{Deserialize, Serialize};

/// What counts as "nobody knows".
pub const UNKNOWN_TYPE: &str = "application/octet-stream";

/// An attached file as clients see it; its bytes are had by HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub struct Attachment {
    /// Its id.
    pub id: AttachmentId,
    /// A file name of at most `bounds::ATTACHMENT_NAME_BYTES`, without folders.
    pub name: String,
    /// `type/subtype`, lower case, without parameters; `application/octet-stream` when it is not known.
    pub media_type: String,
    /// Bytes.
    pub size: u64,
}

/// How a file is given to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// Its bytes, as an image of the prompt.
    Image,
    /// Its text, as a resource of the prompt.
    Text,
    /// As a file of the worktree that the prompt names.
    File,
}

/// What an agent takes in a prompt, beside text and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Images.
    pub images: bool,
    /// Texts of files.
    pub texts: bool,
}

impl Attachment {
    /// How this file goes to an agent that accepts this, when so many bytes of its prompt are files already.
    #[must_use]
    pub fn carriage(&self, accepts: Accepts, used: u64) -> Carriage {
        let fits = |limit| self.size <= limit && used + self.size <= bounds::INLINE_TOTAL_BYTES;
        if accepts.images && is_image(&self.media_type) && fits(bounds::INLINE_IMAGE_BYTES) {
            Carriage::Image
        } else if accepts.texts && is_text(&self.media_type) && fits(bounds::INLINE_TEXT_BYTES) {
            Carriage::Text
        } else {
            Carriage::File
        }
    }
}

/// Whether it is a raster image that browsers and models know. SVG is not: it is a document that can hold scripts.
#[must_use]
pub fn is_image(media_type: &str) -> bool {
    MAGIC
        .iter()
        .any(|(kind, _)| *kind == media_type && kind.starts_with("image/"))
}

/// Whether a file of this type holds text.
#[must_use]
pub fn is_text(media_type: &str) -> bool {
    let ends = ["+json", "+xml", "+yaml"];
    let named = [
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/x-sh",
        "application/sql",
    ];
    media_type.starts_with("text/")
        || named.contains(&media_type)
        || ends.iter().any(|end| media_type.ends_with(end))
}

/// What files of these types begin with; `?` stands for any byte.
const MAGIC: [(&str, &[u8]); 5] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF????WEBP"),
    ("application/pdf", b"%PDF-"),
];

fn begins_like(bytes: &[u8], magic: &[u8]) -> bool {
    magic.len() <= bytes.len()
        && magic
            .iter()
            .zip(bytes)
            .all(|(wanted, byte)| *wanted == b'?' || wanted == byte)
}

/// The media type of a file that was declared to be `declared`: that, unless its bytes say otherwise. What is
/// declared as nothing in particular is recognised by its bytes.
#[must_use]
pub fn media_type(declared: &str, bytes: &[u8]) -> String {
    let declared = essence(declared);
    let found = MAGIC
        .iter()
        .find(|(_, magic)| begins_like(bytes, magic))
        .map(|(kind, _)| *kind);
    let readable = || !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    let known = MAGIC.iter().any(|(kind, _)| *kind == declared);
    let kept = if declared.is_empty() || declared == UNKNOWN_TYPE {
        found.unwrap_or(if !bytes.is_empty() && readable() {
            "text/plain"
        } else {
            UNKNOWN_TYPE
        })
    } else if known {
        // A wrong kind of image is often only a wrong ending; what it really is serves as well.
        found.unwrap_or(UNKNOWN_TYPE)
    } else if is_text(&declared) && !readable() {
        UNKNOWN_TYPE
    } else {
        &declared
    };
    kept.to_owned()
}

/// `type/subtype` of a declared media type in lower case, or nothing when it is not of that form.
fn essence(declared: &str) -> String {
    let essence = declared.split(';').next().unwrap_or("").trim();
    let token = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    match essence.split_once('/') {
        Some((kind, subtype))
            if token(kind) && token(subtype) && essence.len() <= bounds::MEDIA_TYPE_BYTES =>
        {
            essence.to_ascii_lowercase()
        }
        _ => String::new(),
    }
}

/// A file name from whatever a browser sent: the part behind the last separator, without control characters, marks
/// that turn the direction of text, and leading dots; cut before its ending. Never empty.
#[must_use]
pub fn safe_name(wanted: &str) -> String {
    let last = wanted.rsplit(['/', '\\']).next().unwrap_or("");
    let kept: String = last
        .chars()
        .map(|c| if c.is_control() || "<>:\"|?*".contains(c) { '_' } else { c })
        .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .collect();
    let plain = kept
        .trim()
        .trim_start_matches('.')
        .trim_end_matches('.')
        .trim();
    if plain.is_empty() {
        return "file".to_owned();
    }
    if plain.len() <= bounds::ATTACHMENT_NAME_BYTES {
        return plain.to_owned();
    }
    let ending = plain
        .rfind('.')
        .and_then(|at| plain.get(at..))
        .filter(|ending| ending.len() <= 16)
        .unwrap_or("");
    let stem = text::cut(plain, bounds::ATTACHMENT_NAME_BYTES - ending.len());
    format!("{stem}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    #[test]
    fn a_name_becomes_a_file_name() {
        for (wanted, expected) in [
            ("Screenshot 1.png", "Screenshot 1.png"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\log.txt", "log.txt"),
            (".gitignore", "gitignore"),
            ("..", "file"),
            ("", "file"),
            ("a\r\nb\0.txt", "a__b_.txt"),
            ("gnp.\u{202e}exe", "gnp.exe"),
            ("Bericht – größer.pdf", "Bericht – größer.pdf"),
        ] {
            assert_eq!(safe_name(wanted), expected, "{wanted:?}");
        }
        let long = safe_name(&format!("{}.tar.gz", "ü".repeat(300)));
        assert!(
            long.len() <= bounds::ATTACHMENT_NAME_BYTES && long.ends_with(".gz"),
            "{long}"
        );
    }

    #[test]
    fn a_type_is_kept_as_far_as_the_bytes_bear_it_out() {
        for (declared, bytes, expected) in [
            ("image/png", PNG, "image/png"),
            ("IMAGE/PNG; x=y", PNG, "image/png"),
            ("image/jpeg", PNG, "image/png"),
            ("image/png", b"<script>".as_slice(), UNKNOWN_TYPE),
            ("", PNG, "image/png"),
            ("application/octet-stream", b"%PDF-1.7", "application/pdf"),
            ("", b"hello", "text/plain"),
            ("", b"he\0llo", UNKNOWN_TYPE),
            ("", b"", UNKNOWN_TYPE),
            ("text/x-rust", b"fn main() {}", "text/x-rust"),
            ("text/plain", b"\xff\xfe", UNKNOWN_TYPE),
            ("image/svg+xml", b"<svg/>", "image/svg+xml"),
            ("application/zip", b"PK", "application/zip"),
            ("nonsense", b"hello", "text/plain"),
            ("text/pl ain\r\nX: y", b"hello", "text/plain"),
        ] {
            assert_eq!(media_type(declared, bytes), expected, "{declared:?}");
        }
        assert!(!is_image("image/svg+xml") && is_text("image/svg+xml"));
    }

    #[test]
    fn a_file_goes_the_way_that_the_agent_takes() {
        let file = |media_type: &str, size| Attachment {
            id: AttachmentId::generate(),
            name: "f".to_owned(),
            media_type: media_type.to_owned(),
            size,
        };
        let all = Accepts {
            images: true,
            texts: true,
        };
        let check = |file: Attachment, accepts, used, expected| {
            assert_eq!(file.carriage(accepts, used), expected, "{file:?}");
        };
        check(file("image/png", 9), all, 0, Carriage::Image);
        check(file("image/png", 9), Accepts::default(), 0, Carriage::File);
        check(file("text/plain", 9), all, 0, Carriage::Text);
        check(file("application/pdf", 9), all, 0, Carriage::File);
        let large = bounds::INLINE_IMAGE_BYTES + 1;
        check(file("image/png", large), all, 0, Carriage::File);
        check(
            file("image/png", 9),
            all,
            bounds::INLINE_TOTAL_BYTES - 8,
            Carriage::File,
        );
        check(
            file("image/png", 9),
            all,
            bounds::INLINE_TOTAL_BYTES - 9,
            Carriage::Image,
        );
    }
}

//! Text rules: bounded previews, masked secrets, and the one text policy of the store.
//!
//! Agent output is hostile input. A preview shown in a row is one line: control characters become spaces, terminal
//! colours are stripped, and what looks like a secret is masked before anything is cut, so that a cut can never
//! uncover half of one.

/// Cuts `text` to at most `limit` UTF-8 bytes, on a character boundary (ERR-03).
#[must_use]
pub fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0);
    text.get(..end).unwrap_or("")
}

/// The number of UTF-16 code units of `text`, the unit of offsets on the wire.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Applies the store's text policy to text that is already valid Unicode: U+0000 becomes U+FFFD, because
/// PostgreSQL cannot hold it; nothing else changes, and the length in UTF-16 units stays the same (STR-02).
#[must_use]
pub fn storable(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\0') {
        text.replace('\0', "\u{FFFD}").into()
    } else {
        text.into()
    }
}

/// One readable line from arbitrary output: colours stripped, control characters to spaces, runs of white space
/// joined, secrets masked, cut to `limit` bytes.
#[must_use]
pub fn preview(text: &str, limit: usize) -> String {
    let plain = strip_terminal(text);
    let mut line = String::with_capacity(plain.len().min(limit * 2));
    for word in plain
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let masked = mask_secrets(&line);
    cut(&masked, limit).trim_end().to_owned()
}

/// Removes terminal escape sequences: CSI (`ESC [ … letter`), OSC (`ESC ] … BEL` or `ESC \`), and two-character ones.
#[must_use]
pub fn strip_terminal(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                for inner in chars.by_ref() {
                    if ('\u{40}'..='\u{7e}').contains(&inner) {
                        break;
                    }
                }
            }
            Some(']') => {
                while let Some(inner) = chars.next() {
                    if inner == '\u{7}' {
                        break;
                    }
                    if inner == '\u{1b}' {
                        chars.next_if_eq(&'\\');
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    plain
}

/// What replaces a secret.
const MASK: &str = "•••";

/// Prefixes of well-known credentials; what follows them up to the next separator is masked.
const SECRET_PREFIXES: &[&str] = &[
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
];

/// Names after which `=` or `:` a value is masked, compared without case.
const SECRET_NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
];

/// Masks what looks like a credential in one line of words: known prefixes, the word after `Bearer` or `Basic`,
/// values of names such as `token=`, and passwords in URLs.
#[must_use]
pub fn mask_secrets(line: &str) -> String {
    let mut masked = String::with_capacity(line.len());
    let mut after_scheme = false;
    for (index, word) in line.split(' ').enumerate() {
        if 0 < index {
            masked.push(' ');
        }
        let bare = word.trim_end_matches([',', ';', '"', '\'']);
        if after_scheme && 8 <= bare.len() {
            masked.push_str(MASK);
        } else {
            masked.push_str(&mask_word(word));
        }
        let lower = bare.to_ascii_lowercase();
        after_scheme = lower.ends_with("bearer")
            || lower.ends_with("basic")
            || SECRET_NAMES.iter().any(|name| {
                lower
                    .strip_suffix([':', '='])
                    .is_some_and(|start| start.trim_matches('"').ends_with(name))
            });
    }
    masked
}

fn mask_word(word: &str) -> String {
    if let Some(masked) = mask_url_password(word) {
        return masked;
    }
    if let Some(at) = word.find(['=', ':']) {
        let (name, value) = word.split_at(at);
        let name_lower = name
            .trim_matches(['"', '\'', '-', '?', '&'])
            .to_ascii_lowercase();
        if 1 < value.len()
            && SECRET_NAMES
                .iter()
                .any(|secret| name_lower.ends_with(secret))
        {
            return format!("{name}{}{MASK}", value.get(..1).unwrap_or("="));
        }
    }
    for prefix in SECRET_PREFIXES {
        if let Some(at) = word.find(prefix) {
            let rest = word.get(at + prefix.len()..).unwrap_or("");
            let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
            let length = length.unwrap_or(rest.len());
            if 12 <= length {
                let head = word.get(..at).unwrap_or("");
                return format!("{head}{prefix}{MASK}{}", rest.get(length..).unwrap_or(""));
            }
        }
    }
    word.to_owned()
}

fn mask_url_password(word: &str) -> Option<String> {
    let start = word.find("://")? + 3;
    let rest = word.get(start..)?;
    let at = rest.find('@')?;
    let credentials = rest.get(..at)?;
    if credentials.contains('/') {
        return None;
    }
    Some(format!("{}{MASK}{}", word.get(..start)?, rest.get(at..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn err_03_a_cut_never_splits_a_character() {
        assert_eq!(cut("añb", 2), "a");
        assert_eq!(cut("añb", 3), "añ");
        assert_eq!(cut("abc", 8), "abc");
        assert_eq!(cut("🦀", 3), "");
    }

    #[test]
    fn a_preview_is_one_inert_line() {
        let text = "\u{1b}[31merror\u{1b}[0m:\n\tbad\u{7} <img src=x>\u{1b}]0;title\u{7} end";
        assert_eq!(preview(text, 512), "error: bad <img src=x> end");
        assert_eq!(preview("abc def", 5), "abc d");
    }

    #[test]
    fn secrets_are_masked_before_the_cut() {
        let check = |text: &str, shown: &str| assert_eq!(preview(text, 512), shown);
        check(
            "Authorization: Bearer abcdefghijklmnop failed",
            "Authorization: Bearer ••• failed",
        );
        check("OPENAI_API_KEY=sk-aaaaaaaaaaaaaaaa", "OPENAI_API_KEY=•••");
        check("key sk-ant-aaaaaaaaaaaaaaaa, bad", "key sk-•••, bad");
        check(
            "https://me:hunter2@host/x failed",
            "https://•••@host/x failed",
        );
        check("token: 1234567890", "token: •••");
        check("skipping task-force", "skipping task-force");
    }

    #[test]
    fn nul_becomes_the_replacement_character_of_the_same_length() {
        assert_eq!(storable("a\0b"), "a\u{FFFD}b");
        assert_eq!(utf16_len("a\0b"), utf16_len(&storable("a\0b")));
        assert_eq!(utf16_len("🦀"), 2);
    }
}

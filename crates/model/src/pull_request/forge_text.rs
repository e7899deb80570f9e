//! Texts that a forge or a person names a pull request with, checked where they come in.
//!
//! Invariant: a [`PullRequestUrl`] is inert: http or https, percent-encoded, without a user name or password. Nothing
//! is trimmed or repaired, because each of these is a key: a repaired one names something else.

use crate::bounds;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a text of a forge is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidForgeText {
    /// It is empty.
    #[error("it must not be empty")]
    Empty,
    /// It is longer than its kind allows.
    #[error("it may have at most {limit} bytes")]
    TooLong {
        /// The limit in bytes of UTF-8.
        limit: usize,
    },
    /// It has a character that does not belong there: white space, a control character, or one that a URL must
    /// percent-encode.
    #[error("it holds a character that is not allowed there; in a URL it must be percent-encoded")]
    Character,
    /// It is not an address of the web.
    #[error(
        "the address must begin with http:// or https:// and name a host, without a user name or password"
    )]
    Address,
}

macro_rules! checked_texts {
    ($($(#[$doc:meta])* $name:ident by $check:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks a text from outside; nothing is trimmed or repaired.
            ///
            /// # Errors
            /// [`InvalidForgeText`] when it breaks the rule of its kind.
            pub fn parse(text: &str) -> Result<Self, InvalidForgeText> {
                $check(text)?;
                Ok(Self(text.to_owned()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidForgeText;
            fn try_from(text: String) -> Result<Self, InvalidForgeText> {
                $check(&text)?;
                Ok(Self(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

checked_texts! {
    /// A host, owner, repository or commit: 1 to [`bounds::ID_BYTES`] printable ASCII characters.
    ForgeWord by check_word,
    /// A branch: 1 to [`bounds::BRANCH_NAME_BYTES`] bytes without white space and control characters.
    BranchName by check_branch,
    /// The address of a pull request: at most [`bounds::PULL_REQUEST_URL_BYTES`], http or https, percent-encoded.
    /// It needs no escaping in JSON, so its length is what it adds to a summary (SUM-03).
    PullRequestUrl by check_url,
}

fn check_length(text: &str, limit: usize) -> Result<(), InvalidForgeText> {
    if text.is_empty() {
        return Err(InvalidForgeText::Empty);
    }
    if limit < text.len() {
        return Err(InvalidForgeText::TooLong { limit });
    }
    Ok(())
}

fn check_word(text: &str) -> Result<(), InvalidForgeText> {
    check_length(text, bounds::ID_BYTES)?;
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(())
    } else {
        Err(InvalidForgeText::Character)
    }
}

fn check_branch(text: &str) -> Result<(), InvalidForgeText> {
    check_length(text, bounds::BRANCH_NAME_BYTES)?;
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(InvalidForgeText::Character);
    }
    Ok(())
}

fn check_url(text: &str) -> Result<(), InvalidForgeText> {
    check_length(text, bounds::PULL_REQUEST_URL_BYTES)?;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit())
                    && bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit())
            }
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => false,
            byte => byte.is_ascii_graphic(),
        };
        if !fits {
            return Err(InvalidForgeText::Character);
        }
    }
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
        .ok_or(InvalidForgeText::Address)?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or("");
    if host.is_empty() || host.starts_with(':') || host.contains('@') {
        return Err(InvalidForgeText::Address);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_the_web_percent_encoded_and_bounded() {
        let longest = format!(
            "https://host/{}",
            "a".repeat(bounds::PULL_REQUEST_URL_BYTES - 13)
        );
        for good in [
            "https://forge.example/o/r/pull/7",
            "http://localhost:3000/o/r/pulls/7?tab=files#diff-1",
            "https://[::1]:8443/o/r/-/merge_requests/1",
            "https://forge.example/o/r%C3%A9/pull/7",
            longest.as_str(),
        ] {
            assert_eq!(
                PullRequestUrl::parse(good).map(|url| url.to_string()),
                Ok(good.to_owned())
            );
        }
        let too_long = format!("{longest}a");
        let refused = |text: &str| PullRequestUrl::parse(text).expect_err(text);
        assert_eq!(refused(""), InvalidForgeText::Empty);
        assert_eq!(
            refused(&too_long),
            InvalidForgeText::TooLong {
                limit: bounds::PULL_REQUEST_URL_BYTES
            }
        );
        for bad in [
            "https://forge.example/a b",
            "https://forge.example/é",
            "https://forge.example/\"onclick",
            "https://forge.example/<script>",
            "https://forge.example/\n",
            "https://forge.example/\0",
            "https://forge.example/a\\b",
            "https://forge.example/50%",
            "https://forge.example/%4",
            "https://forge.example/%zz",
        ] {
            assert_eq!(refused(bad), InvalidForgeText::Character, "{bad:?}");
        }
        for bad in [
            "javascript:alert(1)",
            "ftp://forge.example/o",
            "HTTPS://forge.example/o",
            "//forge.example/o",
            "forge.example/o",
            "https://",
            "https:///o/r/pull/7",
            "https://:443/o",
            "https://me:secret@forge.example/o",
            "https://forge.example@evil.example/o",
        ] {
            assert_eq!(refused(bad), InvalidForgeText::Address, "{bad:?}");
        }
        let read: Result<PullRequestUrl, _> = serde_json::from_str(r#""javascript:alert(1)""#);
        assert!(read.is_err(), "nothing comes in past the check");
    }

    #[test]
    fn words_and_branches_of_a_forge_are_checked() {
        assert!(ForgeWord::parse(&"o".repeat(bounds::ID_BYTES)).is_ok());
        assert_eq!(
            ForgeWord::parse(&"o".repeat(bounds::ID_BYTES + 1)),
            Err(InvalidForgeText::TooLong {
                limit: bounds::ID_BYTES
            })
        );
        assert_eq!(ForgeWord::parse("a b"), Err(InvalidForgeText::Character));
        assert_eq!(ForgeWord::parse("é"), Err(InvalidForgeText::Character));
        assert!(BranchName::parse("müller/fix-1").is_ok());
        for bad in ["a b", "a\tb", "a\u{2028}b", "a\0"] {
            assert_eq!(BranchName::parse(bad), Err(InvalidForgeText::Character));
        }
        assert_eq!(
            BranchName::parse(&"é".repeat(bounds::BRANCH_NAME_BYTES / 2 + 1)),
            Err(InvalidForgeText::TooLong {
                limit: bounds::BRANCH_NAME_BYTES
            })
        );
    }
}

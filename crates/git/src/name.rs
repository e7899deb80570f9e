//! Names of branches, checked before they become an argument or a pattern.

/// Whether Git accepts this as a branch's short name.
///
/// Stricter than Git in one way: `HEAD` is refused (no branch is called "HEAD", C18).
pub(crate) fn is_branch(name: &str) -> bool {
    let forbidden = |letter: char| {
        letter.is_ascii_control()
            || matches!(letter, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
    };
    !name.is_empty()
        && name != "@"
        && name != "HEAD"
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.contains(forbidden)
        && name
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"))
}

#[cfg(test)]
mod tests {
    use super::is_branch;

    #[test]
    fn what_git_refuses_is_refused() {
        for name in [
            "", "@", "HEAD", "-x", "a..b", "a b", "a~1", "a^", "a:b", "a*", "a?", "a[", "a\\b",
            "a//b", "/a", "a/", ".a", "a/.b", "a.", "a.lock", "a@{1}", "a\nb", "a\u{7f}",
        ] {
            assert!(!is_branch(name), "{name:?}");
        }
        for name in ["main", "feat/x-1", "origin/main", "ünï", "a@b", "a.b"] {
            assert!(is_branch(name), "{name:?}");
        }
    }
}

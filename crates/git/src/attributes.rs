//! Which files count without lines because of their attributes.
//!
//! A file with a switched-off filter (LFS, …) is compared in its working form with its stored form, so its line
//! counts would mean nothing. An untracked file with `-diff` will count without lines once it is added, so it does
//! already.

use crate::error::GitError;
use crate::read::Place;
use std::collections::BTreeSet;

const COMMAND: &str = "check-attr";

/// Of `paths`, those that have no lines to count.
pub(crate) async fn without_lines<'p>(
    place: &Place<'_>,
    paths: impl Iterator<Item = &'p Vec<u8>>,
) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path);
        input.push(0);
    }
    if input.is_empty() {
        return Ok(BTreeSet::new());
    }
    let args = ["-z", "--stdin", "filter", "diff"];
    let answer = place
        .run_accepting(COMMAND, args, Some(input), &[0])
        .await?;
    parse(&answer.stdout, &place.filters).ok_or(GitError::Malformed { command: COMMAND })
}

/// Triples of path, attribute and value.
fn parse(answer: &[u8], filters: &BTreeSet<String>) -> Option<BTreeSet<Vec<u8>>> {
    let mut found = BTreeSet::new();
    let mut tokens = answer.split(|byte| *byte == 0);
    while let Some(path) = tokens.next().filter(|path| !path.is_empty()) {
        let (attribute, value) = (tokens.next()?, tokens.next()?);
        let counts = match attribute {
            b"filter" => !std::str::from_utf8(value).is_ok_and(|name| filters.contains(name)),
            b"diff" => value != b"unset",
            _ => return None,
        };
        if !counts {
            found.insert(path.to_vec());
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_counts_only_when_it_is_configured() {
        let answer = b"a\0filter\0lfs\0a\0diff\0unspecified\0b\0filter\0gone\0b\0diff\0set\0c\0filter\0unspecified\0c\0diff\0unset\0";
        let found = parse(answer, &BTreeSet::from(["lfs".to_owned()])).unwrap();
        assert_eq!(found, BTreeSet::from([b"a".to_vec(), b"c".to_vec()]));
    }
}

//! The diff of a file that Git does not track yet, as Git will show it once it is added.

use crate::listing::shown;
use crate::untracked;

/// The unified diff of a new file against nothing.
pub(crate) fn patch(path: &str, mode: &str, content: &[u8]) -> String {
    let (old, new) = (quoted("a", path), quoted("b", path));
    let mut patch = format!("diff --git {old} {new}\nnew file mode {mode}\n");
    if content.is_empty() {
        return patch;
    }
    let lines = untracked::count(content);
    patch += &format!("--- /dev/null\n+++ {new}\n@@ -0,0 +1,{lines} @@\n");
    let text = shown(content);
    for line in text.split_inclusive('\n') {
        patch.push('+');
        patch.push_str(line);
    }
    if !text.ends_with('\n') {
        patch.push_str("\n\\ No newline at end of file\n");
    }
    patch
}

/// A path in a header, quoted as Git does when a plain one would be ambiguous.
fn quoted(side: &str, path: &str) -> String {
    let special = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    if !path.contains(special) {
        return format!("{side}/{path}");
    }
    let escaped: String = path
        .chars()
        .map(|letter| match letter {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            letter if letter.is_ascii_control() => format!("\\{:03o}", u32::from(letter)),
            letter => letter.to_string(),
        })
        .collect();
    format!("\"{side}/{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_reads_like_gits_own_diff() {
        let patch = patch("a\tb", "100644", b"one\ntwo");
        let expected = "diff --git \"a/a\\tb\" \"b/a\\tb\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/a\\tb\"\n\
            @@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n";
        assert_eq!(patch, expected);
    }
}

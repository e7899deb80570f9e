//! Rust source without its comments and literals, so that rules about code do not trip over words about code.
//!
//! This is a scanner for the few forms in which text hides (line and nested block comments, plain, raw and
//! byte strings, character literals), not a parser. Blanked text becomes spaces and line breaks stay, so line
//! numbers and columns are those of the source.

/// The source with every comment and literal replaced by spaces.
pub(crate) fn only_code(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut scanner = Scanner {
        characters: &characters,
        at: 0,
        out: String::with_capacity(source.len()),
    };
    while scanner.step() {}
    scanner.out
}

/// Line numbers (from 1) with the text of each line.
pub(crate) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

/// Whether `word` stands in `line` with no letter, digit or underscore before it.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|character| character.is_alphanumeric() || character == '_')
    })
}

/// The lines of inline `#[cfg(test)] mod … { … }` blocks, from code that [`only_code`] has blanked.
pub(crate) fn inline_tests(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut depth: Option<usize> = None;
    let mut announced = false;
    for (number, line) in numbered(code) {
        if depth.is_none() {
            announced |= line.contains("#[cfg(test)]");
            let opens = announced && has_word(line, "mod ") && line.contains('{');
            if opens {
                depth = Some(0);
            } else if announced && line.contains(';') {
                announced = false;
            }
        }
        if let Some(open) = depth {
            found.push((number, line));
            let open = line.chars().fold(open, |open, character| match character {
                '{' => open + 1,
                '}' => open.saturating_sub(1),
                _ => open,
            });
            depth = (open > 0).then_some(open);
            announced = depth.is_some();
        }
    }
    found
}

struct Scanner<'a> {
    characters: &'a [char],
    at: usize,
    out: String,
}

impl Scanner<'_> {
    /// Handles one character or one whole comment or literal. `false` at the end.
    fn step(&mut self) -> bool {
        let Some(character) = self.peek(0) else {
            return false;
        };
        match (character, self.peek(1)) {
            ('/', Some('/')) => self.blank_line_comment(),
            ('/', Some('*')) => self.blank_block_comment(),
            ('"', _) => self.blank_string(),
            ('r', Some('"' | '#')) if self.raw_hashes().is_some() => self.blank_raw_string(),
            ('\'', _) if self.is_character_literal() => self.blank_character(),
            _ => self.keep(),
        }
        true
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn keep(&mut self) {
        if let Some(character) = self.peek(0) {
            self.out.push(character);
            self.at += 1;
        }
    }

    fn blank(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(character) = self.peek(0) {
                self.out.push(if character == '\n' { '\n' } else { ' ' });
                self.at += 1;
            }
        }
    }

    fn blank_line_comment(&mut self) {
        while self.peek(0).is_some_and(|character| character != '\n') {
            self.blank(1);
        }
    }

    fn blank_block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.blank(2);
                }
                (Some('*'), Some('/')) => {
                    depth = depth.saturating_sub(1);
                    self.blank(2);
                }
                (None, _) => return,
                _ => self.blank(1),
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn blank_string(&mut self) {
        self.blank(1);
        loop {
            match self.peek(0) {
                Some('\\') => self.blank(2),
                Some('"') | None => break,
                Some(_) => self.blank(1),
            }
        }
        self.blank(1);
    }

    /// The number of `#` of a raw string that starts here; `None` when this `r` starts none.
    fn raw_hashes(&self) -> Option<usize> {
        let before = self
            .at
            .checked_sub(1)
            .and_then(|index| self.characters.get(index));
        let inside_a_word =
            before.is_some_and(|c| c.is_alphanumeric() && *c != 'b' && *c != 'c' || *c == '_');
        let hashes = self
            .characters
            .iter()
            .skip(self.at + 1)
            .take_while(|c| **c == '#')
            .count();
        (!inside_a_word && self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn blank_raw_string(&mut self) {
        let hashes = self.raw_hashes().unwrap_or(0);
        self.blank(2 + hashes);
        while let Some(character) = self.peek(0) {
            let closes =
                character == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            self.blank(1);
            if closes {
                self.blank(hashes);
                return;
            }
        }
    }

    /// `'a'` and `'\n'`, but not the lifetime `'a`.
    fn is_character_literal(&self) -> bool {
        self.peek(1) == Some('\\') || self.peek(2) == Some('\'')
    }

    fn blank_character(&mut self) {
        self.blank(1);
        loop {
            match self.peek(0) {
                Some('\\') => self.blank(2),
                Some('\'') | None => break,
                Some(_) => self.blank(1),
            }
        }
        self.blank(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_comments_and_literals_are_gone_and_lines_stay() {
        let source = "a(); // sleep(1)\n/* sleep( /* nested */ sleep( */ b();\nlet s = \"sleep(\\\"\"; c();\n\
                      let r = r#\"sleep(\"# ; d();\nlet q = '\"'; e::<'a>(); let z = '\\''; f();";
        let code = only_code(source);
        assert!(!code.contains("sleep"), "{code}");
        assert_eq!(code.lines().count(), source.lines().count());
        for call in ["a();", "b();", "c();", "d();", "e::<'a>();", "f();"] {
            assert!(code.contains(call), "{call} is lost in {code}");
        }
    }

    #[test]
    fn a_raw_identifier_is_no_raw_string() {
        assert_eq!(only_code("let r#type = bar\"x\";"), "let r#type = bar   ;");
    }

    #[test]
    fn words_start_where_words_start() {
        assert!(has_word("tokio::time::sleep(x)", "sleep("));
        assert!(!has_word("no_sleep(x)", "sleep("));
    }

    #[test]
    fn inline_tests_end_with_their_brace() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { }\n}\nfn c() {}\n";
        let lines: Vec<usize> = inline_tests(code)
            .into_iter()
            .map(|(number, _)| number)
            .collect();
        assert_eq!(lines, [3, 4, 5]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_no_inline_test() {
        assert!(inline_tests("#[cfg(test)]\nmod tests;\nmod real {\n}\n").is_empty());
    }
}

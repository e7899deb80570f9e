//! What a form says about the answers it takes: how large a number, how long a text, which pattern, how many options.
//!
//! A person is told before they answer, the page checks while they do, and this is what decides. Limits that no answer
//! meets, and a pattern that cannot be judged in a time that grows only with the text (one that looks around or refers
//! back), make a question that is not asked.

use super::{Misfit, Question, misfit};
use crate::bounds;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Number;

/// Limits of an answer, each inclusive and each absent where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Limits {
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<f64>"))]
    pub minimum: Option<Number>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<f64>"))]
    pub maximum: Option<Number>,
    /// The fewest characters of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// The most characters of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression that is found in the text, at most `bounds::PATTERN_CHARS` characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The fewest chosen options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u32>,
    /// The most chosen options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
}

impl Limits {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// That some answer to `question` meets them.
    pub(super) fn check(&self, place: &str, question: &Question) -> Result<(), Misfit> {
        let wrong = |field: &str, expected: &str| Err(misfit(format!("{place}.{field}"), expected));
        if let (Some(low), Some(high)) = (&self.minimum, &self.maximum)
            && less(&high.to_string(), low)
        {
            return wrong("maximum", "no less than the minimum");
        }
        let longest = self.max_length.map_or(bounds::ANSWER_CHARS, count);
        let longest = longest.min(bounds::ANSWER_CHARS);
        if longest == 0 || self.min_length.is_some_and(|least| longest < count(least)) {
            return wrong("max_length", "a length that a text can have");
        }
        let most = self.max_items.map_or(usize::MAX, count);
        let most = most.min(question.options.len());
        let most_wanted = self.min_items.map_or(0, count);
        if question.multi_select && (most == 0 || most < most_wanted) {
            return wrong("max_items", "a number of options that can be chosen");
        }
        if self.pattern.is_some() && self.read_pattern().is_none() {
            return wrong("pattern", "a regular expression that can be checked here");
        }
        Ok(())
    }

    /// What is expected of a number or a text that does not meet them.
    pub(super) fn expected_of_text(&self, question: &Question, text: &str) -> Option<String> {
        if question.format.is_some() {
            let outside = self.minimum.as_ref().is_some_and(|low| less(text, low))
                || self
                    .maximum
                    .as_ref()
                    .is_some_and(|high| greater(text, high));
            return outside.then(|| format!("a number, {}", range(&self.minimum, &self.maximum)));
        }
        let length = text.chars().count();
        if outside(length, self.min_length, self.max_length) {
            let range = range(&self.min_length, &self.max_length);
            return Some(format!("{range} characters"));
        }
        let pattern = self.pattern.as_deref()?;
        let fits = self.read_pattern().is_some_and(|read| read.is_match(text));
        (!fits).then(|| format!("a text that matches the pattern {pattern}"))
    }

    /// What is expected when not so many options can be chosen.
    pub(super) fn expected_of_choices(&self, chosen: usize) -> Option<String> {
        let range = || range(&self.min_items, &self.max_items);
        outside(chosen, self.min_items, self.max_items).then(|| format!("{} options", range()))
    }

    fn read_pattern(&self) -> Option<Regex> {
        let pattern = self.pattern.as_deref()?;
        if bounds::PATTERN_CHARS < pattern.chars().count() {
            return None;
        }
        let mut builder = RegexBuilder::new(pattern);
        builder.size_limit(bounds::PATTERN_PROGRAM_BYTES);
        builder.build().ok()
    }
}

fn count(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

fn outside(length: usize, least: Option<u32>, most: Option<u32>) -> bool {
    least.is_some_and(|least| length < count(least))
        || most.is_some_and(|most| count(most) < length)
}

fn range<T: std::fmt::Display + PartialEq>(least: &Option<T>, most: &Option<T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) if least == most => format!("exactly {least}"),
        (Some(least), Some(most)) => format!("from {least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => String::new(),
    }
}

/// Whole numbers are compared exactly, others as they are read.
fn less(text: &str, limit: &Number) -> bool {
    match (text.parse::<i64>(), limit.as_i64()) {
        (Ok(value), Some(limit)) => value < limit,
        _ => parsed(text) < limit.as_f64(),
    }
}

fn greater(text: &str, limit: &Number) -> bool {
    match (text.parse::<i64>(), limit.as_i64()) {
        (Ok(value), Some(limit)) => limit < value,
        _ => limit.as_f64() < parsed(text),
    }
}

fn parsed(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

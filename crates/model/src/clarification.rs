//! Clarifications: what an agent asks a person, and what is a fitting answer.
//!
//! An agent asks one to four questions at once. Each is a row of the transcript; together they are a *bundle* with one
//! `pending_id`, which is answered or rejected as a whole, once. While the agent waits the bundle is *attached* and the
//! answer goes to whoever waits. When nobody waits any more (time, the end of its turn, the end of its process) it is
//! *detached*: still pending and answerable while its turn is the current one, and the answer becomes a prompt.
//!
//! Plain data: what an agent may ask, what a person may answer, and how answers read in a prompt.

pub mod limits;

use crate::bounds;
use limits::Limits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Question {
    /// What is asked, at most `bounds::QUESTION_CHARS` characters.
    pub text: String,
    /// What can be chosen: none, or 2 to 6.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// Several options may be chosen.
    #[serde(default)]
    pub multi_select: bool,
    /// Words of the person's own are an answer too; always so without options.
    #[serde(default)]
    pub free_text: bool,
    /// What the words must be; absent: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TextFormat>,
    /// What an answer must keep to.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<Limits>", optional))]
    pub limits: Limits,
    /// It may be left unanswered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub optional: bool,
}

/// One option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct QuestionOption {
    /// Names it in an answer; unique in its question.
    pub id: String,
    /// How it is shown, at most `bounds::OPTION_LABEL_CHARS` characters.
    pub label: String,
    /// What choosing it means, at most `bounds::OPTION_DESCRIPTION_CHARS` characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What free text must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
pub enum TextFormat {
    /// A number, e.g. `2.5`.
    Number,
    /// A whole number, e.g. `-3`.
    Integer,
}

/// What a person answered to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Answer {
    /// Ids of chosen options.
    #[serde(default)]
    pub selected: Vec<String>,
    /// Words of their own, at most `bounds::ANSWER_CHARS` characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What the metadata of a `clarification_request` row holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export, optional_fields))]
pub struct Clarification {
    /// Its place in the bundle, from 0.
    pub index: u32,
    /// How many questions the bundle has.
    pub count: u32,
    /// The question.
    pub question: Question,
    /// The answer, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// What is wrong with what was asked or answered: where, and what is expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The place, e.g. `questions[1].options`.
    pub place: String,
    /// What is expected.
    pub expected: String,
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.expected)
    }
}

fn misfit(place: impl Into<String>, expected: impl Into<String>) -> Misfit {
    Misfit {
        place: place.into(),
        expected: expected.into(),
    }
}

/// Checks a bundle before it is asked.
///
/// # Errors
/// The first misfit.
pub fn check_bundle(questions: &[Question]) -> Result<(), Misfit> {
    if questions.is_empty() || bounds::QUESTIONS < questions.len() {
        let expected = format!("1 to {} questions", bounds::QUESTIONS);
        return Err(misfit("questions", expected));
    }
    for (index, question) in questions.iter().enumerate() {
        check_question(&format!("questions[{index}]"), question)?;
    }
    Ok(())
}

fn check_question(place: &str, question: &Question) -> Result<(), Misfit> {
    check_text(
        &format!("{place}.text"),
        &question.text,
        bounds::QUESTION_CHARS,
    )?;
    question
        .limits
        .check(&format!("{place}.limits"), question)?;
    let count = question.options.len();
    if count == 0 && question.free_text && !question.multi_select {
        return Ok(());
    }
    let place = format!("{place}.options");
    if !(bounds::QUESTION_OPTIONS_MIN..=bounds::QUESTION_OPTIONS_MAX).contains(&count) {
        let expected = format!(
            "{} to {} options, or none with free_text",
            bounds::QUESTION_OPTIONS_MIN,
            bounds::QUESTION_OPTIONS_MAX
        );
        return Err(misfit(place, expected));
    }
    let mut ids = BTreeSet::new();
    for (index, option) in question.options.iter().enumerate() {
        let place = format!("{place}[{index}]");
        check_text(
            &format!("{place}.label"),
            &option.label,
            bounds::OPTION_LABEL_CHARS,
        )?;
        if let Some(description) = &option.description
            && bounds::OPTION_DESCRIPTION_CHARS < chars(description)
        {
            let expected = format!("at most {} characters", bounds::OPTION_DESCRIPTION_CHARS);
            return Err(misfit(format!("{place}.description"), expected));
        }
        if bounds::OPTION_ID_BYTES < option.id.len() {
            let expected = format!("at most {} bytes", bounds::OPTION_ID_BYTES);
            return Err(misfit(format!("{place}.id"), expected));
        }
        if !ids.insert(&option.id) {
            return Err(misfit(
                format!("{place}.label"),
                "no two options of a question are the same",
            ));
        }
    }
    Ok(())
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn check_text(place: &str, text: &str, limit: usize) -> Result<(), Misfit> {
    if text.trim().is_empty() || limit < chars(text) {
        return Err(misfit(place, format!("a text of 1 to {limit} characters")));
    }
    Ok(())
}

impl Question {
    /// The option with this id.
    #[must_use]
    pub fn option(&self, id: &str) -> Option<&QuestionOption> {
        self.options.iter().find(|option| option.id == id)
    }

    /// Takes an answer in the form in which it is stored: options in the order of the question, text trimmed.
    ///
    /// # Errors
    /// What does not fit; `place` names the answer.
    pub fn take(&self, place: &str, answer: &Answer) -> Result<Answer, Misfit> {
        let selected = self.take_selected(place, answer)?;
        let text = self.take_text(place, answer)?;
        if selected.is_empty() && text.is_none() && !self.optional {
            return Err(misfit(place, "every question needs an answer"));
        }
        if !self.multi_select && 1 < selected.len() + usize::from(text.is_some()) {
            return Err(misfit(place, "one option, or words of your own"));
        }
        if self.multi_select
            && !selected.is_empty()
            && let Some(expected) = self.limits.expected_of_choices(selected.len())
        {
            return Err(misfit(format!("{place}.selected"), expected));
        }
        Ok(Answer { selected, text })
    }

    fn take_selected(&self, place: &str, answer: &Answer) -> Result<Vec<String>, Misfit> {
        let chosen: BTreeSet<&String> = answer.selected.iter().collect();
        if chosen.iter().any(|id| self.option(id).is_none()) {
            return Err(misfit(
                format!("{place}.selected"),
                "only options that the question offers",
            ));
        }
        let in_order = self.options.iter().map(|option| &option.id);
        Ok(in_order.filter(|id| chosen.contains(id)).cloned().collect())
    }

    fn take_text(&self, place: &str, answer: &Answer) -> Result<Option<String>, Misfit> {
        let place = || format!("{place}.text");
        let Some(text) = answer.text.as_deref().map(str::trim) else {
            return Ok(None);
        };
        if text.is_empty() {
            return Ok(None);
        }
        if !self.free_text {
            return Err(misfit(place(), "this question takes options only"));
        }
        if bounds::ANSWER_CHARS < chars(text) {
            let expected = format!("at most {} characters", bounds::ANSWER_CHARS);
            return Err(misfit(place(), expected));
        }
        let fits = match self.format {
            None => true,
            Some(TextFormat::Integer) => text.parse::<i64>().is_ok(),
            Some(TextFormat::Number) => text.parse::<f64>().is_ok_and(f64::is_finite),
        };
        if !fits {
            let expected = match self.format {
                Some(TextFormat::Integer) => "a whole number",
                _ => "a number",
            };
            return Err(misfit(place(), expected));
        }
        if let Some(expected) = self.limits.expected_of_text(self, text) {
            return Err(misfit(place(), expected));
        }
        Ok(Some(text.to_owned()))
    }

    /// An answer to this question in words: labels of chosen options, then the person's own words.
    #[must_use]
    pub fn in_words(&self, answer: &Answer) -> String {
        let labels = answer
            .selected
            .iter()
            .filter_map(|id| self.option(id))
            .map(|option| option.label.as_str());
        let words: Vec<&str> = labels.chain(answer.text.as_deref()).collect();
        if words.is_empty() {
            "(no answer)".to_owned()
        } else {
            words.join("; ")
        }
    }
}

/// Answers as an agent reads them: each question is named, so that they mean something without the call that asked.
#[must_use]
pub fn as_text(answered: &[Clarification]) -> String {
    let mut text = String::new();
    for clarification in answered {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let nothing = Answer::default();
        let answer = clarification.answer.as_ref().unwrap_or(&nothing);
        let question = &clarification.question;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "Question: {}\nAnswer: {}",
            question.text,
            question.in_words(answer)
        );
    }
    text
}

/// Answers to a detached bundle as the prompt that brings them.
#[must_use]
pub fn as_prompt(answered: &[Clarification]) -> String {
    format!(
        "Here is the answer to what you asked earlier.\n\n{}",
        as_text(answered)
    )
}

#[cfg(test)]
#[path = "clarification_tests.rs"]
mod tests;

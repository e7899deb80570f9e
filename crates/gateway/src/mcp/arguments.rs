//! Reads the arguments of `ask_user`, and says exactly where they are not what they should be: a model that reads the
//! place can call again rightly.

use model::clarification::limits::Limits;
use model::clarification::{Misfit, Question, QuestionOption};
use serde_json::{Map, Value};

type Result<T> = std::result::Result<T, Misfit>;

/// The questions of a call; their lengths and counts are checked by the caller.
pub(super) fn read(arguments: Option<&Map<String, Value>>) -> Result<Vec<Question>> {
    let questions = arguments.and_then(|arguments| arguments.get("questions"));
    let questions = list("questions", questions)?;
    questions
        .iter()
        .enumerate()
        .map(|(index, question)| read_question(&format!("questions[{index}]"), question))
        .collect()
}

fn read_question(place: &str, question: &Value) -> Result<Question> {
    let fields = object(place, question)?;
    let options = match fields.get("options") {
        None | Some(Value::Null) => Vec::new(),
        some => {
            let place = format!("{place}.options");
            let options = list(&place, some)?.iter().enumerate();
            options
                .map(|(index, option)| read_option(&format!("{place}[{index}]"), option))
                .collect::<Result<_>>()?
        }
    };
    Ok(Question {
        text: text(&format!("{place}.text"), fields.get("text"))?,
        options,
        multi_select: truth(&format!("{place}.multi_select"), fields.get("multi_select"))?
            .unwrap_or(false),
        free_text: truth(&format!("{place}.free_text"), fields.get("free_text"))?.unwrap_or(true),
        format: None,
        limits: Limits::default(),
        optional: false,
    })
}

/// An option is named by its label: that is what the agent reads in the answer.
fn read_option(place: &str, option: &Value) -> Result<QuestionOption> {
    let fields = object(place, option)?;
    let label = text(&format!("{place}.label"), fields.get("label"))?;
    let description = match fields.get("description") {
        None | Some(Value::Null) => None,
        some => Some(text(&format!("{place}.description"), some)?),
    };
    Ok(QuestionOption {
        id: label.clone(),
        label,
        description: description.filter(|text| !text.is_empty()),
    })
}

fn misfit(place: &str, expected: &str) -> Misfit {
    Misfit {
        place: place.to_owned(),
        expected: expected.to_owned(),
    }
}

fn list<'a>(place: &str, value: Option<&'a Value>) -> Result<&'a [Value]> {
    match value {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(misfit(place, "a list")),
    }
}

fn object<'a>(place: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| misfit(place, "an object"))
}

fn text(place: &str, value: Option<&Value>) -> Result<String> {
    match value {
        Some(Value::String(text)) => Ok(text.trim().to_owned()),
        _ => Err(misfit(place, "a text")),
    }
}

fn truth(place: &str, value: Option<&Value>) -> Result<Option<bool>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(truth)) => Ok(Some(*truth)),
        Some(_) => Err(misfit(place, "true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place(arguments: Value) -> std::result::Result<usize, String> {
        read(arguments.as_object())
            .map(|questions| questions.len())
            .map_err(|misfit| misfit.place)
    }

    #[test]
    fn what_is_wrong_is_named_at_its_place() {
        let wrong = |arguments, at: &str| assert_eq!(place(arguments), Err(at.to_owned()));
        wrong(json!({}), "questions");
        wrong(json!({ "questions": "Which?" }), "questions");
        wrong(json!({ "questions": ["Which?"] }), "questions[0]");
        wrong(json!({ "questions": [{ "text": 1 }] }), "questions[0].text");
        let second = |question: Value| json!({ "questions": [{ "text": "a" }, question] });
        wrong(
            second(json!({ "text": "b", "options": "x" })),
            "questions[1].options",
        );
        wrong(
            second(json!({ "text": "b", "options": [{ "label": "x" }, {}] })),
            "questions[1].options[1].label",
        );
        wrong(
            second(json!({ "text": "b", "free_text": "no" })),
            "questions[1].free_text",
        );
        assert_eq!(
            read(None).map_err(|misfit| misfit.place),
            Err("questions".to_owned())
        );
    }

    #[test]
    fn words_are_an_answer_unless_the_agent_says_no() {
        let questions = json!({ "questions": [
            { "text": " Which? ", "options": [{ "label": "A", "description": "first" }, { "label": "B" }] },
            { "text": "Sure?", "options": [{ "label": "Yes" }, { "label": "No" }], "free_text": false, "multi_select": true },
        ] });
        let questions = read(questions.as_object()).expect("it fits");
        let [which, sure] = &questions[..] else {
            panic!("two questions")
        };
        assert_eq!((which.text.as_str(), which.free_text), ("Which?", true));
        assert_eq!(
            which.option("A").and_then(|a| a.description.as_deref()),
            Some("first")
        );
        assert_eq!((sure.free_text, sure.multi_select), (false, true));
    }
}

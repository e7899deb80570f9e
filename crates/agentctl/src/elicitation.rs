//! Elicitations: an agent asks a person by a form.
//!
//! A form whose fields are what a question can be (text, number, yes or no, one or several of a list) becomes a bundle of
//! questions; any other is declined at once, which the protocol lets us do and agents cope with. The form itself is kept
//! beside the questions, because an answer goes back under the names and in the types of its fields.

use agent_client_protocol_schema::v1::{
    CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction, ElicitationContentValue,
};
use model::clarification::limits::Limits;
use model::clarification::{
    Answer, Clarification, Question, QuestionOption, TextFormat, check_bundle,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A form as questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// One for each field, in the same order.
    pub questions: Vec<Question>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Integer,
    Boolean,
    One,
    Many,
}

/// What a form gets for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// The values by field.
    Accepted(BTreeMap<String, ElicitationContentValue>),
    /// A person declined.
    Declined,
    /// Nobody answered while the agent waited.
    Cancelled,
}

/// The ids of the options of a yes-or-no field.
const YES_NO: [(&str, &str); 2] = [("true", "Yes"), ("false", "No")];

impl Form {
    /// Reads the parameters of `elicitation/create`; nothing when a person cannot be asked that here: another mode than
    /// a form, fields of other types, limits that cannot be met or checked, or more than a bundle may hold.
    #[must_use]
    pub fn read(params: &Value) -> Option<Self> {
        if params.get("mode").and_then(Value::as_str) != Some("form") {
            return None;
        }
        let message = params.get("message").and_then(Value::as_str).unwrap_or("");
        let schema = params.get("requestedSchema")?;
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut form = Self {
            questions: Vec::new(),
            fields: Vec::new(),
        };
        for (name, property) in schema.get("properties")?.as_object()? {
            let kind = Kind::of(property)?;
            let first = form.questions.is_empty();
            let text = words(name, property, if first { message } else { "" });
            form.questions.push(Question {
                text,
                options: kind.options(property),
                multi_select: kind == Kind::Many,
                free_text: kind.is_typed(),
                format: match kind {
                    Kind::Number => Some(TextFormat::Number),
                    Kind::Integer => Some(TextFormat::Integer),
                    _ => None,
                },
                limits: kind.limits(property),
                optional: !required.contains(&name.as_str()),
            });
            let name = name.clone();
            form.fields.push(Field { name, kind });
        }
        check_bundle(&form.questions).is_ok().then_some(form)
    }

    /// The form filled in with the answers to its questions.
    #[must_use]
    pub fn fill(&self, answered: &[Clarification]) -> ElicitationAnswer {
        let mut values = BTreeMap::new();
        for clarification in answered {
            let field = usize::try_from(clarification.index)
                .ok()
                .and_then(|index| self.fields.get(index));
            let value = clarification
                .answer
                .as_ref()
                .zip(field)
                .and_then(|(answer, field)| field.kind.value(answer));
            if let Some((value, field)) = value.zip(field) {
                values.insert(field.name.clone(), value);
            }
        }
        ElicitationAnswer::Accepted(values)
    }
}

/// What is asked: the form's message before its first field, then the field's title and description.
fn words(name: &str, property: &Value, message: &str) -> String {
    let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or("");
    let title = if text("title").is_empty() {
        name
    } else {
        text("title")
    };
    let parts = [message.trim(), title.trim(), text("description").trim()];
    let mut said: Vec<&str> = Vec::new();
    for part in parts {
        if !part.is_empty() && !said.contains(&part) {
            said.push(part);
        }
    }
    said.join("\n\n")
}

impl Kind {
    fn of(property: &Value) -> Option<Self> {
        Some(match property.get("type").and_then(Value::as_str)? {
            "string" if has(property, "enum") || has(property, "oneOf") => Self::One,
            "string" => Self::Text,
            "number" => Self::Number,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "array" => Self::Many,
            _ => return None,
        })
    }

    const fn is_typed(self) -> bool {
        matches!(self, Self::Text | Self::Number | Self::Integer)
    }

    fn options(self, property: &Value) -> Vec<QuestionOption> {
        match self {
            Self::Boolean => YES_NO.map(|(id, label)| option(id, label, None)).into(),
            Self::One => listed(property, "oneOf"),
            Self::Many => property
                .get("items")
                .map(|items| listed(items, "anyOf"))
                .unwrap_or_default(),
            Self::Text | Self::Number | Self::Integer => Vec::new(),
        }
    }

    /// What the schema of a field limits; what it says about fields of other types means nothing.
    fn limits(self, property: &Value) -> Limits {
        let number = |key: &str| property.get(key).and_then(Value::as_number).cloned();
        let count = |key: &str| {
            let count = property.get(key).and_then(Value::as_u64);
            count.map(|count| u32::try_from(count).unwrap_or(u32::MAX))
        };
        match self {
            Self::Number | Self::Integer => Limits {
                minimum: number("minimum"),
                maximum: number("maximum"),
                ..Limits::default()
            },
            Self::Text => Limits {
                min_length: count("minLength"),
                max_length: count("maxLength"),
                pattern: property
                    .get("pattern")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
                ..Limits::default()
            },
            Self::Many => Limits {
                min_items: count("minItems"),
                max_items: count("maxItems"),
                ..Limits::default()
            },
            Self::Boolean | Self::One => Limits::default(),
        }
    }

    fn value(self, answer: &Answer) -> Option<ElicitationContentValue> {
        let text = answer.text.as_deref();
        let one = answer.selected.first();
        Some(match self {
            Self::Text => ElicitationContentValue::String(text?.to_owned()),
            Self::Number => ElicitationContentValue::Number(text?.parse().ok()?),
            Self::Integer => ElicitationContentValue::Integer(text?.parse().ok()?),
            Self::Boolean => ElicitationContentValue::Boolean(one? == "true"),
            Self::One => ElicitationContentValue::String(one?.clone()),
            Self::Many if answer.selected.is_empty() => return None,
            Self::Many => ElicitationContentValue::StringArray(answer.selected.clone()),
        })
    }
}

fn has(property: &Value, key: &str) -> bool {
    property.get(key).is_some_and(Value::is_array)
}

fn option(id: &str, label: &str, description: Option<&str>) -> QuestionOption {
    QuestionOption {
        id: id.to_owned(),
        label: label.to_owned(),
        description: description.map(str::to_owned),
    }
}

/// The options of a list: plain words under `enum`, or words with titles under `titled`.
fn listed(schema: &Value, titled: &str) -> Vec<QuestionOption> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(options) = list(titled) {
        let read = |entry: &Value| {
            let text = |key: &str| entry.get(key).and_then(Value::as_str);
            let id = text("const")?;
            Some(option(id, text("title").unwrap_or(id), text("description")))
        };
        return options.iter().filter_map(read).collect();
    }
    let words = list("enum").map(Vec::as_slice).unwrap_or_default();
    words
        .iter()
        .filter_map(Value::as_str)
        .map(|word| option(word, word, None))
        .collect()
}

/// The result of an elicitation.
#[must_use]
pub(crate) fn result(answer: ElicitationAnswer) -> Value {
    let action = match answer {
        ElicitationAnswer::Accepted(values) => {
            ElicitationAction::Accept(ElicitationAcceptAction::new().content(values))
        }
        ElicitationAnswer::Declined => ElicitationAction::Decline,
        ElicitationAnswer::Cancelled => ElicitationAction::Cancel,
    };
    serde_json::to_value(CreateElicitationResponse::new(action))
        .expect("the protocol's types have text keys and no failing serializer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form(properties: Value, required: Value) -> Option<Form> {
        Form::read(&json!({
            "mode": "form", "sessionId": "s", "message": "About the release",
            "requestedSchema": { "type": "object", "properties": properties, "required": required },
        }))
    }

    fn filled(form: &Form, answers: &[Answer]) -> Value {
        let answered: Vec<_> = (0..)
            .zip(form.questions.iter().zip(answers))
            .map(|(index, (question, answer))| Clarification {
                index,
                count: 1,
                question: question.clone(),
                answer: Some(question.take("answer", answer).expect("it fits")),
            })
            .collect();
        result(form.fill(&answered))
    }

    fn chosen(id: &str) -> Answer {
        Answer {
            selected: vec![id.to_owned()],
            text: None,
        }
    }

    fn typed(text: &str) -> Answer {
        Answer {
            selected: Vec::new(),
            text: Some(text.to_owned()),
        }
    }

    #[test]
    fn a_form_is_asked_and_filled_in_under_its_names_and_types() {
        let form = form(
            json!({
                "a_name": { "type": "string", "title": "Name", "description": "Of the release" },
                "b_channel": { "type": "string", "oneOf": [
                    { "const": "st", "title": "Stable" }, { "const": "be", "title": "Beta", "description": "Early" },
                ] },
                "c_count": { "type": "integer", "minimum": 1, "maximum": 9 },
                "d_sign": { "type": "boolean" },
            }),
            json!(["a_name", "b_channel", "c_count"]),
        )
        .expect("it fits");
        let texts: Vec<_> = form.questions.iter().map(|q| q.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "About the release\n\nName\n\nOf the release",
                "b_channel",
                "c_count",
                "d_sign"
            ]
        );
        let optional: Vec<_> = form.questions.iter().map(|q| q.optional).collect();
        assert_eq!(optional, [false, false, false, true]);
        let answers = [typed("One"), chosen("be"), typed("3"), chosen("false")];
        assert_eq!(
            filled(&form, &answers),
            json!({ "action": "accept", "content": {
                "a_name": "One", "b_channel": "be", "c_count": 3, "d_sign": false,
            } })
        );
        let answers = [typed("One"), chosen("be"), typed("3"), Answer::default()];
        assert_eq!(filled(&form, &answers)["content"].get("d_sign"), None);
    }

    #[test]
    fn lists_and_numbers_keep_their_types() {
        let form = form(
            json!({
                "many": { "type": "array", "items": { "type": "string", "enum": ["x", "y", "z"] } },
                "rate": { "type": "number" },
            }),
            json!([]),
        )
        .expect("it fits");
        let both = Answer {
            selected: vec!["z".to_owned(), "x".to_owned()],
            text: None,
        };
        assert_eq!(
            filled(&form, &[both, typed("2.5")]),
            json!({ "action": "accept", "content": { "many": ["x", "z"], "rate": 2.5 } })
        );
    }

    #[test]
    fn what_a_field_limits_its_question_limits() {
        let all = json!({
            "minimum": 1, "maximum": 9.5, "minLength": 2, "maxLength": 5_000_000_000_u64, "pattern": "^x",
            "minItems": 1, "maxItems": 2,
        });
        let field = |kind: Value| {
            let mut field = all.clone();
            field
                .as_object_mut()
                .expect("an object")
                .extend(kind.as_object().expect("an object").clone());
            field
        };
        let form = form(
            json!({
                "a": field(json!({ "type": "number" })),
                "b": field(json!({ "type": "string" })),
                "c": field(json!({ "type": "array", "items": { "type": "string", "enum": ["x", "y"] } })),
                "d": field(json!({ "type": "boolean" })),
            }),
            json!([]),
        )
        .expect("it fits");
        let limits: Vec<_> = form.questions.iter().map(|q| json!(q.limits)).collect();
        assert_eq!(
            limits,
            [
                json!({ "minimum": 1, "maximum": 9.5 }),
                json!({ "min_length": 2, "max_length": u32::MAX, "pattern": "^x" }),
                json!({ "min_items": 1, "max_items": 2 }),
                json!({}),
            ]
        );
    }

    #[test]
    fn what_a_person_cannot_be_asked_is_no_form() {
        let text = json!({ "type": "string" });
        for properties in [
            json!({}),
            json!({ "a": { "type": "object" } }),
            json!({ "a": { "type": "string", "pattern": "(?=x)" } }),
            json!({ "a": { "type": "integer", "minimum": 2, "maximum": 1 } }),
            json!({ "a": { "type": "string", "enum": ["only"] } }),
            json!({ "a": { "type": "array", "items": { "type": "number" } } }),
            json!({ "a": text, "b": text, "c": text, "d": text, "e": text }),
        ] {
            assert_eq!(form(properties.clone(), json!([])), None, "{properties}");
        }
        let url = json!({ "mode": "url", "url": "http://x", "message": "m" });
        assert_eq!(Form::read(&url), None);
        assert_eq!(
            result(ElicitationAnswer::Declined),
            json!({ "action": "decline" })
        );
        assert_eq!(
            result(ElicitationAnswer::Cancelled),
            json!({ "action": "cancel" })
        );
    }
}

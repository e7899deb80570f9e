//! Which answers meet the limits of a form, and which limits can be met.

use super::super::{Answer, QuestionOption, TextFormat, check_bundle};
use super::*;
use serde_json::{Value, json};

fn question(limits: Value) -> Question {
    Question {
        text: "Which?".to_owned(),
        options: Vec::new(),
        multi_select: false,
        free_text: true,
        format: None,
        limits: serde_json::from_value(limits).expect("limits"),
        optional: false,
    }
}

fn number(format: TextFormat, limits: Value) -> Question {
    Question {
        format: Some(format),
        ..question(limits)
    }
}

fn several(limits: Value) -> Question {
    let option = |id: &str| QuestionOption {
        id: id.to_owned(),
        label: id.to_owned(),
        description: None,
    };
    Question {
        options: ["a", "b", "c"].map(option).into(),
        multi_select: true,
        free_text: false,
        ..question(limits)
    }
}

fn refusal(question: &Question, selected: &[&str], text: Option<&str>) -> Option<String> {
    let answer = Answer {
        selected: selected.iter().map(|id| (*id).to_owned()).collect(),
        text: text.map(str::to_owned),
    };
    let taken = question.take("answers[0]", &answer);
    taken.err().map(|misfit| misfit.to_string())
}

#[test]
fn numbers_stay_within_their_limits() {
    let both = number(
        TextFormat::Integer,
        json!({ "minimum": 1, "maximum": 9_007_199_254_740_993_u64 }),
    );
    let range = "answers[0].text: a number, from 1 to 9007199254740993";
    for (text, refused) in [
        ("1", None),
        ("9007199254740993", None),
        ("0", Some(range)),
        ("-1", Some(range)),
        ("9007199254740994", Some(range)),
        ("1.5", Some("answers[0].text: a whole number")),
    ] {
        assert_eq!(
            refusal(&both, &[], Some(text)).as_deref(),
            refused,
            "{text}"
        );
    }
    let low = number(TextFormat::Number, json!({ "minimum": 0.5 }));
    assert_eq!(refusal(&low, &[], Some("0.5")), None);
    assert_eq!(
        refusal(&low, &[], Some("4e-1")).as_deref(),
        Some("answers[0].text: a number, at least 0.5")
    );
    let high = number(TextFormat::Number, json!({ "maximum": -2 }));
    assert_eq!(refusal(&high, &[], Some("-2")), None);
    assert_eq!(
        refusal(&high, &[], Some("-1.9")).as_deref(),
        Some("answers[0].text: a number, at most -2")
    );
}

#[test]
fn texts_have_a_length_in_characters_and_match_their_pattern() {
    let short = question(json!({ "min_length": 2, "max_length": 3 }));
    for (text, fits) in [
        ("é", false),
        ("éé", true),
        ("😀😀😀", true),
        ("abcd", false),
    ] {
        let refused = refusal(&short, &[], Some(text));
        let expected = "answers[0].text: from 2 to 3 characters";
        assert_eq!(refused.as_deref(), (!fits).then_some(expected), "{text}");
    }
    let version = question(json!({ "pattern": "^v\\d+$" }));
    assert_eq!(refusal(&version, &[], Some(" v12 ")), None, "trimmed");
    assert_eq!(
        refusal(&version, &[], Some("12")).as_deref(),
        Some("answers[0].text: a text that matches the pattern ^v\\d+$")
    );
    let inside = question(json!({ "pattern": "b" }));
    assert_eq!(refusal(&inside, &[], Some("abc")), None, "found anywhere");
}

#[test]
fn as_many_options_are_chosen_as_wanted() {
    let two = several(json!({ "min_items": 2, "max_items": 2 }));
    let expected = Some("answers[0].selected: exactly 2 options");
    assert_eq!(refusal(&two, &["a"], None).as_deref(), expected);
    assert_eq!(refusal(&two, &["a", "b"], None), None);
    assert_eq!(refusal(&two, &["a", "b", "c"], None).as_deref(), expected);
}

#[test]
fn what_is_left_empty_meets_every_limit() {
    let limits = json!({ "min_length": 2, "pattern": "x" });
    for mut question in [
        question(limits),
        number(TextFormat::Integer, json!({ "minimum": 1 })),
        several(json!({ "min_items": 2 })),
    ] {
        assert!(refusal(&question, &[], None).is_some());
        question.optional = true;
        assert_eq!(refusal(&question, &[], Some(" ")), None);
    }
}

#[test]
fn what_no_answer_meets_is_not_asked() {
    let place = |question: Question| check_bundle(&[question]).err().map(|misfit| misfit.place);
    let wrong = |field: &str| Some(format!("questions[0].limits.{field}"));
    let long = "x".repeat(bounds::PATTERN_CHARS);
    for limits in [
        json!({}),
        json!({ "minimum": 3, "maximum": 3, "min_length": 3, "max_length": 3 }),
        json!({ "min_length": bounds::ANSWER_CHARS, "max_length": u32::MAX }),
        json!({ "pattern": long }),
    ] {
        assert_eq!(place(question(limits.clone())), None, "{limits}");
    }
    for (limits, field) in [
        (json!({ "minimum": 3, "maximum": 2.5 }), "maximum"),
        (json!({ "min_length": 3, "max_length": 2 }), "max_length"),
        (json!({ "max_length": 0 }), "max_length"),
        (
            json!({ "min_length": bounds::ANSWER_CHARS + 1 }),
            "max_length",
        ),
        (json!({ "pattern": "(" }), "pattern"),
        (json!({ "pattern": "(?=x)x" }), "pattern"),
        (json!({ "pattern": "x{1000}{1000}" }), "pattern"),
        (json!({ "pattern": format!("{long}x") }), "pattern"),
    ] {
        assert_eq!(place(question(limits.clone())), wrong(field), "{limits}");
    }
    assert_eq!(place(several(json!({ "min_items": 3 }))), None);
    assert_eq!(
        place(several(json!({ "min_items": 4 }))),
        wrong("max_items")
    );
    assert_eq!(
        place(several(json!({ "max_items": 0 }))),
        wrong("max_items")
    );
}

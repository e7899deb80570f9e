//! What may be asked, what may be answered, and how answers read.

use super::*;

fn option(id: &str) -> QuestionOption {
    QuestionOption {
        id: id.to_owned(),
        label: id.to_uppercase(),
        description: None,
    }
}

fn question(options: &[&str]) -> Question {
    Question {
        text: "Which?".to_owned(),
        options: options.iter().map(|id| option(id)).collect(),
        multi_select: false,
        free_text: options.is_empty(),
        format: None,
        limits: Limits::default(),
        optional: false,
    }
}

fn answer(selected: &[&str], text: Option<&str>) -> Answer {
    Answer {
        selected: selected.iter().map(|id| (*id).to_owned()).collect(),
        text: text.map(str::to_owned),
    }
}

#[test]
fn what_an_agent_may_ask_is_bounded() {
    let fits = |questions: &[Question]| check_bundle(questions).map_err(|misfit| misfit.place);
    let wrong = |place: &str| Err(place.to_owned());
    let (yes_no, open) = (question(&["yes", "no"]), question(&[]));
    assert_eq!(fits(&[yes_no.clone(), open.clone()]), Ok(()));
    assert_eq!(fits(&vec![open.clone(); 4]), Ok(()));
    assert_eq!(fits(&[]), wrong("questions"));
    assert_eq!(fits(&vec![open.clone(); 5]), wrong("questions"));

    let text = |text: String| Question {
        text,
        ..yes_no.clone()
    };
    assert_eq!(fits(&[text("é".repeat(2_000))]), Ok(()));
    assert_eq!(
        fits(&[open.clone(), text("é".repeat(2_001))]),
        wrong("questions[1].text")
    );
    assert_eq!(fits(&[text(" \n".to_owned())]), wrong("questions[0].text"));

    let options = |count: usize| {
        let ids: Vec<String> = (0..count).map(|id| id.to_string()).collect();
        question(&ids.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(fits(&[options(2)]), Ok(()));
    assert_eq!(fits(&[options(6)]), Ok(()));
    for count in [1, 7] {
        assert_eq!(fits(&[options(count)]), wrong("questions[0].options"));
    }
    let mut silent = question(&[]);
    silent.free_text = false;
    assert_eq!(fits(&[silent]), wrong("questions[0].options"));
    assert_eq!(
        fits(&[question(&["a", "b", "a"])]),
        wrong("questions[0].options[2].label")
    );
    let mut long = yes_no.clone();
    long.options[1].label = "x".repeat(201);
    assert_eq!(fits(&[long]), wrong("questions[0].options[1].label"));
    let mut long = yes_no.clone();
    long.options[1].id = "x".repeat(bounds::OPTION_ID_BYTES + 1);
    assert_eq!(fits(&[long]), wrong("questions[0].options[1].id"));
    let mut long = yes_no;
    long.options[0].description = Some("x".repeat(501));
    assert_eq!(fits(&[long]), wrong("questions[0].options[0].description"));
}

#[test]
fn what_a_person_may_answer_follows_the_question() {
    let one = question(&["a", "b", "c"]);
    assert_eq!(
        one.take("x", &answer(&["b"], None)),
        Ok(answer(&["b"], None))
    );
    for bad in [
        answer(&[], None),
        answer(&["a", "b"], None),
        answer(&["d"], None),
        answer(&[], Some("else")),
        answer(&["a"], Some("and more")),
    ] {
        assert!(one.take("x", &bad).is_err(), "{bad:?}");
    }

    let mut many = one.clone();
    (many.multi_select, many.free_text) = (true, true);
    assert_eq!(
        many.take("x", &answer(&["c", "a", "c"], Some("  or d "))),
        Ok(answer(&["a", "c"], Some("or d"))),
        "in the order of the question, each once"
    );

    let mut either = one;
    either.free_text = true;
    assert!(either.take("x", &answer(&[], Some("d"))).is_ok());
    assert!(either.take("x", &answer(&["a"], Some("d"))).is_err());
    assert!(either.take("x", &answer(&["a"], Some(" "))).is_ok());
    let long = "é".repeat(2_001);
    assert!(either.take("x", &answer(&[], Some(&long))).is_err());
    either.optional = true;
    assert_eq!(either.take("x", &answer(&[], None)), Ok(answer(&[], None)));
}

#[test]
fn numbers_must_be_numbers() {
    let check = |format, text: &str| {
        let mut open = question(&[]);
        open.format = Some(format);
        open.take("answers[0]", &answer(&[], Some(text)))
            .map_err(|misfit| misfit.to_string())
    };
    assert!(check(TextFormat::Integer, " -3 ").is_ok());
    assert!(check(TextFormat::Number, "2.5").is_ok());
    assert_eq!(
        check(TextFormat::Integer, "2.5"),
        Err("answers[0].text: a whole number".to_owned())
    );
    for text in ["two", "inf", "NaN"] {
        assert_eq!(
            check(TextFormat::Number, text),
            Err("answers[0].text: a number".to_owned())
        );
    }
}

#[test]
fn answers_name_their_questions() {
    let asked = |index, question: Question, answer| Clarification {
        index,
        count: 2,
        question,
        answer,
    };
    let mut many = question(&["a", "b"]);
    many.multi_select = true;
    let both = [
        asked(0, many, Some(answer(&["a", "b"], Some("or d")))),
        asked(1, question(&[]), None),
    ];
    assert_eq!(
        as_prompt(&both),
        "Here is the answer to what you asked earlier.\n\n\
         Question: Which?\nAnswer: A; B; or d\n\nQuestion: Which?\nAnswer: (no answer)"
    );
}

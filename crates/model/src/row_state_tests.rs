//! The table of cases that the Rust and the TypeScript rule share.

use super::*;
use serde_json::Value;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("../cases/row_states.json")).expect("the table is valid JSON")
}

/// PEN-01, WEB-05: every line of the shared table.
#[test]
fn pen_01_every_case_of_the_shared_table_holds() {
    for case in cases() {
        let name = case["name"].as_str().expect("a case has a name");
        let summary: Option<SummaryPayload> = case.get("summary").map(|value| {
            serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{name}: {e}"))
        });
        let facts = RowFacts {
            state: TaskState::parse(case["state"].as_str().expect("a state"))
                .expect("a known state"),
            on_last_step: case["on_last_step"].as_bool().unwrap_or(false),
            interrupted: case["interrupted"].as_bool().unwrap_or(false),
            summary: summary.as_ref(),
        };
        assert_eq!(row_state(facts).as_str(), case["row_state"], "{name}");
        assert_eq!(attention_group(facts).as_str(), case["group"], "{name}");
    }
}

#[test]
fn the_table_reaches_every_state_and_every_group() {
    let cases = cases();
    for state in RowState::ALL {
        assert!(
            cases.iter().any(|case| case["row_state"] == state.as_str()),
            "{state:?}"
        );
    }
    for group in AttentionGroup::ALL {
        assert!(
            cases.iter().any(|case| case["group"] == group.as_str()),
            "{group:?}"
        );
    }
}

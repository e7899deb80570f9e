//! How a stored summary differs from the one that its authority gives, and when that is held against it. Plain data.

use model::summary::SummaryPayload;
use store::marks::Marks;

/// What is wrong with a stored summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// There is none.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// What it is derived from cannot be read; the reason names a column, no content.
    Underivable(String),
    /// These fields are not what authority says.
    Differs(Vec<String>),
}

impl Fault {
    /// Compares; nothing when both mean the same.
    pub(super) fn between(
        marks: &Marks,
        stored: Option<&SummaryPayload>,
        derived: &SummaryPayload,
    ) -> Option<Self> {
        match stored {
            None if marks.has_row => Some(Self::Unreadable),
            None => Some(Self::Missing),
            Some(stored) if summary::semantic::eq(stored, derived) => None,
            Some(stored) => Some(Self::Differs(differing(stored, derived))),
        }
    }
}

/// The names of the fields in which two payloads differ.
fn differing(a: &SummaryPayload, b: &SummaryPayload) -> Vec<String> {
    let fields = |payload| match serde_json::to_value(payload) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(), // a payload is an object with text keys
    };
    let (a, b) = (fields(a), fields(b));
    let mut names: Vec<String> = a
        .keys()
        .chain(b.keys())
        .filter(|&name| a.get(name) != b.get(name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

/// What a further look at a summary that differed says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is wrong.
    Wrong,
    /// It changes faster than it can be looked at, and its projector keeps up.
    Busy,
    /// The projector may be about to write it: look again.
    LookAgain,
}

/// Judges a summary that still differs while a server works. One that is not stale has no excuse. A stale one has,
/// until the last look; then what counts is whether it was derived at all since the first.
pub(super) const fn judge(first: &Marks, now: &Marks, fault: &Fault, last_look: bool) -> Verdict {
    if !now.is_stale() || matches!(fault, Fault::Underivable(_)) {
        Verdict::Wrong
    } else if !last_look {
        Verdict::LookAgain
    } else if first.derived_seq < now.derived_seq {
        Verdict::Busy
    } else {
        Verdict::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ids::TaskId;
    use model::summary::PendingAction;

    fn marks(derived_seq: i64, authority_seq: i64) -> Marks {
        Marks {
            task_id: TaskId::parse("t").expect("a test id"),
            authority_seq,
            derived_seq,
            has_row: true,
        }
    }

    /// SUM-04: fields are named, values are not.
    #[test]
    fn sum_04_differences_are_named_by_field() {
        let plain = SummaryPayload::default();
        let asks = SummaryPayload {
            pending_action: Some(PendingAction::Permission),
            queued_prompt_count: Some(2),
            ..SummaryPayload::default()
        };
        let at = marks(1, 1);
        assert_eq!(Fault::between(&at, Some(&asks), &asks), None);
        let names = ["pending_action", "queued_prompt_count"].map(str::to_owned);
        for (a, b) in [(&plain, &asks), (&asks, &plain)] {
            let fault = Fault::between(&at, Some(a), b);
            assert_eq!(fault, Some(Fault::Differs(names.to_vec())));
        }
        let fewer = SummaryPayload {
            queued_prompt_count: Some(1),
            ..asks.clone()
        };
        let fault = Fault::between(&at, Some(&fewer), &asks);
        assert_eq!(
            fault,
            Some(Fault::Differs(vec!["queued_prompt_count".to_owned()]))
        );
        assert_eq!(Fault::between(&at, None, &asks), Some(Fault::Unreadable));
        let none = Marks {
            has_row: false,
            ..at
        };
        assert_eq!(Fault::between(&none, None, &asks), Some(Fault::Missing));
    }

    #[test]
    fn a_stale_summary_is_given_time_and_a_busy_one_is_not_blamed() {
        let first = marks(3, 4);
        let differs = Fault::Differs(Vec::new());
        let cases = [
            (marks(4, 4), false, Verdict::Wrong),
            (marks(3, 4), false, Verdict::LookAgain),
            (marks(9, 10), false, Verdict::LookAgain),
            (marks(9, 10), true, Verdict::Busy),
            (marks(3, 10), true, Verdict::Wrong),
        ];
        for (now, last, expected) in cases {
            assert_eq!(judge(&first, &now, &differs, last), expected, "{now:?}");
        }
        let unread = Fault::Underivable("state".to_owned());
        assert_eq!(judge(&first, &marks(3, 4), &unread, false), Verdict::Wrong);
    }
}

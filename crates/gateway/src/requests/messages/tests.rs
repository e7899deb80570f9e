//! Pages of a transcript are cut from their far end.

use super::super::queue::queued;
use super::*;
use model::clock::Timestamp;
use model::ids::TaskId;
use model::message::{Author, MessageType};

fn message(seq: i64, bytes: usize) -> Message {
    Message {
        id: MessageId::parse(&format!("m{seq}")).expect("a test id"),
        session_id: SessionId::parse("s").expect("a test id"),
        task_id: TaskId::parse("t").expect("a test id"),
        turn_id: None,
        seq: Some(seq),
        revision: 1,
        author: Author::Agent,
        kind: MessageType::Message,
        content: "x".repeat(bytes),
        metadata: Value::Null,
        status: None,
        pending_id: None,
        delivered: None,
        disposition: None,
        queue_position: None,
        streaming: false,
        created_at: Timestamp::from_micros(0),
        updated_at: Timestamp::from_micros(0),
        attachments: Vec::new(),
        content_truncated: false,
    }
}

/// GWY-07.
#[test]
fn gwy_07_a_page_that_is_too_large_keeps_what_is_nearest() {
    let rows = || {
        (1..=5)
            .map(|seq| message(seq, bounds::PAGE_BYTES / 3))
            .collect::<Vec<_>>()
    };
    let check = |window, expected: &[i64], cursor, more| {
        let page = cut(rows(), false, window);
        let seqs: Vec<i64> = page
            .messages
            .iter()
            .filter_map(|message| message.seq)
            .collect();
        assert_eq!(
            (seqs.as_slice(), page.cursor, page.has_more),
            (expected, Some(cursor), more),
            "{window:?}"
        );
    };
    check(Window::Newest, &[4, 5], 4, true);
    check(Window::Before(6), &[4, 5], 4, true);
    check(Window::After(0), &[1, 2], 2, true);
}

#[test]
fn a_page_that_fits_is_whole() {
    let page = cut(vec![message(1, 10), message(2, 10)], false, Window::Newest);
    assert_eq!(
        (page.messages.len(), page.cursor, page.has_more),
        (2, Some(1), false)
    );
    let empty = cut(Vec::new(), false, Window::After(9));
    assert_eq!(
        (empty.messages.len(), empty.cursor, empty.has_more),
        (0, None, false)
    );
}

/// GWY-07.
#[test]
fn gwy_07_a_full_queue_fits_into_one_page() {
    let rows: Vec<_> = (0..10)
        .map(|seq| {
            queued(Message {
                content: "\u{1}".repeat(bounds::USER_CONTENT_BYTES / 4),
                ..message(seq, 0)
            })
        })
        .collect();
    assert_eq!(rows.len(), bounds::QUEUED_PROMPTS);
    assert!(rows.iter().all(|row| row.content_truncated));
    assert!(pages::wire_bytes(&rows) <= bounds::PAGE_BYTES);
    let short = queued(message(1, 10));
    assert_eq!((short.content.len(), short.content_truncated), (10, false));
}

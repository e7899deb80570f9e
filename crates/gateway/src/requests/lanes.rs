//! Which requests of one connection wait for each other.
//!
//! Most run at once. Two kinds depend on who comes first, and go one after the other in the order in which they came:
//! those that change what the client is subscribed to, and those that change the same session. A person who sends two
//! prompts, or a prompt and then Stop, means them in that order.
//!
//! Invariants:
//! - a request waits only for earlier ones of its own lane: another session, and whatever only reads, goes past;
//! - a turn is over when it is dropped, so a request that fails, or panics, lets the next one go;
//! - who waits is a request under way, so all lanes together hold [`bounds::INFLIGHT_REQUESTS`] at most; a lane that
//!   nobody is in is forgotten.

use model::bounds;
use serde_json::Value;
use std::collections::HashMap;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use wire::action::request as action;

/// The lanes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    subscriptions: Lane,
    /// By the id as the client wrote it: whether there is such a session is not asked here.
    sessions: HashMap<String, Lane>,
}

/// An order among requests.
#[derive(Debug, Default)]
struct Lane {
    last: Option<oneshot::Receiver<()>>,
}

/// A place in an order: wait for the one before, and let the next go when this is dropped.
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _next: oneshot::Sender<()>,
}

impl Lanes {
    /// The place of a request that was just read, if it has to keep an order.
    pub(super) fn enter(&mut self, action: &str, payload: &Value) -> Option<Turn> {
        if changes_subscriptions(action) {
            return Some(self.subscriptions.enter());
        }
        if !changes_a_session(action) {
            return None;
        }
        // What is no id is refused when the payload is read, whenever that is.
        let id = payload.get("session_id")?.as_str()?;
        if bounds::ID_BYTES < id.len() {
            return None;
        }
        self.sessions.retain(|_, lane| !lane.is_empty());
        Some(self.sessions.entry(id.to_owned()).or_default().enter())
    }
}

impl Lane {
    fn enter(&mut self) -> Turn {
        let (next, last) = oneshot::channel();
        Turn {
            before: self.last.replace(last),
            _next: next,
        }
    }

    /// Whether the last one that entered is over, and with it everybody before.
    fn is_empty(&mut self) -> bool {
        let last = self.last.as_mut().map(oneshot::Receiver::try_recv);
        !matches!(last, Some(Err(TryRecvError::Empty)))
    }
}

impl Turn {
    pub(super) async fn comes(&mut self) {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent: the one before is over when its end is dropped.
            let _ = before.await;
        }
    }
}

fn changes_subscriptions(action: &str) -> bool {
    matches!(
        action,
        action::CLIENT_HELLO
            | action::WORKSPACE_SUBSCRIBE
            | action::WORKSPACE_UNSUBSCRIBE
            | action::SESSION_SUBSCRIBE
            | action::SESSION_UNSUBSCRIBE
            | action::SESSION_FOCUS
            | action::SESSION_UNFOCUS
    )
}

/// Whether an action changes the one session that its payload names: prompts and their queue, answers, stops, and what
/// is chosen for its agent.
fn changes_a_session(action: &str) -> bool {
    matches!(
        action,
        action::MESSAGE_ADD
            | action::MESSAGE_RESEND
            | action::MESSAGE_DELETE
            | action::MESSAGE_QUEUE_UPDATE
            | action::MESSAGE_QUEUE_REORDER
            | action::MESSAGE_QUEUE_SEND_NOW
            | action::MESSAGE_QUEUE_REMOVE
            | action::PERMISSION_RESPOND
            | action::CLARIFICATION_RESPOND
            | action::AGENT_CANCEL
            | action::SESSION_STOP
            | action::SESSION_CLOSE
            | action::SESSION_DELETE
            | action::SESSION_RENAME
            | action::SESSION_SET_PRIMARY
            | action::SESSION_SET_MODEL
            | action::SESSION_SET_MODE
            | action::SESSION_SET_OPTION
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session(id: &str) -> Value {
        json!({ "session_id": id })
    }

    /// Whether this one need not wait.
    fn is_first(turn: &Turn) -> bool {
        turn.before.is_none()
    }

    #[test]
    fn only_what_changes_the_same_session_waits() {
        let mut lanes = Lanes::default();
        let one = lanes.enter(action::MESSAGE_ADD, &session("a")).unwrap();
        let two = lanes.enter(action::AGENT_CANCEL, &session("a")).unwrap();
        let other = lanes.enter(action::MESSAGE_ADD, &session("b")).unwrap();
        assert!(is_first(&one) && !is_first(&two) && is_first(&other));
        for reads in [action::MESSAGE_LIST, action::PING, action::TASK_LIST] {
            assert!(lanes.enter(reads, &session("a")).is_none(), "{reads}");
        }
        let subscribes = lanes.enter(action::SESSION_SUBSCRIBE, &session("a"));
        assert!(is_first(&subscribes.unwrap()));
        for no_id in [json!({}), json!({ "session_id": 7 }), json!([])] {
            assert!(lanes.enter(action::MESSAGE_ADD, &no_id).is_none());
        }
        let endless = "x".repeat(bounds::ID_BYTES + 1);
        assert!(
            lanes
                .enter(action::MESSAGE_ADD, &session(&endless))
                .is_none()
        );
    }

    #[tokio::test]
    async fn who_is_over_lets_the_next_one_go_and_an_empty_lane_is_forgotten() {
        let mut lanes = Lanes::default();
        let one = lanes.enter(action::MESSAGE_ADD, &session("a")).unwrap();
        let mut two = lanes.enter(action::MESSAGE_ADD, &session("a")).unwrap();
        drop(one);
        two.comes().await;
        drop(two);
        drop(lanes.enter(action::MESSAGE_ADD, &session("b")));
        drop(lanes.enter(action::MESSAGE_ADD, &session("c")));
        assert_eq!(lanes.sessions.len(), 1);
    }

    /// Every request that names a session and is none of these only reads, or only subscribes.
    #[test]
    fn every_action_of_a_session_either_keeps_the_order_or_reads() {
        let unordered: Vec<&str> = wire::action::REQUESTS
            .iter()
            .copied()
            .filter(|action| action.starts_with("session.") || action.starts_with("message."))
            .filter(|action| !changes_a_session(action) && !changes_subscriptions(action))
            .collect();
        assert_eq!(
            unordered,
            [
                action::SESSION_LAUNCH,
                action::SESSION_GIT_REFRESH,
                action::SESSION_LIST,
                action::MESSAGE_LIST,
                action::MESSAGE_GET,
                action::MESSAGE_QUEUE_LIST,
            ]
        );
    }
}

//! Which requests of one connection wait for each other.
//!
//! Most run at once. Two kinds depend on who comes first, and go one after the other in the order in which they came:
//! those that change what the client is subscribed to, and those that change the same session. A person who sends two
//! prompts, or a prompt and then Stop, means them in that order.
//!
//! Invariants:
//! - a request waits only for earlier ones of its own lane: another session, and whatever only reads, goes past;
//! - a turn is over when it is dropped, so a request that fails, or panics, lets the next one go;
//! - who waits is a request under way, so all lanes together hold [`bounds::INFLIGHT_REQUESTS`] at most, and one session
//!   [`bounds::LANE_REQUESTS`] of them, so that one that is slow leaves the others their share; a lane that nobody is in
//!   is forgotten.

use model::bounds;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::oneshot;
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
    /// Held by everybody who is in it.
    inside: Arc<()>,
}

/// A place in an order: wait for the one before, and let the next go when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _next: oneshot::Sender<()>,
    _inside: Arc<()>,
}

/// Where a request stands among the others.
#[derive(Debug)]
pub(super) enum Place {
    /// It waits for nobody.
    Free,
    /// It has to keep an order.
    In(Turn),
    /// Too many that change its session are under way.
    Full,
}

impl Lanes {
    /// The place of a request that was just read.
    pub(super) fn enter(&mut self, action: &str, payload: &Value) -> Place {
        if changes_subscriptions(action) {
            return Place::In(self.subscriptions.enter());
        }
        let named = payload.get("session_id").and_then(Value::as_str);
        // What is no id is refused when the payload is read, whenever that is.
        let Some(id) = named.filter(|id| changes_a_session(action) && id.len() <= bounds::ID_BYTES)
        else {
            return Place::Free;
        };
        self.sessions.retain(|_, lane| 0 < lane.inside());
        let lane = self.sessions.entry(id.to_owned()).or_default();
        if lane.inside() < bounds::LANE_REQUESTS {
            Place::In(lane.enter())
        } else {
            Place::Full
        }
    }
}

impl Lane {
    fn enter(&mut self) -> Turn {
        let (next, last) = oneshot::channel();
        Turn {
            before: self.last.replace(last),
            _next: next,
            _inside: Arc::clone(&self.inside),
        }
    }

    /// How many are in it.
    fn inside(&self) -> usize {
        Arc::strong_count(&self.inside) - 1
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

    fn turn(place: Place) -> Turn {
        match place {
            Place::In(turn) => turn,
            other => panic!("no place in a lane: {other:?}"),
        }
    }

    /// Whether this one need not wait.
    fn is_first(turn: &Turn) -> bool {
        turn.before.is_none()
    }

    #[test]
    fn only_what_changes_the_same_session_waits() {
        let mut lanes = Lanes::default();
        let one = turn(lanes.enter(action::MESSAGE_ADD, &session("a")));
        let two = turn(lanes.enter(action::AGENT_CANCEL, &session("a")));
        let other = turn(lanes.enter(action::MESSAGE_ADD, &session("b")));
        assert!(is_first(&one) && !is_first(&two) && is_first(&other));
        let free = |place: Place| matches!(place, Place::Free);
        for reads in [action::MESSAGE_LIST, action::PING, action::TASK_LIST] {
            assert!(free(lanes.enter(reads, &session("a"))), "{reads}");
        }
        let subscribes = lanes.enter(action::SESSION_SUBSCRIBE, &session("a"));
        assert!(is_first(&turn(subscribes)));
        for no_id in [json!({}), json!({ "session_id": 7 }), json!([])] {
            assert!(free(lanes.enter(action::MESSAGE_ADD, &no_id)));
        }
        let endless = "x".repeat(bounds::ID_BYTES + 1);
        assert!(free(lanes.enter(action::MESSAGE_ADD, &session(&endless))));
    }

    #[tokio::test]
    async fn who_is_over_lets_the_next_one_go_and_an_empty_lane_is_forgotten() {
        let mut lanes = Lanes::default();
        let one = turn(lanes.enter(action::MESSAGE_ADD, &session("a")));
        let mut two = turn(lanes.enter(action::MESSAGE_ADD, &session("a")));
        drop(one);
        two.comes().await;
        drop(two);
        drop(lanes.enter(action::MESSAGE_ADD, &session("b")));
        drop(lanes.enter(action::MESSAGE_ADD, &session("c")));
        assert_eq!(lanes.sessions.len(), 1);
    }

    #[test]
    fn a_full_lane_takes_one_for_each_that_is_over_and_keeps_nobody_else_out() {
        let mut lanes = Lanes::default();
        let mut enter = |id: &str| lanes.enter(action::MESSAGE_ADD, &session(id));
        let mut waiting: Vec<Turn> = (0..bounds::LANE_REQUESTS)
            .map(|_| turn(enter("a")))
            .collect();
        assert!(matches!(enter("a"), Place::Full));
        assert!(is_first(&turn(enter("b"))));
        waiting.remove(0);
        waiting.push(turn(enter("a")));
        assert!(matches!(enter("a"), Place::Full));
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

//! The permission requests of one agent that nobody has answered yet.
//!
//! Invariant: each JSON-RPC request leaves this table exactly once, and whoever takes it out sends its one answer.
//! JSON-RPC ids repeat, tickets do not, so a late answer can never hit a newer request.

use crate::event::{PermissionKind, PermissionOption, PermissionTicket};
use model::bounds;
use serde_json::Value;
use std::collections::BTreeMap;

/// Open requests by ticket.
#[derive(Debug, Default)]
pub struct OpenPermissions {
    last: u64,
    open: BTreeMap<PermissionTicket, Value>,
}

impl OpenPermissions {
    /// Remembers the request with this JSON-RPC id; `None` when [`bounds::OPEN_PERMISSIONS`] are open already.
    pub fn admit(&mut self, id: Value) -> Option<PermissionTicket> {
        if bounds::OPEN_PERMISSIONS <= self.open.len() {
            return None;
        }
        self.last += 1;
        let ticket = PermissionTicket(self.last);
        self.open.insert(ticket, id);
        Some(ticket)
    }

    /// Takes one request out; the JSON-RPC id to answer, or `None` when it has been answered.
    pub fn take(&mut self, ticket: PermissionTicket) -> Option<Value> {
        self.open.remove(&ticket)
    }

    /// Takes out the newest request with this JSON-RPC id.
    pub fn withdraw(&mut self, id: &Value) -> Option<PermissionTicket> {
        let ticket = self
            .open
            .iter()
            .rev()
            .find(|(_, open)| *open == id)
            .map(|(ticket, _)| *ticket)?;
        self.open.remove(&ticket);
        Some(ticket)
    }

    /// Takes all out, oldest first.
    pub fn take_all(&mut self) -> Vec<(PermissionTicket, Value)> {
        std::mem::take(&mut self.open).into_iter().collect()
    }
}

/// What a permission request offers. An option of a kind nobody knows is left out: a person could not know what it does.
pub(crate) fn read_options(params: &Value) -> Vec<PermissionOption> {
    let option = |option: &Value| {
        let text = |key: &str| option.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = text("optionId")?;
        let kind = match option.get("kind").and_then(Value::as_str)? {
            "allow_once" => PermissionKind::AllowOnce,
            "allow_always" => PermissionKind::AllowAlways,
            "reject_once" => PermissionKind::RejectOnce,
            "reject_always" => PermissionKind::RejectAlways,
            _ => return None,
        };
        Some(PermissionOption {
            name: text("name").unwrap_or_else(|| id.clone()),
            id,
            kind,
        })
    };
    let options = params
        .get("options")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    options.iter().filter_map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_request_leaves_once() {
        let mut open = OpenPermissions::default();
        let first = open.admit(json!(0)).unwrap();
        let second = open.admit(json!(0)).unwrap();
        assert_ne!(first, second);
        assert_eq!(open.withdraw(&json!(0)), Some(second));
        assert_eq!(open.take(second), None);
        assert_eq!(open.take(first), Some(json!(0)));
        assert_eq!(open.withdraw(&json!(0)), None);
        let third = open.admit(json!("x")).unwrap();
        assert_eq!(open.take_all(), [(third, json!("x"))]);
    }

    #[test]
    fn more_than_the_bound_is_refused() {
        let mut open = OpenPermissions::default();
        for id in 0..bounds::OPEN_PERMISSIONS {
            assert!(open.admit(json!(id)).is_some());
        }
        assert_eq!(open.admit(json!(-1)), None);
    }
}

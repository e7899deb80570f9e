//! A request may outlive its connection; what it would have joined must not remember the client.

use super::*;
use model::clock::Timestamp;

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0)
    }
}

fn connected(hub: &Hub) -> Arc<Client> {
    let user_id = UserId::parse("u").unwrap();
    let hello = OutFrame::notification("hello", &(), Timestamp::from_micros(0));
    hub.connect(user_id, "hash".to_owned(), Limits::default(), hello)
}

fn place() -> SessionPlace {
    SessionPlace {
        session_id: SessionId::parse("s").unwrap(),
        task_id: TaskId::parse("t").unwrap(),
        workspace_id: WorkspaceId::parse("w").unwrap(),
        environment_id: Some(EnvironmentId::parse("e").unwrap()),
    }
}

#[test]
fn whoever_is_gone_joins_nothing_and_looks_at_nothing() {
    let hub = Hub::new(Arc::new(Still));
    let client = connected(&hub);
    let place = place();
    hub.disconnect(&client);
    let generation = hub.access_generation(&place.workspace_id);
    assert_eq!(
        hub.join_workspace(&client, &place.workspace_id, generation),
        Joined::Gone
    );
    assert_eq!(hub.join_session(&client, &place, generation), Joined::Gone);
    assert_eq!(hub.focus(&client, &place), Looked::Gone);
    assert_eq!(hub.in_workspace(&place.workspace_id).len(), 0);
    assert_eq!(hub.in_session(&place.session_id).len(), 0);
    assert_eq!(hub.open_sessions_of(&place.task_id), Vec::new());
    assert!(hub.focused_environments().is_empty());
}

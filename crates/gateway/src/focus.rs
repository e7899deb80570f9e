//! Who looks at which session: from it follows which environments are polled often. Plain data.
//!
//! A client may look at a session before its environment exists; [`Focus::bind`] completes that. Nobody is told of a
//! change: whoever acts on focus compares [`Focus::environments`] with what it did last, so a lost wake repairs itself.

use crate::client::ClientId;
use crate::hub::registry::SessionPlace;
use model::ids::{EnvironmentId, SessionId, WorkspaceId};
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(crate) struct Focus {
    looks: HashMap<(ClientId, SessionId), Look>,
}

/// What became of a look at a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Looked {
    /// It counts.
    Noted,
    /// The client looks at too many sessions already.
    TooMany,
    /// The client disconnected meanwhile.
    Gone,
}

#[derive(Debug)]
struct Look {
    workspace_id: WorkspaceId,
    environment_id: Option<EnvironmentId>,
}

impl Focus {
    /// A client looks at a session, at `limit` of them at most.
    pub(crate) fn begin(&mut self, client: ClientId, place: &SessionPlace, limit: usize) -> Looked {
        let others = self
            .looks
            .keys()
            .filter(|(who, what)| *who == client && *what != place.session_id);
        if limit <= others.count() {
            return Looked::TooMany;
        }
        let workspace_id = place.workspace_id.clone();
        let environment_id = place.environment_id.clone();
        self.looks.insert(
            (client, place.session_id.clone()),
            Look {
                workspace_id,
                environment_id,
            },
        );
        Looked::Noted
    }

    /// A session works in this environment from now on.
    pub(crate) fn bind(&mut self, session_id: &SessionId, environment_id: Option<&EnvironmentId>) {
        for ((_, what), look) in &mut self.looks {
            if what == session_id && look.environment_id.as_ref() != environment_id {
                look.environment_id = environment_id.cloned();
            }
        }
    }

    /// A client may not see this workspace any more.
    pub(crate) fn end_workspace(&mut self, client: ClientId, workspace_id: &WorkspaceId) {
        self.looks
            .retain(|(who, _), look| *who != client || look.workspace_id != *workspace_id);
    }

    /// A client looks away from a session.
    pub(crate) fn end(&mut self, client: ClientId, session_id: &SessionId) {
        self.looks
            .retain(|(who, what), _| *who != client || what != session_id);
    }

    /// A session is gone.
    pub(crate) fn end_session(&mut self, session_id: &SessionId) {
        self.looks.retain(|(_, what), _| what != session_id);
    }

    /// A client is gone.
    pub(crate) fn end_client(&mut self, client: ClientId) {
        self.looks.retain(|(who, _), _| *who != client);
    }

    /// The environments that anybody looks at.
    pub(crate) fn environments(&self) -> HashSet<EnvironmentId> {
        self.looks
            .values()
            .filter_map(|look| look.environment_id.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// API-03.
    #[test]
    fn api_03_an_environment_is_focused_while_anybody_looks() {
        let e = EnvironmentId::parse("e").unwrap();
        let w = WorkspaceId::parse("w").unwrap();
        let place = |session: &str, environment_id: Option<&EnvironmentId>| SessionPlace {
            session_id: SessionId::parse(session).unwrap(),
            task_id: model::ids::TaskId::parse("t").unwrap(),
            workspace_id: w.clone(),
            environment_id: environment_id.cloned(),
        };
        let (s1, s2) = (place("s1", Some(&e)), place("s2", Some(&e)));
        let (a, b) = (ClientId(1), ClientId(2));
        let mut focus = Focus::default();
        let looked_at = |focus: &Focus| focus.environments().contains(&e);
        assert_eq!(focus.begin(a, &s1, 1), Looked::Noted);
        assert_eq!(focus.begin(a, &s1, 1), Looked::Noted);
        assert_eq!(focus.begin(b, &s2, 1), Looked::Noted);
        focus.end(a, &s1.session_id);
        assert!(looked_at(&focus));
        focus.end_client(b);
        assert!(!looked_at(&focus));
        assert_eq!(focus.begin(a, &place("s1", None), 1), Looked::Noted);
        assert!(!looked_at(&focus), "its environment is still being made");
        focus.bind(&s1.session_id, Some(&e));
        assert!(looked_at(&focus));
        focus.end_session(&s1.session_id);
        assert!(!looked_at(&focus));
        assert_eq!(focus.begin(a, &s1, 1), Looked::Noted);
        focus.end_workspace(b, &w);
        assert!(looked_at(&focus));
        focus.end_workspace(a, &w);
        assert!(!looked_at(&focus));
        assert_eq!(focus.begin(a, &s1, 1), Looked::Noted);
        assert_eq!(focus.begin(a, &s2, 1), Looked::TooMany);
        assert_eq!(focus.begin(b, &s2, 1), Looked::Noted);
    }
}

//! Who looks at which environment: counted over clients and their sessions, so that polling is fast while anybody
//! looks. Plain data; each change says what became of the environment.

use crate::client::ClientId;
use model::ids::{EnvironmentId, SessionId};
use std::collections::{HashMap, HashSet};

/// Whether somebody looks at an environment now, when that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FocusChange {
    /// Somebody looks again.
    Began(EnvironmentId),
    /// Nobody looks any more.
    Ended(EnvironmentId),
}

#[derive(Debug, Default)]
pub(crate) struct Focus {
    looking: HashMap<EnvironmentId, HashSet<(ClientId, SessionId)>>,
}

impl Focus {
    /// A client looks at a session of this environment.
    pub(crate) fn begin(
        &mut self,
        client: ClientId,
        session_id: &SessionId,
        environment_id: &EnvironmentId,
    ) -> Option<FocusChange> {
        let looking = self.looking.entry(environment_id.clone()).or_default();
        let first = looking.is_empty();
        looking.insert((client, session_id.clone()));
        first.then(|| FocusChange::Began(environment_id.clone()))
    }

    /// A client looks away from a session.
    pub(crate) fn end(&mut self, client: ClientId, session_id: &SessionId) -> Vec<FocusChange> {
        self.drop_where(|(who, what)| *who == client && what == session_id)
    }

    /// A client is gone.
    pub(crate) fn end_all(&mut self, client: ClientId) -> Vec<FocusChange> {
        self.drop_where(|(who, _)| *who == client)
    }

    fn drop_where(&mut self, gone: impl Fn(&(ClientId, SessionId)) -> bool) -> Vec<FocusChange> {
        let mut ended = Vec::new();
        self.looking.retain(|environment_id, looking| {
            looking.retain(|look| !gone(look));
            if looking.is_empty() {
                ended.push(FocusChange::Ended(environment_id.clone()));
            }
            !looking.is_empty()
        });
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_03_an_environment_is_focused_while_anybody_looks() {
        let (s1, s2) = (
            SessionId::parse("s1").unwrap(),
            SessionId::parse("s2").unwrap(),
        );
        let e = EnvironmentId::parse("e").unwrap();
        let (a, b) = (ClientId(1), ClientId(2));
        let mut focus = Focus::default();
        assert_eq!(focus.begin(a, &s1, &e), Some(FocusChange::Began(e.clone())));
        assert_eq!(focus.begin(a, &s1, &e), None);
        assert_eq!(focus.begin(b, &s2, &e), None);
        assert_eq!(focus.end(a, &s1), []);
        assert_eq!(focus.end(a, &s1), []);
        assert_eq!(focus.begin(b, &s1, &e), None);
        assert_eq!(focus.end_all(b), [FocusChange::Ended(e)]);
        assert_eq!(focus.end_all(b), []);
    }
}

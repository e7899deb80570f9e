//! Who is connected and who is subscribed to what: plain maps, and the access generation of each workspace.
//!
//! Invariants:
//! - a client stands in a scope's set exactly while that scope is open in its outbox;
//! - only a connected client stands in any set, so nothing is left behind by a request that outlives its connection;
//! - a subscription is only made under the access generation that its authorization was read under (law 8), so a
//!   membership that ends in between leaves none behind.

use crate::client::{Client, ClientId};
use flow::outbox::keys::Scope;
use model::ids::{EnvironmentId, SessionId, TaskId, UserId, WorkspaceId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

type Clients = HashMap<ClientId, Arc<Client>>;

/// A session that at least one client has open.
#[derive(Debug)]
pub(super) struct OpenSession {
    pub(super) task_id: TaskId,
    workspace_id: WorkspaceId,
    environment_id: Option<EnvironmentId>,
    pub(super) clients: Clients,
}

/// Where a session belongs, as read from the store when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct SessionPlace {
    pub(crate) session_id: SessionId,
    pub(crate) task_id: TaskId,
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) environment_id: Option<EnvironmentId>,
}

/// What became of a wish to join a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Joined {
    /// The client is newly subscribed.
    New,
    /// It already was.
    Already,
    /// Access changed since the authorization was read: read it again.
    AccessChanged,
    /// Too many open sessions.
    TooMany,
    /// The client disconnected meanwhile.
    Gone,
}

#[derive(Debug, Default)]
pub(super) struct Registry {
    pub(super) clients: Clients,
    workspaces: HashMap<WorkspaceId, Clients>,
    sessions: HashMap<SessionId, OpenSession>,
    environments: HashMap<EnvironmentId, HashSet<SessionId>>,
    generations: HashMap<WorkspaceId, u64>,
}

impl Registry {
    pub(super) fn in_workspace(&self, id: &WorkspaceId) -> impl Iterator<Item = &Arc<Client>> {
        self.workspaces
            .get(id)
            .into_iter()
            .flat_map(HashMap::values)
    }

    pub(super) fn in_session(&self, id: &SessionId) -> impl Iterator<Item = &Arc<Client>> {
        self.sessions
            .get(id)
            .into_iter()
            .flat_map(|session| session.clients.values())
    }

    /// Open sessions of an environment.
    pub(super) fn in_environment(
        &self,
        id: &EnvironmentId,
    ) -> impl Iterator<Item = (&SessionId, &OpenSession)> {
        let sessions = self.environments.get(id).into_iter().flatten();
        sessions.filter_map(|session_id| self.sessions.get_key_value(session_id))
    }

    /// Open sessions of a task.
    pub(super) fn of_task(&self, task_id: &TaskId) -> Vec<SessionId> {
        let sessions = self
            .sessions
            .iter()
            .filter(|(_, session)| session.task_id == *task_id);
        sessions.map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn generation(&self, id: &WorkspaceId) -> u64 {
        self.generations.get(id).copied().unwrap_or(0)
    }

    pub(super) fn is_connected(&self, client: &Client) -> bool {
        self.clients.contains_key(&client.id)
    }

    pub(super) fn join_workspace(
        &mut self,
        client: &Arc<Client>,
        id: &WorkspaceId,
        generation: u64,
    ) -> Joined {
        if !self.is_connected(client) {
            return Joined::Gone;
        }
        if self.generation(id) != generation {
            return Joined::AccessChanged;
        }
        let scope = Scope::Workspace(id.clone());
        self.workspaces
            .entry(id.clone())
            .or_default()
            .insert(client.id, Arc::clone(client));
        if client.outbox(|outbox| outbox.join(&scope)) {
            Joined::New
        } else {
            Joined::Already
        }
    }

    pub(super) fn join_session(
        &mut self,
        client: &Arc<Client>,
        place: &SessionPlace,
        generation: u64,
        limit: usize,
    ) -> Joined {
        if !self.is_connected(client) {
            return Joined::Gone;
        }
        if self.generation(&place.workspace_id) != generation {
            return Joined::AccessChanged;
        }
        let scope = Scope::Session(place.session_id.clone());
        let open = self
            .sessions
            .values()
            .filter(|session| session.clients.contains_key(&client.id))
            .count();
        if limit <= open && !client.outbox(|outbox| outbox.is_joined(&scope)) {
            return Joined::TooMany;
        }
        let session = self
            .sessions
            .entry(place.session_id.clone())
            .or_insert_with(|| OpenSession {
                task_id: place.task_id.clone(),
                workspace_id: place.workspace_id.clone(),
                environment_id: None,
                clients: HashMap::new(),
            });
        session.clients.insert(client.id, Arc::clone(client));
        let known = session.environment_id.is_some();
        if !known {
            self.bind(&place.session_id, place.environment_id.as_ref());
        }
        if client.outbox(|outbox| outbox.join(&scope)) {
            Joined::New
        } else {
            Joined::Already
        }
    }

    /// Notes which environment an open session works in.
    pub(super) fn bind(&mut self, session_id: &SessionId, environment_id: Option<&EnvironmentId>) {
        let Some(session) = self.sessions.get_mut(session_id) else {
            return;
        };
        if session.environment_id.as_ref() == environment_id {
            return;
        }
        let before = std::mem::replace(&mut session.environment_id, environment_id.cloned());
        self.unroute(before.as_ref(), session_id);
        if let Some(id) = environment_id {
            self.environments
                .entry(id.clone())
                .or_default()
                .insert(session_id.clone());
        }
    }

    pub(super) fn leave_workspace(&mut self, client: &Client, id: &WorkspaceId) {
        if let Some(clients) = self.workspaces.get_mut(id) {
            clients.remove(&client.id);
            if clients.is_empty() {
                self.workspaces.remove(id);
            }
        }
        client.outbox(|outbox| outbox.leave(&Scope::Workspace(id.clone())));
    }

    pub(super) fn leave_session(&mut self, client: &Client, id: &SessionId) {
        client.outbox(|outbox| outbox.leave(&Scope::Session(id.clone())));
        let Some(session) = self.sessions.get_mut(id) else {
            return;
        };
        session.clients.remove(&client.id);
        if session.clients.is_empty() {
            self.forget_session(id);
        }
    }

    /// Closes a session that is gone, for everybody.
    pub(super) fn close_session(&mut self, id: &SessionId) {
        for client in self.in_session(id) {
            client.outbox(|outbox| outbox.leave(&Scope::Session(id.clone())));
        }
        self.forget_session(id);
    }

    /// Ends what a person sees of a workspace that they are no longer a member of. Gives their connections.
    pub(super) fn revoke(&mut self, workspace_id: &WorkspaceId, user_id: &UserId) -> Vec<ClientId> {
        *self.generations.entry(workspace_id.clone()).or_default() += 1;
        let clients: Vec<_> = self
            .clients
            .values()
            .filter(|client| client.user_id == *user_id)
            .cloned()
            .collect();
        let sessions = self
            .sessions
            .iter()
            .filter(|(_, session)| session.workspace_id == *workspace_id);
        let sessions: Vec<_> = sessions.map(|(id, _)| id.clone()).collect();
        for client in &clients {
            self.leave_workspace(client, workspace_id);
            for session_id in &sessions {
                self.leave_session(client, session_id);
            }
        }
        clients.iter().map(|client| client.id).collect()
    }

    /// Forgets a client that disconnected.
    pub(super) fn remove(&mut self, client: &Client) {
        self.clients.remove(&client.id);
        let workspaces: Vec<_> = self.workspaces.keys().cloned().collect();
        for id in &workspaces {
            self.leave_workspace(client, id);
        }
        let sessions: Vec<_> = self.sessions.keys().cloned().collect();
        for id in &sessions {
            self.leave_session(client, id);
        }
    }

    fn forget_session(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.remove(id) {
            self.unroute(session.environment_id.as_ref(), id);
        }
    }

    fn unroute(&mut self, environment_id: Option<&EnvironmentId>, session_id: &SessionId) {
        let Some(id) = environment_id else { return };
        if let Some(sessions) = self.environments.get_mut(id) {
            sessions.remove(session_id);
            if sessions.is_empty() {
                self.environments.remove(id);
            }
        }
    }
}

//! One connected client, as everybody but its own connection task sees it: an outbox behind a lock, and a bell.
//!
//! Invariant: the lock is held for a few lines, never across an `await`; whoever changes the outbox rings the bell.

use crate::frame::OutFrame;
use flow::outbox::Outbox;
use flow::outbox::limits::{Limits, Overflow, Pushed};
use model::bounds;
use model::ids::UserId;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use wire::envelope::close;

/// Numbers connections within one run, for maps and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(crate) u64);

/// A connected client.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    pub(crate) user_id: UserId,
    /// The hash of the secret it signed in with.
    pub(crate) secret_hash: String,
    outbox: Mutex<Outbox<OutFrame>>,
    bell: Notify,
    appends: AtomicBool,
    background: Arc<Semaphore>,
    /// A close code that somebody else decided on; 0: none.
    close_code: AtomicU16,
}

impl Client {
    pub(crate) fn new(id: ClientId, user_id: UserId, secret_hash: String, limits: Limits) -> Self {
        Self {
            id,
            user_id,
            secret_hash,
            outbox: Mutex::new(Outbox::new(limits)),
            bell: Notify::new(),
            appends: AtomicBool::new(false),
            background: Arc::new(Semaphore::new(bounds::CLIENT_BACKGROUND)),
            close_code: AtomicU16::new(0),
        }
    }

    /// Reads or changes the outbox without waking its writer.
    pub(crate) fn outbox<R>(&self, with: impl FnOnce(&mut Outbox<OutFrame>) -> R) -> R {
        with(&mut self.outbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Pushes something into the outbox and wakes its writer. An overflow shows there, as a reason to close.
    pub(crate) fn push(&self, with: impl FnOnce(&mut Outbox<OutFrame>) -> Pushed) {
        match self.outbox(with) {
            Pushed::Overflowed(overflow) => {
                tracing::warn!(
                    client = self.id.0,
                    ?overflow,
                    "a client is closed because its queue overflowed"
                );
            }
            Pushed::Evicted(_) => {
                tracing::debug!(
                    client = self.id.0,
                    "a message state was evicted; the client will list"
                );
            }
            Pushed::Queued | Pushed::Replaced | Pushed::Older | Pushed::NotSubscribed => {}
        }
        self.bell.notify_one();
    }

    /// Waits until the outbox may have changed.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// A place for work that goes on after its request was answered; nothing when
    /// [`bounds::CLIENT_BACKGROUND`] are taken. Hold it until the work is done.
    pub(crate) fn background(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.background).try_acquire_owned().ok()
    }

    /// Asks the connection to close with this code.
    pub(crate) fn close(&self, code: u16) {
        self.close_code.store(code, Ordering::SeqCst);
        self.bell.notify_one();
    }

    /// The code to close with, if it is time to.
    pub(crate) fn close_code(&self) -> Option<u16> {
        match self.close_code.load(Ordering::SeqCst) {
            0 => self
                .outbox(|outbox| outbox.overflow())
                .map(|overflow| match overflow {
                    Overflow::Control => close::CONTROL_OVERFLOW,
                    Overflow::Behind => close::RESYNC,
                }),
            code => Some(code),
        }
    }

    /// Whether it takes appends (`message_append`) instead of whole messages.
    pub(crate) fn takes_appends(&self) -> bool {
        self.appends.load(Ordering::Relaxed)
    }

    pub(crate) fn set_takes_appends(&self, appends: bool) {
        self.appends.store(appends, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_work_of_a_client_is_bounded_and_its_places_come_back() {
        let user_id = UserId::parse("u").unwrap();
        let client = Client::new(ClientId(1), user_id, "hash".to_owned(), Limits::default());
        let mut held = Vec::new();
        while let Some(place) = client.background() {
            held.push(place);
        }
        assert_eq!(held.len(), bounds::CLIENT_BACKGROUND);
        held.pop();
        assert!(client.background().is_some());
    }
}

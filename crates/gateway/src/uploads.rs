//! How many files one person may upload at once, and how long each may take.
//!
//! All uploads together have few places ([`bounds::UPLOADS`]). Here is what keeps one person, or one slow line, from
//! having them all: a share per person, and an end for whatever comes too slowly.
//!
//! Invariant: plain data behind a lock that is never held across an `await`; a place is free when it is dropped.

use model::bounds;
use model::ids::UserId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The bounds of uploads; see `model::bounds` for the reason of each. A value, so that a test can choose small ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadLimits {
    /// Files that one person uploads at once.
    pub of_user: usize,
    /// How long nothing of a file may come.
    pub stall: Duration,
    /// How long a whole file may take to come.
    pub time: Duration,
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self {
            of_user: bounds::UPLOADS_OF_USER,
            stall: bounds::UPLOAD_STALL,
            time: bounds::UPLOAD_TIME,
        }
    }
}

/// Who uploads how much now.
#[derive(Debug)]
pub(crate) struct Uploads {
    pub(crate) limits: UploadLimits,
    taken: Mutex<HashMap<UserId, usize>>,
}

/// One upload of a person, under way.
#[derive(Debug)]
pub(crate) struct Place {
    uploads: Arc<Uploads>,
    user_id: UserId,
}

impl Uploads {
    pub(crate) fn new(limits: UploadLimits) -> Self {
        Self {
            limits,
            taken: Mutex::default(),
        }
    }

    /// A place for one more upload of this person; nothing when they have their share.
    pub(crate) fn place(self: &Arc<Self>, user_id: &UserId) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_user = taken.get(user_id).copied().unwrap_or(0);
        if self.limits.of_user <= of_user {
            return None;
        }
        taken.insert(user_id.clone(), of_user + 1);
        Some(Place {
            uploads: Arc::clone(self),
            user_id: user_id.clone(),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let taken = &self.uploads.taken;
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut of_user) = taken.entry(self.user_id.clone()) {
            *of_user.get_mut() -= 1;
            if *of_user.get() == 0 {
                of_user.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_share_of_their_own_and_gets_it_back() {
        let uploads = Arc::new(Uploads::new(UploadLimits::default()));
        let [one, other] = ["one", "other"].map(|id| UserId::parse(id).unwrap());
        let mut places = Vec::new();
        while let Some(place) = uploads.place(&one) {
            places.push(place);
        }
        assert_eq!(places.len(), bounds::UPLOADS_OF_USER);
        assert!(uploads.place(&other).is_some());
        places.pop();
        assert!(uploads.place(&one).is_some());
        places.clear();
        assert!(uploads.taken.lock().unwrap().is_empty());
    }
}

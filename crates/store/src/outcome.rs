//! What became of a commit whose answer was lost on the way.
//!
//! Over a network a commit can happen and its answer get lost. Whoever takes that for a failure writes the same again,
//! or tells nobody of what is true by now. PostgreSQL remembers what became of each transaction, so it is asked, over
//! another connection, before anybody is told anything (docs/decisions/0011). The answer of SQLite comes from a call and
//! cannot get lost.

use crate::error::StoreError;
use model::bounds;
use sqlx::PgPool;

/// A transaction of PostgreSQL that can be asked after once it is over.
pub(crate) struct Witness {
    pub(crate) readers: PgPool,
    /// The transaction's number.
    pub(crate) id: i64,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It happened.
    Committed,
    /// It did not.
    Aborted,
    /// The database could not be asked in time: nobody knows.
    Unknown,
}

impl Witness {
    /// Asks until there is an answer, for at most `bounds::COMMIT_ASKED`.
    pub(crate) async fn ask(&self) -> Outcome {
        let asking = async {
            loop {
                let status: Result<Option<String>, _> =
                    sqlx::query_scalar("SELECT txid_status($1)")
                        .bind(self.id)
                        .fetch_one(&self.readers)
                        .await;
                match status.as_ref().map(Option::as_deref) {
                    Ok(Some("committed")) => return Outcome::Committed,
                    Ok(Some("aborted")) => return Outcome::Aborted,
                    // Its server process has not noticed yet that nobody listens, or nobody can be reached.
                    Ok(_) | Err(_) => tokio::time::sleep(bounds::COMMIT_ASK_EVERY).await,
                }
            }
        };
        tokio::time::timeout(bounds::COMMIT_ASKED, asking)
            .await
            .unwrap_or(Outcome::Unknown)
    }
}

/// Whether an error of a commit is an answer: the engine looked at the transaction and refused it.
pub(crate) fn is_answer(error: &StoreError) -> bool {
    match error {
        StoreError::Busy => true,
        StoreError::Engine(sqlx::Error::Database(_)) => !error.is_passing(),
        _ => false,
    }
}

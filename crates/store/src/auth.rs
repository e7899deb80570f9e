//! Signed-in browsers (`auth_sessions`). Only the hash of a secret is stored.

use crate::error::Result;
use crate::sql::{Link, sql};
use model::clock::Timestamp;
use model::ids::UserId;

/// Stores a new sign-in.
///
/// # Errors
/// Whatever the engine says; so for every function here.
pub async fn create(
    link: &mut Link,
    secret_hash: &str,
    user_id: &UserId,
    now: Timestamp,
) -> Result<()> {
    let insert = sql(
        "INSERT INTO auth_sessions (secret_hash, user_id, created_at, last_used_at)
                      VALUES ($1, $2, $3, $3)",
    );
    link.execute(insert.bind(secret_hash).bind(user_id).bind(now))
        .await?;
    Ok(())
}

/// Who holds this secret, unless it was unused since `unused_since`.
///
/// # Errors
/// As [`create`].
pub async fn find(
    link: &mut Link,
    secret_hash: &str,
    unused_since: Timestamp,
) -> Result<Option<UserId>> {
    let query =
        sql("SELECT user_id FROM auth_sessions WHERE secret_hash = $1 AND last_used_at >= $2");
    link.maybe(query.bind(secret_hash).bind(unused_since))
        .await?
        .map(|row| row.id("user_id"))
        .transpose()
}

/// Notes that a secret was used, and forgets those that were not since `unused_since`.
///
/// # Errors
/// As [`create`].
pub async fn touch(
    link: &mut Link,
    secret_hash: &str,
    now: Timestamp,
    unused_since: Timestamp,
) -> Result<()> {
    let update = sql(
        "UPDATE auth_sessions SET last_used_at = $2 WHERE secret_hash = $1 AND last_used_at < $2",
    );
    link.execute(update.bind(secret_hash).bind(now)).await?;
    link.execute(sql("DELETE FROM auth_sessions WHERE last_used_at < $1").bind(unused_since))
        .await?;
    Ok(())
}

/// Ends a sign-in.
///
/// # Errors
/// As [`create`].
pub async fn remove(link: &mut Link, secret_hash: &str) -> Result<()> {
    link.execute(sql("DELETE FROM auth_sessions WHERE secret_hash = $1").bind(secret_hash))
        .await?;
    Ok(())
}

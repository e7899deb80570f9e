//! Signing in: a one-time code for a secret, and the secret with every request.
//!
//! The secret is 256 random bits. The page keeps it for its origin and sends it in a header; there is no cookie, because
//! cookies ignore ports and an agent's dev server on this machine would get them too. It is looked up by its hash, is
//! never logged and never in an address.

use super::State;
use crate::api::Api;
use crate::codes::Redeemed;
use crate::secret;
use axum::Json;
use axum::extract;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::bounds;
use model::clock::Timestamp;
use model::ids::UserId;
use std::sync::Arc;
use wire::envelope::SUBPROTOCOL;
use wire::http::{SignIn, SignedIn};

/// Random bytes of a secret.
const SECRET_BYTES: usize = 32;

/// Who is signed in, and by which secret's hash.
#[derive(Clone, Debug)]
pub(crate) struct Signed {
    pub(crate) user_id: UserId,
    pub(crate) secret_hash: String,
}

/// `POST /api/v1/sign-in`
pub(super) async fn sign_in(
    extract::State(state): extract::State<Arc<State>>,
    extract::Extension(api): extract::Extension<Arc<Api>>,
    Json(SignIn { code }): Json<SignIn>,
) -> Response {
    let user_id = match state.codes.redeem(&code, api.now()) {
        Redeemed::Accepted(user_id) => user_id,
        Redeemed::Wrong => {
            return (
                StatusCode::UNAUTHORIZED,
                "This sign-in address is used up or too old. Ask the server for a new one: flightstrip sign-in.\n",
            )
                .into_response();
        }
        Redeemed::TooMany => {
            return (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many wrong codes. Wait a minute.\n",
            )
                .into_response();
        }
    };
    match create(&api, &user_id).await {
        Ok(secret) => Json(SignedIn { secret }).into_response(),
        Err(error) => {
            tracing::error!(error = %error, "a sign-in could not be stored");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The sign-in could not be stored.\n",
            )
                .into_response()
        }
    }
}

/// `POST /api/v1/sign-out`: ends this secret and every connection made with it.
pub(super) async fn sign_out(
    extract::Extension(api): extract::Extension<Arc<Api>>,
    extract::Extension(signed): extract::Extension<Signed>,
) -> Response {
    let removed = async {
        let mut tx = api.store.write().await?;
        store::auth::remove(&mut tx, &signed.secret_hash).await?;
        tx.commit().await
    };
    match removed.await {
        Ok(committed) => {
            debug_assert!(committed.events.is_empty(), "signing out changes no entity");
            api.hub.sign_out(&signed.secret_hash);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a sign-out could not be stored"
            );
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum SignInError {
    #[error("the system gives no random bytes")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    Store(#[from] store::error::StoreError),
}

async fn create(api: &Api, user_id: &UserId) -> Result<String, SignInError> {
    let secret = secret::random(SECRET_BYTES)?;
    let mut tx = api.store.write().await?;
    let now = tx.now();
    store::auth::create(&mut tx, &secret::hash(&secret), user_id, now).await?;
    let committed = tx.commit().await?;
    debug_assert!(committed.events.is_empty(), "signing in changes no entity");
    Ok(secret)
}

/// Whose secret the request carries; nobody's gives nothing.
pub(super) async fn authenticate(
    api: &Api,
    headers: &HeaderMap,
) -> store::error::Result<Option<Signed>> {
    let Some(secret) = bearer(headers).or_else(|| offered(headers)) else {
        return Ok(None);
    };
    let secret_hash = secret::hash(secret);
    let user_id = find(api, &secret_hash).await?;
    Ok(user_id.map(|user_id| Signed {
        user_id,
        secret_hash,
    }))
}

/// Whether a secret that was authenticated before is still good.
pub(super) async fn is_still(api: &Api, signed: &Signed) -> store::error::Result<bool> {
    Ok(find(api, &signed.secret_hash).await?.is_some())
}

async fn find(api: &Api, secret_hash: &str) -> store::error::Result<Option<UserId>> {
    let unused_since = oldest_use(api.now());
    let mut tx = api.store.read().await?;
    store::auth::find(&mut tx, secret_hash, unused_since).await
}

/// Notes that a secret is in use, so that it lives on.
pub(super) async fn touch(api: &Api, signed: &Signed) -> store::error::Result<()> {
    let mut tx = api.store.write().await?;
    let now = tx.now();
    store::auth::touch(&mut tx, &signed.secret_hash, now, oldest_use(now)).await?;
    let committed = tx.commit().await?;
    debug_assert!(
        committed.events.is_empty(),
        "using a secret changes no entity"
    );
    Ok(())
}

/// A secret that was last used before this is void.
fn oldest_use(now: Timestamp) -> Timestamp {
    let life = i64::try_from(bounds::SIGN_IN_LIFE.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(now.as_micros().saturating_sub(life))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// The secret that a browser offers as the second WebSocket subprotocol: it cannot set other headers there.
fn offered(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let mut words = value.split(',').map(str::trim);
    (words.next()? == SUBPROTOCOL)
        .then(|| words.next())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_either_header() {
        let headers = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            headers
        };
        assert_eq!(bearer(&headers("authorization", "Bearer abc")), Some("abc"));
        assert_eq!(bearer(&headers("authorization", "Basic abc")), None);
        assert_eq!(
            offered(&headers("sec-websocket-protocol", "flightstrip.v1, abc")),
            Some("abc")
        );
        assert_eq!(
            offered(&headers("sec-websocket-protocol", "flightstrip.v1")),
            None
        );
        assert_eq!(
            offered(&headers("sec-websocket-protocol", "other, abc")),
            None
        );
    }
}

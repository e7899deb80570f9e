//! Who may knock at all: the check of `Host` and `Origin`, before anything else, on HTTP and on the WebSocket.
//!
//! A page of another site that the person visits can make their browser send requests here. Its `Origin` gives it away
//! (case C25 a, d); a name that was rebound to this machine's address is given away by `Host` (C25 b). Both headers can
//! be forged by whoever is not a browser, so they prove nothing about the peer: a secret is asked for after them
//! (C25 c).

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The names under which this server is reached.
#[derive(Clone, Debug)]
pub(crate) struct Door {
    port: u16,
    allowed_hosts: Vec<String>,
}

/// Why a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stranger {
    Host,
    Origin,
}

impl Door {
    /// Loopback names with the port of `address` are known, and `address` itself: a rebound name cannot pose as a number.
    /// `allowed_hosts` are further `Host` values, port included when there is one.
    pub(crate) fn new(address: SocketAddr, allowed_hosts: &[String]) -> Self {
        let mut allowed_hosts: Vec<_> = allowed_hosts
            .iter()
            .map(|host| host.to_ascii_lowercase())
            .collect();
        allowed_hosts.push(address.to_string());
        Self {
            port: address.port(),
            allowed_hosts,
        }
    }

    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Stranger> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().map_err(|_| Stranger::Host)?,
            // Without a `Host` header an HTTP/2 request has its authority in the address.
            (None, _) => uri
                .authority()
                .map(|authority| authority.as_str())
                .ok_or(Stranger::Host)?,
            (Some(_), Some(_)) => return Err(Stranger::Host),
        };
        let host = host.to_ascii_lowercase();
        if !self.knows(&host) {
            return Err(Stranger::Host);
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None)
                if origin
                    .to_str()
                    .is_ok_and(|origin| is_own_origin(origin, &host)) =>
            {
                Ok(())
            }
            _ => Err(Stranger::Origin),
        }
    }

    fn knows(&self, host: &str) -> bool {
        if self.allowed_hosts.iter().any(|allowed| allowed == host) {
            return true;
        }
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port))
                if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                (name, port.parse().ok())
            }
            _ => (host, Some(80)),
        };
        port == Some(self.port) && is_loopback(name)
    }
}

fn is_loopback(name: &str) -> bool {
    let address = name
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(name);
    name == "localhost"
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Whether `origin` is the origin of a page that came from `host`. The scheme is not compared beyond being http or
/// https: behind a proxy that ends TLS this server does not see it.
fn is_own_origin(origin: &str, host: &str) -> bool {
    let origin = origin.to_ascii_lowercase();
    ["http://", "https://"]
        .iter()
        .any(|scheme| origin.strip_prefix(scheme) == Some(host))
}

/// The outermost layer.
pub(crate) async fn check(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    match door.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(Stranger::Host) => (
            StatusCode::MISDIRECTED_REQUEST,
            "This server is not reached under that name. Open it under the address it printed, or add the name to its \
             allowed hosts.\n",
        )
            .into_response(),
        Err(Stranger::Origin) => {
            (StatusCode::FORBIDDEN, "Pages of other sites may not use this server.\n").into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: Option<&str>, origin: Option<&str>) -> Result<(), Stranger> {
        let door = Door::new(
            "192.168.7.7:4700".parse().unwrap(),
            &["Flight.example:8443".to_owned(), "strip.example".to_owned()],
        );
        let mut headers = HeaderMap::new();
        if let Some(host) = host {
            headers.insert(header::HOST, host.parse().unwrap());
        }
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        door.check(&Uri::from_static("/"), &headers)
    }

    #[test]
    fn only_own_names_are_known() {
        for host in [
            "localhost:4700",
            "127.0.0.1:4700",
            "127.9.9.9:4700",
            "[::1]:4700",
            "LOCALHOST:4700",
            "flight.example:8443",
            "strip.example",
            "192.168.7.7:4700",
        ] {
            assert_eq!(check(Some(host), None), Ok(()), "{host}");
        }
        for host in [
            "rebind.test",
            "rebind.test:4700",
            "localhost",
            "localhost:4701",
            "localhost:",
            "localhost.evil.test:4700",
            "10.0.0.1:4700",
            "192.168.7.7",
            "[::2]:4700",
            "flight.example",
            "127.0.0.1:4700:4700",
            "",
        ] {
            assert_eq!(check(Some(host), None), Err(Stranger::Host), "{host}");
        }
        assert_eq!(check(None, None), Err(Stranger::Host));
    }

    #[test]
    fn an_origin_must_be_the_own_one() {
        let own = Some("localhost:4700");
        assert_eq!(check(own, Some("http://localhost:4700")), Ok(()));
        assert_eq!(
            check(Some("strip.example"), Some("https://strip.example")),
            Ok(())
        );
        for origin in [
            "https://evil.test",
            "null",
            "http://localhost:5173",
            "http://127.0.0.1:4700",
            "http://localhost:4700.evil.test",
            "ftp://localhost:4700",
        ] {
            assert_eq!(check(own, Some(origin)), Err(Stranger::Origin), "{origin}");
        }
    }
}

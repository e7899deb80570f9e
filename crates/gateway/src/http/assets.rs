//! The embedded web app.
//!
//! Files under `assets/` have a hash in their name and never change: they are served immutable, compressed beforehand
//! where the build made a `.br` or `.gz` beside them. Every other address that a person may have open is a place
//! *inside* the app and gets its page. Debug builds read the files from disk, so that a new build of the app is seen.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use std::borrow::Cow;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// The app's page.
const INDEX: &str = "index.html";
/// The folder of files with hashed names.
const HASHED: &str = "assets/";
const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// Encodings that the build may have made, best first: name in HTTP and ending of the file.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

const MISSING: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>flightstrip</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem}</style>
<h1>The web app is not built</h1>
<p>This server runs, but it was built without its web app. <code>cargo xtask run</code> builds both.</p>
";

/// Serves a file of the app, or the app's page for a place inside it.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = uri.path().trim_start_matches('/');
    if !path.is_empty()
        && let Some(response) = file(path, &headers)
    {
        return response;
    }
    // An address with an ending is a file that is not there; the page in its stead would hide that.
    if path.starts_with(HASHED)
        || path
            .rsplit('/')
            .next()
            .is_some_and(|last| last.contains('.'))
    {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    }
    file(INDEX, &headers).unwrap_or_else(|| {
        let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        (StatusCode::NOT_FOUND, html, MISSING).into_response()
    })
}

fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let accepted = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let encoded = ENCODINGS
        .iter()
        .filter(|(name, _)| accepts(accepted, name))
        .find_map(|(name, ending)| {
            let file = Dist::get(&format!("{path}{ending}"))?;
            Some((file, Some(*name)))
        });
    let (file, encoding) = match encoded {
        Some(found) => found,
        None => (Dist::get(path)?, None),
    };
    let tag = etag(&file, encoding);
    let fresh = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|held| held.as_bytes() == tag.as_bytes());
    let mut response = if fresh {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = mime_of(path);
        let body = match file.data {
            Cow::Borrowed(bytes) => Body::from(bytes),
            Cow::Owned(bytes) => Body::from(bytes),
        };
        ([(header::CONTENT_TYPE, content_type)], body).into_response()
    };
    let out = response.headers_mut();
    out.insert(
        header::CACHE_CONTROL,
        if path.starts_with(HASHED) {
            IMMUTABLE
        } else {
            REVALIDATE
        },
    );
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(header::ETAG, tag);
    }
    if let Some(encoding) = encoding {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    Some(response)
}

fn etag(file: &EmbeddedFile, encoding: Option<&str>) -> String {
    let hash = file.metadata.sha256_hash();
    let short: String = hash
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("\"{short}{}\"", encoding.unwrap_or(""))
}

/// The type of a file by its ending; `mime_guess` under `rust-embed` does not say the charset.
fn mime_of(path: &str) -> String {
    let file = Dist::get(path);
    let guessed = file.map_or_else(
        || "application/octet-stream".to_owned(),
        |file| file.metadata.mimetype().to_owned(),
    );
    match guessed.as_str() {
        "text/html" | "text/css" | "text/javascript" | "text/plain" => {
            format!("{guessed}; charset=utf-8")
        }
        _ => guessed,
    }
}

/// Whether an `Accept-Encoding` header takes `name`; `q=0` says no.
fn accepts(header: &str, name: &str) -> bool {
    header.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        words
            .next()
            .is_some_and(|word| word.eq_ignore_ascii_case(name))
            && !words.any(|word| matches!(word, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_taken_unless_it_is_refused() {
        assert!(accepts("gzip, deflate, br", "br"));
        assert!(accepts("gzip;q=0.5", "gzip"));
        assert!(!accepts("gzip;q=0, identity", "gzip"));
        assert!(!accepts("", "br"));
        assert!(!accepts("brotli", "br"));
    }
}

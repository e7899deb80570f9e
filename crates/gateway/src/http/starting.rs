//! What is answered while the server starts: health, and a page that says how far it has come.

use super::State;
use crate::readiness::Readiness;
use axum::Json;
use axum::extract;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::fmt::Write;
use std::sync::Arc;

/// `GET /livez`: the process answers.
pub(super) async fn livez() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: which gates are open; 200 when all are.
pub(super) async fn readyz(extract::State(state): extract::State<Arc<State>>) -> Response {
    let status = if state.readiness.is_ready() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(state.readiness.report())).into_response()
}

/// The answer to everything else until the API is open: a page for browsers, a sentence for programs.
pub(super) fn not_ready(readiness: &Readiness, headers: &HeaderMap) -> Response {
    let wants_page = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|v| v.contains("text/html"));
    let mut response = if wants_page {
        (
            [(header::CONTENT_TYPE, "text/html; charset=utf-8")],
            page(readiness),
        )
            .into_response()
    } else {
        "The server is starting.\n".into_response()
    };
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A page without scripts that loads itself again. The fragment of the address, with its one-time code, survives that.
fn page(readiness: &Readiness) -> String {
    let report = readiness.report();
    let mut page = String::from(
        "<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content=1>
<meta name=viewport content=\"width=device-width\"><meta name=color-scheme content=\"light dark\">
<title>flightstrip is starting</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:28rem;margin:18vh auto;padding:0 1.25rem}
ul{list-style:none;padding:0}li{opacity:.55}li.open{opacity:1}p{min-height:1.6em}</style>
<h1>flightstrip is starting</h1><ul>",
    );
    for gate in crate::readiness::Gate::ALL {
        let (class, mark) = if readiness.is_open(gate) {
            (" class=open", "✓")
        } else {
            ("", "·")
        };
        let _ = write!(
            page,
            "<li{class}>{mark} {}</li>",
            gate.as_str().replace('_', " ")
        ); // cannot fail
    }
    let _ = write!(page, "</ul><p>{}</p>\n", escape(&report.progress)); // cannot fail
    page
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

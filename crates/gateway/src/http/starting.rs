//! What is answered while the server starts: health, and a page that says how far it has come.

use super::State;
use crate::readiness::{Gate, Readiness};
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

/// Where the starting page's script is, before and after the API is open.
pub(super) const SCRIPT_PATH: &str = "/starting.js";

/// The script of the starting page.
pub(super) async fn script() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")],
        include_str!("starting.js"),
    )
}

/// The answer to everything else until the API is open: a page for browsers, a sentence for programs.
pub(super) fn not_ready(readiness: &Readiness, headers: &HeaderMap) -> Response {
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let mut response = if accepts.contains("text/html") {
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
}

/// The page as things stand; its script keeps it up to date.
fn page(readiness: &Readiness) -> String {
    let mut page = String::from(PAGE_HEAD);
    for gate in Gate::ALL {
        let name = gate.as_str();
        let class = if readiness.is_open(gate) { "open" } else { "" };
        let _ = write!(
            page,
            "<li id={name} class=\"{class}\">{}</li>",
            name.replace('_', " ")
        ); // cannot fail
    }
    let progress = escape(&readiness.report().progress);
    let _ = writeln!(
        page,
        "</ul><p id=progress>{progress}</p><script src={SCRIPT_PATH}></script>"
    ); // cannot fail
    page
}

const PAGE_HEAD: &str = "<!doctype html><html lang=en><meta charset=utf-8>
<meta name=viewport content=\"width=device-width\"><meta name=color-scheme content=\"light dark\">
<title>flightstrip is starting</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:28rem;margin:18vh auto;padding:0 1.25rem}
ul{list-style:none;padding:0}li{opacity:.55}li::before{content:\"· \"}li.open{opacity:1}
li.open::before{content:\"✓ \"}p{min-height:1.6em}</style>
<h1>flightstrip is starting</h1><ul>";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

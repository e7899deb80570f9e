//! Waiting on both directions of one socket at once, without splitting it.
//!
//! A peer that sends a lot before it reads must not stand against a server that writes a lot before it reads: neither
//! direction may block the other. So one poll tries to get rid of a frame, or to flush, and to receive.

use axum::extract::ws::{Message, WebSocket};
use futures_util::{Sink, Stream};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What the socket did.
#[derive(Debug)]
pub(super) enum Step {
    /// It took the waiting frame.
    Taken,
    /// Everything it took is on its way.
    Flushed,
    /// A frame came.
    Received(Message),
    /// The peer's frame cannot be read: too large, or not of this protocol.
    Unreadable(axum::Error),
    /// The connection is gone.
    Gone,
}

/// What is wanted of the socket.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// A frame to hand over.
    pub(super) send: Option<Message>,
    /// Frames were handed over and not flushed.
    pub(super) flush: bool,
    /// Whether a frame may be received.
    pub(super) receive: bool,
}

/// Waits for the next thing the socket does of what is wanted. Dropping the future loses nothing.
pub(super) async fn step(socket: &mut WebSocket, wanted: &mut Wanted) -> Step {
    poll_fn(|cx| poll(Pin::new(socket), wanted, cx)).await
}

fn poll(mut socket: Pin<&mut WebSocket>, wanted: &mut Wanted, cx: &mut Context<'_>) -> Poll<Step> {
    // Receiving first: a close or a pong is seen also while a large frame is stuck.
    if wanted.receive
        && let Poll::Ready(received) = socket.as_mut().poll_next(cx)
    {
        return Poll::Ready(match received {
            Some(Ok(message)) => Step::Received(message),
            Some(Err(error)) => Step::Unreadable(error),
            None => Step::Gone,
        });
    }
    if wanted.send.is_some() {
        match socket.as_mut().poll_ready(cx) {
            Poll::Ready(Ok(())) => {
                let Some(frame) = wanted.send.take() else {
                    return Poll::Pending;
                };
                let sent = socket.start_send(frame);
                return Poll::Ready(if sent.is_ok() {
                    Step::Taken
                } else {
                    Step::Gone
                });
            }
            Poll::Ready(Err(_)) => return Poll::Ready(Step::Gone),
            Poll::Pending => {}
        }
    } else if wanted.flush {
        match socket.as_mut().poll_flush(cx) {
            Poll::Ready(Ok(())) => return Poll::Ready(Step::Flushed),
            Poll::Ready(Err(_)) => return Poll::Ready(Step::Gone),
            Poll::Pending => {}
        }
    }
    Poll::Pending
}

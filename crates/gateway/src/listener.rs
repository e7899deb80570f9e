//! The listening socket, with a count of the bytes each connection has taken.
//!
//! A large frame over a slow line takes longer than [`model::bounds::WRITE_STALL`]; closing it then would make that
//! client reconnect for ever (GWY-07). The WebSocket layer cannot say how far a frame has got, the socket can, in steps
//! of its send buffer: that is why the buffer is small. What waits for a slow peer then waits in its outbox, where newer
//! states replace older ones.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use model::bounds;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// Connections that wait to be accepted; the system's own usual number.
const BACKLOG: u32 = 1_024;

/// Bytes that the peer's side has taken so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU64>);

impl Progress {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Connected<IncomingStream<'_, CountingListener>> for Progress {
    fn connect_info(stream: IncomingStream<'_, CountingListener>) -> Self {
        stream.io().progress.clone()
    }
}

/// A TCP listener whose connections count.
pub(crate) struct CountingListener(TcpListener);

impl CountingListener {
    /// Listens on `address`. Its connections inherit the small send buffer.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()
        } else {
            TcpSocket::new_v6()
        }?;
        socket.set_reuseaddr(true)?;
        socket.set_send_buffer_size(bounds::SEND_BUFFER_BYTES)?;
        socket.bind(address)?;
        Ok(Self(socket.listen(BACKLOG)?))
    }
}

impl Listener for CountingListener {
    type Io = CountingStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (CountingStream, SocketAddr) {
        let (stream, peer) = Listener::accept(&mut self.0).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps Nagle's algorithm");
        }
        (
            CountingStream {
                stream,
                progress: Progress::default(),
            },
            peer,
        )
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A TCP connection that counts what is written.
pub(crate) struct CountingStream {
    stream: TcpStream,
    progress: Progress,
}

impl CountingStream {
    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &written {
            self.progress.0.fetch_add(*bytes as u64, Ordering::Relaxed);
        }
        written
    }
}

impl AsyncRead for CountingStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for CountingStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.count(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.count(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

//! Why the gateway could not start.

use std::net::SocketAddr;

/// A failure of the gateway itself; what a request fails with is answered on the wire.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The system gives no random bytes for a code.
    #[error("the system gives no random bytes")]
    Random(#[from] getrandom::Error),
}

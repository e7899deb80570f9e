//! Random secrets and their hashes.
//!
//! Invariant: a secret leaves this process once, to whom it was made for; what is kept, in memory or in the store, is
//! its SHA-256. A look-up by hash compares no secret, so it takes no time that depends on one.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A text of `bytes` random bytes in hexadecimal, from the system's generator.
///
/// # Errors
/// When the system has no randomness to give.
pub(crate) fn random(bytes: usize) -> Result<String, getrandom::Error> {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer)?;
    Ok(hex(&buffer))
}

/// What is kept of a secret.
pub(crate) fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
            text
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_hash_to_the_known_value() {
        let (one, two) = (random(32).unwrap(), random(32).unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, two);
        assert_eq!(
            hash("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

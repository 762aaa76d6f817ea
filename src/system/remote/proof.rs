//! Proof that a server knows the token of an address. The address of a game stays the same between
//! its runs, so while no game runs, another program could listen there. The page therefore sends
//! its token only to a server that has answered a random nonce with a keyed hash of it. The hash
//! contains the port: a program on this port cannot pass on the proof of a game on another port.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use tungstenite::handshake::derive_accept_key;

/// The path of the proof.
pub const PROOF: &str = "/proof";
/// Number of hexadecimal digits of a nonce. All nonces have the same length, so that no hash is the
/// beginning of another one.
const NONCE_DIGITS: usize = 32;
/// The most time to wait for another run's proof.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The most bytes of another run's answer.
const ANSWER_BYTES_MAX: u64 = 4 << 10;

/// Returns true if a text is a valid nonce.
pub fn is_nonce(text: &str) -> bool {
    text.len() == NONCE_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the proof for a nonce: a nested hash with the token as its key, as in HMAC (RFC 2104).
/// The hash is the one of WebSocket handshakes (SHA-1, with a constant at its end).
pub fn proof(token: &str, port: u16, nonce: &str) -> String {
    let inner = derive_accept_key(format!("{token}:{port}:{nonce}").as_bytes());
    derive_accept_key(format!("{token}:{inner}").as_bytes())
}

/// Returns true if the server on a port of this machine knows the token.
pub fn is_known_by_server(token: &str, port: u16, nonce: &str) -> bool {
    let ask = || -> std::io::Result<Vec<u8>> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let request = format!("GET {PROOF}?nonce={nonce} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n");
        stream.write_all(format!("{request}\r\n").as_bytes())?;
        let mut answer = Vec::new();
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        Ok(answer)
    };
    let wanted = format!("\r\n\r\n{}", proof(token, port, nonce));
    ask().is_ok_and(|answer| answer.ends_with(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_depends_on_token_port_and_nonce() {
        let (token, nonce) = ("0".repeat(32), "0123456789abcdef0123456789abcdef");
        let known = proof(&token, 4000, nonce);
        assert_eq!(known, proof(&token, 4000, nonce));
        assert_eq!(known.len(), 28, "it is a hash of 20 bytes in base64");
        assert_ne!(known, proof(&"1".repeat(32), 4000, nonce));
        assert_ne!(known, proof(&token, 4001, nonce));
        assert_ne!(known, proof(&token, 4000, &"1".repeat(32)));
    }

    #[test]
    fn nonces_have_one_length_and_only_hexadecimal_digits() {
        assert!(is_nonce(&"aF0".repeat(11)[..32]));
        for wrong in ["", "abc", &"g".repeat(32), &"a".repeat(33)] {
            assert!(!is_nonce(wrong), "{wrong}");
        }
    }
}

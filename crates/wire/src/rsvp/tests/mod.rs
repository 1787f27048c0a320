//! Tests of the RSVP formats.

mod behaviour;
mod messages;
mod p2mp;
mod properties;
mod vectors;

/// The bytes that a string of hex digits, with spaces between, stands for.
fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    super::text::from_hex(&digits).unwrap()
}

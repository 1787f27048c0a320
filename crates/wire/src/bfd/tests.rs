//! Packets there and back, what is refused of them and in which order, and digests made elsewhere.

use super::*;
use proptest::prelude::*;

/// Up, without authentication.
const UP: [u8; LEN] =
    [0x20, 0xc0, 3, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0xc3, 0x50, 0, 0, 0x75, 0x30, 0, 0, 0, 0];

fn up() -> Repr {
    Repr {
        diag: Diag::NONE,
        state: State::Up,
        poll: false,
        is_final: false,
        independent: false,
        demand: false,
        multipoint: false,
        detect_mult: 3,
        my_discriminator: 1,
        your_discriminator: 2,
        desired_min_tx_us: 50_000,
        required_min_rx_us: 30_000,
        required_min_echo_rx_us: 0,
        auth: None,
    }
}

#[test]
fn a_packet_is_read_and_written() {
    assert_eq!((Repr::parse(&UP), &up().emit()[..]), (Ok(up()), &UP[..]));
    for end in 0..LEN {
        assert!(Repr::parse(&UP[..end]).is_err(), "cut at {end}");
    }
    // What is behind its length belongs to nobody.
    assert_eq!(Repr::parse(&[&UP[..], &[1, 2, 3]].concat()), Ok(up()));
}

#[test]
fn what_no_session_takes_is_refused_in_the_order_of_the_rfc() {
    let with = |changes: &[(usize, u8)]| {
        let mut bytes = UP;
        changes.iter().for_each(|(at, byte)| bytes[*at] = *byte);
        Repr::parse(&bytes).expect_err("a wrong packet").to_string()
    };
    // Each line has the mistakes of all that follow, too.
    let all = [(0, 0x40), (3, 20), (2, 0), (7, 0), (11, 0)];
    let told = [
        "bfd: version is 2, not 1 (at byte 0)",
        "bfd: length is 20, outside 24 to 255 (at byte 3)",
        "bfd: detect mult is 0, outside 1 to 255 (at byte 2)",
        "bfd: the sender's discriminator is zero (at byte 4)",
        "bfd: the receiver's discriminator is zero though the state is above Down (at byte 8)",
    ];
    for (place, told) in told.iter().enumerate() {
        assert_eq!(with(&all[place..]), *told);
    }
    assert_eq!(with(&[(3, 25)]), "bfd: length is 25, outside 24 to 24 (at byte 3)");
    assert_eq!(with(&[(1, 0xc4)]), "bfd: length is 24, outside 26 to 255 (at byte 3)");
    assert_eq!(with(&[(11, 0), (1, 0x80)]), told[4]);
    // RFC 8562, 5.5 and 5.13.2.
    assert_eq!(with(&[(1, 0xc1)]), "bfd: several receivers have no discriminator in common (at byte 8)");
    let init = "bfd: the state is Init, which no session with several receivers has (at byte 1)";
    assert_eq!(with(&[(11, 0), (1, 0x81)]), init);
    for state in [State::AdminDown, State::Down] {
        let repr = Repr { state, your_discriminator: 0, ..up() };
        assert_eq!(Repr::parse(&repr.emit()), Ok(repr));
    }
}

fn keyed(algorithm: Algorithm, meticulous: bool) -> Repr {
    let digest = vec![0; algorithm.digest_len()];
    let auth = Auth::Keyed { algorithm, meticulous, key_id: 7, sequence: 9, digest };
    Repr { auth: Some(auth), required_min_rx_us: 50_000, ..up() }
}

/// Digests by Python's hashlib of the same bytes.
#[test]
fn digests_are_those_of_packet_and_key() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (repr, digest) in [
        (keyed(Algorithm::Md5, true), "a9e01006c9d7879df67176ff0c3d5c30"),
        (keyed(Algorithm::Sha1, false), "17d5cd06603f40d51a101da62ee4434bc1668768"),
    ] {
        let mut packet = repr.emit();
        assert!(!verify(&packet, b"secret"));
        seal(&mut packet, b"secret");
        assert_eq!(hex(&packet[LEN + 8..]), digest);
        assert!(verify(&packet, b"secret") && !verify(&packet, b"secreu"));
        let read = Repr::parse(&packet).expect("a packet");
        assert_eq!(read.emit(), packet);
        for place in 4..packet.len() {
            let mut other = packet.clone();
            other[place] ^= 1;
            assert!(!verify(&other, b"secret"), "byte {place}");
        }
    }
    assert!(!verify(&UP, b"secret"), "it has no digest");
}

#[test]
fn sections_have_the_length_of_their_type() {
    let simple = |password: &[u8]| {
        let auth = Auth::Simple { key_id: 4, password: password.to_vec() };
        Repr::parse(&Repr { auth: Some(auth), ..up() }.emit()).map_err(|error| error.to_string())
    };
    assert!(simple(b"x").is_ok() && simple(&[1; 16]).is_ok());
    assert_eq!(simple(b"").unwrap_err(), "bfd: auth len is 3, outside 4 to 3 (at byte 25)");
    assert_eq!(simple(&[1; 17]).unwrap_err(), "bfd: auth len is 20, outside 4 to 19 (at byte 25)");
    let mut short = keyed(Algorithm::Sha1, true).emit();
    short[25] = 24;
    let told = Repr::parse(&short).expect_err("too short").to_string();
    assert_eq!(told, "bfd: auth len is 24, outside 28 to 28 (at byte 25)");
    // A type that is not known is for who has the session to refuse.
    let auth = Auth::Other { kind: 77, data: vec![1, 2, 3] };
    let repr = Repr { auth: Some(auth), ..up() };
    assert_eq!(Repr::parse(&repr.emit()), Ok(repr));
}

/// RFC 5880, 4.3 and 4.4: the reserved byte in front of a sequence number is zero, and ignored.
#[test]
fn reserved_bytes_are_zero_and_ignored() {
    for algorithm in [Algorithm::Md5, Algorithm::Sha1] {
        let repr = keyed(algorithm, false);
        let mut packet = repr.emit();
        assert_eq!(packet[LEN + 3], 0);
        packet[LEN + 3] = 0xff;
        assert_eq!(Repr::parse(&packet), Ok(repr));
    }
}

#[test]
fn numbers_have_names() {
    assert_eq!(Diag::TIME_EXPIRED.name(), "control detection time expired");
    assert_eq!((Diag::truncate(0xff).number(), Diag::truncate(0xff).name()), (31, "reserved"));
    assert!((0..4).all(|bits| State::of(bits).number() == bits));
}

proptest! {
    /// Whatever comes, nothing panics; what is read is written again, and reads the same.
    #[test]
    fn any_bytes_are_read_or_refused(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
        is_likely in any::<bool>(),
        kind in 0..7u8,
    ) {
        if is_likely && bytes.len() > LEN + 1 {
            (bytes[0], bytes[3]) = (bytes[0] & 0x1f | 0x20, bytes.len() as u8);
            bytes[1] &= !MULTIPOINT;
            (bytes[LEN], bytes[LEN + 1]) = (kind, (bytes.len() - LEN) as u8);
        }
        if let Ok(repr) = Repr::parse(&bytes) {
            prop_assert_eq!(Repr::parse(&repr.emit()), Ok(repr));
        }
        let _ = verify(&bytes, b"secret");
        seal(&mut bytes, b"secret");
    }
}

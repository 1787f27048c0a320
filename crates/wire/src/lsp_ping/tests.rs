use super::*;
use proptest::prelude::*;

fn request() -> LspPing {
    LspPing {
        version: 1,
        flags: 1,
        message_type: 1,
        reply_mode: 2,
        return_code: 0,
        return_subcode: 0,
        handle: 0xdead_beef,
        sequence: 7,
        sent: 0xe000_0000_8000_0000,
        received: 0,
        tlvs: vec![
            Tlv::TargetFecStack {
                fecs: vec![
                    Fec::RsvpIpv4 {
                        endpoint: Ipv4Addr::new(10, 0, 0, 9),
                        tunnel_id: 3,
                        extended_tunnel_id: 0x0a00_0001,
                        sender: Ipv4Addr::new(10, 0, 0, 1),
                        lsp_id: 2,
                    },
                    Fec::LdpIpv4 { prefix: Ipv4Addr::new(192, 0, 2, 1), length: 32 },
                ],
            },
            Tlv::Other { kind: 3, value: Hex(vec![2, 0, 0]) },
        ],
    }
}

#[test]
fn a_message_there_and_back() {
    let bytes = request().write().expect("bytes");
    // RFC 8029, 3: the length of a prefix of LDP is 5, and three zeros follow.
    assert_eq!(bytes.len(), 32 + 4 + (4 + 20) + (4 + 8) + 4 + 4);
    assert_eq!(LspPing::read(&bytes), Ok(request()));
    let mut line = String::new();
    request().summarise(&mut line).expect("a line");
    assert_eq!(
        line,
        "LSP ping request, sequence 7, RSVP 10.0.0.1 > 10.0.0.9 tunnel 3 LSP 2, LDP 192.0.2.1/32"
    );
}

#[test]
fn lengths_that_lie_are_refused() {
    let bytes = request().write().expect("bytes");
    let error = |bytes: &[u8]| LspPing::read(bytes).expect_err("a refusal").to_string();
    assert_eq!(error(&bytes[..31]), "lspping: 32 bytes needed, 31 there (at byte 31)");
    assert_eq!(error(&bytes[..34]), "lspping: 4 bytes needed, 2 there (at byte 34)");
    assert_eq!(error(&bytes[..40]), "lspping: TLV length is 36, outside 0 to 4 (at byte 34)");
    let mut padded = bytes;
    *padded.last_mut().expect("padding") = 1;
    assert_eq!(error(&padded), "lspping: the padding of a TLV is not zero (at byte 32)");
}

#[test]
fn a_stack_with_bytes_that_have_no_name_is_kept_whole() {
    let mut bytes = request().write().expect("bytes");
    // Must be zero, in front of the tunnel id.
    bytes[32 + 4 + 4 + 4] = 1;
    let read = LspPing::read(&bytes).expect("a message");
    let Tlv::TargetFecStack { fecs } = &read.tlvs[0] else { panic!("{read:?}") };
    assert!(matches!(fecs[0], Fec::Other { kind: 3, .. }));
    assert_eq!(read.write(), Ok(bytes));
}

proptest! {
    #![proptest_config(testing::cases(512))]
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(0u8..9, 0..120)) {
        if let Ok(message) = LspPing::read(&bytes) {
            prop_assert_eq!(message.write(), Ok(bytes));
        }
    }
}

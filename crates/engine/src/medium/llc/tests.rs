use super::*;
use base::frame::Offload;
use base::{Body, MacAddr};
use proptest::prelude::*;
use wire::tree::{self, Layer};

const ENDS: Ends = Ends { from: MacAddr([2, 0, 0, 0, 0, 1]), to: MacAddr([2, 0, 0, 0, 0, 2]) };

fn frame(ethertype: u16, payload: &[u8], body: usize) -> Frame {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    bytes.extend(ethertype.to_be_bytes());
    bytes.extend(payload);
    Frame::new(&bytes, Body::owned(vec![7; body]))
}

#[test]
fn an_ethertype_goes_behind_snap_and_comes_back() {
    let sent = frame(0x0800, &[0x45; 20], 100);
    let mut on_wire = sent.clone();
    LLC.encode(&mut on_wire);
    let tree = tree::decode(&on_wire.to_vec());
    assert!(
        matches!(&tree.layers[1], Layer::Llc(llc) if (llc.dsap, llc.ssap, llc.control) == (0xaa, 0xaa, 3))
    );
    assert!(matches!(&tree.layers[2], Layer::Snap(snap) if snap.ethertype == Some(EtherType(0x0800))));
    assert_eq!((on_wire.len(), on_wire.wire_len()), (14 + 8 + 120, 14 + 8 + 120 + 4));
    assert_eq!(LLC.framing.len(sent.header(), sent.len()), on_wire.wire_len());
    assert!(LLC.decode(&mut on_wire, ENDS));
    assert_eq!((&on_wire, on_wire.wire_len()), (&sent, sent.wire_len()));
}

#[test]
fn what_is_left_undone_keeps_its_place() {
    let undone =
        Offload { needs_checksum: true, checksum_start: 34, checksum_offset: 16, ..Offload::default() };
    for labels in [0, 10] {
        let mut sent = frame(0x0800, &[0x45; 20], 100);
        // Labels in front take the headroom that the medium's header would have.
        assert!(sent.grow_front(4 * labels));
        sent.set_offload(Some(undone));
        sent.header_mut()[12] = 8;
        LLC.encode(&mut sent);
        assert_eq!(sent.offload().map(|offload| offload.checksum_start), Some(34 + 8));
        assert!(LLC.decode(&mut sent, ENDS));
        assert_eq!(sent.offload().map(|offload| offload.checksum_start), Some(34));
    }
}

#[test]
fn the_longest_packet_is_that_of_rfc_1042() {
    assert_eq!(LLC.framing.mtu(), 1492);
    assert_eq!(Framing::ETHERNET.mtu(), u32::MAX - 18);
}

#[test]
fn frames_with_llc_are_sent_as_they_are() {
    let sent = frame(4, &[0xfe, 0xfe, 3, 0x83], 0);
    let mut on_wire = sent.clone();
    LLC.encode(&mut on_wire);
    assert_eq!((&on_wire, on_wire.wire_len()), (&sent, 64));
    assert!(LLC.decode(&mut on_wire, ENDS));
    assert_eq!(on_wire, sent);
}

#[test]
fn lengths_that_lie_are_refused() {
    for (ethertype, payload) in
        [(40, &[0xaa, 0xaa, 3][..]), (2, &[0xaa; 40]), (0x5dd, &[0; 40]), (7, &[0xaa; 7])]
    {
        let mut payload = payload.to_vec();
        if let Some(control) = payload.get_mut(2) {
            *control = 3;
        }
        assert!(!LLC.decode(&mut frame(ethertype, &payload, 0), ENDS), "{ethertype}");
    }
    assert!(!LLC.decode(&mut Frame::from_bytes(&[0; 13]), ENDS));
}

proptest! {
    #![proptest_config(testing::cases(512))]
    #[test]
    fn any_frame_comes_back(
        ethertype in prop_oneof![0x600u16.., Just(0x8847u16)],
        payload in proptest::collection::vec(any::<u8>(), 0..120),
        body in 0usize..1300,
        labels in 0usize..12,
    ) {
        let mut sent = frame(ethertype, &payload, body);
        // Labels in front take the headroom that the medium's header would have.
        for _ in 0..labels {
            if sent.grow_front(4) {
                let header = sent.header_mut();
                header.copy_within(4..18, 0);
            }
        }
        let mut on_wire = sent.clone();
        LLC.encode(&mut on_wire);
        prop_assert_eq!(on_wire.len(), sent.len() + 8);
        prop_assert_eq!(LLC.framing.len(sent.header(), sent.len()), on_wire.wire_len());
        prop_assert!(LLC.decode(&mut on_wire, ENDS));
        prop_assert_eq!(&on_wire.to_vec(), &sent.to_vec());
        prop_assert!(on_wire.header().len() >= sent.header().len().min(60));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), length in 0u16..60) {
        let mut bytes = bytes;
        if let Some(place) = bytes.get_mut(12..14) {
            place.copy_from_slice(&length.to_be_bytes());
        }
        LLC.decode(&mut Frame::from_bytes(&bytes), ENDS);
    }
}

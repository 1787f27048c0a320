//! Super-frames of every shape: the segments carry the same payload, and each is a valid frame.

use super::*;
use proptest::prelude::*;

/// What a super-frame is made of.
#[derive(Clone, Debug)]
struct Shape {
    tags: usize,
    labels: usize,
    v6: bool,
    tcp: bool,
    options: usize,
    flags: u8,
    payload: Vec<u8>,
    size: u16,
    held: usize,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let layers = (0usize..3, 0usize..9, any::<bool>(), any::<bool>(), 0usize..11);
    let rest = (any::<u8>(), proptest::collection::vec(any::<u8>(), 1..6000), 1u16..3000, 14usize..89);
    (layers, rest).prop_map(|((tags, labels, v6, tcp, options), (flags, payload, size, held))| Shape {
        tags,
        labels,
        v6,
        tcp,
        options,
        flags,
        payload,
        size,
        held,
    })
}

const SEQUENCE: u32 = 0xffff_f000;

/// The super-frame with a partial checksum, as a kernel hands it down.
fn build(shape: &Shape) -> Frame {
    let mut bytes = vec![2; 12];
    for _ in 0..shape.tags {
        bytes.extend([0x81, 0, 0, 5]);
    }
    let ip_type: [u8; 2] = if shape.v6 { [0x86, 0xdd] } else { [8, 0] };
    bytes.extend(if shape.labels > 0 { [0x88, 0x47] } else { ip_type });
    for i in 0..shape.labels {
        bytes.extend([0, 1, 0x40 | u8::from(i + 1 == shape.labels), 64]);
    }
    let transport_len = if shape.tcp { 20 + 4 * (shape.options % 11) } else { 8 };
    let above = transport_len + shape.payload.len();
    let protocol = if shape.tcp { 6 } else { 17 };
    let ip = bytes.len();
    if shape.v6 {
        bytes.extend([0x60, 0, 0, 0]);
        bytes.extend((above as u16).to_be_bytes());
        bytes.extend([protocol, 64]);
        bytes.extend([0xfd; 32]);
    } else {
        bytes.extend([0x45, 0]);
        bytes.extend((20 + above as u16).to_be_bytes());
        bytes.extend([0xff, 0xfe, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = !checksum::sum(&bytes[ip..]);
        bytes[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    }
    let transport = bytes.len();
    let partial = pseudo(&bytes[ip..transport], protocol, above).to_be_bytes();
    bytes.extend([1, 2, 3, 4]);
    if shape.tcp {
        bytes.extend(SEQUENCE.to_be_bytes());
        bytes.extend([0, 0, 0, 9, (transport_len as u8 / 4) << 4, shape.flags, 1, 1]);
        bytes.extend(partial);
        bytes.extend([0, 0]);
        bytes.resize(transport + transport_len, 1);
    } else {
        bytes.extend((above as u16).to_be_bytes());
        bytes.extend(partial);
    }
    let header_len = bytes.len();
    bytes.extend(&shape.payload);
    let held = shape.held.min(bytes.len());
    let mut frame = Frame::new(&bytes[..held], Body::owned(&bytes[held..]));
    frame.set_offload(Some(Offload {
        needs_checksum: true,
        checksum_start: transport as u16,
        checksum_offset: if shape.tcp { 16 } else { 6 },
        segment: match (shape.tcp, shape.v6) {
            (true, false) => Segment::TcpV4,
            (true, true) => Segment::TcpV6,
            (false, _) => Segment::UdpL4,
        },
        segment_size: shape.size,
        header_len: header_len as u16,
    }));
    frame
}

fn pseudo(ip: &[u8], protocol: u8, len: usize) -> u16 {
    let addresses = if ip[0] >> 4 == 6 { &ip[8..40] } else { &ip[12..20] };
    checksum::combine(&[checksum::sum(addresses), u16::from(protocol), len as u16])
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn segments_are_valid_and_carry_the_payload(shape in shapes()) {
        let whole = build(&shape);
        let mut segments = Vec::new();
        let count = real_frames(whole.clone(), &mut |frame| segments.push(frame.to_vec()));
        prop_assert_eq!(count, shape.payload.len().div_ceil(usize::from(shape.size)));
        prop_assert_eq!(segments.len(), count);
        let original = whole.to_vec();
        let mut payload: Vec<u8> = Vec::new();
        for (i, bytes) in segments.iter().enumerate() {
            let ip = network_offset(bytes).unwrap();
            prop_assert_eq!(&bytes[..ip], &original[..ip]);
            let (first, last) = (i == 0, i + 1 == count);
            let len = bytes.len() - ip;
            let (transport, protocol) = if shape.v6 {
                prop_assert_eq!(usize::from(u16::from_be_bytes([bytes[ip + 4], bytes[ip + 5]])), len - 40);
                (ip + 40, bytes[ip + 6])
            } else {
                prop_assert_eq!(usize::from(u16::from_be_bytes([bytes[ip + 2], bytes[ip + 3]])), len);
                let id = u16::from_be_bytes([bytes[ip + 4], bytes[ip + 5]]);
                prop_assert_eq!(id, 0xfffe_u16.wrapping_add(i as u16));
                prop_assert_eq!(checksum::sum(&bytes[ip..ip + 20]), 0xffff);
                (ip + 20, bytes[ip + 9])
            };
            let covered = &bytes[transport..];
            let sum = checksum::combine(&[pseudo(&bytes[ip..], protocol, covered.len()), checksum::sum(covered)]);
            prop_assert_eq!(sum, 0xffff);
            if shape.tcp {
                let sequence = u32::from_be_bytes(covered[4..8].try_into().unwrap());
                prop_assert_eq!(sequence, SEQUENCE.wrapping_add(payload.len() as u32));
                let kept = if last { 0x09 } else { 0 } | if first { 0x80 } else { 0 } | 0x76;
                prop_assert_eq!(covered[13], shape.flags & kept);
                payload.extend(&covered[usize::from(covered[12] >> 4) * 4..]);
            } else {
                prop_assert_eq!(usize::from(u16::from_be_bytes([covered[4], covered[5]])), covered.len());
                payload.extend(&covered[8..]);
            }
        }
        prop_assert_eq!(payload, shape.payload);
    }

    #[test]
    fn a_partial_checksum_is_completed(shape in shapes()) {
        let mut frame = build(&shape);
        let offload = Offload { segment: Segment::None, ..frame.offload().unwrap() };
        frame.set_offload(Some(offload));
        let original = frame.to_vec();
        let mut done = Vec::new();
        prop_assert_eq!(real_frames(frame, &mut |frame| done.push(frame)), 1);
        prop_assert_eq!(done[0].offload(), None);
        let bytes = done[0].to_vec();
        let ip = network_offset(&bytes).unwrap();
        let covered = &bytes[usize::from(offload.checksum_start)..];
        let protocol = if shape.tcp { 6 } else { 17 };
        let sum = checksum::combine(&[pseudo(&bytes[ip..], protocol, covered.len()), checksum::sum(covered)]);
        prop_assert_eq!(sum, 0xffff);
        let field = usize::from(offload.checksum_start) + usize::from(offload.checksum_offset);
        prop_assert_eq!((&bytes[..field], &bytes[field + 2..]), (&original[..field], &original[field + 2..]));
    }

    /// A checksum left undone is found without being told of, and a complete one is left alone.
    #[test]
    fn a_partial_checksum_is_recognised(shape in shapes()) {
        let shape = Shape { held: 88, labels: shape.labels % 3, payload: shape.payload[..shape.payload.len().min(1400)].to_vec(), ..shape };
        let mut frame = build(&shape);
        frame.set_offload(Some(Offload { segment: Segment::None, ..frame.offload().unwrap() }));
        let mut found = frame.clone();
        found.set_offload(None);
        complete_if_partial(&mut found);
        let mut told = Vec::new();
        real_frames(frame, &mut |frame| told.push(frame));
        prop_assert_eq!(&found, &told[0]);
        complete_if_partial(&mut found);
        prop_assert_eq!(&found, &told[0]);
    }

    /// Headers that are not what the kernel says they are give no frame, and do no harm.
    #[test]
    fn nonsense_does_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300), start: u16, offset in 0u8..200, kind in 0u8..4, size: u16, held in 0usize..89) {
        let held = held.min(bytes.len());
        let mut frame = Frame::new(&bytes[..held], Body::owned(&bytes[held..]));
        frame.set_offload(Some(Offload {
            needs_checksum: start % 2 == 0,
            checksum_start: start % 512,
            checksum_offset: offset,
            segment: [Segment::None, Segment::TcpV4, Segment::TcpV6, Segment::UdpL4][usize::from(kind)],
            segment_size: size,
            header_len: offset.into(),
        }));
        let mut made = 0;
        let count = real_frames(frame, &mut |frame| { assert_eq!(frame.offload(), None); made += 1 });
        prop_assert_eq!(count, made);
    }
}

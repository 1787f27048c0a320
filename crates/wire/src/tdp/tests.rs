use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

const OWN: TdpId = (Ipv4Addr::new(10, 0, 0, 2), 0);

fn binding(tag: Label, address: [u8; 4], len: u8) -> Binding {
    Binding { label: tag, prefix: Prefix::new(address.into(), len) }
}

/// The bytes that were observed.
#[test]
fn bytes_are_those_that_were_observed() {
    let hello = Hello { id: OWN, number: 9, hold_s: 15, transport: OWN.0 };
    let expected = [0, 1, 0, 16, 10, 0, 0, 2, 0, 0, 0, 9, 15, 3, 0, 4, 10, 0, 0, 2];
    assert_eq!(hello.emit(), expected);
    assert_eq!(Hello::parse(&expected), Ok(hello));
    let all = [
        Element::Open { hold_s: 180 },
        Element::KeepAlive,
        Element::Address(vec![Ipv4Addr::new(10, 0, 0, 2)]),
        Element::Bind {
            request: 0,
            bindings: vec![
                binding(Label::IMPLICIT_NULL, [10, 0, 0, 2], 32),
                binding(Label::truncate(26), [10, 1, 0, 0], 16),
            ],
        },
    ];
    let expected = [
        &[0, 1, 0, 67, 10, 0, 0, 2, 0, 0, 0, 0][..],
        &[1, 0, 0, 4, 1, 0, 0, 180],
        &[5, 0, 0, 0],
        &[8, 0, 0, 11, 0, 1, 0, 3, 0, 5, 32, 10, 0, 0, 2],
        &[2, 0, 0, 28, 0, 0, 0, 0, 0, 1, 0, 2, 0, 18],
        &[0, 0, 0, 1, 32, 10, 0, 0, 2, 0, 0, 0, 26, 16, 10, 1, 0, 0],
    ]
    .concat();
    assert_eq!(pdu(OWN, &all), expected);
    assert_eq!(parse(&expected), Ok((OWN, all.to_vec())));
    assert_eq!(message_len(&expected), Some(expected.len()));
    assert_eq!(message_len(&expected[..20]), None);
}

/// What is not known byte by byte is kept as it is.
#[test]
fn what_is_not_known_is_not_made_up() {
    for name in ["Request Bind", "Notification"] {
        let element = form::ELEMENTS.iter().find(|one| one.name == name).expect("one");
        assert!(!element.is_observed);
        let unknown = Element::Unknown { kind: element.kind, value: vec![1, 2, 3] };
        assert_eq!(parse(&pdu(OWN, core::slice::from_ref(&unknown))), Ok((OWN, vec![unknown])));
    }
    let observed = form::ELEMENTS.iter().filter(|one| one.is_observed).map(|one| one.kind);
    assert_eq!(observed.collect::<Vec<_>>(), [0x0100, 0x0200, 0x0500, 0x0800]);
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..120), all in vec((any::<u16>(), vec(any::<u8>(), 0..30)), 0..4)) {
        let _ = (parse(&bytes), Hello::parse(&bytes), message_len(&bytes));
        for element in form::ELEMENTS {
            let _ = Element::read(element.kind, &bytes);
        }
        let all: Vec<Element> = all.into_iter().map(|(kind, value)| Element::Unknown { kind, value }).collect();
        if let Ok((id, read)) = parse(&pdu(OWN, &all)) {
            prop_assert_eq!(parse(&pdu(id, &read)), Ok((id, read)));
        }
    }

    #[test]
    fn elements_are_read_and_written(
        some in vec((0..0x10_0000u32, any::<u32>(), 0..33u8), 0..9), request: u32, hold_s: u16,
    ) {
        let of = |&(tag, address, len): &(u32, u32, u8)| {
            let tag = if tag < 4 { Label::IMPLICIT_NULL } else { Label::truncate(tag) };
            binding(tag, address.to_be_bytes(), len)
        };
        let bindings: Vec<Binding> = some.iter().map(of).collect();
        let all = vec![
            Element::Bind { request, bindings: bindings.clone() },
            Element::Withdraw { bindings: bindings.clone() },
            Element::Open { hold_s },
            Element::Release { bindings },
        ];
        prop_assert_eq!(parse(&pdu(OWN, &all)), Ok((OWN, all)));
    }
}

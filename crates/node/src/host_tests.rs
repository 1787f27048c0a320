use super::*;

const PORT: PortId = PortId(0);
const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const ROUTER: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 9);

fn host() -> Host {
    Host::new(HostConfig {
        ports: vec![HostPort {
            mac: MAC,
            address: ADDRESS,
            prefix_len: 24,
            gateway: GATEWAY,
            ipv6: None,
            mtu: 1_500,
        }],
        groups: Vec::new(),
    })
}

fn sent(host: &mut Host) -> Vec<Vec<u8>> {
    let outputs = core::iter::from_fn(|| host.poll_output());
    let frames = outputs.filter_map(|output| match output {
        Output::Transmit { frame, .. } => Some(frame.to_vec()),
        Output::Event(_) | Output::Discard { .. } | Output::Copied { .. } | Output::AskQueue { .. } => None,
    });
    frames.collect()
}

fn arp(operation: arp::Operation, target: Ipv4Addr) -> Frame {
    let (sender_mac, sender_ip) = (ROUTER, GATEWAY);
    let target_mac = if operation == arp::Operation::REPLY { MAC } else { MacAddr::default() };
    arp_frame(&arp::Repr { operation, sender_mac, sender_ip, target_mac, target_ip: target })
}

fn ip(dst: Ipv4Addr, message: &icmp::Repr<'_>) -> Frame {
    let mut bytes = vec![0; ethernet::HEADER_LEN];
    ethernet::Repr::untagged(MAC, ROUTER, ethernet::EtherType::IPV4).emit(&mut bytes);
    bytes.extend(echo::packet(FAR, dst, 60, 7, message));
    Frame::from_bytes(&bytes)
}

#[test]
fn answers_pings_through_its_gateway_once_it_knows_it() {
    let mut host = host();
    let ping = icmp::Repr::EchoRequest { ident: 3, sequence: 4, data: b"abc" };
    host.handle_packet(Time(1), PORT, ip(ADDRESS, &ping));
    let asked = sent(&mut host);
    let packet = arp::Packet::new_checked(&asked[0][ethernet::HEADER_LEN..]).expect("ARP");
    assert_eq!((asked.len(), packet.target_ip(), packet.sender_ip()), (1, GATEWAY, ADDRESS));
    host.handle_packet(Time(2), PORT, arp(arp::Operation::REPLY, ADDRESS));
    let answers = sent(&mut host);
    assert_eq!((answers.len(), &answers[0][..6], &answers[0][6..12]), (1, &ROUTER.0[..], &MAC.0[..]));
    let packet = ipv4::Packet::new_checked(&answers[0][ethernet::HEADER_LEN..]).expect("IP");
    assert_eq!((packet.src(), packet.dst()), (ADDRESS, FAR));
    let echo = icmp::Packet::new_checked(packet.payload()).expect("ICMP");
    let reply = icmp::Repr::EchoReply { ident: 3, sequence: 4, data: b"abc" };
    assert_eq!(icmp::Repr::parse(&echo), Ok(reply));
}

#[test]
fn answers_arp_for_itself_only() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, FAR));
    assert!(sent(&mut host).is_empty());
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    assert_eq!(sent(&mut host).len(), 1);
    assert_eq!(host.neighbor_mac(PORT, FAR), Some(ROUTER), "and learns who asked");
}

#[test]
fn pings_and_hears_of_errors() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    sent(&mut host);
    host.handle_command(Time(2), Command::Probe { to: FAR.into(), ttl: 1, sequence: 77 });
    let ping = sent(&mut host).remove(0);
    let original = &ping[ethernet::HEADER_LEN..];
    let quote = icmp::Quote { original, objects: &[], without_length: false };
    host.handle_packet(Time(3), PORT, ip(ADDRESS, &icmp::Repr::TimeExceeded { code: 0, quote }));
    let Some(Output::Event(event)) = host.poll_output() else { panic!("no event") };
    assert_eq!(
        event,
        Event::ProbeReply { from: FAR.into(), sequence: 77, kind: 11, code: 0, labels: Vec::new() }
    );
}

#[test]
fn what_nobody_wants_is_counted_and_reported() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    sent(&mut host);
    let ping = icmp::Repr::EchoRequest { ident: 3, sequence: 4, data: b"abc" };
    host.handle_packet(Time(1), PORT, ip(FAR, &ping));
    assert_eq!(host.drops().get(DropReason::NotForUs), 1);
    // A protocol that the host does not speak: the header is summed up again.
    let mut bytes = ip(ADDRESS, &ping).to_vec();
    let mut header = ipv4::Packet::new_unchecked(&mut bytes[ethernet::HEADER_LEN..]);
    header.set_protocol(ipv4::Protocol(89));
    header.fill_checksum();
    host.handle_packet(Time(1), PORT, Frame::from_bytes(&bytes));
    let answers = sent(&mut host);
    let packet = ipv4::Packet::new_checked(&answers[0][ethernet::HEADER_LEN..]).expect("IP");
    let error = icmp::Packet::new_checked(packet.payload()).expect("ICMP");
    assert_eq!((error.icmp_type().0, error.code()), (3, 2));
    for cut in 0..bytes.len() {
        host.handle_packet(Time(1), PORT, Frame::from_bytes(&bytes[..cut]));
    }
}

#[test]
fn gives_up_on_a_gateway_that_never_answers() {
    let mut host = host();
    host.handle_command(Time(0), Command::Probe { to: FAR.into(), ttl: 64, sequence: 1 });
    while let Some(at) = host.poll_timeout() {
        host.handle_timeout(at);
    }
    assert_eq!(sent(&mut host).len(), 3, "asked three times");
    assert_eq!(host.drops().get(DropReason::NoAdjacency), 1);
}

#[test]
fn a_flood_gets_no_flood_of_errors() {
    let mut host = host();
    host.handle_packet(Time(1), PORT, arp(arp::Operation::REQUEST, ADDRESS));
    sent(&mut host);
    let mut frame = ip(ADDRESS, &icmp::Repr::EchoReply { ident: 1, sequence: 1, data: b"" }).to_vec();
    frame[ethernet::HEADER_LEN + 9] = 17;
    ipv4::Packet::new_unchecked(&mut frame[ethernet::HEADER_LEN..]).fill_checksum();
    for _ in 0..2 * ERRORS.1 {
        host.handle_packet(Time(2), PORT, Frame::from_bytes(&frame));
    }
    assert_eq!(sent(&mut host).len(), ERRORS.1 as usize);
}

//! LSPs that are verified: what counts as a reply that is missing, and how long a bad one counts.

use super::super::Event;
use super::super::section::LspPingSpec;
use super::super::states::Standing;
use super::speaker::{Node, OWN, TARGET, leg, replied_bytes, source_of};
use crate::inquiry::{FecMapping, Findings, GivenBy};
use crate::machine::State;
use crate::protocol::{Arrival, Change, IpArrival, LspMessage, Output, Over};
use crate::services::bootstrap::Wish;
use crate::services::{Pace, Verdict, WatchedLsp, WatchedPath, Watcher, Way};
use base::plane::{Leg, Prefix};
use base::{PortId, ProtocolId, Span};
use wire::lsp_ping::PORT;

const CLIENT: ProtocolId = ProtocolId::new("ldp");
const SECOND: Span = Span::from_secs(1);

fn lsp() -> WatchedLsp {
    WatchedLsp::Ldp(Prefix::host(TARGET))
}

fn path() -> WatchedPath {
    WatchedPath { way: Way::Lsp(lsp()), local: OWN.into(), remote: TARGET.into() }
}

/// A head end, and the ways of the LSP as its control plane has them.
struct Head {
    node: Node,
    legs: Vec<Leg>,
    /// Why the LSP went down; nothing where it came up.
    told: Vec<Option<&'static str>>,
}

impl Head {
    /// LSP ping watches alone each second, and misses three requests.
    fn alone() -> Head {
        let mut head = Head::new(Watcher::LspPing);
        head.change(&Change::Watching(path()));
        head
    }

    /// A head end whose LSP is watched by BFD, with its session up or not.
    fn of_bfd(is_up: bool) -> Head {
        let mut head = Head::new(Watcher::Bfd);
        head.node.services.bootstrap.ask(lsp(), Wish { discriminator: 7, is_up, path: path() });
        if is_up {
            head.node.services.liveness.found(path(), Verdict::Alive);
        }
        head.change(&Change::Verifying(lsp()));
        head
    }

    fn new(by: Watcher) -> Head {
        let mut node = Node::new(&LspPingSpec::default());
        let pace = Pace { interval: Some(SECOND), multiplier: Some(3), by };
        node.services.liveness.watch(CLIENT, path(), pace);
        Head { node, legs: vec![leg(&[20])], told: Vec::new() }
    }

    fn change(&mut self, change: &Change) -> Vec<LspMessage> {
        let outputs = self.node.call(|ping, now, context| ping.handle_change(now, context, change));
        self.done(outputs)
    }

    /// Answers inquiries, and keeps what is told. What was sent.
    fn done(&mut self, outputs: Vec<Output>) -> Vec<LspMessage> {
        let mut sent = Vec::new();
        for output in outputs {
            match output {
                Output::Inquire(inquiry) => {
                    let mapping = FecMapping::transit(GivenBy::Ldp, None, self.legs.clone());
                    let fecs = vec![Some(mapping)];
                    let findings = Findings { number: inquiry.number, labels: Vec::new(), fecs };
                    let outputs =
                        self.node.call(|ping, now, context| ping.handle_findings(now, context, findings));
                    sent.extend(self.done(outputs));
                }
                Output::Lsp(message) => sent.push(*message),
                Output::Event(event) => match event.of() {
                    Some(Event::LspPingDown { why, .. }) => self.told.push(Some(*why)),
                    Some(Event::LspPingUp { .. }) => self.told.push(None),
                    _ => {}
                },
                _ => {}
            }
        }
        sent
    }

    /// Waits until something is due, and does it.
    fn next(&mut self) -> Vec<LspMessage> {
        let due = self.node.due().expect("something is due");
        self.node.now = self.node.now.max(due);
        let outputs = self.node.call(|ping, now, context| ping.handle_timeout(now, context));
        self.done(outputs)
    }

    /// Lets time pass until a request is sent.
    fn request(&mut self) -> LspMessage {
        (0..200).find_map(|_| self.next().pop()).expect("a request")
    }

    fn reply(&mut self, to: &LspMessage, code: u8) {
        let bytes = replied_bytes(to, |message| message.return_code = code);
        let over = Over::Udp { src: PORT, dst: source_of(to) };
        let ip = IpArrival { port: PortId(1), src: TARGET, dst: OWN, ttl: 250, router_alert: false, over };
        let outputs =
            self.node.call(|ping, now, context| ping.handle_message(now, context, &Arrival::Ip(ip), &bytes));
        self.done(outputs);
    }

    /// Requests that were sent, those without a reply, and the standing.
    fn counts(&self) -> (u64, u64, Standing) {
        let one = &self.node.ping().verified[&lsp()];
        (one.sent, one.unanswered, one.standing)
    }

    /// The standing, and the return code that said that the LSP is misled.
    fn found(&self) -> (Standing, Option<u8>) {
        let one = &self.node.ping().verified[&lsp()];
        (one.standing, one.blamed)
    }

    fn verdict(&self) -> Verdict {
        self.node.services.liveness.verdict(path())
    }
}

#[test]
fn a_request_that_the_next_one_supersedes_is_missing() {
    let mut head = Head::of_bfd(false);
    (0..5).for_each(|_| drop(head.request()));
    let (sent, unanswered, standing) = head.counts();
    assert!(sent >= 5 && unanswered == sent - 1, "{unanswered} of {sent}");
    assert_eq!((standing, head.verdict()), (Standing::Unknown, Verdict::Unknown), "it never came up");
}

#[test]
fn a_request_that_cannot_be_sent_is_missing() {
    let mut head = Head::alone();
    let request = head.request();
    head.reply(&request, 3);
    assert_eq!((head.counts(), head.verdict()), ((1, 0, Standing::Sound), Verdict::Alive));
    head.legs.clear();
    let from = head.node.now;
    while head.verdict() == Verdict::Alive {
        assert!(head.next().is_empty(), "nothing can be sent");
    }
    assert_eq!((head.counts(), head.node.now - from), ((1, 3, Standing::Silent), Span(SECOND.0 * 4)));
    head.legs = vec![leg(&[21])];
    let request = head.request();
    head.reply(&request, 3);
    assert_eq!((head.counts().2, head.verdict()), (Standing::Sound, Verdict::Alive));
    assert_eq!(head.told, [None, Some("no way"), None]);
}

/// Of an LSP that has had no labels yet nothing is missing.
#[test]
fn nothing_is_missing_before_the_first_request() {
    let mut head = Head::alone();
    head.legs.clear();
    (0..5).for_each(|_| assert!(head.next().is_empty()));
    assert_eq!((head.counts(), head.verdict()), ((0, 0, Standing::Unknown), Verdict::Unknown));
}

/// BFD hears the far end: that counts once nobody says any more that it is another.
#[test]
fn a_bad_reply_does_not_outlive_three_requests_without_one_where_bfd_watches() {
    let mut head = Head::of_bfd(true);
    let request = head.request();
    head.reply(&request, 10);
    assert_eq!((head.found(), head.verdict()), ((Standing::Misled, Some(10)), Verdict::Dead));
    (0..3).for_each(|_| drop(head.request()));
    assert_eq!(head.verdict(), Verdict::Dead, "two are missing, and the third may still be answered");
    head.next();
    assert_eq!((head.counts().2, head.verdict()), (Standing::Unknown, Verdict::Alive));
    assert_eq!(head.told, [Some("mapping for the FEC is not the given label"), None]);
}

#[test]
fn a_bad_reply_and_silence_after_it_keep_an_lsp_down_that_lsp_ping_watches_alone() {
    let mut head = Head::alone();
    let request = head.request();
    head.reply(&request, 10);
    (0..9).for_each(|_| drop(head.request()));
    assert_eq!((head.counts().2, head.verdict()), (Standing::Silent, Verdict::Dead));
    assert_eq!(head.told, [Some("mapping for the FEC is not the given label"), Some("no reply")]);
}

#[test]
fn a_bad_reply_to_a_request_by_a_label_of_before_does_not_count() {
    let mut head = Head::alone();
    let request = head.request();
    head.reply(&request, 3);
    let request = head.request();
    head.legs = vec![leg(&[21])];
    head.reply(&request, 11);
    assert_eq!((head.counts().2, head.verdict()), (Standing::Sound, Verdict::Alive));
    let request = head.request();
    head.reply(&request, 11);
    assert_eq!(
        (head.found(), head.verdict()),
        ((Standing::Misled, Some(11)), Verdict::Dead),
        "by that in use"
    );
}

/// Whoever changes the machine changes this text, too.
#[test]
fn the_standing_of_an_lsp() {
    let expected = "\
Unknown --Egress--> Sound
Unknown --Elsewhere--> Misled
Unknown --Missing--> Unknown
Unknown --MissingBesideBfd--> Unknown
Sound --Egress--> Sound
Sound --Elsewhere--> Misled
Sound --Missing--> Silent
Sound --MissingBesideBfd--> Sound
Silent --Egress--> Sound
Silent --Elsewhere--> Misled
Silent --Missing--> Silent
Silent --MissingBesideBfd--> Silent
Misled --Egress--> Sound
Misled --Elsewhere--> Misled
Misled --Missing--> Silent
Misled --MissingBesideBfd--> Unknown";
    assert_eq!(Standing::CHART.lines().join("\n"), expected);
}

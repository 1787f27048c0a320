//! Two ends of a connection talk, one of which may show what is wrong.

use crate::peer::Peer;
use crate::{Credentials, Session};
use rustls::RootCertStore;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of the certificates for tests.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support/certificates");
    folder.join(format!("{name}.pem"))
}

fn read(key: &str, certificate: &str, authority: &str) -> Result<Credentials, (&'static str, String)> {
    let read = Credentials::read(&file(key), &file(certificate), &file(authority));
    read.map_err(|fault| (fault.setting, fault.words))
}

fn switch() -> Credentials {
    read("switch-key", "switch-cert", "ca-cert").expect("what belongs together")
}

/// Somebody with this key and certificate, neither of which anybody has looked at.
fn somebody(name: &str, authority: &str) -> Credentials {
    let certificate = |name: &str| CertificateDer::from_pem_file(file(name)).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(file(&format!("{name}-key"))).expect("a key");
    let key = any_supported_type(&key).expect("a key");
    let own = CertifiedKey::new(vec![certificate(&format!("{name}-cert"))], key);
    let mut roots = RootCertStore::empty();
    roots.add(certificate(authority)).expect("an authority");
    let peer = Peer::new(roots, vec![certificate(authority)]).expect("an authority");
    Credentials::new(Arc::new(own), Arc::new(peer)).expect("credentials")
}

/// One end, and what it has received.
struct End {
    session: Session,
    got: Vec<u8>,
    over: Option<Result<(), String>>,
}

impl End {
    fn new(session: Result<Session, String>) -> End {
        End { session: session.expect("a session"), got: Vec::new(), over: None }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.over.is_none() {
            match self.session.receive(bytes, &mut self.got) {
                Ok(true) => {}
                Ok(false) => self.over = Some(Ok(())),
                Err(why) => self.over = Some(Err(why)),
            }
        }
    }

    fn say(&mut self) -> Vec<u8> {
        let mut said = Vec::new();
        self.session.take_output(&mut said);
        said
    }
}

/// The two ends, the one that begins first.
fn ends(first: &Credentials, second: &Credentials) -> [End; 2] {
    let to = IpAddr::V4(Ipv4Addr::LOCALHOST);
    [End::new(Session::connect(first, to)), End::new(Session::accept(second))]
}

/// Bytes go to and fro, so many at once, until there are none.
fn run(ends: &mut [End; 2], len: usize) {
    loop {
        let mut is_idle = true;
        for from in 0..2 {
            let said = ends[from].say();
            is_idle &= said.is_empty();
            said.chunks(len).for_each(|part| ends[1 - from].take(part));
        }
        if is_idle {
            return;
        }
    }
}

fn why(end: &End) -> &str {
    match &end.over {
        Some(Err(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_ends_know_each_other_and_bytes_come_as_they_went() {
    for len in [1, 7, 100_000] {
        let mut ends = ends(&switch(), &somebody("controller", "ca-cert"));
        run(&mut ends, len);
        assert!(ends.iter().all(|end| end.session.is_set_up() && end.over.is_none()));
        let long: Vec<u8> = (0..100_000u32).map(|place| place as u8).collect();
        ends[0].session.send(b"hello");
        ends[1].session.send(&long);
        run(&mut ends, len);
        assert_eq!((&ends[1].got[..], ends[0].got == long), (&b"hello"[..], true));
        ends[0].session.close();
        run(&mut ends, len);
        assert_eq!((&ends[0].over, &ends[1].over), (&None, &Some(Ok(()))));
    }
}

#[test]
fn a_certificate_that_is_trusted_itself_is_accepted_at_either_end() {
    let switch = read("switch-key", "switch-cert", "alone-cert").expect("what belongs together");
    let alone = || somebody("alone", "ca-cert");
    for mut ends in [ends(&switch, &alone()), ends(&alone(), &switch)] {
        run(&mut ends, 1000);
        assert!(ends.iter().all(|end| end.session.is_set_up() && end.over.is_none()));
    }
}

#[test]
fn whoever_shows_a_wrong_certificate_is_told_why_at_either_end() {
    let unknown = "its certificate is signed by none of the authorities in ca_cert";
    let wrong = [
        ("stranger", unknown),
        ("expired", "its certificate has expired"),
        ("future", "its certificate is not valid yet"),
        ("old", "its certificate is of X.509 version 1, and version 3 is needed"),
        ("alone", "its certificate is that of an authority (CA:TRUE), and not in ca_cert itself"),
    ];
    for (name, sentence) in wrong {
        for place in [0, 1] {
            let (switch, other) = (switch(), somebody(name, "ca-cert"));
            let mut ends = if place == 0 { ends(&switch, &other) } else { ends(&other, &switch) };
            run(&mut ends, 1000);
            assert_eq!(why(&ends[place]), sentence, "{name}");
            assert!(why(&ends[1 - place]).contains("certificate"), "{:?}", ends[1 - place].over);
        }
    }
    // One for clients alone is not that of a server.
    let mut ends = ends(&switch(), &somebody("client", "ca-cert"));
    run(&mut ends, 1000);
    assert_eq!(why(&ends[0]), "its certificate is for another use than this (extended key usage)");
}

#[test]
fn a_switch_that_is_not_known_is_told_so() {
    let mut ends = ends(&switch(), &somebody("controller", "other-ca-cert"));
    run(&mut ends, 1000);
    assert_eq!(why(&ends[0]), "it does not know the authority that has signed the switch's certificate");
}

#[test]
fn garbage_ends_a_session_and_damaged_bytes_do_not_end_the_program() {
    let mut end = End::new(Session::accept(&switch()));
    end.take(b"\x04\x00\x00\x08\x00\x00\x00\x01");
    assert_eq!(why(&end), "what it says is not TLS");
    for place in (0..2000).step_by(13) {
        let mut ends = ends(&switch(), &somebody("controller", "ca-cert"));
        let mut counted = 0;
        for turn in 0..8 {
            let mut said = ends[turn % 2].say();
            if let Some(byte) = said.get_mut(place - counted.min(place)).filter(|_| counted <= place) {
                *byte ^= 0x55;
            }
            counted += said.len();
            ends[1 - turn % 2].take(&said);
        }
        if counted > place {
            let is_wrong = |end: &End| matches!(end.over, Some(Err(_))) || !end.session.is_set_up();
            assert!(ends.iter().any(is_wrong), "{place} of {counted}");
        }
    }
}

#[test]
fn files_that_do_not_do_are_refused_with_the_setting_and_a_sentence() {
    let wrong = [
        (
            ["nothing", "switch-cert", "ca-cert"],
            "private_key",
            "nothing.pem: it cannot be read: no such file",
        ),
        (["switch-key", "nothing", "ca-cert"], "certificate", "it cannot be read"),
        (["switch-key", "switch-cert", "nothing"], "ca_cert", "it cannot be read"),
        (["switch-cert", "switch-cert", "ca-cert"], "private_key", "no private key in PEM form"),
        (["switch-key", "switch-key", "ca-cert"], "certificate", "no certificate in PEM form"),
        (["switch-key", "switch-cert", "switch-key"], "ca_cert", "no certificate in PEM form"),
        (["encrypted-key", "switch-cert", "ca-cert"], "private_key", "is encrypted"),
        (["unsupported-key", "switch-cert", "ca-cert"], "private_key", "not supported: RSA of 2048"),
        (
            ["controller-key", "switch-cert", "ca-cert"],
            "private_key",
            "does not belong to the certificate in",
        ),
        (["expired-key", "expired-cert", "ca-cert"], "certificate", "this certificate has expired"),
        (["old-key", "old-cert", "ca-cert"], "certificate", "this certificate is of X.509 version 1"),
    ];
    for ([key, certificate, authority], setting, sentence) in wrong {
        let (named, said) = read(key, certificate, authority).expect_err(sentence);
        assert!(named == setting && said.contains(sentence), "{named}: {said}");
    }
    let folder = Credentials::read(Path::new("/"), &file("switch-cert"), &file("ca-cert"));
    assert_eq!(folder.expect_err("a folder").words, "/: it is no PEM file");
    let endless = Credentials::read(Path::new("/dev/zero"), &file("switch-cert"), &file("ca-cert"));
    assert_eq!(endless.expect_err("no file").words, "/dev/zero: it is no PEM file");
}

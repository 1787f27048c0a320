//! Connections over TLS between two ends of this process, by a clock that the test sets.

use super::*;
use base::Span;
use std::io::Write;

fn credentials() -> Credentials {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support/certificates");
    let [key, certificate, authority] =
        ["switch-key", "switch-cert", "ca-cert"].map(|name| folder.join(format!("{name}.pem")));
    Credentials::read(&key, &certificate, &authority).expect("files of tests")
}

/// Two ends of a connection of TCP: the one that has begun it, and where it has come from.
fn pair() -> (TcpStream, TcpStream, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let near = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
    let (far, from) = listener.accept().expect("the other end");
    near.set_nonblocking(true).and_then(|()| far.set_nonblocking(true)).expect("both");
    (near, far, from)
}

fn accepted(socket: TcpStream, from: SocketAddr) -> Stream {
    let session = Session::accept(&credentials()).expect("a session");
    Stream::accepted(socket, Some(session), Incoming { listener: 0, from }, Time::ZERO)
}

fn round(now: Time) -> Round {
    Round { now, buffer: vec![0; CHUNK], handshakes: HANDSHAKES, room: INCOMING_MAX, more: false }
}

#[test]
fn an_end_that_stalls_or_says_little_at_a_time_is_turned_away_in_time() {
    for is_talking in [false, true] {
        let (mut near, far, from) = pair();
        let mut stream = accepted(far, from);
        let mut inputs = Vec::new();
        // The head of a record that says that 512 bytes follow, and so one of them every 100 ms.
        near.write_all(&[22, 3, 1, 2, 0]).expect("sent");
        let mut over = None;
        for tenth in 0..=50 {
            assert_eq!(over, None, "not before");
            if is_talking {
                near.write_all(&[1]).expect("sent");
            }
            over = round(Time::ZERO + Span::from_ms(100 * tenth)).attend(
                FIRST_INCOMING,
                &mut stream,
                &mut inputs,
            );
        }
        assert_eq!(over.as_deref(), Some("TLS was not set up within 5 s"));
        assert!(inputs.is_empty(), "the switch does not hear of it");
        let ended = ended(FIRST_INCOMING, &stream, String::new());
        assert_eq!(ended, ChannelInput::Refused { listener: 0, from, why: String::new() });
    }
}

/// Two ends of this process, what each would tell its switch, and why one of them is over.
struct Ends {
    ends: [Stream; 2],
    told: [Vec<ChannelInput>; 2],
    over: Option<String>,
}

impl Ends {
    /// What one end sends takes the kernel a moment to bring to the other.
    fn run_until(&mut self, is_done: impl Fn(&Ends) -> bool) {
        for _ in 0..1_000_000 {
            if is_done(self) {
                return;
            }
            for (end, told) in self.ends.iter_mut().zip(&mut self.told) {
                if end.is_closing() {
                    continue;
                }
                self.over = self.over.take().or(round(Time::ZERO).attend(CONNECTION, end, told));
                assert!(end.stage == Stage::Connecting || end.send().is_some());
            }
            std::thread::yield_now();
        }
        panic!("it goes on and on");
    }
}

const CONNECTION: u32 = 7;

#[test]
fn what_one_end_sends_over_tls_comes_to_the_other_and_so_does_the_end() {
    let (near, far, from) = pair();
    let to = near.peer_addr().expect("the other end");
    let session = Session::connect(&credentials(), to.ip()).expect("a session");
    let ends = [Stream::connecting(near, Some(session)), accepted(far, from)];
    let mut both = Ends { ends, told: [Vec::new(), Vec::new()], over: None };
    both.run_until(|both| both.told.iter().all(|told| !told.is_empty()));
    let opened = ChannelInput::Opened { connection: CONNECTION };
    assert!(both.told.iter().all(|told| told[..] == [opened.clone()]));
    both.ends[0].push(b"hello".to_vec());
    both.run_until(|both| both.told[1].len() > 1);
    let received = ChannelInput::Received { connection: CONNECTION, bytes: Bytes(b"hello".to_vec()) };
    assert_eq!(both.told[1], [opened, received]);
    assert!(both.ends[0].close(Time::ZERO) && both.ends[0].send().is_some());
    both.run_until(|both| both.over.is_some());
    assert_eq!(both.over.as_deref(), Some("it has closed the connection"));
}

//! How well this machine keeps time for a program: what a look at the clock costs, how late a sleeper wakes, what a
//! program that never sleeps misses, and how far a frame's receive stamp is from its departure.
//!
//! Prints one line of JSON; times in nanoseconds, quantiles as `_p50`, `_p99` and `_max`. With two interfaces, the
//! ends of a veth, stamps are measured too.
//!
//! `cargo run --release -p twinplane-engine --example bench_clock -- [--seconds 2] [--out g0 --in s0 --in-netns PATH]`

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;
use twinplane_engine::external::{Clock, ExternalSpec, PortError, open};
use twinplane_engine::real_time::pin;

/// Nanoseconds between two samples.
const PAUSE_NS: u64 = 500_000;

fn option(name: &str) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    words.iter().position(|word| word == name).and_then(|at| words.get(at + 1).cloned())
}

fn ns(clock: &Clock) -> u64 {
    clock.now().0 / 1000
}

/// Keeps the processor busy until `when`, in nanoseconds of the clock, since a sleep would end too late.
fn spin_until(clock: &Clock, when: u64) {
    while ns(clock) < when {
        std::hint::spin_loop();
    }
}

fn quantiles(name: &str, mut samples: Vec<u64>) -> String {
    samples.sort_unstable();
    let at = |q: usize| samples.get((samples.len() * q / 1000).min(samples.len().saturating_sub(1))).copied();
    let [p50, p99, max] = [500, 990, 1000].map(|q| at(q).unwrap_or(0));
    format!("\"{name}_p50\": {p50}, \"{name}_p99\": {p99}, \"{name}_max\": {max}")
}

/// Nanoseconds of one look at the clock.
fn look(clock: &Clock) -> String {
    const LOOKS: u32 = 1_000_000;
    let begin = Instant::now();
    for _ in 0..LOOKS {
        std::hint::black_box(clock.now());
    }
    format!("\"look\": {:.1}", begin.elapsed().as_nanos() as f64 / f64::from(LOOKS))
}

/// How late a sleeper wakes that sleeps to a time.
fn sleeper(clock: &Clock, seconds: f64) -> String {
    let end = ns(clock) + (seconds * 1e9) as u64;
    let mut late = Vec::new();
    // SAFETY: it takes integers alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    while ns(clock) < end {
        let due = ns(clock) + PAUSE_NS;
        let time = libc::timespec { tv_sec: 0, tv_nsec: (due - ns(clock)) as i64 };
        // SAFETY: the structure lives through the call.
        unsafe { libc::ppoll(std::ptr::null_mut(), 0, &time, std::ptr::null()) };
        late.push(ns(clock).saturating_sub(due));
    }
    quantiles("sleep_late", late)
}

/// Gaps of more than a microsecond between two looks of a program that does nothing else, and the share of time in
/// them.
fn spinner(clock: &Clock, seconds: f64) -> String {
    let (begin, end) = (ns(clock), ns(clock) + (seconds * 1e9) as u64);
    let (mut gaps, mut last) = (Vec::new(), begin);
    while last < end {
        let now = ns(clock);
        if now - last > 1000 {
            gaps.push(now - last);
        }
        last = now;
    }
    let share = gaps.iter().sum::<u64>() as f64 / (last - begin) as f64;
    let per_second = gaps.len() as f64 / seconds;
    format!("\"missed_share\": {share:.5}, \"missed_per_s\": {per_second:.0}, {}", quantiles("missed", gaps))
}

/// How long it takes to wake a thread on another processor.
fn waker(clock: &Clock, seconds: f64) -> std::io::Result<String> {
    // SAFETY: it takes integers alone.
    let fd = unsafe { libc::eventfd(0, 0) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let woken = Arc::new(AtomicU64::new(0));
    let (seen, theirs) = (woken.clone(), clock.clone());
    let sleeper = thread::spawn(move || {
        let _ = pin(0);
        let mut count = 0u64;
        loop {
            // SAFETY: eight bytes that live through the call.
            let read = unsafe { libc::read(fd, (&raw mut count).cast(), 8) };
            seen.store(ns(&theirs), Ordering::Release);
            if read != 8 || count > 1 {
                return;
            }
        }
    });
    let write = |count: u64| {
        // SAFETY: eight bytes that live through the call.
        unsafe { libc::write(fd, (&raw const count).cast(), 8) };
    };
    let end = ns(clock) + (seconds * 1e9) as u64;
    let (mut taken, mut calls) = (Vec::new(), Vec::new());
    while ns(clock) < end {
        spin_until(clock, ns(clock) + PAUSE_NS);
        woken.store(0, Ordering::Release);
        let begin = ns(clock);
        write(1);
        calls.push(ns(clock) - begin);
        let at = loop {
            match woken.load(Ordering::Acquire) {
                0 => std::hint::spin_loop(),
                at => break at,
            }
        };
        taken.push(at - begin);
    }
    write(2);
    let _ = sleeper.join();
    // SAFETY: ours, and the thread that read it is gone.
    unsafe { libc::close(fd) };
    Ok(format!("{}, {}", quantiles("wake", taken), quantiles("wake_call", calls)))
}

/// From the call that sends to the receive stamp, and to when a program that spins has the frame.
fn stamps(clock: &Clock, seconds: f64, out: &str, inn: &str, netns: &str) -> Result<String, PortError> {
    let mut sender = open(&ExternalSpec::new(out))?;
    let mut receiver =
        open(&ExternalSpec { netns: Some(netns.into()), promiscuous: true, ..ExternalSpec::new(inn) })?;
    let mut bytes = [0; 60];
    bytes[..14].copy_from_slice(&[2, 0, 0, 0, 0, 0x99, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    let (mut stamp, mut seen, mut got) = (Vec::new(), Vec::new(), Vec::new());
    let end = ns(clock) + (seconds * 1e9) as u64;
    for number in 0u64.. {
        if ns(clock) > end {
            break;
        }
        bytes[16..24].copy_from_slice(&number.to_be_bytes());
        let mut queue = VecDeque::from([base::Frame::from_bytes(&bytes)]);
        spin_until(clock, ns(clock) + PAUSE_NS);
        let begin = ns(clock);
        sender.send(&mut queue)?;
        let frame = loop {
            receiver.receive(clock, &mut got, 1)?;
            if let Some(frame) = got.pop().filter(|frame| frame.to_vec() == bytes) {
                break frame;
            }
            if ns(clock) > begin + 1_000_000_000 {
                return Err(PortError::Gone { name: inn.to_string() });
            }
        };
        seen.push(ns(clock) - begin);
        stamp.push(frame.arrived().map_or(0, |time| (time.0 / 1000).saturating_sub(begin)));
    }
    Ok(format!("{}, {}", quantiles("stamp", stamp), quantiles("seen", seen)))
}

fn run() -> Result<String, String> {
    let seconds: f64 =
        option("--seconds").map_or(Ok(2.0), |text| text.parse()).map_err(|e| format!("--seconds: {e}"))?;
    let processors = thread::available_parallelism().map_or(1, |count| count.get());
    pin(processors - 1).map_err(|error| error.to_string())?;
    let clock = Clock::new();
    let mut parts = vec![look(&clock), sleeper(&clock, seconds), spinner(&clock, seconds)];
    if processors > 1 {
        parts.push(waker(&clock, seconds).map_err(|error| error.to_string())?);
    }
    if let [Some(out), Some(inn), Some(netns)] = ["--out", "--in", "--in-netns"].map(option) {
        parts.push(stamps(&clock, seconds, &out, &inn, &netns).map_err(|error| error.to_string())?);
    }
    Ok(format!("{{{}}}", parts.join(", ")))
}

fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}

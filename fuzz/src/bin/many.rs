//! Gives a target as many changed inputs as asked for, and counts them: without looking at which code they reach, but
//! many times as fast. `many CORPUS TARGET COUNT [FIRST]`
//!
//! An input is one of the corpus (`seeds CORPUS` writes it) with some bytes changed, or bytes drawn at random; the same
//! number is always the same input. Each format of `formats` has COUNT of its own. A finding is written to
//! `artifacts/many-TARGET-NUMBER`, said in one line, and ends the program with exit code 1.

use base::Streams;
use base::random::Stream;
use rand::RngExt;
use std::fs;
use std::panic::catch_unwind;
use std::process::ExitCode;
use twinplane_fuzz::{FORMATS, capture, formats, router, rsvp, speakers, switch, tree};

/// Bytes of an input, at most.
const MOST: usize = 4_096;
/// What was done is said each time that so many inputs are over.
const SAID: u64 = 1_000_000;
/// One input of so many is drawn as a whole.
const DRAWN: u32 = 16;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 7] = [
    ("tree", tree),
    ("formats", formats),
    ("rsvp", rsvp),
    ("capture", capture),
    ("router", router),
    ("speakers", speakers),
    ("switch", switch),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [corpus, name, rest @ ..] = &arguments[..] else { return usage() };
    let number = |place: usize| rest.get(place).map(|text| text.parse::<u64>().ok());
    let (Some(Some(count)), Some(first)) = (number(0), number(1).unwrap_or(Some(1))) else { return usage() };
    let Some((_, target)) = TARGETS.into_iter().find(|(known, _)| known == name) else { return usage() };
    let seeds = match read(&format!("{corpus}/{name}")) {
        Ok(seeds) if !seeds.is_empty() => seeds,
        Ok(_) => return wrong(&format!("{corpus}/{name} is empty: `seeds {corpus}` writes inputs there")),
        Err(error) => {
            return wrong(&format!("{corpus}/{name}: {error}: `seeds {corpus}` writes inputs there"));
        }
    };
    // What failed is said once, in the line of the finding.
    std::panic::set_hook(Box::new(|_| {}));
    let parts: Vec<Option<u8>> =
        if *name == "formats" { (0..FORMATS).map(Some).collect() } else { vec![None] };
    for part in parts {
        let of_part: Vec<&[u8]> = seeds
            .iter()
            .map(|seed| &seed[..])
            .filter(|seed| part.is_none_or(|part| seed.first().is_some_and(|first| first % FORMATS == part)))
            .collect();
        let what = part.map_or_else(|| name.clone(), |part| format!("{name} {part}"));
        for number in first..first.saturating_add(count) {
            let input = input(&what, number, &of_part, part);
            let shown = input.clone();
            if let Err(why) = catch_unwind(move || target(&input)) {
                let words = why.downcast_ref::<String>().map(String::as_str);
                let words = words.or_else(|| why.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
                let file = format!("artifacts/many-{}-{number}", what.replace(' ', "-"));
                let line = words.lines().next().unwrap_or_default();
                return match fs::create_dir_all("artifacts").and_then(|()| fs::write(&file, shown)) {
                    Ok(()) => fail(&format!("{what}: input {number} ({file}): {line}")),
                    Err(error) => fail(&format!("{what}: input {number} (not written: {error}): {line}")),
                };
            }
            let done = number - first + 1;
            if done.is_multiple_of(SAID) && done < count {
                eprintln!("{what}: {done} inputs");
            }
        }
        println!("{what}: {count} inputs, nothing found");
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    wrong(&format!("many CORPUS TARGET COUNT [FIRST]; targets are {}", names.join(", ")))
}

/// Of what was given, and not of what was found.
fn wrong(words: &str) -> ExitCode {
    eprintln!("{words}");
    ExitCode::from(2)
}

/// Of a finding.
fn fail(words: &str) -> ExitCode {
    eprintln!("{words}");
    ExitCode::FAILURE
}

fn read(folder: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut files: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    files.into_iter().map(fs::read).collect()
}

/// The input of a number: one of the seeds with one to eight changes, or bytes drawn at random.
fn input(what: &str, number: u64, seeds: &[&[u8]], part: Option<u8>) -> Vec<u8> {
    let mut random = Streams::new(number).stream(what);
    let drawn = random.random_ratio(1, DRAWN) || seeds.is_empty();
    let mut input = if drawn {
        let len = random.random_range(1..=MOST / 8);
        (0..len).map(|_| random.random()).collect()
    } else {
        let mut input = seeds[random.random_range(0..seeds.len())].to_vec();
        for _ in 0..random.random_range(1..=8) {
            change(&mut input, &mut random);
        }
        input
    };
    input.truncate(MOST);
    match (part, input.first_mut()) {
        (Some(part), Some(first)) => *first = part,
        (Some(part), None) => input.push(part),
        (None, _) => {}
    }
    input
}

fn change(input: &mut Vec<u8>, random: &mut Stream) {
    if input.is_empty() {
        return input.push(random.random());
    }
    let at = random.random_range(0..input.len());
    let end = (at + random.random_range(1..=16)).min(input.len());
    match random.random_range(0..8) {
        0 => input[at] ^= 1 << random.random_range(0..8),
        1 => input[at] = random.random(),
        2 => input[at] = input[at].wrapping_add(random.random_range(1..=3)),
        3 => input[at] = [0, 1, 0x7f, 0x80, 0xff][random.random_range(0..5)],
        4 => drop(input.drain(at..end)),
        5 => {
            let again = input[at..end].to_vec();
            input.splice(at..at, again);
        }
        6 => input.truncate(at),
        _ => input.insert(at, random.random()),
    }
}

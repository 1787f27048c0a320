//! Writes the inputs that fuzzing starts from: the frames of a small network that does most of what there is. `seeds
//! DIRECTORY`

use std::fs;
use std::path::Path;
use tester::flood::corpus;

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).expect("seeds DIRECTORY");
    write(
        &directory,
        "capture",
        corpus::captures().iter().map(|file| file[..file.len().min(4_000)].to_vec()),
    )?;
    let frames = corpus::frames();
    write(&directory, "tree", frames.iter().cloned().chain(twinplane_fuzz::ipv6()))?;
    write(&directory, "formats", twinplane_fuzz::seeds())?;
    let message = |frame: &Vec<u8>| {
        let header = 14 + usize::from(frame.get(14)? & 15) * 4;
        frame.get(header..).filter(|_| frame[23] == 46).map(<[u8]>::to_vec)
    };
    write(&directory, "rsvp", frames.iter().filter_map(message))?;
    let chunk = |kind: u8, bytes: &[u8]| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4).min(1_020), 0);
        [&[kind, (padded.len() / 4) as u8], &padded[..]].concat()
    };
    let inputs = frames.iter().map(|frame| match message(frame) {
        Some(message) => chunk(7, &message),
        None => chunk(0, frame),
    });
    write(&directory, "router", inputs)?;
    write(&directory, "speakers", (1..64).map(edits))?;
    // As bytes of the stream that they are, from the controller of their version; a frame between them.
    let said = twinplane_fuzz::openflow_messages().into_iter().filter(|message| message.len() < 256);
    let frame = frames.first().map_or_else(Vec::new, |frame| frame[..frame.len().min(255)].to_vec());
    let inputs = said.map(|message| {
        let from = u8::from(message[0] == 1);
        [&[from, message.len() as u8], &message[..], &[2, frame.len() as u8], &frame].concat()
    });
    write(&directory, "switch", inputs)
}

/// Edits of what two speakers say, drawn by a multiplicative generator: more of them the larger the number is.
fn edits(number: u32) -> Vec<u8> {
    let mut state = number;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..=5 * number).map(|_| byte()).collect()
}

fn write(directory: &str, target: &str, inputs: impl IntoIterator<Item = Vec<u8>>) -> std::io::Result<()> {
    let folder = Path::new(directory).join(target);
    fs::create_dir_all(&folder)?;
    for (number, input) in inputs.into_iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:03}")), input)?;
    }
    Ok(())
}

//! The command line.

use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::PathBuf;

/// The text of `--help`, which names every argument and the exit codes.
pub const HELP: &str = "\
twinplane-router: one router of a network, on real interfaces

  --node NAME      which node of the description it is
  --config FILE    JSON: {\"description\": …, \"placement\": …}
  --socket PATH    control socket (owner only): one JSON object per line
  --record FILE    write down what the router is given, to be replayed in virtual time
  --cpu N          run on this core only
  --busy           never sleep
  --ready-fd N     write a line to this file descriptor when it runs (standard output by default)
  --version        print the version

It ends on SIGTERM and SIGINT, with its files complete. Exit codes: 0 it was asked to end, 2 it can't do as asked,
70 a defect of its own.
";

/// How the program was called.
#[derive(Debug, Default, PartialEq)]
pub struct Arguments {
    /// Name of the node in the description that this process is.
    pub node: String,
    /// The file that describes the network.
    pub config: PathBuf,
    /// The control socket, if there is to be one.
    pub socket: Option<PathBuf>,
    /// The recording, if there is to be one.
    pub record: Option<PathBuf>,
    /// The only core to run on.
    pub cpu: Option<usize>,
    /// Look for frames all the time in place of sleeping: shorter delays, for a whole processor.
    pub busy: bool,
    /// Where to say that it runs.
    pub ready: Option<RawFd>,
}

/// What is asked for.
#[derive(Debug, PartialEq)]
pub enum Asked {
    /// To run a router.
    Run(Box<Arguments>),
    /// To print this text (help or version) and end with exit code 0.
    Print(String),
}

/// Reads the command line, without the program's name.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let mut found = Arguments::default();
    let (mut node, mut config) = (None, None);
    let mut words = words;
    while let Some(word) = words.next() {
        let word = word.into_string().map_err(|word| format!("{}: not text", word.display()))?;
        let (name, mut inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (word.as_str(), None),
        };
        let mut value = || inline.take().or_else(|| words.next()).ok_or(format!("{name}: a value is needed"));
        match name {
            "--node" => node = Some(text(name, value()?)?),
            "--config" => config = Some(PathBuf::from(value()?)),
            "--socket" => found.socket = Some(value()?.into()),
            "--record" => found.record = Some(value()?.into()),
            "--cpu" => found.cpu = Some(number(name, value()?)?),
            "--ready-fd" => found.ready = Some(number(name, value()?)?),
            "--busy" => found.busy = true,
            "-h" | "--help" => return Ok(Asked::Print(HELP.into())),
            "--version" => {
                return Ok(Asked::Print(format!("twinplane-router {}\n", env!("CARGO_PKG_VERSION"))));
            }
            _ => return Err(format!("'{word}': no such option (--help lists them)")),
        }
        if inline.is_some() {
            return Err(format!("{name}: takes no value"));
        }
    }
    found.node = node.ok_or("--node is needed: which node of the description this is")?;
    found.config = config.ok_or("--config is needed: the file that describes the network")?;
    Ok(Asked::Run(Box::new(found)))
}

fn text(name: &str, value: OsString) -> Result<String, String> {
    value.into_string().map_err(|value| format!("{name} {}: not text", value.display()))
}

fn number<T: std::str::FromStr>(name: &str, value: OsString) -> Result<T, String> {
    let value = text(name, value)?;
    value.parse().map_err(|_| format!("{name} {value}: a number is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options() {
        let asked = parsed("--node pe1 --config=a.json --socket s --cpu 3 --busy --ready-fd 5");
        let expected = Arguments {
            node: "pe1".into(),
            config: "a.json".into(),
            socket: Some("s".into()),
            record: None,
            cpu: Some(3),
            busy: true,
            ready: Some(5),
        };
        assert_eq!(asked, Ok(Asked::Run(Box::new(expected))));
        assert!(matches!(parsed("--busy --help"), Ok(Asked::Print(_))));
    }

    #[test]
    fn mistakes() {
        for (line, sentence) in [
            ("", "--node is needed: which node of the description this is"),
            ("--node a", "--config is needed: the file that describes the network"),
            ("--node", "--node: a value is needed"),
            ("--nod a", "'--nod': no such option (--help lists them)"),
            ("--cpu x", "--cpu x: a number is needed"),
            ("--busy=1", "--busy: takes no value"),
        ] {
            assert_eq!(parsed(line), Err(sentence.to_string()), "{line}");
        }
    }
}

//! The time for which a certificate is. The library says it only of certificates that it verifies, and neither the
//! switch's own nor one that is trusted as it stands is among them.

use rustls::CertificateError;
use rustls::pki_types::{CertificateDer, UnixTime};

/// Tags of DER.
const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The version of a certificate, which one of version 1 leaves out.
const VERSION: u8 = 0xa0;

/// Is the certificate over, or not yet valid? Nothing if it is valid.
pub(crate) fn problem(certificate: &CertificateDer<'_>, now: UnixTime) -> Option<CertificateError> {
    let Some((from, until)) = validity(certificate) else { return Some(CertificateError::BadEncoding) };
    if now.as_secs() < from {
        return Some(CertificateError::NotValidYet);
    }
    (now.as_secs() > until).then_some(CertificateError::Expired)
}

/// From when and until when a certificate is valid, in seconds since 1970.
fn validity(certificate: &[u8]) -> Option<(u64, u64)> {
    let (whole, _) = element(certificate, SEQUENCE)?;
    let (mut rest, _) = element(whole, SEQUENCE)?;
    if rest.first() == Some(&VERSION) {
        rest = element(rest, VERSION)?.1;
    }
    // Serial number, algorithm of the signature, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        rest = element(rest, tag)?.1;
    }
    let (times, _) = element(rest, SEQUENCE)?;
    let (from, rest) = time(times)?;
    let (until, _) = time(rest)?;
    Some((from, until))
}

/// The contents of an element with this tag, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (len, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (len.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    (found == tag).then(|| rest.split_at_checked(len)).flatten()
}

/// A time in seconds since 1970, and what follows it. Times before 1970 count as that.
fn time(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let tag = *bytes.first()?;
    let (text, rest) = element(bytes, tag)?;
    let digits = text.strip_suffix(b"Z")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |part: &[u8]| part.iter().fold(0, |sum, &digit| sum * 10 + u64::from(digit - b'0'));
    let (year, parts) = match tag {
        // Two digits of the year are those of 1950 to 2049.
        UTC_TIME => {
            let (year, parts) = digits.split_at_checked(2)?;
            (if number(year) < 50 { 2000 } else { 1900 } + number(year), parts)
        }
        GENERALIZED_TIME => {
            let (year, parts) = digits.split_at_checked(4)?;
            (number(year), parts)
        }
        _ => return None,
    };
    let [month, day, hour, minute, second] =
        [0, 2, 4, 6, 8].map(|at| parts.get(at..at + 2).map_or(0, number));
    if parts.len() != 10 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let seconds = (days_since_1970(year, month, day) * 24 + hour) * 60;
    Some(((seconds + minute) * 60 + second, rest))
}

fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // Years begin in March, so that the day that leap years have more is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    /// Days from 1 March of year 0 to 1 January 1970, and the one that days are counted from.
    const UNTIL_1970: u64 = 719_469;
    days.saturating_sub(UNTIL_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let utc =
            |text: &str| time(&[&[UTC_TIME, text.len() as u8], text.as_bytes()].concat()).map(|told| told.0);
        let long = |text: &str| {
            time(&[&[GENERALIZED_TIME, text.len() as u8], text.as_bytes()].concat()).map(|told| told.0)
        };
        assert_eq!(utc("700101000000Z"), Some(0));
        assert_eq!(utc("000301123456Z"), Some(951_914_096));
        assert_eq!(utc("491231235959Z"), Some(2_524_607_999));
        assert_eq!(long("20500101000000Z"), Some(2_524_608_000));
        assert_eq!(long("19600101000000Z"), Some(0));
        for wrong in
            ["", "Z", "7001010000Z", "701301000000Z", "700100000000Z", "7001010000000", "70010100000xZ"]
        {
            assert_eq!(utc(wrong), None, "{wrong}");
        }
        assert_eq!(validity(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x30]), None);
    }
}

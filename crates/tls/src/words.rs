//! What went wrong, in words for people. "It" is the other end.

use rustls::{AlertDescription, CertificateError, Error, OtherError};

/// Why a connection is over.
pub(crate) fn why(error: &Error, is_set_up: bool) -> String {
    match error {
        Error::InvalidCertificate(error) => wrong_certificate("its certificate", error),
        Error::NoCertificatesPresented => "it has shown no certificate".into(),
        Error::AlertReceived(alert) => refused(*alert),
        Error::InvalidMessage(_) | Error::InappropriateMessage { .. } if !is_set_up => {
            "what it says is not TLS".into()
        }
        Error::PeerIncompatible(what) => format!("it has no way of TLS in common with the switch ({what:?})"),
        other => format!("TLS has failed: {other}"),
    }
}

/// What is wrong with a certificate; `which` begins the sentence.
pub(crate) fn wrong_certificate(which: &str, error: &CertificateError) -> String {
    use CertificateError as Wrong;
    let what = match error {
        Wrong::UnknownIssuer => "is signed by none of the authorities in ca_cert",
        Wrong::BadSignature => "is not signed by the authority in ca_cert whose name it has",
        Wrong::Expired | Wrong::ExpiredContext { .. } => "has expired",
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => "is not valid yet",
        Wrong::InvalidPurpose | Wrong::InvalidPurposeContext { .. } => {
            "is for another use than this (extended key usage)"
        }
        Wrong::BadEncoding => "can't be read",
        Wrong::UnsupportedSignatureAlgorithmContext { .. }
        | Wrong::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "is signed in a way that is not supported, such as by SHA-1 or by RSA of less than 2048 bits"
        }
        Wrong::Other(OtherError(other)) => match other.downcast_ref() {
            Some(webpki::Error::CaUsedAsEndEntity) => {
                "is that of an authority (CA:TRUE), and not in ca_cert itself"
            }
            Some(webpki::Error::UnsupportedCertVersion) => "is of X.509 version 1, and version 3 is needed",
            _ => return format!("{which} is not accepted: {other}"),
        },
        other => return format!("{which} is not accepted: {other}"),
    };
    format!("{which} {what}")
}

/// What the other end has against the switch.
fn refused(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA => {
            "it does not know the authority that has signed the switch's certificate".into()
        }
        AlertDescription::CertificateExpired => "it says that the switch's certificate has expired".into(),
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateUnknown
        | AlertDescription::DecryptError
        | AlertDescription::AccessDenied => {
            format!("it does not accept the switch's certificate ({alert:?})")
        }
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            format!("it has no way of TLS in common with the switch ({alert:?})")
        }
        other => format!("it has ended TLS with alert {other:?}"),
    }
}

//! Key, certificate and authorities: what is in their files, and whether it belongs together.

use crate::peer::Peer;
use crate::validity;
use crate::words::wrong_certificate;
use base::diagnostic::os_words;
use rustls::crypto::ring::{default_provider, sign};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, Error, InconsistentKeys, RootCertStore, ServerConfig, client, server, version};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a file beyond which it holds neither a key nor certificates.
const FILE_MAX: u64 = 1 << 20;

/// What a switch shows its controllers, and knows them by.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) server: Arc<ServerConfig>,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which of the settings names it: `private_key`, `certificate` or `ca_cert`.
    pub setting: &'static str,
    /// The file and what is wrong, as one sentence.
    pub words: String,
}

impl Credentials {
    /// Reads files in PEM form. The first certificate is the switch's own.
    pub fn read(private_key: &Path, certificate: &Path, ca_cert: &Path) -> Result<Credentials, Fault> {
        let fault = |setting, path: &Path, words: &str| Fault {
            setting,
            words: format!("{}: {words}", path.display()),
        };
        let key = read_file(private_key).and_then(|text| key_of(&text));
        let key = key.map_err(|words| fault("private_key", private_key, &words))?;
        let chain = read_file(certificate).and_then(|text| certificates(&text));
        let chain = chain.map_err(|words| fault("certificate", certificate, &words))?;
        let trusted = read_file(ca_cert).and_then(|text| certificates(&text));
        let trusted = trusted.map_err(|words| fault("ca_cert", ca_cert, &words))?;

        let key = sign::any_supported_type(&key).map_err(|_| {
            let words = "a key of this kind is not supported: RSA of 2048 to 8192 bits, ECDSA (P-256, P-384) or Ed25519";
            fault("private_key", private_key, words)
        })?;
        let own = CertifiedKey::new(chain, key);
        match own.keys_match() {
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                let words =
                    format!("this key does not belong to the certificate in {}", certificate.display());
                return Err(fault("private_key", private_key, &words));
            }
            Err(Error::InvalidCertificate(error)) => {
                return Err(fault(
                    "certificate",
                    certificate,
                    &wrong_certificate("this certificate", &error),
                ));
            }
            _ => {}
        }
        let wrong = own.cert.first().and_then(|own| validity::problem(own, UnixTime::now()));
        if let Some(error) = wrong {
            return Err(fault("certificate", certificate, &wrong_certificate("this certificate", &error)));
        }
        let mut roots = RootCertStore::empty();
        for one in &trusted {
            let added = roots.add(one.clone());
            added.map_err(|_| fault("ca_cert", ca_cert, "a certificate in it can't be read"))?;
        }
        let peer = Peer::new(roots, trusted);
        let peer = peer.map_err(|error| fault("ca_cert", ca_cert, &error.to_string()))?;
        Credentials::new(Arc::new(own), Arc::new(peer))
            .map_err(|error| fault("certificate", certificate, &error.to_string()))
    }

    /// Sessions are never taken up again: whoever comes back is verified anew.
    pub(crate) fn new(own: Arc<CertifiedKey>, peer: Arc<Peer>) -> Result<Credentials, Error> {
        let versions = [&version::TLS13, &version::TLS12];
        let own = Arc::new(SingleCertAndKey::from(own));
        let client = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let client = client.with_protocol_versions(&versions)?.dangerous();
        let client = client.with_custom_certificate_verifier(peer.clone());
        let mut client = client.with_client_cert_resolver(own.clone());
        client.resumption = client::Resumption::disabled();
        client.enable_sni = false;
        let server = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let server = server.with_protocol_versions(&versions)?;
        let mut server = server.with_client_cert_verifier(peer).with_cert_resolver(own);
        server.session_storage = Arc::new(server::NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        Ok(Credentials { client: Arc::new(client), server: Arc::new(server) })
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("it cannot be read: {}", os_words(&error));
    // What is no file may never end, or never begin.
    let found = std::fs::metadata(path).map_err(cannot)?;
    if !found.is_file() || found.len() > FILE_MAX {
        return Err("it is no PEM file".into());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_MAX).read_to_end(&mut bytes)).map_err(cannot)?;
    Ok(bytes)
}

fn key_of(text: &[u8]) -> Result<PrivateKeyDer<'static>, String> {
    let is_there = |words: &[u8]| text.windows(words.len()).any(|part| part == words);
    PrivateKeyDer::from_pem_slice(text).map_err(|_| {
        if is_there(b"ENCRYPTED") {
            "the key is encrypted: 'openssl pkey -in FILE -out OTHER' writes it without a passphrase".into()
        } else if is_there(b"PRIVATE KEY-----") {
            "the private key in it is damaged".into()
        } else {
            "there is no private key in PEM form in it".into()
        }
    })
}

/// All certificates of a file, at least one.
fn certificates(text: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if found.is_empty() => Err("there is no certificate in PEM form in it".into()),
        Ok(found) => Ok(found),
        Err(_) => Err("a certificate in it is damaged".into()),
    }
}

//! Who is accepted at the other end: whose certificate an authority of `ca_cert` has signed. As with Open vSwitch,
//! names in certificates are not compared with addresses.

use crate::validity;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring::default_provider;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, VerifierBuilderError, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// Verifies the other end, at both ends of a connection.
#[derive(Debug)]
pub(crate) struct Peer {
    roots: Arc<RootCertStore>,
    /// The certificates of `ca_cert` themselves. A controller may show one of them: one that signed itself.
    trusted: Vec<CertificateDer<'static>>,
    clients: Arc<dyn ClientCertVerifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Peer {
    pub(crate) fn new(
        roots: RootCertStore,
        trusted: Vec<CertificateDer<'static>>,
    ) -> Result<Peer, VerifierBuilderError> {
        let (roots, provider) = (Arc::new(roots), Arc::new(default_provider()));
        let algorithms = provider.signature_verification_algorithms;
        let clients = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider).build()?;
        Ok(Peer { roots, trusted, clients, algorithms })
    }

    /// Is this one of the certificates that are trusted? It is an error if its time is over. That the other end has
    /// its key shows the signature of the handshake.
    fn is_trusted(&self, shown: &CertificateDer<'_>, now: UnixTime) -> Result<bool, Error> {
        if !self.trusted.iter().any(|known| known == shown) {
            return Ok(false);
        }
        match validity::problem(shown, now) {
            Some(error) => Err(Error::InvalidCertificate(error)),
            None => Ok(true),
        }
    }
}

/// Both traits of the library ask the same of signatures: that they are good by the key of the certificate.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls12_signature(message, certificate, signed, &self.algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            verify_tls13_signature(message, certificate, signed, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Peer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self.is_trusted(end_entity, now)? {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            let all = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(&parsed, &self.roots, intermediates, now, all)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Peer {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.clients.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.is_trusted(end_entity, now)? {
            return Ok(ClientCertVerified::assertion());
        }
        self.clients.verify_client_cert(end_entity, intermediates, now)
    }

    signatures!();
}

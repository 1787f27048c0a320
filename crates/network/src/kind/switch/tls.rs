//! What users write of TLS between a switch and its controllers.

use node::switch::TlsFiles;

base::record! {
    /// Files in PEM form by which a switch and its controllers know each other over TLS, named as by Open vSwitch.
    /// In a network file a path begins at the folder of that file.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TlsSpec {
        /// The private key of the switch: RSA of 2048 bits or more, ECDSA (P-256, P-384) or Ed25519, not encrypted.
        pub private_key: String;
        /// The certificate of the switch; those of authorities between it and the one that controllers know may follow.
        pub certificate: String;
        /// Certificates of authorities, one of which has to have signed the certificate of each controller.
        pub ca_cert: String;
    }
}

impl TlsSpec {
    /// The same as a switch takes it.
    pub fn lowered(&self) -> TlsFiles {
        let (private_key, certificate) = (self.private_key.clone(), self.certificate.clone());
        TlsFiles { private_key, certificate, ca_cert: self.ca_cert.clone() }
    }
}

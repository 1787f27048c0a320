#!/bin/sh
# Makes the keys and certificates of this folder anew, by OpenSSL 3, as ovs-pki makes them: two authorities, and what
# they have signed. They are for tests alone: everybody has these keys.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f ./*.pem
cat >"$work/ca.cnf" <<END
[ca]
default_ca = it
[it]
database = $work/index
new_certs_dir = $work
serial = $work/serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:true
[end]
basicConstraints = CA:false
[client]
basicConstraints = CA:false
extendedKeyUsage = clientAuth
END
: >"$work/index"
echo 01 >"$work/serial"
key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1-key.pem"; }
# NAME AUTHORITY [EXTENSIONS [FROM UNTIL]]
signed() {
  openssl req -new -key "$1-key.pem" -subj "/CN=$1" -config /dev/null -out "$work/$1.csr"
  openssl ca -batch -notext -config "$work/ca.cnf" -extensions "${3:-end}" -startdate "${4:-20200101000000Z}" \
    -enddate "${5:-21200101000000Z}" -keyfile "$2-key.pem" -cert "$2-cert.pem" -in "$work/$1.csr" -out "$1-cert.pem"
}
authority() {
  key "$1"
  openssl req -new -key "$1-key.pem" -subj "/CN=$1" -config /dev/null -out "$work/$1.csr"
  openssl ca -batch -notext -config "$work/ca.cnf" -extensions authority -startdate 20200101000000Z \
    -enddate 21200101000000Z -selfsign -keyfile "$1-key.pem" -in "$work/$1.csr" -out "$1-cert.pem"
}
authority ca
authority other-ca
key switch && signed switch ca
openssl genrsa 2048 | openssl pkcs8 -topk8 -nocrypt -out controller-key.pem && signed controller ca
key stranger && signed stranger other-ca
key expired && signed expired ca end 20200101000000Z 20210101000000Z
key future && signed future ca end 21190101000000Z
key client && signed client ca client
# One that vouches for itself, and one without extensions, which is of version 1.
authority alone
key old
openssl req -new -key old-key.pem -subj /CN=old -config /dev/null -out "$work/old.csr"
openssl x509 -req -in "$work/old.csr" -CA ca-cert.pem -CAkey ca-key.pem -set_serial 99 -days 36000 -out old-cert.pem
openssl pkcs8 -topk8 -in switch-key.pem -passout pass:secret -out encrypted-key.pem
openssl ecparam -name secp521r1 -genkey -noout -out unsupported-key.pem
rm other-ca-key.pem ca-key.pem

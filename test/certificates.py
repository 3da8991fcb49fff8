#!/usr/bin/env python3
"""Certificates for tests, made by openssl in a folder: `certificates.py FOLDER`.  EC keys, because they are quick.

    ca.pem other-ca.pem           two authorities; only the first signs what follows
    server.pem server.key         for localhost and node.example
    address.pem address.key       for the common name 127.0.0.1
    client.pem client.key         a peer that is known
    stranger.pem stranger.key     signed by the other authority, for localhost
    expired.pem expired.key       for localhost, yesterday
    both.pem                      server.pem and server.key in one file
    revoked.pem                   ca.pem and a list that revokes server.pem
"""
import os
import subprocess
import sys

CONFIGURATION = """
[ca]
default_ca = ours
[ours]
database = {folder}/index
serial = {folder}/serial
crlnumber = {folder}/crlnumber
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
default_md = sha256
default_days = 2
default_crl_days = 2
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
prompt = no
[name]
CN = nobody
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
[names]
subjectAltName = {names}
"""


def openssl(*words):
    done = subprocess.run(["openssl", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"openssl {words[0]}: {done.stdout.decode()}")


class Maker:
    def __init__(self, folder):
        self.folder = folder
        for name, text in (("index", ""), ("serial", "1000\n"), ("crlnumber", "1000\n")):
            self.write(name, text)
        self.configuration("DNS:nobody")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, *texts):
        with open(self.path(name), "w") as file:
            file.write("".join(texts))

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def configuration(self, names):
        self.write("openssl.cnf", CONFIGURATION.format(folder=self.folder, names=names))

    def key(self, name):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.path(name + ".key"))

    def authority(self, name):
        self.key(name)
        openssl("req", "-x509", "-new", "-key", self.path(name + ".key"), "-subj", f"/CN={name}", "-days", "2",
                "-config", self.path("openssl.cnf"), "-extensions", "authority", "-out", self.path(name + ".pem"))

    def sign(self, name, common, *more, names=None, by="ca"):
        self.key(name)
        self.configuration(names or "DNS:nobody")
        request = ["req", "-new", "-key", self.path(name + ".key"), "-subj", f"/CN={common}", "-config",
                   self.path("openssl.cnf"), "-out", self.path(name + ".csr")]
        openssl(*request, *(["-reqexts", "names"] if names else []))
        openssl("ca", "-batch", "-notext", "-config", self.path("openssl.cnf"), "-cert", self.path(by + ".pem"),
                "-keyfile", self.path(by + ".key"), "-in", self.path(name + ".csr"), "-out",
                self.path(name + ".pem"), *more)

    def make(self):
        self.authority("ca")
        self.authority("other-ca")
        self.sign("server", "localhost", names="DNS:localhost,DNS:node.example")
        self.sign("address", "127.0.0.1")
        self.sign("client", "a-client")
        self.sign("stranger", "localhost", names="DNS:localhost", by="other-ca")
        self.sign("expired", "localhost", "-startdate", "20200101000000Z", "-enddate", "20200102000000Z",
                  names="DNS:localhost")
        self.write("both.pem", self.read("server.pem"), self.read("server.key"))
        openssl("ca", "-config", self.path("openssl.cnf"), "-revoke", self.path("server.pem"))
        openssl("ca", "-config", self.path("openssl.cnf"), "-gencrl", "-out", self.path("list.pem"))
        self.write("revoked.pem", self.read("ca.pem"), self.read("list.pem"))


def make(folder):
    Maker(folder).make()


if __name__ == "__main__":
    make(sys.argv[1])

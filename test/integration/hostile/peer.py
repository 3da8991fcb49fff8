"""A peer by hand: plain sockets, frames and records, with no manners but those a case gives it.  The packer is the
one of the test vectors, which shares nothing with the library.
"""
import os
import socket
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../vectors"))
sys.path.insert(0, os.path.join(HERE, "../faults"))
sys.path.insert(0, os.path.join(HERE, "../.."))
from make_vectors import KINDS, record  # noqa: E402
from world import LIMIT, check, connect_to  # noqa: E402

CLIENT, WORKER, ADMIN = 1, 2, 3
HELLO, DATA, PING = 1, 2, 3
NAMES = {number: (name, {key: field for field, key in keys.items()}) for name, (number, keys) in KINDS.items()}


# ---- reading msgpack -------------------------------------------------------------------------------------

SIZED = {0xc4: (1, "bin"), 0xc5: (2, "bin"), 0xc6: (4, "bin"), 0xd9: (1, "str"), 0xda: (2, "str"), 0xdb: (4, "str"),
         0xdc: (2, "array"), 0xdd: (4, "array"), 0xde: (2, "map"), 0xdf: (4, "map")}
NUMBERS = {0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: ">b", 0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}


def head_of(data, at):
    """What stands at `at`: a kind, its value or count, and where the rest begins."""
    tag = data[at]
    if tag <= 0x7f or tag >= 0xe0:
        return "number", tag if tag <= 0x7f else tag - 256, at + 1
    if tag in NUMBERS:
        size = struct.calcsize(NUMBERS[tag])
        return "number", struct.unpack_from(NUMBERS[tag], data, at + 1)[0], at + 1 + size
    if tag in SIZED:
        width, kind = SIZED[tag]
        return kind, int.from_bytes(data[at + 1:at + 1 + width], "big"), at + 1 + width
    if tag <= 0xbf:
        kind, mask = ("map", 15) if tag <= 0x8f else ("array", 15) if tag <= 0x9f else ("str", 31)
        return kind, tag & mask, at + 1
    return "number", {0xc0: None, 0xc2: False, 0xc3: True}[tag], at + 1


def unpack(data, at):
    """One value, and where the next begins."""
    kind, value, at = head_of(data, at)
    if kind == "number":
        return value, at
    if kind in ("bin", "str"):
        return data[at:at + value], at + value
    items = []
    for _ in range(value * (2 if kind == "map" else 1)):
        item, at = unpack(data, at)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if kind == "map" else items), at


# ---- frames ----------------------------------------------------------------------------------------------


def frame(kind, *records, seq=1, ack=0, count=None, length=None, grants=(1000, 1 << 20)):
    body = b"".join(records)
    return struct.pack("<IBBHIIII", length or 24 + len(body), kind, 0, len(records) if count is None else count, seq,
                       ack, *grants) + body


class Peer:
    """A link to the scheduler at url; `greet` says a proper hello and waits for the answer."""

    def __init__(self, url):
        self.socket = connect_to(url)
        self.socket.settimeout(LIMIT)
        self.seq = self.heard = 0
        self.pending = b""
        self.records = []
        self.ended = False

    def raw(self, data):
        """True while the other side takes it."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def send(self, *records, kind=DATA):
        self.seq += 1
        self.last = frame(kind, *records, seq=self.seq, ack=self.heard)
        return self.raw(self.last)

    def say(self, name, **fields):
        return self.send(record(name, fields))

    def hello(self, role, number, **more):
        fields = dict(version_min=1, version_max=1, role=role, id=number, incarnation=1, name=b"raw".decode(), **more)
        if role == WORKER:
            fields = dict(dict(slots=1, free_slots=1), **fields)
        return self.send(record("HELLO", fields), kind=HELLO)

    def greet(self, role, number, **more):
        self.hello(role, number, **more)
        name, fields = self.next()
        check(name == "WELCOME", "no welcome, but", name, fields)
        self.epoch = fields["epoch"]
        return self

    def take(self):
        """One more frame's records; False at the end."""
        while len(self.pending) < 4 or len(self.pending) < struct.unpack_from("<I", self.pending)[0]:
            try:
                data = self.socket.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                self.ended = True
                return False
            self.pending += data
        length, kind, _, count, self.heard = struct.unpack_from("<IBBHI", self.pending)
        at = 24
        for _ in range(count):
            (number, fields), at = unpack(self.pending, at)
            name, keys = NAMES[number]
            self.records.append((name, {keys[key]: value for key, value in fields.items()}))
        self.pending = self.pending[length:]
        if kind == PING:
            self.send()
        return True

    def next(self, *names):
        """The next record, or the next of these names; (None, {}) at the end."""
        while True:
            while self.records:
                name, fields = self.records.pop(0)
                if not names or name in names:
                    return name, fields
            if not self.take():
                return None, {}

    def refused(self):
        """Waits for the end; gives the goodbye's words, empty when there was none."""
        name, fields = self.next("BYE")
        while not self.ended:
            self.take()
        return fields.get("why", b"").decode()

    def close(self):
        self.socket.close()

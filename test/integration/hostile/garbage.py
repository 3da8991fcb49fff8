"""Garbage as fast as it goes: `garbage.py URL [fresh|greeted]` connects, says nonsense until it is hung up on, and
connects again, until its stdin ends; then prints how many links and bytes that were.  `greeted` says a proper hello
first, and its nonsense within the frames of a peer that was let in.
"""
import json
import os
import select
import sys

from peer import CLIENT, Peer, frame

NOISE = os.urandom(65536)
FAR = 1 << 20


def flood(url, greeted, tally):
    peer = Peer(url)
    if greeted:
        peer.greet(CLIENT, int.from_bytes(os.urandom(7), "big") + 1)
        peer.raw(frame(2, NOISE[:4000], seq=2))
    sent = 0
    while sent < FAR and peer.raw(NOISE):
        sent += len(NOISE)
    peer.close()
    tally["links"] += 1
    tally["bytes"] += sent


def main():
    url, greeted = sys.argv[1], sys.argv[2:] == ["greeted"]
    tally = {"links": 0, "bytes": 0, "failed": 0}
    while not select.select([sys.stdin], [], [], 0)[0]:
        try:
            flood(url, greeted, tally)
        except Exception:  # refused, reset, hung up on: all of it is as it should be
            tally["failed"] += 1
    print(json.dumps(tally))


if __name__ == "__main__":
    main()

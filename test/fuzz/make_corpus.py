#!/usr/bin/env python3
"""Writes the seeds under corpus/ from test/vectors/records.txt, and a few frames, bodies and amounts."""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
BODIES = {
    'no_args': '80',
    'three_args': '810193c40161c400c403626262',
    'a_command': '860107027f03c4012f04c402696e0592c4027368c4026c730692c403413d31c4014e',
    'true': '810591c40474727565',
    'a_key_of_tomorrow': '8201907f81a16bc0',
}
AMOUNTS = {
    'people': ' cpu=8, gpu=0.5,linux ,mem=64G',
    'canonical': 'cpu=8000,gpu=2000,linux,mem=68719476736000',
    'the_most': 'a=9007199254740992,b=0.008P',
    'failures': '1,70-79,-5--3,timeout,signal,limit,not_started',
}


def records():
    name = data = None
    with open(os.path.join(HERE, '..', 'vectors', 'records.txt'), encoding='ascii') as lines:
        for line in lines:
            verb, _, rest = line.strip().partition(' ')
            if verb in ('record', 'accept', 'skip', 'refuse'):
                name, data = rest, b''
            elif verb == 'packed':
                data += bytes.fromhex(rest)
            elif not verb and name:
                yield name, data
                name = None
    if name:
        yield name, data


def frame(kind, data, count, seq):
    return struct.pack('<IBBHIIII', 24 + len(data), kind, 0, count, seq, 0, 8, 64) + data


def save(corpus, name, data):
    folder = os.path.join(HERE, 'corpus', corpus)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'wb') as out:
        out.write(data)


def main():
    seeds = dict(records())
    for name, data in seeds.items():
        save('any', name, data)
        if data[:1] == b'\x92' and data[1] < 0x80:
            save('map', name, data[2:])
    hello = frame(1, seeds['a_worker_hello_with_everything'], 1, 1)
    talk = [seeds[name] for name in ('an_assign', 'a_started', 'an_output', 'a_done_with_everything')]
    save('frame', 'a_hello', hello)
    save('frame', 'a_hello_then_data_then_a_ping', hello + frame(2, b''.join(talk), len(talk), 2) + frame(3, b'', 0, 3))
    save('frame', 'a_bare_ack', frame(2, b'', 0, 9))
    for name, data in BODIES.items():
        save('body', name, bytes.fromhex(data))
    for name, text in AMOUNTS.items():
        save('amounts', name, text.encode())


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Writes records.txt beside itself: test vectors of doc/protocol.md, from a packer of its own.

The file is checked in; a test reads it.  Run this again only when the protocol grows, and look at the difference.
"""
import os
import struct

TASK = {'client': 1, 'sequence': 2}
RUN = dict(TASK, run=3)
SPEC = {'kind': 10, 'flags': 11, 'priority': 12, 'retries': 13, 'timeout_ms': 14, 'function': 15, 'body': 16,
        'plan': 17}
OUTCOME = {'reason': 10, 'how': 11, 'code': 12, 'wall_us': 13, 'user_us': 14, 'sys_us': 15, 'peak_kib': 16,
           'streamed': 17, 'result': 18, 'errors': 19, 'text': 20}
KINDS = {
    'HELLO': (1, {'magic': 1, 'version_min': 2, 'version_max': 3, 'features': 4, 'role': 5, 'id': 6, 'incarnation': 7,
                  'epoch': 8, 'slots': 9, 'free_slots': 10, 'token': 11, 'name': 12, 'tenant': 13, 'functions': 14,
                  'holds': 15, 'weight': 16, 'running_max': 17, 'offers': 18}),
    'WELCOME': (2, {'magic': 1, 'version': 2, 'features': 3, 'id': 4, 'epoch': 5, 'known_up_to': 6, 'silent_ms': 7,
                    'name': 8, 'tasks_most': 9, 'kib_most': 10}),
    'BYE': (3, {'status': 1, 'why': 2}),
    'SUBMIT': (16, dict(TASK, **SPEC)),
    'CANCEL': (17, dict(TASK, force=3)),
    'WANT': (18, {'tasks': 1, 'kib': 2, 'least_tasks': 3, 'least_kib': 4}),
    'CANCEL_MANY': (19, {'ticket': 1, 'client': 2, 'up_to': 3, 'force': 4, 'tag': 5}),
    'DRAIN': (20, {'ticket': 1, 'worker': 2, 'deadline_ms': 3}),
    'RESULT': (32, dict(TASK, attempts=3, losses=4, worker=5, root=6, root_reason=7, **OUTCOME)),
    'CONFIRM': (33, dict(TASK, outcome=3)),
    'CONFIRM_MANY': (34, {'ticket': 1, 'count': 2, 'status': 3}),
    'GRAPH_DONE': (35, dict(TASK, succeeded=3, failed=4, cancelled=5, skipped=6, root=7, root_reason=8, reason=10)),
    'DRAINED': (36, {name: key for key, name in enumerate(
        'ticket worker status finished returned released lost took_ms name'.split(), 1)}),
    'ASSIGN': (48, dict(RUN, attempt=4, **SPEC)),
    'STOP': (49, dict(RUN, force=4)),
    'RECALL': (50, RUN),
    'KEEP': (51, dict(RUN, held_epoch=4, held_run=5)),
    'DROP': (52, dict(RUN, held_epoch=4, held_run=5)),
    'LEAVE': (53, {'deadline_ms': 1}),
    'STARTED': (64, RUN),
    'DONE': (65, dict(RUN, **OUTCOME)),
    'RETURNED': (66, dict(RUN, released=4)),
    'WAITING': (67, RUN),
    'RESUMED': (68, RUN),
    'OUTPUT': (72, dict(RUN, stream=4, offset=5, bytes=6)),
    'OUTPUT_ACK': (73, dict(RUN, received=4, limit=5, again=6)),
    'QUERY': (80, {name: key for key, name in enumerate(
        'ticket what cursor rows_max client sequence worker states stages first last newest tag'.split(), 1)}),
    'STATUS_ROW': (81, {name: key for key, name in enumerate(
        'ticket epoch uptime_ms clients workers admins links tasks_waiting tasks_ready tasks_assigned '
        'tasks_ended_unacked orphans slots_total slots_busy tasks_submitted tasks_done tasks_failed tasks_cancelled '
        'runs_lost runs_kept stale_dropped bytes_used bytes_max tasks_max version tasks_kept'.split(), 1)}),
    'WORKER_ROW': (82, {name: key for key, name in enumerate(
        'ticket worker slots credit assigned started functions done failed lost connected_ms name '
        'draining'.split(), 1)}),
    'CLIENT_ROW': (83, {name: key for key, name in enumerate(
        'ticket client connected tasks grant_tasks submitted connected_ms name tenant'.split(), 1)}),
    'TASK_ROW': (84, dict(TASK, ticket=3, state=4, kind=5, attempt=6, losses=7, worker=8, age_ms=9, function=10, stage=11,
                           tag=12)),
    'QUERY_END': (85, {'ticket': 1, 'next': 2, 'status': 3}),
    'TASK_WHY': (86, dict(TASK, **{name: key for key, name in enumerate(
        'ticket state stage kind why reason since_ms age_ms until_ms number attempt losses attempts priority worker text '
        'worker_name function needs tag tenant'.split(), 3)})),
    'ATTEMPT_ROW': (87, {name: key for key, name in enumerate(
        'ticket attempt worker began_ms ended_ms reason how code wall_us user_us sys_us peak_kib worker_name '
        'text'.split(), 1)}),
    'WORKER_WHY': (88, {name: key for key, name in enumerate(
        'ticket worker why slots credit assigned started held functions done failed lost connected_ms name text offers '
        'used'.split(), 1)}),
}
PLAN = {'not_before_ms': 1, 'queue_ms': 2, 'deadline_ms': 3, 'backoff_ms': 4, 'backoff_max_ms': 5, 'needs': 6, 'tag': 7,
        'retry_on': 8, 'after': 9, 'results': 10, 'nodes': 11, 'graph': 12, 'graph_flags': 13, 'root': 14,
        'root_reason': 15, 'parent': 16, 'parent_run': 17, 'key': 18}
HOLD = {'client': 1, 'sequence': 2, 'run': 3, 'epoch': 4, 'flags': 5}


def head(count, fix, fix_max, *wide):
    """The head of a counted thing: `wide` holds (largest count, tag, struct format)."""
    if count <= fix_max:
        return bytes([fix | count])
    for largest, tag, form in wide:
        if count <= largest:
            return bytes([tag]) + struct.pack(form, count)
    raise ValueError(count)


def pack(value):
    """The shortest msgpack form of a value."""
    if value is True or value is False:
        return b'\xc3' if value else b'\xc2'
    if isinstance(value, int) and value >= 0:
        return head(value, 0, 0x7f, (0xff, 0xcc, '>B'), (0xffff, 0xcd, '>H'), (2**32 - 1, 0xce, '>I'),
                    (2**64 - 1, 0xcf, '>Q'))
    if isinstance(value, int):
        for smallest, tag, form in ((-32, None, '>b'), (-128, 0xd0, '>b'), (-2**15, 0xd1, '>h'), (-2**31, 0xd2, '>i')):
            if value >= smallest:
                return (bytes([tag]) if tag else b'') + struct.pack(form, value)
    if isinstance(value, str):
        text = value.encode()
        return head(len(text), 0xa0, 31, (0xff, 0xd9, '>B'), (0xffff, 0xda, '>H'), (2**32 - 1, 0xdb, '>I')) + text
    if isinstance(value, bytes):
        return head(len(value), 0, -1, (0xff, 0xc4, '>B'), (0xffff, 0xc5, '>H'), (2**32 - 1, 0xc6, '>I')) + value
    if isinstance(value, list):
        return head(len(value), 0x90, 15, (0xffff, 0xdc, '>H'), (2**32 - 1, 0xdd, '>I')) + b''.join(map(pack, value))
    if isinstance(value, dict):
        return head(len(value), 0x80, 15, (0xffff, 0xde, '>H'), (2**32 - 1, 0xdf, '>I')) + b''.join(
            pack(key) + pack(each) for key, each in sorted(value.items()))
    raise TypeError(value)


def keyed(fields, keys):
    return {keys[name]: value for name, value in fields.items() if value}


def record(kind, fields):
    number, keys = KINDS[kind]
    fields = dict(fields)
    if kind in ('HELLO', 'WELCOME'):
        fields['magic'] = 'scaler'
    if 'holds' in fields:
        fields['holds'] = [keyed(hold, HOLD) for hold in fields['holds']]
    if 'plan' in fields:
        fields['plan'] = keyed(fields['plan'], PLAN)
    return pack([number, keyed(fields, keys)])


def shown(value):
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, bytes):
        return '<' + value.hex() + '>'
    return '"' + value + '"' if isinstance(value, str) else str(value)


def lines_of(fields):
    for name, value in fields.items():
        for each in value if isinstance(value, list) else [value]:
            if name == 'plan':
                for part, of in each.items():
                    yield from ('plan ' + part + ' ' + shown(one) for one in (of if isinstance(of, list) else [of]))
            elif isinstance(each, dict):
                yield 'holds ' + ' '.join(str(each[part]) for part in HOLD)
            else:
                yield name + ' ' + shown(each)


def hex_lines(data):
    return ['packed ' + data[i:i + 32].hex(' ') for i in range(0, len(data), 32)]


def paragraph(verb, name, lines):
    return '\n'.join([verb + ' ' + name] + list(lines)) + '\n'


def good(label, of, verb='record', data=None, /, **fields):
    data = data if data is not None else record(of, fields)
    return paragraph(verb, label, ['is ' + of] + list(lines_of(fields)) + hex_lines(data))


def bad(name, data, why):
    return paragraph('refuse', name, hex_lines(data) + ['says ' + why])


C, W, E = 0x1122334455667788, 0x8877665544332211, 0xfedcba9876543210
T = {'client': C, 'sequence': 300}
R = dict(T, run=70000)
HOLDS = [{'client': C, 'sequence': 7, 'run': 9, 'epoch': E, 'flags': 1},
         {'client': C, 'sequence': 8, 'run': 10, 'epoch': E, 'flags': 0}]
ENDED = {'reason': 1, 'how': 1, 'code': -3, 'wall_us': 128, 'user_us': 256, 'sys_us': 65536, 'peak_kib': 2**32,
         'streamed': 5, 'result': b'\x00\xff', 'errors': b'oops', 'text': 'exit code 3'}


PLANNED = {'not_before_ms': 1500, 'queue_ms': 70000, 'deadline_ms': 2**40, 'backoff_ms': 100, 'backoff_max_ms': 2**32 - 1,
           'needs': 'gpu=1000,mem=2147483648000', 'tag': 'nightly', 'retry_on': '1,70-79,-5--3,timeout,signal', 'key': 'order 4711'}


def vectors():
    yield good('the_smallest_client_hello', 'HELLO', version_min=1, version_max=1, role=1, id=C, incarnation=1)
    yield good('a_worker_hello_with_everything', 'HELLO', version_min=1, version_max=3, features=5, role=2, id=W,
               incarnation=2, epoch=E, slots=4, free_slots=3, token=b'secret', name='w1', tenant='team',
               functions=['square', 'sum'], holds=HOLDS)
    yield good('a_client_hello_with_its_share', 'HELLO', version_min=1, version_max=1, role=1, id=C, incarnation=1,
               tenant='team', weight=1000000, running_max=256)
    yield good('a_worker_hello_that_offers_amounts', 'HELLO', version_min=1, version_max=1, role=2, id=W, incarnation=1,
               slots=8, free_slots=8, offers='cpu=8000,gpu=2000,linux,mem=68719476736000')
    yield good('a_welcome', 'WELCOME', version=1, id=77, epoch=E, known_up_to=299, silent_ms=10000, name='sched')
    yield good('an_empty_bye', 'BYE')
    yield good('a_bye_with_words', 'BYE', status=-12, why='a key comes twice')
    yield good('the_smallest_submit', 'SUBMIT', **T)
    yield good('a_submit_of_a_function', 'SUBMIT', **T, priority=-1, function='square', body=bytes.fromhex('810191c40107'))
    yield good('a_submit_of_a_command', 'SUBMIT', **T, kind=1, flags=3, priority=-1000, retries=2, timeout_ms=60000,
               body=bytes.fromhex('810591c40474727565'))
    yield good('a_submit_with_a_name_of_32_bytes', 'SUBMIT', **T, function='f' * 32)
    yield good('a_submit_with_a_body_of_256_bytes', 'SUBMIT', **T, function='f', body=bytes(range(256)))
    yield good('a_submit_with_a_plan', 'SUBMIT', **T, function='f', plan={'deadline_ms': 60000, 'needs': 'gpu=1000'})
    yield good('a_submit_with_everything_in_its_plan', 'SUBMIT', **T, retries=3, function='f', body=b'\x80', plan=PLANNED)
    yield good('a_submit_of_a_graph', 'SUBMIT', **T, kind=2, plan={'nodes': 4, 'graph_flags': 2, 'tag': 'nightly'})
    yield good('a_submit_of_a_node', 'SUBMIT', client=1, sequence=5, function='f', body=b'\x81\x01\x92\xc0\xc0',
               plan={'after': (3 | 1 << 63).to_bytes(8, 'little') + (3 << 62).to_bytes(8, 'little')
                     + (4).to_bytes(8, 'little'), 'results': [b'known'], 'graph': 2, 'graph_flags': 1})
    yield good('a_submit_whose_dependency_has_failed', 'SUBMIT', client=1, sequence=9, function='f',
               plan={'after': (4 | 1 << 62).to_bytes(8, 'little'), 'root': 4, 'root_reason': 1})
    yield good('a_submit_of_a_nested_task', 'SUBMIT', **T, function='f',
               plan={'parent': (7).to_bytes(8, 'little') + (9).to_bytes(8, 'little'), 'parent_run': 5})
    yield good('a_submit_with_a_plan_of_tomorrow', 'SUBMIT', 'accept',
               bytes.fromhex('92108301010202118303053f92c0807ec3'), client=1, sequence=2, plan={'deadline_ms': 5})
    yield good('a_submit_with_an_empty_plan', 'SUBMIT', 'accept', bytes.fromhex('921083010102021180'), client=1, sequence=2)
    yield bad('needs_in_the_wrong_order', bytes.fromhex('92108301010202118106a3') + b'b,a',
              'amounts are not in their canonical form')
    yield bad('a_list_of_failures_with_a_gap', bytes.fromhex('92108301010202118108a4') + b'1,,2',
              'a list of failures to try again after is not one')
    yield bad('a_priority_above_a_thousand', bytes.fromhex('921083010102020ccd03e9'), 'a number is out of range')
    yield good('a_forced_cancel', 'CANCEL', **T, force=True)
    yield good('an_empty_want', 'WANT')
    yield good('a_want', 'WANT', tasks=1000, kib=65535)
    yield good('a_want_of_all_or_nothing', 'WANT', tasks=2048, kib=64, least_tasks=1001, least_kib=40)
    yield good('a_small_result', 'RESULT', **T, attempts=1, worker=W, result=b'\x31')
    yield good('a_result_with_all_sixteen_fields', 'RESULT', **T, attempts=3, losses=2, worker=W, **ENDED)
    yield good('a_result_that_was_another_tasks_doing', 'RESULT', **T, root=1, root_reason=1, reason=6, text='no')
    yield good('a_graph_done', 'GRAPH_DONE', **T, succeeded=7, failed=1, cancelled=2, skipped=3, root=5, root_reason=1,
               reason=6)
    yield good('a_confirm', 'CONFIRM', **T, outcome=2)
    yield good('a_cancel_of_all', 'CANCEL_MANY')
    yield good('a_cancel_of_many', 'CANCEL_MANY', ticket=1, client=C, up_to=300, force=True, tag='night')
    yield good('a_confirm_of_many', 'CONFIRM_MANY', ticket=1, count=1000000, status=-6)
    yield good('an_assign', 'ASSIGN', **R, attempt=1, function='square', body=bytes.fromhex('810191c40107'))
    yield good('an_assign_with_inputs', 'ASSIGN', **R, attempt=1, function='f', body=b'\x81\x01\x93\xc0\xc4\x01a\xc0',
               plan={'results': [b'first', b'']})
    yield good('an_assign_with_needs', 'ASSIGN', **R, attempt=2, function='f', plan={'needs': 'cpu=2000,gpu=500,linux'})
    yield good('a_stop', 'STOP', **R, force=True)
    yield good('a_recall', 'RECALL', **R)
    yield good('a_keep', 'KEEP', **R, held_epoch=E, held_run=9)
    yield good('a_drop_of_an_unknown_run', 'DROP', **T, held_epoch=E, held_run=9)
    yield good('a_started', 'STARTED', **R)
    yield good('the_smallest_done', 'DONE', **R)
    yield good('a_done_with_everything', 'DONE', **R, **ENDED)
    yield good('a_returned', 'RETURNED', **R)
    yield good('a_waiting', 'WAITING', **R)
    yield good('a_resumed', 'RESUMED', **R)
    yield good('a_released_run', 'RETURNED', **R, released=True)
    yield good('a_drain_of_the_scheduler', 'DRAIN')
    yield good('a_drain', 'DRAIN', ticket=1, worker=W, deadline_ms=30000)
    yield good('a_drained', 'DRAINED', ticket=1, worker=W, status=-11, finished=3, returned=2, released=1, lost=4,
               took_ms=1234, name='w1')
    yield good('a_leave', 'LEAVE')
    yield good('a_leave_with_a_deadline', 'LEAVE', deadline_ms=30000)
    yield good('an_output', 'OUTPUT', **R, stream=2, offset=4096, bytes=b'hello\n')
    yield good('an_output_ack', 'OUTPUT_ACK', **R, received=4102, limit=266240, again=True)
    yield good('a_query', 'QUERY', ticket=1, what=2, cursor=5, rows_max=256)
    yield good('a_query_of_some_tasks', 'QUERY', ticket=1, what=4, rows_max=256, client=C, states=3, stages=68, first=5,
               last=900, newest=True, tag='night')
    yield good('a_query_why', 'QUERY', ticket=1, what=5, rows_max=1, client=C, sequence=7)
    yield good('a_query_of_a_worker', 'QUERY', ticket=1, what=6, rows_max=1, worker=W)
    yield good('a_full_status_row', 'STATUS_ROW', **{name: key * 1000 for name, key in KINDS['STATUS_ROW'][1].items()
                                                    if name != 'version'}, version='0.1.0')
    yield good('a_worker_row', 'WORKER_ROW', ticket=1, worker=W, slots=4, name='w1')
    yield good('a_row_of_a_worker_that_leaves', 'WORKER_ROW', ticket=1, worker=W, slots=4, name='w1', draining=True)
    yield good('a_client_row', 'CLIENT_ROW', ticket=1, client=C, connected=True, name='c1', tenant='team')
    yield good('a_task_row', 'TASK_ROW', **T, ticket=1, state=1, attempt=1, worker=W, age_ms=12, function='square',
               stage=3, tag='night')
    yield good('why_a_task', 'TASK_WHY', **T, ticket=1, state=1, stage=3, kind=1, why=20, reason=2, since_ms=1200,
               age_ms=3400, until_ms=1, number=2, attempt=2, losses=1, attempts=1, priority=-5, worker=W,
               text="It has been running at worker 'w1' for 1.2 s.", worker_name='w1', function='square',
               needs='gpu=0.5', tag='night', tenant='team')
    yield good('an_attempt', 'ATTEMPT_ROW', ticket=1, attempt=1, worker=W, began_ms=5000, ended_ms=4000, reason=1, how=1,
               code=3, wall_us=1000000, user_us=9, sys_us=8, peak_kib=7, worker_name='w1', text='exit code 3')
    yield good('why_a_worker', 'WORKER_WHY', ticket=1, worker=W, why=7, slots=4, credit=5, assigned=3, started=2, held=1,
               functions=6, done=10, failed=9, lost=8, connected_ms=7, name='w1', text='Nothing is ready.',
               offers='cpu=4,gpu=2', used='cpu=1')
    yield good('a_query_end', 'QUERY_END', ticket=1, next=5, status=-6)
    yield good('keys_in_any_order', 'WANT', 'accept', bytes.fromhex('921282020501cc06'), tasks=6, kib=5)
    yield good('integers_of_any_width', 'WANT', 'accept',
               bytes.fromhex('dc0002cd0012de0001d30000000000000001cf0000000000000006'), tasks=6)
    yield good('defaults_that_were_sent', 'CANCEL', 'accept', bytes.fromhex('92118301010202 03c2'), client=1, sequence=2)
    yield good('an_unknown_key', 'WANT', 'accept', bytes.fromhex('921282010663929081a16bc0'), tasks=6)
    yield paragraph('skip', 'an_unknown_optional_kind', hex_lines(bytes.fromhex('92cc80810193c0c2ca00000000')))
    yield bad('an_unknown_required_kind', bytes.fromhex('920480'), 'the kind of a record is unknown')
    yield bad('a_doubled_key', bytes.fromhex('92128201050105'), 'a key comes twice')
    yield bad('a_record_of_three', bytes.fromhex('93128000'), 'a record is not an array of two')
    yield bad('a_missing_sequence', bytes.fromhex('9211810105'), 'a required field is missing')
    yield bad('text_where_bytes_belong', bytes.fromhex('9210830101020210a178'), 'a value has the wrong type')
    yield bad('an_outcome_out_of_range', bytes.fromhex('92218301010202 0303'), 'a number is out of range')
    yield bad('a_cut_record', bytes.fromhex('92128101cd00'), 'a value is cut short')
    yield bad('another_magic', bytes.fromhex('92018101a66f74686572210a'), 'the magic is not that of this protocol')
    yield bad('seventeen_arrays_in_one_another', bytes.fromhex('92128109' + '91' * 17 + 'c0'),
              'values are nested too deep')


PREAMBLE = """# Test vectors of doc/protocol.md, one paragraph each.
#   record NAME   packing the fields gives exactly these bytes, and unpacking these bytes gives the fields
#   accept NAME   unpacking gives the fields; a packer would have written it otherwise
#   skip NAME     a record that a receiver passes over
#   refuse NAME   a record that closes the connection; `says` is what this implementation says
# `is` names the kind.  A field is its name and a number, true, "text" or <hexadecimal bytes>; what is not named is zero
# or empty.  `functions` and `holds` come once per element; a hold is client, sequence, run, epoch, flags.  `plan` is a
# field of the plan, with its value.  The magic is not named.  `packed` lines are its bytes, one after the other.
"""


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'records.txt')
    with open(path, 'w', encoding='ascii') as out:
        out.write(PREAMBLE + '\n' + '\n'.join(vectors()))


if __name__ == '__main__':
    main()

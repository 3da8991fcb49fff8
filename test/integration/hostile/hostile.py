"""Hostile peers against a scheduler with real workers and clients: garbage, lengths and nesting that lie, forged ids and
runs, replays, messages that a role may not send, half-open links in thousands.  After each the scheduler serves as
before, with no more descriptors and memory than before.  `hostile.py [WORD]` runs the cases whose names contain WORD.
"""
import resource
import struct
import subprocess
import sys
import threading
import time

from peer import ADMIN, CLIENT, DATA, HELLO, PING, WORKER, Peer, frame
from make_vectors import KINDS, record
import certificates
from world import AWAKE, BUILD, ENVIRONMENT, LIMIT, SLOW, Case, Runner, check, connect_to, descriptors, equal, json, os, read, until

MIB = 1 << 20
AT_ONCE = 4  # seconds: less than a hello may take, and than silence does
BENCH_TASKS = 300000
DENIED, PROTOCOL = -17, -12
NOT_FOUND = 2
GARBAGE = [sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "garbage.py")]


def resident(pid):
    return next(int(line.split()[1]) * 1024 for line in read(f"/proc/{pid}/status").splitlines()
                if line.startswith("VmRSS"))


class Site:
    """A scheduler and a worker that have worked, and what they hold when nothing goes on."""

    def __init__(self, case, kind, *args):
        self.case = case
        self.scheduler = case.scheduler(kind, *args)
        self.url = self.scheduler.url
        self.worker = case.worker(self.url, "-j2")
        self.works(300)
        for _ in range(3):
            Peer(self.url).greet(CLIENT, 5).close()
        case.sees(self.url, clients=0, workers=1)
        self.descriptors = descriptors(self.scheduler.pid)
        self.memory = resident(self.scheduler.pid)

    def works(self, count=50):
        for answer in self.case.load(self.url, f"call:{count}:nothing:x").finished():
            equal((answer["reason"], answer["output"]), ("success", "done"), answer)

    def is_well(self, growth=4 * MIB):
        """It serves, and is no bigger than it was; under sanitizers freed memory is kept back."""
        self.works()
        check(self.scheduler.popen.poll() is None and self.worker.popen.poll() is None, "somebody fell over it")
        until(lambda: descriptors(self.scheduler.pid) <= self.descriptors, "the descriptors are what they were")
        if SLOW == 1:
            until(lambda: resident(self.scheduler.pid) <= self.memory + growth, "the memory is what it was")

    def status(self, name):
        return self.case.status(self.url)[name]

    def peer(self):
        return Peer(self.url)


def closed(peer, what, within=LIMIT):
    """The scheduler ends the link, in time."""
    began = AWAKE.seconds
    try:
        peer.refused()
        check(AWAKE.seconds - began < within, "it took", AWAKE.seconds - began, "seconds to close after", what)
    except TimeoutError:
        check(False, "still there after", what)
    finally:
        peer.close()


# ---- before the hello -------------------------------------------------------------------------------------


def lengths_that_lie_end_their_link_and_take_no_memory(case, kind):
    site = Site(case, kind)
    for length in (0xffffffff, 0x80000000, 4 * MIB + 1, 23, 0):
        peer = site.peer()
        peer.raw(struct.pack("<IBBHIIII", length, HELLO, 0, 1, 1, 0, 0, 0))
        closed(peer, f"a length of {length}", AT_ONCE)
        peer = site.peer().greet(CLIENT, 77)
        peer.raw(struct.pack("<IBBHIIII", length, DATA, 0, 1, 2, 0, 0, 0) + bytes(100))
        closed(peer, f"a later length of {length}", AT_ONCE)
    held = [site.peer() for _ in range(64)]
    for peer in held:  # 256 MiB in all are announced, and 64 bytes come
        peer.raw(struct.pack("<IBBHIIII", 4 * MIB, HELLO, 0, 1, 1, 0, 0, 0) + bytes(40))
    site.works()
    if SLOW == 1:
        check(resident(site.scheduler.pid) < site.memory + 8 * MIB, "announced bytes are held")
    for peer in held:
        peer.close()
    site.is_well()


def nesting_of_a_hundred_thousand_ends_its_link(case, kind):
    site = Site(case, kind)
    deep = 100000
    shapes = (b"\x91" * deep + b"\xc0", b"\x81\x01" * deep + b"\xc0", b"\x92\x01" * deep + b"\xc0",
              b"\x92\x01\x81\x0f" + b"\x91" * deep + b"\xc0", b"\x92\x01\x81\x7f" + b"\x91" * deep + b"\xc0",
              b"\xdd\xff\xff\xff\xff" * 1000, b"\xdf\xff\xff\xff\xff" * 1000)
    for shape in shapes:
        peer = site.peer()
        peer.raw(frame(HELLO, shape))
        closed(peer, f"{shape[:4].hex()} in the hello", AT_ONCE)
        peer = site.peer().greet(WORKER, 78)
        peer.raw(frame(DATA, b"\x92\x41\x81\x7f" + shape, seq=2))
        peer.raw(frame(DATA, shape, seq=3))
        closed(peer, f"{shape[:4].hex()} in a record", AT_ONCE)
    site.is_well()


def a_hello_byte_by_byte_has_five_seconds(case, kind):
    site = Site(case, kind)
    hello = frame(HELLO, record("HELLO", dict(version_min=1, version_max=1, role=CLIENT, id=9, incarnation=1)))
    peers, began = [site.peer() for _ in range(20)], AWAKE.seconds
    ended = {}
    for at in range(len(hello)):
        for number, peer in enumerate(peers):
            if number not in ended and not peer.raw(hello[at:at + 1]):
                ended[number] = AWAKE.seconds - began
        if len(ended) == len(peers) or AWAKE.seconds - began > 8 * SLOW:
            break
        time.sleep(0.3)  # the slowness is the case
    equal(len(ended), len(peers), "slow ones that were cut off")
    check(4 < min(ended.values()), "cut off too early", ended)
    for peer in peers:
        peer.close()
    site.is_well()


def ten_thousand_half_open_hellos_leave_nothing(case, kind):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65536), hard))
    site = Site(case, kind)
    load = case.load(site.url, "call:2000:nap:1").submitted()
    half = frame(HELLO, record("HELLO", dict(version_min=1, version_max=1, role=CLIENT, id=9, incarnation=1)))[:40]
    held, made, most = [], 0, 0
    while made < 10000:
        peer = site.peer()
        peer.raw(half)
        held.append(peer)
        made += 1
        if len(held) == 500:
            most = max(most, descriptors(site.scheduler.pid))
            for old in held[:400]:
                old.close()
            held = held[400:]
    check(most <= site.descriptors + 600, "descriptors held:", most)
    answers = load.finished()
    check(all(answer["reason"] == "success" for answer in answers), "a task of those who were in")
    for peer in held:
        peer.close()
    site.is_well(growth=8 * MIB)
    case.note(f"at most {most} descriptors at once")


def a_wrong_token_is_denied_whatever_it_looks_like(case, kind):
    secret = case.path("token")
    with open(secret, "w") as file:
        file.write("open sesame\n")
    url = case.scheduler(kind, "--token-file", secret).url
    for role in (CLIENT, WORKER, ADMIN):
        for token in (b"", b"open", b"open sesame!", b"Open sesame", b"\0" * 1024, b"open sesame\0"):
            peer = Peer(url)
            peer.hello(role, 8, **({"token": token} if token else {}))
            name, fields = peer.next("BYE", "WELCOME")
            equal((name, fields.get("status")), ("BYE", DENIED), token)
            peer.close()
        peer = Peer(url).greet(role, 8, token=b"open sesame")
        peer.close()


# ---- after it -----------------------------------------------------------------------------------------------

MAY = {CLIENT: "BYE SUBMIT CANCEL CANCEL_MANY WANT OUTPUT_ACK QUERY",
       WORKER: "BYE STARTED DONE RETURNED WAITING RESUMED OUTPUT LEAVE",
       ADMIN: "BYE CANCEL CANCEL_MANY QUERY DRAIN"}
TASK = dict(client=1234, sequence=1)
SAMPLES = {"WELCOME": dict(version=1, id=1, epoch=1), "BYE": {}, "WANT": dict(tasks=1), "QUERY": dict(ticket=1, what=1),
           "HELLO": dict(version_min=1, version_max=1, role=CLIENT, id=3, incarnation=1), "QUERY_END": dict(ticket=1),
           "STATUS_ROW": dict(ticket=1), "WORKER_ROW": dict(ticket=1), "CLIENT_ROW": dict(ticket=1),
           "TASK_ROW": dict(TASK, ticket=1), "TASK_WHY": TASK, "ATTEMPT_ROW": dict(ticket=1), "WORKER_WHY": dict(ticket=1),
           "CANCEL": TASK, "CONFIRM": TASK, "CANCEL_MANY": {}, "CONFIRM_MANY": {},
           "RESULT": TASK, "GRAPH_DONE": TASK, "DRAIN": dict(ticket=1, worker=5), "DRAINED": dict(ticket=1), "LEAVE": {},
           "SUBMIT": dict(TASK, kind=1, body=b"\x90")}


def a_message_that_a_role_may_not_send_ends_its_link(case, kind):
    site = Site(case, kind)
    tried = 0
    for role, names in MAY.items():
        for name in KINDS:
            if name in names.split():
                continue
            peer = site.peer().greet(role, 500 + tried)
            peer.say(name, **SAMPLES.get(name, dict(TASK, run=1)))
            closed(peer, f"{name} of role {role}", AT_ONCE)
            tried += 1
    for role in (0, 4, 5, 200):
        peer = site.peer()
        peer.hello(role, 900)
        closed(peer, f"a hello of role {role}", AT_ONCE)
    case.sees(site.url, workers=1)
    site.is_well()
    case.note(f"{tried} pairs of role and message")


def a_client_sees_no_task_and_no_client_but_its_own(case, kind):
    site = Site(case, kind)
    load = case.load(site.url, "call:2:nap:2000").submitted()
    until(lambda: case.ctl(site.url, "list"), "there are tasks")
    peer, seen = site.peer().greet(CLIENT, 600), []
    for what in (3, 4):
        peer.say("QUERY", ticket=what, what=what, rows_max=200)
        name, fields = peer.next()
        while name != "QUERY_END":
            check(name, "the link ended")
            seen.append((name, fields["client"]))
            name, fields = peer.next()
    equal(seen, [("CLIENT_ROW", 600)], "what it sees")
    peer.close()
    load.finished()


def nobody_cancels_the_tasks_of_another(case, kind):
    site = Site(case, kind)
    load = case.load(site.url, "call:20:nap:200").submitted()
    tasks = until(lambda: [row["id"] for row in case.ctl(site.url, "list")], "there are tasks")
    client = int(tasks[0][:16], 16)
    peer = site.peer().greet(CLIENT, 601)
    for sequence in range(1, 30):
        for force in (False, True):
            if not peer.say("CANCEL", client=client, sequence=sequence, force=force):
                break
    name, fields = peer.next("CONFIRM", "BYE")
    check(name != "CONFIRM" or fields.get("outcome") == NOT_FOUND, "the answer was", name, fields)
    check(all(answer["reason"] == "success" for answer in load.finished()), "a task was cancelled")
    peer.close()
    equal(site.status("tasks_cancelled"), 0, "cancelled tasks")
    site.is_well()


def reports_of_runs_that_a_worker_does_not_hold_are_not_heard(case, kind):
    site = Site(case, kind)
    load = case.load(site.url, "call:8:nap:600").submitted()
    tasks = until(lambda: [row["id"] for row in case.ctl(site.url, "list")], "there are tasks")
    client, before = int(tasks[0][:16], 16), site.status("stale_dropped")
    peer = site.peer().greet(WORKER, 602, free_slots=0)
    told = 0
    for sequence in range(1, 9):
        for run in (*range(295, 325), 1, 2**64 - 1):
            run = dict(client=client, sequence=sequence, run=run)
            peer.say("DONE", **run, result=b"forged")
            peer.say("STARTED", **run)
            peer.say("RETURNED", **run)
            peer.say("WAITING", **run)
            peer.say("RESUMED", **run)
            peer.say("OUTPUT", **run, stream=1, bytes=b"forged")
            told += 6
    until(lambda: site.status("stale_dropped") > before or not peer.raw(b""), "they are dropped and counted")
    for answer in load.finished():
        equal((answer["reason"], answer["output"], answer["attempts"]), ("success", "good", 1), answer)
    peer.close()
    case.note(f"{told} forged reports, {site.status('stale_dropped') - before} dropped as stale")
    case.sees(site.url, workers=1)
    site.is_well()


def run_of(assign):
    return {name: assign[name] for name in ("client", "sequence", "run")}


def replayed_frames_and_stale_epochs_change_nothing(case, kind):
    url = case.scheduler(kind).url
    load = case.load(url, "call:3:nothing:x")
    peer = Peer(url).greet(WORKER, 603, functions=["nothing"])
    _, first = peer.next("ASSIGN")
    peer.say("DONE", **run_of(first), result=b"raw")
    until(lambda: case.status(url)["tasks_done"] >= 1, "the first is done")
    peer.raw(peer.last)  # the very bytes once more
    closed(peer, "a frame said twice", AT_ONCE)
    again = Peer(url).greet(WORKER, 603, functions=["nothing"])
    before = case.status(url)["stale_dropped"]
    again.say("DONE", **run_of(first), result=b"replayed")
    until(lambda: case.status(url)["stale_dropped"] > before, "the run of an old link is dropped")
    _, second = again.next("ASSIGN")
    check(second["run"] > first["run"], "a run's number was used again")
    again.close()
    held = dict(run_of(second), epoch=again.epoch ^ 1, flags=0)
    third = Peer(url).greet(WORKER, 603, functions=["nothing"], free_slots=0, holds=[held])
    name, fields = third.next("DROP", "KEEP")
    third.say("DONE", **run_of(second), result=b"of another epoch")
    third.close()
    worker = case.worker(url, "-j2")
    answers = load.finished()
    equal([answer["output"] for answer in answers].count("raw"), 1, "answers of the raw worker")
    check(not any("replayed" in answer["output"] or "epoch" in answer["output"] for answer in answers), answers)
    case.note(f"a hold of another epoch is answered {name}")
    check(worker.popen.poll() is None, "the worker fell over it")
    case.clean_table(url)


def a_forged_client_id_costs_its_owner_a_link_and_no_task(case, kind):
    site = Site(case, kind)
    load = case.load(site.url, "call:30:nap:100").submitted()
    tasks = until(lambda: [row["id"] for row in case.ctl(site.url, "list")], "there are tasks")
    for _ in range(5):
        peer = site.peer()
        peer.hello(CLIENT, int(tasks[0][:16], 16))
        peer.next("WELCOME", "BYE")
        peer.close()
    check(all(answer["reason"] == "success" for answer in load.finished()), "a task was lost")
    site.is_well()


def garbage_among_the_frames_of_one_who_was_let_in_ends_its_link(case, kind):
    site = Site(case, kind)
    bits = (frame(DATA, b"\xc1", seq=2), frame(DATA, os.urandom(300), seq=2), frame(DATA, count=65535, seq=2),
            frame(9, seq=2), frame(HELLO, record("HELLO", SAMPLES["HELLO"]), seq=2), frame(DATA, seq=7),
            frame(PING, record("WANT", dict(tasks=1)), seq=2), frame(DATA, seq=2, ack=999))
    for bit in bits:
        peer = site.peer().greet(CLIENT, 604)
        peer.raw(bit)
        closed(peer, bit[:40].hex(), AT_ONCE)
    site.is_well()


# ---- garbage at line rate -------------------------------------------------------------------------------------


def rate_of(case, url, count):
    began = time.monotonic()
    case.load(url, f"call:{count}:nothing:x").finished()
    return count / (time.monotonic() - began)


def beside_garbage(case, url, how, count):
    """The rate, and what was thrown meanwhile."""
    flood = subprocess.Popen([*GARBAGE, url, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        beside = rate_of(case, url, count)
    finally:
        said, _ = flood.communicate(timeout=LIMIT)
    return beside, json.loads(said)


def real_clients_keep_their_rate_beside_garbage_at_line_rate(case, kind, how):
    site = Site(case, kind)
    count, pairs = 40000 // SLOW, []
    rate_of(case, site.url, count)
    case.sees(site.url, clients=0, tasks_unacknowledged=0)
    site.memory = resident(site.scheduler.pid)
    for _ in range(3):
        alone = rate_of(case, site.url, count)
        beside, tally = beside_garbage(case, site.url, how, count)
        pairs.append((beside / alone, tally))
    share = sorted(ratio for ratio, _ in pairs)[1]
    case.note(f"{share:.2f} of their rate; the last flood: {pairs[-1][1]}")
    check(share > 0.3, "the garbage took more than its share:", pairs)  # the bar is test/bench/run hostile-garbage
    check(all(tally["links"] > 0 for _, tally in pairs), "nobody threw anything")
    site.is_well(growth=8 * MIB)


# ---- TLS --------------------------------------------------------------------------------------------------------


def certificate(case, name):
    return ["--tls-cert", case.path(name + ".pem"), "--tls-key", case.path(name + ".key")]


def tool(name, *args, limit=LIMIT):
    """How a tool ends: its code and the lines on its stderr."""
    done = subprocess.run([os.path.join(BUILD, "tools", name), *map(str, args)], env=ENVIRONMENT, timeout=limit,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stderr.decode().splitlines()


def ends_with_words(case, words, name, *args):
    code, lines = tool(name, *args)
    check(code not in (0, None) and any(words in line for line in lines), name, args, "ended", code, lines)


def looks(case, url, words, *args):
    ends_with_words(case, words, "scaler-ctl", "--timeout=2", url, "status", *args)


def every_refusal_under_tls_is_told_at_both_ends(case):
    certificates.make(case.folder)
    ca, other = ["--tls-ca", case.path("ca.pem")], ["--tls-ca", case.path("other-ca.pem")]
    server = case.scheduler("tcp", *certificate(case, "server"), url="tls+tcp://localhost:0")
    url, plain = server.url, server.url.replace("tls+", "")
    equal(tool("scaler-ctl", url, "status", *ca), (0, []), "a look")
    not_accepted = "its certificate is not accepted"
    looks(case, url, not_accepted, *other)
    looks(case, url.replace("localhost", "127.0.0.1"), not_accepted, *ca)
    looks(case, url, not_accepted, "--tls-ca", case.path("revoked.pem"))
    looks(case, url, "give the CA to trust")
    looks(case, url, "no such file", "--tls-ca", case.path("none.pem"))
    looks(case, plain, "tls+tcp://")
    equal(tool("scaler-ctl", url, "status", "--tls-unverified"), (0, []), "a look that believes everybody")
    until(lambda: "no TLS came about" in read(server.log), "the scheduler says so")
    worker = case.start("scaler-worker", "stranger", url, *other)
    equal(worker.ends(), 1, "the worker's end")
    check(not_accepted in read(worker.log), read(worker.log))
    code, lines = tool("scaler-run", "-s", url, *other, "echo", ":::", "a")
    check(code != 0 and not_accepted in "".join(lines), "scaler-run ended", code, lines)


def expired_certificates_and_plain_schedulers_are_refused_in_words(case):
    certificates.make(case.folder)
    ca = ["--tls-ca", case.path("ca.pem")]
    old = case.scheduler("tcp", *certificate(case, "expired"), url="tls+tcp://localhost:0")
    looks(case, old.url, "its certificate is not accepted", *ca)
    plain = case.scheduler("tcp")
    looks(case, "tls+" + plain.url, "speaks no TLS", *ca)
    until(lambda: "it speaks TLS and we do not" in read(plain.log), "the plain scheduler says so")


def mutual_tls_carries_work_and_shuts_out_strangers(case):
    certificates.make(case.folder)
    ca = ["--tls-ca", case.path("ca.pem")]
    server = case.scheduler("tcp", *certificate(case, "server"), *ca, "--tls-mutual", url="tls+tcp://localhost:0")
    known = [*ca, *certificate(case, "client")]
    worker = case.start("scaler-worker", "worker", server.url, "-j2", *known)
    case.await_ready(worker)
    equal(tool("scaler-run", "-s", server.url, *known, "true", ":::", *range(20)), (0, []), "twenty commands")
    ours = "does not accept our side's certificate"
    looks(case, server.url, ours, *ca)
    looks(case, server.url, ours, *ca, *certificate(case, "stranger"))
    looks(case, server.url, ours, *ca, *certificate(case, "expired"))
    until(lambda: "its certificate is not accepted" in read(server.log), "the scheduler says so")


def silence_and_garbage_on_a_tls_port_leave_nothing(case):
    certificates.make(case.folder)
    ca = ["--tls-ca", case.path("ca.pem")]
    server = case.scheduler("tcp", *certificate(case, "server"), url="tls+tcp://localhost:0")
    port = "tcp://127.0.0.1:" + server.url.rpartition(":")[2]
    look = ["--timeout", LIMIT, server.url, "status", *ca]
    equal(tool("scaler-ctl", *look)[0], 0, "a look")
    before = descriptors(server.pid)
    strangers = [Peer(port) for _ in range(200)]
    handshake = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    for number, peer in enumerate(strangers):
        peer.raw((b"", os.urandom(500), handshake, handshake + os.urandom(505), frame(HELLO, b"\x90"))[number % 5])
    code, lines = tool("scaler-ctl", *look)
    equal(code, 0, lines)
    for peer in strangers:
        closed(peer, "five seconds without a hello")
    until(lambda: descriptors(server.pid) <= before, "the descriptors are what they were")
    equal(tool("scaler-ctl", *look)[0], 0, "a look afterwards")


def nobody_listens_to_the_world_for_everybody(case):
    certificates.make(case.folder)
    ours, ca = certificate(case, "server"), ["--tls-ca", case.path("ca.pem")]
    with open(case.path("token"), "w") as file:
        file.write("open sesame")
    token, world = ["--token-file", case.path("token")], "tls+tcp://0.0.0.0:0"
    for args in ((world, *ours), (world, *ours, *ca), ("tcp://0.0.0.0:0",)):
        ends_with_words(case, "anybody could come in", "scaler-scheduler", *args)
    for args in ((*ours, *token), (*ours, *ca, "--tls-mutual"), (*ours, "--insecure")):
        case.scheduler("tcp", *args, url=world)
    open_one = case.scheduler("tcp", *token, url="tcp://0.0.0.0:0")
    check("reads the token" in read(open_one.log), "no warning of a token that can be read")
    ends_with_words(case, "without a certificate", "scaler-scheduler", "tls+tcp://127.0.0.1:0")
    ends_with_words(case, "needs the certificates", "scaler-scheduler", "tls+tcp://127.0.0.1:0", *ours, "--tls-mutual")
    ends_with_words(case, "no private key", "scaler-scheduler", "tls+tcp://127.0.0.1:0", "--tls-cert",
                    case.path("server.pem"))


# ---- running ----------------------------------------------------------------------------------------------------


def cases():
    rows = [(ten_thousand_half_open_hellos_leave_nothing, ("tcp",)), (a_hello_byte_by_byte_has_five_seconds, ("tcp",)),
            (real_clients_keep_their_rate_beside_garbage_at_line_rate, ("tcp", "fresh")),
            (real_clients_keep_their_rate_beside_garbage_at_line_rate, ("ipc", "greeted"))]
    for function in (
            lengths_that_lie_end_their_link_and_take_no_memory,
            nesting_of_a_hundred_thousand_ends_its_link,
            a_message_that_a_role_may_not_send_ends_its_link,
            garbage_among_the_frames_of_one_who_was_let_in_ends_its_link,
            reports_of_runs_that_a_worker_does_not_hold_are_not_heard,
            replayed_frames_and_stale_epochs_change_nothing,
            nobody_cancels_the_tasks_of_another,
            a_client_sees_no_task_and_no_client_but_its_own,
            a_forged_client_id_costs_its_owner_a_link_and_no_task,
            a_wrong_token_is_denied_whatever_it_looks_like):
        rows += [(function, (kind,)) for kind in ("tcp", "ipc")]
    rows += [(function, ()) for function in (every_refusal_under_tls_is_told_at_both_ends,
                                             expired_certificates_and_plain_schedulers_are_refused_in_words,
                                             mutual_tls_carries_work_and_shuts_out_strangers,
                                             silence_and_garbage_on_a_tls_port_leave_nothing,
                                             nobody_listens_to_the_world_for_everybody)]
    return [(" ".join([function.__name__, *map(str, args)]), function, args) for function, args in rows]


def rates(case, how, pairs):
    """For test/bench/run: a line for each pair."""
    site = Site(case, "tcp")
    rate_of(case, site.url, BENCH_TASKS)
    for _ in range(pairs):
        alone = rate_of(case, site.url, BENCH_TASKS)
        beside, tally = beside_garbage(case, site.url, how, BENCH_TASKS)
        print(f"hostile-garbage how={how} alone={alone:.0f} beside={beside:.0f} ratio={beside / alone:.2f} "
              f"links={tally['links']} mib={tally['bytes'] // MIB}", flush=True)


def main():
    if sys.argv[1:2] == ["--rate"]:
        case = Case()
        try:
            rates(case, sys.argv[2], int(sys.argv[3]))
        finally:
            case.close()
        return 0
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    return Runner([case for case in cases() if word in case[0]], threads=2).run()


if __name__ == "__main__":
    sys.exit(main())

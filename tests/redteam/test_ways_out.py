"""Attacks that look for a way out: sockets, namespaces, rights, the kernel. Each is paid what a failed run is paid: nothing."""

import pytest

from tests.redteam.attacks import Attack
from tests.redteam.siege import Siege

BACKENDS = ("warm", "warm without root")
NOTHING = ("no_submission",)


ATTACKS = {
    "abstract sockets": Attack(
        """
names = {TOLD["abstract"]}
names |= {"\\0" + line.split()[-1][1:] for line in open("/proc/net/unix") if line.split()[-1].startswith("@")}
for name in names:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            socket.socket(socket.AF_UNIX, kind).connect(name)
            print("BREACH", name)
        except OSError: pass
""",
        NOTHING,
        (9,),
    ),
    "sockets by path": Attack(
        """
for path in (TOLD["socket"], "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/dev/log",
             "/run/systemd/private", "/run/user/0/bus", "/tmp/.X11-unix/X0"):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("BREACH", path)
    except OSError: pass
""",
        NOTHING,
        (9,),
    ),
    "the loopback and metadata": Attack(
        """
for host in ("127.0.0.1", "::1", "169.254.169.254", "10.0.0.1", "172.17.0.1", "192.168.0.1", "0.0.0.0"):
    for port in (TOLD["port"], 22, 80, 2375, 4200, 6006, 8000, 8080, 8888):
        try:
            socket.create_connection((host, port), 0.2)
            print("BREACH", host, port)
        except OSError: pass
""",
        NOTHING,
        (8, 9),
    ),
    "the network": Attack(
        """
import urllib.request
for what in (lambda: urllib.request.urlopen("http://example.com/", timeout=1),
             lambda: socket.getaddrinfo("example.com", 80),
             lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53)),
             lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("2001:4860:4860::8888", 53)),
             lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
             lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
             lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
             lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
             lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET),
             lambda: socket.socket(31, socket.SOCK_RAW, 1)):
    try:
        what()
        print("BREACH network")
    except OSError: pass
""",
        NOTHING,
        (8,),
    ),
    "keyrings": Attack(
        """
for number, arguments in ((250, (0, -3, 1)), (250, (11, -3, 0, 0)), (250, (1, b"x")), (248, (b"user", b"a", b"b", 1, -3)),
                          (249, (b"user", b"a", 0, 0))):
    must_fail("keyctl", number, *arguments)
print(take("/proc/keys"), take("/proc/key-users"))
""",
        NOTHING,
    ),
    "handles of files": Attack(
        """
handle = ctypes.create_string_buffer(bytes([128, 0, 0, 0]) + bytes(132))
mount = ctypes.c_int()
must_fail("name_to_handle_at", 303, -100, b"public", ctypes.addressof(handle), ctypes.addressof(mount), 0)
for inode in range(2, 20):
    shot = ctypes.create_string_buffer(bytes([8, 0, 0, 0, 1, 0, 0, 0, inode]) + bytes(40))
    must_fail("open_by_handle_at", 304, os.open("public", os.O_RDONLY), ctypes.addressof(shot), 0)
""",
        NOTHING,
    ),
    "mounts": Attack(
        """
os.mkdir("m")
for name, number, arguments in (
    ("mount", 165, (b"proc", b"m", b"proc", 0, 0)), ("bind", 165, (b"/", b"m", 0, 4096, 0)),
    ("tmpfs", 165, (b"t", b"m", b"tmpfs", 0, 0)), ("remount", 165, (0, b"public", 0, 32 | 4096, 0)),
    ("overlay", 165, (b"o", b"m", b"overlay", 0, b"lowerdir=/,upperdir=m,workdir=m")),
    ("umount", 166, (b"public", 2)), ("umount /proc", 166, (b"/proc", 2)), ("pivot_root", 155, (b".", b"m")),
    ("chroot", 161, (b"m",)), ("open_tree", 428, (-100, b"/", 1)), ("fsopen", 430, (b"tmpfs", 0)),
    ("fspick", 433, (-100, b"/", 0)), ("mount_setattr", 442, (-100, b"public", 0, 0, 0)), ("swapon", 167, (b"m", 0)),
    ("move_mount", 429, (-100, b"public", -100, b"m", 0)), ("quotactl", 179, (0, 0, 0, 0)),
):
    must_fail(name, number, *arguments)
""",
        NOTHING,
    ),
    "namespaces": Attack(
        """
for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80):
    must_fail(f"unshare {flag:x}", 272, flag)
    child = call(56, flag | 17) if flag != 0x80 else -1
    if child == 0:
        os._exit(0)
    if child > 0: print("BREACH clone", flag)
must_fail("clone3", 435, ctypes.addressof(ctypes.create_string_buffer((0x10000000).to_bytes(8, "little") + bytes(80))), 88)
for kind in ("mnt", "net", "pid", "user", "ipc", "uts", "cgroup", "time"):
    for pid in ("self", "1", str(TOLD["parent"])):
        try: descriptor = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError: continue
        must_fail(f"setns {kind}", 308, descriptor, 0)
handle = call(434, 1)
if handle >= 0: must_fail("setns of the init", 308, handle, 0x7E020000)
for name in ("uid_map", "gid_map", "setgroups"):
    try:
        os.close(os.open(f"/proc/self/{name}", os.O_WRONLY))
        print("BREACH", name)
    except OSError: pass
""",
        NOTHING,
    ),
    "rarer calls": Attack(
        """
room = ctypes.create_string_buffer(512)
at = ctypes.addressof(room)
for name, number, arguments in (
    ("io_uring_setup", 425, (8, at)), ("io_uring_enter", 426, (0, 0, 0, 0)), ("io_uring_register", 427, (0, 0, 0, 0)),
    ("bpf", 321, (0, at, 120)), ("perf_event_open", 298, (at, 0, -1, -1, 0)), ("userfaultfd", 323, (1,)),
    ("memfd_create", 319, (b"x", 0)), ("memfd_secret", 447, (0,)), ("execveat", 322, (-100, b"/bin/true", 0, 0, 0)),
    ("fanotify_init", 300, (0, 0)), ("init_module", 175, (at, 8, b"")), ("finit_module", 313, (0, b"", 0)),
    ("kexec_load", 246, (0, 0, 0, 0)), ("reboot", 169, (0, 0, 0, 0)), ("syslog", 103, (3, at, 100)),
    ("acct", 163, (0,)), ("iopl", 172, (3,)), ("ioperm", 173, (0x70, 2, 1)), ("modify_ldt", 154, (1, at, 16)),
    ("settimeofday", 164, (1, 0)), ("clock_settime", 227, (0, 1)), ("adjtimex", 159, (1,)), ("capset", 126, (at, at)),
    ("sethostname", 170, (b"x", 1)), ("vhangup", 153, ()), ("vmsplice", 278, (1, at, 1, 0)),
    ("landlock", 444, (0, 0, 1)), ("seccomp", 317, (1, 0, at)), ("seccomp listener", 317, (1, 8, at)),
    ("shmget", 29, (0x1234, 4096, 0o1777)), ("semget", 64, (1, 1, 0o1777)), ("msgget", 68, (1, 0o1777)),
    ("mq_open", 240, (b"x", 0o102, 0o777, 0)), ("uselib", 134, (b"/bin/sh",)), ("create_module", 174, ()),
    ("personality: 32 bits", 135, (8,)), ("personality: no randomness", 135, (0x40000,)), ("x32 getpid", 0x40000027, ()),
    ("process_madvise", 440, (0, at, 0, 0, 0)), ("move_pages", 279, (1, 0, 0, 0, 0, 0)), ("lookup_dcookie", 212, (0, at, 9)),
    ("set PR_SET_MM", 157, (35, 1, at, 0, 0)), ("PR_SET_PTRACER", 157, (0x59616D61, -1)), ("PR_SET_SECCOMP", 157, (22, 1)),
    ("rseq off the end", 999, ()),
):
    if call(number, *arguments) not in (-errno.EPERM, -errno.ENOSYS): print("BREACH", name)
""",
        NOTHING,
    ),
    "32-bit entry": Attack(
        """
import mmap
room = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
room.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20 (getpid of 32 bits); int 0x80; ret
pid = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
if pid == os.getpid(): print("BREACH int 0x80")
""",
        ("no_submission", "runtime_error"),
    ),
    "device nodes": Attack(
        """
for name, kind, major, minor in (("mem", stat.S_IFCHR, 1, 1), ("vda", stat.S_IFBLK, 254, 0), ("sda", stat.S_IFBLK, 8, 0),
                                 ("fuse", stat.S_IFCHR, 10, 229), ("kvm", stat.S_IFCHR, 10, 232), ("tty", stat.S_IFCHR, 5, 0)):
    try:
        os.mknod(name, kind | 0o666, os.makedev(major, minor))
        open(name, "rb").close()
        print("BREACH", name)
    except OSError: pass
for name in ("mem", "kmem", "port", "kmsg", "vda", "sda", "fuse", "kvm", "tty", "ptmx", "net/tun", "loop-control", "shm/x"):
    if take(f"/dev/{name}", 16): print("BREACH", name)
""",
        NOTHING,
    ),
    "control groups": Attack(
        """
for path in ("/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs",
             "/sys/kernel/uevent_helper", "/sys/power/state"):
    if os.path.exists(path): print("BREACH", path)
os.mkdir("cg")
must_fail("cgroup", 165, b"cgroup", b"cg", b"cgroup", 0, b"rdma")
must_fail("cgroup2", 165, b"cgroup2", b"cg", b"cgroup2", 0, 0)
""",
        NOTHING,
    ),
    "settings of the kernel": Attack(
        """
for path in ("sys/kernel/core_pattern", "sys/kernel/modprobe", "sys/vm/drop_caches", "sysrq-trigger", "sys/kernel/hostname",
             "sys/fs/suid_dumpable", "sys/kernel/unprivileged_bpf_disabled", "irq/default_smp_affinity", "1/oom_score_adj",
             "sys/net/ipv4/ip_forward", "sys/kernel/ns_last_pid", "sys/fs/binfmt_misc/register", "1/timens_offsets"):
    try:
        os.close(os.open(f"/proc/{path}", os.O_WRONLY))  # and never write: it would be the machine's own
        print("BREACH", path)
    except OSError: pass
for path in ("kcore", "kmsg", "kpageflags"):
    if take(f"/proc/{path}", 100): print("BREACH", path)
""",
        NOTHING,
    ),
    "set-uid programmes": Attack(
        """
shutil.copyfile("/bin/sh", "sh")
for mode in (0o4755, 0o2755, 0o6777):
    attempt(os.chmod, "sh", mode)
    done = attempt(subprocess.run, ["./sh", "-p", "-c", "id -u; cat /etc/shadow"], capture_output=True, text=True)
    if done and done.stdout.split()[:1] == ["0"] and os.getuid(): print("BREACH", done.stdout)
for words in (["su", "-c", "id"], ["mount", "-t", "tmpfs", "x", "/tmp"], ["sudo", "-n", "id"], ["newuidmap", str(os.getpid()), "0", "0", "1"],
              ["unshare", "-Ur", "id"], ["nsenter", "-t", "1", "-a", "id"], ["bwrap", "--bind", "/", "/", "id"]):
    try: done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=5)
    except OSError: continue
    if done.returncode == 0: print("BREACH", words, done.stdout)
""",
        NOTHING,
    ),
    "rights taken back": Attack(
        """
for what in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0), lambda: os.setgroups([0]),
             lambda: os.setresuid(1000 if os.getuid() != 1000 else 1, -1, -1), lambda: os.nice(-5),
             lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)), lambda: os.chown("/box/work", 0, 0),
             lambda: os.chmod("/box/work/public", 0o777), lambda: os.chmod("public/test.csv", 0o777)):
    try:
        what()
        print("BREACH", what.__code__.co_firstlineno)
    except OSError: pass
import resource
for kind in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
    _, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1))
        print("BREACH limit", kind)
    except (OSError, ValueError): pass
""",
        NOTHING,
    ),
    "limits and signals of others": Attack(
        """
import resource
for pid in {1, TOLD["parent"], os.getppid()} - {0}:
    for what in (lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)), lambda: os.sched_setaffinity(pid, {0}),
                 lambda: os.setpriority(os.PRIO_PROCESS, pid, 19) if pid != 1 else 1 / 0):
        try:
            what()
            if pid != 1: print("BREACH", pid)
        except (OSError, ZeroDivisionError): pass
if TOLD["parent"] != os.getpid() and os.path.exists(f"/proc/{TOLD['parent']}/comm"):
    print("parent?", take(f"/proc/{TOLD['parent']}/comm"))
""",
        NOTHING,
    ),
    "memory shared with the interpreter": Attack(
        """
for line in open("/proc/self/maps"):
    rights, name = line.split()[1], line.split()[-1]
    if rights.startswith("rw") and rights.endswith("s"): print("BREACH", line)
""",
        NOTHING,
    ),
    "rarer protocols": Attack(
        """
for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (1, 2, 3, 4, 5, 6, 10):
        for protocol in (1, 2, 33, 58, 115, 132, 136, 255, 256, 262):
            try: socket.socket(family, kind, protocol)
            except OSError: continue
            print("BREACH", family, kind, protocol)
ours = socket.socket()
for level, name, value in ((6, 31, b"tls"), (6, 31, b"mptcp"), (1, 26, bytes(16)), (282, 1, bytes(16)), (270, 11, 1)):
    try: ours.setsockopt(level, name, value)
    except OSError as error:
        if error.errno == errno.EPERM: continue
    print("BREACH option", level, name)
""",
        NOTHING,
    ),
    "what the kernel tells of others": Attack(
        """
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
if len(pids) > 3: print("BREACH", pids)
for path in ("/proc/locks", "/proc/net/tcp", "/proc/net/unix", "/proc/net/route", "/proc/net/arp", "/proc/sysvipc/shm"):
    text = take(path).decode("latin-1")
    if f":{TOLD['port']:04X} " in text or "sandmill" in text: print("BREACH", path)
if socket.gethostname() != "sandbox": print("BREACH", socket.gethostname())
""",
        NOTHING,
        (2,),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_who_looks_for_a_way_out_finds_none(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()

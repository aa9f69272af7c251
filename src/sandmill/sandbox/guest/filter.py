"""Build the seccomp program: an allow-list in classic BPF. A refused call returns an error and never kills."""

import errno
import struct
from functools import cache

from sandmill.sandbox.guest import kernel

ALLOWED = """
accept:43:202 accept4:288:242 access:21:- alarm:37:- arch_prctl:158:- bind:49:200 brk:12:214 capget:125:90
chdir:80:49 chmod:90:- clock_getres:229:114 clock_gettime:228:113 clock_nanosleep:230:115 close:3:57
close_range:436:436 connect:42:203 copy_file_range:326:285 creat:85:- dup:32:23 dup2:33:- dup3:292:24
epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21 epoll_pwait:281:22 epoll_pwait2:441:441 epoll_wait:232:-
eventfd:284:- eventfd2:290:19 execve:59:221 exit:60:93 exit_group:231:94 faccessat:269:48 faccessat2:439:439
fadvise64:221:223 fallocate:285:47 fchdir:81:50 fchmod:91:52 fchmodat:268:53
fdatasync:75:83 fgetxattr:193:10 flistxattr:196:13 flock:73:32 fork:57:- fremovexattr:199:16
fsetxattr:190:7 fstat:5:80 fstatfs:138:44 fsync:74:82 ftruncate:77:46 futex:202:98 futex_waitv:449:449
futimesat:261:- get_mempolicy:239:236 get_robust_list:274:100 getcpu:309:168 getcwd:79:17 getdents:78:-
getdents64:217:61 getegid:108:177 geteuid:107:175 getgid:104:176 getgroups:115:158 getitimer:36:102
getpeername:52:205 getpgid:121:155 getpgrp:111:- getpid:39:172 getppid:110:173 getpriority:140:141 getrandom:318:278
getresgid:120:150 getresuid:118:148 getrlimit:97:163 getrusage:98:165 getsid:124:156 getsockname:51:204
getsockopt:55:209 gettid:186:178 gettimeofday:96:169 getuid:102:174 getxattr:191:8
ioprio_get:252:31 kill:62:129
lgetxattr:192:9 link:86:- linkat:265:37 listen:50:201 listxattr:194:11 llistxattr:195:12 lremovexattr:198:15
lseek:8:62 lsetxattr:189:6 lstat:6:- madvise:28:233 mbind:237:235 membarrier:324:283 mincore:27:232 mkdir:83:-
mkdirat:258:34 mknod:133:- mknodat:259:33 mlock:149:228 mlock2:325:284 mprotect:10:226 mremap:25:216
msync:26:227 munlock:150:229 munmap:11:215 nanosleep:35:101 newfstatat:262:79 open:2:- openat:257:56 openat2:437:437
pause:34:- pidfd_open:434:434 pidfd_send_signal:424:424 pipe:22:- pipe2:293:59 pkey_alloc:330:289 pkey_free:331:290
pkey_mprotect:329:288 poll:7:- ppoll:271:73 pread64:17:67 preadv:295:69 preadv2:327:286 prlimit64:302:261
pselect6:270:72 pwrite64:18:68 pwritev:296:70 pwritev2:328:287 read:0:63 readahead:187:213 readlink:89:-
readlinkat:267:78 readv:19:65 recvfrom:45:207 recvmmsg:299:243 recvmsg:47:212 removexattr:197:14 rename:82:-
renameat:264:38 renameat2:316:276 restart_syscall:219:128 rmdir:84:- rseq:334:293 rt_sigaction:13:134
rt_sigpending:127:136 rt_sigprocmask:14:135 rt_sigqueueinfo:129:138 rt_sigreturn:15:139 rt_sigsuspend:130:133
rt_sigtimedwait:128:137 rt_tgsigqueueinfo:297:240 sched_get_priority_max:146:125 sched_get_priority_min:147:126
sched_getaffinity:204:123 sched_getattr:315:275 sched_getparam:143:121 sched_getscheduler:145:120
sched_rr_get_interval:148:127 sched_setattr:314:274 sched_setparam:142:118
sched_setscheduler:144:119 sched_yield:24:124 select:23:- sendfile:40:71 sendmmsg:307:269 sendmsg:46:211
sendto:44:206 set_mempolicy:238:237 set_robust_list:273:99 set_tid_address:218:96 setfsgid:123:152 setfsuid:122:151
setgid:106:144 setitimer:38:103 setpgid:109:154 setpriority:141:140 setregid:114:143 setresgid:119:149
setresuid:117:147 setreuid:113:145 setrlimit:160:164 setsid:112:157 setuid:105:146 setxattr:188:5
shutdown:48:210 sigaltstack:131:132 signalfd:282:- signalfd4:289:74 splice:275:76 stat:4:- statfs:137:43
statx:332:291 symlink:88:- symlinkat:266:36 sync_file_range:277:84 sysinfo:99:179 tee:276:77
tgkill:234:131 time:201:- timer_create:222:107 timer_delete:226:111 timer_getoverrun:225:109 timer_gettime:224:108
timer_settime:223:110 timerfd_create:283:85 timerfd_gettime:287:87 timerfd_settime:286:86 times:100:153
tkill:200:130 truncate:76:45 umask:95:166 uname:63:160 unlink:87:- unlinkat:263:35 utime:132:- utimensat:280:88
utimes:235:- vfork:58:- wait4:61:260 waitid:247:95 write:1:64 writev:20:66
"""
"""Calls that are allowed with any argument."""

REFUSED = """
acct:163:89 add_key:248:217 adjtimex:159:171 bpf:321:280 capset:126:91 chroot:161:51 clock_adjtime:305:266
clock_settime:227:112 delete_module:176:106 fanotify_init:300:262 fanotify_mark:301:263 finit_module:313:273
fsconfig:431:431 fsmount:432:432 fsopen:430:430 fspick:433:433 init_module:175:105 io_uring_enter:426:426
io_uring_register:427:427 io_uring_setup:425:425 ioperm:173:- iopl:172:- ioprio_set:251:30 kcmp:312:272
kexec_file_load:320:294 kexec_load:246:104 keyctl:250:219 migrate_pages:256:238 mlockall:151:230 modify_ldt:154:-
mount:165:40 mount_setattr:442:442 move_mount:429:429 move_pages:279:239 munlockall:152:231
name_to_handle_at:303:264 open_by_handle_at:304:265 open_tree:428:428 perf_event_open:298:241 pidfd_getfd:438:438
pivot_root:155:41 process_madvise:440:440 process_mrelease:448:448 process_vm_readv:310:270
process_vm_writev:311:271 ptrace:101:117 quotactl:179:60 quotactl_fd:443:443 reboot:169:142 request_key:249:218
sched_setaffinity:203:122
seccomp:317:277 set_mempolicy_home_node:450:450 setdomainname:171:162 setgroups:116:159 sethostname:170:161
setns:308:268 settimeofday:164:170 swapoff:168:225 swapon:167:224 syslog:103:116 umount2:166:39 unshare:272:97
userfaultfd:323:282 vhangup:153:58 vmsplice:278:75
"""
"""Calls that are refused with EPERM."""

CHECKED = """
chown:92:- clone:56:220 fchown:93:55 fchownat:260:54 fcntl:72:25 ioctl:16:29 lchown:94:- mmap:9:222
personality:135:92 prctl:157:167 setsockopt:54:208 socket:41:198 socketpair:53:199
"""
"""Calls that are allowed with certain arguments; see `filter.py`."""
_LOAD, _AND, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
"""BPF operations. _JUMP_ABOVE tests for greater or equal, _JUMP_ANY for any common bit."""
_NUMBER, _MACHINE, _ARGUMENT = 0, 4, 16
"""Offsets in struct seccomp_data. An argument has 8 bytes, and both processors store the low half first."""

_AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_X32 = 0x4000_0000
"""Numbers from here on are calls of the x32 interface, which are all refused."""
_ALLOW, _ERRNO = 0x7FFF_0000, 0x0005_0000

_NAMESPACES = kernel.RUN_NAMESPACES | kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID
_CLONE_PTRACE, _CLONE_UNTRACED = 0x2000, 0x0080_0000
_UNIX, _INET = 1, (2, 10)
"""Families AF_UNIX, and AF_INET and AF_INET6. They are confined to the run's network namespace; others may not be."""
_UNIX_TYPES, _INET_TYPES = (1, 2, 5), (1, 2)
"""Allowed types: SOCK_STREAM, SOCK_DGRAM, and SOCK_SEQPACKET for AF_UNIX. SOCK_RAW and SOCK_PACKET are refused."""
_TYPE_BITS = 0xF
"""Bits of the argument that hold the socket type. The others are the flags SOCK_NONBLOCK and SOCK_CLOEXEC."""
_PROTOCOLS = (0, 6, 17)
"""Allowed protocols: the default, TCP, UDP. Rarer ones (MPTCP, UDP-Lite, SCTP, SMC) are kernel code that no script
needs."""
_LEVELS = (0, 1, 6, 17, 41)
"""Allowed levels of socket options: IP, SOL_SOCKET, TCP, UDP, IPv6."""
_LEVEL_SOCKET, _LEVEL_TCP = 1, 6
"""Levels of which some options are refused: SOL_SOCKET and IPPROTO_TCP."""
_SOCKET_PROGRAMS = (26, 50, 51, 52)
"""Refused: SO_ATTACH_FILTER, SO_ATTACH_BPF and the same for SO_REUSEPORT groups. The kernel would run a program."""
_TCP_UPPER_LAYER = (31,)
"""Refused: TCP_ULP, which adds another protocol to a socket, such as the TLS of the kernel."""
_FILE_COMMANDS = (*range(12), 15, 16, *range(36, 39), 1027, 1030, 1032, 1033, 1034)
"""Allowed commands of fcntl: duplicates, flags, record locks (of processes and of open files), signals for readiness,
reading the size of a pipe, seals.

Refused: F_SETLEASE and F_NOTIFY, which report and delay other runs' use of a shared file; F_SET_RW_HINT, which stores a
number at a shared file that later runs can read; F_SETPIPE_SZ, which uses kernel memory.
"""
_NO_OWNER = 0xFFFF_FFFF
"""Owner or group -1: chown leaves it as it is. A call with -1 for both still changes the change time of the file, and
needs no right to it. Therefore a call must name an owner or a group."""
_TERMINAL_INPUT_COMMANDS = (0x5412, 0x541C)
"""Refused: TIOCSTI and TIOCLINUX, which insert characters into the input of a terminal."""
_PERSONALITIES = (0, 0xFFFF_FFFF)
"""Allowed arguments of personality: the default, and -1, which only reads it."""
_MAP_SHARED, _MAP_ANONYMOUS, _MAP_HUGETLB = 1, 0x20, 0x4_0000
"""Flags of mmap. Shared anonymous memory stays allocated after MADV_DONTNEED or a partial munmap, but then no process
is charged for it. Huge pages from the machine's pool are never part of a resident set. `memory_mb` can count neither,
so both are refused. MAP_SHARED_VALIDATE (3) includes the bit of MAP_SHARED."""
_PRCTL = (1, 2, 3, 4, 7, 14, 15, 16, 21, 23, 29, 30, 36, 37, 38, 39, 41, 42, 64, 0x53564D41)
"""Allowed options of prctl: process names, parent-death signal, dumpability, timer slack, child subreaper, huge pages,
no-new-privs, names of memory areas."""


def numbers(table: str, machine: str) -> dict[str, int]:
    """Parse one of the tables for a processor. Returns call numbers by name."""
    column = {"x86_64": 1, "aarch64": 2}[machine]
    rows = (entry.split(":") for entry in table.split())
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


@cache
def build_filter(machine: str) -> bytes:
    """Return the program for a processor of `kernel.MACHINES`."""
    unknown, refused = _ERRNO | errno.ENOSYS, _ERRNO | errno.EPERM
    code = [
        _step(_LOAD, _MACHINE),
        _step(_JUMP_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _step(_RETURN, unknown),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_ABOVE, _X32, 0, 1),
        _step(_RETURN, unknown),
    ]
    for number in sorted(numbers(ALLOWED, machine).values()):
        code += [_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, _ALLOW)]
    for number in sorted(numbers(REFUSED, machine).values()):
        code += [_step(_JUMP_EQUAL, number, 0, 1), _step(_RETURN, refused)]
    checked = numbers(CHECKED, machine)
    unix_socket = [*_require_one_of(1, _UNIX_TYPES, _TYPE_BITS), *_require_one_of(2, (0,)), _PASS]
    internet_socket = [*_require_one_of(1, _INET_TYPES, _TYPE_BITS), *_require_one_of(2, _PROTOCOLS), _PASS]
    socket_options = _if_equal(1, _LEVEL_SOCKET, _refuse_any_of(2, _SOCKET_PROGRAMS))
    tcp_options = _if_equal(1, _LEVEL_TCP, _refuse_any_of(2, _TCP_UPPER_LAYER))
    for name, body in (
        ("clone", [_load(0), _step(_JUMP_ANY, _NAMESPACES | _CLONE_PTRACE | _CLONE_UNTRACED, 0, 1), _DENY, _PASS]),
        ("chown", _refuse_owner_change(1)),
        ("lchown", _refuse_owner_change(1)),
        ("fchown", _refuse_owner_change(1)),
        ("fchownat", _refuse_owner_change(2)),
        ("fcntl", [*_require_one_of(1, _FILE_COMMANDS), _PASS]),
        ("socket", [*_if_equal(0, _UNIX, unix_socket), *_require_one_of(0, _INET), *internet_socket]),
        ("socketpair", [*_require_one_of(0, (_UNIX,)), *unix_socket]),
        ("setsockopt", [*_require_one_of(1, _LEVELS), *socket_options, *tcp_options, _PASS]),
        ("ioctl", [*_refuse_any_of(1, _TERMINAL_INPUT_COMMANDS), _PASS]),
        ("mmap", _check_mapping()),
        ("personality", [*_require_one_of(0, _PERSONALITIES), _PASS]),
        ("prctl", [*_require_one_of(0, _PRCTL), _PASS]),
    ):
        if name in checked:
            code += [_step(_JUMP_EQUAL, checked[name], 0, len(body)), *body]
    code.append(_step(_RETURN, unknown))
    return b"".join(code)


def _step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, operand)


_PASS, _DENY = _step(_RETURN, _ALLOW), _step(_RETURN, _ERRNO | errno.EPERM)


def _load(argument: int) -> bytes:
    return _step(_LOAD, _ARGUMENT + 8 * argument)


def _require_one_of(argument: int, values: tuple[int, ...], bits: int = 0) -> list[bytes]:
    """Refuse the call unless an argument, or these bits of it, is one of the values. Otherwise continue."""
    jumps = [_step(_JUMP_EQUAL, value, left) for left, value in zip(range(len(values), 0, -1), values, strict=True)]
    return [_load(argument), *([_step(_AND, bits)] if bits else []), *jumps, _DENY]


def _refuse_any_of(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Refuse the call if an argument is one of the values. Otherwise continue."""
    return [_load(argument), *(step for value in values for step in (_step(_JUMP_EQUAL, value, 0, 1), _DENY))]


def _if_equal(argument: int, value: int, body: list[bytes]) -> list[bytes]:
    """Execute `body` if an argument is the value. Otherwise skip it."""
    return [_load(argument), _step(_JUMP_EQUAL, value, 0, len(body)), *body]


def _refuse_owner_change(argument: int) -> list[bytes]:
    """Refuse a chown that names neither an owner nor a group. These are this argument and the next."""
    is_given = [_step(_JUMP_EQUAL, _NO_OWNER, 1, 0), _PASS]
    return [_load(argument), *is_given, _load(argument + 1), *is_given, _DENY]


def _check_mapping() -> list[bytes]:
    """Refuse MAP_HUGETLB, and MAP_ANONYMOUS together with MAP_SHARED. The flags are the fourth argument."""
    return [
        _load(3),
        _step(_JUMP_ANY, _MAP_HUGETLB, 2, 0),
        _step(_JUMP_ANY, _MAP_ANONYMOUS, 0, 2),
        _step(_JUMP_ANY, _MAP_SHARED, 0, 1),
        _DENY,
        _PASS,
    ]

package sandbox

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// mark is a number that a process and all its descendants carry twice. One is a
// variable, there from the first instruction on. The other is the soft limit of
// real-time CPU microseconds: so large a limit never acts, no ordinary program
// touches it, and it outlives a cleared environment and daemons that write
// their title over theirs. A program that means to hide can drop both; only a
// process namespace stops that one.
//
// The number holds a constant, 24 bits for the run and 24 for the command.
type mark uint64

// commandVariable holds a command's mark.
const commandVariable = "PAWL_COMMAND_ID"

const (
	markBits        = 0x5041 << 48
	markConstMask   = 0xffff << 48
	markRunMask     = 0xffffff << 24
	markCommandMask = 0xffffff
)

// commands numbers commands from a random start, so that two pawls on one
// machine do not share numbers.
var commands = sync.OnceValue(func() *atomic.Uint64 {
	var seed [8]byte
	_, _ = rand.Read(seed[:])
	n := new(atomic.Uint64)
	n.Store(binary.LittleEndian.Uint64(seed[:]))
	return n
})

func newMark(run string) mark {
	return runMark(run) | mark(commands().Add(1)&markCommandMask)
}

// runMark is the part that all commands of a run share.
func runMark(run string) mark {
	h := fnv.New64a()
	_, _ = h.Write([]byte(run))
	return markBits | mark(h.Sum64()<<24&markRunMask)
}

// variable is the mark as an entry of the environment.
func (m mark) variable() string { return commandVariable + "=" + strconv.FormatUint(uint64(m), 16) }

// put marks a running process. It fails where a lower hard limit is set.
func (m mark) put(pid int) {
	var now unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &now) == nil {
		now.Cur = uint64(m)
		_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME, &now, nil)
	}
}

func markOf(pid int) mark {
	var now unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &now) != nil || now.Cur&markConstMask != markBits {
		return 0
	}
	return mark(now.Cur)
}

// sweep kills every process among those listed that carries m and returns how
// many there were.
func (m mark) sweep(list func() []int) int {
	return killAll(list, func(pid int) bool { return markOf(pid) == m || carries(pid, m.variable()) }, nil)
}

// carries reports whether a process was started with an entry in its environment.
func carries(pid int, entry string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+entry+"\x00"))
}

// killAll kills all listed processes that match, again and again until none is
// left, because they may be starting others; it gives up after a second. Their
// groups are killed too where group allows it.
func killAll(list func() []int, match func(pid int) bool, group func(pid int)) int {
	killed := 0
	for deadline := time.Now().Add(killAfter); ; {
		var dying []unix.PollFd
		for _, pid := range list() {
			fd, alive := handle(pid)
			if !alive {
				continue
			}
			if !match(pid) {
				_ = unix.Close(fd)
				continue
			}
			if group != nil {
				group(pid)
			}
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
			dying = append(dying, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
		killed += awaitEnd(dying, deadline)
		if len(dying) == 0 || time.Now().After(deadline) {
			return killed
		}
	}
}

// handle holds on to a process, so that its number stays its own. It is false
// for numbers of threads, of nothing, and of processes that have ended.
func handle(pid int) (fd int, alive bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, false
	}
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); n > 0 {
		_ = unix.Close(fd)
		return -1, false
	}
	return fd, true
}

// awaitEnd waits for killed processes and returns how many have ended.
func awaitEnd(dying []unix.PollFd, deadline time.Time) int {
	ended := 0
	for i := range dying {
		left := max(time.Until(deadline).Milliseconds(), 1)
		fd := int(dying[i].Fd)
		if n, _ := unix.Poll(dying[i:i+1], int(left)); n > 0 {
			ended++
			// It is our child only if we are the one whom orphans are given to.
			_ = unix.Waitid(unix.P_PIDFD, fd, nil, unix.WEXITED|unix.WNOHANG, nil)
		}
		_ = unix.Close(fd)
	}
	return ended
}

// newestProcess is the number that was given out last, to a process or thread.
func newestProcess() int {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(load[bytes.LastIndexByte(load, ' ')+1:])))
	if err != nil {
		return -1
	}
	return n
}

// shortRun is a time in which process numbers do not wrap around: commands that
// took longer may have children with any number.
const shortRun = 100 * time.Millisecond

// fewProcesses is a span of numbers that is quicker to try than to list.
const fewProcesses = 128

// since lists numbers that may be processes started after leader, which was
// started so long ago.
func since(leader int, took time.Duration) []int {
	return between(leader, newestProcess(), took)
}

// between lists the same, where newest is the number that was given out last.
func between(leader, newest int, took time.Duration) []int {
	if took > shortRun || newest < leader {
		return allProcesses()
	}
	var pids []int
	if newest-leader <= fewProcesses {
		for pid := leader + 1; pid <= newest; pid++ {
			pids = append(pids, pid)
		}
		return pids
	}
	for _, pid := range allProcesses() {
		if pid > leader {
			pids = append(pids, pid)
		}
	}
	return pids
}

func allProcesses() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Reap kills what an earlier process of the run left behind, for instance when
// pawl was killed in the middle of a command, with the groups these processes
// are in. It returns how many it killed one by one; others may have gone with
// their groups. Ourselves and the processes we descend from are left alone.
func Reap(runID string) (int, error) {
	if runID == "" {
		return 0, errors.New("reap: no run is named")
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return 0, fmt.Errorf("reap processes of run %s: /proc cannot be read: %w", runID, err)
	}
	kin := ancestors()
	match := func(pid int) bool {
		return !kin.is[pid] && (carries(pid, runVariable+"="+runID) || markOf(pid)&^markCommandMask == runMark(runID))
	}
	return killAll(allProcesses, match, kin.killGroup), nil
}

// kin are the processes that must not be killed: we, and whom we descend from.
type kin struct {
	is     map[int]bool
	groups map[int]bool
}

func ancestors() kin {
	k := kin{map[int]bool{}, map[int]bool{}}
	for pid := os.Getpid(); pid > 0 && !k.is[pid]; pid = parent(pid) {
		k.is[pid] = true
		if group, err := unix.Getpgid(pid); err == nil {
			k.groups[group] = true
		}
	}
	return k
}

func (k kin) killGroup(pid int) {
	if group, err := unix.Getpgid(pid); err == nil && group > 1 && !k.groups[group] {
		_ = unix.Kill(-group, unix.SIGKILL)
	}
}

// parent is the number of pid's parent, or 0.
func parent(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; state and parent follow it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(string(fields[1]))
	return ppid
}

// Enforced lists what Run enforces on this system, as short phrases for a
// report.
func Enforced() []string {
	all := []string{"no inherited environment", "no terminal", "process group killed at the end",
		"killed when pawl dies", "bounded output"}
	if noCores() {
		all = append(all, "no core dumps")
	}
	var limit unix.Rlimit
	if unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &limit) == nil && limit.Max > markBits && newestProcess() > 0 {
		all = append(all, "daemons found and killed")
	}
	return all
}

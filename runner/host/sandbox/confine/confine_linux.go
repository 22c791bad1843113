package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shield is one kind of restriction.
type shield struct {
	name string
	take func(*Policy) error
}

// shields in the order in which they must be taken: dropping capabilities comes
// last, because others need them.
var shields = []shield{
	{NoPrivileges, func(*Policy) error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
	{NoNetwork, isolateNetwork},
	{FilesOnly, restrictFiles},
	{NoCapabilities, func(*Policy) error { return dropCapabilities() }},
}

// errNotAsked says that the policy does not want the shield.
var errNotAsked = errors.New("not asked for")

// Take restricts the calling thread, which must be locked, for good. It takes
// what this system gives and returns the names of what it took, and why it could
// not take the rest.
func Take(p *Policy) (taken []string, missing []Gap) {
	for _, s := range shields {
		switch err := s.take(p); {
		case err == nil:
			taken = append(taken, s.name)
		case !errors.Is(err, errNotAsked):
			missing = append(missing, Gap{s.name, err.Error()})
		}
	}
	return taken, missing
}

// probe tries a policy on a thread of its own, once: what it takes is what
// commands will get.
var probe = sync.OnceValues(func() ([]string, []Gap) {
	type outcome struct {
		taken   []string
		missing []Gap
	}
	result := make(chan outcome)
	go func() {
		runtime.LockOSThread() // and never unlocked
		taken, missing := Take(&Policy{Read: systemPlaces, Write: devices})
		result <- outcome{taken, missing}
	}()
	r := <-result
	return r.taken, r.missing
})

// System says what of a policy this system enforces, and what it does not.
func System() (enforced []string, missing []Gap) { return probe() }

// isolateNetwork gives the thread a network of its own in which only loopback
// is: tests that talk to themselves work, nobody else can be reached.
func isolateNetwork(p *Policy) error {
	if p.Network {
		return errNotAsked
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network of its own: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	return nil
}

// The rights that Landlock knows, by what they are good for.
const (
	readRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// fileRights are those that a rule about a file may hold.
	fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	firstRights = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // of the first version
)

// landlockRights are all rights over files that the kernel can handle, and
// whether it can keep signals and abstract sockets inside; 0 where there is no
// Landlock. Versions 2, 3 and 5 added a right each, version 6 the scopes.
func landlockRights() (rights uint64, scopes uint64) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || version < 1 {
		return 0, 0
	}
	rights = firstRights
	if version >= 2 {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 5 {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		scopes = unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return rights, scopes
}

// restrictFiles leaves the thread the files of the policy. Signals to processes
// outside, pawl among them, are kept in where the kernel can.
func restrictFiles(p *Policy) error {
	rights, scopes := landlockRights()
	if rights == 0 {
		return errors.New("this kernel has no Landlock")
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rights, Scoped: scopes}
	const size = 24 // of the fields that are set; older kernels do not know the others
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), rulesetSize(size, scopes), 0)
	if errno != 0 {
		return fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	defer unix.Close(int(ruleset))
	for _, path := range p.Read {
		if err := allow(int(ruleset), path, readRights&rights); err != nil {
			return err
		}
	}
	for _, path := range p.Write {
		if err := allow(int(ruleset), path, rights); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("restrict with Landlock: %w", errno)
	}
	return nil
}

// rulesetSize is how much of the attributes the kernel is told of: a kernel
// refuses bytes that it does not know.
func rulesetSize(full uintptr, scopes uint64) uintptr {
	if scopes == 0 {
		return 8
	}
	return full
}

// allow adds a rule for a path. One that is not there needs none.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %s: %w", path, os.NewSyscallError("landlock_add_rule", errno))
	}
	return nil
}

// keptCapability is the one that a confined root keeps: files of other users
// that the policy allows, as a container's mounted workspace is made of, stay
// usable. What the policy does not allow, it does not open.
const keptCapability = 1 << unix.CAP_DAC_OVERRIDE

// dropCapabilities gives up what root has beyond other users, for good. For
// anybody else there is nothing to drop.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var now [2]unix.CapUserData
	if err := unix.Capget(&header, &now[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	if now[0].Permitted|now[1].Permitted == 0 {
		return nil
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if 1<<c == keptCapability {
			continue
		}
		// A capability that this kernel does not know cannot be had either.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	kept := [2]unix.CapUserData{{Effective: now[0].Effective & keptCapability, Permitted: now[0].Permitted & keptCapability}}
	if err := unix.Capset(&header, &kept[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

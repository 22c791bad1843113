package sandbox

import "golang.org/x/sys/unix"

func pollable(fd int) []unix.PollFd {
	return []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
}

//go:build unix

package tree

import "syscall"

const nonblock = syscall.O_NONBLOCK

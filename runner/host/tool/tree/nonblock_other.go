//go:build !unix

package tree

// nonblock has no meaning where there are no named pipes among the files.
const nonblock = 0

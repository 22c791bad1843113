//go:build !linux

package runner_test

import "os"

func datasync(f *os.File) error { return f.Sync() }

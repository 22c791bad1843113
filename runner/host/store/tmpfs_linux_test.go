package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

// small mounts a file system of 128 KB in memory, or skips.
func small(t *testing.T, flags uintptr) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, "size=128k"); err != nil {
		t.Skipf("cannot mount a small file system here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	mount := small(t, 0)
	dir := filepath.Join(mount, "store")
	r, err := Create(dir, testRun)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	events := story(testRun, 5000)
	confirmed := 0
	for err == nil && confirmed < len(events) {
		if err = r.Append(context.Background(), events[confirmed:confirmed+3]); err == nil {
			confirmed += 3
		}
	}
	full(t, err, pathsOf(dir, testRun).log)
	if !strings.Contains(err.Error(), "run "+string(testRun)+" stops here: resume it when there is space") {
		t.Errorf("error %v, want what it means and what to do", err)
	}
	if err := r.Append(context.Background(), events[confirmed:confirmed+1]); !errors.Is(err, ErrUnknownState) {
		t.Errorf("next append: %v, want ErrUnknownState", err)
	}
	content := make([]byte, 200_000)
	full(t, r.Put(event.DigestOf(content), content), ".half-1")
	if left, _ := os.ReadDir(r.at.blobs); len(left) > 1 {
		t.Errorf("%v were left of a blob that found no room", left)
	}
	r.Close()
	resumeWithSpace(t, mount, dir, events, confirmed)
}

func full(t *testing.T, err error, path string) {
	t.Helper()
	var w *WriteError
	if !errors.As(err, &w) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("error %v, want that there is no room for %s", err, path)
	}
}

// resumeWithSpace carries on once the file system is larger.
func resumeWithSpace(t *testing.T, mount, dir string, events []event.Event, confirmed int) {
	t.Helper()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	r, got, cut, err := Open(dir, testRun)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(got) < confirmed || len(got) > confirmed+3 {
		t.Fatalf("%d events, cut %d; want at least the %d that were confirmed", len(got), cut, confirmed)
	}
	add(t, r, events[len(got):]...)
	holds(t, dir, testRun, events)
}

func TestFullDiskAtTheStart(t *testing.T) {
	t.Parallel()
	mount := small(t, 0)
	if err := os.WriteFile(filepath.Join(mount, "ballast"), make([]byte, 300_000), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	_, err := Create(filepath.Join(mount, "store"), testRun)
	full(t, err, "store")
	if !strings.Contains(err.Error(), "did not begin: start it again when there is space") {
		t.Errorf("error %v, want that nothing has begun", err)
	}
	if list := listed(t, filepath.Join(mount, "store")); len(list) > 0 {
		t.Errorf("listed %+v", list)
	}
}

func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	mount := small(t, syscall.MS_RDONLY)
	_, err := Create(filepath.Join(mount, "store"), testRun)
	var w *WriteError
	if !errors.As(err, &w) || !strings.Contains(err.Error(), "read-only") || !strings.Contains(err.Error(), "when the file system takes writes") {
		t.Errorf("error %v, want that the file system is read-only", err)
	}
}

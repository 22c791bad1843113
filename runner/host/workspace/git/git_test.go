package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	got := scrub([]string{"PATH=/bin", "HOME=/h", "GITHUB_TOKEN=secret", "GIT_DIR=/x", "GIT_INDEX_FILE=/x", "GIT_NAMESPACE=x", "GIT_EXTERNAL_DIFF=x",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "https_proxy=http://p", "LC_ALL=de_DE", "GIT_TRACE=1", "noequals"})
	got = got[5:] // what is always set
	want := []string{"PATH=/bin", "HOME=/h", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", "https_proxy=http://p"}
	if !slices.Equal(got, want) {
		t.Errorf("git would see %q, want %q", got, want)
	}
}

// fake is a git that is a shell script.
func fake(t *testing.T, script string) *Git {
	t.Helper()
	file := filepath.Join(t.TempDir(), "git")
	// A child forked by another test while the file is open for writing would keep
	// it open, and it could not be executed: text file busy.
	syscall.ForkLock.RLock()
	err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Find(file, []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRunReportsWhatGitSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := fake(t, "echo 'fatal: no such thing' >&2; exit 128").Run(context.Background(), Call{Dir: dir, Args: []string{"add"}})
	var e *Error
	if !errors.As(err, &e) || e.Exit != 128 || e.Op != "add" || e.Error() != "git add in "+dir+": no such thing" || !Said(err, "such thing") {
		t.Errorf("Run: %v", err)
	}
	_, err = fake(t, "head -c 10000000 /dev/zero | tr '\\0' x >&2; exit 1").Run(context.Background(), Call{Dir: dir, Args: []string{"add"}})
	if !errors.As(err, &e) || len(e.Message) > maxMessage+10 {
		t.Errorf("a flood on stderr: %d bytes", len(fmt.Sprint(err)))
	}
	if _, err := Find("/nowhere/git", nil); err == nil {
		t.Error("found a git that is not there")
	}
}

// hangUp refuses everything, and says that it was asked.
type hangUp struct{ asked chan struct{} }

func (h hangUp) Write([]byte) (int, error) { close(h.asked); return 0, os.ErrClosed }

func TestStreamStopsGit(t *testing.T) {
	t.Parallel()
	h := hangUp{make(chan struct{})}
	if err := fake(t, "exec yes").Stream(context.Background(), Call{Dir: t.TempDir(), Args: []string{"log"}}, h); err == nil {
		t.Error("no error from a writer that refuses")
	}
	ctx, cancel := context.WithCancel(context.Background())
	out := &started{cancel}
	err := fake(t, "echo started; exec sleep 60").Stream(ctx, Call{Dir: t.TempDir(), Args: []string{"log"}}, out)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Stream: %v", err)
	}
}

// started cancels a context when the process has written.
type started struct{ cancel func() }

func (s *started) Write(p []byte) (int, error) { s.cancel(); return len(p), nil }

func TestCappedKeepsTheBeginning(t *testing.T) {
	t.Parallel()
	c := &capped{left: 10}
	if n, err := io.Copy(c, strings.NewReader(strings.Repeat("0123456789", 10_000))); n != 100_000 || err != nil {
		t.Errorf("took %d bytes, %v", n, err)
	}
	if got := c.kept.String(); got != "0123456789" {
		t.Errorf("kept %d bytes", len(got))
	}
}

func TestVersionOfSomethingElse(t *testing.T) {
	t.Parallel()
	if _, _, _, err := fake(t, "echo hello").Version(context.Background(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "hello") {
		t.Errorf("Version: %v", err)
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in           string
		major, minor int
		ok           bool
	}{
		{"git version 2.39.5\n", 2, 39, true},
		{"git version 2.50.1 (Apple Git-155)\n", 2, 50, true},
		{"git version 2.47.0.windows.2\n", 2, 47, true},
		{"git version 3.0.0-rc1\n", 3, 0, true},
		{"jit version 2.1", 0, 0, false},
		{"git version 99999999999999999999.1", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, tt := range tests {
		major, minor, ok := parseVersion(tt.in)
		if ok != tt.ok || ok && (major != tt.major || minor != tt.minor) {
			t.Errorf("parseVersion(%q) = %d, %d, %v", tt.in, major, minor, ok)
		}
	}
}

func TestOneMessage(t *testing.T) {
	t.Parallel()
	got := oneMessage("error: a\nhint: do b\nfatal: c\nerror: a\n\n")
	if got != "a; c" {
		t.Errorf("got %q", got)
	}
	if got := oneMessage(strings.Repeat("é", 10_000)); len(got) > maxMessage+10 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes", len(got))
	}
	err := fmt.Errorf("x: %w", &Error{Op: "add", Dir: "/w", Message: "no space", Exit: 128})
	if err.Error() != "x: git add in /w: no space" || !Said(err, "space") || Said(err, "other") {
		t.Error(err)
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add("file:.git/config\x00core.bare\nfalse\x00command line:\x00x.y\x00")
	f.Add("file:/etc/gitconfig\x00filter.a=b.clean\ncat\nmore\x00")
	f.Fuzz(func(t *testing.T, in string) {
		for _, s := range parseSettings(in) {
			if strings.ContainsRune(s.origin+s.key+s.value, 0) || strings.Contains(s.key, "\n") {
				t.Errorf("bad setting %q in %q", s, in)
			}
		}
	})
}

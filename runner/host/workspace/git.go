package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// hardening is put before every git command: what would run programs is off, and
// what would make the outcome depend on the user's taste is fixed.
var hardening = []string{
	"core.hooksPath=" + os.DevNull,
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.splitIndex=false",
	"core.ignoreStat=false",
	"core.trustctime=true",
	"core.checkStat=default",
	"core.safecrlf=false",
	"core.quotePath=true",
	"core.fsync=loose-object,pack,reference",
	"core.fsyncMethod=batch",
	"core.alternateRefsCommand=",
	"protocol.ext.allow=never",
	"commit.gpgsign=false",
	"log.showSignature=false",
	"color.ui=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
	"i18n.commitEncoding=UTF-8",
	"i18n.logOutputEncoding=UTF-8",
	"checkout.workers=0",
	"worktree.guessRemote=false",
	"worktree.useRelativePaths=false",
	"branch.autoSetupMerge=false",
}

// passed lists the variables that git may see. Everything else stays away:
// tokens, and above all the GIT_DIR, GIT_INDEX_FILE, … of a git that called us.
var passed = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "TMPDIR": true, "TMP": true, "TEMP": true,
	"XDG_CONFIG_HOME": true, "LD_LIBRARY_PATH": true, "SSH_AUTH_SOCK": true,
	"HTTP_PROXY": true, "HTTPS_PROXY": true, "ALL_PROXY": true, "NO_PROXY": true,
	"SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "CURL_CA_BUNDLE": true,
	"SYSTEMROOT": true, "USERPROFILE": true, "APPDATA": true, "LOCALAPPDATA": true, "PROGRAMDATA": true, "PATHEXT": true,
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true, "GIT_CONFIG_COUNT": true,
	"GIT_CONFIG_PARAMETERS": true, "GIT_EXEC_PATH": true, "GIT_SSL_CAINFO": true, "GIT_SSH": true, "GIT_SSH_COMMAND": true,
	"GIT_LFS_SKIP_SMUDGE": true,
}

// scrub builds git's environment from the caller's.
func scrub(env []string) []string {
	out := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_EDITOR=false"}
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		numbered := strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
		if ok && (passed[name] || numbered) {
			out = append(out, kv)
		}
	}
	return out
}

// git runs the git binary. It is safe for use by several goroutines.
type git struct {
	bin    string
	env    []string
	spawns atomic.Int64 // git processes started here
}

// call is one git command.
type call struct {
	dir   string
	env   []string // GIT_DIR and the like, on top of the scrubbed environment
	conf  []string // options before the command, on top of hardening
	stdin string
	args  []string
}

const (
	maxStderr = 64 << 10
	killAfter = 5 * time.Second // from SIGTERM, on which git removes its lock files, to SIGKILL
)

// run runs c and returns its standard output; a failure is a *[GitError] or ctx's error.
func (g *git) run(ctx context.Context, c call) (string, error) {
	var out bytes.Buffer
	err := g.stream(ctx, c, &out)
	return out.String(), err
}

// stream is run with the output written to w. When w refuses, git is stopped.
func (g *git) stream(ctx context.Context, c call, w io.Writer) error {
	var args []string
	for _, kv := range hardening {
		args = append(args, "-c", kv)
	}
	args = append(append(args, c.conf...), c.args...)
	cmd := exec.CommandContext(ctx, g.bin, args...)
	cmd.Dir, cmd.Env = c.dir, append(g.env[:len(g.env):len(g.env)], c.env...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(c.stdin), w
	stderr := &capped{left: maxStderr}
	cmd.Stderr = stderr
	cmd.WaitDelay = killAfter
	g.spawns.Add(1)
	if err := runTied(cmd); err != nil {
		return g.failure(ctx, c, cmd, stderr.String(), err)
	}
	return nil
}

func (g *git) failure(ctx context.Context, c call, cmd *exec.Cmd, stderr string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s in %s: %w", c.args[0], c.dir, context.Cause(ctx))
	}
	e := &GitError{Op: c.args[0], Dir: c.dir, Message: oneMessage(stderr), Exit: -1, Err: err}
	if cmd.ProcessState != nil {
		e.Exit = cmd.ProcessState.ExitCode()
	}
	e.Message += fullDisk(c)
	return e
}

const nearlyFull = 1 << 20 // bytes left on a disk that explain a failure

// fullDisk names a disk of the command's that has no room. git often says only
// which file it could not write, not why.
func fullDisk(c call) string {
	dirs := []string{c.dir}
	for _, kv := range c.env {
		if dir, ok := strings.CutPrefix(kv, "GIT_DIR="); ok {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if n := left(dir); n >= 0 && n < nearlyFull {
			return fmt.Sprintf(" (the disk of %s is full: %d KiB left)", dir, n>>10)
		}
	}
	return ""
}

// said reports whether err is a git failure whose message holds one of words.
func said(err error, words ...string) bool {
	var e *GitError
	if !errors.As(err, &e) {
		return false
	}
	for _, w := range words {
		if strings.Contains(e.Message, w) {
			return true
		}
	}
	return false
}

// capped keeps the first bytes written to it and swallows the rest.
type capped struct {
	bytes.Buffer
	left int
}

// Write implements io.Writer; it always accepts everything.
func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.Buffer.Write(p[:n])
	return len(p), nil
}

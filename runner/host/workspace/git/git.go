package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
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

// Git is a git binary with the environment it gets. It is safe for use by several
// goroutines.
type Git struct {
	bin    string
	env    []string
	spawns atomic.Int64
}

// Call is one git command.
type Call struct {
	Dir   string   // where it runs
	Env   []string // GIT_DIR and the like, on top of the allow-listed environment
	Conf  []string // options before the command, on top of the hardening
	Stdin string
	Args  []string // the command and what belongs to it
}

// Find looks up the git binary; name may be a path, and "" is git in the
// process's PATH. env is the caller's environment, of which git sees a part.
func Find(name string, env []string) (*Git, error) {
	if name == "" {
		name = "git"
	}
	bin, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	return &Git{bin: bin, env: scrub(env)}, nil
}

// Path is where the binary is.
func (g *Git) Path() string { return g.bin }

// Spawns is how many git processes were started here so far.
func (g *Git) Spawns() int64 { return g.spawns.Load() }

var versionWords = regexp.MustCompile(`^git version (\d+)\.(\d+)`)

// Version asks the binary for its version; text is what it said.
func (g *Git) Version(ctx context.Context, dir string) (major, minor int, text string, err error) {
	out, err := g.Run(ctx, Call{Dir: dir, Args: []string{"version"}})
	if err != nil {
		return 0, 0, "", err
	}
	text = strings.TrimSpace(out)
	major, minor, ok := parseVersion(text)
	if !ok {
		return 0, 0, text, fmt.Errorf("%s says %.80q, which is no version of git", g.bin, text)
	}
	return major, minor, text, nil
}

func parseVersion(text string) (major, minor int, ok bool) {
	m := versionWords.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	major, errMajor := strconv.Atoi(m[1])
	minor, errMinor := strconv.Atoi(m[2])
	return major, minor, errMajor == nil && errMinor == nil
}

const (
	maxStderr = 64 << 10
	killAfter = 5 * time.Second // from SIGTERM, on which git removes its lock files, to SIGKILL
)

// Run runs c and returns its standard output; a failure is an *[Error] or ctx's error.
func (g *Git) Run(ctx context.Context, c Call) (string, error) {
	var out bytes.Buffer
	err := g.Stream(ctx, c, &out)
	return out.String(), err
}

// Stream is Run with the output written to w. When w refuses, git is stopped.
func (g *Git) Stream(ctx context.Context, c Call, w io.Writer) error {
	var args []string
	for _, kv := range hardening {
		args = append(args, "-c", kv)
	}
	args = append(append(args, c.Conf...), c.Args...)
	cmd := exec.CommandContext(ctx, g.bin, args...)
	cmd.Dir, cmd.Env = c.Dir, append(g.env[:len(g.env):len(g.env)], c.Env...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(c.Stdin), w
	stderr := &capped{left: maxStderr}
	cmd.Stderr = stderr
	cmd.WaitDelay = killAfter
	g.spawns.Add(1)
	if err := runTied(cmd); err != nil {
		return g.failure(ctx, c, cmd, stderr.kept.String(), err)
	}
	return nil
}

// capped keeps the first bytes written to it and swallows the rest. The buffer is
// not embedded: its ReadFrom would take everything.
type capped struct {
	kept bytes.Buffer
	left int
}

// Write implements io.Writer; it always accepts everything.
func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	c.left -= n
	c.kept.Write(p[:n])
	return len(p), nil
}

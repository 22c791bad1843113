package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner/host/sandbox/confine"
)

// enforces skips where the system does not give a shield; CI's own kernel does.
func enforces(t *testing.T, shield string) {
	t.Helper()
	taken, missing := confine.System()
	if !slices.Contains(taken, shield) {
		t.Skipf("this system does not enforce %q: %v", shield, missing)
	}
}

// confined is a place with a worktree, a private directory for temporary files, a
// home with secrets and something outside.
type confinedPlace struct {
	work, tmp, home, outside string
	env                      []string
}

func newConfinedPlace(t *testing.T) confinedPlace {
	t.Helper()
	top := t.TempDir()
	p := confinedPlace{work: top + "/work", tmp: top + "/tmp", home: top + "/home", outside: top + "/outside"}
	for _, dir := range []string{p.work, p.tmp, p.home + "/.ssh", p.home + "/.cache", p.outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{p.home + "/.ssh/id", p.home + "/.netrc", p.outside + "/secret"} {
		if err := os.WriteFile(file, []byte("secret\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + p.tmp, "OUT=" + p.outside,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	return p
}

func (p confinedPlace) run(t *testing.T, line string, network bool) Result {
	t.Helper()
	policy := confine.Usual(p.env, p.work, p.tmp)
	policy.Network = network
	r, err := Run(t.Context(), Spec{Line: line, Dir: p.work, Env: p.env, Timeout: time.Minute, Confine: &policy})
	if err != nil {
		t.Fatalf("Run(%q): %v", line, err)
	}
	return r
}

func TestAConfinedCommandCannot(t *testing.T) {
	t.Parallel()
	enforces(t, confine.FilesOnly)
	for name, c := range map[string]struct{ shield, line string }{
		"write outside":               {confine.FilesOnly, `echo x >$OUT/new`},
		"append outside":              {confine.FilesOnly, `echo x >>$OUT/secret`},
		"truncate outside":            {confine.FilesOnly, `: >$OUT/secret`},
		"remove outside":              {confine.FilesOnly, `rm $OUT/secret`},
		"rename out":                  {confine.FilesOnly, `echo x >f && mv f $OUT/f`},
		"link out and write":          {confine.FilesOnly, `ln -s $OUT/secret l && echo x >l`},
		"hard link in and write":      {confine.FilesOnly, `ln $OUT/secret l && echo x >l`},
		"make a directory outside":    {confine.FilesOnly, `mkdir $OUT/d`},
		"write to /tmp":               {confine.FilesOnly, `echo x >/tmp/pawl-confined-$$`},
		"write to /etc":               {confine.FilesOnly, `echo x >/etc/pawl-confined-$$`},
		"write to the home":           {confine.FilesOnly, `echo x >$HOME/.profile`},
		"read outside":                {confine.FilesOnly, `cat $OUT/secret`},
		"list outside":                {confine.FilesOnly, `ls $OUT`},
		"read a key":                  {confine.FilesOnly, `cat $HOME/.ssh/id`},
		"read a password":             {confine.FilesOnly, `cat $HOME/.netrc`},
		"read pawl's environment":     {confine.FilesOnly, `cat /proc/$PPID/environ`},
		"read pawl's memory":          {confine.FilesOnly, `head -c 1 /proc/$PPID/mem`},
		"signal pawl":                 {confine.FilesOnly, `kill -0 $PPID`},
		"mount":                       {confine.NoCapabilities, `mount -t tmpfs none .`},
		"give files away":             {confine.NoCapabilities, `[ $(id -u) = 0 ] && echo x >f && chown 1:1 f`},
		"become another user":         {confine.NoCapabilities, `[ $(id -u) = 0 ] && setpriv --reuid 1 true`},
		"make devices":                {confine.NoCapabilities, `mknod d b 8 0`},
		"gain privileges":             {confine.NoPrivileges, `grep -q 'NoNewPrivs:.*0' /proc/self/status`},
		"keep what it could not have": {confine.NoCapabilities, `grep -q 'CapBnd:.*[13579a-f]$' /proc/self/status`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enforces(t, c.shield)
			p := newConfinedPlace(t)
			if r := p.run(t, c.line, true); r.Exit == 0 {
				t.Errorf("it could: %q %q", r.Stdout.String(), r.Stderr.String())
			}
			if text, err := os.ReadFile(p.outside + "/secret"); err != nil || string(text) != "secret\n" {
				t.Errorf("the secret outside is now %q, %v", text, err)
			}
			if left, _ := os.ReadDir(p.outside); len(left) != 1 {
				t.Errorf("outside there are now %v", left)
			}
			if left, _ := filepath.Glob("/*/pawl-confined-*"); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAConfinedCommandCan(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"write in the worktree":     `mkdir -p a/b && echo x >a/b/c && mv a/b/c a/d && rm -r a`,
		"use temporary files":       `f=$(mktemp) && echo x >$f && rm $f`,
		"use devices":               `echo x >/dev/null && head -c 4 /dev/urandom >/dev/null && cat </dev/null`,
		"use caches":                `mkdir -p $HOME/.cache/tool && echo x >$HOME/.cache/tool/x`,
		"run programs of its own":   `printf '#!/bin/sh\nexit 0\n' >p && chmod +x p && ./p`,
		"use git":                   `git init -q . && echo x >f && git add f && git commit -qm x && git log --oneline | grep -q x`,
		"run in the background":     `sleep 300 & kill $!`,
		"look at itself":            `cat /proc/self/status >/dev/null && cat /proc/cpuinfo >/dev/null && ls /sys >/dev/null`,
		"make pipes":                `mkfifo p && (echo x >p &) && cat p`,
		"copy what it may not keep": `cp /etc/passwd . && rm passwd`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newConfinedPlace(t)
			if r := p.run(t, line, false); r.Exit != 0 {
				t.Errorf("exit %d: %q %q", r.Exit, r.Stdout.String(), r.Stderr.String())
			}
		})
	}
}

// TestToolchainsWorkConfined runs real ones as a workflow would.
func TestToolchainsWorkConfined(t *testing.T) {
	t.Parallel()
	for program, line := range map[string]string{
		"go": `printf 'module m\n\ngo 1.26\n' >go.mod && printf 'package m\n\nimport "testing"\n\nfunc TestM(*testing.T) {}\n' >m_test.go && go test ./...`,
		"node": `printf 'require("http").createServer((q,r)=>r.end("ok")).listen(0,function(){require("http").get({port:this.address().port},r=>process.exit(r.statusCode==200?0:1))})' >s.js &&
			node s.js && npm --version`,
		"python3": `python3 -c 'import tempfile,socket,multiprocessing as m; tempfile.TemporaryFile(); m.Lock(); s=socket.create_server(("127.0.0.1",0)); socket.create_connection(s.getsockname())'`,
		"cargo":   `cargo --version && rustc --version`,
		"make":    `printf 'all:\n\t@echo made\n' >Makefile && make`,
		"gcc":     `echo 'int main(){return 0;}' >m.c && gcc m.c && ./a.out`,
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(err)
			}
			p := newConfinedPlace(t)
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOROOT"} { // a cold cache would build the library
				if out, err := exec.Command("go", "env", name).Output(); err == nil {
					p.env = append(p.env, name+"="+strings.TrimSpace(string(out)))
				}
			}
			if home, err := os.UserHomeDir(); err == nil {
				p.env = append(p.env, "RUSTUP_HOME="+filepath.Join(home, ".rustup"), "PYENV_ROOT="+filepath.Join(home, ".pyenv"))
			}
			confine.MakeCaches(p.env)
			free, err := Run(t.Context(), Spec{Line: line, Dir: p.work, Env: p.env, Timeout: time.Minute})
			if err != nil || free.Exit != 0 {
				t.Skipf("%s does not work here without a sandbox either: %q %v", program, free.Stderr.String(), err)
			}
			if r := p.run(t, line, false); r.Exit != 0 {
				t.Errorf("exit %d: %q %q", r.Exit, r.Stdout.String(), r.Stderr.String())
			}
		})
	}
}

func TestAConfinedCommandReachesItselfAlone(t *testing.T) {
	t.Parallel()
	enforces(t, confine.NoNetwork)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	line := `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ` + port + `), 5)'`
	p := newConfinedPlace(t)
	if r := p.run(t, line, false); r.Exit == 0 {
		t.Error("without a network it reached us")
	}
	if r := p.run(t, line, true); r.Exit != 0 {
		t.Errorf("with a network it did not reach us: %q", r.Stderr.String())
	}
}

// TestConfinementStaysWithTheCommand looks at what the test process may still do
// after many confined commands.
func TestConfinementStaysWithTheCommand(t *testing.T) {
	t.Parallel()
	p := newConfinedPlace(t)
	for range 20 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			p.run(t, "true", false)
		})
	}
	for i := range 50 {
		done := make(chan error)
		go func() { done <- os.WriteFile(filepath.Join(p.outside, "mine"), []byte{byte(i)}, 0o600) }()
		if err := <-done; err != nil {
			t.Fatalf("we are confined ourselves: %v", err)
		}
	}
}

func TestARequiredSandboxIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	p := newConfinedPlace(t)
	policy := confine.Usual(p.env, p.work)
	r, err := Run(t.Context(), Spec{Line: "true", Dir: p.work, Env: p.env, Confine: &policy, Required: true})
	if _, missing := confine.System(); len(missing) == 0 {
		if err != nil || r.Exit != 0 {
			t.Errorf("all is there, and it does not run: exit %d, %v", r.Exit, err)
		}
	} else if err == nil || !strings.Contains(err.Error(), "the sandbox is required") {
		t.Errorf("ran without %v: %v", missing, err)
	}
}

func TestNothingSurvivesAConfinedCommand(t *testing.T) {
	t.Parallel()
	p := newConfinedPlace(t)
	r := p.run(t, `for i in 1 2; do setsid sh -c 'echo $$ >>pid; exec sleep 300' & done; while [ "$(wc -l <pid || echo 0)" -lt 2 ]; do :; done 2>/dev/null`, false)
	text, err := os.ReadFile(p.work + "/pid")
	if err != nil || r.Strays != 2 {
		t.Errorf("%d strays, want 2; %v", r.Strays, err)
	}
	for _, pid := range pids(t, string(text)) {
		if alive(pid) {
			t.Errorf("process %d survived", pid)
		}
	}
}

func BenchmarkRunConfined(b *testing.B) {
	env := env()
	policy := confine.Usual(env, b.TempDir())
	for name, network := range map[string]bool{"network": true, "no network": false} {
		b.Run(name, func(b *testing.B) {
			policy.Network = network
			for b.Loop() {
				if _, err := Run(b.Context(), Spec{Argv: []string{"/bin/true"}, Dir: "/", Env: env, RunID: "bench", Confine: &policy}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

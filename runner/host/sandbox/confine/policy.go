package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Policy is what a confined process and all its descendants may touch. Paths are
// absolute, files or directories with all below them; one that does not exist is
// skipped.
type Policy struct {
	Read    []string // may be read and executed
	Write   []string // may be read, executed, written, and made and removed in
	Network bool     // other machines may be reached
}

// The restrictions of a policy, as a report names them.
const (
	NoPrivileges   = "no new privileges"
	NoNetwork      = "no network unless a node allows it"
	FilesOnly      = "files of the worktree, caches and toolchains only"
	NoCapabilities = "no capabilities"
)

// Gap is a restriction that this system does not give, and why.
type Gap struct{ Name, Why string }

// String names both.
func (g Gap) String() string { return g.Name + ": " + g.Why }

// Usual is the policy under which common toolchains work: they read the system
// and their own installations, and write to the given directories and to their
// caches. env is the environment that the process will get; toolchains are found
// by it. What a home directory holds beside toolchains, keys and tokens above
// all, is not in it.
func Usual(env []string, write ...string) Policy {
	p := Policy{Read: slices.Clone(systemPlaces), Write: append(slices.Clone(write), devices...)}
	for _, dir := range filepath.SplitList(Variable(env, "PATH")) {
		p.Read = append(p.Read, installation(dir, Variable(env, "HOME"))...)
	}
	for _, name := range toolchainVariables {
		for _, dir := range filepath.SplitList(Variable(env, name)) {
			if filepath.IsAbs(dir) && filepath.Clean(dir) != "/" {
				p.Read = append(p.Read, dir)
			}
		}
	}
	for _, name := range cacheVariables {
		if dir := Variable(env, name); filepath.IsAbs(dir) && filepath.Clean(dir) != "/" {
			p.Write = append(p.Write, dir)
		}
	}
	if home := Variable(env, "HOME"); filepath.IsAbs(home) && filepath.Clean(home) != "/" {
		p.Read = append(p.Read, below(home, homeToolchains)...)
		p.Write = append(p.Write, below(home, homeCaches)...)
	}
	return p
}

// systemPlaces hold programs, libraries and what they are configured by.
var systemPlaces = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap", "/gnu",
	"/proc", "/sys", "/dev", "/run/systemd/resolve", "/run/nscd", "/var/lib/dpkg", "/var/lib/ca-certificates", "/home/linuxbrew",
}

// devices that programs write to; the others of /dev can only be read.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm", "/dev/fd"}

// toolchainVariables name directories that toolchains are installed in.
var toolchainVariables = strings.Fields(`GOROOT GOPATH GOMODCACHE GOBIN NVM_DIR VOLTA_HOME FNM_DIR N_PREFIX PNPM_HOME COREPACK_HOME BUN_INSTALL
	DENO_DIR PLAYWRIGHT_BROWSERS_PATH PUPPETEER_CACHE_DIR CYPRESS_CACHE_FOLDER VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT PYTHONPATH PYTHONHOME
	PYTHONUSERBASE PYTHONLOCATION PIPX_HOME UV_PYTHON_INSTALL_DIR UV_TOOL_DIR POETRY_HOME JAVA_HOME JDK_HOME MAVEN_HOME M2_HOME GRADLE_HOME
	SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME CARGO_HOME RUSTUP_HOME DOTNET_ROOT GEM_HOME GEM_PATH RBENV_ROOT GHCUP_INSTALL_BASE_PREFIX
	STACK_ROOT PERL5LIB PERL_LOCAL_LIB_ROOT R_HOME R_LIBS R_LIBS_USER FLUTTER_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX
	RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY NODE_PATH LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS`)

// cacheVariables name directories that toolchains write to wherever they run.
var cacheVariables = strings.Fields(`TMPDIR TMP TEMP XDG_CACHE_HOME GOCACHE GOTMPDIR GOMODCACHE GOLANGCI_LINT_CACHE NPM_CONFIG_CACHE YARN_CACHE_FOLDER
	NPM_CONFIG_STORE_DIR PIP_CACHE_DIR UV_CACHE_DIR POETRY_CACHE_DIR GRADLE_USER_HOME CARGO_HOME CARGO_TARGET_DIR SCCACHE_DIR CCACHE_DIR NUGET_PACKAGES
	DOTNET_CLI_HOME COMPOSER_CACHE_DIR MIX_HOME HEX_HOME PUB_CACHE COURSIER_CACHE MISE_CACHE_DIR DENO_DIR`)

// homeToolchains and homeCaches are where toolchains are when no variable says.
// A toolchain's directory that also keeps its credentials is named by the parts
// that hold none.
var (
	homeToolchains = strings.Fields(`go .local/bin .local/lib .local/share/pnpm .local/share/uv .local/share/mise .local/share/virtualenvs .pyenv .nvm
		.volta .fnm .bun/bin .deno .rustup .rbenv .rvm .asdf .sdkman .jenv .ghcup .stack .cabal/bin .dotnet .opam .juliaup .swiftly .gvm miniconda3
		anaconda3 .conda .cargo/bin .cargo/env .poetry .gem .yarn .config/go`)
	homeCaches = strings.Fields(`.cache go/pkg .npm .cargo/registry .cargo/git .cargo/.package-cache .cargo/.global-cache
		.m2/repository .gradle/caches .gradle/daemon .gradle/native .gradle/wrapper .nuget/packages .ivy2/cache .sbt .pub-cache .bundle/cache .hex .mix
		.bun/install Library/Caches`)
)

// firstCaches are made before a toolchain runs for the first time: it could not
// make them itself in a home that it may not write to. They are what the program
// would have made.
var firstCaches = map[string][]string{
	"": {".cache"}, "go": {"go/pkg"}, "npm": {".npm"}, "cargo": {".cargo/registry", ".cargo/git"}, "mvn": {".m2/repository"},
	"gradle": {".gradle/caches", ".gradle/daemon", ".gradle/native", ".gradle/wrapper"}, "dotnet": {".nuget/packages"},
}

// MakeCaches makes the caches in env's HOME that its toolchains expect. What
// cannot be made is not: the toolchain will say so.
func MakeCaches(env []string) {
	home := Variable(env, "HOME")
	if !filepath.IsAbs(home) {
		return
	}
	for program, dirs := range firstCaches {
		if program != "" && !has(env, program) {
			continue
		}
		for _, dir := range below(home, dirs) {
			_ = os.MkdirAll(dir, 0o755)
		}
	}
}

// has reports whether env's PATH leads to a program of that name.
func has(env []string, program string) bool {
	return slices.ContainsFunc(filepath.SplitList(Variable(env, "PATH")), func(dir string) bool {
		st, err := os.Stat(filepath.Join(dir, program))
		return err == nil && st.Mode().IsRegular()
	})
}

// Variable is the value of a variable in an environment of NAME=value; the last
// entry counts, "" is none.
func Variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			value = v
		}
	}
	return value
}

func below(home string, names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = filepath.Join(home, name)
	}
	return paths
}

// installation is what belongs to a directory of PATH: often the tree beside a
// bin, unless that is a home directory or the root.
func installation(dir, home string) []string {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top := filepath.Dir(dir)
	if filepath.Base(dir) != "bin" || top == "/" || home != "" && (top == filepath.Clean(home) || strings.HasPrefix(filepath.Clean(home)+"/", top+"/")) {
		return []string{dir}
	}
	return []string{dir, top}
}

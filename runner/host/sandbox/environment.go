package sandbox

import (
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// allowed are the variables that a command may inherit, in upper case. Each
// group is here because something common does not work, or works differently
// than in the user's CI, without it.
var allowed = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, group := range []string{
		// The person and the place.
		`PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM TZ TZDIR TMPDIR TMP TEMP CI
		 XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME HOSTNAME`,
		// Windows starts next to nothing without these.
		`SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERPROFILE USERNAME HOMEDRIVE HOMEPATH APPDATA
		 LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES
		 NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE`,
		// The way out, and whom to believe there.
		`HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE
		 REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO NIX_SSL_CERT_FILE`,
		// Where hosted runners keep toolchains. Their other variables name files
		// by which a step talks to the runner, or carry tokens.
		`RUNNER_TOOL_CACHE RUNNER_OS RUNNER_ARCH AGENT_TOOLSDIRECTORY`,
		// Go. GOAUTH names a credential helper and is left out.
		`GOROOT GOPATH GOBIN GOCACHE GOMODCACHE GOTMPDIR GOENV GOFLAGS GOPROXY GOPRIVATE GONOPROXY GOSUMDB
		 GONOSUMDB GOINSECURE GOVCS GOTOOLCHAIN GOWORK GO111MODULE GOOS GOARCH GOAMD64 GOARM GOARM64
		 GOEXPERIMENT GODEBUG GOGC GOMEMLIMIT GOMAXPROCS GOTRACEBACK GOLANGCI_LINT_CACHE CGO_ENABLED
		 CGO_CFLAGS CGO_CPPFLAGS CGO_CXXFLAGS CGO_LDFLAGS`,
		// C and C++.
		`CC CXX CPP AR LD AS NM RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH
		 CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH PKG_CONFIG_PATH
		 CMAKE_PREFIX_PATH CMAKE_GENERATOR CCACHE_DIR SDKROOT MACOSX_DEPLOYMENT_TARGET DEVELOPER_DIR`,
		// JavaScript. npm's user configuration is left out: it usually refers to a
		// token that is not there, which npm takes for an error.
		`NODE_PATH NODE_ENV NODE_OPTIONS NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR N_PREFIX COREPACK_HOME
		 PNPM_HOME YARN_CACHE_FOLDER NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NPM_CONFIG_REGISTRY
		 NPM_CONFIG_STORE_DIR NPM_CONFIG_LOGLEVEL DENO_DIR BUN_INSTALL PLAYWRIGHT_BROWSERS_PATH
		 CYPRESS_CACHE_FOLDER PUPPETEER_CACHE_DIR CHROME_BIN`,
		// Python.
		`VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYENV_ROOT PYENV_VERSION PYTHONPATH
		 PYTHONHOME PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING
		 PYTHONUSERBASE PYTHONLOCATION PYTHON_ROOT_DIR PYTHON3_ROOT_DIR PIP_CACHE_DIR PIP_INDEX_URL
		 PIP_DISABLE_PIP_VERSION_CHECK PIPX_HOME PIPX_BIN_DIR POETRY_HOME POETRY_CACHE_DIR
		 POETRY_VIRTUALENVS_PATH POETRY_VIRTUALENVS_IN_PROJECT UV_CACHE_DIR UV_PYTHON UV_TOOL_DIR
		 UV_PYTHON_INSTALL_DIR`,
		// The Java machine and Android.
		`JAVA_HOME JDK_HOME JRE_HOME JAVA_TOOL_OPTIONS MAVEN_HOME M2_HOME MAVEN_OPTS MAVEN_ARGS
		 GRADLE_HOME GRADLE_USER_HOME GRADLE_OPTS SBT_OPTS KOTLIN_HOME SDKMAN_DIR ANDROID_HOME
		 ANDROID_SDK_ROOT ANDROID_NDK_HOME COURSIER_CACHE`,
		// Rust.
		`CARGO_HOME CARGO_TARGET_DIR CARGO_INCREMENTAL CARGO_TERM_COLOR CARGO_NET_OFFLINE
		 CARGO_NET_GIT_FETCH_WITH_CLI CARGO_BUILD_JOBS RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS
		 RUSTDOCFLAGS RUST_BACKTRACE RUST_LOG RUSTC_WRAPPER SCCACHE_DIR`,
		// .NET, Ruby, PHP, Elixir, Haskell, Perl, Swift, R, Dart.
		`DOTNET_ROOT DOTNET_CLI_HOME DOTNET_NOLOGO DOTNET_CLI_TELEMETRY_OPTOUT NUGET_PACKAGES
		 GEM_HOME GEM_PATH BUNDLE_PATH BUNDLE_GEMFILE BUNDLE_WITHOUT BUNDLE_JOBS RBENV_ROOT RBENV_VERSION
		 RUBYLIB RUBYOPT RAILS_ENV RACK_ENV COMPOSER_HOME COMPOSER_CACHE_DIR PHPRC PHP_INI_SCAN_DIR
		 MIX_ENV MIX_HOME HEX_HOME GHCUP_INSTALL_BASE_PREFIX STACK_ROOT CABAL_DIR PERL5LIB
		 PERL_LOCAL_LIB_ROOT SWIFTLY_HOME_DIR R_HOME R_LIBS R_LIBS_USER PUB_CACHE FLUTTER_ROOT`,
		// Version managers and package sets.
		`ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_CACHE_DIR HOMEBREW_PREFIX HOMEBREW_CELLAR
		 HOMEBREW_REPOSITORY NIX_PATH NIX_PROFILES NIX_STORE SOURCE_DATE_EPOCH`,
	} {
		for name := range strings.FieldsSeq(group) {
			names[name] = true
		}
	}
	return names
})

// prefixes of further names that may be inherited: locale categories, and the
// versioned homes that hosted runners define.
var prefixes = []string{"LC_", "JAVA_HOME_", "GOROOT_"}

// secretName are words that no inherited variable's name may hold, whatever
// the lists above say.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`TOKEN|KEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTH|^ACTIONS_|^GITHUB_`)
})

// secretValue finds credentials inside harmless variables: the user part of a
// URL, as in a private GOPROXY, and options such as -Dhttp.proxyPassword=x.
var secretValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)://[^/\s@]*@|(passw(or)?d|token|secret|api_?key|credential)[a-z_]*=`)
})

// usualPath is for a caller without a PATH.
const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Environment builds the environment of a command from parent, pawl's own
// ("NAME=value" each): what toolchains need is let through, everything else and
// whatever looks like a credential is left out. home is the HOME for when parent
// has none, because toolchains need one; "" leaves it unset. extra comes on top
// as it is: the caller vouches for it. The result is sorted by name.
func Environment(parent []string, home string, extra map[string]string) []string {
	vars := map[string]string{}
	for _, kv := range parent {
		name, value, ok := strings.Cut(kv, "=")
		if ok && value != "" && inherits(name) && !secretValue().MatchString(value) {
			vars[name] = value
		}
	}
	if vars["HOME"] == "" && home != "" {
		vars["HOME"] = home
	}
	if vars["PATH"] == "" && runtime.GOOS != "windows" {
		vars["PATH"] = usualPath
	}
	maps.Copy(vars, extra)
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

// inherits reports whether a variable is on the list. Case does not count: some
// tools read their variables in lower case, and Windows makes no difference.
func inherits(name string) bool {
	name = strings.ToUpper(name)
	if secretName().MatchString(name) {
		return false
	}
	if allowed()[name] {
		return true
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

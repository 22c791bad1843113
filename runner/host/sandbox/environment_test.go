package sandbox

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEnvironmentLetsToolchainsWorkAndKeepsSecretsAway(t *testing.T) {
	t.Parallel()
	kept := []string{
		"PATH=/bin", "HOME=/h", "LANG=C.UTF-8", "LC_ALL=C", "TERM=dumb", "TZ=UTC", "TMPDIR=/t", "USER=u", "SHELL=/bin/sh", "CI=true",
		"GOPATH=/go", "GOCACHE=/c", "GOMODCACHE=/m", "GOFLAGS=-mod=mod", "GOPROXY=https://proxy.golang.org,direct",
		"GOTOOLCHAIN=local", "GONOSUMDB=x", "GOROOT_1_25_X64=/r", "JAVA_HOME=/j", "JAVA_HOME_17_X64=/j17", "CARGO_HOME=/c",
		"RUSTUP_HOME=/r", "NODE_OPTIONS=--max-old-space-size=4096", "npm_config_cache=/n", "PYENV_ROOT=/p", "VIRTUAL_ENV=/v",
		"https_proxy=http://proxy:3128", "NO_PROXY=localhost", "SSL_CERT_FILE=/x", "LD_LIBRARY_PATH=/l", "RUNNER_TOOL_CACHE=/o",
		"pythonLocation=/py", "MAVEN_OPTS=-Xmx2g", "SystemRoot=C:\\Windows",
	}
	dropped := []string{
		"GITHUB_TOKEN=x", "GH_TOKEN=x", "ACTIONS_RUNTIME_TOKEN=x", "ACTIONS_ID_TOKEN_REQUEST_URL=x", "ACTIONS_CACHE_URL=x",
		"ACTIONS_RESULTS_URL=x", "GITHUB_ENV=/e", "GITHUB_OUTPUT=/o", "GITHUB_PATH=/p", "GITHUB_ACTIONS=true",
		"OPENAI_API_KEY=x", "ANTHROPIC_API_KEY=x", "AWS_ACCESS_KEY_ID=x", "AWS_SECRET_ACCESS_KEY=x", "AWS_SESSION_TOKEN=x",
		"GOOGLE_APPLICATION_CREDENTIALS=x", "DB_PASSWORD=x", "NPM_TOKEN=x", "NODE_AUTH_TOKEN=x", "CARGO_REGISTRY_TOKEN=x",
		"npm_config__authToken=x", "NPM_CONFIG_USERCONFIG=/x", "COMPOSER_AUTH=x", "GOAUTH=x", "SSH_AUTH_SOCK=/s", "DOCKER_HOST=x",
		"INPUT_TOKEN=x", "INPUT_API-KEY=x", "PAWL_RUN_ID=outer", "GIT_DIR=/g", "BASH_ENV=/e", "LD_PRELOAD=/x", "RUNNER_TEMP=/t",
		"BASH_FUNC_x%%=() { :; }", "RANDOM_THING=x", "JAVA_HOME_TOKEN=x", "LC_SECRET=x", "XDG_RUNTIME_DIR=/r", "MAKEFLAGS=-j",
		"GOPROXY=https://me:hunter2@proxy.example", "HTTP_PROXY=http://token@proxy", "PIP_INDEX_URL=https://u:p@x/simple",
		"GRADLE_OPTS=-Dhttp.proxyPassword=x", "MAVEN_OPTS=-Dtoken=x", "noequals", "=x", "TERM=",
	}
	slices.Sort(kept)
	got := Environment(append(slices.Clone(kept), dropped...), "/private", nil)
	if !slices.Equal(got, kept) {
		for _, kv := range got {
			if !slices.Contains(kept, kv) {
				t.Errorf("let through: %s", kv)
			}
		}
		for _, kv := range kept {
			if !slices.Contains(got, kv) {
				t.Errorf("kept away: %s", kv)
			}
		}
	}
}

func TestEnvironmentFillsIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parent []string
		home   string
		extra  map[string]string
		want   []string
	}{
		{nil, "", nil, []string{"PATH=" + usualPath}},
		{nil, "/private", nil, []string{"HOME=/private", "PATH=" + usualPath}},
		{[]string{"HOME=", "PATH=/b"}, "/private", nil, []string{"HOME=/private", "PATH=/b"}},
		{[]string{"HOME=/a", "PATH=/b"}, "/private", nil, []string{"HOME=/a", "PATH=/b"}},
		{[]string{"HOME=/a", "HOME=/b", "PATH=/b"}, "", nil, []string{"HOME=/b", "PATH=/b"}},
		{[]string{"PATH=/b"}, "", map[string]string{"Z": "1", "MY_TOKEN": "given", "PATH": "/c"}, []string{"MY_TOKEN=given", "PATH=/c", "Z=1"}},
	} {
		if got := Environment(c.parent, c.home, c.extra); !slices.Equal(got, c.want) {
			t.Errorf("Environment(%q, %q, %v) = %q, want %q", c.parent, c.home, c.extra, got, c.want)
		}
	}
}

func TestNoSecretNameIsEverInherited(t *testing.T) {
	t.Parallel()
	names := rapid.StringMatching(`[A-Za-z_]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"TOKEN", "Key", "secret", "PASSWORD", "CREDENTIAL", "Auth"}).Draw(t, "word")
		around := rapid.SampledFrom([]string{"LC_", "JAVA_HOME_", "GOROOT_", "GO", "NODE_", ""}).Draw(t, "around")
		name := around + names.Draw(t, "before") + word + names.Draw(t, "after")
		for _, kv := range Environment([]string{name + "=v"}, "", nil) {
			if strings.HasPrefix(kv, name+"=") {
				t.Fatalf("let through: %s", kv)
			}
		}
	})
}

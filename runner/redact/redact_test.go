package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/runner/redact"
	"pgregory.net/rapid"
)

func TestKnownFormsOfAValue(t *testing.T) {
	t.Parallel()
	const secret = `p"ss/wörd+with&odd=chars`
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New([]string{secret, "short", ""})
	for name, form := range map[string]string{
		"plain":     secret,
		"JSON":      string(quoted),
		"query":     url.QueryEscape(secret),
		"path":      url.PathEscape(secret),
		"basic":     base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		"base64":    base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64url": base64.RawURLEncoding.EncodeToString([]byte("xy" + secret + "tail")),
	} {
		got := r.String("before " + form + " after")
		if !strings.Contains(got, redact.Mark) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
			t.Errorf("%s: %q becomes %q", name, form, got)
		}
	}
	if got := r.String("short texts stay"); got != "short texts stay" {
		t.Errorf("a short value was redacted: %q", got)
	}
}

func TestKindsOfToken(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	for _, token := range []string{
		"ghp_" + strings.Repeat("a1", 18), "github_pat_" + strings.Repeat("B2", 30), "sk-proj-" + strings.Repeat("c3", 20),
		"xoxb-" + strings.Repeat("1", 24), "AIza" + strings.Repeat("d", 35),
		"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
	} {
		if got := r.String("x " + token + " y"); got != "x "+redact.Mark+" y" {
			t.Errorf("%q becomes %q", token, got)
		}
	}
	for _, harmless := range []string{"task-list", "ghp_short", "skeleton", "the PRIVATE KEY word"} {
		if got := r.String(harmless); got != harmless {
			t.Errorf("%q becomes %q", harmless, got)
		}
	}
}

func TestFromEnvironment(t *testing.T) {
	t.Parallel()
	got := redact.FromEnvironment([]string{
		"OPENAI_API_KEY=a", "GITHUB_TOKEN=b", "MY_PASSWORD=c", "PATH=/bin", "KEYBOARD=qwerty", "SSH_KEY=/home/u/.ssh/id", "broken",
	})
	if strings.Join(got, "") != "abc" {
		t.Errorf("got %q", got)
	}
}

// A value never survives, whatever stands around it.
func TestNoValueSurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9+/=_-]{8,40}`).Draw(t, "secret")
		before, after := rapid.String().Draw(t, "before"), rapid.String().Draw(t, "after")
		got := redact.New([]string{secret}).String(before + secret + after)
		if strings.Contains(strings.ReplaceAll(got, redact.Mark, ""), secret) && !strings.Contains(before+after, secret) {
			t.Fatalf("%q holds %q", got, secret)
		}
	})
}

func FuzzString(f *testing.F) {
	f.Add("ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "hunter22hunter22")
	f.Fuzz(func(t *testing.T, text, secret string) {
		r := redact.New([]string{secret})
		if once := r.String(text); r.String(once) != r.String(r.String(once)) {
			t.Errorf("redaction does not settle on %q", text)
		}
	})
}

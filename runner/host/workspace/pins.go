package workspace

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// pins remembers which filters the configuration held when the repository was
// opened, before any agent ran. A filter is a program that git runs on content;
// one that was added or changed since then is switched off, or back.
type pins struct {
	filters map[string]string // "filter.lfs.clean": its command
	files   []string          // configuration files that were read
	stamps  map[string]stamp
	always  bool // the files are not all known: includes may appear
}

type stamp struct {
	size int64
	mod  time.Time
}

// setting is one line of `git config --list --show-origin`.
type setting struct{ origin, key, value string }

// parseSettings reads `git config --list -z --show-origin`.
func parseSettings(out string) []setting {
	var all []setting
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		all = append(all, setting{fields[i], key, value})
	}
	return all
}

func newPins(ctx context.Context, r *Repo) (*pins, error) {
	out, err := r.do(ctx, "config", "--list", "-z", "--show-origin")
	if err != nil {
		return nil, fmt.Errorf("read git configuration of %s: %w", r.Top, err)
	}
	p := &pins{filters: map[string]string{}, stamps: map[string]stamp{}}
	known := map[string]bool{filepath.Join(r.CommonDir, "config"): true, filepath.Join(r.CommonDir, "config.worktree"): true}
	for _, s := range parseSettings(out) {
		if file, ok := r.originFile(s.origin); ok {
			known[file] = true
		}
		switch {
		case strings.HasPrefix(s.key, "filter."):
			p.filters[s.key] = s.value
		case strings.HasPrefix(s.key, "include") && r.owns(s.origin):
			p.always = true
		}
	}
	p.files = slices.Sorted(maps.Keys(known))
	for _, file := range p.files {
		p.stamps[file] = stampOf(file)
	}
	return p, nil
}

// originFile is the absolute path of a configuration file that git named.
func (r *Repo) originFile(origin string) (string, bool) {
	file, ok := strings.CutPrefix(origin, "file:")
	if ok && !filepath.IsAbs(file) {
		file = filepath.Join(r.Top, file)
	}
	return file, ok
}

// owns reports whether a setting comes from a file that is not the user's or the
// machine's: the repository's own, or one that it includes.
func (r *Repo) owns(origin string) bool {
	file, ok := r.originFile(origin)
	return ok && (inside(r.CommonDir, file) || inside(r.Top, file))
}

func stampOf(file string) stamp {
	st, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	return stamp{st.Size(), st.ModTime()}
}

// changed reports whether the configuration that a tree with the given git
// directory sees may differ from the one at opening.
func (p *pins) changed(admin string) bool {
	if p.always {
		return true
	}
	for _, file := range p.files {
		if stampOf(file) != p.stamps[file] {
			return true
		}
	}
	_, err := os.Stat(filepath.Join(admin, "config.worktree"))
	return err == nil
}

// options returns what to put before a git command, and its environment, so that
// filters are as they were; now is the present configuration. A filter that got
// a process it did not have cannot be put back (git has no way to say "none"
// that keeps its clean and smudge), so that is an error.
func (p *pins) options(now []setting) (conf, env []string, err error) {
	present := map[string]string{}
	for _, s := range now {
		if strings.HasPrefix(s.key, "filter.") && strings.Count(s.key, ".") > 1 {
			present[s.key] = s.value
		}
	}
	differs := map[string]string{}
	for key, value := range present {
		if had, known := p.filters[key]; !known {
			name, isProcess := strings.CutSuffix(key, ".process")
			if isProcess && p.filters[name+".clean"]+p.filters[name+".smudge"] != "" {
				return nil, nil, fmt.Errorf("git configuration: %s was added while the run was going on; remove it and resume", key)
			}
			differs[key] = neutral(key)
		} else if had != value {
			differs[key] = had
		}
	}
	for key, had := range p.filters {
		if _, there := present[key]; !there {
			differs[key] = had
		}
	}
	for i, key := range slices.Sorted(maps.Keys(differs)) {
		// A value by way of the environment: a filter's name may hold "=".
		name := fmt.Sprintf("PAWL_PIN_%d", i)
		conf = append(conf, "--config-env="+key+"="+name)
		env = append(env, name+"="+differs[key])
	}
	return conf, env, nil
}

// neutral is the value that makes a filter's variable do nothing.
func neutral(key string) string {
	if strings.HasSuffix(key, ".required") {
		return "false"
	}
	return ""
}

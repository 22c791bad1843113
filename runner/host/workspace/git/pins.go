package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Pins remember which filters the configuration held when the repository was
// opened, before any agent ran. A filter is a program that git runs on content;
// one that was added or changed since then is switched off, or back.
type Pins struct {
	git     *Git
	filters map[string]string // "filter.lfs.clean": its command
	files   []string          // configuration files that were read
	texts   []string          // what stood in them
	always  bool              // the files are not all known: includes may appear
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

// Pin reads the filters of a repository: top is its checkout, commonDir its git
// directory, and c says where and with which environment git sees it.
func (g *Git) Pin(ctx context.Context, c Call, top, commonDir string) (*Pins, error) {
	settings, err := g.settings(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read git configuration of %s: %w", top, err)
	}
	p := &Pins{git: g, filters: map[string]string{}}
	known := map[string]bool{filepath.Join(commonDir, "config"): true, filepath.Join(commonDir, "config.worktree"): true}
	for _, s := range settings {
		file, ok := strings.CutPrefix(s.origin, "file:")
		if ok && !filepath.IsAbs(file) {
			file = filepath.Join(c.Dir, file)
		}
		if ok {
			known[file] = true
		}
		switch {
		case isFilter(s.key):
			p.filters[s.key] = s.value
		case strings.HasPrefix(s.key, "include") && (within(commonDir, file) || within(top, file)):
			p.always = true
		}
	}
	p.files = slices.Sorted(maps.Keys(known))
	for _, file := range p.files {
		p.texts = append(p.texts, textOf(file))
	}
	return p, nil
}

func (g *Git) settings(ctx context.Context, c Call) ([]setting, error) {
	out, err := g.Run(ctx, Call{Dir: c.Dir, Env: c.Env, Args: []string{"config", "--list", "-z", "--show-origin"}})
	return parseSettings(out), err
}

// within reports whether file lies below dir.
func within(dir, file string) bool { return strings.HasPrefix(file, dir+string(filepath.Separator)) }

// Apply returns c with what keeps filters as they were, when the configuration
// that a worktree sees may have changed; gitDir is the worktree's git directory.
func (p *Pins) Apply(ctx context.Context, c Call, gitDir string) (Call, error) {
	if !p.changed(gitDir) {
		return c, nil
	}
	now, err := p.git.settings(ctx, c)
	if err != nil {
		return c, err
	}
	conf, env, err := p.options(now)
	c.Conf, c.Env = append(conf, c.Conf...), append(slices.Clip(c.Env), env...)
	return c, err
}

// textOf is what stands in a configuration file, "" when it cannot be read. Times
// and sizes would be cheaper to compare, and easy to forge.
func textOf(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return string(text)
}

// changed reports whether the configuration that a tree with the given git
// directory sees may differ from the one at opening.
func (p *Pins) changed(gitDir string) bool {
	if p.always {
		return true
	}
	for i, file := range p.files {
		if textOf(file) != p.texts[i] {
			return true
		}
	}
	_, err := os.Stat(filepath.Join(gitDir, "config.worktree"))
	return err == nil
}

// options returns what to put before a git command, and its environment, so that
// filters are as they were; now is the present configuration. A filter that got
// a process it did not have cannot be put back (git has no way to say "none"
// that keeps its clean and smudge), so that is an error.
func (p *Pins) options(now []setting) (conf, env []string, err error) {
	present := map[string]string{}
	for _, s := range now {
		if isFilter(s.key) {
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

// isFilter reports whether key is filter.<name>.<variable>.
func isFilter(key string) bool {
	return strings.HasPrefix(key, "filter.") && strings.Count(key, ".") > 1
}

// neutral is the value that makes a filter's variable do nothing.
func neutral(key string) string {
	if strings.HasSuffix(key, ".required") {
		return "false"
	}
	return ""
}

// Merging returns c with every merge driver of the present configuration replaced
// by one that does nothing but report a conflict: drivers are programs, and who
// changes a repository may name any.
func (p *Pins) Merging(ctx context.Context, c Call) (Call, error) {
	now, err := p.git.settings(ctx, c)
	if err != nil {
		return c, err
	}
	seen := make(map[string]bool)
	for _, s := range now {
		if strings.HasPrefix(s.key, "merge.") && strings.HasSuffix(s.key, ".driver") && !seen[s.key] {
			name := fmt.Sprintf("PAWL_MERGE_%d", len(seen))
			seen[s.key] = true
			c.Conf = append(slices.Clip(c.Conf), "--config-env="+s.key+"="+name)
			c.Env = append(slices.Clip(c.Env), name+"=false")
		}
	}
	return c, nil
}

package runner_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-ci/pawl/gates"
	"github.com/pawl-ci/pawl/runner"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/machine"
	"github.com/pawl-ci/pawl/runner/replay"
	kit "github.com/pawl-ci/pawl/runner/runnertest"
)

// writersWorld is the world of kit.Writers. Each agent writes the files that
// writes names for it; commands write a file of their own.
func writersWorld(writes map[string]string) *kit.World {
	w := kit.NewWorld(map[string]string{"shared.txt": "base"})
	w.Command = func(files map[string]string, line string) runner.ShellResult {
		if path, ok := strings.CutPrefix(line, "write "); ok {
			files[path] = "by a command"
		}
		return runner.ShellResult{Stdout: fmt.Sprintf(`{"text": %q}`, strings.Join(slices.Sorted(maps.Keys(files)), " "))}
	}
	w.Answer = func(req *runner.ModelRequest) (*runner.ModelResponse, error) {
		if req.Trace.Turn == 1 {
			path, content, _ := strings.Cut(writes[req.Trace.Node], "=")
			return kit.Use("t1", "write_file", fmt.Sprintf(`{"path":%q,"content":%q}`, path, content)), nil
		}
		return kit.JSON(map[string]any{"text": "done"}), nil
	}
	w.Person = func(q gates.Question) *gates.Answer {
		values := make(map[string]json.RawMessage)
		for _, f := range q.Fields {
			values[f.Name] = json.RawMessage("true")
			if len(f.Enum) > 0 {
				values[f.Name] = json.RawMessage(`"theirs"`)
			}
		}
		return &gates.Answer{Values: values, By: "ada", Via: "test"}
	}
	return w
}

// apart and onOneFile are what the agents of kit.Writers write: different files,
// and the same one.
var (
	apart     = map[string]string{"code": "code.txt=c", "manual": "manual.txt=m"}
	onOneFile = map[string]string{"code": "shared.txt=c", "manual": "shared.txt=m", "mend": "shared.txt=c and m"}
)

func TestWritersMeet(t *testing.T) {
	t.Parallel()
	all := map[string]string{"left.txt": "by a command", "right.txt": "by a command"}
	for name, c := range map[string]struct {
		conflict string
		writes   map[string]string
		want     map[string]string // beside all; nil: the run fails with a conflict
		refuse   bool
	}{
		"different files":      {"", apart, map[string]string{"shared.txt": "base", "code.txt": "c", "manual.txt": "m"}, false},
		"conflict fails":       {"", onOneFile, nil, false},
		"a person decides":     {"ask", onOneFile, map[string]string{"shared.txt": "m"}, false},
		"a person lets it be":  {"ask", onOneFile, nil, true},
		"an agent resolves":    {"mend", onOneFile, map[string]string{"shared.txt": "c and m"}, false},
		"an agent leaves mark": {"mend", map[string]string{"code": "shared.txt=c", "manual": "shared.txt=m", "mend": "other.txt=x"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, world := kit.Writers(c.conflict), writersWorld(c.writes)
			yes := world.Person
			world.Person = func(q gates.Question) *gates.Answer {
				a := yes(q)
				if c.refuse && a.Values["file_1"] != nil {
					a.Values["file_1"] = json.RawMessage(`"fail"`)
				}
				return a
			}
			s, err := attempt(t, w, world)
			if err != nil || s.Outcome == nil {
				t.Fatalf("status %s, stop %+v, error %v", s.Status, s.Stop, err)
			}
			if c.want == nil {
				if s.Outcome.Class != event.FailConflict || !strings.Contains(s.Outcome.Detail, "shared.txt") {
					t.Errorf("outcome %+v, want merge_conflict that names the file", s.Outcome)
				}
				return
			}
			maps.Copy(c.want, all)
			if s.Outcome.Outcome != event.Done || !maps.Equal(world.Files(), c.want) {
				t.Errorf("outcome %+v, files %v, want %v", s.Outcome, world.Files(), c.want)
			}
			if left := world.Worktrees(); len(left) > 0 {
				t.Errorf("worktrees %v are left behind", left)
			}
			opened := 0
			for _, p := range world.Points() {
				if strings.HasPrefix(p, "open ") {
					opened++
				}
			}
			if opened != 4 {
				t.Errorf("%d worktrees were opened, want one for each of the 4 branches that write", opened)
			}
			if _, err := replay.Run(w, world.Events(), nil); err != nil {
				t.Errorf("decided again: %v", err)
			}
		})
	}
}

// TestCrashTableOfBranches fails or crashes every operation and every append of
// parallel writers, by name, and resumes until the run ends. Whatever happened:
// the same files, no recorded model call made again, no worktree left behind, and
// every point was reached.
func TestCrashTableOfBranches(t *testing.T) {
	t.Parallel()
	for conflict, writes := range map[string]map[string]string{"": apart, "ask": onOneFile, "mend": onOneFile} {
		clean := writersWorld(writes)
		if s, err := attempt(t, kit.Writers(conflict), clean); err != nil || s.Outcome == nil || s.Outcome.Outcome != event.Done {
			t.Fatalf("%q: %+v, %v", conflict, s.Outcome, err)
		}
		points := clean.Points()
		if len(points) < 60 {
			t.Fatalf("%q: %d points: %v", conflict, len(points), points)
		}
		for _, point := range points {
			for _, fault := range kit.Faults {
				if testing.Short() && (len(point)+int(fault))%5 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", conflict, point, fault), func(t *testing.T) {
					t.Parallel()
					crashBranches(t, conflict, writes, point, fault, clean.Files())
				})
			}
		}
	}
}

func crashBranches(t *testing.T, conflict string, writes map[string]string, point string, fault kit.Fault, want map[string]string) {
	w, world := kit.Writers(conflict), writersWorld(writes)
	world.InjectAt(point, fault)
	var s *machine.State
	for range 5 {
		var err error
		if s, err = attempt(t, w, world); err == nil && s.Status == machine.Finished {
			break
		}
		world.Restart()
	}
	if s.Outcome == nil || s.Outcome.Outcome != event.Done {
		t.Fatalf("outcome %+v, stop %+v, want done", s.Outcome, s.Stop)
	}
	if got := world.Files(); !maps.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if again := world.Repeated(); fault != kit.FailsPersisted && len(again) > 3 {
		t.Errorf("model calls made again: %v, want at most one a branch", again)
	}
	if !world.Fired() {
		t.Error("the point was not reached")
	}
	if _, err := replay.Run(w, world.Events(), nil); err != nil {
		t.Errorf("decided again: %v", err)
	}
}

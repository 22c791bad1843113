package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-ci/pawl/runner/event"
)

// BenchmarkAppend makes batches durable. Each append alternates with a bare
// write and fdatasync of as many bytes, because a disk's speed drifts: "x-bare"
// is the ratio of the two, the figure to compare.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 3, 8, 64} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			r, err := Create(b.TempDir(), testRun)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			file, err := os.Create(filepath.Join(b.TempDir(), "bare"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			events := story(testRun, 1+n)
			add(b, r, events[0])
			before := r.Stats()
			var bytes int64
			var ours, bare time.Duration
			for b.Loop() {
				start := time.Now()
				add(b, r, events[1:]...)
				middle := time.Now()
				bytes = (r.Stats().Bytes - before.Bytes) / int64(r.Stats().Appends-before.Appends)
				if _, err := file.Write(make([]byte, bytes)); err != nil {
					b.Fatal(err)
				}
				if err := datasync(file); err != nil {
					b.Fatal(err)
				}
				ours, bare = ours+middle.Sub(start), bare+time.Since(middle)
				for i := range events[1:] {
					events[1+i].Seq += event.Seq(n)
				}
			}
			appends := float64(r.Stats().Appends - before.Appends)
			b.ReportMetric(float64(ours.Microseconds())/appends, "µs/append")
			b.ReportMetric(float64(bare.Microseconds())/appends, "µs/bare")
			b.ReportMetric(float64(ours)/float64(bare), "x-bare")
			b.ReportMetric(float64(r.Stats().Syncs-before.Syncs)/appends, "syncs/append")
			b.ReportMetric(float64(bytes)/float64(n), "B/event")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAppendIdle is an append without its sync: what pawl itself adds.
func BenchmarkAppendIdle(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			r := create1(b, b.TempDir(), testRun)
			events := story(testRun, 1+n)
			add(b, r, events[0])
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Append(context.Background(), events[1:]); err != nil {
					b.Fatal(err)
				}
				for i := range events[1:] {
					events[1+i].Seq += event.Seq(n)
				}
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	r, err := Create(b.TempDir(), testRun)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	before, n := r.Stats(), 0
	for b.Loop() {
		n++
		if err := r.Put(blob(n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(r.Stats().Syncs-before.Syncs)/float64(n), "syncs/blob")
}

// BenchmarkOpen resumes a record; three events are one finished node.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 300_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			r := create1(b, dir, testRun)
			add(b, r, story(testRun, n)...)
			r.Close()
			b.ReportAllocs()
			for b.Loop() {
				r, events, _, err := Open(dir, testRun)
				if err != nil || len(events) != n {
					b.Fatal(len(events), err)
				}
				r.Close()
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		id := event.RunID(fmt.Sprintf("run-%d", i))
		r := create1(b, dir, id)
		add(b, r, story(id, 30)...)
		r.Close()
	}
	for b.Loop() {
		if list, err := List(dir); err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}

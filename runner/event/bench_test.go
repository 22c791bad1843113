package event_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pawl-ci/pawl/runner/event"
)

func BenchmarkEncode(b *testing.B) {
	for _, size := range []int{20, 2000} {
		b.Run(fmt.Sprintf("output=%d", size), func(b *testing.B) {
			e := visits(1, size)[2]
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if buf, _, err = event.Encode(buf[:0], &e, event.Hash{}); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkReadAll(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 300_000} {
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			record := encode(b, visits(n/3, 20))
			b.SetBytes(int64(len(record)))
			b.ReportAllocs()
			for b.Loop() {
				events, cut, err := event.ReadAll(bytes.NewReader(record))
				if err != nil || cut != 0 || len(events) != n/3*3+1 {
					b.Fatal(len(events), cut, err)
				}
			}
		})
	}
}

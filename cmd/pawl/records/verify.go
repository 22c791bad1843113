package records

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/cmd/pawl/cli"
	"github.com/pawl-ci/pawl/report/words"
	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
)

func verifyRecordCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "verify-record [RUN]",
		Short:   "Check a record: hash chain, sequence and blobs",
		Long:    "Reads a record as a resume would and says whether it is whole. Exit status 3 says\nthat it is damaged.",
		Example: "  pawl verify-record\n  pawl verify-record 20261121-0655 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := Open(cmd.Context(), a, false)
			if err != nil {
				return err
			}
			id, err := Chosen(a, p, args)
			if err != nil {
				return err
			}
			return verifyRecord(a, p, id)
		},
	}
}

// verifyRecord reads everything a resume and a report would read.
func verifyRecord(a *cli.App, p *Place, id event.RunID) error {
	record, events, torn, err := store.OpenRead(p.Store, id)
	if err != nil {
		return damaged(id, err)
	}
	defer record.Close()
	if err := event.CheckSequence(events); err != nil {
		return damaged(id, err)
	}
	blobs := 0
	for i := range events {
		err := events[i].Visit(func(payload *event.Payload) error {
			if payload.Blob != "" {
				blobs++
			}
			return payload.Load(record.Get)
		})
		if err != nil {
			return damaged(id, err)
		}
	}
	if a.JSON {
		return a.WriteJSON(map[string]any{"run_id": id, "whole": true, "events": len(events), "blobs": blobs, "torn_bytes": torn})
	}
	_, err = fmt.Fprintf(a.Out, "%s: the record is whole: %s, %s\n", id, words.Count(int64(len(events)), "event"), words.Count(int64(blobs), "blob"))
	return err
}

func damaged(id event.RunID, err error) error {
	return cli.Host(fmt.Errorf("record of %s: %w", id, err), "the run cannot be resumed; its branch and blobs are still there")
}

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-ci/pawl/runner/event"
	"github.com/pawl-ci/pawl/runner/host/store"
)

func (a *app) verifyRecordCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify-record [RUN]",
		Short:   "Check a record: hash chain, sequence and blobs",
		Long:    "Reads a record as a resume would and says whether it is whole. Exit status 3 says\nthat it is damaged.",
		Example: "  pawl verify-record\n  pawl verify-record 20261121-0655 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.openPlace(cmd.Context(), false)
			if err != nil {
				return err
			}
			id, err := a.chosen(p, args)
			if err != nil {
				return err
			}
			return a.verifyRecord(p, id)
		},
	}
}

func (a *app) verifyRecord(p *place, id event.RunID) error {
	checked, err := store.Check(p.store, id)
	var damaged *event.Damaged
	switch {
	case errors.As(err, &damaged):
		err = host(fmt.Errorf("record of %s: %w", id, damaged), "the run cannot be resumed; its branch and blobs are still there")
	case err != nil:
		return storeProblem(err)
	}
	if a.json {
		if jsonErr := a.writeJSON(map[string]any{"run_id": id, "whole": err == nil, "events": checked.Events, "blobs": checked.Blobs, "torn_bytes": checked.TornBytes}); jsonErr != nil {
			return jsonErr
		}
	} else if err == nil {
		fmt.Fprintf(a.out, "%s: the record is whole: %s, %s\n", id, plural(checked.Events, "event"), plural(checked.Blobs, "blob"))
	}
	return err
}

// Package github is what pawl knows of GitHub: for now, the event that started a
// job.
//
// It stands on floor 4 and imports gates.
package github

// Package compare holds the command compare: a workflow under several recipes,
// run under one purse and ranked. How one run is made is the business of work.
//
// It stands on floor 9 and imports all below.
package compare

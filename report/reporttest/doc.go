// Package reporttest holds records of runs for the tests of report and the rooms
// that draw it: what usually happens, and what somebody might try.
//
// It is a test kit, stands on floor 3 and imports report, event, ir, budget and
// gates.
package reporttest

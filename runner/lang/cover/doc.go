// Package cover tells whether the conditions of a node's edges hold in every case
// together. It lists all values of bools and closed sets, and of numbers and texts
// those around the constants that the conditions compare with, and tries them: a
// gap that it shows is real, and where it finds none there may still be one.
//
// It stands on floor 2, is pure, and imports ir and gates.
package cover

// Package graph analyses directed graphs of numbered nodes: which are reached,
// what dominates what, which parts hang together, and how cycles nest. Every
// answer costs time and memory in proportion to nodes and edges, or next to that.
//
// It stands on floor 0, is pure, and imports no other room.
package graph

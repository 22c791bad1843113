// Package provider knows who serves models: by which name users call them, where
// they answer, and which variables hold their keys. It turns a model's name and
// an environment into an endpoint, and talks to nobody.
//
// It stands on floor 3 and imports no other room.
package provider

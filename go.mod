module github.com/pawl-ci/pawl

go 1.26.0

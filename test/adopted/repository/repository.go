// Package repository puts a Git repository in front of agents, by go-git: its structs, which have no tags at all, are
// requests and results as they are where they hold nothing but data.
package repository

import (
	"context"
	"errors"
	"io"
	"time"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	aql "github.com/aqltag/aqltag/runtime"
)

// Service is what agents may do with a repository.
type Service struct{ repository *git.Repository }

// NewService returns the service of a repository.
func NewService(repository *git.Repository) *Service { return &Service{repository} }

// Commit is a commit without what only Git needs of it. The library's own holds hashes as arrays of 20 numbers.
type Commit struct {
	Hash    string           // Names the commit
	Author  object.Signature // Who wrote it, and when
	Message string           // What it says
	Parents []string         // Hashes of the commits it follows
}

func commitOf(c *object.Commit) *Commit {
	commit := &Commit{Hash: c.Hash.String(), Author: c.Author, Message: c.Message}
	for _, parent := range c.ParentHashes {
		commit.Parents = append(commit.Parents, parent.String())
	}
	return commit
}

// GetCommit reads a commit.
//
//aql:op category=READ
//aql:param revision desc='A hash, a branch, a tag, or an expression such as main~3'
//aql:example {"revision":"HEAD"}
func (s *Service) GetCommit(revision plumbing.Revision) (*Commit, error) {
	hash, err := s.repository.ResolveRevision(revision)
	if err != nil {
		return nil, told(err, "revision", string(revision))
	}
	commit, err := s.repository.CommitObject(*hash)
	if err != nil {
		return nil, told(err, "commit", string(revision))
	}
	return commitOf(commit), nil
}

// ListCommits lists the commits that lead to the current one, the latest first.
//
//aql:op category=READ
//aql:param since desc='Only commits after this'
//aql:param limit min=1,max=200,default=20,desc='How many'
//aql:example {"limit":5}
func (s *Service) ListCommits(ctx context.Context, since *time.Time, limit int) ([]*Commit, error) {
	found, err := s.repository.Log(&git.LogOptions{Since: since, Order: git.LogOrderCommitterTime})
	if err != nil {
		return nil, told(err, "branch", "HEAD")
	}
	defer found.Close()
	var commits []*Commit
	for len(commits) < limit && ctx.Err() == nil {
		commit, err := found.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		commits = append(commits, commitOf(commit))
	}
	return commits, ctx.Err()
}

// CreateBranch writes down what a branch follows.
//
//aql:op category=CREATE
//aql:param name required,minlen=1
//aql:example {"name":"main","remote":"origin","merge":"refs/heads/main"}
func (s *Service) CreateBranch(branch *config.Branch) (*config.Branch, error) {
	if err := s.repository.CreateBranch(branch); err != nil {
		return nil, told(err, "branch", branch.Name)
	}
	return branch, nil
}

// GetBranch tells what a branch follows.
//
//aql:op category=READ
//aql:example {"name":"main"}
func (s *Service) GetBranch(name string) (*config.Branch, error) {
	branch, err := s.repository.Branch(name)
	return branch, told(err, "branch", name)
}

// UpdateBranch changes what a branch follows; what is absent from input stays as it was.
//
//aql:op category=UPDATE,ids=name
//aql:example {"name":"main","input":{"description":"What is released"}}
func (s *Service) UpdateBranch(name string, input aql.Patch[config.Branch]) (*config.Branch, error) {
	settings, err := s.repository.Config()
	if err != nil {
		return nil, err
	}
	branch, ok := settings.Branches[name]
	switch {
	case !ok:
		return nil, aql.NotFound("branch", name)
	case input.Has("name"): // the library's struct cannot be tagged to say so
		return nil, aql.Errorf("VALIDATION_READ_ONLY_FIELD", "A branch keeps its name")
	}
	changed := *branch
	if err := input.Apply(&changed); err != nil {
		return nil, err
	}
	settings.Branches[name] = &changed
	return &changed, s.repository.SetConfig(settings)
}

// DeleteBranch forgets what a branch follows.
//
//aql:op category=DELETE
//aql:reason Pulls and pushes no longer know where to
//aql:confirm Forget what branch '{name}' follows?
//aql:example {"name":"main"}
func (s *Service) DeleteBranch(name string) error {
	return told(s.repository.DeleteBranch(name), "branch", name)
}

// CreateRemote adds a remote repository.
//
//aql:op category=CREATE
//aql:param name required,pattern='^[a-z][a-z0-9_-]*$'
//aql:param urls required,minitems=1
//aql:example {"name":"origin","urls":["https://example.com/notes.git"]}
func (s *Service) CreateRemote(remote *config.RemoteConfig) (*config.RemoteConfig, error) {
	created, err := s.repository.CreateRemote(remote)
	if err != nil {
		return nil, told(err, "remote", remote.Name)
	}
	return created.Config(), nil
}

// GetStatus tells which files differ from the current commit.
//
//aql:op category=READ
//aql:example {}
func (s *Service) GetStatus() (git.Status, error) {
	tree, err := s.repository.Worktree()
	if err != nil {
		return nil, err
	}
	return tree.Status()
}

// told makes of the library's refusals what agents can act on. Any other error is masked.
func told(err error, resource, name string) error {
	for _, missing := range []error{git.ErrBranchNotFound, git.ErrRemoteNotFound, plumbing.ErrReferenceNotFound,
		plumbing.ErrObjectNotFound} {
		if errors.Is(err, missing) {
			return aql.NotFound(resource, name).WithCause(err)
		}
	}
	for _, taken := range []error{git.ErrBranchExists, git.ErrRemoteExists} {
		if errors.Is(err, taken) {
			return aql.AlreadyExists(resource, name).WithCause(err)
		}
	}
	for _, wrong := range []error{config.ErrRefSpecMalformedSeparator, config.ErrRefSpecMalformedWildcard} {
		if errors.Is(err, wrong) {
			return aql.Errorf("VALIDATION_INVALID_FORMAT", "A refspec looks like +refs/heads/*:refs/remotes/origin/*").
				WithCause(err)
		}
	}
	return err
}

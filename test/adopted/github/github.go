// Package github puts a part of the GitHub API in front of agents. Every operation is a method of go-github, adopted by
// its name.
package github

import _ "github.com/google/go-github/v75/github"

//aql:adopt (*github.RepositoriesService).Get category=READ,op=get_repository
//aql:adopt (*github.IssuesService).ListByRepo category=READ,op=list_issues
//aql:adopt (*github.IssuesService).Get category=READ,op=get_issue
//aql:adopt (*github.IssuesService).Create category=CREATE,op=create_issue
//aql:adopt (*github.IssuesService).Edit category=UPDATE,op=edit_issue
//aql:adopt (*github.IssuesService).CreateComment category=CREATE,op=create_comment
//aql:adopt (*github.IssuesService).DeleteComment category=DELETE,op=delete_comment
//aql:adopt (*github.IssuesService).ListMilestones category=READ,op=list_milestones
//aql:adopt (*github.IssuesService).RemoveLabelForIssue category=DELETE,op=remove_label,danger=reversible
//aql:adopt (*github.IssuesService).Lock category=EXECUTE,op=lock_issue

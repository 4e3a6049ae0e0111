// Package huma puts a service of huma in front of agents: its handlers, adopted by their names.
package huma

import _ "github.com/aqltag/aqltag/test/adopted/services/recipes"

//aql:adopt (*recipes.Server).List category=READ
//aql:adopt (*recipes.Server).Get category=READ
//aql:adopt (*recipes.Server).Create category=CREATE
//aql:adopt (*recipes.Server).Rename category=UPDATE,danger=reversible
//aql:adopt (*recipes.Server).Delete category=DELETE
//aql:adopt (*recipes.Server).Stats category=READ

package loop

import (
	"slices"
	"sync"
)

// Risks returns the standard table of risky actions. A service can have its own in its place: aql.Loop.Risks.
func Risks() []Risk { return slices.Clone(standard()) }

// The table is made when it is first needed: a program without a safety loop has none of it.
var (
	made  sync.Once
	table []Risk
)

// standard returns the table.
func standard() []Risk {
	made.Do(func() {
		for _, r := range standardRisks() {
			for _, p := range Patterns(r.patterns...) {
				table = append(table, Risk{Pattern: p, Score: r.score})
			}
		}
	})
	return table
}

// entry is a risk with its patterns.
type entry struct {
	score    int
	patterns []string
}

// standardRisks are the patterns by rising risk. The first pattern of the highest risk gives an action its reason.
func standardRisks() []entry {
	return []entry{
		{5, []string{"read*", "list*", "get *", "get_*", "search*", "look*"}},
		{15, []string{"creat*", "writ*", "add *", "add_*"}},
		{25, []string{"updat*", "chang*", "edit*", "renam*", "mov*", "set *", "set_*"}},
		{35, []string{"send*", "email*", "mail*", "post to*", "upload*", "install*", "kill*", "restart*"}},
		{45, []string{
			"delet*", "remov*", "rm *", "overwrit*", "disabl*", "chmod*", "chown*", "git push*", "deploy*", "publish*", "merg*",
			"releas*", "unlink*",
		}},
		{55, []string{
			"*--force*", "forc*", "revok*", "grant*", "prod", "prod *", "prod-*", "prod_*", "prod/*", "production*", "purg*",
			"eras*", "git reset --hard*", "git clean*", "*--no-verify*", "refund*", "pay *", "payment*", "transfer*",
		}},
		{70, []string{
			"sudo *", "destroy*", "drop *", "drop_*", "truncat*", "wip*", "delete all*", "delete_all*", "delete every*",
			"rm -r*", "rm -f*", "git push*--force*", "git push*-f*", "*credential*", "*password*", "*private key*", "*api key*",
			"*api_key*", "*.ssh*", "*.env", "*.env *", "shutdown*", "reboot*", "*/etc/shadow*", "terraform destroy*",
		}},
		{90, []string{
			"rm -rf /*", "rm -fr /*", "rm -rf ~*", "rm -rf .", "mkfs*", "dd *of=/dev*", "*| sh", "*| sh *", "*|sh", "*|sh *",
			"*|*bash*", "*| zsh*", "*| sudo *", "*base64 -d*|*", "drop database*", "*exfiltrat*", ":(){*", "format c:*",
			"*> /dev/sd*",
		}},
	}
}

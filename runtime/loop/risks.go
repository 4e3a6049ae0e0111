package loop

import "slices"

// Risks returns the standard table of risky actions. A service can have its own in its place: aql.Loop.Risks.
func Risks() []Risk { return slices.Clone(standard) }

// standard is the table, by rising risk. The first pattern of the highest risk gives an action its reason.
var standard = table(
	entry{5, []string{"read*", "list*", "get *", "get_*", "search*", "look*"}},
	entry{15, []string{"creat*", "writ*", "add *", "add_*"}},
	entry{25, []string{"updat*", "chang*", "edit*", "renam*", "mov*", "set *", "set_*"}},
	entry{35, []string{"send*", "email*", "mail*", "post to*", "upload*", "install*", "kill*", "restart*"}},
	entry{45, []string{
		"delet*", "remov*", "rm *", "overwrit*", "disabl*", "chmod*", "chown*", "git push*", "deploy*", "publish*", "merg*",
		"releas*", "unlink*",
	}},
	entry{55, []string{
		"*--force*", "forc*", "revok*", "grant*", "prod", "prod *", "prod-*", "prod_*", "prod/*", "production*", "purg*",
		"eras*", "git reset --hard*", "git clean*", "*--no-verify*", "refund*", "pay *", "payment*", "transfer*",
	}},
	entry{70, []string{
		"sudo *", "destroy*", "drop *", "drop_*", "truncat*", "wip*", "delete all*", "delete_all*", "delete every*", "rm -r*",
		"rm -f*", "git push*--force*", "git push*-f*", "*credential*", "*password*", "*private key*", "*api key*",
		"*api_key*", "*.ssh*", "*.env", "*.env *", "shutdown*", "reboot*", "*/etc/shadow*", "terraform destroy*",
	}},
	entry{90, []string{
		"rm -rf /*", "rm -fr /*", "rm -rf ~*", "rm -rf .", "mkfs*", "dd *of=/dev*", "*| sh", "*| sh *", "*|sh", "*|sh *",
		"*|*bash*", "*| zsh*", "*| sudo *", "*base64 -d*|*", "drop database*", "*exfiltrat*", ":(){*", "format c:*", "*> /dev/sd*",
	}},
)

// entry is a risk with its patterns.
type entry struct {
	score    int
	patterns []string
}

func table(entries ...entry) []Risk {
	var list []Risk
	for _, e := range entries {
		for _, p := range Patterns(e.patterns...) {
			list = append(list, Risk{Pattern: p, Score: e.score})
		}
	}
	return list
}

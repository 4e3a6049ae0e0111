package search

import (
	"slices"
	"strings"
	"sync"
)

// groups are words of one meaning, a group on each line: first the verbs of operations (MCP-AQL core §8.5.3), then
// nouns that many services have. A word may be in several groups.
const groups = `
create add new make insert build define register
delete remove erase destroy discard purge drop trash wipe clear
list find search show browse enumerate query view lookup all see
get read fetch retrieve show view see find lookup display describe detail look
update change edit modify alter set adjust amend patch correct fix
cancel abort void annul
stop halt pause suspend end terminate abort shutdown
start begin run launch execute trigger boot
resume continue restart unpause reactivate
send deliver dispatch email mail
notify alert inform remind
upload attach import put
download export
approve accept confirm authorize allow
reject decline deny refuse
assign allocate give delegate
grant give permit allow
revoke withdraw remove
unassign withdraw remove
archive shelve retire hide
restore recover undelete unarchive reinstate undo
enable activate unblock unlock
disable deactivate block lock suspend ban freeze
merge combine join unify
split divide separate
copy duplicate clone
move transfer relocate shift
close finish complete resolve end done
reopen open
count number many total
pay settle
charge bill debit
refund reimburse repay
invite add
join enroll subscribe
leave unsubscribe quit
rename name title
publish release post
verify validate check test
sync synchronize refresh
schedule plan book
reschedule postpone delay move
rotate renew replace regenerate
renew extend prolong
print render
compare diff difference
estimate quote calculate compute
customer client buyer
invoice bill
picture image photo
phone telephone
employee staff worker colleague
user member person
note comment remark
tag label
file document attachment
permission right access
salary wage pay
holiday vacation absence leave
message mail email
history log audit
price cost rate
parcel package shipment
stock inventory
task todo
issue bug ticket problem
group team
setting preference configuration option
password passphrase
key secret token
server machine instance
repository repo
`

// synonyms has the stems of words by the stem of one that means the same.
var synonyms = sync.OnceValue(func() map[string][]string {
	table := make(map[string][]string)
	for line := range strings.Lines(groups) {
		group := strings.Fields(line)
		for i := range group {
			group[i] = stem(group[i])
		}
		for _, word := range group {
			for _, other := range group {
				if other != word && !slices.Contains(table[word], other) {
					table[word] = append(table[word], other)
				}
			}
		}
	}
	return table
})

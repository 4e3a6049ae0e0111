package operator

// HashLess has passphrases that are chosen at the desk hashed so often, which is not enough outside of tests.
func (d *Desk) HashLess(rounds int) { d.rounds = rounds }

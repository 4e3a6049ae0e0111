package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"strconv"
	"time"
)

// maxLine bounds a line of a chain, with its line break: no request makes a longer one.
const maxLine = 16 << 20

// A line of a chain is a record's JSON with three more members, which are always the last ones and in this order:
//
//	{"timestamp":…,"seq":7,"prev":"<64 hex digits>","hash":"<64 hex digits>"}
//
// seq is the number of the line, from 1. prev is the hash of the line before; in the first line it is zeros. hash is
// the SHA-256 of the bytes of prev and of the text of the line before the member hash. In a chain with a key the last
// member is hmac, the HMAC-SHA256 of the same.
const (
	seqMember  = `,"seq":`
	prevMember = `,"prev":"`
	hashMember = `,"hash":"`
	hmacMember = `,"hmac":"` // as long as hashMember
	closing    = `"}`

	hashDigits = 2 * sha256.Size
	// The length of what follows the number: prev and its quote, hash, and the end.
	afterSeq = len(prevMember) + hashDigits + 1 + afterBody
	// The length of what follows the text that is hashed.
	afterBody = len(hashMember) + hashDigits + len(closing)
)

type digest [sha256.Size]byte

// link is the end of a chain: how many records it has, and the hash of the last.
type link struct {
	seq  uint64
	hash digest
}

// chain computes hashes, one at a time.
type chain struct {
	hash   hash.Hash
	member string // that has the hash
	keyed  bool
	sum    [sha256.Size]byte
}

func newChain(key []byte) *chain {
	if len(key) == 0 {
		return &chain{hash: sha256.New(), member: hashMember}
	}
	return &chain{hash: hmac.New(sha256.New, key), member: hmacMember, keyed: true}
}

func (c *chain) digest(prev *digest, body []byte) digest {
	c.hash.Reset()
	c.hash.Write(prev[:])
	c.hash.Write(body)
	c.hash.Sum(c.sum[:0])
	return c.sum
}

// append appends the line of a record after end, with its line break, and moves end.
func (c *chain) append(dst []byte, r *Record, end *link) []byte {
	from := len(dst)
	end.seq++
	dst = r.appendOpen(dst)
	dst = append(dst, seqMember...)
	dst = strconv.AppendUint(dst, end.seq, 10)
	dst = append(dst, prevMember...)
	dst = hex.AppendEncode(dst, end.hash[:])
	dst = append(dst, '"')
	end.hash = c.digest(&end.hash, dst[from:])
	dst = append(dst, c.member...)
	dst = hex.AppendEncode(dst, end.hash[:])
	return append(dst, closing+"\n"...)
}

// line is a parsed line of a chain.
type line struct {
	body  []byte // what is hashed
	time  time.Time
	seq   uint64
	prev  digest
	hash  digest
	keyed bool
}

// errNoLine is the error of a line that chain.append cannot have written.
var errNoLine = errors.New("it is not a line that this program writes")

// parseLine parses a line without its line break. It accepts only what chain.append writes, to the byte: a line must
// not have two meanings.
func parseLine(text []byte) (line, error) {
	var l line
	body := len(text) - afterBody
	if body < 0 || !bytes.HasSuffix(text, []byte(closing)) || !l.hash.parse(text[body+len(hashMember):]) {
		return line{}, errNoLine
	}
	switch string(text[body : body+len(hashMember)]) {
	case hashMember:
	case hmacMember:
		l.keyed = true
	default:
		return line{}, errNoLine
	}
	l.body = text[:body]
	prev := len(text) - afterSeq
	if prev < 0 || !bytes.HasPrefix(text[prev:], []byte(prevMember)) || text[body-1] != '"' ||
		!l.prev.parse(text[prev+len(prevMember):]) {
		return line{}, errNoLine
	}
	seq := bytes.LastIndex(text[:prev], []byte(seqMember))
	if seq < 0 {
		return line{}, errNoLine
	}
	number := text[seq+len(seqMember) : prev]
	var err error
	if l.seq, err = strconv.ParseUint(string(number), 10, 64); err != nil || number[0] == '0' {
		return line{}, errNoLine
	}
	stamp, ok := bytes.CutPrefix(text, []byte(opening))
	if !ok || len(stamp) < len(timeLayout) {
		return line{}, errNoLine
	}
	if l.time, err = time.Parse(timeLayout, string(stamp[:len(timeLayout)])); err != nil {
		return line{}, errNoLine
	}
	return l, nil
}

// parse parses the lower-case hexadecimal digits of a digest at the beginning of text.
func (d *digest) parse(text []byte) bool {
	for _, c := range text[:hashDigits] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	_, err := hex.Decode(d[:], text[:hashDigits])
	return err == nil
}

func (d digest) String() string { return hex.EncodeToString(d[:]) }

package words

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/aes"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"io/fs"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// provoked are failures of Go and its standard library: a function of this list returns one, or panics.
var provoked = []func() error{
	// panics of the runtime
	func() error { var p *http.Request; _ = p.Method; return nil },
	func() error { var m map[string]int; m["a"]++; return nil },
	func() error { a := []int{}; return fmt.Errorf("%d", a[len(a)+3]) },
	func() error { a := []int{}; _ = a[len(a)+1:]; return nil },
	func() error { a := "x"; _ = a[:len(a)+1]; return nil },
	func() error { zero := 0; return fmt.Errorf("%d", 1/zero) },
	func() error { var v any = "x"; return fmt.Errorf("%d", v.(int)) },
	func() error { var v any; return fmt.Errorf("%v", v.(fmt.Stringer)) },
	func() error { var v any = 1; _ = v.(fmt.Stringer); return nil },
	func() error { c := make(chan int); close(c); close(c); return nil },
	func() error { c := make(chan int); close(c); c <- 1; return nil },
	func() error { var c chan int; close(c); return nil },
	func() error { n := -1; _ = make([]int, n); return nil },
	func() error { n := -1; _ = make(chan int, n); return nil },
	func() error { m := map[any]int{}; m[[]int{}]++; return nil },
	func() error { a, b := any([]int{}), any([]int{}); _ = a == b; return nil },
	func() error { s := []int{1}; _ = [2]int(s); return nil },
	func() error { panic(fmt.Errorf("storing: %w", sql.ErrTxDone)) },
	// panics of the library
	func() error { strings.Repeat("x", -1); return nil },
	func() error { bytes.Repeat(nil, -1); return nil },
	func() error { reflect.ValueOf("x").Int(); return nil },
	func() error { reflect.ValueOf(1).Set(reflect.ValueOf(2)); return nil },
	func() error { reflect.ValueOf(nil).Type(); return nil },
	func() error { regexp.MustCompile("("); return nil },
	func() error { new(big.Int).Div(big.NewInt(1), big.NewInt(0)); return nil },
	func() error { new(sync.WaitGroup).Done(); return nil },
	func() error { time.NewTicker(0); return nil },
	func() error { netip.MustParseAddr("x"); return nil },
	func() error { template.Must(template.New("x").Parse("{{")); return nil },
	func() error { http.HandleFunc("", nil); return nil },
	func() error { new(strings.Builder).Grow(-1); return nil },
	// encoding
	func() error { return json.Unmarshal([]byte(`{"a":1`), new(any)) },
	func() error { return json.Unmarshal([]byte(`{a}`), new(any)) },
	func() error { return json.Unmarshal([]byte(`"x"`), new(int)) },
	func() error { return json.Unmarshal([]byte(`{"N":"x"}`), &struct{ N int }{}) },
	func() error { _, err := json.Marshal(make(chan int)); return err },
	func() error { _, err := json.Marshal(json.Number("x")); return err },
	func() error {
		d := json.NewDecoder(strings.NewReader(`{"X":1}`))
		d.DisallowUnknownFields()
		return d.Decode(&struct{}{})
	},
	func() error { return xml.Unmarshal([]byte("<a>"), new(struct{})) },
	func() error { return gob.NewDecoder(strings.NewReader("x")).Decode(new(int)) },
	func() error { return gob.NewEncoder(io.Discard).Encode(nil) },
	func() error { _, err := hex.DecodeString("zz"); return err },
	func() error { _, err := base64.StdEncoding.DecodeString("*"); return err },
	func() error { return binary.Read(strings.NewReader(""), binary.BigEndian, new(int32)) },
	func() error { return binary.Write(io.Discard, binary.BigEndian, "x") },
	func() error { _, err := strconv.Atoi("x"); return err },
	func() error { _, err := strconv.ParseInt("99999999999999999999", 10, 64); return err },
	func() error { _, err := strconv.ParseFloat("x", 64); return err },
	func() error { _, err := strconv.ParseBool("x"); return err },
	func() error { _, err := strconv.ParseInt("1", 99, 64); return err },
	func() error { _, err := time.Parse(time.RFC3339, "x"); return err },
	func() error { _, err := time.ParseDuration("5 minutes"); return err },
	func() error { _, err := time.ParseDuration("5"); return err },
	func() error { _, err := regexp.Compile("["); return err },
	func() error { _, err := template.New("x").Parse("{{.A.}}"); return err },
	func() error { return template.Must(template.New("x").Parse("{{.A}}")).Execute(io.Discard, struct{}{}) },
	func() error { _, err := png.Decode(strings.NewReader("x")); return err },
	func() error { _, err := png.Decode(strings.NewReader("it is no image")); return err },
	func() error { _, _, err := image.Decode(strings.NewReader("it is no image")); return err },
	func() error { _, err := gzip.NewReader(strings.NewReader("it is not compressed")); return err },
	func() error { _, err := zlib.NewReader(strings.NewReader("it is not compressed")); return err },
	func() error { _, err := zip.NewReader(strings.NewReader("x"), 1); return err },
	func() error { _, err := tar.NewReader(strings.NewReader(strings.Repeat("x", 512))).Next(); return err },
	func() error { _, err := mail.ParseAddress("x"); return err },
	func() error { _, err := mail.ParseAddress(""); return err },
	func() error { _, _, err := mime.ParseMediaType("a/b; c"); return err },
	func() error { _, err := multipart.NewReader(strings.NewReader("x"), "b").NextPart(); return err },
	// cryptography
	func() error { _, err := aes.NewCipher(nil); return err },
	func() error { _, err := x509.ParseCertificate(nil); return err },
	func() error { _, err := tls.X509KeyPair(nil, nil); return err },
	func() error { _, err := tls.LoadX509KeyPair("/nope/a.pem", "/nope/b.pem"); return err },
	func() error { return x509.UnknownAuthorityError{} },
	// files, processes, users
	func() error { _, err := os.Open("/nope/notes.db"); return err },
	func() error { _, err := os.Open("notes.db"); return err },
	func() error { _, err := os.ReadDir("/nope"); return err },
	func() error { _, err := os.ReadFile("/"); return err },
	func() error { return os.Mkdir("/proc", 0o700) },
	func() error { return os.Mkdir("/proc/x", 0o700) },
	func() error { return os.Rename("/nope/a", "/nope/b") },
	func() error { return os.Remove("/proc") },
	func() error { return os.Chdir("/nope") },
	func() error { _, err := os.Readlink("/"); return err },
	func() error { return os.WriteFile("/nope/x", nil, 0o600) },
	func() error { f, _ := os.Open(os.DevNull); f.Close(); return f.Close() },
	func() error { _, err := os.Open(strings.Repeat("x", 300)); return err },
	func() error { _, err := fs.ReadFile(os.DirFS("/nope"), "x"); return err },
	func() error { _, err := os.DirFS("/nope").Open("../x"); return err },
	func() error { _, err := filepath.Match("[", "x"); return err },
	func() error { return exec.Command("nope-no-such-program").Run() },
	func() error { return exec.Command("/nope/program").Run() },
	func() error { return new(exec.Cmd).Wait() },
	func() error { _, err := user.Lookup("nope-nobody"); return err },
	// networks
	func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
	func() error { _, err := net.Dial("tcp", "127.0.0.1"); return err },
	func() error { _, err := net.Dial("tcp", "a:b:c"); return err },
	func() error { _, err := net.Dial("unix", "/nope.sock"); return err },
	func() error { _, err := net.Listen("tcp", "203.0.113.1:1"); return err },
	func() error { _, err := http.Get("http://127.0.0.1:1/"); return err },
	func() error { _, err := http.Get("nope://x"); return err },
	func() error { _, err := http.Get("http://"); return err },
	func() error { _, err := http.NewRequest("A B", "http://x", nil); return err },
	func() error { _, err := http.NewRequest("GET", "http://a b/", nil); return err },
	func() error { _, err := new(http.Request).Cookie("x"); return err },
	func() error { _, err := new(http.Request).MultipartReader(); return err },
	func() error {
		_, err := http.ReadResponse(bufio.NewReader(strings.NewReader("x\n\n")), nil)
		return err
	},
	func() error { _, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET\n\n"))); return err },
	func() error { _, err := url.Parse("http://[::1"); return err },
	func() error { _, err := url.Parse("http://a:b/"); return err },
	func() error { _, err := url.Parse(":"); return err },
	func() error { _, err := url.Parse("http://a/%zz"); return err },
	func() error { _, err := url.QueryUnescape("%zz"); return err },
	func() error { return http.ErrNoCookie },
	// sentinels
	func() error { return io.EOF },
	func() error { return io.ErrUnexpectedEOF },
	func() error { return fmt.Errorf("reading the body: %w", io.EOF) },
	func() error { return io.ErrClosedPipe },
	func() error { return context.DeadlineExceeded },
	func() error { return context.Canceled },
	func() error { return sql.ErrNoRows },
	func() error { return sql.ErrTxDone },
	func() error { return sql.ErrConnDone },
	func() error { return bufio.ErrTooLong },
	func() error { return net.ErrClosed },
	func() error { return http.ErrServerClosed },
	func() error { return http.ErrBodyNotAllowed },
	func() error { return http.ErrHandlerTimeout },
	func() error { _, err := sql.Open("nope", ""); return err },
}

// A1, T-29, REQ-ER-08: what Go's standard library says when it fails is found, and the stack of each panic.
func TestFailuresOfGoAreFound(t *testing.T) {
	for i, provoke := range provoked {
		texts := fail(provoke)
		if len(texts) == 0 {
			t.Errorf("failure %d did not happen", i)
		}
		for _, text := range texts {
			for _, message := range []string{text, "Cannot save order 'A 12': " + text} {
				if _, part := Leak(message); part == "" {
					t.Errorf("failure %d is not found: %q", i, message)
				}
			}
		}
	}
}

// fail returns the texts of a failure: of an error, or of a panic and its stack.
func fail(provoke func() error) (texts []string) {
	defer func() {
		if v := recover(); v != nil {
			texts = []string{fmt.Sprint("panic: ", v), string(debug.Stack())}
		}
	}()
	if err := provoke(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Command adapter lets agents work with issues on GitHub.
package main

import (
	"os"

	client "github.com/google/go-github/v75/github"

	"github.com/aqltag/aqltag/runtime/serve"
	"github.com/aqltag/aqltag/test/adopted/github"
)

func main() {
	api := client.NewClient(nil).WithAuthToken(os.Getenv("GITHUB_TOKEN"))
	serve.Main(github.NewRegistry(api.Repositories, api.Issues), serve.Options{Name: "github", Version: "1.0.0"})
}

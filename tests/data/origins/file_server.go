// Go's file server over the files below ROOT: go run file_server.go ROOT PORT
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	files := http.FileServer(http.Dir(os.Args[1]))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[2], files))
}

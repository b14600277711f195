// Node's own server with `new URL(request.url, base)`: the files below ROOT.
// node node_url.js ROOT PORT
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const [root, port] = process.argv.slice(2);

http.createServer((request, response) => {
  let body;
  try {
    const { pathname } = new URL(request.url, 'http://site.example');
    const file = path.join(root, decodeURIComponent(pathname));
    if (!file.startsWith(root + path.sep)) throw new Error('outside of the root');
    body = fs.readFileSync(file);
  } catch (error) {
    response.statusCode = error.code ? 404 : 400;
    body = error.message;
  }
  response.end(body);
}).listen(Number(port), '127.0.0.1');

// Express: files on the first port, routes on the second.
// node express_app.js ROOT PORT PORT
'use strict';

const express = require('express');
const [root, filesPort, routesPort] = process.argv.slice(2);

const files = express();
files.use(express.static(root, { index: false, redirect: false, dotfiles: 'allow' }));
files.listen(Number(filesPort), '127.0.0.1');

// A route is found without regard to case, and with a slash at its end or without.
const routes = express();
const paths = [
  '/x', '/private/x', '/a/x', '/public/x', '/doc.pdf', '/a/doc.pdf', '/secret.html', '/@admin/x',
  '/a+b/x', '/a;b/x', '/Special:/x', '/private/secret.html',
];
for (const path of paths) {
  const pattern = path.replace(/[:+]/g, '\\$&');
  routes.get(pattern, (request, response) => response.end(`resolved ${path}`));
}
routes.listen(Number(routesPort), '127.0.0.1');

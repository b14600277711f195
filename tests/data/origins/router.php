<?php
// A front controller: the path of the request by parse_url, decoded.
// php -S 127.0.0.1:PORT router.php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (!is_string($path)) {
    http_response_code(400);
    return;
}
header('Content-Type: application/octet-stream');
echo 'resolved ' . rawurldecode($path);

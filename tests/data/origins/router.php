<?php
// A front controller: the path of the request by parse_url, decoded.
// php -S 127.0.0.1:PORT router.php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if (!is_string($path)) {
    http_response_code(400);
    return;
}
// A router of a single page.
$only = getenv('ONLY');
if ($only && rawurldecode($path) !== $only) {
    http_response_code(404);
    return;
}
// The page that the application finds by the names that PHP gives to parameters.
foreach (['page_name', 'page'] as $name) {
    if (isset($_GET[$name]) && is_string($_GET[$name])) {
        header('Content-Type: application/octet-stream');
        echo 'resolved /by-' . $name . '/' . $_GET[$name];
        return;
    }
}
header('Content-Type: application/octet-stream');
echo 'resolved ' . rawurldecode($path);

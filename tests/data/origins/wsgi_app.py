"""A WSGI application that shows the path it was given; for gunicorn and waitress."""


def app(environ, start_response):
    body = b"resolved " + environ["PATH_INFO"].encode("latin-1")
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]

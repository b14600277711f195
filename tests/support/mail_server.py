"""A mail server that prints each letter as a line of JSON.

Arguments: starttls, implicit or none; the port; the certificate and the key; the code and the text of a
refusal, if it refuses.
"""

import email
import email.policy
import json
import ssl
import sys
import time

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

kind, port, certificate, key = sys.argv[1:5]
refusal = " ".join(sys.argv[5:])


class Handler:
    async def handle_DATA(self, server, session, envelope):
        if refusal:
            return refusal
        letter = email.message_from_bytes(envelope.content, policy=email.policy.default)
        parts = {part.get_content_type(): part.get_content() for part in letter.walk() if not part.is_multipart()}
        login = session.auth_data
        print(json.dumps({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "tls": session.ssl is not None,
            "user": login and login.login.decode(),
            "type": letter.get_content_type(),
            "fields": dict(letter.items()),
            "text": parts.get("text/plain"),
            "html": parts.get("text/html"),
        }), flush=True)
        return "250 OK"


def authenticator(server, session, envelope, mechanism, data):
    known = (data.login, data.password) == (b"beadle", b"T0PSECRET")
    return AuthResult(success=known, handled=False, auth_data=data)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
options = {
    "starttls": {
        "tls_context": context,
        "require_starttls": True,
        "authenticator": authenticator,
        "auth_required": True,
    },
    "implicit": {"ssl_context": context},
    "none": {},
}[kind]
Controller(Handler(), hostname="127.0.0.1", port=int(port), **options).start()
print("{}", flush=True)
# The test ends this process.
time.sleep(600)

"""Flask with a route for $PAGE."""

import os

from flask import Flask

app = Flask(__name__, static_folder=None)


@app.get(os.environ["PAGE"])
def page():
    return "resolved " + os.environ["PAGE"]

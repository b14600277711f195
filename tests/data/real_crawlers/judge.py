"""Answers each line of JSON (`robots_txt`, `name`, `target`) by Protego: is the fetch allowed?"""

import json
import sys

from protego import Protego

files = {}
for line in sys.stdin:
    case = json.loads(line)
    text = case["robots_txt"]
    if text not in files:
        files = {text: Protego.parse(text)}
    print(json.dumps(files[text].can_fetch("http://site.example" + case["target"], case["name"])), flush=True)

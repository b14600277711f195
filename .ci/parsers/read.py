"""Asks the parsers of PyPI. Standard input: a JSON list of [file, product token, path]. Standard output:
a JSON object, for each parser the list of its answers: whether the crawler may fetch the path."""

import json
import sys
from urllib.robotparser import RobotFileParser

import protego
import robotexclusionrulesparser
import robots
from gpyrobotstxt.robots_cc import RobotsMatcher

SITE = "https://site.example"


def urllib(file, crawler, path):
    parser = RobotFileParser()
    parser.parse(file.splitlines())
    return parser.can_fetch(crawler, SITE + path)


def by_protego(file, crawler, path):
    return protego.Protego.parse(file).can_fetch(SITE + path, crawler)


def by_robotexclusionrulesparser(file, crawler, path):
    parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    parser.parse(file)
    return parser.is_allowed(crawler, SITE + path)


def by_robotspy(file, crawler, path):
    return robots.RobotsParser.from_string(file).can_fetch(crawler, SITE + path)


def by_gpyrobotstxt(file, crawler, path):
    return RobotsMatcher().allowed_by_robots(file.encode(), [crawler], SITE + path)


PYTHON = ".".join(map(str, sys.version_info[:2]))
PARSERS = {
    f"urllib (Python {PYTHON})": urllib,
    "Protego (PyPI)": by_protego,
    "robotexclusionrulesparser (PyPI)": by_robotexclusionrulesparser,
    "robotspy (PyPI)": by_robotspy,
    "gpyrobotstxt, Google's parser (PyPI)": by_gpyrobotstxt,
}
QUESTIONS = json.load(sys.stdin)
ANSWERS = {name: [bool(ask(*one)) for one in QUESTIONS] for name, ask in PARSERS.items()}
json.dump(ANSWERS, sys.stdout)

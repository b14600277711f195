"""Follows every link below the URL of the last argument, as robots.txt allows (Scrapy reads it by Protego).

An argument before it has more settings as JSON."""

import json
import sys

from scrapy import Spider
from scrapy.crawler import CrawlerProcess


class Links(Spider):
    name = "links"
    start_urls = [sys.argv[-1]]
    # A refusal has links, too.
    handle_httpstatus_all = True

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)


settings = {"ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0}
for argument in sys.argv[1:-1]:
    settings |= json.loads(argument)
process = CrawlerProcess(settings)
process.crawl(Links)
process.start()

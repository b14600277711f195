"""Follows every link below the URL of the first argument, as robots.txt allows (Scrapy reads it by Protego)."""

import sys

from scrapy import Spider
from scrapy.crawler import CrawlerProcess


class Links(Spider):
    name = "links"
    start_urls = [sys.argv[1]]
    # A refusal has links, too.
    handle_httpstatus_all = True

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)


process = CrawlerProcess(
    {"ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0}
)
process.crawl(Links)
process.start()

// Follows every link below the URL of the first argument, as robots.txt allows (by robots-parser).
const Crawler = require("simplecrawler");

const crawler = new Crawler(process.argv[2]);
crawler.userAgent = "ExampleBot/1.0";
crawler.interval = 5;
crawler.maxConcurrency = 1;
crawler.respectRobotsTxt = true;
crawler.on("complete", () => process.exit(0));
crawler.start();

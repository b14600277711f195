// Asks the parsers of npm. Standard input: a JSON list of [file, product token, path]. Standard output:
// a JSON object, for each parser the list of its answers: whether the crawler may fetch the path.
const modules = process.argv[2];
const load = (name) => require(require.resolve(name, { paths: [modules] }));
const site = 'https://site.example';

const robotsParser = load('robots-parser');
const robotsTxtParser = load('robots-txt-parser');
const parse = load('robots-txt-parse');
const guard = load('robots-txt-guard');
const { Readable } = require('stream');

const parsers = {
  'robots-parser (npm)': (file, crawler, path) =>
    robotsParser(`${site}/robots.txt`, file).isAllowed(site + path, crawler),
  'robots-txt-parser (npm)': (file, crawler, path) => {
    const robots = robotsTxtParser({ userAgent: crawler, allowOnNeutral: true });
    robots.parseRobots(site, file);
    return robots.useRobotsFor(site).then(() => robots.canCrawlSync(site + path));
  },
  'robots-txt-guard (npm)': async (file, crawler, path) =>
    guard(await parse(Readable.from([file]))).isAllowed(crawler, path),
};

async function main() {
  const questions = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const answers = {};
  for (const [name, ask] of Object.entries(parsers)) {
    answers[name] = [];
    for (const one of questions) answers[name].push((await ask(...one)) !== false);
  }
  process.stdout.write(JSON.stringify(answers));
}

main();

/**
 * `npm run tinker [-- PART …]`: the official SDK of Tinker, and what else a client may do, on `memrl serve`. Needs Python 3.11 or later
 * and packages of PyPI, which it installs below node_modules/.cache/tinker. Where these are not to be had, it says what is missing and
 * what to type, and fails; with `--may-skip` it says so and ends well.
 *
 * Parts: `sdk` (three versions of the SDK train to the same numbers, and the newest runs the program of docs/tinker.md; what is done
 * when no part is named), `load` (8 clients at once), `fuzz` (100,000 bad requests), `cookbook [RECIPE …]` (the unmodified cookbook's
 * recipes, or some of them, and the table of docs/tinker.md of what they learn; with `--place=DIRECTORY` the data sets and the taught
 * models stay there for the next time; installs PyTorch), `methods` (every method of the newest
 * SDK, and the table of what came of it), `weights` (PEFT and transformers compute what the service computes). `record`: `sdk`, and what
 * the versions asked and were answered goes into test/fixtures/tinker, for the tests that have no Python.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readArguments } from './arguments.js';
import { runRecipes } from './tinker/cookbook.js';
import { fuzzService } from './tinker/fuzz.js';
import { loadService } from './tinker/load.js';
import { callMethods, openWeights } from './tinker/methods.js';
import { Missing, pythonWith, root, runPython, withService } from './tinker/support.js';

const versions = ['0.18.2', '0.25.0', '0.38.0'];
const { values: flags, positionals } = readArguments({
  'may-skip': { type: 'boolean', default: false },
  place: { type: 'string' },
});
const [part = 'sdk', ...others] = positionals;
const isRecording = part === 'record';
const parts = {
  sdk: trainOnAll,
  record: trainOnAll,
  load: loadService,
  fuzz: fuzzService,
  cookbook: () => runRecipes(others, flags.place),
  methods: callMethods,
  weights: openWeights,
};
if (!Object.hasOwn(parts, part)) {
  console.error(`There is no part ${part}.\n\n→ Choose among: ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}
try {
  await parts[part]();
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  console.error(flags['may-skip'] ? `SKIPPED: ${error.message}` : error.message);
  process.exitCode = flags['may-skip'] ? 0 : 1;
}

async function trainOnAll() {
  const results = [];
  for (const version of versions) {
    const python = pythonWith([[`tinker==${version}`]], `sdk-${version}`);
    results.push(await trainOn(version, python));
  }
  compare(results);
  await followPage();
}

/** The program of docs/tinker.md, word by word, on the newest SDK. */
async function followPage() {
  const newest = versions.at(-1);
  const python = pythonWith([[`tinker==${newest}`]], `sdk-${newest}`);
  const [, program] = /```python\n(.*?)```/s.exec(readFileSync(join(root, 'docs/tinker.md'), 'utf8'));
  await withService(async ({ url }) => {
    const said = await runPython(python, ['-c', program], { url });
    const [path, answer] = said.trim().split('\n').slice(-2);
    if (answer.trim() !== 'It is 7.')
      throw new Error(`The program of docs/tinker.md has not learnt to say "It is 7.":\n${said}`);
    console.log(`The program of docs/tinker.md has saved ${path} and says "${answer.trim()}"`);
  });
}

async function trainOn(version, python) {
  return withService(
    async ({ url, directory }) => {
      const record = [];
      const proxy = await recordingProxy(url, record);
      const began = performance.now();
      const said = await runPython(python, [join(root, 'scripts/tinker/sdk.py')], {
        url: `http://127.0.0.1:${proxy.address().port}`,
      });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      proxy.close();
      proxy.closeAllConnections();
      console.log(`SDK ${version}: all it was asked for was done, ${record.length} requests in ${seconds} s`);
      if (isRecording) keep(version, record, directory);
      return JSON.parse(said);
    },
    { keys: ['threads=1'] },
  );
}

async function recordingProxy(target, record) {
  const proxy = createServer((message, response) => {
    const chunks = [];
    message.on('data', (chunk) => chunks.push(chunk));
    message.on('end', () => {
      const body = Buffer.concat(chunks);
      const entry = {
        method: message.method,
        path: message.url,
        type: message.headers['content-type'],
        accept: message.headers.accept,
      };
      entry.body = body.toString('base64');
      record.push(entry);
      const headers = { ...message.headers, host: new URL(target).host };
      const onward = httpRequest(`${target}${message.url}`, { method: message.method, headers }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => {
          Object.assign(entry, { status: answer.statusCode, answer: Buffer.concat(parts).toString('base64') });
          response.writeHead(answer.statusCode, answer.headers);
          response.end(Buffer.concat(parts));
        });
      });
      onward.on('error', () => response.destroy());
      onward.end(body);
    });
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return proxy;
}

/** Without what says nothing of training, and what tells of this machine. */
function keep(version, record, directory) {
  const told = record.filter(({ path, answer }) => answer !== undefined && !/telemetry|heartbeat/.test(path));
  const first = told.find(({ path }) => path.endsWith('create_session'));
  const boot = JSON.parse(Buffer.from(first.answer, 'base64').toString()).session_id.split('-')[0];
  const content = JSON.stringify({ version, boot, home: directory, requests: told });
  writeFileSync(join(root, `test/fixtures/tinker/sdk-${version}.json.gz`), gzipSync(content, { level: 9 }));
}

/** All versions have trained the same; a newer one may do more. */
function compare(all) {
  const [first, ...others] = all;
  for (const other of others) {
    const losses = Object.fromEntries(Object.keys(first.losses).map((name) => [name, other.losses[name]]));
    for (const what of ['losses', 'falling', 'after', 'sampled']) {
      const [one, two] = [first[what], what === 'losses' ? losses : other[what]].map((value) => JSON.stringify(value));
      if (one !== two) throw new Error(`SDK ${first.version} and ${other.version} differ in ${what}: ${one}, ${two}`);
    }
  }
  if (all.length > 1) console.log(`${all.length} versions of the SDK have trained to the same numbers.`);
}

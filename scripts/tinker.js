/**
 * Trains with the official SDK of Tinker, in several versions, on `memrl serve`: needs Python 3.11 or later, and packages of
 * PyPI, which it installs below node_modules/.cache/tinker. Where these are not to be had, it says so and ends well.
 *
 * `--record` writes what the versions asked and were answered into test/fixtures/tinker, for the tests that have no Python.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const versions = ['0.18.2', '0.25.0', '0.38.0'];
const isRecording = process.argv.includes('--record');

const results = [];
for (const version of versions) {
  const python = pythonWith(`tinker==${version}`, `sdk-${version}`);
  if (python === null) continue;
  results.push(await trainOn(version, python));
}
compare(results);

/** A Python with a package, or null and why there is none. */
function pythonWith(requirement, name) {
  const home = join(root, 'node_modules/.cache/tinker', name);
  const python = join(home, 'bin/python');
  try {
    if (!existsSync(join(home, 'ready'))) {
      mkdirSync(dirname(home), { recursive: true });
      execFileSync('python3', ['-m', 'venv', home], { stdio: 'pipe' });
      execFileSync(python, ['-m', 'pip', 'install', '-q', requirement], { stdio: 'pipe' });
      writeFileSync(join(home, 'ready'), '');
    }
    return python;
  } catch (error) {
    const why = String(error.stderr ?? error.message)
      .trim()
      .split('\n')
      .at(-1);
    console.log(`SKIPPED: ${requirement} cannot be installed here: ${why}`);
    return null;
  }
}

async function trainOn(version, python) {
  const directory = mkdtempSync(join(tmpdir(), 'memrl-tinker-'));
  const argv = [join(root, 'dist/memrl.js'), 'serve', 'port=0', 'engine=wasm', 'threads=1', `dir=${directory}/serve`];
  const server = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const target = await addressOf(server);
    const record = [];
    const proxy = await recordingProxy(target, record);
    const began = performance.now();
    const said = await sdk(python, `http://127.0.0.1:${proxy.address().port}`);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    proxy.close();
    proxy.closeAllConnections();
    console.log(`SDK ${version}: all it was asked for was done, ${record.length} requests in ${seconds} s`);
    if (isRecording) keep(version, record, directory);
    return JSON.parse(said);
  } finally {
    server.kill('SIGTERM');
    await new Promise((resolve) => server.once('close', resolve));
    rmSync(directory, { recursive: true, force: true });
  }
}

async function addressOf(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const address = /http:\S+/.exec(line)?.[0];
    if (address !== undefined) {
      server.stdout.resume();
      return address;
    }
  }
  throw new Error('memrl serve ended before it served.');
}

function sdk(python, url) {
  return new Promise((resolve, reject) => {
    const environment = { ...process.env, TINKER_BASE_URL: url, TINKER_API_KEY: 'tml-local', HF_HUB_OFFLINE: '1' };
    const child = spawn(python, [join(root, 'scripts/tinker/sdk.py')], { env: environment });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (code) => (code === 0 ? resolve(stdout) : reject(new Error(`sdk.py failed:\n${stderr}`))));
  });
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

/** All versions have trained the same. */
function compare(all) {
  const [first, ...others] = all;
  for (const other of others) {
    for (const what of ['losses', 'falling', 'after', 'sampled']) {
      const [one, two] = [first[what], other[what]].map((value) => JSON.stringify(value));
      if (one !== two) throw new Error(`SDK ${first.version} and ${other.version} differ in ${what}: ${one}, ${two}`);
    }
  }
  if (all.length > 1) console.log(`${all.length} versions of the SDK have trained to the same numbers.`);
}

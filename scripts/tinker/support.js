/** What the parts of `npm run tinker` share: Pythons with packages, and a service to talk to. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Packages that are not there, and the commands that install them. */
export class Missing extends Error {
  name = 'Missing';
}

/**
 * A Python with packages, which are installed below node_modules/.cache/tinker the first time.
 *
 * @param installs Arguments of `pip install`, one list for each time that it runs.
 * @throws Missing with the commands to type where they cannot be installed.
 */
export function pythonWith(installs, name) {
  const home = join(root, 'node_modules/.cache/tinker', name);
  const python = join(home, 'bin/python');
  if (existsSync(join(home, 'ready'))) return python;
  const commands = [
    ['python3', '-m', 'venv', home],
    ...installs.map((packages) => [python, '-m', 'pip', 'install', '-q', ...packages]),
  ];
  console.log(`Installing ${installs.flat().filter(isPackage).join(' ')} in ${home}, once.`);
  try {
    mkdirSync(dirname(home), { recursive: true });
    for (const [command, ...argv] of commands) execFileSync(command, argv, { stdio: 'pipe' });
  } catch (error) {
    throw missing(`A Python with ${name} cannot be made here: ${reasonOf(error)}`, commands, python);
  }
  writeFileSync(join(home, 'ready'), '');
  return python;
}

/**
 * A Python with the cookbook. TINKER_PYTHON names one that has the packages already, as those with PyTorch take 6 GB.
 *
 * @throws Missing where that one lacks some.
 */
export function cookbookPython() {
  const given = process.env.TINKER_PYTHON;
  if (given === undefined) return pythonWith(cookbookInstalls, 'cookbook-0.6.1');
  const python = given.includes('/') ? resolve(given) : given;
  const commands = cookbookInstalls.map((packages) => [python, '-m', 'pip', 'install', ...packages]);
  const program = `import importlib.metadata as m, json, sys
def has(name):
    try: return m.version(name)
    except m.PackageNotFoundError: return None
print(json.dumps({name: has(name) for name in sys.argv[1:]}))`;
  const wanted = cookbookInstalls.flat().filter(isPackage).map((each) => /^([\w-]+)(.*)$/.exec(each)); // prettier-ignore
  let found;
  try {
    found = JSON.parse(execFileSync(python, ['-c', program, ...wanted.map(([, name]) => name)], { stdio: 'pipe' }));
  } catch (error) {
    const made = commands.map(([, ...argv]) => ['tinker-venv/bin/python', ...argv]);
    const why = `${python} of TINKER_PYTHON does not run: ${reasonOf(error)}`;
    throw missing(why, [['python3', '-m', 'venv', 'tinker-venv'], ...made], 'tinker-venv/bin/python');
  }
  const isThere = ([, name, version]) =>
    found[name] !== null && (!version.startsWith('==') || `==${found[name]}` === version);
  const lacking = wanted.filter((each) => !isThere(each)).map(([requirement]) => requirement);
  if (lacking.length > 0) throw missing(`${python} of TINKER_PYTHON lacks ${lacking.join(', ')}.`, commands, python);
  return python;
}

/**
 * The newest cookbook. It asks for a `tml-renderers` that PyPI does not have, for models of Thinking Machines alone; so it is installed
 * without its requirements, and these, at the versions that were tried, before it.
 */
const cookbookInstalls = [
  [
    ...[
      'tinker==0.38.0',
      'tml-renderers',
      'torch',
      'transformers==5.5.4',
      'peft',
      'datasets',
      'chz',
      'blobfile',
      'rich',
      'termcolor',
    ],
    ...['tiktoken', 'pillow', 'aiohttp', 'cloudpickle', 'pyrage', 'safetensors', 'math-verify', 'pylatexenc', 'sympy'],
    ...['textarena>=0.7.4'],
  ],
  ['--no-deps', 'tinker-cookbook==0.6.1'],
];

function isPackage(argument) {
  return !argument.startsWith('-');
}

function missing(why, commands, python) {
  const quoted = (argument) => (/^[\w./=:@%+-]+$/.test(argument) ? argument : `'${argument}'`);
  const lines = commands.map((words) => `  ${words.map(quoted).join(' ')}`);
  const again = `  TINKER_PYTHON=${python} npm run tinker -- ${process.argv.slice(2).join(' ')}`;
  return new Missing(`${why}\n\n→ With Python 3.11 or later and PyPI at hand:\n${[...lines, again].join('\n')}`);
}

function reasonOf(error) {
  const said = String(error.stderr ?? '').trim() || error.message;
  return said.split('\n').at(-1);
}

/**
 * Runs `memrl serve` in a process of its own while `work` does; what it saves is gone afterwards.
 *
 * @param work Is given the address, the directory and the process.
 */
export async function withService(work, { keys = [], environment = {}, cwd = process.cwd() } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'memrl-tinker-'));
  const argv = [join(root, 'dist/memrl.js'), 'serve', 'port=0', 'engine=wasm', `dir=${directory}/serve`, ...keys];
  const options = { cwd, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...environment } };
  const server = spawn(process.execPath, argv, options);
  try {
    return await work({ url: await addressOf(server), directory, server });
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null) await new Promise((resolve) => server.once('close', resolve));
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

/** Runs a program of Python to its end; its output. @throws Error with what it complained of. */
export function runPython(python, argv, { url, key = 'tml-local', variables = {}, ...options }) {
  const own = { TINKER_BASE_URL: url, TINKER_API_KEY: key, HF_HUB_OFFLINE: '1', PYTHONWARNINGS: 'ignore' };
  return new Promise((succeed, fail) => {
    const stdio = ['ignore', 'pipe', 'pipe'];
    const child = spawn(python, argv, { ...options, stdio, env: { ...process.env, ...own, ...variables } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (code) =>
      code === 0 ? succeed(stdout) : fail(new Error(`${argv.join(' ')} failed:\n${stderr.slice(-3000)}`)),
    );
  });
}

/** Writes weights that a service has saved for transformers. @param path `tinker://MODEL/weights/NAME`. */
export function exportWeights(directory, path, target) {
  const [model, kind, name] = path.slice('tinker://'.length).split('/');
  const saved = join(directory, 'serve/checkpoints', model.replaceAll(':', '+'), kind, name);
  memrl(['model', saved, `output_dir=${target}`]);
}

/** Runs a command of memrl to its end. */
export function memrl(argv, cwd = process.cwd()) {
  execFileSync(process.execPath, [join(root, 'dist/memrl.js'), ...argv], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export function keysOf(values) {
  return Object.entries(values).map(([key, value]) => `${key}=${value}`);
}

export function jsonLinesOf(path) {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** Replaces a table of docs/tinker.md, which stands between comments with its name. @param change Is given the earlier one. */
export function replaceTable(name, change) {
  const page = join(root, 'docs/tinker.md');
  const text = readFileSync(page, 'utf8');
  const marks = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [text.indexOf(marks[0]) + marks[0].length, text.indexOf(marks[1])];
  if (to < from) throw new Error(`${page} has no place for the table ${name}.`);
  writeFileSync(page, `${text.slice(0, from)}\n\n${change(text.slice(from, to))}\n\n${text.slice(to)}`);
}

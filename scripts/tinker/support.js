/** What the parts of `npm run tinker` share: Pythons with packages, and a service to talk to. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A Python with packages, or null and why there is none. @param name Of its folder below node_modules/.cache/tinker. */
export function pythonWith(requirements, name) {
  const home = join(root, 'node_modules/.cache/tinker', name);
  const python = join(home, 'bin/python');
  try {
    if (!existsSync(join(home, 'ready'))) {
      mkdirSync(dirname(home), { recursive: true });
      execFileSync('python3', ['-m', 'venv', home], { stdio: 'pipe' });
      execFileSync(python, ['-m', 'pip', 'install', '-q', ...requirements], { stdio: 'pipe' });
      writeFileSync(join(home, 'ready'), '');
    }
    return python;
  } catch (error) {
    const why = String(error.stderr ?? error.message)
      .trim()
      .split('\n')
      .at(-1);
    console.log(`SKIPPED: ${requirements.join(' ')} cannot be installed here: ${why}`);
    return null;
  }
}

/** A Python with the cookbook, or null. TINKER_PYTHON names one that has the packages already, as PyTorch is large. */
export function cookbookPython() {
  // The newest that can be installed: 0.6.1 needs a `tml-renderers` of 0.4.1, of which PyPI has 0.2.1 at most.
  const packages = ['tinker==0.38.0', 'tinker-cookbook==0.5.8', 'torch', 'peft'];
  return process.env.TINKER_PYTHON ?? pythonWith(packages, 'cookbook-0.5.8-peft');
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
  return new Promise((resolve, reject) => {
    const child = spawn(python, argv, { ...options, env: { ...process.env, ...own, ...variables } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('close', (code) =>
      code === 0 ? resolve(stdout) : reject(new Error(`${argv.join(' ')} failed:\n${stderr.slice(-3000)}`)),
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

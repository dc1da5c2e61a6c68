import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { compiledFolder } from './dist.js';
import { programNames } from './programs.js';

/** A command that takes longer is not waited for, ms. */
const PATIENCE_MS = 30_000;

const sweep = `name: ahead
parameters: { seed: [0, 1] }
command: [sh, -c, 'echo "{\\"step\\": 1, \\"loss\\": 0.5}" > metrics.jsonl']
`;

/**
 * Lets the programs do for a moment what they are there for, with everything in a folder of its own, so that they write down what V8
 * has compiled (`src/start/program-parts.ts`). Programs work without: what fails here is left.
 *
 * @param hash Of the sources of `dist`.
 */
export async function compileAhead(dist, hash) {
  const folder = join(compiledFolder(dist), `${process.version}-${process.arch}`);
  const mark = join(folder, 'hash');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) return;
  for (const name of programNames) mkdirSync(join(folder, name), { recursive: true });
  const place = mkdtempSync(join(tmpdir(), 'memrl-build-'));
  try {
    const call = callIn(place, dist);
    await Promise.all([compileManager(call, place, dist), compileLab(call, place)]);
    writeFileSync(mark, hash);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function compileManager(call, place, dist) {
  await call('memrl-tui', '--help');
  await call('memrl-tui', 'ls');
  await call('memrl-tui', join(dirname(dist), 'sweeps/abcd.yaml'), '--dry-run');
  writeFileSync(join(place, 'ahead.yaml'), sweep);
  await call('memrl-tui', 'ahead.yaml', '--plain');
  for (const words of [['ls'], ['status'], ['wait', 'all'], ['logs', 'all']]) await call('memrl-tui', ...words);
  await openWindow(call, dist);
  await endSupervisor(place);
}

async function compileLab(call, place) {
  await call('memrl', '--help');
  await call('memrl', 'train', '--help');
  await call('memrl', 'train', 'N=16', 'n_batches=2', `log_path=${join(place, 'trained')}`);
}

/** Opens the control window and closes it, where a terminal can be had. */
async function openWindow(call, dist) {
  const pty = await import('@lydell/node-pty').catch(() => null);
  if (pty === null) return;
  const { cwd } = call.options;
  // What it needs of parts that short commands have, too, would only delay those.
  const env = { ...call.options.env, MEMRL_WRITE_COMPILED: 'new' };
  const size = { cols: 120, rows: 40 };
  const terminal = pty.spawn(process.execPath, [join(dist, 'memrl-tui.js'), 'attach'], { ...size, cwd, env });
  const ended = new Promise((resolve) => terminal.onExit(resolve));
  terminal.onData(() => undefined);
  const keys = setInterval(() => terminal.write('q'), 1500);
  await Promise.race([ended, setTimeout(PATIENCE_MS, null, { ref: false })]);
  clearInterval(keys);
  terminal.kill('SIGKILL');
}

function callIn(place, dist) {
  const others = Object.entries(process.env).filter(([name]) => !/^(MEMRL_|WANDB_|NODE_OPTIONS$)/.test(name));
  const own = { HOME: place, XDG_RUNTIME_DIR: place, XDG_CONFIG_HOME: place, MEMRL_LEASES: join(place, 'leases') };
  const options = { cwd: place, env: { ...Object.fromEntries(others), ...own, MEMRL_WRITE_COMPILED: 'all' } };
  const call = (program, ...words) =>
    new Promise((resolve) => {
      const argv = [join(dist, `${program}.js`), ...words];
      const child = spawn(process.execPath, argv, { ...options, stdio: 'ignore', timeout: PATIENCE_MS });
      child.on('error', resolve);
      child.on('exit', resolve);
    });
  return Object.assign(call, { options });
}

/** The supervisor would wait for more to do. Resolves when it has written what is compiled, and is gone. */
async function endSupervisor(place) {
  try {
    const { pid } = JSON.parse(readFileSync(join(place, 'runs/.supervisor/lock.json'), 'utf8'));
    process.kill(pid, 'SIGTERM');
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await setTimeout(50)) process.kill(pid, 0);
  } catch {
    // There is none, or none any more.
  }
}

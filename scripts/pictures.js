/**
 * Takes the pictures of docs/screens.md: every screen of the window, on a sweep that is really run (about three minutes).
 *
 *   npm run pictures
 *   npm run pictures -- --runs DIR                   an abcd sweep in DIR that has been run before; leaves out what needs a running one
 *   npm run pictures -- --runs DIR --only sweep,gpus   these alone
 *
 * The screen of GPUs is the only one with something invented: the tests' stand-in for nvidia-smi says that there are four.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readArguments } from './arguments.js';
import { takePicture } from './take-picture.js';

const run = promisify(execFile);
const program = resolve('dist/memrl-tui.js');
const { values } = readArguments({ runs: { type: 'string' }, only: { type: 'string' } }, 0);
const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
const environment = { MEMRL_CONFIG_DIR: join(folder, 'config') };
const minutes = 60_000;
const only = values.only?.split(',');
const isWanted = (name) => only === undefined || only.includes(name);

/** A picture of the window in docs/, with the keys that lead there. */
function picture(name, args, scene) {
  return takePicture({
    size: '120x40',
    ...scene,
    command: process.execPath,
    args: [program, ...args],
    environment: { ...environment, ...scene.environment },
    out: `docs/${name}.png`,
  });
}

const down = (count) => Array.from({ length: count }, () => 'down');
const foldFirst = ['1', 'left', '2', 'left', '3', 'left', '4'];

/** The front picture and a small one, while it runs; then until its end. */
async function whileRunning(runs) {
  const args = ['sweeps/abcd.yaml', '--runs', runs];
  await picture('window', args, {
    size: '144x46',
    timeoutMs: 10 * minutes,
    wait: 'waiting for a slot',
    keys: foldFirst,
    after: '3[0-3] done',
  });
  await picture('jobs-80x24', ['attach', 'abcd', '--runs', runs], {
    size: '80x24',
    keys: [...foldFirst, ...down(9)],
    after: 'detach',
  });
  await run(process.execPath, [program, 'wait', 'abcd', '--runs', runs]);
}

/** What shows that a screen has read all it shows. */
const whole = { sweep: '── studies ─+ ?$', table: 'mean ± standard deviation' };

/** What is seen once the runs have ended. */
async function afterwards(runs) {
  const attach = ['attach', 'abcd', '--runs', runs];
  const scenes = {
    jobs: [...foldFirst, 'down', 'down', 'down', 'down', 'down'],
    group: [...foldFirst, ...down(9), 'enter', 'tab', 'a', 'a', 'escape', ...Array.from({ length: 14 }, () => 'right')],
    run: ['4', 'down', 'down', 'enter'],
    wall: [...foldFirst, ...down(9), 'enter', 'tab'],
    compare: ['4', 'down', 'space', 'down', 'down', 'down', 'down', 'space', ...down(4), 'space', 'b', 'c'],
    heatmap: ['4', 'space', '5', 'space', '6', 'space', 'c', 'tab', 'tab'],
    sweep: ['S'],
    parameters: ['M'],
    table: ['S', 'end'],
    help: ['?'],
    palette: [':', 'r', 'e', 's'],
    grouping: ['g'],
  };
  for (const [name, keys] of Object.entries(scenes).filter(([each]) => isWanted(each))) {
    await picture(name, attach, { wait: 'detach', keys, after: whole[name] ?? 'Esc|detach' });
  }
}

/** Four GPUs that are not there, two runs on each, another person's process on the third, the last one drained. */
async function gpus() {
  const runs = join(folder, 'gpu-runs');
  const state = join(folder, 'gpus');
  const sweep = join(folder, 'abcd.yaml');
  const text = readFileSync('sweeps/abcd.yaml', 'utf8');
  writeFileSync(sweep, text.replace('resources: { gpus: 0 }', 'resources: { gpus: 1, per_gpu: 2 }'));
  const fake = { PATH: `${resolve('test/fixtures')}:${process.env.PATH}`, FAKE_GPU_STATE: state };
  const options = { env: { ...process.env, ...environment, ...fake } };
  const call = (...args) => run(process.execPath, [program, ...args, '--runs', runs], options);
  const say = (apps) => {
    writeFileSync(`${state}.new`, `FAKE_GPUS=4\nFAKE_GPU_APPS='${apps}'\nFAKE_GPU_USED='3 3 24000 3'\n`);
    renameSync(`${state}.new`, state);
  };
  const stranger = `2:${process.pid}:21400:python`;
  say(stranger);
  await call(sweep, '--detach', '--set', 'stop_when=null');
  const telling = new AbortController();
  try {
    await call('drain', '3');
    await runsOnGpus(call);
    void tellOfRuns(call, (runs) => say([stranger, ...runs].join(' ')), telling.signal);
    await picture('gpus', ['attach', 'abcd', '--runs', runs], {
      environment: fake,
      title: 'memrl-tui · four GPUs of the stand-in for nvidia-smi',
      wait: 'detach',
      keys: ['d'],
      after: 'GiB +[0-9]+%.*gpu',
    });
  } finally {
    telling.abort();
    await call('kill', 'abcd', '--yes', '--wait');
  }
}

/** The processes of runs that have a GPU, as the stand-in takes them, once three of them have. */
async function runsOnGpus(call, least = 3) {
  for (;;) {
    const { stdout } = await call('ls', 'sweep:abcd', '--json');
    const found = JSON.parse(stdout).filter(
      ({ state, pid, gpus }) => state === 'running' && pid !== null && gpus?.length > 0,
    );
    if (found.length >= least) return found.map(({ pid, gpus }) => `${gpus[0]}:${pid}:${9000 + (pid % 90) * 70}:memrl`);
  }
}

/** Tells the stand-in again and again which processes are on its GPUs. */
async function tellOfRuns(call, tell, signal) {
  while (!signal.aborted) {
    tell(await runsOnGpus(call, 0));
    await delay(500);
  }
}

/** A supervisor leaves by itself some seconds after its last run and its last window. */
async function supervisorsGone() {
  const locks = ['runs', 'gpu-runs'].map((name) => join(folder, name, '.supervisor/lock.json'));
  while (locks.some((lock) => existsSync(lock))) await delay(100);
}

try {
  const runs = values.runs ?? join(folder, 'runs');
  if (values.runs === undefined) await whileRunning(runs);
  await afterwards(runs);
  if (isWanted('gpus')) await gpus();
} finally {
  await supervisorsGone();
  rmSync(folder, { recursive: true, force: true });
}

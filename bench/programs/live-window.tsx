/**
 * A window on simulated runs that are updated all the time. Every frame carries the number of keys it shows as an
 * invisible title, so that a driver can tell which key a frame answers.
 *
 *   node program.mjs painter RUNS UPDATES_PER_SECOND    as shipped
 *   node program.mjs ink RUNS UPDATES_PER_SECOND        list and pane, the same lines, through Ink's own output
 *   node program.mjs none RUNS UPDATES_PER_SECOND       no window: what the updates alone cost
 */
import { type Key, render, Text, useInput } from 'ink';
import { useSyncExternalStore } from 'react';
import { RunId } from '../../src/base/ids.js';
import { PAGE } from '../../src/protocol/message.js';
import { press } from '../../src/tui/dialogs/key-stack.js';
import { calmNewsPause, WindowStore } from '../../src/tui/app/window-store.js';
import { keepYoungGenerationSmall } from '../../src/tui/app/open-window.js';
import { bodyOf } from '../../src/tui/app/frame.js';
import { loadScreens, mountApp } from '../../src/tui/app/mount-app.js';
import { detailPane, jobsLayout } from '../../src/tui/screens/jobs/jobs-lines.js';
import { Surface } from '../../src/tui/surface/surface.js';
import { listen } from '../../src/tui/terminal/input-decoder.js';
import { listPane } from '../../src/tui/widgets/run-list/list-pane.js';
import { type Line, span } from '../../src/tui/surface/span.js';
import type { FleetPort, RunFilesPort, RunSummary } from '../../src/tui/state/port.js';
import { themeFor, toAnsi } from '../../src/tui/surface/theme.js';

const [mode, runCount, updatesPerSecond] = process.argv.slice(2);
const COUNT = Number(runCount);
const UPDATES_PER_SECOND = Number(updatesPerSecond);
const started = Date.now();
const agree = async () => ({ ok: true, message: '' }) as const;
let tick = 0;
let version = 0;

/** Made once: what is measured is the window, not the making of its data. */
const sparks = Array.from({ length: 64 }, (_, shape) =>
  Array.from({ length: 32 }, (_value, at) => Math.exp((-3 * shape * at) / 2048) + 0.1 * Math.sin(at * shape)),
);

/** A run one update later: a new object, as the client makes of every change. */
function updated(run: RunSummary, index: number): RunSummary {
  const step = index * 7 + tick;
  const loss = Math.abs(Math.sin(step / 300)) + 0.01;
  const metrics = { loss, reward: 1 - loss };
  return { ...run, progress: (step % 1000) / 1000, metrics, spark: sparks[(step >> 3) & 63]! };
}

function runAt(index: number): RunSummary {
  const name = `run_N${2 ** (4 + (Math.floor(index / 3) % 5))}_${Math.floor(index / 3)}_s${index % 3}`;
  return {
    id: RunId.parse(`live/${name}`),
    sweep: 'live',
    group: `group${Math.floor(index / 40)}`,
    subgroup: `setting ${Math.floor(index / 3)}`,
    name,
    directory: `/runs/live/${name}`,
    parameters: { N: 64, seed: index % 3, learning_rate: 1e-4, batch_size: 4, reward: 'B8' },
    argv: [],
    state: index % 50 === 7 ? 'failed' : 'running',
    reason: index % 50 === 7 ? 'RuntimeError: CUDA out of memory' : null,
    attempt: 1,
    exit: null,
    slot: `gpu ${index % 8}`,
    gpus: [index % 8],
    pid: 10_000 + index,
    startedAt: started - index * 1000,
    endedAt: null,
    killAt: null,
    ...{ retryAt: null, priority: 0, gpuMemory: null, warning: null },
    progress: 0,
    etaSeconds: 600,
    metrics: {},
    spark: [],
    health: 'ok',
  };
}

const ids = Array.from({ length: COUNT }, (_, index) => runAt(index).id);
const runs = new Map(ids.map((id, index) => [id, runAt(index)]));
const listeners = new Set<() => void>();
const groups = Array.from({ length: COUNT / 40 }, (_, index) => ({ name: `group${index}`, title: null, needs: [] }));
const sweep = { name: 'live', description: null, directory: '/runs/live', groups, show: ['loss', 'reward'], x: 'step' };
const fleet: FleetPort = {
  sweeps: new Map([['live', sweep]]),
  runs,
  status: { settled: false, recalled: true, cpu: { slots: 0, busy: 0 }, gpus: [], problem: null },
  connection: 'connected',
  subscribe: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  version: () => version,
  ...{ act: agree, request: agree },
};
const x = Float64Array.from({ length: 2000 }, (_, step) => step);
const y = x.map((step) => Math.exp(-step / 500) + 0.1 * Math.sin(step));
/** A run that has written more each time it is looked at: until then its series are the same objects. */
const growing: RunFilesPort['metrics'] = () => {
  let series = { loss: { x, y }, reward: { x, y } };
  const refresh = () => {
    series = { loss: { x, y }, reward: { x, y } };
    return true;
  };
  const none = { x: new Float64Array(), y: new Float64Array() };
  return { refresh, keys: () => ['loss', 'reward'], series: (key) => series[key as keyof typeof series] ?? none };
};
const files: RunFilesPort = {
  metrics: growing,
  logTail: (_, count) => Array.from({ length: count }, (_line, index) => `step ${tick + index} loss 0.123`),
  openLog: () => ({ look: () => null, read: () => Buffer.alloc(0) }),
  runDetails: () => null,
};

let presses = 0;
const leave = (): void => {
  process.stdout.write('\u001b[?25h\u001b[?1049l');
  process.exit(0);
};
const perform = ({ type }: { type: string }): void => {
  if (type === 'leave') leave();
};
const theme = themeFor({ colours: 256, ascii: false });
const mark = (): string => `\u001b]2;k${presses}.\u0007`;

if (UPDATES_PER_SECOND > 0)
  setInterval(() => {
    tick++;
    updateFrom(0);
  }, 1000 / UPDATES_PER_SECOND);

/** Updates one page of runs per turn of the event loop, as they arrive from a supervisor. */
function updateFrom(start: number): void {
  ids.slice(start, start + PAGE).forEach((id, at) => runs.set(id, updated(runs.get(id)!, start + at)));
  version++;
  listeners.forEach((listener) => listener());
  if (start + PAGE < ids.length) setImmediate(() => updateFrom(start + PAGE));
}

if (mode === 'none') process.stdout.write(mark());
else {
  await loadScreens();
  show();
}

function show(): void {
  keepYoungGenerationSmall(COUNT);
  const store = new WindowStore({ fleet, files, now: Date.now, perform, newsPause: calmNewsPause }, 'live');
  store.listen(press);
  process.stdout.write('\u001b[?1049h\u001b[?25l');
  // Unfolded, as one looks at a sweep; the groups of one this large begin folded.
  store.resize(process.stdout.columns, process.stdout.rows);
  for (let group = 0; group < 9; group++) {
    store.press('right');
    store.press(String(group + 2));
  }
  store.press('home');
  if (mode === 'painter') showPainted(store);
  else showByInk(store);
}

function showPainted(store: WindowStore): void {
  const target = {
    write: (text: string) => process.stdout.write(text + mark()),
    get writableLength() {
      return process.stdout.writableLength;
    },
    once: (event: 'drain', listener: () => void) => process.stdout.once(event, listener),
  };
  const surface = new Surface(target, theme, store.size, leave);
  mountApp({ store, surface, onError: leave });
  process.stdin.setRawMode(true);
  const key = (name: string): void => {
    presses++;
    store.press(name);
  };
  const nothing = (): void => undefined;
  const pointer = { click: nothing, drag: nothing, move: nothing, wheel: nothing };
  listen(process.stdin, { key, paste: nothing, ...pointer, keyboard: nothing, answer: nothing });
}

function showByInk(store: WindowStore): void {
  // One row less than the screen: at full height Ink clears the whole terminal for each frame.
  store.resize(process.stdout.columns, process.stdout.rows - 1);
  const write = process.stdout.write.bind(process.stdout);
  const marked = Object.assign(Object.create(process.stdout) as NodeJS.WriteStream, {
    write: (text: string) => write(text + mark()),
  });
  render(<ByInk store={store} />, {
    stdout: marked,
    stdin: process.stdin,
    exitOnCtrlC: false,
    patchConsole: false,
  });
}

function ByInk({ store }: { store: WindowStore }) {
  useSyncExternalStore(store.subscribe, store.version);
  useInput((input, key) =>
    keyNames(input, key).forEach((name) => {
      presses++;
      store.press(name);
    }),
  );
  const lines = jobsLines(store).map((line) => toAnsi(line, theme));
  return <Text wrap="truncate">{lines.join('\n')}</Text>;
}

/** The names of the keys that the bench presses, as Ink reports them. */
function keyNames(input: string, key: Key): string[] {
  return key.downArrow ? ['down'] : [...input];
}

/** What the two canvases of the jobs screen draw, as the lines of one picture. */
function jobsLines(store: WindowStore): Line[] {
  const model = store.model();
  const { list, pane } = jobsLayout(bodyOf(store.size), { isSmall: false, rows: model.rows.length, wanted: null });
  const right = detailPane(model, pane, list.height);
  return listPane(model, list.width, list.height).map((line, row) => [
    ...line,
    span(' │ ', 'faint'),
    ...(right[row] ?? []),
  ]);
}

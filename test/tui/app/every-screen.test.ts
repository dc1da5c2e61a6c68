import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { property } from '../../tiers.js';
import { GpuIndex } from '../../../src/base/ids.js';
import { toAscii } from '../../../src/text/ascii.js';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import { LinePainter } from '../line-painter.js';
import type { Draft, RunFilesPort, RunWord } from '../../../src/tui/state/port.js';
import { themeFor } from '../../../src/tui/surface/theme.js';
import { dialogKinds } from '../../../src/tui/dialogs/key-stack.js';
import { keysOn } from '../../../src/tui/screens/key-map.js';
import { screens } from '../../../src/tui/screens/registry.js';
import type { ScreenKind } from '../../../src/tui/state/ui-state.js';
import { textWidth } from '../../../src/text/display-width.js';
import { type Line, lineWidth } from '../../../src/tui/surface/span.js';
import { LogInMemory } from '../../logs/log-bytes.js';
import { aWindow, frameOf } from '../frames.js';
import { knownSummary } from '../known-summary.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../simulated-fleet.js';

type Fleet = ReturnType<typeof memorySweep>;

let open: WindowStore[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
  vi.useRealTimers();
});

const ready: Draft = {
  title: 'extend abcd',
  path: '/home/ada/.cache/memrl-tui/drafts/abcd.yaml',
  verdict: { kind: 'ready', summary: '12 new runs', lines: Array.from({ length: 60 }, (_, at) => `+ E_new_s${at}`) },
};
const refused: Draft = { ...ready, verdict: { kind: 'refused', lines: ['line 3: nam', '3 | nam: abcd', '→ name'] } };

/** Ways further than one key: keys, `"text` typed. */
const ways: readonly (readonly string[])[] = [
  ...[[], ['right', 'down', 'down'], ['1', 'left', 'end'], ['*'], ['s', 's', 'I']],
  ...[
    ['enter'],
    ['right', 'down', 'down', 'enter'],
    ['right', 'down', 'down', 'enter', 'tab'],
    ['right', 'down', 'down', 'enter', 'tab', 'tab', 'pagedown'],
    ['right', 'down', 'down', 'enter', 'tab', 'tab', 'tab'],
    ['right', 'down', 'down', 'enter', '/', '"bits', 'enter', 'n', 'w', 'pageup'],
    ['!'],
  ],
  ...[['c'], ['c', 'right', 'b', 'down'], ['*', 'c', 'tab'], ['*', 'c', 'tab', 'tab']],
  ...[['d'], ['d', 'down', 'enter']],
  ...[['S'], ['S', 'end']],
  ...[['L'], ['*', 'L', 'down', 'w']],
  ...[['*', 'i', '"p loss', 'enter', 'up']],
  ...[
    ['M', 'down'],
    ['M', 'tab', 'right'],
    ['M', 'enter', 'right', 'g'],
    ['M', 'tab', 'tab', 'tab', 'right', 'b', 'down'],
  ],
  ...[['escape']],
  ...[['?'], ['?', 'end']],
  ...[['O', 'down']],
  ...[['m', 'down']],
  ...[
    ['x', 'end'],
    ['c', 'tab', 'x'],
  ],
  ...[
    ['a', 'down'],
    ['c', 'tab', 'a', 'a'],
  ],
  ...[['2', 'c', 'tab', 'tab', 'x']],
  ...[
    ['/', '"sta'],
    ['/', '"status:', 'tab'],
    ['/', '"N>>', 'enter'],
  ],
  ...[[':'], [':', '"ki'], [':', '"kill status:', 'down'], [':', '"nothing like it', 'enter']],
  ...[['(ready)'], ['(ready)', 'pagedown'], ['(refused)']],
  ...[
    ['g', 'down', 'enter'],
    ['g', '"N'],
  ],
  ...[['C', 'down', 'space', 'right']],
  ...[
    ['v', '"a name', 'enter'],
    ['v', 'ctrl-s', '"a name', 'enter', 'escape', 'v'],
  ],
  ...[['right', 'down', 'down', 'enter', '/', '"(']],
  ...[['enter', 'tab', '/', '"los']],
  ...[['K'], ['3', 'K'], ['right', 'down', 'down', 'k']],
];

type Way = readonly string[];

/** The screen, and the dialog if one is open, to which a way leads. */
function placeAt(way: Way): string {
  const { fleet, ...rest } = memorySweep();
  // Only where there are several sweeps is there one to choose.
  fleet.sweeps.set('another', aSweep({ name: 'another' }));
  // Only a run that reads what is typed can be typed into.
  fleet.runs.forEach((run, id) => run.state === 'running' && fleet.runs.set(id, { ...run, input: 'lines' }));
  const store = windowOn({ fleet, ...rest });
  store.resize(100, 30);
  for (const key of way.flatMap(keysOf)) press(store, key);
  const { screen, dialog } = store.model().ui;
  store.close();
  return dialog.kind === 'none' ? screen.kind : `the dialog ${dialog.kind}`;
}

const places: readonly string[] = [...Object.keys(screens), ...dialogKinds.map((kind) => `the dialog ${kind}`)];

/** Ways to what is not among the known ones, a new screen or dialog: by each key of the list, and of each screen with its panes. */
function found(missing: ReadonlySet<string>): Way[] {
  if (missing.size === 0) return [];
  const after = (way: Way, kind: string): Way[] =>
    keysOn(kind as ScreenKind, 'default').map(({ keys }) => [...way, keys[0]!]);
  const firsts = after([], 'jobs');
  const home = new Map(firsts.map((way) => [placeAt(way), way]));
  const further = [...home].flatMap(([kind, way]) =>
    kind in screens ? [0, 1, 2].flatMap((tabs) => after([...way, ...Array<string>(tabs).fill('tab')], kind)) : [],
  );
  return [...firsts, ...further].filter((way) => missing.has(placeAt(way)));
}
let routes: readonly Way[] = ways;
beforeAll(() => {
  vi.useFakeTimers();
  const reached = new Set(ways.map(placeAt));
  routes = [...ways, ...found(new Set(places.filter((place) => !reached.has(place))))];
});

it('keys lead to every screen and to every dialog', () => {
  const reached = new Set(routes.map(placeAt));
  expect(places.filter((place) => !reached.has(place))).toEqual([]);
});

function keysOf(key: string): string[] {
  return key.startsWith('"') ? [...key.slice(1)].map((one) => (one === ' ' ? 'space' : one)) : [key];
}

function press(store: WindowStore, key: string): void {
  if (key === '(ready)') store.review(ready);
  else if (key === '(refused)') store.review(refused);
  else store.press(key);
}

function go(store: WindowStore, route: Way): void {
  for (const key of route.flatMap(keysOf)) {
    press(store, key);
    frameOf(store);
    vi.advanceTimersByTime(60);
  }
  frameOf(store);
  vi.advanceTimersByTime(600);
}

function windowOn(fleet: Fleet): WindowStore {
  const store = aWindow(fleet, {
    summary: knownSummary((width) => ['setting  bits/episode', '='.repeat(width)]),
  });
  open.push(store);
  return store;
}

const words: readonly RunWord[] = ['running', 'done', 'failed', 'queued', 'paused', 'killed', 'held', 'lost'];

/** Any number of runs in ten groups, with every state among them. `dress`: what is to be different. */
function fleetOf(count: number, dress: (text: string) => string = (text) => text): Fleet {
  const now = 1_000_000_000;
  const runs = Array.from({ length: count }, (_, index) => {
    const [group, state] = [`g${index % 10}`, words[index % words.length]!];
    const hasBegun = state !== 'queued' && state !== 'held';
    return aRun(`run_${index}`, {
      ...{
        group: dress(group),
        name: dress(`run_${index}`),
        subgroup: index % 3 === 0 ? null : dress(`s${index % 4}`),
      },
      ...{ state, parameters: { seed: index % 3, [dress('N')]: index, word: dress('value') } },
      reason: state === 'failed' ? dress('ValueError: loss is NaN') : null,
      ...(hasBegun ? { startedAt: now - 5000, progress: 0.4, attempt: 1, slot: 'cpu 0' } : {}),
      ...(hasBegun ? { metrics: { 'test/bits_known': index / 7, [dress('loss')]: 0.1 }, spark: [1, 2, 3, 2] } : {}),
      ...(state === 'running' ? { input: 'lines' as const } : {}),
      ...(state === 'done' || state === 'failed' ? { endedAt: now - 1000, progress: 1 } : {}),
    });
  });
  const groups = Array.from({ length: 10 }, (_, at) => ({ name: dress(`g${at}`), title: dress('title'), needs: [] }));
  const fleet = new SimulatedFleet(count === 0 ? [] : [aSweep({ groups })], runs);
  fleet.status = { ...fleet.status, problem: dress('The disk is full.'), gpus: [gpu(dress)] };
  return { fleet, files: filesOf(dress), now };
}

function gpu(dress: (text: string) => string): SimulatedFleet['status']['gpus'][number] {
  return {
    ...{ index: GpuIndex.parse(0), uuid: 'GPU-0', name: dress('NVIDIA H100'), runs: [], drained: false, mps: false },
    ...{ memoryTotal: 81_559, memoryUsed: 9000, utilization: 50, temperature: 60, power: 200 },
    ...{ foreign: [{ pid: 7, name: dress('python'), memory: 512 }], leasedBy: null },
  };
}

function filesOf(dress: (text: string) => string): RunFilesPort {
  const x = Float64Array.from({ length: 50 }, (_, index) => index);
  const text = Array.from({ length: 90 }, (_, index) => dress(`step ${index} bits 1 Error: none`)).join('\n');
  return {
    metrics: () => ({
      refresh: () => false,
      keys: () => ['test/bits_known', dress('loss')],
      series: () => ({ x, y: x.map(Math.sqrt) }),
    }),
    logTail: (_, count) => text.split('\n').slice(-count),
    openLog: () => new LogInMemory(text),
    runDetails: () => null,
  };
}

const fleets: readonly [string, () => Fleet][] = [
  ['no run', () => fleetOf(0)],
  ['one run', () => fleetOf(1)],
  ['48 runs', () => memorySweep()],
  ['1,000 runs', () => fleetOf(1000)],
];
/** The least, the greatest, and those between which the layout changes. */
const sizes: readonly [number, number][] = [
  [40, 10],
  [80, 24],
  [141, 40],
  [400, 120],
];

function expectFits(store: WindowStore, route: readonly string[], [width, height]: readonly [number, number]): void {
  store.resize(width, height);
  const lines = frameOf(store);
  const where = `${route.join(' ')} at ${width}×${height}`;
  expect(lines, where).toHaveLength(height);
  expect(
    lines.flatMap((line, row) => (lineWidth(line) === width ? [] : [`row ${row} of ${where}: ${lineWidth(line)}`])),
  ).toEqual([]);
}

function expectSizes(fleet: () => Fleet, wanted: readonly (readonly [number, number])[]): void {
  for (const route of routes) {
    const store = windowOn(fleet());
    store.resize(100, 30);
    go(store, route);
    wanted.forEach((size) => expectFits(store, route, size));
    store.close();
  }
}

describe.each(fleets)('every screen and dialog, with %s', (name, fleet) => {
  it('has exactly the size of the terminal, from 40 × 10 to 400 × 120', { tags: ['long'] }, () => {
    expectSizes(fleet, sizes);
  });

  it.runIf(name === 'one run')('has exactly the size of a very small terminal', () => {
    expectSizes(fleet, sizes.slice(0, 1));
  });
});

/** What a program may write: right to left, marks on marks, joined emoji, wide ones, controls, escapes. */
const wild = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    'שלום עולם',
    'مرحبا',
    '\u202eevil\u202c',
    '\u2067x',
    '👩‍👩‍👧‍👦',
    '🇸🇪',
    'e\u0301'.repeat(9),
    'ｗｉｄｅ',
    '你好',
    'क्षि',
  ),
  fc.constantFrom('\u001b[2J\u001b[H', '\u001b]0;title\u0007', '\r\n\t\b', '\u0000', '\u009b31m', '\ud800', '\ufeff'),
);

/** What no terminal may be given: it moves the cursor, sets modes or turns the direction of what follows. */
const harmful = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

describe('every screen and dialog, with foreign text in every name, value and line', () => {
  property('keeps its columns, and lets nothing through that a terminal would obey', 40, (examples) => {
    const size = fc.record({ width: fc.integer({ min: 40, max: 160 }), height: fc.integer({ min: 10, max: 50 }) });
    fc.assert(
      fc.property(fc.constantFrom(...ways), wild, size, (route, text, { width, height }) => {
        const store = windowOn(fleetOf(24, (plain) => `${plain}${text}`));
        store.resize(100, 30);
        go(store, route);
        expectFits(store, route, [width, height]);
        expect(painted(frameOf(store), width, height)).not.toMatch(harmful);
        store.close();
      }),
      examples,
    );
  });
});

describe('where only ASCII can be shown', () => {
  const known = [() => fleetOf(24), memorySweep];

  it('has a stand-in of the same width for every character of every screen', { tags: ['long'] }, () => {
    for (const route of routes) {
      for (const fleet of known) {
        const store = windowOn(fleet());
        store.resize(141, 40);
        go(store, route);
        const wrong = frameOf(store).flatMap((line) => line.filter(({ text }) => !hasStandIns(text)));
        expect(wrong, route.join(' ')).toEqual([]);
        store.close();
      }
    }
  });

  it('tells the curves of a legend, their lines and their rows apart by marks', () => {
    const store = windowOn(memorySweep());
    store.resize(141, 40);
    go(store, ['down']);
    const { glyphs } = themeFor({ colours: 'none', ascii: true });
    const text = frameOf(store)
      .map((line) => line.map((piece) => glyphs(piece.text, piece.tone)).join(''))
      .join('\n');
    expect(text).toMatch(/\* s0 .* o s1 .* x s2 /);
    expect(text).toMatch(/^\* .* v s0 [^]*^o .* v s1 [^]*^x .* v s2 /m);
  });
});

/** What is not known becomes a question mark; those that are there before stand for themselves. */
function hasStandIns(text: string): boolean {
  const plain = toAscii(text);
  const asked = (own: string): number => own.split('?').length;
  // One of these in one column would say something else.
  const isWhole = !/(^|[^ ])[±≤≥]([^ ]|$)/.test(text);
  return /^[ -~]*$/.test(plain) && textWidth(plain) === textWidth(text) && asked(plain) === asked(text) && isWhole;
}

/** What a terminal is given, but for the codes of the painter itself. */
function painted(lines: readonly Line[], width: number, height: number): string {
  const written: string[] = [];
  const target = { write: (codes: string) => written.push(codes), writableLength: 0, once: () => undefined };
  new LinePainter(target, themeFor({ colours: 256, ascii: false })).paint(lines, width, height);
  return written.join('').replace(/\u001b\[(\?2026[hl]|2J|[0-9;]*[mHGC])/g, '');
}

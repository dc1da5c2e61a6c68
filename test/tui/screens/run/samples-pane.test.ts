import { describe, expect, it, vi } from 'vitest';
import type { Sample, Samples } from '../../../../src/logs/samples.js';
import { sampleLines } from '../../../../src/tui/screens/run/samples-pane.js';
import { SamplesReader } from '../../../../src/tui/screens/run/run-reader.js';
import { initialSampleChoice } from '../../../../src/tui/state/run-choice.js';
import { initialUi, type UiState } from '../../../../src/tui/state/ui-state.js';
import type { KeyContext } from '../../../../src/tui/keys/key-context.js';
import { anotherStep, pairSamples, runKeys, sortSamples } from '../../../../src/tui/screens/run/keys.js';
import type { RunContext } from '../../../../src/tui/screens/run/log-handler.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';

const sample = (step: number, prompt: string, completion: string, reward: number): Sample => ({
  ...{ step, prompt, completion, reward, length: completion.length },
});
const samples: Samples = {
  all: [sample(10, 'Say hi', 'no', 0), sample(20, 'Say hi', 'hi\x1b[31m!\x07', 1), sample(20, 'Say bye', 'what?', 0)],
  files: ['rollouts.jsonl'],
  isCut: false,
  images: [],
};
const shown = (choice = {}, search = '', width = 70) => {
  const lines = sampleLines({ samples, choice: { ...initialSampleChoice, ...choice }, search }, width);
  expect(lines.every((line) => lineWidth(line) <= width)).toBe(true);
  return `\n${lines.map((line) => plainText(line).trimEnd()).join('\n')}\n`;
};

describe('the samples of an open run', () => {
  it('are those of the last step, the best first, with hostile text made harmless', () => {
    expect(shown()).toMatchInlineSnapshot(`
      "
      step 20 (2 of 2) · 2 samples · mean reward 0.500 · best first

      ▸ Say hi
        reward 1  length 9
        hi!

      ▸ Say bye
        reward 0  length 5
        what?

      "
    `);
  });

  it('stand beside those of the step before, prompt by prompt', () => {
    expect(shown({ beside: 'step before' })).toMatchInlineSnapshot(`
      "
      step 20 (2 of 2) · 2 samples · mean reward 0.500 · best first

      ▸ Say hi
      now: mean reward 1                │ step 10: mean reward 0
        reward 1  length 9              │   reward 0  length 2
        hi!                             │   no

      ▸ Say bye
      now: mean reward 0                │ not at step 10
        reward 0  length 5              │
        what?                           │

      "
    `);
  });

  it('are filtered by the pattern that the log is searched for', () => {
    expect(shown({}, 'bye', 100)).toContain('1 sample · mean reward 0 · best first · matching bye');
    expect(shown({}, 'bye', 100)).not.toContain('Say hi');
  });

  it('have no filter that takes long: the pane says so instead', () => {
    const long = { ...samples, all: [sample(20, 'a'.repeat(40), 'b', 1)] };
    const lines = sampleLines({ samples: long, choice: initialSampleChoice, search: '^(a+)+$|(a+)+c' }, 120);
    expect(lines.map(plainText).join(' ')).not.toContain('takes too long');
    const hanging = sampleLines({ samples: long, choice: initialSampleChoice, search: '^(a+)+c$' }, 120);
    expect(hanging.map(plainText).join(' ')).toContain('takes too long');
  });

  it('stand beside those of the pinned run, prompts of both first', () => {
    const other: Samples = { ...samples, all: [sample(15, 'Say bye', 'bye', 1), sample(30, 'Say bye', 'later', 1)] };
    const pinned = { label: 'lr_0.1', samples: other };
    const choice = { ...initialSampleChoice, beside: 'pinned run' as const };
    const lines = sampleLines({ samples, pinned, choice, search: '' }, 70);
    expect(`\n${lines.map((line) => plainText(line).trimEnd()).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      step 20 (2 of 2) · 2 samples · mean reward 0.500 · best first

      lr_0.1, step 15: 1 of 2 prompts in both

      ▸ Say bye
      this run: mean reward 0           │ lr_0.1, step 15: mean reward 1
        reward 0  length 5              │   reward 1  length 3
        what?                           │   bye

      ▸ Say hi
      this run: mean reward 1           │ not at lr_0.1, step 15
        reward 1  length 9              │
        hi!                             │

      "
    `);
  });

  it('end with the pictures of the run, the latest first, each a link to its file', () => {
    const images = [
      { path: 'a_1.png', step: 1 },
      { path: 'a_2.png', step: 2 },
    ];
    const lines = sampleLines(
      { samples: { ...samples, images }, directory: '/runs/one', choice: initialSampleChoice, search: '' },
      70,
    );
    expect(lines.slice(-3).map((line) => plainText(line).trimEnd())).toEqual([
      '2 pictures',
      '  a_2.png  step 2',
      '  a_1.png  step 1',
    ]);
    expect(lines.at(-1)!.map(({ link }) => link)).toContain('/runs/one/a_1.png');
  });

  it('are put beside the step before, then the pinned run, by the same key', () => {
    const ui: UiState = { ...initialUi, screen: { kind: 'run', pane: 'samples', offset: 7 } };
    const at = (pinned: RunContext['pinned']) =>
      ({ own: { focus: null, log: null, pinned }, keyOf: (command: string) => command }) as unknown as KeyContext;
    const one = pairSamples(ui, at(null)).ui;
    expect(one.note?.text).toBe('The step before is beside. Pin another run (baseline) to see its samples instead.');
    expect([one, pairSamples(one, at(null)).ui].map((each) => each.samples.beside)).toEqual(['step before', null]);
    const two = pairSamples(one, at({ label: 'lr_0.1' })).ui;
    expect(two.samples.beside).toBe('pinned run');
    expect(pairSamples(two, at({ label: 'lr_0.1' })).ui.samples.beside).toBeNull();
  });

  it('of the step at the cursor of a chart are opened by Enter, which enlarges the chart where there are none', () => {
    const ui: UiState = {
      ...initialUi,
      screen: { kind: 'run', pane: 'charts', offset: 0 },
      chart: { ...initialUi.chart, cursor: 0.5 },
    };
    const wall = () => ({ metrics: ['loss'], firstOf: new Map() });
    const press = (state: UiState, own: Partial<RunContext>) => {
      const at = { own: { focus: null, log: null, pointStep: () => 15, ...own }, wall, metric: null };
      return runKeys.rows.find(({ command }) => command === 'open')!.act(state, at as unknown as KeyContext, 'enter')
        .ui;
    };
    expect(press(ui, { samples })).toMatchObject({
      screen: { pane: 'samples' },
      samples: { step: 15, isLatest: false },
    });
    for (const [state, own] of [
      [ui, { samples: { ...samples, all: [] } }],
      [{ ...ui, chart: { ...ui.chart, cursor: null } }, { samples }],
      [ui, { samples: undefined, pointStep: () => null }],
    ] as const) {
      expect(press(state, own)).toMatchObject({ screen: { pane: 'charts' }, wall: { isZoomed: true } });
    }
  });

  it('say what is looked for where there are none', () => {
    const lines = sampleLines({ samples: { ...samples, all: [] }, choice: initialSampleChoice, search: '' }, 120);
    expect(lines.map(plainText).join(' ')).toContain('rollouts/step_3.jsonl');
  });

  it('are chosen by step and order, and a key that does nothing says why', () => {
    const ui: UiState = { ...initialUi, screen: { kind: 'run', pane: 'samples', offset: 7 } };
    const before = anotherStep(ui, -1, samples).ui;
    expect(before.samples).toMatchObject({ step: 10, isLatest: false });
    expect(before.screen).toMatchObject({ offset: 0 });
    expect(anotherStep(before, -1, samples).ui.note?.text).toBe('This is the first step.');
    expect(anotherStep(before, 1, samples).ui.samples.isLatest).toBe(true);
    expect(anotherStep(ui, 1, undefined).ui.note?.text).toBe('There are no samples.');
    expect(sortSamples(ui).ui.samples.order).toBe('worst first');
  });

  it('are read again and again while they are shown, and not afterwards', async () => {
    vi.useFakeTimers();
    let reads = 0;
    let changes = 0;
    const files = {
      samples: (directory: string) =>
        directory === '/run' ? Promise.resolve({ ...samples, isCut: ++reads > 1 }) : Promise.reject(new Error('gone')),
    };
    const reader = new SamplesReader(files, () => (changes += 1));
    reader.want(['/run', '/other']);
    await vi.advanceTimersByTimeAsync(11_000);
    expect(reads).toBeGreaterThan(1);
    // The samples were the same from the second time on; those of the other run cannot be read.
    expect(changes).toBe(3);
    expect(reader.samples('/run')?.all).toHaveLength(3);
    expect(reader.samples('/other')).toBeNull();
    reader.want(null);
    const before = reads;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(reads).toBe(before);
    vi.useRealTimers();
  });
});

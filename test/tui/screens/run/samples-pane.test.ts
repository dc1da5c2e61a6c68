import { describe, expect, it, vi } from 'vitest';
import type { Sample, Samples } from '../../../../src/logs/samples.js';
import { anotherStep, pairSamples, sortSamples } from '../../../../src/tui/screens/run/samples-handler.js';
import { sampleLines } from '../../../../src/tui/screens/run/samples-pane.js';
import { SamplesReader } from '../../../../src/tui/screens/run/samples-reader.js';
import { initialSampleChoice } from '../../../../src/tui/state/sample-choice.js';
import { initialUi, type UiState } from '../../../../src/tui/state/ui-state.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';

const sample = (step: number, prompt: string, completion: string, reward: number): Sample => ({
  ...{ step, prompt, completion, reward, length: completion.length },
});
const samples: Samples = {
  all: [sample(10, 'Say hi', 'no', 0), sample(20, 'Say hi', 'hi\x1b[31m!\x07', 1), sample(20, 'Say bye', 'what?', 0)],
  files: ['rollouts.jsonl'],
  isCut: false,
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
    expect(shown({ isBeside: true })).toMatchInlineSnapshot(`
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
    expect(pairSamples(pairSamples(ui).ui).ui.samples.isBeside).toBe(false);
  });

  it('are read again and again while they are shown, and not afterwards', async () => {
    vi.useFakeTimers();
    let reads = 0;
    let changes = 0;
    const files = { samples: () => Promise.resolve({ ...samples, isCut: ++reads > 1 }) };
    const reader = new SamplesReader(files, () => (changes += 1));
    reader.want('/run');
    await vi.advanceTimersByTimeAsync(11_000);
    expect(reads).toBeGreaterThan(1);
    // The samples were the same from the second time on.
    expect(changes).toBe(2);
    expect(reader.samples('/run')?.all).toHaveLength(3);
    reader.want(null);
    const before = reads;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(reads).toBe(before);
    vi.useRealTimers();
  });
});

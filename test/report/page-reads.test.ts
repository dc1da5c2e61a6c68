import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunValue } from '../../src/analysis/run-value.js';
import { runFiles } from '../../src/contract/files.js';
import { writeRunRecord } from '../../src/files/run-directory/run-record-file.js';
import * as runMetrics from '../../src/metrics/run-metrics.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { samplesMarkup } from '../../src/report/page/page-samples.js';
import type { Objective } from '../../src/spec/planned-run.js';
import { removeFolder } from '../remove-folder.js';

const openMetrics = vi.spyOn(runMetrics, 'openMetrics');
const opened = () => openMetrics.mock.calls.map(([directory]) => basename(directory)).sort();

const sweep = mkdtempSync(join(tmpdir(), 'page-reads-'));
afterAll(() => {
  openMetrics.mockRestore();
  removeFolder(sweep);
});
beforeEach(() => void openMetrics.mockClear());

type Row = Readonly<Record<string, number>>;

function write(name: string, group: string, parameters: Record<string, string | number>, rows: readonly Row[]): string {
  const directory = join(sweep, name);
  mkdirSync(directory, { recursive: true });
  writeRunRecord(directory, {
    ...{ version: 1, sweep: 's', group, subgroup: null, name, identity: name, parameters, argv: ['true'] },
    ...{ cwd: '/', host: 'here', git: null },
    attempts: [{ number: 1, slot: 'cpu 0', startedAt: 1, endedAt: 2, outcome: { kind: 'done' } }],
  });
  writeFileSync(join(directory, 'metrics.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return name;
}

const steps = Array.from({ length: 40 }, (_, step) => step);
const names = [
  ...[0, 1].map((seed) => {
    const rows = steps.map((step) => ({ step, episodes: step, 'test/bits_known': step / 10 }));
    return write(`memory${seed}`, 'memory', { N: 16, reward_type: 'binary', env_type: 'single_step', seed }, rows);
  }),
  ...[0, 1].map((seed) =>
    write(
      `plain${seed}`,
      'plain',
      { seed },
      steps.map((step) => ({ step, loss: 1 / (step + 1), acc: step })),
    ),
  ),
];

describe('the page of a report', () => {
  it.each<{ value: RunValue; objective: Objective | null }>([
    { value: { kind: 'last' }, objective: null },
    { value: { kind: 'auc' }, objective: { name: 'loss', goal: 'minimize' } },
    { value: { kind: 'best', objective: 'acc', goal: 'maximize' }, objective: { name: 'acc', goal: 'maximize' } },
  ])('reads the metrics of each run once: $value.kind', async ({ value, objective }) => {
    const { groups } = await readPageData(sweep, { value, objective });
    expect(groups).toHaveLength(2);
    expect(groups.every(({ figures }) => figures.length > 0)).toBe(true);
    expect(opened()).toEqual([...names].sort());
  });

  it('reads a run again of which it shows what was not likely before others were read', async () => {
    const others = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`other${index}`, index]));
    const late = steps.map((step) => ({ step, ...others, first: 2 * step * step }));
    write(
      'odd0',
      'odd',
      { seed: 0 },
      steps.map((step) => ({ step, first: step * step })),
    );
    write('odd1', 'odd', { seed: 1 }, late);
    const { groups, runs } = await readPageData(sweep, { objective: null });
    const { figures } = groups.find(({ name }) => name === 'odd')!;
    expect(figures.find(({ metric }) => metric === 'first')!.curves).toHaveLength(2);
    expect(runs.filter(({ group }) => group === 'odd').map(({ value }) => value)).toEqual([39 * 39, 2 * 39 * 39]);
    expect(opened()).toEqual([...names, 'odd0', 'odd1', 'odd1'].sort());
  });

  it('shows what a run used of the machine after its metrics, and never ranks by it', async () => {
    const directory = join(sweep, write('used0', 'used', { seed: 0 }, []));
    const sample = (second: number) =>
      `{"time":"2026-01-01T00:00:0${second}.000Z","system/cpu_percent":${10 * second},"system/memory_mib":200}\n`;
    writeFileSync(join(directory, runFiles.usage), [1, 2, 3].map(sample).join(''));
    const { groups, runs } = await readPageData(sweep, { objective: null });
    const figures = groups.find(({ name }) => name === 'used')!.figures;
    expect(figures.map(({ metric }) => metric)).toEqual(['system/cpu_percent', 'system/memory_mib']);
    expect([...figures[0]!.curves[0]!.y]).toEqual([10, 20, 30]);
    expect(runs.find(({ name }) => name === 'used0')).toMatchObject({ metric: null, value: null });
  });

  it('shows the best and the worst samples of the last step, as texts', async () => {
    const directory = join(sweep, write('said0', 'said', { seed: 0 }, []));
    const row = (step: number, reward: number) =>
      `${JSON.stringify({ step, prompt: 'Say <b>', completion: `answer ${reward}`, reward })}\n`;
    writeFileSync(join(directory, 'rollouts.jsonl'), [row(1, 99), ...steps.map((reward) => row(2, reward))].join(''));
    const { samples } = await readPageData(sweep, { objective: null });
    expect(samples.map(({ run, step }) => [run, step])).toEqual([['said0', 2]]);
    expect(samples[0]!.shown.map(({ reward }) => reward)).toEqual([39, 38, 37, 36, 3, 2, 1, 0]);
    const { text } = samplesMarkup(samples)!;
    expect(text).toContain('answer 39');
    expect(text).toContain('Say &#60;b&#62;');
  });
});
